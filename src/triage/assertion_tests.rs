//! What an assertion compares never decides what the failure is.

use crate::model::{ErrorCategory, Failure};
use crate::triage::Engine;
use proptest::prelude::*;

/// How a framework writes an assertion that compares two texts.
struct Shape {
    name: &'static str,
    type_: Option<&'static str>,
    /// Whether the values are written with escapes, as JSON or Python does.
    escaped: bool,
    text: &'static str,
}

/// `{e}` and `{a}` stand for the expected and the actual value, quotes
/// included where the framework writes them.
const SHAPES: &[Shape] = &[
    shape(
        "jest",
        None,
        true,
        "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: {e}\nReceived: {a}\n    at Object.toBe (/srv/cart.test.js:1:2)",
    ),
    shape(
        "jest-contain",
        None,
        true,
        "Error: expect(received).toContain(expected) // indexOf\n\nExpected substring: {e}\nReceived string:    {a}",
    ),
    shape(
        "vitest",
        Some("AssertionError"),
        true,
        "AssertionError: expected {a} to be {e} // Object.is equality\n\nExpected: {e}\nReceived: {a}\n\n ❯ t/cart.test.mjs:12:40",
    ),
    shape(
        "chai",
        Some("AssertionError"),
        true,
        "AssertionError: expected {a} to equal {e}\n    at Context.<anonymous> (test/cart.js:1:2)",
    ),
    shape(
        "node",
        Some("testCodeFailure"),
        true,
        "Error [ERR_TEST_FAILURE]: Expected values to be strictly equal:\n\n{a} !== {e}\n {\n  code: 'ERR_ASSERTION',\n  actual: {a},\n  expected: {e},\n  operator: 'strictEqual'\n}",
    ),
    shape(
        "pytest",
        None,
        true,
        "def test_x():\n>       assert x == y\nE       AssertionError: assert {a} == {e}\nE         \nE         - {e}\nE         + {a}\n\ntests/test_x.py:7: AssertionError",
    ),
    shape(
        "unittest",
        Some("AssertionError"),
        true,
        "Traceback (most recent call last):\n  File \"t.py\", line 3, in test_x\nAssertionError: {a} != {e}",
    ),
    shape(
        "junit5",
        Some("org.opentest4j.AssertionFailedError"),
        false,
        "org.opentest4j.AssertionFailedError: expected: <{e}> but was: <{a}>\n\tat org.junit.jupiter.api.Assertions.x(Assertions.java:1)",
    ),
    shape(
        "junit4",
        Some("org.junit.ComparisonFailure"),
        false,
        "org.junit.ComparisonFailure: expected:<[{e}]> but was:<[{a}]>\n\tat shop.CartTest.x(CartTest.java:7)",
    ),
    shape(
        "testng",
        Some("java.lang.AssertionError"),
        false,
        "java.lang.AssertionError: expected [{e}] but found [{a}]\n\tat org.testng.Assert.fail(Assert.java:99)",
    ),
    shape(
        "assertj",
        Some("org.opentest4j.AssertionFailedError"),
        true,
        "org.opentest4j.AssertionFailedError: \nexpected: {e}\n but was: {a}\n\tat shop.CartTest.x(CartTest.java:7)",
    ),
    shape(
        "hamcrest",
        Some("java.lang.AssertionError"),
        true,
        "java.lang.AssertionError: \nExpected: {e}\n     but: was {a}\n\tat shop.CartTest.x(CartTest.java:7)",
    ),
    shape(
        "scalatest",
        Some("org.scalatest.exceptions.TestFailedException"),
        true,
        "org.scalatest.exceptions.TestFailedException: {a} did not equal {e}\n\tat acme.Spec.x(Spec.scala:1)",
    ),
    shape(
        "go",
        None,
        true,
        "    cart_test.go:12: Name() = {a}, want {e}",
    ),
    shape(
        "testify",
        None,
        true,
        "    cart_test.go:12: \n\tError Trace:\t/src/cart_test.go:12\n\tError:      \tNot equal: \n\t            \texpected: {e}\n\t            \tactual  : {a}\n\tTest:       \tTestX",
    ),
    shape(
        "gomega",
        Some("failed"),
        false,
        "[FAILED] Expected\n    <string>: {a}\nto equal\n    <string>: {e}\nIn [It] at: /x_test.go:1 @ 05/21/26",
    ),
    shape(
        "rust",
        None,
        true,
        "thread 'tests::x' panicked at src/lib.rs:6:27:\nassertion `left == right` failed\n  left: {a}\n right: {e}\nnote: run with `RUST_BACKTRACE=1`",
    ),
    shape(
        "xunit",
        Some("failure"),
        true,
        "Assert.Equal() Failure: Strings differ\nExpected: {e}\nActual:   {a}",
    ),
    shape(
        "nunit",
        Some("failure"),
        true,
        "  Expected string length 1 but was 2. Strings differ at index 0.\n  Expected: {e}\n  But was:  {a}\n",
    ),
    shape(
        "mstest",
        Some("failure"),
        false,
        "Assert.AreEqual failed. Expected:<{e}>. Actual:<{a}>. ",
    ),
    shape(
        "rspec",
        Some("RSpec::Expectations::ExpectationNotMetError"),
        true,
        "Failure/Error: expect(x).to eq y\n\n  expected: {e}\n       got: {a}\n\n  (compared using ==)\n./cart_spec.rb:4:in `block'",
    ),
    shape(
        "minitest",
        None,
        true,
        "Failure:\ntest_x(CartTest) [mt.rb:6]:\nExpected: {e}\n  Actual: {a}\n",
    ),
    shape(
        "phpunit",
        Some("PHPUnit\\Framework\\ExpectationFailedException"),
        false,
        "CartTest::testX\nFailed asserting that '{a}' contains \"{e}\".\n\n/srv/CartTest.php:3",
    ),
    shape(
        "gtest",
        None,
        true,
        "g.cpp:8\nExpected equality of these values:\n  {e}\n  {a}",
    ),
    shape(
        "catch2",
        Some("CHECK"),
        true,
        "FAILED:\n  CHECK( {a} == {e} )\nwith expansion:\n  {a} == {e}\nat c.cpp:9",
    ),
    shape(
        "boost",
        Some("assertion error"),
        true,
        "ASSERTION FAILURE:\n- file   : b.cpp\n- line   : 5\n- message: check x == y has failed [{a} != {e}]",
    ),
    shape(
        "exunit",
        None,
        true,
        "Assertion with == failed\ncode:  assert x == y\nleft:  {a}\nright: {e}",
    ),
    shape(
        "busted",
        None,
        true,
        "a_spec.lua:1: Expected objects to be equal.\nPassed in:\n(string) {a}\nExpected:\n(string) {e}\nstack traceback:\n\ta_spec.lua:1",
    ),
    shape(
        "robot",
        Some("AssertionError"),
        false,
        "'{a}' does not contain '{e}'",
    ),
    shape(
        "bats",
        None,
        true,
        "(in test file a.bats, line 2)\n  `[ \"$output\" = {e} ]' failed",
    ),
    shape(
        "xctest",
        None,
        true,
        "XCTAssertEqual failed: ({a}) is not equal to ({e})",
    ),
    shape(
        "flutter",
        None,
        true,
        "Expected: {e}\n  Actual: {a}\n   Which: is different.\n",
    ),
    shape(
        "playwright",
        Some("FAILURE"),
        true,
        "  [chromium] › cart.spec.ts:18:7 › text ────\n\n    Error: expect(received).toBe(expected) // Object.is equality\n\n    Expected: {e}\n    Received: {a}\n",
    ),
];

const fn shape(
    name: &'static str,
    type_: Option<&'static str>,
    escaped: bool,
    text: &'static str,
) -> Shape {
    Shape {
        name,
        type_,
        escaped,
        text,
    }
}

/// Texts that mean much when they stand for themselves.
const TELLING: &[&str] = &[
    "Connection refused",
    "Timeout of 5000 ms exceeded",
    "Test timeout of 30000ms exceeded.",
    "test timed out after 200ms",
    "java.net.SocketTimeoutException: connect timed out",
    "ECONNREFUSED 127.0.0.1:5432",
    "no such element: Unable to locate element",
    "waiting for locator('#pay')",
    "element(s) not found",
    "strict mode violation: resolved to 2 elements",
    "stale element reference: element is not attached",
    "panic: test timed out after 10m0s",
    "Unexpected error: dial tcp: i/o timeout",
    "C++ exception with description",
    "SIGKILL",
    "OutOfMemoryError: Java heap space",
    "HTTP 503 Service Unavailable",
    "No such file or directory",
    "Expected condition failed: waiting for title",
    "line 1, col 5, Error - x (no-undef)",
    "a.py:1: error: x [y]",
    "execution timed out after 100 ms",
    "session not created",
    "license expired",
    "XPASS(strict)",
    "Setup failed",
];

fn escaped(value: &str) -> String {
    format!("{value:?}")
}

fn failure(shape: &Shape, expected: &str, actual: &str) -> Failure {
    let write = |value: &str| {
        if shape.escaped {
            escaped(value)
        } else {
            value.to_owned()
        }
    };
    Failure {
        element: Some("failure".into()),
        dialect: Some(shape.name.into()),
        type_: shape.type_.map(str::to_owned),
        text: Some(
            shape
                .text
                .replace("{e}", &write(expected))
                .replace("{a}", &write(actual)),
        ),
        ..Failure::default()
    }
}

#[test]
fn telling_texts_under_comparison_are_no_evidence() {
    let mut wrong = Vec::new();
    for shape in SHAPES {
        for telling in TELLING {
            for (expected, actual) in [(*telling, "busy"), ("busy", *telling)] {
                let diagnosis = Engine::builtin().diagnose(&failure(shape, expected, actual));
                if diagnosis.error_category != Some(ErrorCategory::Assertion) {
                    wrong.push(format!(
                        "{} with {expected:?} and {actual:?}: {} {:?}",
                        shape.name, diagnosis.rule, diagnosis.evidence
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,40}",
        (
            prop::sample::select(TELLING),
            prop::sample::select(vec!["", " ", ", ", "\"", "'", ": "]),
            prop::sample::select(TELLING)
        )
            .prop_map(|(a, between, b)| format!("{a}{between}{b}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_in_quotes_leaves_an_assertion_one(
        index in 0..SHAPES.len(),
        text in value(),
        expected in any::<bool>(),
    ) {
        let shape = &SHAPES[index];
        // One that writes values as they are is given them in quotes.
        let quoted = if shape.escaped { text } else { format!("\"{}\"", text.replace('"', "'")) };
        let (expected, actual) = if expected { (quoted.as_str(), "busy") } else { ("busy", quoted.as_str()) };
        let diagnosis = Engine::builtin().diagnose(&failure(shape, expected, actual));
        prop_assert_eq!(
            diagnosis.error_category,
            Some(ErrorCategory::Assertion),
            "{} by {} in {:?}", shape.name, diagnosis.rule, diagnosis.evidence
        );
    }
}
