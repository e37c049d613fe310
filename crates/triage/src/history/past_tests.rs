use super::Past;
use crate::history::{
    OffenderOrder, PastCause, PastEnd, PastFailure, PastLabel, PastPass, PastReport, PastRun,
    RunKind, RunOrigin, TestName,
};
use jelly_base::model::{FailureStatus, Recurrence, Side, Template};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn name(test: &str) -> TestName {
    TestName::new("suite", "Class", test)
}

fn cause(root_cause: &str) -> PastCause {
    PastCause {
        side: Side::Test,
        ambiguous: false,
        error_category: None,
        retryable: None,
        root_cause: root_cause.into(),
        rule: "some/rule".into(),
        evidence: None,
        template: Template::default(),
    }
}

fn past_of(runs: impl IntoIterator<Item = PastRun>) -> Past {
    let mut past = Past::default();
    runs.into_iter().for_each(|run| past.add(run));
    past
}

/// A run on a day of January: tests that failed, each with its cause, and
/// tests that passed.
fn run(day: u32, failed: &[(&str, &str)], passed: &[&str]) -> PastRun {
    let mut run = PastRun::new(RunKind::Triage, Some(format!("2026-01-{day:02}T00:00:00Z")));
    run.reports.push(PastReport {
        path: "report.xml".into(),
        digest: format!("digest {day}"),
        ..PastReport::default()
    });
    for (test, of) in failed {
        run.causes.insert(format!("j1:{of}"), cause(of));
        run.failures.push(PastFailure {
            report: 0,
            test: name(test),
            status: FailureStatus::Failure,
            fingerprint: format!("j1:{of}"),
            test_fingerprint: format!("j1:{of}/{test}"),
            duration_ms: None,
        });
    }
    for test in passed {
        run.passed.push(PastPass {
            report: 0,
            test: name(test),
            definition: None,
            duration_ms: None,
        });
    }
    run
}

#[test]
fn whom_a_cause_concerned_is_told_of_each_test_as_it_was_there_last() {
    let mut first = run(1, &[("a", "dns"), ("b", "dns")], &[]);
    if let Some(cause) = first.causes.get_mut("j1:dns") {
        cause.side = Side::Code;
    }
    let open = PastLabel {
        side: Side::Test,
        ambiguous: true,
    };
    first.labels.insert("j1:dns/b".into(), open);
    let last = run(2, &[("c", "dns")], &["a"]);
    let past = past_of([first, last]);
    let told: Vec<(String, PastLabel)> = past
        .labels("j1:dns")
        .into_iter()
        .map(|one| (one.test.name, one.label))
        .collect();
    let proved = |side: Side| PastLabel {
        side,
        ambiguous: false,
    };
    let wanted = [
        ("a".to_owned(), proved(Side::Code)),
        ("b".to_owned(), open),
        ("c".to_owned(), proved(Side::Test)),
    ];
    assert_eq!(told, wanted);
    let earlier = |test: &str| {
        let print = format!("j1:dns/{test}");
        let test = ("suite", "Class", test);
        past.history(test, &print, FailureStatus::Failure)
            .earlier_side
    };
    assert_eq!(earlier("a"), Some(Side::Code));
    assert_eq!(earlier("b"), Some(Side::Test));
}

fn state(past: &Past, test: &str, of: &str) -> Recurrence {
    let print = format!("j1:{of}/{test}");
    past.history(("suite", "Class", test), &print, FailureStatus::Failure)
        .state
}

#[test]
fn a_failure_is_told_with_when_and_how_often_it_was_seen() {
    let past = past_of([
        run(1, &[("a", "dns")], &[]),
        run(2, &[("a", "dns")], &[]),
        run(3, &[], &["a"]),
        run(4, &[("b", "dns")], &[]),
    ]);
    let history = past.history(("suite", "Class", "a"), "j1:dns/a", FailureStatus::Failure);
    assert_eq!(history.state, Recurrence::Regressed);
    assert_eq!(history.first_seen.as_deref(), Some("2026-01-01T00:00:00Z"));
    assert_eq!(history.last_seen.as_deref(), Some("2026-01-02T00:00:00Z"));
    assert_eq!((history.runs, history.failed), (3, 2));
    assert!((history.rate - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(history.earlier_side, Some(Side::Test));
    let recent = past.recent("suite", "Class", "a");
    assert_eq!(recent, [PastEnd::Failed, PastEnd::Failed, PastEnd::Passed]);
    assert_eq!(past.recent("suite", "Class", "never seen"), []);
    assert_eq!(state(&past, "b", "dns"), Recurrence::Known);
    assert_eq!(state(&past, "c", "dns"), Recurrence::New);
    assert_eq!(state(&past, "a", "tls"), Recurrence::New, "another cause");
}

#[test]
fn an_earlier_verdict_is_told_and_changes_no_state() {
    let mut blamed = run(1, &[("a", "dns")], &[]);
    for cause in blamed.causes.values_mut() {
        cause.side = Side::Code;
    }
    let past = past_of([blamed]);
    let history = past.history(("suite", "Class", "a"), "j1:dns/a", FailureStatus::Failure);
    assert_eq!(history.earlier_side, Some(Side::Code));
    assert_eq!(history.state, Recurrence::Known);
    let other = past.history(("suite", "Class", "b"), "j1:dns/b", FailureStatus::Failure);
    assert_eq!(other.earlier_side, None);
}

#[test]
fn one_sighting_is_the_first_and_the_last() {
    let past = past_of([run(1, &[("a", "dns")], &[])]);
    let history = past.history(("suite", "Class", "a"), "j1:dns/a", FailureStatus::Failure);
    assert_eq!(history.first_seen, history.last_seen);
    assert!(history.first_seen.is_some());
}

#[test]
fn a_test_that_failed_of_anything_is_no_news() {
    let past = past_of([
        run(1, &[("a", "dns"), ("b", "tls")], &[]),
        run(2, &[], &["b"]),
    ]);
    assert!(past.pre_existing("suite", "Class", "a"));
    assert!(!past.pre_existing("suite", "Class", "b"), "it passed since");
    assert!(!past.pre_existing("other", "Class", "a"));
    assert!(!past.pre_existing("suite", "Class", "never"));
}

#[test]
fn what_failed_last_and_passes_now_is_fixed() {
    let past = past_of([
        run(1, &[("a", "dns"), ("b", "tls"), ("c", "dns")], &[]),
        run(2, &[], &["b"]),
    ]);
    let passed = [name("a"), name("b"), name("c"), name("d")];
    let fixed = past.fixed(&passed, &BTreeSet::from([name("c")]));
    assert_eq!(fixed.len(), 1, "{fixed:?}");
    assert_eq!(fixed[0].test, name("a"));
    assert_eq!(fixed[0].root_cause.as_deref(), Some("dns"));
    assert_eq!(fixed[0].last_seen.as_deref(), Some("2026-01-01T00:00:00Z"));
}

#[test]
fn a_report_counts_once_and_its_own_past_is_what_came_before() {
    let runs = [
        run(1, &[("a", "dns")], &[]),
        run(2, &[("a", "tls")], &[]),
        run(1, &[("a", "dns")], &[]),
    ];
    let mut past = past_of(runs);
    assert_eq!(past.runs(), 2);
    past.end_before(["digest 2"]);
    assert_eq!(past.runs(), 1);
    assert_eq!(state(&past, "a", "tls"), Recurrence::New);
    assert_eq!(past.cause("j1:tls"), None);
    past.end_before(["digest 1", ""]);
    assert!(past.is_empty());
    assert_eq!(state(&past, "a", "dns"), Recurrence::New);
}

#[test]
fn a_name_that_occurs_twice_failed_if_one_of_them_did() {
    let past = past_of([run(1, &[("a", "dns"), ("a", "tls")], &["a"])]);
    assert_eq!(state(&past, "a", "dns"), Recurrence::Known);
    assert_eq!(state(&past, "a", "tls"), Recurrence::Known);
    assert!(past.pre_existing("suite", "Class", "a"));
}

#[test]
fn passing_is_watched_for_as_long_as_it_tells_something() {
    let mut past = past_of([run(1, &[("a", "dns")], &[])]);
    assert!(past.watches("suite", "Class", "a"));
    assert!(!past.watches("suite", "Class", "b"));
    for day in 2..22 {
        past.add(run(day, &[], &["a"]));
    }
    assert!(!past.watches("suite", "Class", "a"));
}

#[test]
fn a_pass_counts_for_the_definition_that_passed() {
    let mut first = run(1, &[], &["a"]);
    first.passed[0].definition = Some("v1".into());
    let past = past_of([first, run(2, &[("a", "dns")], &[])]);
    assert!(past.passed_as("v1", None));
    assert!(!past.passed_as("v2", None));
}

#[test]
fn a_cause_is_found_by_its_fingerprint_or_a_test_s() {
    let past = past_of([
        run(1, &[("a", "dns"), ("b", "dns")], &[]),
        run(2, &[("a", "dns")], &[]),
    ]);
    assert_eq!(past.fingerprints("j1:d"), ["j1:dns"]);
    assert_eq!(past.fingerprints("j1:dns/a"), ["j1:dns"]);
    assert!(past.fingerprints("j1:x").is_empty());
    let cause = past.cause("j1:dns").unwrap();
    assert_eq!((cause.runs, cause.failures), (2, 3));
    assert_eq!(cause.tests, [name("a"), name("b")]);
}

#[test]
fn the_worst_come_first() {
    let past = past_of([
        run(1, &[("steady", "dns"), ("shaky", "tls")], &[]),
        run(2, &[("steady", "dns")], &["shaky"]),
        run(3, &[("steady", "dns"), ("shaky", "tls")], &[]),
        run(4, &[], &["shaky", "steady"]),
        run(5, &[("late", "dns")], &[]),
    ]);
    let order = |order| -> Vec<String> {
        let records = past.worst_tests(order);
        records.into_iter().map(|r| r.test.name).collect()
    };
    assert_eq!(order(OffenderOrder::Failures), ["steady", "shaky", "late"]);
    assert_eq!(order(OffenderOrder::Flaky), ["shaky", "steady", "late"]);
    assert_eq!(order(OffenderOrder::LastSeen), ["late", "shaky", "steady"]);
    let causes = past.worst_causes(OffenderOrder::Failures);
    assert_eq!(causes[0].fingerprint, "j1:dns");
    assert_eq!((causes[0].failures, causes[0].tests.len()), (4, 2));
}

proptest! {
    #[test]
    fn a_baseline_is_asked_like_a_store(
        days in prop::collection::vec(
            (prop::collection::btree_set("[ab]", 0..3), prop::collection::btree_set("[ab]", 0..3)),
            0..12,
        )
    ) {
        let runs: Vec<PastRun> = days
            .iter()
            .zip(1..)
            .map(|((failed, passed), day)| {
                let failed: Vec<(&str, &str)> =
                    failed.iter().map(|test| (test.as_str(), "dns")).collect();
                let passed: Vec<&str> = passed.iter().map(String::as_str).collect();
                run(day, &failed, &passed)
            })
            .collect();
        let lines: Vec<String> = runs
            .iter()
            .map(|run| serde_json::to_string(run).unwrap())
            .collect();
        let stored = past_of(lines.iter().map(|line| serde_json::from_str(line).unwrap()));
        let read = past_of(runs);
        for test in ["a", "b"] {
            let ask = |past: &Past| {
                past.history(("suite", "Class", test), &format!("j1:dns/{test}"), FailureStatus::Error)
            };
            prop_assert_eq!(ask(&stored), ask(&read));
            prop_assert!(ask(&read).rate <= 1.0);
        }
    }
}

/// A failure of a test in the suite of a day.
fn run_of_suite(day: u32, suite: &str, failed: bool) -> PastRun {
    let mut run = run(day, &[], &[]);
    let test = TestName::new(suite, "Class", "total");
    if failed {
        run.causes.insert("j1:a".into(), cause("a"));
        run.failures.push(PastFailure {
            report: 0,
            test,
            status: FailureStatus::Failure,
            fingerprint: "j1:a".into(),
            test_fingerprint: "j1:a/total".into(),
            duration_ms: None,
        });
    } else {
        run.passed.push(PastPass {
            report: 0,
            test,
            definition: None,
            duration_ms: None,
        });
    }
    run
}

#[test]
fn a_suite_that_is_named_after_its_run_is_the_same_suite() {
    let past = past_of([
        run_of_suite(1, "smoke 2026-01-01T10:00:00Z", true),
        run_of_suite(2, "smoke 2026-01-02T10:01:10Z", true),
    ]);
    let now = "smoke 2026-01-03T09:59:59Z";
    let said = past.history(
        (now, "Class", "total"),
        "j1:a/total",
        FailureStatus::Failure,
    );
    assert_eq!((said.state, said.runs), (Recurrence::Known, 2));
    assert!(past.pre_existing(now, "Class", "total"));
    assert!(past.watches(now, "Class", "total"));
    let passed = [TestName::new(now, "Class", "total")];
    let fixed = past.fixed(&passed, &BTreeSet::new());
    assert_eq!(fixed[0].test, passed[0]);
}

#[test]
fn suites_that_stand_side_by_side_have_a_past_each() {
    let past = past_of([
        run_of_suite(1, "suite-1", true),
        run_of_suite(2, "suite-2", false),
    ]);
    let said = |suite: &str| {
        let test = (suite, "Class", "total");
        past.history(test, "j1:a/total", FailureStatus::Failure)
            .state
    };
    assert_eq!(said("suite-1"), Recurrence::Known);
    assert_eq!(said("suite-2"), Recurrence::New);
    assert!(!past.watches("suite-2", "Class", "total"));
}

/// Calls of a day, each a plan with the time that it took.
fn timed(day: u32, times: &[(&str, u64)]) -> Vec<PastRun> {
    let call = |(place, duration): &(&str, u64)| {
        let mut run = run(day, &[], &[]);
        run.reports[0].digest = format!("{day} {place} {duration}");
        run.reports[0].place = Some((*place).to_owned());
        run.reports[0].duration_ms = Some(*duration);
        run
    };
    times.iter().map(call).collect()
}

#[test]
fn a_plan_takes_as_long_as_the_median_of_its_last_calls() {
    let mut runs = timed(1, &[("a.yaml", 9_000)]);
    // Ten calls later the first one counts no more.
    for day in 2..12 {
        runs.extend(timed(day, &[("a.yaml", 100 + u64::from(day))]));
    }
    // Two combinations of a matrix are one call.
    runs.extend(timed(12, &[("b.yaml", 30), ("b.yaml", 40)]));
    let past = past_of(runs);
    let told: Vec<(&str, u64)> = past.durations().into_iter().collect();
    assert_eq!(told, [("a.yaml", 107), ("b.yaml", 70)]);
}

#[test]
fn a_pass_on_another_branch_clears_nothing_and_shows_what_held() {
    let viewer = RunOrigin {
        project: Some("acme/shop".into()),
        branch: Some("main".into()),
        ..RunOrigin::default()
    };
    let of = |mut run: PastRun, project: &str, branch: &str| {
        run.origin = RunOrigin {
            project: Some(project.into()),
            branch: Some(branch.into()),
            ..RunOrigin::default()
        };
        run
    };
    let mut passed = run(2, &[], &["a"]);
    passed.passed[0].definition = Some("v1".into());
    let mut past = Past::seen_from(&viewer);
    past.add(of(run(1, &[("a", "dns")], &[]), "acme/shop", "pull/7"));
    past.add(of(passed, "acme/shop", "pull/7"));
    past.add(of(run(3, &[("b", "tls")], &[]), "acme/other", "main"));
    assert_eq!(state(&past, "a", "dns"), Recurrence::Known);
    assert_eq!(state(&past, "b", "tls"), Recurrence::New, "another project");
    assert!(past.passed_as("v1", None));
    past.add(of(run(4, &[], &["a"]), "acme/shop", "main"));
    // Here it works, so that what a merge brings is no news of this test, and no excuse.
    assert_eq!(state(&past, "a", "dns"), Recurrence::Regressed);
    assert!(!past.pre_existing("suite", "Class", "a"));
    assert_eq!(state(&past, "a", "tls"), Recurrence::New, "nowhere");
    past.add(of(run(5, &[("a", "dns")], &[]), "acme/shop", "pull/8"));
    assert_eq!(state(&past, "a", "dns"), Recurrence::Regressed);
}
