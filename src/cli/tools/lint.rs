//! `jelly tools lint`: what clients and models stumble over in what servers list.

use super::super::named_server::{Asking, world_redactor};
use super::super::out::{say, say_json};
use super::super::refusal::Refusal;
use super::super::replay::recorded_of_all;
use super::super::runtime::{unless_interrupted, with_runtime};
use super::super::settings::World;
use super::promised::known_name;
use super::recorded::recorded_inventory;
use crate::cli::args::{Format, LintArgs};
use crate::report::lint_text;
use jelly_base::model::{ExitCode, Inventory};
use jelly_contract::{LintFinding, LintReport, LintTotals, SeenRequest, lint, lint_seen};
use jelly_replay::{Exchange, Exchanges, Reaction, exchanges};
use std::path::Path;

/// Looks at the servers that are named.
pub fn lint_servers(args: &LintArgs, world: &World) -> Result<ExitCode, Refusal> {
    with_runtime(&args.ask.own_rules, world, async |context| {
        let redactor = world_redactor(world);
        let found = match &args.recording {
            Some(file) => of_recording(file, args.ask.server.source.place.server.as_deref())?,
            None => {
                let asking = Asking {
                    ask: &args.ask,
                    engine: &context.rules,
                    world,
                    redactor: &redactor,
                };
                let work = asking.inventories(&args.ask.server.source, false);
                let all = unless_interrupted(&context.interrupt, work).await??;
                let of_server = |(server, inventories): &(_, Vec<Inventory>)| {
                    let name = known_name(server, inventories);
                    let found = inventories.iter().map(|it| lint(&name, it));
                    found.collect::<Vec<_>>()
                };
                all.iter().flat_map(of_server).collect()
            }
        };
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

/// What the servers of a recording listed, and what their calls did.
fn of_recording(
    file: &Path,
    server: Option<&str>,
) -> Result<Vec<(Vec<LintFinding>, LintTotals)>, Refusal> {
    let all = recorded_of_all(file, server)?;
    let mut found = Vec::new();
    for (name, sessions) in &all {
        let requests: Vec<Exchanges> = sessions.iter().map(exchanges).collect();
        let lists: Vec<Inventory> = requests
            .iter()
            .map(|session| recorded_inventory(&session.list))
            .collect();
        // A session that listed no tools had them listed by another one.
        let Some(inventory) = lists.iter().rev().find(|it| it.tools.is_some()) else {
            continue;
        };
        let (mut findings, totals) = lint(name, inventory);
        for session in &requests {
            let seen: Vec<SeenRequest> = session.list.iter().filter_map(seen).collect();
            for finding in lint_seen(name, inventory, &seen) {
                let is_known =
                    |it: &LintFinding| it.rule == finding.rule && it.item == finding.item;
                if !findings.iter().any(is_known) {
                    findings.push(finding);
                }
            }
        }
        found.push((findings, totals));
    }
    if found.is_empty() {
        return Err(Refusal::with_help(
            format!("{}: no tools were listed in it", file.display()),
            "record a session in which the client asks for `tools/list`",
        ));
    }
    Ok(found)
}

/// A request with what came of it, where something did.
fn seen(exchange: &Exchange) -> Option<SeenRequest> {
    let (_, answer) = exchange.answer()?;
    let notified = exchange
        .reactions
        .iter()
        .filter_map(|reaction| match reaction {
            Reaction::Says { message, .. } => message.get("method")?.as_str().map(str::to_owned),
            Reaction::Answer { .. } | Reaction::Noise(_) | Reaction::Hears { .. } => None,
        });
    Some(SeenRequest {
        method: exchange.method().to_owned(),
        params: exchange.message.get("params").cloned().unwrap_or_default(),
        result: answer.get("result").cloned(),
        is_refused: answer.get("error").is_some(),
        notified: notified.collect(),
    })
}
