//! Failures that tell of one cause by what they show beside their own words, and those that
//! show nothing of it.

use super::victims_tests::{causes, report, report_of, told};
use crate::engine::Engine;
use jelly_base::model::Failure;

#[test]
fn a_state_beside_a_log_that_names_the_server_is_of_the_outage() {
    let stock = "Error: connect ECONNREFUSED 10.0.0.7:7300";
    let log = "WARN StockRepository - reserve(bolt) failed: Connection to 10.0.0.7:7300 refused.";
    let calm = "INFO StockRepository - Connection to 10.0.0.7:7300 refused in the drill of March";
    let report = report(
        "surefire",
        &[
            told("stock", stock, stock, ""),
            told("reserves", "expected: <true> but was: <false>", "", log),
            told("holds", "expected: <held> but was: <not held>", "", log),
            told("counts", "expected: <12> but was: <13>", "", log),
            told("drills", "expected: <done> but was: <open>", "", calm),
        ],
    );
    assert_eq!(
        causes(&report),
        [
            vec!["counts"],
            vec!["drills"],
            vec!["holds", "reserves", "stock"]
        ]
    );
}

#[test]
fn an_exception_that_came_is_of_the_server_that_its_causes_name() {
    let frames = "\n\tat com.acme.depot.Orders.place(Orders.java:9)".repeat(120);
    let refused =
        "Caused by: org.postgresql.util.PSQLException: Connection to 10.0.0.7:5439 refused.";
    let text = format!(
        "org.opentest4j.AssertionFailedError: Unexpected exception type thrown, expected: \
         <java.lang.IllegalArgumentException> but was: <com.acme.depot.StorageException>{frames}\n\
         Caused by: com.acme.depot.StorageException: reading stock{frames}\n{refused}"
    );
    let failure = |name: &str, message: &str, text: &str| Failure {
        dialect: Some("surefire".into()),
        element: Some("failure".into()),
        name: Some(name.into()),
        message: Some(message.into()),
        text: Some(text.into()),
        ..Failure::default()
    };
    let report = report_of(
        Engine::builtin(),
        &[
            failure("opens", "Connection to 10.0.0.7:5439 refused.", refused),
            failure(
                "refuses",
                "Unexpected exception type thrown, expected: <java.lang.IllegalArgumentException> \
                 but was: <com.acme.depot.StorageException>",
                &text,
            ),
        ],
    );
    assert_eq!(causes(&report), [["opens", "refuses"]]);
}

#[test]
fn a_certificate_of_one_server_is_one_cause_however_it_is_told() {
    let certificate = "x509: certificate has expired or is not yet valid";
    let of = |path: &str| format!("Post \"https://pay.acme.test:9443/{path}\": {certificate}");
    let failure = |name: &str, text: String| Failure {
        dialect: Some("gotestsum".into()),
        element: Some("failure".into()),
        name: Some(name.into()),
        message: Some("Failed".into()),
        text: Some(text),
        ..Failure::default()
    };
    let report = report_of(
        Engine::builtin(),
        &[
            failure("TestPay", format!("    pay_test.go:12: Pay: {}", of("pay"))),
            failure(
                "TestBook",
                format!("    pay_test.go:23: book: authorise: {}", of("auth")),
            ),
            failure(
                "TestPing",
                format!(
                    "ping: {}\n    pay_test.go:27: \n        \tError Trace:\t/srv/pay_test.go:27\n        \
                     \tError:      \tShould be true\n        \tTest:       \tTestPing",
                    of("")
                ),
            ),
        ],
    );
    assert_eq!(causes(&report), [["TestBook", "TestPay", "TestPing"]]);
}

#[test]
fn one_change_of_a_text_is_one_cause_in_whatever_form() {
    let lines = "Error: Snapshot `pages > home 1` mismatched\n\n- Expected\n+ Received\n\n         \
                 Privacy\n       </a>\n+       <a\n+         href=\"/accessibility\"\n+       >\n+         \
                 Accessibility\n+       </a>\n       <small>";
    let inline = "Error: Snapshot `Footer > inline 1` mismatched\n\nExpected: \
                  \"\"<footer><a href=\"/privacy\">Privacy</a><small>\"\"\nReceived: \
                  \"\"<footer><a href=\"/privacy\">Privacy</a><a \
                  href=\"/accessibility\">Accessibility</a><small>\"\"";
    let other = "Error: Snapshot `pages > cart 1` mismatched\n\n- Expected\n+ Received\n\n-       <h1>Basket</h1>\n+       <h1>Shopping cart</h1>";
    let report = report(
        "vitest",
        &[
            told("home", "Snapshot `pages > home 1` mismatched", lines, ""),
            told(
                "inline",
                "Snapshot `Footer > inline 1` mismatched",
                inline,
                "",
            ),
            told("cart", "Snapshot `pages > cart 1` mismatched", other, ""),
        ],
    );
    assert_eq!(causes(&report), [vec!["cart"], vec!["home", "inline"]]);
}

#[test]
fn a_field_is_missing_by_its_label_and_by_its_role() {
    let report = report(
        "vitest",
        &[
            told(
                "label",
                "Unable to find a label with the text of: ZIP code",
                "",
                "",
            ),
            told(
                "role",
                "Unable to find an accessible element with the role \"textbox\" and name \"ZIP code\"",
                "",
                "",
            ),
            told(
                "pattern",
                "Unable to find a label with the text of: /^zip/i",
                "",
                "",
            ),
            told(
                "other",
                "Unable to find a label with the text of: House number",
                "",
                "",
            ),
        ],
    );
    assert_eq!(
        causes(&report),
        [vec!["label", "pattern", "role"], vec!["other"]]
    );
}

#[test]
fn a_template_or_a_folder_that_is_not_there_is_one_cause() {
    let report = report(
        "phpunit",
        &[
            told("welcome", "TemplateDoesNotExist: mail/base.txt", "", ""),
            told("reminder", "TemplateDoesNotExist: mail/base.txt", "", ""),
            told(
                "puts",
                "file_put_contents(/srv/var/cache/a.json): Failed to open stream: No such file or directory",
                "",
                "",
            ),
            told(
                "clears",
                "scandir(/srv/var/cache): Failed to open directory: No such file or directory",
                "",
                "",
            ),
        ],
    );
    assert_eq!(
        causes(&report),
        [["clears", "puts"], ["reminder", "welcome"]]
    );
}

#[test]
fn a_suite_of_which_most_values_are_wrong_is_off_for_one_reason() {
    let failure = |class: &str, name: &str, wanted: &str, came: &str| Failure {
        dialect: Some("surefire".into()),
        element: Some("failure".into()),
        classname: Some(class.into()),
        name: Some(name.into()),
        message: Some(format!("expected: <{wanted}> but was: <{came}>")),
        ..Failure::default()
    };
    let route = |name: &str, wanted: &str, came: &str| failure("RouteTest", name, wanted, came);
    // Those of `shop` are few among many that pass.
    let shop = |name: &str, wanted: &str, came: &str| failure("shop", name, wanted, came);
    let report = report_of(
        Engine::builtin(),
        &[
            route("length", "15.0", "31.85"),
            route("cost", "12.75", "27.07"),
            route("time", "PT18M", "PT38M"),
            shop("total", "7.5", "9.25"),
            shop("weight", "3.1", "3.3"),
            shop("points", "8", "6"),
        ],
    );
    assert_eq!(
        causes(&report),
        [
            vec!["cost", "length", "time"],
            vec!["points"],
            vec!["total"],
            vec!["weight"]
        ]
    );
    let titles = report.clusters.iter().map(|cluster| cluster.title.as_str());
    let told: Vec<&str> = titles.filter(|title| title.contains("RouteTest")).collect();
    assert_eq!(
        told,
        [
            "most tests of RouteTest got another value than they want: expected: <15.0> but was: <31.85>"
        ]
    );
}

#[test]
fn a_suite_whose_titles_tell_several_things_apart_is_off_for_several_reasons() {
    let failure = |name: &str, wanted: &str, came: &str| Failure {
        dialect: Some("vitest".into()),
        element: Some("failure".into()),
        classname: Some("test/slug.test.js".into()),
        name: Some(name.into()),
        message: Some(format!("expected '{came}' to be '{wanted}'")),
        ..Failure::default()
    };
    for (one, other) in [
        ("slugify > joins blanks", "truncate > keeps the limit"),
        (
            "joins blanks with data set \"a\"",
            "keeps the limit with data set \"a\"",
        ),
    ] {
        let second = |name: &str| match name.strip_suffix("\"a\"") {
            Some(name) => format!("{name}\"b\""),
            None => format!("{name} always"),
        };
        let failures = [
            failure(one, "royal-mail", "royal--mail"),
            failure(&second(one), "ann-lee", "ann---lee-x"),
            failure(other, "Wooden …", "Wooden t…"),
            failure(&second(other), "Garden", "Garden furniture"),
        ];
        let report = report_of(Engine::builtin(), &failures);
        assert!(causes(&report).len() > 2, "{:?}", causes(&report));
    }
}

#[test]
fn a_class_that_could_not_be_initialized_says_why_once() {
    let first = "java.lang.ExceptionInInitializerError\n\tat port.Customs.of(Customs.java:9)\n\tat port.CustomsTest.country(CustomsTest.java:14)\nCaused by: java.lang.ArrayIndexOutOfBoundsException: Index 1 out of bounds for length 1\n\tat port.Codes.<clinit>(Codes.java:12)\n\t... 3 more";
    let later = |class: &str, gate: &str| -> &'static str {
        let text = format!(
            "java.lang.NoClassDefFoundError: Could not initialize class port.{class}\n\tat port.{gate}.of({gate}.java:7)\n\tat port.GateTest.prints(GateTest.java:9)"
        );
        text.leak()
    };
    let (same, other) = (later("Codes", "Gate"), later("Rates", "Bill"));
    let report = report(
        "surefire",
        &[
            told(
                "country",
                "java.lang.ExceptionInInitializerError",
                first,
                "",
            ),
            told("prints", same.lines().next().unwrap_or_default(), same, ""),
            told("rates", other.lines().next().unwrap_or_default(), other, ""),
        ],
    );
    assert_eq!(causes(&report), [vec!["country", "prints"], vec!["rates"]]);
}

#[test]
fn what_was_thrown_over_one_function_is_one_cause() {
    let error = |name: &str, condition: &str, said: &str| Failure {
        dialect: Some("catch2".into()),
        element: Some("error".into()),
        name: Some(name.into()),
        type_: Some("CHECK".into()),
        message: Some(condition.into()),
        text: Some(format!(
            "FAILED:\n  CHECK( {condition} )\n{said}\nat tests/a_test.cpp:9"
        )),
        ..Failure::default()
    };
    let report = report_of(
        Engine::builtin(),
        &[
            error("flat", "midi(\"Bb3\") == 58", "stoi"),
            error("fifth", "midi(\"Eb5\") == 75", "stoi"),
            error("bars", "bars(\"4/x\") == 4", "stoi"),
            error("sum", "midi(\"C#4\") == 61", "vector::_M_range_check"),
        ],
    );
    assert_eq!(
        causes(&report),
        [vec!["bars"], vec!["fifth", "flat"], vec!["sum"]]
    );
}

#[test]
fn a_set_up_and_a_test_that_fail_at_one_line_have_one_cause() {
    let raised = "Traceback (most recent call last):\n  File \"/w/tests/test_season.py\", line 11, in PLACE\n    Calendar()\n  File \"/w/ski/season.py\", line 12, in __init__\n    self.high = d[\"high\"]\nKeyError: 'high'";
    let error = |name: &str, place: &str| Failure {
        dialect: Some("unittest-xml".into()),
        element: Some("error".into()),
        classname: Some("tests.test_season.CalendarTest".into()),
        name: Some(name.into()),
        type_: Some("KeyError".into()),
        message: Some("'high'".into()),
        text: Some(raised.replace("PLACE", place)),
        ..Failure::default()
    };
    let report = report_of(
        Engine::builtin(),
        &[error("test_a", "setUp"), error("test_b", "test_b")],
    );
    assert_eq!(causes(&report), [vec!["test_a", "test_b"]]);
}

#[test]
fn half_of_one_of_two_functions_is_two_causes() {
    let text = |function: &str, came: &str, wanted: &str| -> &'static str {
        format!("assert {came} == {wanted}\n +  where {came} = <function {function} at 0x7f94d346c400>(10)\n +    where <function {function} at 0x7f94d346c400> = orders.{function}").leak()
    };
    let (one, other) = (text("discount", "9.0", "9.5"), text("tax", "12.0", "12.5"));
    let report = report(
        "pytest",
        &[
            told("discounts", one, one, ""),
            told("taxes", other, other, ""),
        ],
    );
    assert_eq!(causes(&report), [vec!["discounts"], vec!["taxes"]]);
}
