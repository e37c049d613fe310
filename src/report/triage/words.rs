//! Words that the formats share.

use crate::model::{Cluster, FailureView, Health, Recurrence, ReportSummary, Side, TriageReport};
use crate::text::plural;

/// `412 tests: 370 passed, 40 failed, 2 skipped`, leaving out what is zero.
pub(super) fn totals(health: &Health) -> String {
    let parts: Vec<String> = [
        (health.passed, "passed"),
        (health.failed.saturating_sub(health.suite_errors), "failed"),
        (health.flaky, "flaky"),
        (health.skipped, "skipped"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, word)| format!("{n} {word}"))
    .collect();
    let mut said = plural(health.tests, "test");
    if !parts.is_empty() {
        said.push_str(&format!(": {}", parts.join(", ")));
    }
    // No tests, and so in no sum of tests.
    if health.suite_errors > 0 {
        said.push_str(&format!(
            "; {} failed",
            plural(health.suite_errors, "suite")
        ));
    }
    said
}

/// Whom a cause concerns.
pub(super) fn side(cluster: &Cluster) -> &'static str {
    match (cluster.side, cluster.ambiguous) {
        (Side::Code, _) => "the code under test",
        (Side::Test, false) => "the tests or what is around them",
        (Side::Test, true) => "undecided by the evidence",
    }
}

/// Whether a rerun may help.
pub(super) fn retry(cluster: &Cluster) -> Option<&'static str> {
    cluster.retryable.map(|retryable| {
        if retryable {
            "may pass by itself"
        } else {
            "a rerun won't help"
        }
    })
}

/// What the reports themselves give to note, one line each.
pub(super) fn notes(report: &TriageReport) -> Vec<String> {
    let said = |report: &ReportSummary| -> Vec<String> {
        let mut said: Vec<String> = Vec::new();
        if let Some(other) = &report.same_as {
            said.push(format!(
                "{} tells the same run as {other} and is not counted again",
                report.path
            ));
            return said;
        }
        let warnings = report.warnings.iter();
        said.extend(warnings.map(|warning| format!("{}: {warning}", report.path)));
        said
    };
    report.reports.iter().flat_map(said).collect()
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

/// Whether the victims of a cause were failing before, where that is known.
pub(super) fn before(report: &TriageReport, cluster: &Cluster) -> Option<String> {
    let victims = cluster
        .victims
        .iter()
        .filter_map(|at| report.failures.get(*at));
    let (mut known, mut new) = (0_u64, 0_u64);
    for victim in victims {
        match victim.pre_existing {
            Some(true) => known += 1,
            Some(false) => new += 1,
            None => {}
        }
    }
    match (known, new) {
        (0, 0) => None,
        (0, _) => Some("new".to_owned()),
        (_, 0) => Some("failed before".to_owned()),
        (_, new) => Some(format!("{new} of {} new", known + new)),
    }
}
