//! `jelly tools diff`: what changed of what servers promise.

use super::super::named_server::{Asking, world_redactor};
use super::super::out::{say, say_json};
use super::super::refusal::Refusal;
use super::super::runtime::{unless_interrupted, with_runtime};
use super::super::settings::World;
use super::promised::Promised;
use crate::cli::args::{DiffArgs, DiffFormat, FailOn};
use crate::report::{changes_md, changes_text};
use jelly_base::model::{ExitCode, SCHEMA_VERSION};
use jelly_base::text::sanitize;
use jelly_contract::{Change, ChangeKind, Changes, Lock, compare};

/// Compares both sides.
pub fn diff(args: &DiffArgs, world: &World) -> Result<ExitCode, Refusal> {
    let source = &args.ask.server.source;
    let place = &source.place;
    let names_one = !source.command.is_empty()
        || place.url.is_some()
        || place.config.is_some()
        || place.plan.is_some();
    if args.new.is_none() && !names_one {
        return Err(Refusal::with_help(
            "there is nothing to compare it with",
            "name a second lock, recording, plan or URL, or put the server's command behind `--`",
        ));
    }
    with_runtime(&args.ask.own_rules, world, async |context| {
        let redactor = world_redactor(world);
        let asking = Asking {
            ask: &args.ask,
            engine: &context.rules,
            world,
            redactor: &redactor,
        };
        let work = async {
            let old = asking.side(&args.old).await?;
            let new = match &args.new {
                Some(new) => asking.side(new).await?,
                None => asking.servers(source, None).await?,
            };
            Ok::<_, Refusal>((old, new))
        };
        let (old, new) = unless_interrupted(&context.interrupt, work).await??;
        let in_file = place.plan.is_some() || place.config.is_some();
        if in_file && args.new.is_none() && old.is_lock {
            refuse_strangers(&args.old, &old, &new)?;
        }
        let is_one = place.server.is_some() || args.new.is_none() && place.plan.is_none();
        let changes = changes(&old, &new, is_one);
        let code = code_of(&changes, args.fail_on);
        match args.format {
            DiffFormat::Human => say(changes_text(&changes, world.colors_stdout()), code),
            DiffFormat::Md => say(changes_md(&changes), code),
            DiffFormat::Json => say_json(
                &Changes {
                    schema_version: SCHEMA_VERSION,
                    changes,
                },
                code,
            ),
        }
    })
}

/// Servers that a file names are not those of a lock that has none of their names.
fn refuse_strangers(shown: &str, old: &Promised, new: &Promised) -> Result<(), Refusal> {
    let (old, new) = (&old.lock.servers, &new.lock.servers);
    let Some(first) = new.keys().next() else {
        return Ok(());
    };
    if old.is_empty() || new.keys().any(|name| old.contains_key(name)) {
        return Ok(());
    }
    let names: Vec<&str> = old.keys().map(String::as_str).collect();
    Err(Refusal::with_help(
        format!("{shown} has no server `{}`", sanitize(first)),
        format!(
            "it has: {}; `jelly tools lock` adds one",
            sanitize(&names.join(", "))
        ),
    ))
}

/// Beside one server that was named, the others of a lock are not gone.
fn changes(old: &Promised, new: &Promised, is_one: bool) -> Vec<Change> {
    let is_complete = old.is_complete && new.is_complete;
    if !is_one {
        return compare(&old.lock, &new.lock, is_complete);
    }
    let mut old_lock = Lock::new();
    let own = old.lock.servers.iter();
    let own = own.filter(|(name, _)| new.lock.servers.contains_key(*name));
    old_lock.servers = own.map(|(name, it)| (name.clone(), it.clone())).collect();
    if old_lock.servers.is_empty() {
        old_lock = old.lock.clone();
    }
    compare(&old_lock, &new.lock, is_complete)
}

fn code_of(changes: &[Change], fail_on: FailOn) -> ExitCode {
    let any = |kinds: &[ChangeKind]| changes.iter().any(|change| kinds.contains(&change.kind));
    let fails = match fail_on {
        FailOn::Never => false,
        FailOn::Breaking => any(&[ChangeKind::Breaking]),
        FailOn::Text => any(&[ChangeKind::Breaking, ChangeKind::Text]),
    };
    match fails {
        true => ExitCode::CodeFailure,
        false => ExitCode::Passed,
    }
}
