//! What went wrong with one case, in words.

use super::MESSAGE_MAX;
use crate::model::{FailureReport, WireCheck};
use crate::report::quote::{harmless, line};
use crate::report::words;
use crate::text::plural;

/// One failed attempt.
pub(super) struct Trouble {
    /// The answer was wrong (`failure`), or there was none (`error`).
    pub(super) wrong_answer: bool,
    pub(super) type_: String,
    pub(super) message: String,
    pub(super) text: String,
    pub(super) stderr: String,
}

impl Trouble {
    /// What jelly itself has to say where no failure record stands behind it.
    pub(super) fn of_jelly(type_: &str, message: String) -> Self {
        Self {
            wrong_answer: false,
            type_: type_.to_owned(),
            text: message.clone(),
            message,
            stderr: String::new(),
        }
    }

    /// Adds what a wire check found, a line each.
    pub(super) fn tell_breaches(&mut self, check: &WireCheck) {
        self.text.push_str("wire check:\n");
        for breach in &check.breaches {
            let line = format!(
                "- {}: the server {} ({}; {})\n",
                words::wire_level(breach.level),
                breach.text,
                breach.place(),
                plural(breach.count, "time")
            );
            self.text.push_str(&harmless(&line));
        }
    }

    /// The failures of one step or server in one iteration, as one.
    pub(super) fn of(failures: &[&FailureReport]) -> Option<Self> {
        let first = failures.first()?;
        let texts: Vec<String> = failures.iter().map(|f| failure_text(f)).collect();
        Some(Self {
            wrong_answer: failures.iter().all(|f| words::is_wrong_answer(f)),
            type_: first.diagnosis.root_cause.clone(),
            message: message_of(first),
            text: texts.join("\n"),
            stderr: first.stderr_tail.clone(),
        })
    }
}

/// The message with exit status and telling line, so that a viewer that shows
/// nothing but messages shows what matters.
fn message_of(failure: &FailureReport) -> String {
    let mut message = line(&failure.message, MESSAGE_MAX);
    if let Some(exit) = &failure.exit {
        let said = match (&exit.signal, exit.code) {
            (Some(signal), _) => message.contains(signal.as_str()),
            (None, Some(code)) => message.contains(&format!("code {code}")),
            (None, None) => true,
        };
        if !said {
            message.push_str(&format!(" ({})", words::exit(exit)));
        }
    }
    if let Some(telling) = words::telling_line(failure).filter(|t| !message.contains(t.as_str())) {
        message.push_str(&format!(": {telling}"));
    }
    message
}

fn failure_text(failure: &FailureReport) -> String {
    let diagnosis = &failure.diagnosis;
    // Piece by piece, so that an escape sequence without an end can't swallow
    // the pieces after its own.
    let mut out = format!("{}\n", harmless(&failure.message));
    let mut fact = |name: &str, value: &str| {
        if !value.is_empty() {
            out.push_str(&format!("{name}: {}\n", harmless(value)));
        }
    };
    // What a wire check expects is said by the breach, and all are told below.
    if let Some(assertion) = &failure.assertion
        && !words::is_wire_check(failure)
    {
        fact("operator", &assertion.kind);
        fact("path", assertion.path.as_deref().unwrap_or_default());
        fact("place", assertion.pointer.as_deref().unwrap_or_default());
        fact("expected", &assertion.expected.to_string());
        fact("actual", &assertion.actual.to_string());
    }
    fact("at", failure.at.as_deref().unwrap_or_default());
    fact("phase", words::phase(failure.phase));
    if let Some(exit) = &failure.exit {
        fact("exit", &words::exit(exit));
    }
    fact("command", &words::shell_line(&failure.argv));
    fact("url", failure.url.as_deref().unwrap_or_default());
    if let Some(http) = &failure.http {
        fact("http", &words::http(http).unwrap_or_default());
        fact("body", http.body.as_deref().unwrap_or_default());
    }
    if let Some(request) = &failure.request {
        fact("request", &request.method);
    }
    let mut verdict = format!("{}-side", words::side(diagnosis.side));
    if diagnosis.ambiguous {
        verdict.push_str(", ambiguous");
    }
    if let Some(category) = diagnosis.error_category {
        verdict.push_str(&format!(", {}", words::category(category)));
    }
    fact(
        "diagnosis",
        &format!(
            "{} ({verdict}), rule {}",
            diagnosis.root_cause, diagnosis.rule
        ),
    );
    if let Some(evidence) = &diagnosis.evidence {
        fact(
            "evidence",
            &format!("{}: {}", evidence.field, evidence.text),
        );
    }
    fact("advice", &diagnosis.advice.what);
    if !failure.stderr_tail.trim().is_empty() {
        let stderr = harmless(&failure.stderr_tail);
        out.push_str(&format!("stderr:\n{}\n", stderr.trim_end()));
    }
    out
}
