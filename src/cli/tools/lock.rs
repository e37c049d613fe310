//! `jelly tools lock`: what servers promise, to a file.

use super::super::named_server::{Asking, world_redactor};
use super::super::out::{print_in, say, unless_unsaid};
use super::super::refusal::Refusal;
use super::super::runtime::{unless_interrupted, with_runtime};
use super::super::settings::World;
use super::super::target::Target;
use super::promised::read_lock;
use crate::cli::args::LockArgs;
use crate::report::summary;
use jelly_base::model::ExitCode;
use jelly_base::text::{Notation, plural};
use jelly_contract::{Lock, compare};
use std::io::Write;
use std::path::Path;

/// Writes a lock.
pub fn lock(args: &LockArgs, world: &World) -> Result<ExitCode, Refusal> {
    let path = world.cwd.join(&args.output);
    let is_stdout = args.output == Path::new("-");
    if let Some(folder) = path
        .parent()
        .filter(|folder| !is_stdout && !folder.is_dir())
    {
        return Err(Refusal::with_help(
            format!(
                "{}: there is no folder {}",
                args.output.display(),
                folder.display()
            ),
            "make it first, or name another file by --output",
        ));
    }
    // Nothing that is no lock is written over.
    let before = match !is_stdout && path.exists() {
        true => Some(read_lock(&path).map_err(kept)?),
        false => None,
    };
    with_runtime(&args.ask.own_rules, world, async |context| {
        let redactor = world_redactor(world);
        let asking = Asking {
            ask: &args.ask,
            engine: &context.rules,
            world,
            redactor: &redactor,
        };
        let source = &args.ask.server.source;
        let work = asking.servers(source, args.name.as_deref());
        let promised = unless_interrupted(&context.interrupt, work).await??;
        let is_whole = source.place.plan.is_some() && source.place.server.is_none();
        let lock = match (&before, is_whole) {
            (Some(before), false) => {
                let mut servers = before.servers.clone();
                servers.extend(promised.lock.servers);
                Lock {
                    servers,
                    ..promised.lock
                }
            }
            (_, _) => promised.lock,
        };
        if is_stdout {
            let printed = print_in(Notation::Json, lock.text());
            return unless_unsaid(printed, ExitCode::Passed);
        }
        let written = Target::open(Some(&path), Some(Notation::Json)).and_then(|mut file| {
            file.write_all(lock.text().as_bytes())?;
            file.finish()
        });
        written.map_err(|error| {
            Refusal::needs_help(format!(
                "error: failed to write {}: {error}\nhelp: name a file that can be written, by \
                 --output",
                args.output.display()
            ))
        })?;
        say(told(args, before.as_ref(), &lock), ExitCode::Passed)
    })
}

/// What would be written over is no lock.
fn kept(refusal: Refusal) -> Refusal {
    let what = refusal.parts().map(|(what, _)| what.to_owned());
    what.map_or(refusal, |what| {
        Refusal::with_help(what, "what is there is kept; name another file by --output")
    })
}

fn told(args: &LockArgs, before: Option<&Lock>, lock: &Lock) -> String {
    let eras = || lock.servers.values().flat_map(|server| server.eras.keys());
    let tools = |server: &jelly_contract::ServerLock| {
        let mut eras = server.eras.keys().filter_map(|era| server.era(era));
        let tools = eras.find_map(|era| era.tools);
        tools.map_or(0, |tools| tools.len())
    };
    let tools: usize = lock.servers.values().map(tools).sum();
    let mut names: Vec<&String> = eras().collect();
    names.sort_unstable();
    names.dedup();
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let mut text = format!(
        "wrote {}: {}, {} ({})\n",
        args.output.display(),
        plural(lock.servers.len(), "server"),
        plural(tools, "tool"),
        names.join(" and ")
    );
    if let Some(before) = before {
        let changes = compare(before, lock, true);
        text.push_str(&format!("since the lock before: {}\n", summary(&changes)));
    }
    text
}
