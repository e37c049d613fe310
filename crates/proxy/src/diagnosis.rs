//! A failure and what triage says of it → what a client is told.
//!
//! Main function: [`trouble_of`].

use super::trouble::Trouble;
use jelly_base::model::{
    Diagnosis, ErrorCategory, Failure, Phase, TROUBLE_MESSAGE_CHARS, UpstreamContext,
    UpstreamErrorType, UpstreamTrouble,
};
use jelly_base::text::redact::show_text;
use jelly_base::text::{capitalised, one_line, sanitize};
use jelly_triage::engine::{Audience, Engine, pointed_to};

/// Of a fix in the message.
const FIX_CHARS: usize = 130;
/// Of the server's own words.
const SAID_CHARS: usize = 100;

/// What the client is told of a failure.
#[must_use]
pub fn trouble_of(engine: &Engine, failure: &Failure, error_type: UpstreamErrorType) -> Trouble {
    let diagnosis = engine.diagnose_for(failure, Audience::Configuration);
    let clean = |text: &str| sanitize(text).into_owned();
    let place = pointed_to(failure, &diagnosis.root_cause);
    let advice = &diagnosis.advice;
    let what = clean(&sentence(&advice.what));
    let why = clean(&sentence(&advice.why));
    let fixes: Vec<String> = advice.fix.iter().map(|fix| clean(&fix.line())).collect();
    let said = said(failure, &diagnosis, &[&what, &why]);
    let message = message(&what, &said, &why, first_fix(&fixes).as_deref());
    let (command, args) = match failure.argv.split_first() {
        Some((command, args)) => (command.clone(), args.to_vec()),
        None => (failure.url.clone().unwrap_or_default(), Vec::new()),
    };
    Trouble {
        message,
        data: UpstreamTrouble {
            error_type,
            root_cause: diagnosis.root_cause.clone(),
            rule: Some(diagnosis.rule.clone()),
            error_category: diagnosis.error_category,
            retryable: diagnosis.retryable,
            side: Some(diagnosis.side),
            ambiguous: diagnosis.ambiguous,
            details: details(failure, &diagnosis, &what, &why),
            evidence: diagnosis.evidence.clone().map(|mut evidence| {
                evidence.text = clean(&evidence.text);
                evidence
            }),
            fix_instructions: fixes,
            error_context: UpstreamContext {
                command,
                args,
                cwd: failure.cwd.clone(),
                exit: failure.exit.clone(),
                file: place.file.map(|file| clean(&file)),
                line: place.line,
            },
        },
    }
}

/// What the client is told where jelly itself lacks what it needs to start the
/// server: a file, a variable, a flag's value.
#[must_use]
pub fn trouble_of_refusal(
    engine: &Engine,
    context: UpstreamContext,
    what: &str,
    next: Option<&str>,
) -> Trouble {
    let (what, next) = (show_text(what), next.map(show_text));
    let what = sentence(&sanitize(&what));
    let failure = Failure {
        phase: Some(Phase::Config),
        message: Some(what.clone()),
        ..Failure::default()
    };
    let mut trouble = trouble_of(engine, &failure, UpstreamErrorType::StartupFailed);
    let next = sanitize(next.as_deref().unwrap_or("Correct what is wrong."));
    let fix = sentence(&capitalised(&next));
    let told = format!("jelly proxy can't start the server. {what}");
    trouble.message = message(&told, "", "", Some(&fix));
    let data = &mut trouble.data;
    if data.error_category.is_none() || data.root_cause == "unknown" {
        data.root_cause = "invalid_config".to_owned();
        data.rule = None;
        data.error_category = Some(ErrorCategory::Infrastructure);
        data.retryable = Some(false);
    }
    data.details = told;
    data.evidence = None;
    data.fix_instructions = vec![fix, "Then restart the server in the client.".to_owned()];
    data.error_context = context;
    trouble
}

/// The first fix, with the command that it announces.
fn first_fix(fixes: &[String]) -> Option<String> {
    let first = fixes.first()?;
    let command = fixes.get(1).and_then(|second| second.strip_prefix("$ "));
    match (first.strip_suffix(':'), command) {
        (Some(_), Some(command)) => Some(format!("{first} `{command}`")),
        (Some(first), None) => Some(first.to_owned()),
        (None, _) => Some(first.clone()),
    }
}

/// What happened, why, and what was seen of it.
fn details(failure: &Failure, diagnosis: &Diagnosis, what: &str, why: &str) -> String {
    let mut details = [what, why]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let is_said = diagnosis
        .evidence
        .as_ref()
        .is_some_and(|e| e.field == "message");
    if let Some(message) = failure.message.as_deref()
        && !message.is_empty()
        && !is_said
    {
        let message = sanitize(message);
        details.push_str(&format!(" What was seen: {}", sentence(&message)));
    }
    details
}

/// The server's own words, where nothing else has them: what tells the cause,
/// or the last that it said.
fn said(failure: &Failure, diagnosis: &Diagnosis, told: &[&str]) -> String {
    let is_own = |field: &str| matches!(field, "stderr" | "stdout" | "stdout_noise" | "logs");
    let evidence = diagnosis.evidence.as_ref().filter(|e| is_own(&e.field));
    let stderr = failure.stderr.as_deref().unwrap_or_default();
    let lines = stderr
        .lines()
        .chain(failure.stdout_noise.iter().map(String::as_str));
    let last = lines.map(str::trim).rfind(|line| !line.is_empty());
    let Some(own) = evidence.map(|e| e.text.as_str()).or(last) else {
        return String::new();
    };
    let own = shortened(&sanitize(own), SAID_CHARS);
    let words = own.trim_end_matches(['…', ':', '.']);
    match own.is_empty() || told.iter().any(|told| told.contains(words)) {
        true => String::new(),
        false => format!("It said: {}", sentence(&own)),
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    match text.chars().last() {
        None | Some('.' | '!' | '?' | ':') => text.to_owned(),
        Some(_) => format!("{text}."),
    }
}

/// What, what the server said, why, and the first fix, in
/// [`TROUBLE_MESSAGE_CHARS`]: the why goes first where there is no room, and
/// then the end of what happened.
fn message(what: &str, said: &str, why: &str, fix: Option<&str>) -> String {
    let fix = fix.map(|fix| format!(" Fix: {}", sentence(&shortened(fix, FIX_CHARS))));
    let fix = fix.unwrap_or_default();
    let room = TROUBLE_MESSAGE_CHARS.saturating_sub(fix.chars().count());
    let mut told = shortened(what, room);
    for (more, least) in [(said, 30), (why, 60)] {
        let left = room.saturating_sub(told.chars().count() + 1);
        let length = more.chars().count();
        // A few words of it say nothing.
        if length > 0 && (length <= left || left >= least) {
            told = format!("{told} {}", shortened(more, left));
        }
    }
    shortened(&format!("{told}{fix}"), TROUBLE_MESSAGE_CHARS)
}

/// In one line of at most so many characters.
fn shortened(text: &str, chars: usize) -> String {
    let line = one_line(text, text.len().max(1));
    if line.chars().count() <= chars {
        return line;
    }
    let mut cut: String = line.chars().take(chars.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::{first_fix, message, trouble_of};
    use jelly_base::model::{Exit, Failure, Outcome, Phase, RequestFacts, Side, UpstreamErrorType};
    use jelly_triage::engine::Engine;

    #[test]
    fn a_message_says_what_why_and_the_first_fix_in_300_characters() {
        let short = message(
            "It is gone.",
            "",
            "Somebody took it.",
            Some("Bring it back"),
        );
        assert_eq!(short, "It is gone. Somebody took it. Fix: Bring it back.");
        for length in [10, 100, 290, 300, 1000] {
            let long = "wörd ".repeat(length / 5);
            for (what, said, why, fix) in [
                (&*long, "", "Why.", Some("Do it")),
                ("What.", &*long, &*long, Some("Do it")),
                ("What.", "It said: x.", "Why.", Some(&*long)),
                (&*long, &*long, &*long, Some(&*long)),
                (&*long, "", &*long, None),
            ] {
                let told = message(what, said, why, fix);
                assert!(told.chars().count() <= 300, "{told}");
                assert!(fix.is_none() || told.contains("Fix: "), "{told}");
            }
        }
    }

    #[test]
    fn the_first_fix_brings_along_the_command_that_it_announces() {
        for (fixes, wanted) in [
            (
                vec!["See who listens:", "$ lsof -i:1"],
                "See who listens: `lsof -i:1`",
            ),
            (vec!["See who listens:"], "See who listens"),
            (vec!["Create it.", "$ mkdir a"], "Create it."),
        ] {
            let fixes: Vec<String> = fixes.into_iter().map(str::to_owned).collect();
            assert_eq!(first_fix(&fixes).as_deref(), Some(wanted));
        }
        let failure = Failure {
            phase: Some(Phase::Handshake),
            outcome: Some(Outcome::Eof),
            stderr: Some("Error: listen EADDRINUSE: address already in use :::3000".to_owned()),
            ..Failure::default()
        };
        let kind = UpstreamErrorType::StartupFailed;
        let told = trouble_of(Engine::builtin(), &failure, kind);
        assert!(told.message.contains("Fix: See who"), "{}", told.message);
        assert!(told.message.contains("`lsof "), "{}", told.message);
    }

    #[test]
    fn a_death_in_a_call_has_its_cause_outside_first_among_the_fixes() {
        let told = |stderr: &str, exit: Exit| {
            let failure = Failure {
                phase: Some(Phase::Call),
                outcome: Some(Outcome::Eof),
                exit: Some(exit),
                stderr: Some(stderr.to_owned()),
                request: Some(RequestFacts {
                    method: "tools/call".to_owned(),
                    params: None,
                    ..RequestFacts::default()
                }),
                message: Some(
                    "the server exited with code 1 before it answered `tools/call`".to_owned(),
                ),
                ..Failure::default()
            };
            trouble_of(Engine::builtin(), &failure, UpstreamErrorType::Died)
        };
        let trace = |raised: &str| {
            format!("Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n{raised}\n")
        };
        for (raised, outside) in [
            ("OSError: [Errno 28] No space left on device", true),
            (
                "ConnectionRefusedError: [Errno 111] Connection refused",
                true,
            ),
            (
                "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
                false,
            ),
            ("ZeroDivisionError: division by zero", false),
        ] {
            let code = Exit {
                code: Some(1),
                signal: None,
            };
            let told = told(&trace(raised), code);
            let data = &told.data;
            assert_eq!(data.root_cause, "crashed_during_call", "{raised}");
            // It need not have died where the service answers.
            let judged = match raised.starts_with("ConnectionRefused") {
                true => (Some(Side::Test), true),
                false => (Some(Side::Code), false),
            };
            assert_eq!((data.side, data.ambiguous), judged, "{raised}");
            assert!(told.message.contains(raised), "{}", told.message);
            let first = &data.fix_instructions[0];
            let named = first.contains("something outside of its code");
            assert_eq!(named, outside, "{first}");
        }
        let killed = Exit {
            code: None,
            signal: Some("SIGKILL".to_owned()),
        };
        let killed = told("Error: ENOSPC: no space left on device, write\n", killed);
        assert!(killed.data.ambiguous || killed.data.side == Some(Side::Test));
    }

    #[test]
    fn what_quotes_a_file_over_several_lines_is_told_whole() {
        let failure = Failure {
            phase: Some(Phase::Handshake),
            outcome: Some(Outcome::Eof),
            stderr: Some(
                "SyntaxError: Unexpected token '}', ...\"b\": [1, 2,\n}\n\" is not valid JSON\n    \
                 at JSON.parse (<anonymous>)\n"
                    .to_owned(),
            ),
            ..Failure::default()
        };
        let kind = UpstreamErrorType::StartupFailed;
        let told = trouble_of(Engine::builtin(), &failure, kind);
        assert!(
            told.message.contains("Unexpected token '}', "),
            "{}",
            told.message
        );
    }

    #[test]
    fn a_file_that_can_t_be_read_is_told_with_its_line() {
        let failure = Failure {
            phase: Some(Phase::Handshake),
            outcome: Some(Outcome::Eof),
            exit: Some(Exit {
                code: Some(1),
                signal: None,
            }),
            argv: vec![
                "server".to_owned(),
                "--config".to_owned(),
                "a.yaml".to_owned(),
            ],
            stderr: Some(
                "yaml.scanner.ScannerError: mapping values are not allowed here\n  in \
                 \"a.yaml\", line 15, column 9\n"
                    .to_owned(),
            ),
            message: Some("exited during startup with code 1".to_owned()),
            ..Failure::default()
        };
        let told = trouble_of(
            Engine::builtin(),
            &failure,
            UpstreamErrorType::StartupFailed,
        );
        assert_eq!(told.data.root_cause, "invalid_config");
        let context = &told.data.error_context;
        assert_eq!(context.file.as_deref(), Some("a.yaml"));
        assert_eq!(context.line, Some(15));
        assert_eq!(context.command, "server");
        assert!(told.message.contains("a.yaml:15"), "{}", told.message);
    }
}
