//! Whether a run says anything, in one sentence.

use super::words;
use jelly_base::model::{Cluster, ErrorCategory, Health, HealthState, ReportSummary, Side};
use jelly_base::text::plural;

/// Fewer victims are no outage.
const MANY: u64 = 3;

/// The state of the whole run. `clusters` as [`super::clusters`] orders them.
#[must_use]
pub(super) fn health(reports: &[ReportSummary], clusters: &[Cluster]) -> Health {
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
        None => counted(&health, clusters),
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

/// `1 of 3 tests`, and the suites that failed outside of their tests.
fn who_failed(health: &Health, suites: u64) -> String {
    let tests = health.failed.saturating_sub(suites);
    let of = plural(health.executed, "test");
    match (tests, suites) {
        (_, 0) => format!("{tests} of {of} failed"),
        (0, 1) => "1 suite failed outside of its tests".to_owned(),
        (0, _) => format!("{} failed outside of their tests", plural(suites, "suite")),
        (_, _) => format!(
            "{tests} of {of} failed, and {} besides",
            plural(suites, "suite")
        ),
    }
}

fn none_failed(health: &Health) -> String {
    let passed = health.passed + health.flaky;
    let again = match (passed, health.flaky) {
        (_, 0) => String::new(),
        (1, _) => "only when it was run again".to_owned(),
        (_, 1) => "one of them only when it was run again".to_owned(),
        (_, n) => format!("{n} of them only when they were run again"),
    };
    match (health.skipped, passed, again.as_str()) {
        (0, 1, "") => "The only test passed.".to_owned(),
        (0, 1, again) => format!("The only test passed, and {again}."),
        (0, _, "") => format!("All {} passed.", plural(passed, "test")),
        (0, _, again) => format!("All {} passed, {again}.", plural(passed, "test")),
        (skipped, _, "") => format!("No test failed: {passed} passed, {skipped} skipped."),
        (skipped, _, again) => {
            format!("No test failed: {passed} passed ({again}), {skipped} skipped.")
        }
    }
}

fn counted(health: &Health, clusters: &[Cluster]) -> String {
    if health.failed == 0 {
        return none_failed(health);
    }
    let who = who_failed(health, health.suite_errors);
    let causes: Vec<&Cluster> = clusters.iter().filter(|c| standing(c) > 0).collect();
    if let [only] = causes.as_slice() {
        return format!("{who}: {}.", only.title.trim_end_matches('.'));
    }
    let [code, test, unclear] = sides(&causes);
    let mut parts = Vec::new();
    let mut add = |n: u64, what: &str| {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    };
    add(code, "in the code under test");
    add(test, "in the tests or their environment");
    add(unclear, "undecided");
    let reasons = plural(causes.len(), "reason");
    // One test can fail in several ways, or differently at each attempt.
    let head = match health.failed {
        1 => format!("{who}, and the report gives {reasons}"),
        _ => format!("{who}, for {reasons}"),
    };
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

/// Of these causes: those of the code, of the tests or their environment, and the
/// undecided ones.
fn sides(causes: &[&Cluster]) -> [u64; 3] {
    let mut counts = [0; 3];
    for cause in causes {
        let side = match (cause.side, cause.ambiguous) {
            (Side::Code, _) => 0,
            (Side::Test, false) => 1,
            (Side::Test, true) => 2,
        };
        counts[side] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::{counted, none_failed, who_failed};
    use jelly_base::model::{Advice, Cluster, Health, Side};

    fn health([passed, failed, flaky, skipped]: [u64; 4]) -> Health {
        Health {
            tests: passed + failed + flaky + skipped,
            executed: passed + failed + flaky,
            passed,
            failed,
            flaky,
            skipped,
            ..Health::default()
        }
    }

    #[test]
    fn one_is_told_in_the_singular() {
        for (counts, said) in [
            ([1, 0, 0, 0], "The only test passed."),
            ([2, 0, 0, 0], "All 2 tests passed."),
            (
                [0, 0, 1, 0],
                "The only test passed, and only when it was run again.",
            ),
            (
                [1, 0, 1, 0],
                "All 2 tests passed, one of them only when it was run again.",
            ),
            (
                [1, 0, 2, 0],
                "All 3 tests passed, 2 of them only when they were run again.",
            ),
            ([1, 0, 0, 1], "No test failed: 1 passed, 1 skipped."),
            (
                [0, 0, 1, 2],
                "No test failed: 1 passed (only when it was run again), 2 skipped.",
            ),
            (
                [2, 0, 1, 1],
                "No test failed: 3 passed (one of them only when it was run again), 1 skipped.",
            ),
        ] {
            assert_eq!(none_failed(&health(counts)), said);
        }
    }

    fn cluster(side: Side, ambiguous: bool, count: u64) -> Cluster {
        Cluster {
            fingerprint: String::new(),
            also: Vec::new(),
            count,
            flaky: 0,
            consequences: 0,
            root_cause: String::new(),
            error_category: None,
            side,
            ambiguous,
            retryable: None,
            subject: None,
            title: String::new(),
            example: String::new(),
            evidence: None,
            rule: String::new(),
            at: None,
            advice: Advice::default().into(),
            victims: Vec::new(),
        }
    }

    #[test]
    fn what_is_told_of_the_reasons_adds_up_to_them() {
        let clusters = [
            cluster(Side::Test, false, 2),
            cluster(Side::Test, true, 2),
            cluster(Side::Code, false, 1),
            cluster(Side::Test, false, 1),
        ];
        assert_eq!(
            counted(&health([1, 6, 0, 2]), &clusters),
            "6 of 7 tests failed, for 4 reasons: 1 in the code under test, 2 in the tests or their \
             environment and 1 undecided."
        );
        // One test that failed in two ways.
        assert_eq!(
            counted(&health([0, 1, 0, 0]), &clusters[2..]),
            "1 of 1 test failed, and the report gives 2 reasons: 1 in the code under test and 1 in \
             the tests or their environment."
        );
        let of_tests = [clusters[0].clone(), clusters[3].clone()];
        assert_eq!(
            counted(&health([0, 3, 0, 0]), &of_tests),
            "3 of 3 tests failed, for 2 reasons, all in the tests or their environment."
        );
    }

    #[test]
    fn what_failed_outside_of_tests_is_no_test() {
        for (counts, suites, said) in [
            ([0, 1, 0, 0], 0, "1 of 1 test failed"),
            ([2, 1, 0, 1], 0, "1 of 3 tests failed"),
            ([0, 1, 0, 0], 1, "1 suite failed outside of its tests"),
            ([0, 2, 0, 0], 2, "2 suites failed outside of their tests"),
        ] {
            assert_eq!(who_failed(&health(counts), suites), said);
        }
        let mut both = health([1, 2, 0, 0]);
        both.failed += 1;
        let said = "2 of 3 tests failed, and 1 suite besides";
        assert_eq!(who_failed(&both, 1), said);
    }
}
