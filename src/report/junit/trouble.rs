//! What went wrong with one case, in words.

use super::xml::MESSAGE_MAX;
use crate::report::whole::RunTrouble;
use crate::report::{view, words};
use jelly_base::model::{
    Diagnosis, FailureReport, Label, RunReport, WireCheck, deciding, json_word,
};
use jelly_base::text::{one_line, plural, sanitize};

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

    /// What is wrong with a run and with no server or step of it.
    pub(super) fn of_whole(report: &RunReport, trouble: &RunTrouble<'_>) -> Self {
        let diagnosis = &trouble.diagnosis;
        let message = match trouble.at {
            Some(at) => format!("{at}: {}", trouble.message),
            None => trouble.message.clone().into_owned(),
        };
        let mut text = format!("{}\n{}\n", Label::line(diagnosis), sanitize(&message));
        let verdict = json_word(&report.verdict);
        fact(
            &mut text,
            "exit code",
            &format!("{} ({verdict})", report.exit_code),
        );
        told_evidence(&mut text, diagnosis);
        for step in &diagnosis.advice.fix {
            fact(&mut text, "help", &step.line());
        }
        Self {
            wrong_answer: false,
            type_: diagnosis.root_cause.clone(),
            message: one_line(&message, MESSAGE_MAX),
            text,
            stderr: String::new(),
        }
    }

    /// Adds that its step is taken out of the run, and why.
    pub(super) fn tell_quarantine(&mut self, because: &str) {
        fact(&mut self.text, "quarantined", because);
    }

    /// Adds what a wire check found, a line each.
    pub(super) fn tell_breaches(&mut self, check: &WireCheck) {
        self.text.push_str("wire check:\n");
        for breach in &check.breaches {
            let line = format!(
                "- {}: the server {} ({}; {})\n",
                json_word(&breach.level).to_uppercase(),
                breach.text,
                breach.place(),
                plural(breach.count, "time")
            );
            self.text.push_str(&sanitize(&line));
        }
    }

    /// The failures of one step or server in one iteration, as one: of several
    /// mismatches the one that decides, with all of them in the text.
    pub(super) fn of(failures: &[&FailureReport]) -> Option<Self> {
        let first = deciding(failures.iter().copied())?;
        Some(Self::told_by(first, failures))
    }

    /// An earlier attempt of a step whose last one failed by `now`: told by the
    /// same mismatch where it was seen then, too.
    pub(super) fn earlier(
        failures: &[&FailureReport],
        now: Option<&FailureReport>,
    ) -> Option<Self> {
        let fingerprint = now.map(|now| &now.diagnosis.test_fingerprint);
        let same = |f: &&&FailureReport| Some(&f.diagnosis.test_fingerprint) == fingerprint;
        match failures.iter().find(same) {
            Some(same) => Some(Self::told_by(same, failures)),
            None => Self::of(failures),
        }
    }

    fn told_by(first: &FailureReport, failures: &[&FailureReport]) -> Self {
        let mut text = failure_text(first);
        let others = failures
            .iter()
            .filter(|other| !std::ptr::eq(**other, first));
        for other in others {
            text.push('\n');
            text.push_str(&other_text(other));
        }
        if let Some(more) = view::left_out(first, failures.len()) {
            text.push_str(&format!("\nand {more}\n"));
        }
        if !first.stderr_tail.trim().is_empty() {
            let stderr = sanitize(&first.stderr_tail);
            text.push_str(&format!("stderr:\n{}\n", stderr.trim_end()));
        }
        let mut message = message_of(first);
        let more = first.mismatch.map_or(0, |mismatch| mismatch.of - 1);
        if more > 0 {
            message.push_str(&format!(" (and {})", plural(more, "more mismatch")));
        }
        // Words alone would be read as the server's fault, or as another.
        if first.diagnosis.ambiguous {
            message = Label::end_of_message(&message, &first.diagnosis);
        }
        Self {
            wrong_answer: failures.iter().all(|f| view::is_wrong_answer(f)),
            type_: first.diagnosis.root_cause.clone(),
            message,
            text,
            stderr: first.stderr_tail.clone(),
        }
    }
}

/// The message with exit status and telling line, so that a viewer that shows
/// nothing but messages shows what matters.
fn message_of(failure: &FailureReport) -> String {
    let mut message = one_line(&failure.message, MESSAGE_MAX);
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
    if let Some(telling) = view::telling_line(failure).filter(|t| !message.contains(t.as_str())) {
        message.push_str(&format!(": {telling}"));
    }
    message
}

/// A fact on a line of its own. Piece by piece, so that an escape sequence
/// without an end can't swallow the pieces after its own.
fn fact(out: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        out.push_str(&format!("{name}: {}\n", sanitize(value)));
    }
}

fn failure_text(failure: &FailureReport) -> String {
    // First, where nothing that a server said can stand.
    let mut out = format!("{}\n", Label::line(&failure.diagnosis));
    out.push_str(&format!("{}\n", sanitize(&failure.message)));
    compared(&mut out, failure);
    fact(&mut out, "phase", &json_word(&failure.phase));
    if let Some(exit) = &failure.exit {
        fact(&mut out, "exit", &words::exit(exit));
    }
    fact(&mut out, "command", &words::shell_line(&failure.argv));
    fact(&mut out, "url", failure.url.as_deref().unwrap_or_default());
    if let Some(http) = &failure.http {
        fact(&mut out, "http", &view::http(http).unwrap_or_default());
        fact(&mut out, "body", http.body.as_deref().unwrap_or_default());
    }
    if let Some(request) = &failure.request {
        fact(&mut out, "request", &request.method);
    }
    evidence(&mut out, failure);
    fact(&mut out, "advice", &failure.diagnosis.advice.what);
    out
}

/// What another mismatch of the same step adds.
fn other_text(failure: &FailureReport) -> String {
    let which = view::which_mismatch(failure).unwrap_or_else(|| "besides".to_owned());
    let mut out = format!("{which}: {}\n", sanitize(&failure.message));
    compared(&mut out, failure);
    out.push_str(&format!("{}\n", Label::line(&failure.diagnosis)));
    if let Some(mark) = &failure.known {
        fact(&mut out, "known", &mark.entry.reason);
    }
    evidence(&mut out, failure);
    out
}

fn compared(out: &mut String, failure: &FailureReport) {
    // What a wire check expects is said by the breach, and all are told below.
    if let Some(assertion) = &failure.assertion
        && !view::is_wire_check(failure)
    {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        fact(out, "operator", &assertion.kind);
        fact(out, "path", &text(&assertion.path));
        fact(out, "place", &text(&assertion.pointer));
        fact(out, "expected", &assertion.expected.to_string());
        fact(out, "actual", &assertion.actual.to_string());
        fact(out, "nearest", &text(&assertion.nearest));
    }
    fact(out, "at", failure.at.as_deref().unwrap_or_default());
}

fn evidence(out: &mut String, failure: &FailureReport) {
    told_evidence(out, &failure.diagnosis);
}

fn told_evidence(out: &mut String, diagnosis: &Diagnosis) {
    if let Some(evidence) = &diagnosis.evidence {
        let told = format!("{}: {}", evidence.field, evidence.text);
        fact(out, "evidence", &told);
    }
}
