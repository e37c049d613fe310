//! `jelly rules`: list, show, test, explain.

use super::source::{Rules, open_rules, rules_in};
use super::trial::trial;
use crate::cli::args::RulesArgs;
use crate::cli::args::rules::{ListFormat, RulesCommand, RulesExplainArgs, ShowFormat};
use crate::cli::out::{print, print_in, stdout};
use crate::cli::refusal::Refusal;
use crate::cli::settings::World;
use crate::report::{RuleList, explanation_text, rule_text, rules_markdown, rules_table};
use jelly_base::model::{Asked, ExitCode, Failure, RuleInfo};
use jelly_base::text::{Notation, did_you_mean};
use jelly_triage::engine::{CAUSES, Field, PROVAR, specimen};
use serde::Serialize;
use std::io::{self, Read, Write};

/// The longest text that is explained, in bytes; the engine reads less.
const MAX_TEXT: u64 = 1024 * 1024;

/// Runs the command.
pub fn rules(args: &RulesArgs, world: &World) -> Result<ExitCode, Refusal> {
    let rules = match &args.command {
        RulesCommand::Test { tried } if !tried.is_empty() => {
            let files: Vec<_> = args.own.files.iter().chain(tried).cloned().collect();
            rules_in(&files).map_err(|error| error.refuse(world))?
        }
        RulesCommand::List { .. }
        | RulesCommand::Show { .. }
        | RulesCommand::Test { .. }
        | RulesCommand::Explain(_) => open_rules(&args.own, world)?,
    };
    match &args.command {
        RulesCommand::List { domain, format } => list(&rules, domain.as_deref(), *format),
        RulesCommand::Show { id, format } => show(&rules, id, *format),
        RulesCommand::Test { tried } => {
            let own = !tried.is_empty();
            let mut out = stdout(Notation::Plain);
            let wanted = |info: &RuleInfo| !own || info.asked != Asked::Builtin;
            let tried = trial(&rules, wanted, &mut out);
            let done = tried.and_then(|code| out.flush().map(|()| code));
            done.map_err(|error| unwritten(&error))
        }
        RulesCommand::Explain(args) => explain(&rules, args),
    }
}

fn unwritten(error: &io::Error) -> Refusal {
    Refusal::needs_help(format!("error: failed to write to stdout: {error}"))
}

/// Prints what a command shows, which is good then.
fn print_text(text: &str) -> Result<ExitCode, Refusal> {
    print(text).map_err(|error| unwritten(&error))?;
    Ok(ExitCode::Passed)
}

fn print_json(value: &impl Serialize) -> Result<ExitCode, Refusal> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::from);
    let printed = text.and_then(|text| print_in(Notation::Json, text + "\n"));
    printed.map_err(|error| unwritten(&error))?;
    Ok(ExitCode::Passed)
}

fn list(rules: &Rules, domain: Option<&str>, format: ListFormat) -> Result<ExitCode, Refusal> {
    let all = rules.describe();
    let mut wanted: Vec<RuleInfo> = all.clone();
    if let Some(domain) = domain {
        wanted.retain(|rule| rule.domain == domain);
        if wanted.is_empty() {
            let mut domains: Vec<&str> = all.iter().map(|rule| rule.domain.as_str()).collect();
            domains.dedup();
            return Err(unknown("domain", domain, &domains));
        }
    }
    match format {
        ListFormat::Table => print_text(&rules_table(&wanted)),
        ListFormat::Json => print_json(&RuleList::new(&wanted, &CAUSES, &PROVAR)),
        ListFormat::Md => print_text(&rules_markdown(&wanted, &CAUSES, &PROVAR)),
    }
}

fn show(rules: &Rules, id: &str, format: ShowFormat) -> Result<ExitCode, Refusal> {
    let all = rules.describe();
    let Some(rule) = all.iter().find(|rule| rule.id == id) else {
        let ids: Vec<&str> = all.iter().map(|rule| rule.id.as_str()).collect();
        return Err(unknown("rule", id, &ids));
    };
    match format {
        ShowFormat::Human => print_text(&rule_text(rule)),
        ShowFormat::Json => print_json(rule),
    }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> Refusal {
    let help = did_you_mean(name, known.iter().copied());
    let help = help.unwrap_or_else(|| "`jelly rules list` shows all".to_owned());
    Refusal::invalid(format!("error: there is no {what} `{name}`\nhelp: {help}"))
}

fn explain(rules: &Rules, args: &RulesExplainArgs) -> Result<ExitCode, Refusal> {
    let text = match args.text.as_str() {
        "-" => {
            let mut bytes = Vec::new();
            let read = io::stdin().take(MAX_TEXT).read_to_end(&mut bytes);
            read.map_err(|error| unwritten(&error))?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        text => text.to_owned(),
    };
    let failure = failure(args, &text).map_err(|why| Refusal::invalid(format!("error: {why}")))?;
    let explanation = rules.explain(&failure);
    match args.format {
        ShowFormat::Human => print_text(&explanation_text(&explanation)),
        ShowFormat::Json => print_json(&explanation),
    }
}

/// The failure that the flags describe.
fn failure(args: &RulesExplainArgs, text: &str) -> Result<Failure, String> {
    let live = args.live || args.phase.is_some();
    let field = match args.field {
        Some(field) => field.into(),
        None if live => Field::Answer,
        None => Field::Report,
    };
    let of_report = matches!(
        field,
        Field::Report | Field::Class | Field::Title | Field::Log
    );
    if live && of_report {
        return Err("`report`, `class`, `title` and `log` are fields of a test report, not of a live failure".into());
    }
    if args.report && !of_report && field != Field::Message {
        return Err(
            "this field is one of a live failure; a test report has `report`, `class`, `title` and `log`".into(),
        );
    }
    let mut failure = specimen(field, text);
    if args.report {
        failure.phase = None;
    }
    failure.phase = args.phase.or(failure.phase);
    Ok(failure)
}
