//! The words that all reports share: one name for one thing, everywhere.

use jelly_base::model::{Because, Exit, IterationReport, Verdict, json_word};
use jelly_base::text::{human_duration, plural, shell_word};
use serde::Serialize;
use std::time::Duration;

/// The word of a closed list as people read it.
pub(super) fn spaced(word: &impl Serialize) -> String {
    json_word(word).replace('_', " ")
}

/// A verdict as a heading says it.
pub(super) fn verdict(verdict: Verdict) -> String {
    match verdict {
        Verdict::NeedsUserHelp => "needs your help".to_owned(),
        other => spaced(&other),
    }
}

pub(super) fn duration(ms: u64) -> String {
    human_duration(Duration::from_millis(ms))
}

/// The same of a time that was measured more finely than a person cares for.
pub(super) fn fine_duration(ms: f64) -> String {
    human_duration(Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default())
}

/// Why a step did not run, as a clause.
pub(super) fn because(because: &Because) -> String {
    match because {
        Because::NotSelected => "not selected".to_owned(),
        Because::If => "an `if` does not hold, its own or that of a step that it needs".to_owned(),
        Because::Requires(what) => format!("requires {what}"),
        Because::FailFast => "an earlier step failed, and --fail-fast is set".to_owned(),
        Because::Deadline => "the deadline was reached".to_owned(),
        Because::Interrupted => "the run was interrupted".to_owned(),
        Because::Step(step) => format!("needs {step}, which did not pass"),
        Because::Server(server) => format!("server {server} was not ready"),
        Because::ServerDown(server) => format!("server {server} went down and is not up again"),
        Because::Setup(step) => format!("setup step {step} did not pass"),
        Because::Plan(reason) => reason.clone(),
    }
}

/// `exit code 1`, `signal SIGKILL`.
pub(super) fn exit(exit: &Exit) -> String {
    match (exit.code, exit.signal.as_deref()) {
        (_, Some(signal)) => format!("signal {signal}"),
        (Some(code), None) => format!("exit code {code}"),
        (None, None) => "exit status unknown".to_owned(),
    }
}

/// `4 steps: 1 passed, 2 failed (1 known), 1 blocked`, leaving out what is zero.
pub(super) fn totals(iteration: &IterationReport) -> String {
    let totals = iteration.totals;
    let failed = match iteration.known_steps() {
        0 => "failed".to_owned(),
        known => format!("failed ({known} known)"),
    };
    with_counts(
        plural(totals.total, "step"),
        [
            (totals.passed.into(), "passed"),
            (totals.failed.into(), failed.as_str()),
            (totals.blocked.into(), "blocked"),
            (totals.quarantined.into(), "quarantined"),
            (totals.skipped.into(), "skipped"),
        ],
    )
}

/// `4 steps: 2 passed, 1 failed`, leaving out what is zero.
pub(super) fn with_counts<const N: usize>(all: String, counts: [(u64, &str); N]) -> String {
    let some = counts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = some
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match parts.as_slice() {
        [] => all,
        parts => format!("{all}: {}", parts.join(", ")),
    }
}

/// A value in one piece, as a person reads it: strings bare, the rest as JSON.
pub(super) fn value(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::Array(_)
        | serde_json::Value::Object(_) => value.to_string(),
    }
}

/// An argv as one line that a shell would read back as the same words.
pub(super) fn shell_line(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|word| shell_word(word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{exit, shell_line, totals};
    use jelly_base::model::{
        Exit, FailureReport, IterationReport, KnownMark, StepReport, StepState, Totals,
    };

    #[test]
    fn an_argv_reads_as_a_shell_would_need_it() {
        let argv = ["npx", "-y", "a b", "it's", ""].map(str::to_owned);
        assert_eq!(shell_line(&argv), r"npx -y 'a b' 'it'\''s' ''");
    }

    #[test]
    fn a_signal_says_more_than_a_code() {
        let killed = Exit {
            code: Some(137),
            signal: Some("SIGKILL".into()),
        };
        assert_eq!(exit(&killed), "signal SIGKILL");
    }

    #[test]
    fn totals_leave_out_what_is_zero() {
        let iteration = IterationReport {
            totals: Totals {
                total: 3,
                passed: 1,
                blocked: 2,
                ..Totals::default()
            },
            ..IterationReport::default()
        };
        assert_eq!(totals(&iteration), "3 steps: 1 passed, 2 blocked");
        assert_eq!(totals(&IterationReport::default()), "0 steps");
    }

    #[test]
    fn totals_say_how_many_of_those_that_failed_are_known() {
        let step = |id: &str| StepReport {
            id: id.to_owned(),
            state: StepState::Failed,
            ..StepReport::default()
        };
        let failure = |step: &str, known: bool| FailureReport {
            step: Some(step.to_owned()),
            known: known.then(KnownMark::default),
            ..FailureReport::default()
        };
        let steps = vec![step("a"), step("b"), step("c")];
        let iteration = IterationReport {
            totals: Totals::of(&steps),
            steps,
            // Of c one of two ways only.
            failures: vec![
                failure("a", true),
                failure("b", false),
                failure("c", true),
                failure("c", false),
            ],
            ..IterationReport::default()
        };
        assert_eq!(totals(&iteration), "3 steps: 3 failed (1 known)");
    }
}
