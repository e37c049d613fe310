//! What is no victim of an outage, though it speaks of it.

use super::victims_tests::{STOCK, causes, report, report_of, told};
use crate::engine::{Engine, parse_rules};
use jelly_base::model::{Failure, Label, Side};

/// Tests of a day on which a server is away, and that failed of something else.
#[test]
fn what_is_said_by_the_way_of_a_server_that_is_away_is_no_cause() {
    let wrong = "AssertionError: assert 7 == 8";
    for (message, text, output) in [
        (
            wrong,
            "E   AssertionError: assert 7 == 8\n\ntests/test_a.py:9: AssertionError\n----- Captured stdout call -----\nmetrics: stock.acme.test:7300 refused, dropped",
            "",
        ),
        (
            "Failed",
            "client.go:31: attempt 1: dial tcp stock.acme.test:7300: connection refused\nclient.go:31: attempt 2: ok\nsum_test.go:9: got 3, want 4",
            "",
        ),
        (
            "Failed: DID NOT RAISE <class 'TimeoutError'>",
            "E   Failed: DID NOT RAISE <class 'TimeoutError'>",
            "WARNING stock.acme.test:7300 refused",
        ),
        (
            "assert 500 == 200",
            "E   assert 500 == 200",
            "WARNING push to stock.acme.test:7300 failed: Connection refused\nERROR Exception on /orders\nZeroDivisionError: division by zero",
        ),
        (
            "assert 'stock.acme.test:7300 is down' == 'stock.acme.test:7300 refused'",
            "E   assert 'stock.acme.test:7300 is down' == 'stock.acme.test:7300 refused'",
            "",
        ),
        (
            "AssertionError: expected status 503 in maintenance mode, got 200",
            "E   AssertionError: expected status 503 in maintenance mode, got 200",
            "WARNING push to stock.acme.test:7300 failed: Connection refused",
        ),
        (
            "assert 500 == 200",
            "E   assert 500 == 200",
            "WARNING stock.acme.test:7300 refused\nstock client reconnected after 2 attempts",
        ),
    ] {
        let report = report(
            "pytest",
            &[
                told("stock", STOCK, STOCK, ""),
                told("own", message, text, output),
            ],
        );
        assert_eq!(causes(&report), [["own"], ["stock"]], "{message}: {output}");
    }
}

#[test]
fn two_ports_of_a_host_are_not_joined_by_a_name_without_one() {
    let slow = "requests.exceptions.ConnectTimeout: http://gw.acme.test/ping timed out";
    let refused = |port: &str| -> &'static str {
        format!("ConnectionError: gw.acme.test:{port}: [Errno 111] Connection refused").leak()
    };
    let report = report(
        "pytest",
        &[
            told("slow", slow, slow, ""),
            told("database", refused("5432"), refused("5432"), ""),
            told("cache", refused("6379"), refused("6379"), ""),
        ],
    );
    assert_eq!(causes(&report), [["cache"], ["database"], ["slow"]]);
}

#[test]
fn what_jelly_or_the_user_said_of_a_failure_holds() {
    let failure = |name: &str, message: &str, label: Option<Label>| Failure {
        dialect: Some("pytest".into()),
        element: Some("failure".into()),
        name: Some(name.into()),
        message: Some(message.into()),
        system_out: Some("ERROR app: stock.acme.test:7300: Connection refused".into()),
        label,
        ..Failure::default()
    };
    let own = |label| failure("own", "AssertionError: assert '' == '12'", label);
    let side = |engine: &Engine, label: Option<Label>| {
        let report = report_of(engine, &[failure("stock", STOCK, None), own(label)]);
        let view = report.failures.iter().find(|view| view.name == "own");
        view.map(|view| (view.kind.side, view.kind.ambiguous))
    };
    let (undecided, code) = (Some((Side::Test, true)), Some((Side::Code, false)));
    assert_eq!(side(Engine::builtin(), None), undecided);

    let diagnosis = Engine::builtin().diagnose(&own(None));
    let said = Label::properties(&diagnosis);
    let said = said.iter().map(|(name, value)| (*name, value.as_str()));
    let label = Label::from_properties(said);
    assert!(label.is_some());
    assert_eq!(side(Engine::builtin(), label), code);

    let rules = "[{id: own/empty, root_cause: own_empty, error_category: ASSERTION, \
                 retryable: false, side: code, strength: signature, fields: [report], \
                 patterns: ['AssertionError: assert'], advice: {what: w, why: y, fix: [f]}}]";
    let rules = parse_rules("own", rules).unwrap();
    let engine = Engine::with_rules(rules, Vec::new()).unwrap();
    assert_eq!(side(&engine, None), code);
}
