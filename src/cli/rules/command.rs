//! `jelly rules`: list, show, test, explain.

use super::source::{Rules, RulesRefusal, find_rules, rules_of};
use super::trial::trial;
use crate::cli::args::rules::{ListFormat, RulesCommand, RulesExplainArgs, ShowFormat};
use crate::cli::args::{ColorChoice, RulesArgs};
use crate::cli::complain::complain;
use crate::cli::out::stdout;
use crate::cli::settings::World;
use crate::report::{explanation_text, rule_text, rules_json, rules_markdown, rules_table};
use jelly_base::model::{Asked, ExitCode, Failure, RuleInfo};
use jelly_base::text::{Notation, close_names};
use jelly_triage::engine::{CAUSES, Field, PROVAR, specimen};
use serde::Serialize;
use std::io::{self, Read, Write};

/// The longest text that is explained, in bytes; the engine reads less.
const MAX_TEXT: u64 = 1024 * 1024;

/// Runs the command.
pub fn rules(args: &RulesArgs, color: ColorChoice, world: &World) -> ExitCode {
    let refuse = |refusal: &RulesRefusal| {
        complain(&refusal.render(world.color(color, world.stderr_is_terminal)));
        ExitCode::InvalidInput
    };
    let found = match &args.command {
        RulesCommand::Test { tried } if !tried.is_empty() => {
            let files: Vec<_> = args.own.files.iter().chain(tried).cloned().collect();
            rules_of(&files)
        }
        RulesCommand::List { .. }
        | RulesCommand::Show { .. }
        | RulesCommand::Test { .. }
        | RulesCommand::Explain(_) => find_rules(&args.own.files, &world.cwd),
    };
    let rules = match found {
        Ok(rules) => rules,
        Err(refusal) => return refuse(&refusal),
    };
    let mut out = stdout(match &args.command {
        RulesCommand::List {
            format: ListFormat::Json,
            ..
        }
        | RulesCommand::Show {
            format: ShowFormat::Json,
            ..
        } => Notation::Json,
        RulesCommand::Explain(args) if args.format == ShowFormat::Json => Notation::Json,
        _ => Notation::Plain,
    });
    let done = match &args.command {
        RulesCommand::List { domain, format } => list(&rules, domain.as_deref(), *format, &mut out),
        RulesCommand::Show { id, format } => show(&rules, id, *format, &mut out),
        RulesCommand::Test { tried } => {
            let own = !tried.is_empty();
            trial(
                &rules,
                |info| !own || info.asked != Asked::Builtin,
                &mut out,
            )
        }
        RulesCommand::Explain(args) => explain(&rules, args, &mut out),
    };
    match done.and_then(|code| out.flush().map(|()| code)) {
        Ok(code) => code,
        Err(error) => {
            complain(&format!("error: failed to write to stdout: {error}"));
            ExitCode::InvalidInput
        }
    }
}

fn list(
    rules: &Rules,
    domain: Option<&str>,
    format: ListFormat,
    out: &mut dyn Write,
) -> io::Result<ExitCode> {
    let all = rules.describe();
    let mut wanted: Vec<RuleInfo> = all.clone();
    if let Some(domain) = domain {
        wanted.retain(|rule| rule.domain == domain);
        if wanted.is_empty() {
            let mut domains: Vec<&str> = all.iter().map(|rule| rule.domain.as_str()).collect();
            domains.dedup();
            return Ok(unknown("domain", domain, &domains));
        }
    }
    match format {
        ListFormat::Table => out.write_all(rules_table(&wanted).as_bytes())?,
        ListFormat::Json => json(&rules_json(&wanted, &CAUSES, &PROVAR), out)?,
        ListFormat::Md => out.write_all(rules_markdown(&wanted, &CAUSES, &PROVAR).as_bytes())?,
    }
    Ok(ExitCode::Passed)
}

fn show(rules: &Rules, id: &str, format: ShowFormat, out: &mut dyn Write) -> io::Result<ExitCode> {
    let all = rules.describe();
    let Some(rule) = all.iter().find(|rule| rule.id == id) else {
        let ids: Vec<&str> = all.iter().map(|rule| rule.id.as_str()).collect();
        return Ok(unknown("rule", id, &ids));
    };
    match format {
        ShowFormat::Human => out.write_all(rule_text(rule).as_bytes())?,
        ShowFormat::Json => json(rule, out)?,
    }
    Ok(ExitCode::Passed)
}

fn unknown(what: &str, name: &str, known: &[&str]) -> ExitCode {
    complain(&format!("error: there is no {what} `{name}`"));
    match close_names(name, known.iter().copied()).first() {
        Some(close) => complain(&format!("help: did you mean `{close}`?")),
        None => complain("help: `jelly rules list` shows all"),
    }
    ExitCode::InvalidInput
}

fn explain(rules: &Rules, args: &RulesExplainArgs, out: &mut dyn Write) -> io::Result<ExitCode> {
    let text = match args.text.as_str() {
        "-" => {
            let mut bytes = Vec::new();
            io::stdin().take(MAX_TEXT).read_to_end(&mut bytes)?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        text => text.to_owned(),
    };
    let failure = match failure(args, &text) {
        Ok(failure) => failure,
        Err(why) => {
            complain(&format!("error: {why}"));
            return Ok(ExitCode::InvalidInput);
        }
    };
    let explanation = rules.explain(&failure);
    match args.format {
        ShowFormat::Human => out.write_all(explanation_text(&explanation).as_bytes())?,
        ShowFormat::Json => json(&explanation, out)?,
    }
    Ok(ExitCode::Passed)
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
    if let Some(phase) = args.phase {
        failure.phase = Some(phase.into());
    }
    Ok(failure)
}

fn json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}
