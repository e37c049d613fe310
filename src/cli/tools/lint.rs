//! `jelly tools lint`: what clients and models stumble over in what servers list.

use super::super::named_server::world_redactor;
use super::super::out::{say, say_json};
use super::super::refusal::Refusal;
use super::super::runtime::{unless_interrupted, with_runtime};
use super::super::settings::World;
use super::promised::{Asking, known_name};
use crate::cli::args::{Format, LintArgs};
use crate::report::lint_text;
use jelly_base::model::ExitCode;
use jelly_contract::{LintReport, lint};

/// Looks at the servers that are named.
pub fn lint_servers(args: &LintArgs, world: &World) -> Result<ExitCode, Refusal> {
    with_runtime(&args.reading.own_rules, world, async |context| {
        let redactor = world_redactor(world);
        let asking = Asking {
            reading: &args.reading,
            engine: &context.rules,
            world,
            redactor: &redactor,
            words: &["jelly", "tools", "lint"],
        };
        let work = asking.inventories(&args.reading.server.source, false);
        let all = unless_interrupted(&context.interrupt, work).await??;
        let mut found = Vec::new();
        for (server, inventories) in &all {
            let name = known_name(server, inventories);
            found.extend(inventories.iter().map(|it| lint(&name, it)));
        }
        let report = LintReport::of(found, args.max_tokens);
        let code = match report.has_errors() {
            true => ExitCode::CodeFailure,
            false => ExitCode::Passed,
        };
        match args.format {
            Format::Human => say(lint_text(&report, world.colors_stdout()), code),
            Format::Json => say_json(&report, code),
        }
    })
}
