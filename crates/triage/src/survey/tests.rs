use super::{Before, FailOn, ReportPart, Terms, account};
use jelly_base::model::{
    Diagnosis, ErrorCategory, Evidence, FailureStatus, HealthState, ReportSummary, Side,
    TriageReport, TriagedFailure, Verdict,
};
use proptest::prelude::*;

/// A failure of this kind: `code`, `refused HOST`, `unknown`.
fn failure(report: &str, name: &str, kind: &str) -> TriagedFailure {
    let (side, category, root_cause, retryable, text) = match kind.split_once(' ') {
        Some(("refused", host)) => (
            Side::Test,
            Some(ErrorCategory::Infrastructure),
            "connection_refused",
            Some(true),
            format!("connect ECONNREFUSED {host}"),
        ),
        _ if kind == "code" => (
            Side::Code,
            Some(ErrorCategory::Assertion),
            "assertion_mismatch",
            Some(false),
            "expected 1, got 2".to_owned(),
        ),
        _ => (Side::Test, None, "unknown", None, String::new()),
    };
    TriagedFailure {
        report: report.into(),
        suite: "s".into(),
        classname: "c".into(),
        name: name.into(),
        file: None,
        line: None,
        status: FailureStatus::Failure,
        message: Some(text.clone()),
        pre_existing: None,
        diagnosis: Diagnosis {
            side,
            ambiguous: category.is_none(),
            error_category: category,
            root_cause: root_cause.into(),
            retryable,
            rule: "test/rule".into(),
            evidence: Some(Evidence {
                field: "message".into(),
                text,
            }),
            // A fingerprint knows no addresses but those of named hosts.
            fingerprint: format!("j1:{}", kind.replace(|c: char| c.is_ascii_digit(), "")),
            test_fingerprint: format!("j1:{name}"),
            ..Diagnosis::BLANK
        },
        history: None,
    }
}

fn part(path: &str, passed: u64, failures: &[(&str, &str)]) -> ReportPart {
    let mut part = ReportPart {
        summary: ReportSummary {
            path: path.into(),
            dialect: "pytest".into(),
            tests: passed + failures.len() as u64,
            passed,
            failed: failures.len() as u64,
            ..ReportSummary::default()
        },
        ..ReportPart::default()
    };
    for (ordinal, (name, kind)) in (0..).zip(failures) {
        part.failures
            .push_of_case(ordinal, failure(path, name, kind));
    }
    part
}

fn drawn(parts: Vec<ReportPart>) -> TriageReport {
    account(parts, Before::default(), Terms::default()).report
}

#[test]
fn an_address_behind_different_words_is_one_cause() {
    let mut other = failure("a.xml", "b", "refused db:5432");
    other.diagnosis.fingerprint = "j1:other words".into();
    let mut part = part(
        "a.xml",
        0,
        &[("a", "refused db:5432"), ("c", "refused 127.0.0.1:80")],
    );
    part.failures.push(other);
    let report = drawn(vec![part]);
    let counts: Vec<u64> = report.clusters.iter().map(|c| c.count).collect();
    assert_eq!(counts, [2, 1]);
    assert_eq!(report.clusters[0].also, ["j1:other words"]);
    assert_eq!(report.clusters[0].subject.as_deref(), Some("db:5432"));
}

#[test]
fn a_panic_has_its_message_for_a_title() {
    let mut wrong = failure("a.xml", "ix", "code");
    wrong.message = Some("index out of bounds: the len is 1".into());
    wrong.diagnosis.root_cause = "code_exception".into();
    let head = "thread 'ix' panicked at src/lib.rs:5:65: index out of bounds: the len is 1";
    wrong.diagnosis.evidence.as_mut().unwrap().text = head.into();
    let mut part = part("a.xml", 0, &[]);
    (part.summary.tests, part.summary.failed) = (1, 1);
    part.failures.push(wrong);
    let report = drawn(vec![part]);
    assert_eq!(
        report.clusters[0].title,
        "index out of bounds: the len is 1"
    );
}

#[test]
fn a_client_of_another_kind_of_service_is_no_victim_of_the_one_that_is_named() {
    let report = |other: &str| {
        let mut part = part("a.xml", 0, &[("a", "refused cache.acme.test:6379")]);
        let mut unnamed = failure("a.xml", "b", "refused nobody");
        unnamed.message = Some(other.to_owned());
        unnamed.diagnosis.evidence = Some(Evidence {
            field: "message".into(),
            text: other.to_owned(),
        });
        unnamed.diagnosis.fingerprint = "j1:other".into();
        part.failures.push_of_case(1, unnamed);
        part.summary.tests += 1;
        drawn(vec![part]).clusters.len()
    };
    assert_eq!(report("ldap.SERVER_DOWN: can't contact LDAP server"), 2);
    assert_eq!(report("smtplib.SMTPConnectError: connection refused"), 2);
    assert_eq!(
        report("redis.exceptions.ConnectionError: connection refused"),
        1
    );
    assert_eq!(report("[Errno 111] Connection refused"), 1);
    assert_eq!(report("SQLSTATE[HY000] [2002] Connection refused"), 2);
}

#[test]
fn ports_that_change_from_test_to_test_name_no_server() {
    let kinds: Vec<String> = (0..9)
        .map(|n| format!("refused localhost:4000{n}"))
        .collect();
    let names: Vec<String> = (0..9).map(|n| n.to_string()).collect();
    let failures: Vec<(&str, &str)> = names
        .iter()
        .map(String::as_str)
        .zip(kinds.iter().map(String::as_str))
        .collect();
    let report = drawn(vec![part("a.xml", 0, &failures)]);
    assert_eq!(report.clusters.len(), 1);
    assert_eq!(report.clusters[0].subject, None);
    assert_eq!(report.health.state, HealthState::OneCause);
}

#[test]
fn a_set_up_takes_the_blame_for_tests_that_name_no_cause() {
    let report = drawn(vec![part(
        "a.xml",
        0,
        &[
            ("a", "unknown"),
            ("setUpClass", "refused db:5432"),
            ("b", "unknown"),
        ],
    )]);
    assert_eq!(report.clusters.len(), 1);
    assert_eq!(
        (report.clusters[0].count, report.clusters[0].consequences),
        (3, 2)
    );
    // What names its own cause is left alone.
    let report = drawn(vec![part(
        "a.xml",
        0,
        &[("a", "code"), ("setUp", "refused db:1")],
    )]);
    assert_eq!(report.clusters.len(), 2);
}

/// A test may be about a set-up, and a writer may know no suites.
#[test]
fn a_name_that_begins_like_a_hook_and_a_suite_without_a_name_take_no_blame() {
    for name in [
        "Setup wizard opens",
        "setup: loads the plan",
        "before all orders are shipped",
        "\"before all\" hook support pays",
        "setup_is_quick",
    ] {
        let report = drawn(vec![part(
            "a.xml",
            0,
            &[("a", "unknown"), (name, "refused db:5432")],
        )]);
        assert_eq!(report.clusters.len(), 2, "{name}");
    }
    for name in ["", "setUp"] {
        let mut part = part("a.tap", 0, &[]);
        (part.summary.tests, part.summary.failed) = (2, 2);
        for (ordinal, (name, kind)) in (0..).zip([("a", "unknown"), (name, "refused db:5432")]) {
            let mut failure = failure("a.tap", name, kind);
            failure.suite.clear();
            failure.classname.clear();
            part.failures.push_of_case(ordinal, failure);
        }
        assert_eq!(drawn(vec![part]).clusters.len(), 2, "{name}");
    }
    for name in [
        "(setUpAll)",
        "setUpClass (shop.Cart)",
        "[BeforeSuite]",
        "\"before all\" hook for \"pays\"",
    ] {
        let report = drawn(vec![part(
            "a.xml",
            0,
            &[("a", "unknown"), (name, "refused db:5432")],
        )]);
        assert_eq!(report.clusters.len(), 1, "{name}");
    }
}

#[test]
fn a_part_that_failed_takes_its_whole_along() {
    let report = drawn(vec![part(
        "a.xml",
        1,
        &[("T", "unknown"), ("T/a", "unknown"), ("T/a/b", "code")],
    )]);
    assert_eq!(report.clusters.len(), 1);
    assert_eq!(report.clusters[0].consequences, 2);
    assert_eq!(report.clusters[0].root_cause, "assertion_mismatch");
}

#[test]
fn nothing_turns_green_by_absence() {
    let skipped = |n| {
        let mut part = part("a.xml", 0, &[]);
        part.summary.tests = n;
        part.summary.skipped = n;
        part
    };
    for parts in [vec![], vec![part("a.xml", 0, &[])], vec![skipped(3)], {
        let mut cut = part("a.xml", 5, &[]);
        cut.summary.problem = Some("it is cut off".into());
        vec![cut]
    }] {
        let report = drawn(parts);
        assert_eq!(
            (report.exit_code, report.verdict),
            (2, Verdict::InvalidInput)
        );
        assert!(!report.health.summary.is_empty());
    }
    // A suite that was skipped is no reason where others were run.
    let report = drawn(vec![skipped(3), part("b.xml", 1, &[])]);
    assert_eq!(report.exit_code, 0);
}

#[test]
fn a_suite_that_failed_without_a_case_is_a_failure() {
    let mut part = part("a.xml", 0, &[("", "code")]);
    part.summary.tests = 0;
    part.summary.failed = 0;
    part.summary.suite_errors = 1;
    let report = drawn(vec![part]);
    assert_eq!((report.exit_code, report.health.failed), (1, 1));
}

#[test]
fn only_what_may_pass_by_itself_is_run_again() {
    let mut both = part(
        "a.xml",
        0,
        &[("a", "refused db:1"), ("b", "code"), ("c", "unknown")],
    );
    // A test that also fails for good is not worth a rerun.
    both.failures
        .push_of_case(3, failure("a.xml", "d", "refused db:1"));
    both.failures.push_of_case(3, failure("a.xml", "d", "code"));
    let report = drawn(vec![both]);
    assert_eq!(report.retry.tests.len(), 1);
    assert_eq!(report.retry.commands, ["pytest c.py::a"]);
}

#[test]
fn a_file_of_another_kind_is_to_be_left_out_and_a_broken_report_looked_into() {
    let broken = |path: &str, problem: &str| {
        let mut part = part(path, 0, &[]);
        part.summary.problem = Some(problem.into());
        part
    };
    let report = drawn(vec![
        broken(
            "a.info",
            "it is a coverage report, and no test report: leave it out",
        ),
        broken("b.xml", "it is empty"),
    ]);
    let [first, second, ..] = report.recommendations.as_slice() else {
        panic!("{:?}", report.recommendations)
    };
    assert!(first.starts_with("Leave out a.info:"), "{first}");
    assert!(
        second.starts_with("Find out why b.xml is incomplete"),
        "{second}"
    );
}

#[test]
fn the_exit_code_follows_what_counts() {
    let code = |failures: &[(&str, &str)], fail_on| {
        let terms = Terms {
            fail_on,
            ..Terms::default()
        };
        account(vec![part("a.xml", 1, failures)], Before::default(), terms)
            .report
            .exit_code
    };
    let (mine, theirs) = (
        [("a", "refused db:1")],
        [("a", "refused db:1"), ("b", "code")],
    );
    assert_eq!(code(&mine, FailOn::Any), 3);
    assert_eq!(code(&theirs, FailOn::Any), 1);
    assert_eq!(code(&mine, FailOn::Code), 0);
    assert_eq!(code(&theirs, FailOn::New), 1);
    assert_eq!(code(&theirs, FailOn::Never), 0);
    assert_eq!(code(&[], FailOn::Any), 0);
}

const KINDS: [&str; 4] = ["code", "unknown", "refused db:5432", "refused localhost:80"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_order_of_the_reports_changes_nothing(
        reports in proptest::collection::vec(proptest::collection::vec(0_usize..4, 0..6), 1..5),
        turns in 0_usize..5,
    ) {
        let names = ["a", "T", "T/a", "setUp", "b", "c"];
        let parts = || -> Vec<ReportPart> {
            reports
                .iter()
                .enumerate()
                .map(|(at, kinds)| {
                    let failures: Vec<(&str, &str)> =
                        names.into_iter().zip(kinds.iter().map(|kind| KINDS[*kind])).collect();
                    part(&format!("{at}.xml"), 1, &failures)
                })
                .collect()
        };
        let mut turned = parts();
        let by = turns % turned.len();
        turned.rotate_left(by);
        turned.reverse();
        let (one, other) = (drawn(parts()), drawn(turned));
        prop_assert_eq!(&one, &other);
        // Each failure is a victim of exactly one cause.
        let mut victims: Vec<usize> = one.clusters.iter().flat_map(|c| c.victims.clone()).collect();
        victims.sort_unstable();
        prop_assert_eq!(victims, (0..one.failures.len()).collect::<Vec<_>>());
    }
}
