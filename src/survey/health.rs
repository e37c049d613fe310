//! Whether a run says anything, in one sentence.

use super::words;
use crate::model::{
    Cluster, ErrorCategory, FailureStatus, Failures, Health, HealthState, ReportSummary, Side,
};
use crate::text::plural;
use std::collections::HashMap;

/// Fewer victims are no outage.
const MANY: u64 = 3;

/// The state of the whole run. `clusters` as [`super::clusters`] orders them.
#[must_use]
pub(super) fn health(
    reports: &[ReportSummary],
    clusters: &[Cluster],
    failures: &Failures,
) -> Health {
    let mut health = Health::default();
    for report in reports.iter().filter(|report| report.same_as.is_none()) {
        health.tests += report.tests;
        health.passed += report.passed;
        health.failed += report.failed + report.errors + report.suite_errors;
        health.suite_errors += report.suite_errors;
        health.skipped += report.skipped;
        health.flaky += report.flaky;
    }
    health.executed = health.tests.saturating_sub(health.skipped);
    let unread: Vec<&ReportSummary> = reports.iter().filter(|r| r.problem.is_some()).collect();
    let one_cause = outage(&health, clusters);
    health.state = if !unread.is_empty() || reports.is_empty() {
        HealthState::Unreadable
    } else if health.executed == 0 && health.failed == 0 {
        HealthState::NothingExecuted
    } else if one_cause.is_some() {
        HealthState::OneCause
    } else {
        HealthState::Sound
    };
    let seen = match one_cause {
        _ if health.executed == 0 && health.failed == 0 => nothing_executed(&health),
        Some(cluster) => format!(
            "{} of {} have one cause: {}.",
            standing(cluster),
            plural(health.failed, "failure"),
            cluster.title
        ),
        None => counted(&health, clusters, failures),
    };
    health.summary = match health.state {
        HealthState::Unreadable if health.tests == 0 => unreadable(&unread, reports.len()),
        HealthState::Unreadable => format!("{} {seen}", unreadable(&unread, reports.len())),
        HealthState::Sound | HealthState::OneCause | HealthState::NothingExecuted => seen,
    };
    health
}

/// Victims that did not pass in the end.
fn standing(cluster: &Cluster) -> u64 {
    cluster.count.saturating_sub(cluster.flaky)
}

/// The cause around the tests that most failures have.
fn outage<'c>(health: &Health, clusters: &'c [Cluster]) -> Option<&'c Cluster> {
    clusters.first().filter(|first| {
        let around = match first.error_category {
            Some(ErrorCategory::Infrastructure) => true,
            Some(ErrorCategory::Timeout | ErrorCategory::Other | ErrorCategory::Locator) => {
                first.side == Side::Test && !first.ambiguous
            }
            Some(ErrorCategory::Assertion) | None => false,
        };
        let victims = standing(first);
        around && victims >= MANY && victims * 2 > health.failed
    })
}

fn nothing_executed(health: &Health) -> String {
    match health.skipped {
        0 => "The report holds no test: nothing was tested.".to_owned(),
        1 => "No test was executed: the only one was skipped.".to_owned(),
        skipped => format!("No test was executed: all {skipped} were skipped."),
    }
}

fn unreadable(unread: &[&ReportSummary], all: usize) -> String {
    match unread {
        [] => "There is no report.".to_owned(),
        [one] => format!(
            "{} can't be relied on: {}.",
            one.path,
            one.problem
                .as_deref()
                .unwrap_or_default()
                .trim_end_matches('.')
        ),
        several => format!(
            "{} of {} can't be relied on.",
            several.len(),
            plural(all, "report")
        ),
    }
}

fn counted(health: &Health, clusters: &[Cluster], failures: &Failures) -> String {
    if health.failed == 0 {
        let passed = if health.skipped == 0 {
            format!("All {} passed", plural(health.tests, "test"))
        } else {
            format!(
                "No test failed: {} passed, {} skipped",
                health.passed + health.flaky,
                health.skipped
            )
        };
        return match health.flaky {
            0 => format!("{passed}."),
            1 => format!("{passed}, one of them only when it was run again."),
            n => format!("{passed}, {n} of them only when they were run again."),
        };
    }
    let causes: Vec<&Cluster> = clusters.iter().filter(|c| standing(c) > 0).collect();
    if let [only] = causes.as_slice() {
        let title = only.title.trim_end_matches('.');
        return format!("{}: {title}.", so_many(health));
    }
    let [code, test, unclear] = sides(failures);
    let mut parts = Vec::new();
    let mut add = |n: u64, what: &str| {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    };
    add(code, "because of the code under test");
    add(test, "because of the tests or what is around them");
    add(unclear, "undecided");
    let head = format!(
        "{}, for {}",
        so_many(health),
        plural(causes.len(), "reason")
    );
    match parts.as_slice() {
        [] => format!("{head}."),
        // The number stands in front already.
        [one] => {
            let what = one.split_once(' ').map_or("", |(_, what)| what);
            format!("{head}, all {what}.")
        }
        several => format!("{head}: {}.", words::list(several)),
    }
}

/// How many tests failed, and how many suites outside of their tests.
fn so_many(health: &Health) -> String {
    let executed = plural(health.executed, "test");
    let suites = plural(health.suite_errors, "suite");
    let their = if health.suite_errors == 1 {
        "its"
    } else {
        "their"
    };
    match (
        health.failed.saturating_sub(health.suite_errors),
        health.suite_errors,
    ) {
        (tests, 0) => format!("{tests} of {executed} failed"),
        (0, _) => format!("{suites} failed outside of {their} tests"),
        (tests, _) => format!("{tests} of {executed} and {suites} failed"),
    }
}

/// Tests that still fail: of the code, of the tests or what is around them, and
/// undecided. One that fails for several reasons counts once, for the gravest.
fn sides(failures: &Failures) -> [u64; 3] {
    let mut tests: HashMap<(&str, u64, &str, &str), usize> = HashMap::new();
    for failure in failures.iter() {
        if failure.status == FailureStatus::Flaky {
            continue;
        }
        let side = match (failure.kind.side, failure.kind.ambiguous) {
            (Side::Code, _) => 0,
            (Side::Test, false) => 1,
            (Side::Test, true) => 2,
        };
        let test = (
            failure.report,
            failure.ordinal,
            failure.classname,
            failure.name,
        );
        let gravest = tests.entry(test).or_insert(side);
        *gravest = side.min(*gravest);
    }
    let mut counts = [0; 3];
    for side in tests.into_values() {
        counts[side] += 1;
    }
    counts
}
