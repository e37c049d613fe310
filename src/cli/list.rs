//! `jelly list`: what a server has, as it lists it.

use super::named_server::{Asking, named_server, world_redactor};
use super::out::{say, say_json};
use super::refusal::Refusal;
use super::runtime::{unless_interrupted, with_runtime};
use super::settings::World;
use crate::cli::args::{Format, ListServerArgs};
use jelly_base::model::{ExitCode, ServerListing};
use jelly_base::text::{one_line, plural};
use serde_json::Value;
use std::fmt::Write as _;

/// How much of a description is shown, in columns.
const ABOUT: usize = 100;

/// Lists what a server has.
pub fn list(args: &ListServerArgs, world: &World) -> Result<ExitCode, Refusal> {
    with_runtime(&args.ask.own_rules, world, async |context| {
        let redactor = world_redactor(world);
        let source = &args.ask.server.source;
        let named = named_server(source, world, &redactor).await?;
        let asking = Asking {
            ask: &args.ask,
            engine: &context.rules,
            world,
            redactor: &redactor,
        };
        let launch = named.launch(args.ask.server.timeout, &redactor);
        let work = asking.inventory(&named, &launch);
        let inventory = unless_interrupted(&context.interrupt, work).await??;
        let listing = ServerListing::of(&named.name, inventory);
        match args.format {
            Format::Human => say(text(&listing), ExitCode::Passed),
            Format::Json => say_json(&listing, ExitCode::Passed),
        }
    })
}

/// For people.
fn text(listing: &ServerListing) -> String {
    let word = |value: &Value, key: &str| {
        let text = value.get(key).and_then(Value::as_str).unwrap_or_default();
        one_line(text, ABOUT)
    };
    let info = &listing.server_info;
    let mut text = String::new();
    let title = [word(info, "name"), word(info, "version")].join(" ");
    let title = match title.trim() {
        "" => one_line(&listing.server, ABOUT),
        title => title.to_owned(),
    };
    let _ = writeln!(
        text,
        "{title} ({}, {})",
        listing.protocol_version, listing.era
    );
    let lists = [
        ("tool", "name", &listing.tools),
        ("prompt", "name", &listing.prompts),
        ("resource", "uri", &listing.resources),
        (
            "resource template",
            "uriTemplate",
            &listing.resource_templates,
        ),
    ];
    for (kind, key, items) in lists {
        let Some(items) = items else { continue };
        let _ = writeln!(text, "\n{}", plural(items.len(), kind));
        for item in items {
            let _ = writeln!(text, "  {}{}", word(item, key), arguments(item));
            let about = word(item, "description");
            if !about.is_empty() {
                let _ = writeln!(text, "      {about}");
            }
        }
    }
    text
}

/// `(a, b?)`: what a tool or a prompt is given.
fn arguments(item: &Value) -> String {
    let mut names: Vec<String> = Vec::new();
    if let Some(arguments) = item.get("arguments").and_then(Value::as_array) {
        for argument in arguments {
            let name = argument.get("name").and_then(Value::as_str);
            let required = argument.get("required").and_then(Value::as_bool);
            names.extend(name.map(|name| marked(name, required == Some(true))));
        }
    } else if let Some(schema) = item.get("inputSchema") {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| {
            let mut required = required.into_iter().flatten();
            required.any(|it| it.as_str() == Some(name))
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        for name in properties.into_iter().flat_map(|all| all.keys()) {
            names.push(marked(name, is_required(name)));
        }
    } else {
        return String::new();
    }
    one_line(&format!("({})", names.join(", ")), ABOUT)
}

fn marked(name: &str, required: bool) -> String {
    match required {
        true => name.to_owned(),
        false => format!("{name}?"),
    }
}
