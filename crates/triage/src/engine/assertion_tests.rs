//! What an assertion compares never decides what the failure is.

use crate::engine::{Engine, Example};
use jelly_base::model::{ErrorCategory, Failure};
use jelly_base::testing::all_cases;
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

/// Frameworks that write a value of several lines as it is.
const RAW: &[Shape] = &[
    shape(
        "jest",
        None,
        false,
        "Error: expect(received).toContain(expected) // indexOf\n\nExpected substring: \"{e}\"\nReceived string:    \"{a}\"\n    at Object.toContain (/srv/cart.test.js:1:2)",
    ),
    shape(
        "jest-match",
        None,
        false,
        "expect(received).toMatch(expected)\n\nExpected substring: \"{e}\"\nReceived string:    \"{a}\"",
    ),
    shape(
        "jasmine",
        None,
        false,
        "Expected '{a}' to equal '{e}'.\n    at <Jasmine>",
    ),
    shape(
        "cypress",
        Some("AssertionError"),
        false,
        "AssertionError: expected '{a}' to include '{e}'\n    at Context.eval (webpack:///./cart.cy.js:3:2)",
    ),
    shape(
        "busted",
        None,
        false,
        "a_spec.lua:1: Expected objects to be equal.\nPassed in:\n(string) '{a}'\nExpected:\n(string) '{e}'\nstack traceback:\n\ta_spec.lua:1",
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
        false,
        "org.opentest4j.AssertionFailedError: \nexpected: \"{e}\"\n but was: \"{a}\"\n\tat shop.CartTest.x(CartTest.java:7)",
    ),
    shape(
        "assertj-contains",
        Some("java.lang.AssertionError"),
        false,
        "java.lang.AssertionError: \nExpecting actual:\n  \"{a}\"\nto contain:\n  \"{e}\" \n\tat shop.CartTest.x(CartTest.java:7)",
    ),
    shape(
        "hamcrest",
        Some("java.lang.AssertionError"),
        false,
        "java.lang.AssertionError: \nExpected: a string containing \"{e}\"\n     but: was \"{a}\"\n\tat shop.CartTest.x(CartTest.java:7)",
    ),
    shape(
        "kotest",
        Some("io.kotest.assertions.AssertionFailedError"),
        false,
        "io.kotest.assertions.AssertionFailedError: expected:<\"{e}\"> but was:<\"{a}\">\n\tat shop.CartTest.x(CartTest.kt:7)",
    ),
    shape(
        "kotlin",
        Some("java.lang.AssertionError"),
        false,
        "java.lang.AssertionError: Expected <{e}>, actual <{a}>.\n\tat shop.CartTest.x(CartTest.kt:7)",
    ),
    shape(
        "scalatest",
        Some("org.scalatest.exceptions.TestFailedException"),
        false,
        "org.scalatest.exceptions.TestFailedException: \"{a}\" did not equal \"{e}\"\n\tat acme.Spec.x(Spec.scala:1)",
    ),
    shape(
        "spock",
        Some("org.spockframework.runtime.SpockComparisonFailure"),
        false,
        "Condition not satisfied:\n\nout == wanted\n|   |  |\n|   |  {e}\n|   false\n{a}\n\n\tat shop.CartSpec.x(CartSpec.groovy:12)",
    ),
    shape(
        "go-labels",
        None,
        false,
        "    cart_test.go:12: got:\n        {a}\n        want:\n        {e}",
    ),
    shape(
        "go-name",
        None,
        false,
        "    cart_test.go:12: Name() = {a}, want {e}",
    ),
    shape(
        "gomega",
        Some("failed"),
        false,
        "[FAILED] Expected\n    <string>: {a}\nto equal\n    <string>: {e}\nIn [It] at: /x_test.go:1 @ 05/21/26",
    ),
    shape(
        "xunit",
        Some("failure"),
        false,
        "Assert.Equal() Failure: Strings differ\nExpected: \"{e}\"\nActual:   \"{a}\"\n   at Shop.CartTests.X() in /src/CartTests.cs:line 27",
    ),
    shape(
        "nunit",
        Some("failure"),
        false,
        "  Expected: \"{e}\"\n  But was:  \"{a}\"\n   at Shop.CartTests.X() in /src/CartTests.cs:line 27",
    ),
    shape(
        "mstest",
        Some("failure"),
        false,
        "Assert.AreEqual failed. Expected:<{e}>. Actual:<{a}>. \n   at Shop.CartTests.X() in /src/CartTests.cs:line 27",
    ),
    shape(
        "fluentassertions",
        Some("failure"),
        false,
        "Expected text to be \"{e}\" with a length of 1, but \"{a}\" has a length of 30, differs near \"fir\" (index 0).\n   at Shop.CartTests.X() in /src/CartTests.cs:line 27",
    ),
    shape(
        "rspec",
        Some("RSpec::Expectations::ExpectationNotMetError"),
        false,
        "Failure/Error: expect(x).to eq y\n\n  expected: \"{e}\"\n       got: \"{a}\"\n\n  (compared using ==)\n./cart_spec.rb:4:in `block'",
    ),
    shape(
        "minitest",
        None,
        false,
        "Failure:\ntest_x(CartTest) [mt.rb:6]:\nExpected: \"{e}\"\n  Actual: \"{a}\"\n",
    ),
    shape(
        "phpunit",
        Some("PHPUnit\\Framework\\ExpectationFailedException"),
        false,
        "CartTest::testX\nFailed asserting that '{a}' contains \"{e}\".\n\n/srv/CartTest.php:3",
    ),
    shape(
        "catch2",
        Some("CHECK"),
        false,
        "FAILED:\n  CHECK( out == wanted )\nwith expansion:\n  \"{a}\"\n  ==\n  \"{e}\"\nat c.cpp:9",
    ),
    shape(
        "boost",
        Some("assertion error"),
        false,
        "ASSERTION FAILURE:\n- file   : b.cpp\n- line   : 5\n- message: check x == y has failed [{a} != {e}]",
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
        false,
        "-- output differs --\nexpected (1 lines):\n  {e}\nactual (9 lines):\n  {a}\n--",
    ),
    shape(
        "rust",
        None,
        false,
        "thread 'tests::x' panicked at src/lib.rs:6:27:\nassertion `left == right` failed\n  left: \"{a}\"\n right: \"{e}\"\nnote: run with `RUST_BACKTRACE=1`",
    ),
    shape(
        "xctest",
        None,
        false,
        "XCTAssertEqual failed: (\"{a}\") is not equal to (\"{e}\")",
    ),
    shape(
        "playwright",
        Some("FAILURE"),
        false,
        "  [chromium] › cart.spec.ts:18:7 › text ────\n\n    Error: expect(received).toContain(expected) // indexOf\n\n    Expected substring: \"{e}\"\n    Received string:    \"{a}\"\n",
    ),
];

/// Frameworks that write values of several lines as a diff; `{a}` stands for
/// the lines, each behind what the line of the template begins with.
const DIFFS: &[Shape] = &[
    shape(
        "jest",
        None,
        false,
        "Error: expect(received).toBe(expected) // Object.is equality\n\n- Expected  - 1\n+ Received  + 3\n\n- {e}\n+ {a}\n    at Object.toBe (/srv/cart.test.js:1:2)",
    ),
    shape(
        "mocha",
        Some("AssertionError"),
        false,
        "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n+ actual - expected\n\n+ {a}\n- {e}",
    ),
    shape(
        "pytest",
        None,
        false,
        "def test_x():\n>       assert x == y\nE       AssertionError: assert 'first...last' == 'busy'\nE         \nE         - {e}\nE         + {a}\n\ntests/test_x.py:7: AssertionError",
    ),
    shape(
        "unittest",
        Some("AssertionError"),
        false,
        "Traceback (most recent call last):\n  File \"t.py\", line 3, in test_x\nAssertionError: 'first[30 chars]last' != 'busy'\n- {a}\n+ {e}\n",
    ),
    shape(
        "testify",
        None,
        false,
        "    cart_test.go:12: \n\tError Trace:\t/src/cart_test.go:12\n\tError:      \tNot equal: \n\t            \texpected: \"x\"\n\t            \tactual  : \"y\"\n\t            \t\n\t            \tDiff:\n\t            \t--- Expected\n\t            \t+++ Actual\n\t            \t@@ -1 +1,3 @@\n\t            \t-{e}\n\t            \t+{a}\n\tTest:       \tTestX",
    ),
    shape(
        "phpunit",
        Some("PHPUnit\\Framework\\ExpectationFailedException"),
        false,
        "CartTest::testX\nFailed asserting that two strings are equal.\n--- Expected\n+++ Actual\n@@ @@\n-{e}\n+{a}\n\n/srv/CartTest.php:3",
    ),
    shape(
        "rspec",
        Some("RSpec::Expectations::ExpectationNotMetError"),
        false,
        "Failure/Error: expect(x).to eq y\n\n  expected: \"x\"\n       got: \"y\"\n\n  (compared using ==)\n  Diff:\n  @@ -1 +1,3 @@\n  -{e}\n  +{a}\n./cart_spec.rb:4:in `block'",
    ),
    shape(
        "minitest",
        None,
        false,
        "Failure:\ntest_x(CartTest) [mt.rb:6]:\n--- expected\n+++ actual\n@@ -1 +1,3 @@\n-{e}\n+{a}\n",
    ),
    shape(
        "robot",
        Some("AssertionError"),
        false,
        "Multiline strings are different:\n--- first\n+++ second\n@@ -1 +1 @@\n-{e}\n+{a}",
    ),
    shape(
        "gtest",
        None,
        false,
        "g.cpp:8\nExpected equality of these values:\n  text\n    Which is: \"x\"\n  \"y\"\nWith diff:\n@@ -1,3 +1 @@\n-{a}\n+{e}\n",
    ),
    shape(
        "insta",
        None,
        false,
        "Snapshot: a\nSource: src/lib.rs:3\n-old snapshot\n+new results\n    1       │-{e}\n          1 │+{a}\nthread 'a' panicked at src/lib.rs:3:1:\nsnapshot assertion for 'a' failed in line 3",
    ),
    shape(
        "pretty_assertions",
        None,
        false,
        "thread 'a' panicked at src/lib.rs:3:4:\nassertion failed: `(left == right)`\n\nDiff < left / right > :\n<{a}\n>{e}\n\n",
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

/// Whether what stands before a value marks a line of a diff.
fn is_diff(mark: &str) -> bool {
    let bare = mark.trim_start_matches("E  ").trim();
    matches!(bare, "+" | "-" | "<" | ">") || bare.ends_with("│+") || bare.ends_with("│-")
}

fn failure(shape: &Shape, expected: &str, actual: &str) -> Failure {
    let write = |value: &str| {
        if shape.escaped {
            escaped(value)
        } else if shape.name.starts_with("go-") {
            // All lines of a message but its first are indented.
            value.replace('\n', "\n        ")
        } else {
            value.to_owned()
        }
    };
    let mut text = String::new();
    for line in shape.text.split_inclusive('\n') {
        let (value, at) = match (line.find("{e}"), line.find("{a}")) {
            (Some(at), None) => (expected, at),
            (None, Some(at)) => (actual, at),
            (Some(_), Some(_)) | (None, None) => ("", 0),
        };
        // In a diff, each line of a value has its mark.
        let (mark, rest) = line.split_at(at);
        if at > 0 && is_diff(mark) {
            for value in value.lines() {
                text.push_str(&format!("{mark}{value}{}", &rest[3..]));
            }
        } else {
            text.push_str(
                &line
                    .replace("{e}", &write(expected))
                    .replace("{a}", &write(actual)),
            );
        }
    }
    Failure {
        element: Some("failure".into()),
        dialect: Some(shape.name.into()),
        type_: shape.type_.map(str::to_owned),
        text: Some(text),
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

/// What the rules themselves know of other categories.
fn examples() -> Vec<(String, String)> {
    Engine::builtin()
        .rules()
        .filter(|rule| rule.error_category != Some(ErrorCategory::Assertion))
        .flat_map(|rule| {
            rule.examples().iter().filter_map(|example| match example {
                Example::Text(text) => Some((rule.id.clone(), text.clone())),
                Example::Failure(_) => None,
            })
        })
        .collect()
}

/// Wraps the examples as either value in the shapes, and returns how the wrong
/// ones come out. Every shape gets every so many of them, and all get a turn.
fn misjudged(shapes: &[Shape], write: impl Fn(&str) -> String) -> Vec<String> {
    let every = if all_cases() { 7 } else { 23 };
    let mut wrong = Vec::new();
    let examples = examples();
    for (at, shape) in shapes.iter().enumerate() {
        for (rule, example) in examples.iter().skip(at % every).step_by(every) {
            let value = write(example);
            for (expected, actual) in [(value.as_str(), "busy"), ("busy", value.as_str())] {
                let failure = failure(shape, expected, actual);
                let diagnosis = Engine::builtin().diagnose(&failure);
                if diagnosis.error_category != Some(ErrorCategory::Assertion) {
                    wrong.push(format!(
                        "{} with {rule}: {} by {:?}\n{:?}",
                        shape.name, diagnosis.rule, diagnosis.evidence, failure.text
                    ));
                }
            }
        }
    }
    wrong
}

#[test]
fn what_any_rule_knows_is_no_evidence_as_a_compared_value() {
    let wrong = misjudged(SHAPES, str::to_owned);
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_any_rule_knows_is_no_evidence_within_a_value_of_several_lines() {
    let wrong = misjudged(RAW, |example| format!("first\n{example}\nlast"));
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_any_rule_knows_is_no_evidence_in_the_lines_of_a_diff() {
    let wrong = misjudged(DIFFS, |example| format!("first\n{example}\nlast"));
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
    #![proptest_config(ProptestConfig::with_cases(jelly_base::testing::random_cases(400)))]

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
