//! Failed assertions that show the same fault, and those that only look so.

use super::victims_tests::{causes, report, report_of, told};
use crate::engine::Engine;
use jelly_base::model::{Failure, Side, TriageReport};

/// The account of failures of these tests: class, name and message of each.
fn account_of_tests(writer: &str, tests: &[(&str, &str, &str)]) -> TriageReport {
    let failure = |(class, name, message): &(&str, &str, &str)| Failure {
        dialect: Some(writer.into()),
        element: Some("failure".into()),
        classname: Some((*class).into()),
        name: Some((*name).into()),
        message: Some((*message).into()),
        text: Some((*message).into()),
        ..Failure::default()
    };
    let failures: Vec<Failure> = tests.iter().map(failure).collect();
    report_of(Engine::builtin(), &failures)
}

/// Their causes.
pub(super) fn of_tests(writer: &str, tests: &[(&str, &str, &str)]) -> Vec<Vec<String>> {
    let report = account_of_tests(writer, tests);
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    causes(&report).into_iter().map(owned).collect()
}

#[test]
fn who_gets_the_same_rare_value_fails_of_the_same() {
    let tests = |second: &str| {
        let one = "AssertionError: expected 6549.6 to equal -4";
        of_tests(
            "mocha-junit-reporter",
            &[("a", "a frost", one), ("b", "b winter", second)],
        )
    };
    let same = "AssertionError: expected 6549.6 to be below 100";
    assert_eq!(tests(same), [["a frost", "b winter"]]);
    for other in [
        "AssertionError: expected 6535.2 to be below 100",
        // What it wanted.
        "AssertionError: expected 12.5 to equal 6549.6",
    ] {
        assert_eq!(tests(other).len(), 2, "{other}");
    }
    // Statuses, years and round numbers come twice by chance.
    for common in ["404", "2026", "2.0", "100.0"] {
        let one = format!("AssertionError: expected {common} to equal 3");
        let other = format!("AssertionError: expected {common} to equal 4");
        let found = of_tests(
            "mocha-junit-reporter",
            &[("a", "one", &one), ("b", "two", &other)],
        );
        assert_eq!(found.len(), 2, "{common}");
    }
}

#[test]
fn wrong_values_of_one_function_are_one_cause() {
    let one = "AssertionError: expected 17 to equal 20";
    let other = "AssertionError: expected 31 to equal 40";
    for (name, second, is_one) in [
        ("slopeOf > uphill", "slopeOf > downhill", true),
        ("#slope_of uphill", "#slope_of downhill", true),
        ("Hill#slope_of uphill", "Hill#slope_of downhill", true),
        ("slopeOf > uphill", "lengthOf > downhill", false),
        // A class has many functions.
        ("Hill > uphill", "Hill > downhill", false),
        ("hills go uphill", "hills go downhill", false),
    ] {
        let found = of_tests(
            "vitest",
            &[("a.test.ts", name, one), ("a.test.ts", second, other)],
        );
        assert_eq!(found.len(), if is_one { 1 } else { 2 }, "{name}");
    }
}

#[test]
fn who_names_the_function_that_others_test_fails_of_it() {
    let value = "AssertionError: expected 17 to equal 20";
    let names = |said: &str| {
        let other = format!("AssertionError: {said}: expected 'late' to equal 'early'");
        let tests = [
            ("com.acme.HillTest", "slopeOf", value),
            ("com.acme.RouteTest", "arrives", &other),
        ];
        of_tests("surefire", &tests)
    };
    assert_eq!(names("Hill.slopeOf gave it").len(), 1);
    assert_eq!(names("slopeOf(3) is 17").len(), 1);
    assert_eq!(names("Valley.slopeOf gave it").len(), 2);
    assert_eq!(names("the slope of it").len(), 2);
}

#[test]
fn one_code_one_cover_and_one_change_are_one_cause_each() {
    let code = "Error: PATCH /routes/3 failed {\"code\":\"TOKEN_EXPIRED\"}";
    let other = "AssertionError: expected '/login?reason=TOKEN_EXPIRED' to equal '/routes'";
    let tests = [("a", "renames", code), ("b", "lists", other)];
    assert_eq!(of_tests("mocha-junit-reporter", &tests).len(), 1);
    // The token is nobody's fault who looks at the page.
    let refused = "HTTPError: 401 Client Error: Unauthorized {\"code\":\"TOKEN_EXPIRED\"}";
    let tests = [("b", "lists", other), ("a", "renames", refused)];
    let found = account_of_tests("mocha-junit-reporter", &tests);
    let [cluster] = found.clusters.as_slice() else {
        panic!("{:?}", causes(&found));
    };
    assert_eq!((cluster.side, cluster.consequences), (Side::Test, 1));
    let page = found.failures.iter().find(|view| view.name == "lists");
    assert!(page.is_some_and(|view| view.kind.side == Side::Test && view.kind.ambiguous));

    let click = |button: &str, over: &str| {
        format!(
            "Error: locator.click: Test timeout of 30000ms exceeded.\nCall log:\n  - waiting for getByRole('button', {{ name: '{button}' }})\n    - <div id=\"{over}\" class=\"open\">…</div> intercepts pointer events"
        )
    };
    let (hard, reset) = (click("Hard", "poll"), click("Reset", "poll"));
    let tests = [
        ("a", "hard", hard.as_str()),
        ("b", "resets", reset.as_str()),
    ];
    assert_eq!(of_tests("playwright", &tests).len(), 1);
    let menu = click("Reset", "menu");
    let tests = [("a", "hard", hard.as_str()), ("b", "resets", menu.as_str())];
    assert_eq!(of_tests("playwright", &tests).len(), 2);

    let snapshot = |name: &str, class: &str| {
        format!(
            "Error: expect(received).toMatchSnapshot()\n\nSnapshot name: `{name} 1`\n\n- Snapshot  - 1\n+ Received  + 1\n\n  <p\n-   class=\"row\"\n+   class=\"{class}\"\n  >"
        )
    };
    let (one, same) = (snapshot("Map big", "line"), snapshot("Map small", "line"));
    let tests = [
        ("Map big", "Map big", one.as_str()),
        ("Map small", "Map small", same.as_str()),
    ];
    assert_eq!(of_tests("jest-junit", &tests).len(), 1);
    let own = snapshot("Map small", "cell");
    let tests = [
        ("Map big", "Map big", one.as_str()),
        ("Map small", "Map small", own.as_str()),
    ];
    assert_eq!(of_tests("jest-junit", &tests).len(), 2);
}

#[test]
fn values_that_are_not_there_in_two_files_are_two_causes() {
    let panic = |file: &str| -> &'static str {
        let told = format!(
            "thread 'a' panicked at src/{file}.rs:8:27:\ncalled `Option::unwrap()` on a `None` value"
        );
        told.leak()
    };
    let (hive, scale) = (panic("hive"), panic("scale"));
    let report = report(
        "nextest",
        &[
            told("hive", hive, hive, ""),
            told("hive too", hive, hive, ""),
            told("scale", scale, scale, ""),
        ],
    );
    assert_eq!(causes(&report).len(), 2);
}
