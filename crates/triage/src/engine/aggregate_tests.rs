//! Failures that hold several.

use crate::engine::test_failure::diagnose;
use jelly_base::model::{ErrorCategory, Side};

/// Each with the error of the machine in its second place.
const MIXED: &[(&str, &str)] = &[
    (
        "RSpec::Expectations::MultipleExpectationsNotMetError",
        "Failure/Error: aggregate_failures do\n\nGot 1 failure and 1 other error from failure \
         aggregation block.\n\n  1) Failure/Error: expect(order.total).to eq(12)\n\n       expected: \
         12\n            got: 13\n\n       (compared using ==)\n\n  2) Failure/Error: \
         Net::HTTP.get(uri)\n\n     Errno::ECONNREFUSED:\n       Failed to open TCP connection to \
         localhost:9292 (Connection refused - connect(2) for \"localhost\" port 9292)\n",
    ),
    (
        "RSpec::Expectations::MultipleExpectationsNotMetError",
        "Got 2 failures:\n\n1.1) Failure/Error: expect(order.total).to eq(12)\n\n       expected: \
         12\n            got: 13\n\n1.2) Failure/Error: Net::HTTP.get(uri)\n\n     \
         Errno::ECONNREFUSED:\n       Failed to open TCP connection to localhost:9292 (Connection refused - connect(2) for \"localhost\" port 9292)\n",
    ),
    (
        "org.opentest4j.MultipleFailuresError",
        "org.opentest4j.MultipleFailuresError: order (2 failures)\n\
         \torg.opentest4j.AssertionFailedError: expected: <12> but was: <13>\n\
         \tjava.net.ConnectException: Connection refused\n\
         \tat org.junit.jupiter.api.AssertAll.assertAll(AssertAll.java:80)\n\
         \tat com.acme.OrderTest.order(OrderTest.java:20)\n\tSuppressed: \
         org.opentest4j.AssertionFailedError: expected: <12> but was: <13>\n",
    ),
    (
        "",
        "Multiple failures or warnings in test:\n  1)   Expected: 12\n  But was:  13\n\n  2) \
         System.Net.Http.HttpRequestException : Connection refused (localhost:9292)\n",
    ),
    (
        "io.kotest.assertions.MultiAssertionError",
        "io.kotest.assertions.MultiAssertionError: \nThe following 2 assertions failed:\n1) \
         expected:<12> but was:<13>\n   at com.acme.OrderSpec$1.invoke(OrderSpec.kt:12)\n2) \
         java.net.ConnectException: Connection refused\n   at \
         com.acme.OrderSpec$1.invoke(OrderSpec.kt:13)",
    ),
    (
        "Error",
        "AggregateError: 2 checks failed\n    at Object.<anonymous> (/src/order.test.js:20:9) {\n  \
         [errors]: [\n    AssertionError [ERR_ASSERTION]: 13 == 12\n        at check \
         (/src/order.test.js:11:9) {\n      code: 'ERR_ASSERTION'\n    },\n    Error: connect \
         ECONNREFUSED 127.0.0.1:9292\n        at TCPConnectWrap.afterConnect [as oncomplete] \
         (node:net:1555:16) {\n      code: 'ECONNREFUSED'\n    }\n  ]\n}",
    ),
    (
        "System.AggregateException",
        "System.AggregateException : One or more errors occurred. (Assert.Equal() Failure) \
         (Connection refused (localhost:9292))\n---- Assert.Equal() Failure: Values \
         differ\nExpected: 12\nActual:   13\n---- System.Net.Http.HttpRequestException : \
         Connection refused (localhost:9292)\n",
    ),
    (
        "",
        "  + Exception Group Traceback (most recent call last):\n  |   File \
         \"/src/tests/test_order.py\", line 20, in test_order\n  |     raise \
         ExceptionGroup(\"checks\", errors)\n  | ExceptionGroup: checks (2 sub-exceptions)\n  \
         +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   \
         File \"/src/tests/test_order.py\", line 11, in test_order\n    |     assert total == \
         12\n    | AssertionError: assert 13 == 12\n    +---------------- 2 ----------------\n    | \
         Traceback (most recent call last):\n    |   File \"/src/tests/test_order.py\", line 15, in \
         test_order\n    |     urlopen(URL)\n    | ConnectionRefusedError: [Errno 111] Connection \
         refused\n    +------------------------------------",
    ),
];

#[test]
fn a_comparison_beside_an_error_of_the_machine_blames_no_code() {
    for (type_, text) in MIXED {
        let of = diagnose(type_, text);
        assert_eq!(of.side, Side::Test, "{text}\n{of:#?}");
        assert!(of.ambiguous, "{text}\n{of:#?}");
        assert_eq!(of.root_cause, "connection_refused", "{text}\n{of:#?}");
        assert_eq!(of.retryable, Some(true), "{text}");
    }
}

#[test]
fn comparisons_alone_stay_the_codes() {
    // A group of Python's exceptions is known by the one that it holds alone.
    for (type_, text) in &MIXED[..MIXED.len() - 1] {
        let text = text
            .replace("Errno::ECONNREFUSED:", "expected: 1")
            .replace("java.net.ConnectException: Connection refused", "org.opentest4j.AssertionFailedError: expected: <1> but was: <2>")
            .replace("System.Net.Http.HttpRequestException : Connection refused (localhost:9292)", "Expected: 1\n  But was:  2")
            .replace("Error: connect ECONNREFUSED 127.0.0.1:9292", "AssertionError [ERR_ASSERTION]: 1 == 2")
            .replace("code: 'ECONNREFUSED'", "code: 'ERR_ASSERTION'")
            .replace("(Connection refused (localhost:9292))", "(Assert.Equal() Failure)")
            .replace("ConnectionRefusedError: [Errno 111] Connection refused", "AssertionError: assert 1 == 2")
            .replace("Failed to open TCP connection to localhost:9292 (Connection refused - connect(2) for \"localhost\" port 9292)", "     got: 2\n");
        let of = diagnose(type_, &text);
        assert_eq!(
            (of.side, of.ambiguous),
            (Side::Code, false),
            "{text}\n{of:#?}"
        );
        assert_eq!(of.error_category, Some(ErrorCategory::Assertion), "{text}");
    }
}

#[test]
fn what_announces_nothing_is_one_failure() {
    let text = "AssertionError: lists differ\n1) a\n2) Connection refused\n";
    assert_eq!(super::parts(text), Vec::<&str>::new());
}

#[test]
fn the_error_that_an_assertion_on_an_answer_carries_decides() {
    let of = |error: &str| {
        let text = format!(
            "Expected response status code [200] but received 500.\nFailed asserting that 500 is \
             identical to 200.\n\nThe following exception occurred during the last \
             request:\n\n{error}\nStack trace:\n#0 /srv/app/Cart.php(6): total()\n#1 /srv/vendor/x.php(65): a()\n\n\
             /srv/tests/ATest.php:9"
        );
        let diagnosis = diagnose("", &text);
        (diagnosis.side, diagnosis.ambiguous, diagnosis.root_cause)
    };
    let refused =
        of("PDOException: SQLSTATE[HY000] [2002] Connection refused in /srv/app/Db.php:65");
    assert_eq!(refused, (Side::Test, false, "connection_refused".into()));
    let undefined = of(
        "TypeError: total(): Argument #1 must be of type int, null given in /srv/app/Cart.php:6",
    );
    assert_eq!(undefined, (Side::Code, false, "assertion_mismatch".into()));
}
