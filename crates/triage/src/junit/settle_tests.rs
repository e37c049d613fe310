//! Cases that are written twice, claims that nothing bears out, and what did
//! not run: nothing turns green by doubt or by absence.

use super::tests::{read_all, read_from, suite, totals};
use super::{CaseOutcome, ReaderLimits, digest_of_all};
use jelly_base::model::UnmarkedReruns;

const ONE_OF_TWO: &str =
    "<testcase name='n' classname='c'><failure/></testcase><testcase name='n' classname='c'/>";

#[test]
fn a_case_of_the_same_name_is_another_test() {
    for xml in [
        suite(ONE_OF_TWO),
        suite("<testcase name='n'/><testcase name='n'><failure/></testcase>"),
        // Parameters of TestNG, as Surefire writes them.
        "<testsuite name='T' version='3.0' time='1' tests='2' errors='0' skipped='0' failures='1' \
         noNamespaceSchemaLocation='surefire-test-report.xsd'><testcase name='n' classname='c'>\
         <failure/></testcase><testcase name='n' classname='c'/></testsuite>"
            .to_owned(),
        // Projects of Playwright.
        "<testsuites><testsuite name='a.spec.ts' hostname='chromium' tests='1'>\
         <testcase name='n' classname='a.spec.ts'><failure/></testcase></testsuite>\
         <testsuite name='a.spec.ts' hostname='firefox' tests='1'>\
         <testcase name='n' classname='a.spec.ts'/></testsuite></testsuites>"
            .to_owned(),
        "<TestRun><Results><UnitTestResult testId='1' testName='Adds' outcome='Failed'/>\
         <UnitTestResult testId='2' testName='Adds' outcome='Passed'/></Results></TestRun>"
            .to_owned(),
        "1..2\nnot ok 1 - adds\nok 2 - adds\n".to_owned(),
    ] {
        let (summary, _) = read_all(&xml);
        assert_eq!(totals(&summary), [1, 1, 0, 0, 0, 0], "{xml}");
    }
    let (summary, _) = read_all(&suite("<testcase><failure/></testcase><testcase/>"));
    assert_eq!(totals(&summary), [1, 1, 0, 0, 0, 0]);
    let (summary, _) = read_all(&suite(ONE_OF_TWO));
    assert_eq!(summary.warnings, ["one case is written a second time"]);
}

/// Two suites of gotestsum, whose first one claims so many tests.
fn gotestsum(tests: u32, first: &str, second: &str) -> String {
    let begin = |tests: u32, name: &str| {
        let failures = u32::from(name == "p");
        format!(
            "<testsuite tests='{tests}' failures='{failures}' time='1' name='{name}' timestamp='t'>"
        )
    };
    format!(
        "<testsuites>{}{first}</testsuite>{}{second}</testsuite></testsuites>",
        begin(tests, "p"),
        begin(1, "q")
    )
}

#[test]
fn an_attempt_is_known_by_its_writer_and_by_the_count_of_its_suite() {
    let (summary, cases) = read_all(&gotestsum(1, ONE_OF_TWO, ""));
    assert_eq!(totals(&summary), [1, 0, 0, 0, 1, 0]);
    assert_eq!(cases[0].outcome, CaseOutcome::Flaky);
    assert_eq!((summary.elements.failed, summary.elements.flaky), (1, 0));
    // `-count=2` runs a test twice, and counts it twice.
    let (summary, _) = read_all(&gotestsum(2, ONE_OF_TWO, ""));
    assert_eq!(totals(&summary)[..2], [1, 1]);
    // Another suite element is another package.
    let (failed, passed) = ONE_OF_TWO.split_at(ONE_OF_TWO.rfind("<testcase").unwrap());
    let (summary, _) = read_all(&gotestsum(0, failed, passed));
    assert_eq!(totals(&summary)[..2], [1, 1]);
    // Of the last attempt it is said that it failed.
    let (summary, _) = read_all(&gotestsum(1, &format!("{passed}{failed}"), ""));
    assert_eq!(totals(&summary)[..2], [1, 1]);
}

#[test]
fn claims_that_nothing_shows_are_a_failure_of_their_own() {
    let (summary, cases) = read_all(
        "<testsuites tests='5' failures='2'><testsuite name='a' tests='3' failures='2' errors='0'>\
         <testcase name='x' classname='c'/></testsuite></testsuites>",
    );
    assert_eq!(totals(&summary), [1, 0, 0, 0, 0, 1]);
    assert_eq!(
        cases[1].failures[0].message.as_deref(),
        Some("the suite reports 2 failures, and no test case shows it")
    );
    assert_eq!(cases[1].failures[0].suite.as_deref(), Some("a"));
    let (summary, cases) = read_all(
        "<testsuites tests='3' failures='1' errors='1' time='0.5'>\
         <testsuite tests='0' failures='0' time='0' name='shop/pay' timestamp='t'/>\
         <testsuite tests='1' failures='1' time='0' name='shop/cart' timestamp='t'>\
         <testcase name='TestBad'><failure/></testcase></testsuite></testsuites>",
    );
    assert_eq!(totals(&summary), [0, 1, 0, 0, 0, 1]);
    assert_eq!(
        cases[1].failures[0].message.as_deref(),
        Some("the run reports 1 error, and no test case shows it; nothing ran in shop/pay")
    );
}

#[test]
fn claims_that_are_shown_elsewhere_or_as_attempts_are_no_failure() {
    for xml in [
        // Counted in one suite, shown in the next.
        "<testsuites failures='1'><testsuite name='a' failures='1'><testcase name='n'/></testsuite>\
         <testsuite name='b' failures='0'><testcase name='m'><failure/></testcase></testsuite>\
         </testsuites>",
        // Surefire counts attempts.
        "<testsuite name='s' failures='1'><testcase name='n'><flakyFailure/></testcase>\
         </testsuite>",
        // Counted at each level.
        "<testsuites failures='1'><testsuite name='a' failures='1'><testsuite name='b' failures='1'>\
         <testcase name='n'><failure/></testcase></testsuite></testsuite></testsuites>",
        "<testsuite name='s' failures='-3'><testcase name='n'/></testsuite>",
    ] {
        let (summary, _) = read_all(xml);
        assert_eq!(summary.suite_errors, 0, "{xml}");
    }
}

#[test]
fn what_ctest_could_not_run_is_an_error() {
    let of = |message: &str| {
        format!(
            "<testsuite name='Linux-c++' tests='1'><testcase name='c' classname='c' time='0' \
             status='notrun'><skipped message='{message}'/></testcase></testsuite>"
        )
    };
    let (summary, cases) = read_all(&of("Unable to find executable: /x/c"));
    assert_eq!(totals(&summary), [0, 0, 1, 0, 0, 0]);
    assert_eq!(
        cases[0].failures[0].message.as_deref(),
        Some("Unable to find executable: /x/c")
    );
    for skipped in ["SKIP_RETURN_CODE=77", "Disabled", ""] {
        let (summary, _) = read_all(&of(skipped));
        assert_eq!(totals(&summary), [0, 0, 0, 1, 0, 0], "{skipped}");
    }
}

#[test]
fn a_summary_of_ctrf_that_no_test_bears_out_is_a_failure_of_its_own() {
    let of = |failed: u32| {
        format!(
            "{{\"reportFormat\":\"CTRF\",\"results\":{{\"tool\":{{\"name\":\"x\"}},\"summary\":\
             {{\"tests\":1,\"failed\":{failed}}},\"tests\":[{{\"name\":\"a\",\"status\":\"passed\"}}]}}}}"
        )
    };
    assert_eq!(totals(&read_all(&of(0)).0), [1, 0, 0, 0, 0, 0]);
    assert_eq!(totals(&read_all(&of(2)).0), [1, 0, 0, 0, 0, 1]);
}

#[test]
fn a_package_that_was_not_built_fails_before_the_first_event() {
    let (summary, cases) = read_all(
        "# shop/pay\npay/p.go:3:2: undefined: foo\nFAIL\tshop/pay [build failed]\n\
         {\"Action\":\"run\",\"Package\":\"shop/good\",\"Test\":\"TestG\"}\n\
         {\"Action\":\"pass\",\"Package\":\"shop/good\",\"Test\":\"TestG\",\"Elapsed\":0}\n\
         {\"Action\":\"pass\",\"Package\":\"shop/good\",\"Elapsed\":0}\nFAIL\n",
    );
    assert_eq!(totals(&summary), [1, 0, 0, 0, 0, 1]);
    assert_eq!((summary.problem, summary.warnings.len()), (None, 0));
    assert_eq!(cases[0].suite, "shop/pay");
    assert_eq!(
        cases[0].failures[0].text.as_deref(),
        Some("# shop/pay\npay/p.go:3:2: undefined: foo\nFAIL\tshop/pay [build failed]")
    );
}

/// Up to Go 1.23 the compiler writes to the other stream, and the report holds no more
/// than this line.
#[test]
fn a_package_that_was_not_built_says_so_where_nothing_else_is_said() {
    for why in ["[build failed]", "[setup failed]"] {
        let line = format!("FAIL\tshop/pay {why}");
        let (_, cases) = read_all(&format!(
            "{{\"Action\":\"pass\",\"Package\":\"shop/good\",\"Test\":\"TestG\"}}\n{line}\nFAIL\n"
        ));
        let failure = &cases[1].failures[0];
        assert_eq!(failure.text.as_deref(), Some(line.as_str()));
    }
}

#[test]
fn what_was_read_before_reading_failed_is_handed_on() {
    struct Breaks<'b>(&'b [u8]);
    impl std::io::Read for Breaks<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Err(std::io::Error::other("corrupt gzip stream"));
            }
            std::io::Read::read(&mut self.0, out)
        }
    }
    let whole = suite(ONE_OF_TWO);
    let mut input = std::io::BufReader::new(Breaks(whole.as_bytes()));
    let (summary, cases) = read_from(&mut input, &ReaderLimits::default());
    assert_eq!((summary.tests, cases.len()), (2, 2));
    assert!(summary.problem.unwrap().contains("corrupt gzip stream"));
}

#[test]
fn digests_of_parts_add_up_to_that_of_the_whole() {
    let case = |name: &str| format!("<testcase classname='c' name='{name}' time='0.123'/>");
    let digest = |cases: &str| read_all(&suite(cases)).0.identity.unwrap();
    let (a, b) = (digest(&case("a")), digest(&case("b")));
    let whole = digest(&format!("{}{}", case("b"), case("a")));
    let sum = digest_of_all([a.as_str(), b.as_str()]);
    assert_eq!(sum.as_deref(), Some(whole.as_str()));
    assert_ne!(digest_of_all([a.as_str(), a.as_str()]), sum);
    assert_eq!(digest_of_all(["no digest"]), None);
}

#[test]
fn what_fails_around_passed_tests_is_a_failure_of_its_own() {
    for text in [
        // A hook after the subtests.
        "TAP version 13\n    ok 1 - adds\n    1..1\nnot ok 1 - cart\n1..1\n",
        "<TestRun><Results><UnitTestResult testName='Data' outcome='Failed'><Output><ErrorInfo>\
         <Message>Cleanup failed</Message></ErrorInfo></Output><InnerResults>\
         <UnitTestResult testName='Data (1)' outcome='Passed'/></InnerResults></UnitTestResult>\
         </Results></TestRun>",
        // A passed test that was flaky is no failure that a summary claims.
        r#"{"results":{"tool":{"name":"x"},"summary":{"tests":2,"passed":1,"failed":1,"skipped":0,"pending":0,"other":0},
            "tests":[{"name":"a","status":"passed","flaky":true}]}}"#,
    ] {
        let (summary, _) = read_all(text);
        let wrong = summary.failed + summary.errors + summary.suite_errors;
        assert_eq!(wrong, 1, "{text}: {summary:?}");
    }
    // What sums up a failed one says nothing more.
    for text in [
        "TAP version 13\n    not ok 1 - adds\n    1..1\nnot ok 1 - cart\n1..1\n",
        "<TestRun><Results><UnitTestResult testName='Data' outcome='Failed'><InnerResults>\
         <UnitTestResult testName='Data (1)' outcome='Failed'/></InnerResults></UnitTestResult>\
         </Results></TestRun>",
    ] {
        let (summary, _) = read_all(text);
        assert_eq!(totals(&summary), [0, 1, 0, 0, 0, 0], "{text}");
        assert_eq!(summary.suite_errors, 0, "{text}");
    }
}

#[test]
fn a_package_of_go_that_does_not_end_was_cut_off() {
    let begin = "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"A\"}\n\
                 {\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"A\"}\n";
    assert!(read_all(begin).0.problem.unwrap().contains("cut off"));
    let whole = format!("{begin}{{\"Action\":\"pass\",\"Package\":\"p\"}}\n");
    assert_eq!(read_all(&whole).0.problem, None);
}

/// On a time-out `go test` of older versions ends the package, and not the
/// tests that ran.
#[test]
fn what_ran_when_its_package_failed_failed_too() {
    let panic = "panic: test timed out after 1s";
    let text = [
        r#"{"Action":"run","Package":"p","Test":"A"}"#.to_owned(),
        r#"{"Action":"run","Package":"p","Test":"A/b"}"#.to_owned(),
        format!(r#"{{"Action":"output","Package":"p","Test":"A/b","Output":"{panic}\\n"}}"#),
        r#"{"Action":"fail","Package":"p","Elapsed":1.0}"#.to_owned(),
    ]
    .join("\n");
    let (summary, cases) = read_all(&text);
    assert_eq!(summary.problem, None);
    assert_eq!(totals(&summary), [0, 2, 0, 0, 0, 0]);
    for case in &cases {
        let said = case.failures[0].text.as_deref().unwrap_or_default();
        assert!(said.contains(panic), "{said}");
    }
    // It stands under the one that began last.
    assert_eq!(cases[0].name, "A/b");
}

/// The events of a test whose package ran out of time, with what it lists as
/// running, below the events of one.
fn timed_out(run: &[&str], teller: &str, listed: &[&str], is_told: bool) -> String {
    let event = |action: &str, test: &str| {
        format!("{{\"Action\":\"{action}\",\"Package\":\"p\",\"Test\":\"{test}\"}}\n")
    };
    let said = |line: &str| {
        format!(
            "{{\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"{teller}\",\"Output\":\"{line}\\n\"}}\n"
        )
    };
    let mut text: String = run.iter().map(|test| event("run", test)).collect();
    text += &said("panic: test timed out after 1s");
    text += &said("running tests:");
    for test in listed {
        text += &said(&format!("\\t{test} (1s)"));
    }
    text += &said("");
    if is_told {
        text += &event("fail", teller);
    }
    text + "{\"Action\":\"fail\",\"Package\":\"p\",\"Elapsed\":1.0}\n"
}

#[test]
fn only_what_go_lists_as_running_failed_of_the_time() {
    let text = timed_out(&["A", "A/ok", "A/sub"], "A/sub", &["A", "A/sub"], false);
    let (summary, cases) = read_all(&text);
    assert_eq!(totals(&summary), [0, 2, 0, 1, 0, 0]);
    let skipped = cases
        .iter()
        .find(|case| case.outcome == CaseOutcome::Skipped);
    assert_eq!(skipped.unwrap().name, "A/ok");
    assert!(summary.warnings[0].contains("1 test of p"), "{summary:?}");
}

#[test]
fn a_test_that_is_told_to_have_failed_tells_why_the_others_did() {
    let text = timed_out(&["A", "B", "B/sub"], "A", &["A", "B", "B/sub"], true);
    let (summary, cases) = read_all(&text);
    assert_eq!(totals(&summary), [0, 3, 0, 0, 0, 0]);
    for case in &cases {
        let said = case.failures[0].text.as_deref().unwrap_or_default();
        assert!(said.starts_with("panic: test timed out after 1s"), "{said}");
    }
}

#[test]
fn a_case_that_is_cut_off_did_not_pass() {
    for rest in ["", "<system-out>so far", "<properties>"] {
        let text = format!("<testsuite><testcase name='a'/><testcase name='b'>{rest}");
        let (summary, cases) = read_all(&text);
        assert!(summary.problem.unwrap().contains("cut off"), "{rest}");
        assert_eq!(
            (cases[0].outcome, cases[1].outcome),
            (CaseOutcome::Passed, CaseOutcome::Error),
            "{rest}"
        );
    }
    let skipped = "<testsuite><testcase name='b'><skipped/>";
    assert_eq!(read_all(skipped).1[0].outcome, CaseOutcome::Skipped);
}

#[test]
fn tap_behind_lines_of_a_log_is_read() {
    for log in ["[INFO] starting\n", "starting the depot\n{not json}\n"] {
        for tap in [
            "TAP version 13\nok 1 - a\nnot ok 2 - b\n1..2\n",
            "ok 1 - a\nnot ok 2 - b\n1..2\n",
        ] {
            let (summary, _) = read_all(&format!("{log}{tap}"));
            assert_eq!(summary.problem, None, "{log}{tap}");
            assert_eq!(totals(&summary), [1, 1, 0, 0, 0, 0], "{log}{tap}");
        }
    }
    let log = "ok 100 rows\nnothing else\n";
    assert!(read_all(log).0.problem.is_some());
}

#[test]
fn a_case_that_gradle_ran_again_and_that_passed_then_is_flaky() {
    let failed = "<testcase name='x()' classname='a.B' time='0.1'><failure type='E'>E: x</failure></testcase>";
    let passed = "<testcase name='x()' classname='a.B' time='0.2'/>";
    let other = passed.replace("x()", "y()");
    let differs = failed.replace("E: x", "E: z");
    let [on_one, on_other] = ["40123", "51877"]
        .map(|port| failed.replace("E: x", &format!("E: localhost:{port} refused")));
    let [row, differing_row, passed_row] =
        [failed, &differs, passed].map(|case| case.replace("x()", "adds(int)"));
    for (cases, wanted) in [
        (format!("{failed}{passed}"), [0, 0, 0, 0, 1, 0]),
        (
            format!("{on_one}{other}{on_other}{passed}"),
            [0, 0, 0, 0, 2, 0],
        ),
        // Two rows of a table at the end look like one that was run again.
        (format!("{other}{row}{passed_row}"), [0, 1, 0, 0, 0, 0]),
        (format!("{row}{other}{passed_row}"), [0, 0, 0, 0, 1, 0]),
        (format!("{passed}{failed}"), [1, 1, 0, 0, 0, 0]),
        (format!("{failed}{failed}"), [0, 2, 0, 0, 0, 0]),
        (format!("{failed}{other}{passed}"), [0, 0, 0, 0, 1, 0]),
        (format!("{failed}{failed}{passed}"), [0, 0, 0, 0, 2, 0]),
        // Rows of a table that share a name.
        (format!("{failed}{passed}{passed}"), [0, 1, 0, 0, 0, 0]),
        (format!("{failed}{passed}{other}"), [0, 1, 0, 0, 0, 0]),
        (
            format!("{row}{differing_row}{passed_row}"),
            [0, 2, 0, 0, 0, 0],
        ),
        // No row has the name of a method without parameters.
        (format!("{failed}{differs}{passed}"), [0, 0, 0, 0, 2, 0]),
        (
            format!("{row}{other}{differing_row}{other}{passed_row}"),
            [1, 0, 0, 0, 2, 0],
        ),
    ] {
        let (summary, _) = read_all(&format!(
            "<testsuite name='a.B' tests='2' skipped='0' failures='1' errors='0' \
             timestamp='2026-01-01T00:00:00' hostname='h' time='0.3'>{cases}</testsuite>"
        ));
        assert_eq!(summary.dialect, "gradle");
        // The attempt that passed is the case.
        let totals = totals(&summary);
        assert_eq!(totals[1..], wanted[1..], "{cases}");
    }
}

#[test]
fn a_case_behind_its_suite_only_sums_it_up_where_node_tap_writes_so() {
    let of = |root: &str| {
        format!(
            "<testsuites name='{root}'><testsuite name='test/a.js' tests='9'>\
             <testsuite name='a &gt; b'><testcase name='refused'><failure>x</failure></testcase>\
             </testsuite><testcase name='a &gt; b'><failure>at: y</failure></testcase>\
             <testsuite name='fine'><testcase name='equal'/></testsuite><testcase name='fine'/>\
             <testsuite name='hook'><testcase name='equal'/></testsuite>\
             <testcase name='hook'><failure>by itself</failure></testcase>\
             <testcase name='fine'/></testsuite></testsuites>"
        )
    };
    let (summary, _) = read_all(&of("TAP Tests"));
    assert_eq!(summary.dialect, "tap");
    assert_eq!(totals(&summary), [3, 2, 0, 0, 0, 0]);
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    assert_eq!(totals(&read_all(&of("x")).0), [4, 3, 0, 0, 0, 0]);
}

#[test]
fn a_status_of_perl_that_counts_shown_failures_is_none_of_its_own() {
    let of = |status: u8| {
        let failure = "<failure type='TestFailed' message='not ok 1 - a'>not ok 1 - a</failure>";
        format!(
            "<testsuites><testsuite name='a_t' tests='1' failures='1' errors='1'>\
             <testcase name='1 - a'>{failure}</testcase>\
             <error message='Dubious, test returned {status} (wstat 256, 0x100)'/>\
             </testsuite></testsuites>"
        )
    };
    assert_eq!(totals(&read_all(&of(1)).0), [0, 1, 0, 0, 0, 0]);
    assert_eq!(totals(&read_all(&of(255)).0), [0, 1, 0, 0, 0, 1]);
}

#[test]
fn what_suites_of_node_claim_is_no_number_of_tests() {
    let suite = "<testsuite name='sub' time='1' disabled='0' errors='0' tests='2' failures='0' \
                 skipped='0' hostname='vm'><testcase name='a'/><testcase name='b'/></testsuite>";
    let (summary, _) = read_all(&format!(
        "<testsuites>{suite}<testcase name='c' classname='test'/></testsuites>"
    ));
    assert_eq!(summary.dialect, "node-test");
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
}

#[test]
fn a_report_whose_suite_failed_tells_another_run_than_one_without() {
    let case = "<testcase classname='a.B' name='x' time='0.1'/>";
    let clean = read_all(&suite(case)).0.identity;
    let broken = suite(&format!("{case}<error message='teardown failed'/>"));
    let broken = read_all(&broken).0;
    assert_eq!(broken.suite_errors, 1);
    assert_ne!(clean, broken.identity);
}

/// A report of pytest that claims so many tests.
fn pytest(tests: u32, cases: &str) -> String {
    format!(
        "<testsuites name='pytest tests'><testsuite name='pytest' tests='{tests}' errors='0' \
         failures='1' skipped='0' time='1'>{cases}</testsuite></testsuites>"
    )
}

#[test]
fn attempts_that_pytest_writes_as_passed_are_none() {
    let fails = "<testcase classname='t' name='bad'/><testcase classname='t' name='bad'/>\
                 <testcase classname='t' name='bad'><failure message='assert 0'/></testcase>";
    let passes = "<testcase classname='t' name='late'/><testcase classname='t' name='late'/>";
    let (summary, _) = read_all(&pytest(1, fails));
    assert_eq!((totals(&summary), summary.tests), ([0, 1, 0, 0, 0, 0], 1));
    let reruns = &summary.reruns;
    assert!(reruns.attempts.iter().eq([&0, &1]) && reruns.passed.is_empty());
    assert_eq!(
        summary.warnings,
        [
            "2 attempts of tests that were run again, written as if passed, not counted; what \
          failed of them is left out of the report"
        ]
    );
    let both = format!("{fails}{passes}<testcase classname='t' name='good'/>");
    let (summary, _) = read_all(&pytest(3, &both));
    assert_eq!(totals(&summary), [1, 1, 0, 0, 1, 0]);
    assert!(summary.reruns.passed.iter().eq([&4]));
    // One that claims them all ran them all.
    let (summary, _) = read_all(&pytest(6, &both));
    assert_eq!(totals(&summary), [5, 1, 0, 0, 0, 0]);
    assert_eq!(summary.reruns, UnmarkedReruns::default()); // A tear-down that failed after its test did is written beside it, and one after a test
    // that passed is counted beside that.
    let torn = "<testcase classname='t' name='bad'/><testcase classname='t' name='bad'>\
                <failure message='assert 0'/></testcase><testcase classname='t' name='bad'>\
                <error message='failed on teardown'/></testcase><testcase classname='t' \
                name='end'><error message='failed on teardown'/></testcase>";
    let (summary, _) = read_all(&pytest(2, torn));
    assert_eq!(totals(&summary), [0, 1, 2, 0, 0, 0]);
    assert!(summary.reruns.attempts.iter().eq([&0]));
}

#[test]
fn what_is_still_to_do_may_fail() {
    let cases = "<testcase name='a' classname='test'><skipped type='todo' message='true'/><failure \
                 type='testCodeFailure' message='not yet'/></testcase><testcase name='b' \
                 classname='test'/>";
    let (summary, _) = read_all(&suite(cases));
    assert_eq!(totals(&summary), [1, 0, 0, 1, 0, 0]);
}

#[test]
fn a_case_that_is_said_not_to_have_ended_did_not_pass() {
    let (summary, cases) = read_all(
        "<testsuites tests='1' failures='1' name='AllTests'><testsuite name='S' tests='1' \
         failures='1'><testcase name='a' status='run' result='interrupted' classname='S'/>\
         </testsuite></testsuites>",
    );
    assert_eq!(totals(&summary), [0, 1, 0, 0, 0, 0]);
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    let said = |failure: &jelly_base::model::Failure| failure.message.clone().unwrap_or_default();
    assert!(said(&cases[0].failures[0]).starts_with("interrupted: "));
    let (summary, cases) = read_all(
        "<TestRun><Results><UnitTestResult testName='a' outcome='Aborted'/>\
         <UnitTestResult testName='b' outcome='Timeout'/>\
         <UnitTestResult testName='c' outcome='Timeout'><Output><ErrorInfo>\
         <Message>Test 'c' exceeded execution timeout</Message></ErrorInfo></Output>\
         </UnitTestResult></Results></TestRun>",
    );
    assert_eq!(totals(&summary), [0, 0, 3, 0, 0, 0]);
    let (summary, _) = read_all(
        "<TestRun><Results><UnitTestResult testName='a' outcome='Passed'/>\
         <UnitTestResult testName='b' outcome='InProgress'/></Results></TestRun>",
    );
    assert_eq!(totals(&summary), [1, 0, 1, 0, 0, 0]);
    let all: Vec<String> = cases.iter().map(|case| said(&case.failures[0])).collect();
    assert!(
        all[0].starts_with("aborted: the test process died"),
        "{all:?}"
    );
    assert_eq!(
        all[1..],
        ["the test timed out", "Test 'c' exceeded execution timeout"]
    );
}

#[test]
fn a_suite_of_meson_that_was_given_up_failed() {
    let of = |output: &str| {
        let text = format!(
            "<testsuites tests='1' errors='0' failures='0'><testsuite name='p.tap' tests='1' \
             errors='0' failures='0' skipped='0' time='1'><testcase name='1 a' classname='p.tap'/>\
             <system-out>1..3\nok 1 a\n{output}</system-out></testsuite></testsuites>"
        );
        read_all(&text)
    };
    let (summary, cases) = of("Bail out! no disk");
    assert_eq!(summary.dialect, "meson");
    assert_eq!(totals(&summary), [1, 0, 0, 0, 0, 1]);
    let failed = cases.iter().find(|case| !case.failures.is_empty()).unwrap();
    assert_eq!(
        failed.failures[0].message.as_deref(),
        Some("Bail out! no disk")
    );
    assert_eq!(
        totals(&of("# Bail out! is no line of it").0),
        [1, 0, 0, 0, 0, 0]
    );
}

#[test]
fn tests_without_a_result_that_a_summary_counts_as_passed_are_no_green() {
    let of = |summary: &str| {
        let text = format!(
            "{{\"reportFormat\":\"CTRF\",\"results\":{{\"tool\":{{\"name\":\"x\"}},\
             \"summary\":{{{summary}}},\"tests\":[{{\"name\":\"a\",\"status\":\"passed\"}},\
             {{\"name\":\"b\",\"status\":\"other\"}}]}}}}"
        );
        read_all(&text).0.problem
    };
    let problem = of("\"tests\":2,\"passed\":2,\"failed\":0,\"other\":0").unwrap();
    assert!(problem.contains("counts 2 tests as passed"), "{problem}");
    assert_eq!(
        of("\"tests\":2,\"passed\":1,\"failed\":0,\"other\":1"),
        None
    );
    assert_eq!(of(""), None);
}

#[test]
fn what_testng_counts_and_does_not_show_is_warned_of() {
    let of = |counts: &str| {
        let text = format!(
            "<testng-results {counts}><suite name='s'><test name='t'><class name='C'>\
             <test-method status='PASS' name='a'/></class></test></suite></testng-results>"
        );
        read_all(&text).0.warnings
    };
    assert!(of("total='3' passed='1'")[0].contains("claims 3 tests"));
    assert_eq!(of("ignored='2' total='3' passed='1'"), [""; 0]);
    assert_eq!(of("passed='1'"), [""; 0]);
}

#[test]
fn what_no_word_of_a_report_calls_passed_did_not_pass() {
    let (summary, _) = read_all(&suite(
        "<testcase name='a' status='failed'/><testcase name='b' result='error'/>\
         <testcase name='c' status='timeout'/><testcase name='d' status='run' result='completed'/>\
         <testcase name='e' status='failed'><failure/></testcase>\
         <testcase name='f' status='failed'><skipped/></testcase>",
    ));
    assert_eq!((summary.failed, summary.passed, summary.skipped), (4, 1, 1));
    let claimed = "<testsuite name='s' tests='1' failures='1'><testcase name='a' status='failed'/></testsuite>";
    let (summary, _) = read_all(claimed);
    assert_eq!((summary.failed, summary.errors), (1, 0));
    for outcome in ["", "outcome='Running'"] {
        let trx = format!(
            "<TestRun><Results><UnitTestResult testName='A' {outcome}/></Results></TestRun>"
        );
        let (summary, _) = read_all(&trx);
        assert_eq!((summary.passed, summary.failed), (0, 1), "{outcome}");
    }
    let not_run = "<assemblies><assembly name='a.dll'><collection name='c'>\
                   <test name='N.A.x' type='N.A' method='x' result='NotRun'/></collection></assembly></assemblies>";
    let (summary, _) = read_all(not_run);
    assert_eq!((summary.passed, summary.skipped), (0, 1));
}

#[test]
fn a_run_of_go_whose_last_line_is_torn_is_cut_off() {
    let whole = "{\"Action\":\"run\",\"Package\":\"a\",\"Test\":\"TestA\"}\n\
                 {\"Action\":\"pass\",\"Package\":\"a\",\"Test\":\"TestA\",\"Elapsed\":0}\n\
                 {\"Action\":\"pass\",\"Package\":\"a\",\"Elapsed\":0}\n";
    assert_eq!(read_all(whole).0.problem, None);
    let printed = format!("{whole}{{ a line of a program\n");
    assert_eq!(read_all(&printed).0.problem, None);
    let torn = format!("{whole}{{\"Time\":\"2026-11-30T0");
    let problem = read_all(&torn).0.problem.unwrap();
    assert!(problem.contains("its last line is not whole"), "{problem}");
}
