use super::statement;
use jelly_base::model::Failure;
use proptest::prelude::*;

fn said(message: &str, text: &str) -> String {
    statement(&Failure {
        message: (!message.is_empty()).then(|| message.into()),
        text: (!text.is_empty()).then(|| text.into()),
        name: Some("test_total".into()),
        classname: Some("shop.CartTest".into()),
        file: Some("cart.spec.ts".into()),
        ..Failure::default()
    })
    .text
}

#[test]
fn the_items_of_sets_come_in_any_order() {
    let sets = |first: &str, second: &str| {
        let text = format!(
            "Items in the first set but not the second:\n'{first}'\n'{second}'\nItems in the \
             second set but not the first:\n'x'"
        );
        said(&text, &text)
    };
    assert_eq!(sets("b", "c"), sets("c", "b"));
    assert_ne!(sets("b", "c"), sets("b", "x"));
}

#[test]
fn the_innermost_cause_is_what_is_said() {
    let text = "java.lang.IllegalStateException: no cart\n\tat a.B.c(B.java:1)\n\
                Caused by: java.io.IOException: outer\n\tat x.Y.z(Y.java:2)\n\
                Caused by: java.net.ConnectException: refused\n\tat p.Q.r(Q.java:3)\n\t... 9 more\n";
    assert_eq!(said("no cart", text), "java.net.ConnectException: refused");
}

#[test]
fn a_cause_of_the_same_class_keeps_what_was_said_around_it() {
    let text = "a.LaunchException: failed for image redis:7\n\
                Caused by: a.LaunchException: timed out\n\tat x.Y.z(Y.java:1)\n";
    assert_eq!(
        said("", text),
        "a.LaunchException: failed for image redis:7\na.LaunchException: timed out"
    );
}

#[test]
fn frames_code_and_talk_are_left_out() {
    for (message, text, expected) in [
        (
            "",
            "Error: expect(received).toBe(expected)\n\nExpected: 24\nReceived: 28\n\n  > 3 | \
             expect(a).toBe(24)\n      |   ^\n\n    at Object.toBe (/w/a.test.js:3:9)\n",
            "Error: expect(received).toBe(expected)\nExpected: 24\nReceived: 28",
        ),
        (
            "thread 'test_total' (77) panicked at src/lib.rs:6:9",
            "running\nthread 'test_total' (77) panicked at src/lib.rs:6:9:\nassertion `left == \
             right` failed\n  left: 1\n right: 2\nstack backtrace:\n   0: core::panic\n",
            "assertion `left == right` failed\nleft: 1\nright: 2",
        ),
        (
            "Failed",
            "=== RUN   TestX\n    cart_test.go:12: got 1, want 2\n--- FAIL: TestX (0.00s)\n",
            "got 1, want 2",
        ),
        (
            "assert 1 == 2",
            "def test_total():\n>       assert 1 == 2\nE       assert 1 == 2\nE        +  where 1 \
             = one()\n\ntest_a.py:3: AssertionError",
            "assert 1 == 2\n+  where 1 = one()",
        ),
        (
            "Failed asserting that 1 is identical to 2.",
            "shop.CartTest::test_total\nFailed asserting that 1 is identical to \
             2.\n\n/w/tests/CartTest.php:9\n",
            "Failed asserting that 1 is identical to 2.",
        ),
        ("failed", "", ""),
        ("404: Not Found", "", "404: Not Found"),
        (
            "#12 is still open",
            "at index 3",
            "#12 is still open\nat index 3",
        ),
        (
            "",
            "left: {\n  \"b\",\n}\nright: {\n  \"b\",\n}\n",
            "left: {\n\"b\",\n}\nright: {\n\"b\",\n}",
        ),
    ] {
        assert_eq!(said(message, text), expected);
    }
}

#[test]
fn calls_tell_the_element_and_not_how_often_it_was_tried() {
    let text = |tries: u8| {
        format!(
            "TimeoutError: click: Timeout 500ms exceeded.\nCall log:\n  - waiting for \
             locator(\"#pay\")\n  {tries} × waiting for element to be visible\n    - <div> \
             intercepts pointer events\n    - waiting 20ms\n"
        )
    };
    assert_eq!(
        said("", &text(2)),
        "TimeoutError: click: Timeout 500ms exceeded.\nwaiting for locator(\"#pay\")\n<div> \
         intercepts pointer events"
    );
    assert_eq!(said("", &text(2)), said("", &text(9)));
}

#[test]
fn items_of_sets_come_in_any_order() {
    let text = |a: &str, b: &str| format!("sets differ\nExtra items in the left set:\n{a}\n{b}\n");
    assert_eq!(said("", &text("'x'", "'y'")), said("", &text("'y'", "'x'")));
}

#[test]
fn what_names_the_test_in_a_longer_sentence_is_kept() {
    assert_eq!(
        said("", "NameError: test_total is not defined"),
        "NameError: test_total is not defined"
    );
    assert_eq!(said("", "test_total: 24 != 28"), "test_total: 24 != 28");
    for heading in [
        "1) test_total (shop.CartTest)",
        "not ok 2 - test_total",
        "cart.spec.ts:18:7 test_total",
        "FAILED test_total (12 ms)",
    ] {
        assert_eq!(
            said("", &format!("{heading}\nno cart")),
            "no cart",
            "{heading}"
        );
    }
}

#[test]
fn a_statement_is_bounded() {
    let lines: String = (0..10_000).map(|n| format!("line about {n}\n")).collect();
    assert!(said("", &lines).len() < 1000);
    assert!(said("", &"x".repeat(1 << 20)).len() <= 20 * 1024);
}

proptest! {
    #[test]
    fn any_text_has_a_statement(message in "\\PC{0,80}", text in "(\\PC|\n){0,300}") {
        let _ = said(&message, &text);
    }
}

#[test]
fn the_source_below_a_frame_of_python_says_nothing() {
    let text = |line: u8, called: &str, raised: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"/srv/t/test_pay.py\", line {line}, in \
             test_pay\n    def test_pay(self): {called}\n                        ^^^^^^^\n  \
             File \"/srv/pay.py\", line {line}, in pay\n    def pay(): raise {raised}\n\
             ValueError: {raised}\n"
        )
    };
    assert_eq!(
        said("", &text(1, "pay()", "PUT /a: 405")),
        "ValueError: PUT /a: 405"
    );
    assert_ne!(
        said("", &text(1, "pay()", "a")),
        said("", &text(1, "pay()", "b"))
    );
}

#[test]
fn a_message_that_lost_its_lines_is_not_said_twice() {
    let text = "Error: Command failed: print a\n[2536] printer: no paper\n    at f (/a.js:1:2)\n";
    let flat = "Command failed: print a [2536] printer: no paper ";
    assert_eq!(
        said(flat, text),
        said("Command failed: print a\n[2536] printer: no paper", text)
    );
}

#[test]
fn of_values_that_unittest_cut_only_the_difference_is_said() {
    let text = |person: &str, cut: u8| {
        format!(
            "AssertionError: {{'cus[{cut} chars]{person}'}}, 'vat': 19}} != {{'cus[{cut} \
             chars]{person}'}}, 'vat': 20}}\n  {{'customer': '{person}',\n-  'vat': 19}}\n?         \
             ^\n\n+  'vat': 20}}\n?         ^\n"
        )
    };
    let wanted = "AssertionError\n-  'vat': 19}\n+  'vat': 20}";
    assert_eq!(said("", &text("ada", 22)), wanted);
    assert_eq!(said("", &text("bob marley", 26)), wanted);
}

#[test]
fn a_step_without_a_definition_is_one_whatever_it_is_given() {
    let cucumber =
        |day: &str| format!("The step 'the branch is closed on \"{day}\"' is undefined.");
    assert_eq!(
        said(&cucumber("1 May"), ""),
        said(&cucumber("3 October"), "")
    );
    let bdd = |count: u16, name: &str| {
        format!(
            "StepDefinitionNotFoundError: Step definition is not found: Given \"the meter stops at \
             {count}\". Line {count} in scenario \"{name}\" in the feature \"/srv/{name}.feature\""
        )
    };
    assert_eq!(said(&bdd(4512, "moved"), ""), said(&bdd(880, "read"), ""));
    let other = bdd(1, "a").replace("stops", "starts");
    assert_ne!(said(&bdd(1, "a"), ""), said(&other, ""));
}

#[test]
fn what_was_asked_for_tells_two_bare_errors_apart() {
    let text = |place: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"/srv/t/test_day.py\", line 7, in test_day\n    \
             locale.setlocale(locale.LC_ALL, \"{place}\")\n  File \"/usr/lib/python3.12/locale.py\", \
             line 627, in setlocale\n    return _setlocale(category, locale)\nlocale.Error: \
             unsupported locale setting\n"
        )
    };
    let wanted = "locale.Error: unsupported locale setting\ngiven de_AT.UTF-8";
    assert_eq!(said("", &text("de_AT.UTF-8")), wanted);
    assert_ne!(
        said("", &text("de_AT.UTF-8")),
        said("", &text("fr_CH.UTF-8"))
    );
}
