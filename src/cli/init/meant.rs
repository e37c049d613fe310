//! Which servers are meant, by what was typed.

use super::configured::from_config;
use super::from_package;
use super::from_plan::from_plan;
use super::origin::{Origin, ask_left, check_name, reached_by_url, spot, typed_blanks, variables};
use super::shared::Shared;
use super::slips::{given_values, is_config, is_json, no_command, no_url, refuse_misplaced};
use crate::cli::refusal::Refusal;
use jelly_setup::doctor::{Reached, package_name};
use jelly_setup::init::server_name;
use std::collections::BTreeSet;
use std::path::Path;

/// The servers that are meant.
pub async fn origins(shared: &Shared<'_>) -> Result<Vec<Origin>, Refusal> {
    let args = shared.args;
    if let Some(name) = &args.name {
        check_name(name)?;
    }
    refuse_misplaced(args)?;
    if let Some(plan) = &args.plan {
        return from_plan(shared, plan).await;
    }
    if let (None, None, Some(name)) = (&args.config, &args.from_recording, &args.server) {
        return Err(Refusal::with_help(
            format!("--server {name}: no file is named that has it"),
            "name a client's configuration by --config, a plan by --plan, or a recording by \
             --from-recording",
        ));
    }
    if let Some(config) = &args.config {
        return from_config(shared, config).await;
    }
    let reached = match (args.command.as_slice(), &args.url, args.names.as_slice()) {
        ([file], _, _) if shared.world.cwd.join(file).is_file() && is_json(file) => {
            return Err(Refusal::invalid(no_command(shared, file)));
        }
        ([command, rest @ ..], _, _) => Reached::Command {
            command: spot(command),
            args: rest.iter().map(|arg| spot(arg)).collect(),
            env: variables(&args.env)?,
            cwd: None,
            env_file: None,
        },
        ([], Some(url), _) => reached_by_url(shared, url)?,
        ([], None, [url]) if url.contains("://") => reached_by_url(shared, url)?,
        ([], None, [one]) if is_json(one) => {
            let path = Path::new(one);
            if is_config(shared, path) {
                return Err(Refusal::invalid(no_command(shared, one)));
            }
            return from_package::from_server_json(shared, path).await;
        }
        ([], None, [one, ..]) => return Err(Refusal::invalid(no_url(shared, args, one))),
        ([], None, []) => {
            return Err(Refusal::invalid(
                "error: no server was named\nhelp: jelly init -- COMMAND [ARGS]..., jelly init \
                 URL, or jelly init --config CONFIG [NAME]...",
            ));
        }
    };
    given_values(shared, &BTreeSet::new())?;
    let name = match &reached {
        Reached::Command { command, args, .. } => {
            let args: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
            name_of_command(&command.text, &args)
        }
        Reached::Url { .. } => None,
    };
    let mut env = shared.world.env.clone();
    ask_left(shared, typed_blanks(&reached), &mut env).await?;
    Ok(vec![Origin::typed(shared, name, reached, env)])
}

/// What a plan calls the server that a command starts, where the command tells.
pub fn name_of_command(command: &str, args: &[&str]) -> Option<String> {
    let words = || std::iter::once(command).chain(args.iter().copied());
    let installed = || words().find_map(installed_package);
    package_name(command, args)
        .or_else(installed)
        .or_else(|| words().find(|word| is_server(word)))
        .and_then(server_name)
}

/// The package that a path of npm's belongs to.
fn installed_package(path: &str) -> Option<&str> {
    let (_, inside) = path.rsplit_once("node_modules/")?;
    let mut parts = inside.split('/');
    parts.find(|part| !part.starts_with(['@', '.']))
}

/// Whether it is a program that is called like a server.
fn is_server(word: &str) -> bool {
    let base = word.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut parts = base.split(|c: char| !c.is_alphanumeric());
    !word.starts_with('-') && !word.contains(['=', ' ']) && parts.any(|part| part == "mcp")
}
