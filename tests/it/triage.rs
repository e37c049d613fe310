//! `jelly triage` as it is called: what it prints, and how it exits.

use crate::support::{Call, Ended, Project};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

mod doubt;
mod formats;
mod partition;
mod past;
mod secret;

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/reports")
        .join(name)
}

pub fn triage(project: &Project, args: &[&str]) -> Ended {
    let all: Vec<&str> = ["triage"].iter().chain(args).copied().collect();
    Call::new(project).args(&all).output()
}

pub fn json(project: &Project, args: &[&str]) -> (Option<i32>, Value) {
    let all: Vec<&str> = args.iter().chain(&["--format", "json"]).copied().collect();
    let ended = triage(project, &all);
    let value = serde_json::from_str(&ended.stdout).expect(&ended.stdout);
    (ended.code, value)
}

/// A report of one suite with these cases.
pub fn report(cases: &str) -> String {
    format!("<testsuites><testsuite name=\"shop\">{cases}</testsuite></testsuites>")
}

pub const PASS: &str = r#"<testcase classname="shop.Cart" name="adds" time="0.1"/>"#;
pub const CODE: &str = r#"<testcase classname="shop.Cart" name="total"><failure message="expected: &lt;12&gt; but was: &lt;13&gt;" type="org.opentest4j.AssertionFailedError">expected: 12 but was: 13</failure></testcase>"#;
pub const REFUSED: &str = r#"<testcase classname="shop.Db" name="reads"><error message="connect ECONNREFUSED db:5432" type="Error"/></testcase>"#;
const FLAKY: &str = r#"<testcase classname="shop.Cart" name="sum"><flakyFailure message="expected: &lt;1&gt; but was: &lt;2&gt;" type="AssertionError"/></testcase>"#;
const SKIP: &str = r#"<testcase classname="shop.Cart" name="prints"><skipped/></testcase>"#;

#[test]
fn the_exit_code_says_whom_it_concerns() {
    let project = Project::empty();
    for (name, text, code) in [
        ("pass", report(PASS), 0),
        ("code", report(&format!("{PASS}{CODE}{REFUSED}")), 1),
        ("test", report(&format!("{PASS}{REFUSED}")), 3),
        ("flaky", report(&format!("{PASS}{FLAKY}")), 0),
        ("skipped", report(SKIP), 2),
        ("no-test", report(""), 2),
        ("empty", String::new(), 2),
        (
            "truncated",
            report(&format!("{CODE}{PASS}"))[..300].to_owned(),
            2,
        ),
        ("not-xml", "hello".to_owned(), 2),
        (
            "not-junit",
            "<project><name>x</name></project>".to_owned(),
            2,
        ),
    ] {
        let file = format!("{name}.xml");
        project.write(&file, &text);
        let ended = triage(&project, &[&file]);
        assert_eq!(
            ended.code,
            Some(code),
            "{name}\n{}{}",
            ended.stdout,
            ended.stderr
        );
        assert!(
            code == 2 || !ended.stdout.starts_with("UNRELIABLE"),
            "{name}"
        );
        assert!(
            code != 2 || ended.stdout.starts_with("UNRELIABLE"),
            "{name}\n{}",
            ended.stdout
        );
    }
}

#[test]
fn what_stands_before_a_truncation_is_still_told() {
    let project = Project::empty();
    let whole = report(&format!("{REFUSED}{PASS}"));
    project.write("cut.xml", &whole[..whole.len() - 40]);
    let (code, value) = json(&project, &["cut.xml"]);
    assert_eq!(code, Some(2));
    assert_eq!(value["health"]["state"], "unreadable");
    assert_eq!(
        value["failures"][0]["diagnosis"]["root_cause"],
        "connection_refused"
    );
}

#[test]
fn a_missing_report_is_named_and_the_others_are_told() {
    let project = Project::empty();
    project.write("a.xml", report(CODE));
    let ended = triage(&project, &["a.xml", "none.xml"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended
            .stdout
            .contains("none.xml can't be relied on: there is no such file")
    );
    assert!(
        ended.stdout.contains("shop.Cart > total"),
        "{}",
        ended.stdout
    );
}

#[test]
fn what_makes_a_call_fail_can_be_chosen() {
    let project = Project::empty();
    project.write("code.xml", report(CODE));
    project.write("test.xml", report(REFUSED));
    project.write("flaky.xml", report(&format!("{PASS}{FLAKY}")));
    project.write("empty.xml", "");
    for (args, code) in [
        (&["code.xml", "--fail-on", "any"][..], 1),
        (&["code.xml", "--fail-on", "code"], 1),
        (&["code.xml", "--fail-on", "never"], 0),
        (&["test.xml", "--fail-on", "any"], 3),
        (&["test.xml", "--fail-on", "code"], 0),
        (&["test.xml", "--fail-on", "new"], 3),
        (&["test.xml", "--fail-on", "never"], 0),
        (&["flaky.xml", "--strict"], 3),
        (&["empty.xml", "--fail-on", "never"], 2),
        (&["code.xml", "--fail-on", "sometimes"], 2),
    ] {
        assert_eq!(triage(&project, args).code, Some(code), "{args:?}");
    }
}

#[test]
fn the_same_reports_give_the_same_bytes_in_any_order() {
    let project = Project::empty();
    let files = ["pytest-database-down.xml", "vitest.xml", "nextest.xml"];
    for name in files {
        fs::copy(fixture(name), project.dir().join(name)).unwrap();
    }
    let [a, b, c] = files;
    let first = triage(&project, &[a, b, c, "-f", "json", "--jobs", "1"]).stdout;
    for args in [[c, b, a], [b, a, c]] {
        let args = [&args[..], &["-f", "json", "--jobs", "8"]].concat();
        assert_eq!(triage(&project, &args).stdout, first);
    }
    // Twice named, or found by a pattern besides, it is the same report.
    let again = [a, "./vitest.xml", "*.xml", "-f", "json"];
    let again: Value = serde_json::from_str(&triage(&project, &again).stdout).unwrap();
    assert_eq!(again["reports"].as_array().unwrap().len(), 3);
}

#[test]
fn a_run_that_was_written_twice_is_counted_once() {
    let project = Project::empty();
    fs::create_dir(project.dir().join("copy")).unwrap();
    let text = fs::read_to_string(fixture("pytest-database-down.xml")).unwrap();
    project.write("a.xml", &text);
    project.write("copy/b.xml", &text);
    let (_, value) = json(&project, &["a.xml", "copy"]);
    assert_eq!(value["health"]["tests"], 10);
    assert_eq!(value["reports"][1]["same_as"], "a.xml");
    let human = triage(&project, &["a.xml", "copy"]).stdout;
    assert!(
        human.contains("copy/b.xml reports the same run as a.xml"),
        "{human}"
    );
}

/// Quick tests have equal times, and the second leg's failure was shown nowhere.
#[test]
fn reports_that_differ_in_what_fails_alone_are_two_runs() {
    let project = Project::empty();
    let report = |said: &str| {
        format!(
            "<testsuite name='com.acme.CartTest' tests='1' failures='1' errors='0' skipped='0' time='0.01'>\
             <testcase name='adds' classname='com.acme.CartTest' time='0.01'>\
             <failure message='{said}' type='x'>{said}</failure></testcase></testsuite>"
        )
    };
    fs::create_dir_all(project.dir().join("l1")).unwrap();
    fs::create_dir_all(project.dir().join("l2")).unwrap();
    project.write("l1/r.xml", report("expected: 3 but was: 4"));
    project.write("l2/r.xml", report("the cart is empty"));
    let (_, value) = json(&project, &["l1", "l2"]);
    assert_eq!(value["health"]["tests"], 2);
    assert_eq!(value["failures"].as_array().unwrap().len(), 2);
    // A report of all beside those of its parts.
    let case = |name: &str, said: &str| {
        format!(
            "<testcase name='{name}' classname='c' time='0.01'><failure message='{said}'/></testcase>"
        )
    };
    let suite = |cases: &str| format!("<testsuite name='s' time='0.02'>{cases}</testsuite>");
    let [a, b] = [case("a", "x"), case("b", "y")];
    for (whole, failures) in [("y", 2), ("z", 4)] {
        fs::create_dir_all(project.dir().join("parts")).unwrap();
        project.write("parts/a.xml", suite(&a));
        project.write("parts/b.xml", suite(&b));
        project.write("all.xml", suite(&format!("{a}{}", case("b", whole))));
        let (_, value) = json(&project, &["parts", "all.xml"]);
        assert_eq!(value["failures"].as_array().unwrap().len(), failures);
    }
    let (_, value) = json(&project, &["l2/r.xml", "--baseline", "l1/r.xml"]);
    assert_eq!(value["reports"][0]["warnings"].as_array().unwrap().len(), 0);
}

#[test]
fn legs_of_a_matrix_with_equal_times_are_runs_of_their_own() {
    let project = Project::empty();
    let leg = |host: &str, time: &str| {
        format!(
            "<testsuite name='shop' tests='1' hostname='{host}' timestamp='{time}'>\
             <testcase classname='Cart' name='adds' time='0.1'/></testsuite>"
        )
    };
    let bare = leg("a", "1").replace(" hostname='a' timestamp='1'", "");
    let with = |leg: &str, name: &str, value: &str| {
        let properties =
            format!("'><properties><property name='{name}' value='{value}'/></properties>");
        leg.replacen("'>", &properties, 1)
    };
    for (what, first, second, tests) in [
        ("hosts", leg("a", "1"), leg("b", "1"), 2),
        ("times", leg("a", "1"), leg("a", "2"), 2),
        ("neither", leg("a", "1"), leg("a", "1"), 1),
        (
            "properties",
            with(&bare, "java", "17"),
            with(&bare, "java", "21"),
            2,
        ),
        (
            "other properties",
            with(&bare, "java", "17"),
            with(&bare, "os", "x"),
            1,
        ),
        (
            "the same properties",
            with(&bare, "java", "17"),
            with(&bare, "java", "17"),
            1,
        ),
        (
            "one says nothing",
            leg("a", "1"),
            leg("a", "1").replace("hostname='a' timestamp='1'", ""),
            1,
        ),
    ] {
        project.write("a.xml", first);
        project.write("b.xml", second);
        let (_, value) = json(&project, &["a.xml", "b.xml"]);
        assert_eq!(value["health"]["tests"], tests, "{what}");
    }
}

#[test]
fn an_engine_without_a_test_makes_no_run_unreliable() {
    let project = Project::empty();
    let engine = |name: &str, cases: &str, tests: u32| {
        format!(
            "<testsuite name='JUnit {name}' tests='{tests}' skipped='0' failures='0' errors='0' \
             time='0' hostname='a' timestamp='1'>{cases}</testsuite>"
        )
    };
    fs::create_dir_all(project.dir().join("a")).unwrap();
    fs::create_dir_all(project.dir().join("b")).unwrap();
    project.write("a/TEST-junit-jupiter.xml", engine("Jupiter", PASS, 1));
    project.write("a/TEST-junit-vintage.xml", engine("Vintage", "", 0));
    let ended = triage(&project, &["a"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    assert!(!ended.stdout.contains("no test case"), "{}", ended.stdout);
    // One of another run, of which no engine has a test.
    project.write("b/TEST-junit-vintage.xml", engine("Vintage", "", 0));
    let ended = triage(&project, &["a", "b"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(
        ended
            .stdout
            .contains("b/TEST-junit-vintage.xml: it holds no test case")
    );
}

#[test]
fn a_hook_that_no_report_shows_is_not_green() {
    let project = Project::empty();
    project.write(
        "r.xml",
        "<testsuite name='hook.Hooked' tests='1' errors='0' failures='0' skipped='1' time='0.0' \
         timestamp='t' hostname='h'><testcase classname='hook.Hooked' name='a' status='untested' \
         time='0'><skipped/></testcase></testsuite>",
    );
    project.write("other.xml", report(PASS));
    let (code, value) = json(&project, &["r.xml", "other.xml"]);
    assert_eq!(code, Some(3));
    assert_eq!(value["health"]["suite_errors"], 1);
    assert_eq!(
        value["failures"][0]["diagnosis"]["root_cause"],
        "fixture_error"
    );
}

#[test]
fn one_dead_server_is_one_cause_in_whatever_words() {
    let project = Project::empty();
    let case = |name: &str, message: &str| {
        format!(
            r#"<testcase classname="t" name="{name}"><failure message="{message}"/></testcase>"#
        )
    };
    project.write(
        "a.xml",
        report(
            &[
                case("a", "connect ECONNREFUSED 127.0.0.1:5432"),
                case("b", "connection to server at &quot;localhost&quot; (::1), port 5432 failed: Connection refused"),
                case("c", "dial tcp [::1]:5432: connect: connection refused"),
                case("d", "connect ECONNREFUSED 127.0.0.1:6379"),
                case("e", "expected: &lt;1&gt; but was: &lt;2&gt;"),
            ]
            .concat(),
        ),
    );
    let (_, value) = json(&project, &["a.xml"]);
    let first = &value["clusters"][0];
    assert_eq!(
        (&first["count"], &first["subject"]),
        (&3.into(), &"localhost:5432".into())
    );
    assert_eq!(
        value["health"]["summary"],
        "3 of 5 failures have one cause: the database at localhost:5432 refused connections."
    );
    // Another server is another cause.
    assert_eq!(value["clusters"].as_array().unwrap().len(), 3);
}

/// A failed case with its message, for [`report`].
fn failed(name: &str, message: &str) -> String {
    format!(
        r#"<testcase classname="shop.CartTest" name="{name}"><failure type="RuntimeError" message="{message}"/></testcase>"#
    )
}

#[test]
fn the_same_answer_behind_many_urls_of_one_host_is_one_cause() {
    let project = Project::empty();
    let hosts = ["billing", "ledger"];
    let cases: String = (0..35)
        .flat_map(|n| hosts.map(|host| (n, host)))
        .map(|(n, host)| {
            let page = format!("p{}", char::from(b'a' + n % 26));
            failed(
                &format!("{host} {n}"),
                &format!("GET https://{host}.acme.test/v1/{page}/items?n={n} returned 503 Service Unavailable"),
            )
        })
        .collect();
    project.write("a.xml", report(&cases));
    let (_, value) = json(&project, &["a.xml"]);
    let clusters = value["clusters"].as_array().unwrap();
    let counts: Vec<&Value> = clusters.iter().map(|cluster| &cluster["count"]).collect();
    assert_eq!(counts, [35, 35]);
}

#[test]
fn numbers_that_differ_in_the_same_place_are_one_cause() {
    let project = Project::empty();
    let cases: String = (1..6)
        .map(|n| failed(&format!("t{n}"), &format!("voucher {n} can not be loaded")))
        .chain((1..4).map(|n| failed(&format!("u{n}"), &format!("exit code {n} of the tool"))))
        .collect();
    project.write("a.xml", report(&cases));
    let (_, value) = json(&project, &["a.xml"]);
    let clusters = value["clusters"].as_array().unwrap();
    let counts: Vec<&Value> = clusters.iter().map(|cluster| &cluster["count"]).collect();
    assert_eq!(counts, [5, 1, 1, 1], "{clusters:#?}");
}

#[test]
fn an_unrelated_failure_is_not_swallowed_by_a_set_up() {
    let project = Project::empty();
    let cases = [
        failed("setUpClass", "connect ECONNREFUSED 127.0.0.1:5432"),
        failed("victim", "setup of the class failed"),
        failed("other", "the logo is upside down"),
        failed("setup wizard shows the logo", "there is no wizard"),
    ];
    project.write("a.xml", report(&cases.concat()));
    let (_, value) = json(&project, &["a.xml"]);
    let clusters = value["clusters"].as_array().unwrap();
    assert_eq!(clusters.len(), 3, "{clusters:#?}");
    assert_eq!(clusters[0]["consequences"], 1);
}

#[test]
fn a_test_that_fails_only_since_its_part_does_is_no_cause() {
    let project = Project::empty();
    project.write(
        "go.xml",
        r#"<testsuites><testsuite name="example.com/shop" tests="3" failures="2" errors="0" id="0" hostname="ci" time="1">
        <testcase classname="example.com/shop" name="TestCart"><failure message="Failed"></failure></testcase>
        <testcase classname="example.com/shop" name="TestCart/db"><failure message="Failed">shop_test.go:9: dial tcp 127.0.0.1:5432: connect: connection refused</failure></testcase>
        <testcase classname="example.com/shop" name="TestOk"/></testsuite></testsuites>"#,
    );
    let (_, value) = json(&project, &["go.xml"]);
    assert_eq!(value["clusters"].as_array().unwrap().len(), 1);
    assert_eq!(value["clusters"][0]["consequences"], 1);
    assert_eq!(
        value["clusters"][0]["example"],
        "example.com/shop > TestCart/db"
    );
}

#[test]
fn without_arguments_the_usual_places_are_looked_at_and_told() {
    let project = Project::empty();
    let nothing = triage(&project, &[]);
    assert_eq!(nothing.code, Some(2));
    assert!(
        nothing.stderr.contains("none lies in the usual places"),
        "{}",
        nothing.stderr
    );
    fs::create_dir_all(project.dir().join("shop/target/surefire-reports")).unwrap();
    project.write(
        "shop/target/surefire-reports/TEST-shop.Cart.xml",
        report(PASS),
    );
    project.write("pom.xml", "<project/>");
    let ended = triage(&project, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    assert!(
        ended
            .stderr
            .contains("taking shop/target/surefire-reports/TEST-shop.Cart.xml")
    );
}

/// Ten of eighteen names under which projects keep their reports were missed.
#[test]
fn reports_are_found_under_the_names_that_projects_give_them() {
    let ctrf = r#"{"results": {"tool": {"name": "jest"}, "summary": {"tests": 1, "passed": 1, "failed": 0, "pending": 0, "skipped": 0, "other": 0, "start": 0, "stop": 1}, "tests": [{"name": "adds", "status": "passed", "duration": 1}]}}"#;
    for place in [
        "ctrf/ctrf-report.json",
        "playwright-report/results.xml",
        ".vitest/junit.xml",
        "newman/newman.xml",
        "report.xml",
        "results.xml",
        "pytest.xml",
        "test-results/unit.xml",
        "reports/rspec.xml",
        "bazel-testlogs/cart/test.xml",
        "out/e2e-results.xml",
        "unit-tests.xml",
        "out/smoke_test.xml",
        "spec/reports/SPEC-Cart.xml",
        "cypress/results/cart-3f2a.xml",
        "fastlane/test_output/report.junit",
        "fastlane/test_output/cart.xml",
        "reports/junit/js.xml",
        "build/reports/cart.xml",
        "logs/junit/cart.xml",
        "TestResult.xml",
        "junit-reports/cart.xml",
        "test-output/junitreports/cart.xml",
        "test_results/cart.xml",
        "unittests.xml",
        "gotest.xml",
        "unit.xml",
        "go-test.json",
        "test_detail.xml",
        "cucumber.xml",
        "target/cucumber-reports/Cucumber.xml",
        "fastlane/report.junit",
    ] {
        let project = Project::empty();
        if let Some((folder, _)) = place.rsplit_once('/') {
            fs::create_dir_all(project.dir().join(folder)).unwrap();
        }
        let content = if place.ends_with(".json") {
            ctrf.to_owned()
        } else {
            report(PASS)
        };
        project.write(place, content);
        // A file of that name that holds no results is left alone.
        fs::create_dir_all(project.dir().join("coverage")).unwrap();
        project.write("coverage/report.xml", "<coverage/>");
        let ended = triage(&project, &[]);
        assert_eq!(
            ended.code,
            Some(0),
            "{place}: {}{}",
            ended.stdout,
            ended.stderr
        );
        assert!(
            ended.stderr.contains(&format!("taking {place}")),
            "{}",
            ended.stderr
        );
        assert!(!ended.stderr.contains("coverage"), "{}", ended.stderr);
    }
}

#[test]
fn in_a_folder_reports_of_every_format_are_found_and_nothing_else() {
    let project = Project::empty();
    let nunit = "<test-run><test-suite name='A'><test-case name='t' result='Passed'/></test-suite></test-run>";
    let xunit = "<assemblies><assembly name='a.dll'><collection name='c'><test name='N.f' type='N' result='Pass'/></collection></assembly></assemblies>";
    let testng = "<testng-results><suite name='S'><test name='T'><class name='a.B'><test-method name='t' status='PASS'/></class></test></suite></testng-results>";
    let go = "{\"Time\":\"2026-01-01T00:00:00Z\",\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"TestA\"}\n{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"TestA\"}\n";
    let reports = [
        ("deep/er/cart.xml", report(PASS), "junit"),
        ("TEST-empty.xml", String::new(), "junit"),
        ("TestResult.xml", nunit.to_owned(), "nunit"),
        ("unit/results.xml", xunit.to_owned(), "xunitnet"),
        ("testng-results.xml", testng.to_owned(), "testng"),
        (
            "unit/host.TRX",
            "<TestRun><Results><UnitTestResult testName='A.b' outcome='Passed'/></Results></TestRun>"
                .to_owned(),
            "trx",
        ),
        ("bats.tap", "1..1\nok 1 - a\n".to_owned(), "tap"),
        ("go.json", go.to_owned(), "go-test"),
        (
            "ctrf/ctrf-report.json",
            "{\"results\":{\"tool\":{\"name\":\"x\"},\"summary\":{},\"tests\":[{\"name\":\"by ctrf\",\"status\":\"passed\"}]}}"
                .to_owned(),
            "ctrf",
        ),
    ];
    for (name, text, _) in &reports {
        project.write(&format!("out/{name}"), text);
    }
    for (name, text) in [
        ("package.json", "{\"name\":\"x\",\"scripts\":{}}"),
        ("audit.json", "{\"Action\":\"login\",\"who\":\"me\"}"),
        ("coverage.xml", "<coverage line-rate='1'/>"),
        ("pom.xml", "<project/>"),
        ("log.txt", "1..1\nok 1\n"),
        ("node_modules/a/junit.xml", "<testsuite/>"),
        (".hidden/junit.xml", "<testsuite/>"),
    ] {
        project.write(&format!("out/{name}"), text);
    }
    let (code, found) = json(&project, &["out", "--no-history"]);
    let mut seen: Vec<(String, String)> = found["reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|report| {
            let text = |key: &str| report[key].as_str().unwrap().to_owned();
            (text("path"), text("dialect"))
        })
        .collect();
    let mut wanted: Vec<(String, String)> = reports
        .iter()
        .map(|(name, _, dialect)| (format!("out/{name}"), (*dialect).to_owned()))
        .collect();
    seen.sort();
    wanted.sort();
    assert_eq!(seen, wanted);
    // The empty one is a report that was not written.
    assert_eq!(code, Some(2));
    assert_eq!(found["health"]["passed"], 8);
}

/// Every call without arguments was exit code 2 in a project of PHPUnit.
#[test]
fn what_only_has_the_name_of_a_report_is_left_out_and_told() {
    let project = Project::empty();
    project.write("junit.xml", report(PASS));
    for (name, text) in [(
        "phpunit.xml",
        "<?xml version='1.0'?>\n<!-- <testsuite> -->\n<phpunit><testsuites><testsuite \
             name='unit'><directory>tests</directory></testsuite></testsuites></phpunit>",
    )] {
        project.write(name, text);
        for args in [&[][..], &["."]] {
            let ended = triage(&project, args);
            assert_eq!(ended.code, Some(0), "{name}: {}", ended.stdout);
            let left_out = ended.stderr.lines().find(|line| line.contains("left out"));
            assert!(left_out.unwrap().contains(name), "{}", ended.stderr);
        }
        // Whoever names it means it.
        assert_eq!(triage(&project, &[name]).code, Some(2), "{name}");
    }
    // What stands in place of a report tells that there is none.
    for (name, text) in [
        ("TEST-crashed.xml", "Segmentation fault\n"),
        (
            "TEST-page.xml",
            "<!DOCTYPE html><html>502 Bad Gateway</html>",
        ),
        (
            "TEST-other.xml",
            "<results><testcase name='a'><failure message='x'/></testcase></results>",
        ),
        ("e2e.tap", "Bail out! no database\n"),
        ("npm.tap", "Error: Cannot find module 'tape'\n"),
    ] {
        let project = Project::empty();
        project.write("junit.xml", report(PASS));
        project.write(name, text);
        assert_ne!(triage(&project, &["."]).code, Some(0), "{name}");
    }
}

#[test]
fn a_pattern_or_a_folder_that_leads_to_nothing_is_no_green() {
    let project = Project::empty();
    fs::create_dir(project.dir().join("empty")).unwrap();
    for argument in ["*.xml", "empty", "emp*", "a[.xml", ""] {
        let ended = triage(&project, &[argument]);
        assert_eq!(ended.code, Some(2), "{argument}");
        assert!(ended.stderr.starts_with("error: "), "{}", ended.stderr);
    }
}

#[test]
fn a_pattern_of_folders_means_the_reports_in_them() {
    let project = Project::empty();
    for module in ["a", "b"] {
        let folder = format!("{module}/target/surefire-reports");
        fs::create_dir_all(project.dir().join(&folder)).unwrap();
        let case = CODE.replace("total", module);
        project.write(&format!("{folder}/TEST-{module}.xml"), report(&case));
        project.write(&format!("{folder}/notes.txt"), "no report");
    }
    let (code, value) = json(&project, &["*/target/surefire-reports"]);
    assert_eq!(code, Some(1));
    assert_eq!(value["health"]["tests"], 2);
}

#[test]
fn each_row_is_run_again_by_its_own_framework() {
    let project = Project::empty();
    let refused = r#""message":"connect ECONNREFUSED 127.0.0.1:1""#;
    project.write(
        "mix.jsonl",
        format!(
            "{{\"id\":\"1\",\"failure\":{{{refused},\"dialect\":\"pytest\",\"classname\":\"tests.a\",\"name\":\"x\"}}}}\n\
             {{\"id\":\"2\",\"failure\":{{{refused},\"dialect\":\"surefire\",\"classname\":\"shop.CartTest\",\"name\":\"y\"}}}}\n\
             {{\"id\":\"mcp\",\"failure\":{{\"phase\":\"call\",{refused}}}}}\n\
             {{\"failure\":{{{refused},\"dialect\":\"pytest\"}}}}\n"
        ),
    );
    let (_, value) = json(&project, &["mix.jsonl"]);
    let retry = &value["retry"];
    assert_eq!(
        retry["commands"],
        serde_json::json!([
            "mvn test '-Dtest=shop.CartTest#y' -Dsurefire.failIfNoSpecifiedTests=false",
            "pytest tests/a.py::x"
        ])
    );
    assert_eq!(
        retry["without_command"],
        serde_json::json!(["failure 4", "mcp"])
    );
    assert_eq!(retry["tests"].as_array().unwrap().len(), 4);
}

#[test]
fn rows_that_hold_nothing_are_said_in_every_format() {
    let project = Project::empty();
    project.write("none.jsonl", "\n");
    project.write("one.jsonl", "{\"failure\":{}}\nnot json\n");
    for format in ["jsonl", "human", "md", "json"] {
        let ended = triage(&project, &["none.jsonl", "--format", format]);
        assert_eq!(ended.code, Some(2), "{format}");
        assert!(ended.stderr.contains("none.jsonl holds no failure"));
        let ended = triage(&project, &["one.jsonl", "--format", format]);
        assert_eq!(ended.code, Some(2), "{format}");
        assert!(
            ended.stderr.contains("one.jsonl:2:") && ended.stderr.contains("it is not JSON"),
            "{}",
            ended.stderr
        );
        let verdict = match format {
            "human" => "UNRELIABLE  one.jsonl can't be relied on: 1 line of it holds no failure",
            "json" => "\"exit_code\": 2",
            _ => "",
        };
        assert!(ended.stdout.contains(verdict), "{}", ended.stdout);
    }
}

#[test]
fn failures_come_in_as_lines_and_go_out_as_lines() {
    let project = Project::empty();
    project.write(
        "f.jsonl",
        "{\"id\":\"a\",\"failure\":{\"message\":\"connect ECONNREFUSED 127.0.0.1:5432\"},\"label\":{}}\n\
         \n\
         {\"id\":2,\"failure\":{\"phase\":\"spawn\",\"spawn_error\":{\"name\":\"ENOENT\"}}}\n",
    );
    let ended = triage(&project, &["f.jsonl"]);
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["id"], "a");
    assert_eq!(lines[0]["diagnosis"]["root_cause"], "connection_refused");
    assert_eq!(lines[1]["id"], 2);
    assert_eq!(lines[1]["diagnosis"]["side"], "test");
    assert_eq!(ended.code, Some(3));
    // Of all of them together, in any other format.
    let (code, value) = json(&project, &["f.jsonl"]);
    assert_eq!(
        (code, value["failures"].as_array().unwrap().len()),
        (Some(3), 2)
    );
}

#[test]
fn a_line_that_is_no_failure_is_told_by_its_place_and_the_others_are_answered() {
    let project = Project::empty();
    project.write(
        "f.txt",
        "{\"id\":1,\"failure\":{}}\n{\"id\":2,\"failure\":3}\n{oops\n{\"id\":4,\"failure\":{}}",
    );
    let ended = triage(&project, &["f.txt", "--input", "failures"]);
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stdout.lines().count(), 2);
    assert!(ended.stderr.contains("f.txt:2:"), "{}", ended.stderr);
    assert!(ended.stderr.contains("f.txt:3:2: "), "{}", ended.stderr);
}

#[test]
fn secrets_of_the_environment_are_not_repeated() {
    let project = Project::empty();
    project.write(
        "a.xml",
        report(r#"<testcase name="logs in"><failure message="login with s3cr3t-of-ci failed">s3cr3t-of-ci</failure></testcase>"#),
    );
    project.write(
        "f.jsonl",
        "{\"id\":1,\"failure\":{\"message\":\"s3cr3t-of-ci: connection refused\"}}\n",
    );
    for args in [
        &["triage", "a.xml"][..],
        &["triage", "a.xml", "-f", "json"],
        &["triage", "a.xml", "-f", "junit"],
        &["triage", "a.xml", "-f", "ctrf"],
        &["triage", "f.jsonl"],
    ] {
        let ended = Call::new(&project)
            .env("DB_PASSWORD", "s3cr3t-of-ci")
            .args(args)
            .output();
        assert!(
            !ended.stdout.contains("s3cr3t"),
            "{args:?}\n{}",
            ended.stdout
        );
        assert!(
            ended.stdout.contains("[secret DB_PASSWORD]"),
            "{args:?}\n{}",
            ended.stdout
        );
    }
}

#[test]
fn the_annotated_report_keeps_the_suites_and_the_output_of_what_failed() {
    let project = Project::empty();
    project.write(
        "a.xml",
        "<testsuites><testsuite name=\"shop\"><testsuite name=\"cart &amp; co\">\
         <testcase name=\"adds\" classname=\"C\"/>\
         <testcase name=\"pays\" classname=\"C\"><failure message=\"boom\">trace</failure>\
         <system-out>said &lt;this&gt;</system-out><system-err>and that</system-err></testcase>\
         </testsuite></testsuite>\
         <testsuite name=\"stock\"><testcase name=\"counts\" classname=\"S\"/></testsuite>\
         </testsuites>",
    );
    let annotated = triage(&project, &["a.xml", "-f", "junit"]);
    project.write("b.xml", annotated.stdout.as_str());
    let again = triage(&project, &["b.xml", "-f", "json"]).stdout;
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    let failure = &again["failures"][0];
    assert_eq!(
        failure["suite"], "a.xml > shop > cart & co",
        "{}",
        annotated.stdout
    );
    assert_eq!(again["reports"][0]["tests"], 3);
    assert_eq!(again["reports"][0]["warnings"], serde_json::json!([]));
    for kept in [
        "<system-out>said &lt;this&gt;</system-out>",
        "<system-err>and that</system-err>",
        "<testsuite name=\"stock\">",
    ] {
        assert!(
            annotated.stdout.contains(kept),
            "{kept} in {}",
            annotated.stdout
        );
    }
}

#[test]
fn a_packed_report_is_unpacked() {
    let project = Project::empty();
    project.write("a.xml", report(REFUSED));
    let packed = std::process::Command::new("gzip")
        .arg(project.dir().join("a.xml"))
        .status();
    assert!(packed.unwrap().success());
    assert_eq!(triage(&project, &["a.xml.gz"]).code, Some(3));
}
