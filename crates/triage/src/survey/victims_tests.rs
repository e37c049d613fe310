//! One cause told by several failures, and look-alikes that are causes of their own.

use super::{Before, Collector, Terms, Tools, account};
use crate::engine::Engine;
use crate::junit::{Case, CaseOutcome, CaseSink};
use jelly_base::model::{Failure, ReportSummary, Side, TriageReport};
use jelly_base::text::redact::Redactor;

/// A failed test: its name, message, text and output.
pub(super) struct Told {
    name: &'static str,
    message: &'static str,
    text: &'static str,
    output: &'static str,
}

pub(super) fn told(
    name: &'static str,
    message: &'static str,
    text: &'static str,
    output: &'static str,
) -> Told {
    Told {
        name,
        message,
        text,
        output,
    }
}

/// The account of a report with these failures.
pub(super) fn report(writer: &str, failures: &[Told]) -> TriageReport {
    let failure = |told: &Told| Failure {
        dialect: Some(writer.into()),
        element: Some("failure".into()),
        name: Some(told.name.into()),
        message: Some(told.message.into()),
        text: Some(told.text.into()),
        system_out: Some(told.output.into()),
        ..Failure::default()
    };
    let failures: Vec<Failure> = failures.iter().map(failure).collect();
    report_of(Engine::builtin(), &failures)
}

/// A test of the suite that passed.
fn passed(ordinal: u64) -> Case<'static> {
    Case {
        ordinal,
        suite: "suite",
        classname: "shop",
        name: "passes",
        file: None,
        line: None,
        duration_s: None,
        outcome: CaseOutcome::Passed,
        failures: &[],
    }
}

/// The same by this engine, of whole failures.
pub(super) fn report_of(engine: &Engine, failures: &[Failure]) -> TriageReport {
    let redactor = Redactor::none();
    let mut collector = Collector::new(Tools::new(engine, &redactor), "a.xml");
    for (ordinal, failure) in (0..).zip(failures) {
        collector.case(&Case {
            ordinal,
            suite: "suite",
            classname: failure.classname.as_deref().unwrap_or("shop"),
            name: failure.name.as_deref().unwrap_or_default(),
            file: None,
            line: None,
            duration_s: None,
            outcome: CaseOutcome::Failed,
            failures: std::slice::from_ref(failure),
        });
    }
    let count = failures.len() as u64;
    // Most tests of a suite pass.
    for ordinal in count..3 * count {
        collector.case(&passed(ordinal));
    }
    let part = collector.into_part(ReportSummary {
        path: "a.xml".into(),
        tests: 3 * count,
        passed: 2 * count,
        failed: count,
        ..ReportSummary::default()
    });
    account(vec![part], Before::default(), Terms::default()).report
}

/// The names of the tests of each cause, in order.
pub(super) fn causes(report: &TriageReport) -> Vec<Vec<&str>> {
    let mut causes: Vec<Vec<&str>> = Vec::new();
    for cluster in &report.clusters {
        let mut names: Vec<&str> = report.victims(cluster).map(|view| view.name).collect();
        names.sort_unstable();
        causes.push(names);
    }
    causes.sort_unstable();
    causes
}

pub(super) const STOCK: &str =
    "ConnectionError: stock.acme.test:7300: [Errno 111] Connection refused";
const MAIL: &str = "ConnectionError: mail.acme.test:7400: [Errno 111] Connection refused";

#[test]
fn who_failed_of_a_server_that_is_away_is_not_held_against_the_code() {
    let empty = "AssertionError: assert '' == '12'";
    let text = "E   AssertionError: assert '' == '12'\n\ntests/test_api.py:14: AssertionError";
    let side = |output: &'static str| {
        let report = report(
            "pytest",
            &[
                told("stock", STOCK, STOCK, ""),
                told("counts", empty, text, output),
            ],
        );
        let view = report.failures.iter().find(|view| view.name == "counts");
        let rerun = report
            .retry
            .tests
            .iter()
            .any(|name| name.contains("counts"));
        view.map(|view| (view.kind.side, view.kind.ambiguous, rerun))
    };
    let log = "ERROR app: stock.acme.test:7300: Connection refused";
    assert_eq!(side(log), Some((Side::Test, true, true)));
    assert_eq!(side(""), Some((Side::Code, false, false)));
}

#[test]
fn a_bad_answer_is_a_victim_of_the_server_that_its_log_says_is_away() {
    let report = report(
        "pytest",
        &[
            told("stock", STOCK, STOCK, ""),
            told("mail", MAIL, MAIL, ""),
            told(
                "page",
                "assert 503 == 200",
                "E  assert 503 == 200",
                "ERROR app: stock.acme.test:7300: Connection refused",
            ),
            told(
                "letter",
                "assert 503 == 200",
                "E  assert 503 == 200",
                "ERROR app: mail.acme.test:7400: Connection refused",
            ),
        ],
    );
    assert_eq!(causes(&report), [["letter", "mail"], ["page", "stock"]]);
    for cluster in &report.clusters {
        assert_eq!(cluster.root_cause, "connection_refused");
        assert_eq!((cluster.count, cluster.consequences), (2, 1));
        assert!(cluster.also.is_empty());
    }
    // The failure's own diagnosis is what it was.
    let page = report.failures.get(2).unwrap();
    assert_eq!(page.kind.root_cause, "assertion_mismatch");
}

#[test]
fn who_mentions_no_cause_or_two_or_a_healthy_server_has_a_cause_of_its_own() {
    for output in [
        "",
        // Healthy.
        "INFO app: asked stock.acme.test:7300 within the timeout",
        "ERROR app: stock.acme.test:7300: Connection refused\nINFO reconnected to stock.acme.test:7300",
        // Of nobody else.
        "ERROR app: search.acme.test:7500: Connection refused",
        // Of two.
        "ERROR app: stock.acme.test:7300: refused\nERROR app: mail.acme.test:7400: refused",
    ] {
        let report = report(
            "pytest",
            &[
                told("stock", STOCK, STOCK, ""),
                told("mail", MAIL, MAIL, ""),
                told("page", "assert 503 == 200", "E  assert 503 == 200", output),
            ],
        );
        assert_eq!(causes(&report), [["mail"], ["page"], ["stock"]], "{output}");
    }
}

#[test]
fn a_wrong_value_is_wrong_whoever_is_away_besides() {
    let log = "ERROR app: stock.acme.test:7300: Connection refused";
    let report = report(
        "pytest",
        &[
            told("stock", STOCK, STOCK, ""),
            told(
                "sum",
                "assert '1.00' == '1.01'",
                "E  assert '1.00' == '1.01'\n\ntests/test_sum.py:7: AssertionError",
                log,
            ),
            told(
                "count",
                "total = 12, want 13",
                "    cart_test.go:31: total = 12, want 13\n2026-03-01T10:00:00Z WARN stock.acme.test:7300: Connection refused",
                "",
            ),
            told(
                "amount",
                "total = 500, want 350",
                "    cart_test.go:41: total = 500, want 350",
                log,
            ),
            told(
                "rows",
                "assert 1 == 0",
                "E  assert 1 == 0\n\ntests/test_rows.py:7: AssertionError",
                log,
            ),
            told(
                "matcher",
                "Error: expect(received).toBe(expected) // Object.is equality",
                "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 3\nReceived: 4\n    at Object.toBe (/srv/test/a.test.js:4:5)",
                log,
            ),
            told(
                "setting",
                "assert {'url': 'http://stock.acme.test:7300', 'timeout': 3} == {'url': 'http://stock.acme.test:7300', 'timeout': 5}",
                "E  assert {'url': 'http://stock.acme.test:7300', 'timeout': 3} == {'url': 'http://stock.acme.test:7300', 'timeout': 5}\n\ntests/test_client.py:7: AssertionError",
                log,
            ),
            told(
                "index",
                "IndexError: list index out of range",
                "shop/cart.py:31: in total\nE  IndexError: list index out of range\n\nshop/cart.py:31: IndexError",
                log,
            ),
        ],
    );
    assert_eq!(
        causes(&report),
        [
            ["amount"],
            ["count"],
            ["index"],
            ["matcher"],
            ["rows"],
            ["setting"],
            ["stock"],
            ["sum"]
        ]
    );
}

#[test]
fn what_an_assertion_quotes_names_its_cause() {
    let report = report(
        "pytest",
        &[
            told(
                "starts",
                "ConfigError: required setting MAIL_TOKEN is not set",
                "E  shop.ConfigError: required setting MAIL_TOKEN is not set",
                "",
            ),
            told(
                "sends",
                "AssertionError: assert {'error': 'mail: MAIL_TOKEN is not set'} == {'ok': True}",
                "E  AssertionError: assert {'error': 'mail: MAIL_TOKEN is not set'} == {'ok': True}",
                "",
            ),
            told(
                "pays",
                "AssertionError: assert {'error': 'pay: PAY_TOKEN is not set'} == {'ok': True}",
                "E  AssertionError: assert {'error': 'pay: PAY_TOKEN is not set'} == {'ok': True}",
                "",
            ),
        ],
    );
    assert_eq!(causes(&report), [vec!["pays"], vec!["sends", "starts"]]);
}

#[test]
fn two_servers_that_only_the_output_names_are_two_causes() {
    let refused = "ConnectionRefusedError: [Errno 111] Connection refused";
    let report = report(
        "pytest",
        &[
            told("a", refused, refused, "TRACE connecting to 127.0.0.1:5432"),
            told("b", refused, refused, "TRACE bootstrap 127.0.0.1:9092"),
            told("c", refused, refused, "TRACE connecting to 127.0.0.1:5432"),
            told("d", refused, refused, "TRACE bootstrap 127.0.0.1:9092"),
        ],
    );
    assert_eq!(causes(&report), [["a", "c"], ["b", "d"]]);
    let subjects: Vec<Option<&str>> = report
        .clusters
        .iter()
        .map(|cluster| cluster.subject.as_deref())
        .collect();
    assert_eq!(subjects, [Some("localhost:5432"), Some("localhost:9092")]);
}

#[test]
fn what_is_lacking_in_other_words_is_one_cause() {
    let report = report(
        "pytest",
        &[
            told(
                "loads",
                "KeyError: 'MAIL_TOKEN'",
                "tests/conftest.py:9: in settings\n    return os.environ['MAIL_TOKEN']\nE  KeyError: 'MAIL_TOKEN'",
                "",
            ),
            told(
                "starts",
                "ConfigError: required setting MAIL_TOKEN is not set",
                "E  shop.ConfigError: required setting MAIL_TOKEN is not set",
                "",
            ),
            told(
                "pays",
                "ConfigError: required setting PAY_TOKEN is not set",
                "E  shop.ConfigError: required setting PAY_TOKEN is not set",
                "",
            ),
        ],
    );
    assert_eq!(causes(&report), [vec!["loads", "starts"], vec!["pays"]]);
}

#[test]
fn an_exception_of_the_product_is_one_cause_whoever_caught_it() {
    let null =
        "java.lang.NullPointerException: Cannot read field \"scale\" because \"rate\" is null";
    let report = report(
        "gradle",
        &[
            told(
                "computes",
                null,
                "java.lang.NullPointerException: Cannot read field \"scale\" because \"rate\" is null\n\tat com.acme.Prices.gross(Prices.java:8)\n\tat com.acme.PricesTest.computes(PricesTest.java:12)",
                "",
            ),
            told(
                "prints",
                "Unexpected exception thrown: com.acme.Printer$TornException: page 7 could not be printed",
                "org.opentest4j.AssertionFailedError: Unexpected exception thrown: com.acme.Printer$TornException: page 7 could not be printed\n\tat com.acme.PrinterTest.prints(PrinterTest.java:14)\nCaused by: com.acme.Printer$TornException: page 7 could not be printed\n\tat com.acme.Printer.print(Printer.java:9)\n\tat com.acme.PrinterTest.prints(PrinterTest.java:14)\nCaused by: java.lang.NullPointerException: Cannot read field \"scale\" because \"rate\" is null\n\tat com.acme.Prices.gross(Prices.java:8)\n\tat com.acme.Printer.print(Printer.java:6)\n\t... 2 more",
                "",
            ),
            told(
                "ships",
                null,
                "java.lang.NullPointerException: Cannot read field \"scale\" because \"rate\" is null\n\tat com.acme.Parcels.weigh(Parcels.java:8)\n\tat com.acme.ParcelsTest.ships(ParcelsTest.java:12)",
                "",
            ),
        ],
    );
    assert_eq!(causes(&report), [vec!["computes", "prints"], vec!["ships"]]);
}

#[test]
fn a_test_that_spring_gave_up_is_a_victim_of_its_own_context() {
    let shop = "Failed to load ApplicationContext for [WebMergedContextConfiguration@1f2e3d4c testClass = com.acme.shop.CartIT]";
    let mail = "Failed to load ApplicationContext for [WebMergedContextConfiguration@5a6b7c8d testClass = com.acme.mail.SendIT]";
    let report = report(
        "surefire",
        &[
            told(
                "cart",
                shop,
                "java.lang.IllegalStateException: Failed to load ApplicationContext\nCaused by: java.lang.IllegalArgumentException: Could not resolve placeholder 'shop.currency' in value \"${shop.currency}\"",
                "",
            ),
            told(
                "send",
                mail,
                "java.lang.IllegalStateException: Failed to load ApplicationContext\nCaused by: java.lang.IllegalArgumentException: Could not resolve placeholder 'mail.from' in value \"${mail.from}\"",
                "",
            ),
            told(
                "returned",
                "ApplicationContext failure threshold (1) exceeded: skipping repeated attempt to load context for [WebMergedContextConfiguration@5a6b7c8d testClass = com.acme.mail.ReturnIT]",
                "",
                "",
            ),
            told(
                "paid",
                "ApplicationContext failure threshold (1) exceeded: skipping repeated attempt to load context for [WebMergedContextConfiguration@1f2e3d4c testClass = com.acme.shop.PayIT]",
                "",
                "",
            ),
            told(
                "lost",
                "ApplicationContext failure threshold (1) exceeded: skipping repeated attempt to load context for [WebMergedContextConfiguration@99999999 testClass = com.acme.shop.LostIT]",
                "",
                "",
            ),
        ],
    );
    assert_eq!(
        causes(&report),
        [vec!["cart", "paid"], vec!["lost"], vec!["returned", "send"]]
    );
}

#[test]
fn who_lacks_what_an_extension_brings_lacks_the_extension() {
    let report = report(
        "phpunit",
        &[
            told(
                "sorts",
                "Error: Class \"Collator\" not found",
                "Error: Class \"Collator\" not found\n\n/srv/src/Names.php:8\n/srv/tests/NamesTest.php:9",
                "",
            ),
            told(
                "counts",
                "Error: Call to undefined function Acme\\grapheme_strlen()",
                "Error: Call to undefined function Acme\\grapheme_strlen()\n\n/srv/src/Text.php:4\n/srv/tests/TextTest.php:9",
                "",
            ),
            told(
                "packs",
                "Error: Class \"ZipArchive\" not found",
                "Error: Class \"ZipArchive\" not found\n\n/srv/src/Pack.php:8\n/srv/tests/PackTest.php:9",
                "",
            ),
            told(
                "collates",
                "Error: Class \"Acme\\Collator\" not found",
                "Error: Class \"Acme\\Collator\" not found\n\n/srv/src/Other.php:8\n/srv/tests/OtherTest.php:9",
                "",
            ),
        ],
    );
    assert_eq!(
        causes(&report),
        [vec!["collates"], vec!["counts", "sorts"], vec!["packs"]]
    );
}

#[test]
fn an_element_that_is_gone_is_one_cause_whatever_was_wanted_of_it() {
    let report = report(
        "playwright",
        &[
            told(
                "shows",
                "wish.spec.ts:9:7 shows",
                "Error: expect(locator).toHaveText(expected) failed\n\nLocator: getByTestId('wish-list')\nExpected: \"2\"\nReceived: <element(s) not found>\nTimeout: 5000ms\n\nCall log:\n  - Expect \"toHaveText\" with timeout 5000ms\n  - waiting for getByTestId('wish-list')",
                "",
            ),
            told(
                "opens",
                "wish.spec.ts:19:7 opens",
                "Test timeout of 30000ms exceeded.\n\nError: locator.click: Test timeout of 30000ms exceeded.\nCall log:\n  - waiting for getByTestId('wish-list')",
                "",
            ),
            told(
                "sums",
                "wish.spec.ts:29:7 sums",
                "Error: expect(locator).toHaveText(expected) failed\n\nLocator: getByTestId('wish-sum')\nExpected: \"2\"\nReceived: <element(s) not found>\nTimeout: 5000ms\n\nCall log:\n  - Expect \"toHaveText\" with timeout 5000ms\n  - waiting for getByTestId('wish-sum')",
                "",
            ),
            // It is there.
            told(
                "reads",
                "wish.spec.ts:39:7 reads",
                "Error: expect(locator).toHaveText(expected) failed\n\nLocator: getByTestId('wish-list')\nExpected: \"one\"\nReceived: \"two\"\nTimeout: 5000ms\n\nCall log:\n  - Expect \"toHaveText\" with timeout 5000ms\n  - waiting for getByTestId('wish-list')\n  - 9 × locator resolved to <ul data-testid=\"wish-list\">two</ul>",
                "",
            ),
        ],
    );
    assert_eq!(
        causes(&report),
        [vec!["opens", "shows"], vec!["reads"], vec!["sums"]]
    );
}

#[test]
fn a_field_that_has_another_name_is_one_cause() {
    let report = report(
        "nextest",
        &[
            told(
                "parses",
                "called `Result::unwrap()` on an `Err` value: Error(\"missing field `netPrice`\", line: 1, column: 31)",
                "thread 'parses' panicked at tests/items.rs:8:9:\ncalled `Result::unwrap()` on an `Err` value: Error(\"missing field `netPrice`\", line: 1, column: 31)",
                "",
            ),
            told(
                "keeps",
                "no key net_price in {\"netPrice\":7}",
                "thread 'keeps' panicked at tests/items.rs:18:9:\nno key net_price in {\"netPrice\":7}",
                "",
            ),
            told(
                "weighs",
                "unexpected error: missing field `netWeight` at line 1 column 9",
                "thread 'weighs' panicked at tests/items.rs:28:9:\nunexpected error: missing field `netWeight` at line 1 column 9",
                "",
            ),
            told(
                "rounds",
                "assertion `left == right` failed; left: \"{\\\"net_price\\\":7}\"; right: \"{\\\"net_price\\\":8}\"",
                "thread 'rounds' panicked at tests/items.rs:38:9:\nassertion `left == right` failed\n  left: \"{\\\"net_price\\\":7}\"\n right: \"{\\\"net_price\\\":8}\"",
                "",
            ),
        ],
    );
    assert_eq!(
        causes(&report),
        [vec!["keeps", "parses"], vec!["rounds"], vec!["weighs"]]
    );
}

#[test]
fn who_quotes_a_driver_that_names_no_server_is_a_victim_of_its_outage() {
    // Each of a class of its own: tests of one ask the same.
    let failures = [
            told(
                "finds",
                "PDOException: SQLSTATE[HY000] [2002] Connection refused",
                "PDOException: SQLSTATE[HY000] [2002] Connection refused\n\n/srv/src/Db.php:8\n/srv/tests/DbTest.php:7",
                "",
            ),
            told(
                "pages",
                "App\\QueryException: SQLSTATE[HY000] [2002] Connection refused (Connection: mysql, SQL: select * from `items` limit 1)",
                "App\\QueryException: SQLSTATE[HY000] [2002] Connection refused (Connection: mysql, SQL: select * from `items` limit 1)\nFailed asserting that 500 is identical to 200.\n\n/srv/tests/PageTest.php:7",
                "",
            ),
            told(
                "mails",
                "App\\MailException: Connection to the mail host refused",
                "App\\MailException: Connection to the mail host refused\nFailed asserting that 500 is identical to 200.\n\n/srv/tests/MailTest.php:7",
                "",
            ),
    ]
    .map(|told| Failure {
        dialect: Some("phpunit".into()),
        element: Some("failure".into()),
        classname: Some(format!("{}Test", told.name)),
        name: Some(told.name.into()),
        message: Some(told.message.into()),
        text: Some(told.text.into()),
        ..Failure::default()
    });
    let report = report_of(Engine::builtin(), &failures);
    assert_eq!(causes(&report), [vec!["finds", "pages"], vec!["mails"]]);
}

#[test]
fn a_request_that_a_browser_could_not_send_is_about_its_server() {
    let threw = |name, request| {
        told(
            name,
            "The following error originated from your application code, not from Cypress.",
            request,
            "",
        )
    };
    let report = report(
        "cypress",
        &[
            told("stock", STOCK, STOCK, ""),
            told("mail", MAIL, MAIL, ""),
            threw(
                "counts",
                "TypeError: The following error originated from your application code, not from Cypress.\n\n  > Failed to fetch: GET http://stock.acme.test:7300/items\n    at send (webpack://shop/./src/lib/send.ts:8:11)",
            ),
            threw(
                "writes",
                "TypeError: The following error originated from your application code, not from Cypress.\n\n  > Failed to fetch: POST http://mail.acme.test:7400/letters\n    at send (webpack://shop/./src/lib/send.ts:8:11)",
            ),
        ],
    );
    assert_eq!(causes(&report), [["counts", "stock"], ["mail", "writes"]]);
}

#[test]
fn an_account_of_two_servers_is_two_causes() {
    let stock = "psycopg.OperationalError: connection to server at \"stock-db.acme.test\" (10.0.0.3), port 5432 failed: FATAL:  password authentication failed for user \"app\"";
    let pool = "RuntimeError: pool: connection to server at \"stock-db.acme.test\" (10.0.0.3), port 5432 failed: FATAL:  password authentication failed for user \"app\"";
    let mail = "RuntimeError: outbox: connection to server at \"mail-db.acme.test\" (10.0.0.4), port 5432 failed: FATAL:  password authentication failed for user \"app\"";
    let report = report(
        "pytest",
        &[
            told("stock", stock, stock, ""),
            told("pool", pool, pool, ""),
            told("mail", mail, mail, ""),
        ],
    );
    assert_eq!(causes(&report), [vec!["mail"], vec!["pool", "stock"]]);
}
