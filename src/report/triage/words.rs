//! Words that the formats share.

use crate::report::words::with_counts;
use jelly_base::model::{
    Cluster, FailureView, Health, KnownFailure, Recurrence, ReportSummary, Side, TriageReport,
    Verdict,
};
use jelly_base::text::{one_line, plural};

/// What the reports come to.
pub(super) fn verdict(report: &TriageReport) -> &'static str {
    match report.verdict {
        Verdict::Passed => "passed",
        Verdict::Skipped => "nothing was executed",
        Verdict::PassedAfterRetry | Verdict::PassedAfterRepair => "passed, with flaky tests",
        Verdict::PassedWithKnown => "nothing but known failures",
        Verdict::NothingAssigned => "nothing assigned",
        Verdict::CodeFailure => "failures of the code under test",
        Verdict::NeedsUserHelp => "failures of the tests or their environment",
        Verdict::InvalidInput => "the result can't be relied on",
        Verdict::Interrupted => "interrupted",
    }
}

/// `412 tests: 370 passed, 40 failed, 2 skipped`, leaving out what is zero. The
/// numbers add up: a suite that failed is no test.
pub(super) fn totals(health: &Health) -> String {
    let failed = health.failed.saturating_sub(health.suite_errors);
    let mut told = with_counts(
        plural(health.tests, "test"),
        [
            (health.passed, "passed"),
            (failed, "failed"),
            (health.flaky, "flaky"),
            (health.skipped, "skipped"),
        ],
    );
    if health.suite_errors > 0 {
        let suites = plural(health.suite_errors, "suite");
        told.push_str(&format!("; {suites} failed outside of all tests"));
    }
    told
}

/// Whom a cause concerns.
pub(super) fn side(cluster: &Cluster) -> &'static str {
    match (cluster.side, cluster.ambiguous) {
        (Side::Code, _) => "the code under test",
        (Side::Test, false) => "the tests or their environment",
        (Side::Test, true) => "undecided by the evidence",
    }
}

/// Whether a rerun may help.
pub(super) fn retry(cluster: &Cluster) -> Option<&'static str> {
    cluster.retryable.map(|retryable| {
        if retryable {
            "may pass on a rerun"
        } else {
            "a rerun won't help"
        }
    })
}

/// What the reports themselves give to note, one line each.
pub(super) fn notes(report: &TriageReport) -> Vec<String> {
    let said = |report: &ReportSummary| -> Vec<String> {
        let path = &report.path;
        match &report.same_as {
            Some(other) => vec![format!(
                "{path} reports the same run as {other} and is not counted again"
            )],
            None => {
                let warnings = report.warnings.iter();
                warnings
                    .map(|warning| format!("{path}: {warning}"))
                    .collect()
            }
        }
    };
    report.reports.iter().flat_map(said).collect()
}

/// The first commands, as many as fit into so many bytes.
pub(super) fn fitting(commands: &[String], max: usize) -> &[String] {
    let mut bytes = 0;
    let fits = |command: &&String| {
        bytes += command.len();
        bytes <= max
    };
    let shown = commands.iter().take_while(fits).count();
    &commands[..shown]
}

/// What earlier runs say of a failure, in a word.
pub(super) fn recurrence(failure: &FailureView<'_>) -> &'static str {
    match (failure.history.map(|past| past.state), failure.pre_existing) {
        (Some(Recurrence::New), _) => "new",
        (Some(Recurrence::Known), _) => "known",
        (Some(Recurrence::Regressed), _) => "regressed",
        (Some(Recurrence::Flaky), _) => "flaky",
        (None, Some(true)) => "known",
        (None, Some(false)) => "new",
        (None, None) => "",
    }
}

/// What earlier runs say of the victims of a cause, where they are known.
pub(super) fn before(report: &TriageReport, cluster: &Cluster) -> Option<String> {
    const WORDS: [&str; 4] = ["new", "regressed", "come and go", "failed before"];
    let mut counts = [0_u64; WORDS.len()];
    for victim in report.victims(cluster) {
        let state = victim.history.map(|past| past.state);
        let word = match (state, victim.pre_existing) {
            (Some(Recurrence::Regressed), _) => 1,
            (Some(Recurrence::Flaky), _) => 2,
            (Some(Recurrence::Known), _) | (_, Some(true)) => 3,
            (Some(Recurrence::New), _) | (None, Some(false)) => 0,
            (None, None) => continue,
        };
        counts[word] += 1;
    }
    let told: Vec<(u64, &str)> = counts
        .into_iter()
        .zip(WORDS)
        .filter(|(count, _)| *count > 0)
        .collect();
    match told.as_slice() {
        [] => None,
        [(1, "come and go")] => Some("comes and goes".to_owned()),
        [(_, word)] => Some((*word).to_owned()),
        several => {
            let told = several
                .iter()
                .map(|(count, word)| format!("{count} {word}"));
            Some(told.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A failure that a list of known failures covers, with what is said there; at most
/// `max` bytes.
pub(super) fn listed(known: &KnownFailure, max: usize) -> String {
    let KnownFailure { entry, test, .. } = known;
    one_line(&format!("{test}: {} ({})", entry.reason, entry.at), max)
}
