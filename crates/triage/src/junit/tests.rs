//! The reader as a whole, on reports small enough to be read here.

use super::{Case, CaseOutcome, CaseSink, ReaderLimits, read};
use crate::frameworks::example::ReportExample;
use jelly_base::model::{Failure, ReportSummary};
use proptest::prelude::*;
use std::io::{BufRead, BufReader, Read};

/// A case with all that a [`Case`] borrows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kept {
    ordinal: u64,
    pub(super) suite: String,
    classname: String,
    pub(super) name: String,
    file: Option<String>,
    line: Option<u64>,
    pub(super) outcome: CaseOutcome,
    pub(super) failures: Vec<Failure>,
}

#[derive(Default)]
struct All {
    cases: Vec<Kept>,
    turned: Vec<u64>,
}

impl CaseSink for All {
    fn case(&mut self, case: &Case<'_>) {
        self.cases.push(Kept {
            ordinal: case.ordinal,
            suite: case.suite.to_owned(),
            classname: case.classname.to_owned(),
            name: case.name.to_owned(),
            file: case.file.map(str::to_owned),
            line: case.line,
            outcome: case.outcome,
            failures: case.failures.to_vec(),
        });
    }

    fn turned_flaky(&mut self, ordinal: u64) {
        self.turned.push(ordinal);
    }
}

pub(super) fn read_from(
    input: &mut dyn BufRead,
    limits: &ReaderLimits,
) -> (ReportSummary, Vec<Kept>) {
    let mut all = All::default();
    let summary = read(input, "report.xml", limits, &mut all);
    all.cases.sort_by_key(|case| case.ordinal);
    for ordinal in all.turned {
        let case = all.cases.iter_mut().find(|case| case.ordinal == ordinal);
        case.unwrap().outcome = CaseOutcome::Flaky;
    }
    (summary, all.cases)
}

pub(super) fn read_all(xml: &str) -> (ReportSummary, Vec<Kept>) {
    let (summary, cases) = read_from(&mut xml.as_bytes(), &ReaderLimits::default());
    let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count() as u64;
    let late = summary.reruns.passed.len() as u64;
    let not_first = summary.reruns.attempts.len() as u64 + late;
    assert_eq!(
        summary.flaky,
        count(CaseOutcome::Flaky) + late,
        "{summary:?}"
    );
    assert_eq!(
        summary.passed + not_first,
        count(CaseOutcome::Passed),
        "{summary:?}"
    );
    (summary, cases)
}

/// The failure of a report that has one case with one failure.
fn only(xml: &str) -> Failure {
    let (_, cases) = read_all(xml);
    let [case] = cases.as_slice() else {
        panic!("{cases:?}")
    };
    let [failure] = case.failures.as_slice() else {
        panic!("{case:?}")
    };
    failure.clone()
}

pub(super) fn suite(inner: &str) -> String {
    format!("<testsuite name='s'>{inner}</testsuite>")
}

#[test]
fn the_file_of_an_empty_root_suite_is_that_of_its_siblings() {
    let case = "<testcase name='a works' classname='works'><failure message='no'/></testcase>";
    let (_, cases) = read_all(&format!(
        "<testsuites name='Mocha Tests'>
           <testsuite name='Root Suite' file='cypress/e2e/a.cy.js' tests='0'/>
           <testsuite name='a'>{case}</testsuite>
           <testsuite name='b' file='own.js'>{case}</testsuite>
           <testsuite name='Root Suite' tests='0'/>
           <testsuite name='c'>{case}</testsuite>
         </testsuites>"
    ));
    let files: Vec<Option<&str>> = cases.iter().map(|case| case.file.as_deref()).collect();
    assert_eq!(files, [Some("cypress/e2e/a.cy.js"), Some("own.js"), None]);
}

#[test]
fn a_case_is_handed_on_with_everything_that_is_said_of_it() {
    let (summary, cases) = read_all(
        "<testsuites time='2.5'><testsuite name='outer' file='o.js'><testsuite name='inner'>
           <testcase classname='c' name='n' file='a.py' line='7' time='1'>
             <failure type='E' message='a &amp; b'>t&lt;<![CDATA[<x>]]></failure>
             <system-out>out</system-out><system-out>more</system-out>
             <system-err>err</system-err>
           </testcase>
           <testcase name='m'/>
         </testsuite></testsuite></testsuites>",
    );
    let [failed, passed] = cases.as_slice() else {
        panic!("{cases:?}")
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        failed.failures,
        [Failure {
            dialect: text("junit"),
            element: text("failure"),
            suite: text("outer > inner"),
            classname: text("c"),
            name: text("n"),
            type_: text("E"),
            message: text("a & b"),
            text: text("t<<x>"),
            system_out: text("out\nmore"),
            system_err: text("err"),
            file: text("a.py"),
            line: Some(7),
            ..Failure::default()
        }]
    );
    assert_eq!(
        (failed.file.as_deref(), failed.line),
        (Some("a.py"), Some(7))
    );
    assert_eq!((passed.ordinal, passed.outcome), (1, CaseOutcome::Passed));
    assert_eq!(summary.duration_s, Some(2.5));
    assert_eq!((summary.problem, summary.warnings.len()), (None, 0));
}

#[test]
fn a_failure_without_text_type_or_message_is_one_all_the_same() {
    let failure = only(&suite("<testcase name='n'><failure/></testcase>"));
    assert_eq!(
        (failure.message, failure.text, failure.type_),
        (None, None, None)
    );
}

#[test]
fn flaky_and_rerun_elements_tell_how_a_case_ended() {
    let (summary, cases) = read_all(&suite(
        "<testcase name='a'><flakyFailure message='m' type='T'><stackTrace>st</stackTrace>\
         <system-err>e</system-err></flakyFailure></testcase>\
         <testcase name='b'><failure message='m'/><rerunFailure message='m'/>\
         <rerunError message='other'/></testcase>\
         <testcase name='c'><rerunFailure message='m'/></testcase>",
    ));
    assert_eq!((summary.flaky, summary.failed), (1, 2));
    assert_eq!(cases[0].failures[0].text.as_deref(), Some("st"));
    assert_eq!(cases[0].failures[0].system_err.as_deref(), Some("e"));
    // The attempt that says the same again is no news.
    let messages: Vec<_> = cases[1]
        .failures
        .iter()
        .map(|f| f.message.clone())
        .collect();
    assert_eq!(messages, [Some("m".to_owned()), Some("other".to_owned())]);
}

#[test]
fn what_did_not_run_is_skipped_however_it_is_said() {
    let (summary, _) = read_all(&suite(
        "<testcase name='a'><skipped/></testcase><testcase name='b' status='notrun'/>\
         <testcase name='c' status='run' result='suppressed'/><testcase name='d' status='run'/>",
    ));
    assert_eq!((summary.skipped, summary.passed), (3, 1));
    assert_eq!(summary.elements.skipped, 1);
}

#[test]
fn a_suite_that_failed_without_a_case_is_a_failure_of_its_own() {
    let failure =
        only("<testsuites errors='1'><testsuite name='pkg' errors='1' tests='0'/></testsuites>");
    assert_eq!(failure.name.as_deref(), Some("pkg"));
    assert!(failure.message.unwrap().contains("reports 1 error, and"));
    let failure = only("<testsuites errors='1'></testsuites>");
    assert_eq!(failure.name.as_deref(), Some("(run)"));
    let (summary, cases) = read_all(&suite("<error message='no'/><testcase name='n'/>"));
    assert_eq!(
        (summary.tests, summary.suite_errors, summary.passed),
        (1, 1, 1)
    );
    assert_eq!(cases[0].failures[0].message.as_deref(), Some("no"));
}

#[test]
fn the_output_of_a_suite_goes_to_its_failing_cases_that_have_none() {
    let (_, cases) = read_all(
        "<testsuites><testsuite name='a'><testcase name='n'><failure/></testcase>\
         <testcase name='m'><failure/><system-out>mine</system-out></testcase>\
         <system-err>refused</system-err></testsuite>\
         <testsuite name='b'><testcase name='o'><failure/></testcase></testsuite></testsuites>",
    );
    let err = |at: usize| cases[at].failures[0].system_err.as_deref();
    assert_eq!([err(0), err(1), err(2)], [Some("refused"), None, None]);
}

#[test]
fn a_report_that_is_cut_off_says_where_and_hands_on_what_was_before() {
    let whole = suite("<testcase name='a'><failure>t</failure></testcase>\n<testcase name='b'/>");
    for cut in 1..whole.len() - 1 {
        let (summary, cases) = read_from(&mut &whole.as_bytes()[..cut], &ReaderLimits::default());
        assert!(summary.problem.is_some(), "{}", &whole[..cut]);
        assert!(cases.len() <= 2);
    }
    let (summary, _) = read_all("<testsuite name='s'>\n<testcase name='a'>\n<failure>");
    let problem = summary.problem.unwrap();
    assert!(
        problem.contains("within `<failure>`, in line 3"),
        "{problem}"
    );
    assert_eq!(summary.failed, 1);
}

#[test]
fn a_suite_that_recovered_is_no_failure() {
    let (summary, cases) = read_all(&suite("<flakyError message='m'/><testcase name='a'/>"));
    assert_eq!(
        (summary.suite_errors, summary.flaky, cases.len()),
        (0, 0, 1)
    );
    let (summary, _) = read_all(&suite("<rerunError message='m'/><testcase name='a'/>"));
    assert_eq!(summary.suite_errors, 1);
}

#[test]
fn a_test_that_is_named_as_its_failed_suite_makes_it_no_flaky_one() {
    for inner in [
        "<failure message='m'/><testcase name='s'/>",
        "<testcase name='a'><failure/></testcase><failure message='m'/><testcase name='s'/>",
    ] {
        let (summary, _) = read_all(&suite(inner));
        let failed = u64::from(inner.contains("'a'"));
        assert_eq!(totals(&summary), [1, failed, 0, 0, 0, 1]);
    }
}

#[test]
fn quotation_marks_that_node_escaped_twice_are_some() {
    let report = |type_: &str| {
        format!(
            "<testsuites><testcase name='reads &amp;quot;a&amp;quot; &amp; b' classname='test'>\
             <failure type='{type_}' message='m'/></testcase></testsuites>"
        )
    };
    let (_, cases) = read_all(&report("testCodeFailure"));
    assert_eq!(cases[0].name, "reads \"a\" & b");
    let (_, cases) = read_all(&report("AssertionError"));
    assert_eq!(cases[0].name, "reads &quot;a&quot; & b");
}

#[test]
fn a_suite_with_many_names_has_the_last_one() {
    let names = "name='long' ".repeat(1_000);
    let (_, cases) = read_all(&format!(
        "<testsuite {names} name='s'><testcase name='a'><failure/></testcase></testsuite>"
    ));
    assert_eq!(cases[0].suite, "s");
}

#[test]
fn what_is_said_of_the_bytes_does_not_depend_on_how_they_come() {
    // The parser gives up at the declaration that is none.
    let mut bytes = format!("<testsuite><!wrong>{}\u{1}", " ".repeat(10_000)).into_bytes();
    bytes.extend([0xFF; 3]);
    let whole = read_from(&mut bytes.as_slice(), &ReaderLimits::default()).0;
    let mut pieces = BufReader::with_capacity(7, bytes.as_slice());
    let cut = read_from(&mut pieces, &ReaderLimits::default()).0;
    assert_eq!(whole, cut);
    assert!(whole.warnings[0].starts_with("3 bytes that are not valid"));
    assert!(whole.warnings[1].starts_with("control characters"));
    // They are more once they are letters, so there is no byte to look at.
    let problem = whole.problem.unwrap();
    assert!(problem.ends_with("(line 1)"), "{problem}");
    bytes.truncate(bytes.len() - 3);
    let valid = read_from(&mut bytes.as_slice(), &ReaderLimits::default()).0;
    let problem = valid.problem.unwrap();
    assert!(problem.contains("(line 1; read up to byte "), "{problem}");
}

#[test]
fn what_is_said_of_a_report_is_short_and_obeyed_by_no_terminal() {
    let long = "x".repeat(10_000);
    for bytes in [
        "<testsuite></a\u{1b}[2J\u{7}\0\r\n>".to_owned(),
        format!("1..1\nok 1\nBail out! \u{1b}]0;{long}"),
        // Cut where a letter ends.
        format!("1..1\nok 1\nBail out! {}", "¥".repeat(300)),
        format!("<?xml version='1.0' encoding='\u{1b}[31m{long}'?><testsuite/>"),
        format!("{{\"results\":{{\"tool\":{{\"\u{1b}[2J{long}"),
    ] {
        let (summary, _) = read_all(&bytes);
        let said: Vec<&String> = summary.problem.iter().chain(&summary.warnings).collect();
        assert!(!said.is_empty(), "{bytes}");
        for said in said {
            assert!(said.len() <= 400, "{said}");
            assert!(!said.contains(char::is_control), "{said:?}");
        }
    }
}

#[test]
fn an_element_that_is_not_closed_ends_with_the_one_around_it() {
    let (summary, cases) = read_all(&suite(
        "<testcase name='a'><failure>x</testcase>\n<testcase name='b'></wrong></testcase>",
    ));
    assert_eq!((summary.tests, cases.len()), (2, 2));
    assert_eq!(
        summary.problem.as_deref(),
        Some("`</testcase>` in line 1 comes before the end of `<failure>`")
    );
}

#[test]
fn entities_are_neither_declared_nor_fetched() {
    let failure = only(
        "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'><!ENTITY y '&x;&x;'>]>\
         <testsuite><testcase name='n'><failure message='&y;'>&x;&lt;</failure></testcase></testsuite>",
    );
    assert_eq!(failure.message.as_deref(), Some("&y;"));
    assert_eq!(failure.text.as_deref(), Some("&x;<"));
}

#[test]
fn of_long_texts_the_head_and_the_tail_are_kept() {
    let limits = ReaderLimits::default();
    let long = format!("first {} last", "middle ".repeat(100_000));
    let failure = only(&suite(&format!(
        "<testcase name='n'><failure message='{long}'>{long}</failure></testcase>"
    )));
    for (text, limit) in [
        (failure.message, limits.message),
        (failure.text, limits.text),
    ] {
        let text = text.unwrap();
        assert!(text.len() < 2 * limit + 64);
        assert!(text.starts_with("first ") && text.ends_with(" last"));
        let said = long.len() - 2 * limit;
        assert!(
            text.contains(&format!("[… {said} bytes left out …]")),
            "{said}"
        );
    }
}

/// Totals as `passed failed errors skipped flaky of-suites`.
pub(super) fn totals(summary: &ReportSummary) -> [u64; 6] {
    [
        summary.passed,
        summary.failed,
        summary.errors,
        summary.skipped,
        summary.flaky,
        summary.suite_errors,
    ]
}

#[test]
fn results_of_visual_studio_are_read() {
    let (summary, cases) = read_all(
        "<TestRun><Results>
           <UnitTestResult testName='A.B.ok' outcome='Passed' duration='00:00:01.5'/>
           <UnitTestResult testName='A.B.rows' outcome='Failed'><InnerResults>
             <UnitTestResult testName='A.B.rows(1, 2.5)' outcome='Failed'><Output>
               <StdOut>out</StdOut><ErrorInfo>
                 <Message>  Expected: 1</Message><StackTrace>   at A.B</StackTrace>
               </ErrorInfo></Output></UnitTestResult>
           </InnerResults></UnitTestResult>
           <UnitTestResult testName='later' outcome='NotExecuted'/>
         </Results><ResultSummary outcome='Failed'><RunInfos>
           <RunInfo outcome='Error'><Text>A.B.rows(1, 2.5) [FAIL]</Text></RunInfo>
         </RunInfos></ResultSummary></TestRun>",
    );
    assert_eq!(totals(&summary), [1, 1, 0, 1, 0, 0]);
    assert_eq!(summary.dialect, "trx");
    let failed = &cases[1];
    assert_eq!((&*failed.classname, &*failed.name), ("A.B", "rows(1, 2.5)"));
    let failure = &failed.failures[0];
    assert_eq!(failure.message.as_deref(), Some("Expected: 1"));
    assert_eq!(failure.text.as_deref(), Some("at A.B"));
    assert_eq!(failure.system_out.as_deref(), Some("out"));
    let (summary, cases) = read_all(
        "<TestRun><ResultSummary outcome='Failed'><RunInfos><RunInfo outcome='Error'>\
         <Text>host process crashed</Text></RunInfo></RunInfos></ResultSummary></TestRun>",
    );
    assert_eq!(totals(&summary), [0, 0, 0, 0, 0, 1]);
    assert_eq!(
        cases[0].failures[0].text.as_deref(),
        Some("host process crashed")
    );
}

#[test]
fn results_of_nunit_and_xunit_net_are_read() {
    let (summary, cases) = read_all(
        "<test-run><test-suite name='A' site='Child'><failure><message>inside</message></failure>
           <test-case name='t' fullname='A.t' classname='A' result='Failed' label='Error'>
             <failure><message><![CDATA[m]]></message><stack-trace>s</stack-trace></failure>
           </test-case><test-case name='u' classname='A' result='Inconclusive'/>
         </test-suite><test-suite name='B' site='SetUp'><failure><message>broken</message></failure>
         </test-suite></test-run>",
    );
    assert_eq!(totals(&summary), [0, 0, 1, 1, 0, 1]);
    assert_eq!(summary.dialect, "nunit");
    assert_eq!(cases[0].failures[0].message.as_deref(), Some("m"));
    assert_eq!(cases[2].failures[0].message.as_deref(), Some("broken"));
    let (summary, cases) = read_all(
        "<assemblies><assembly name='a.dll'><errors><error name='clean'><failure exception-type='E'>
           <message>m</message></failure></error></errors><collection name='c'>
           <test name='N.C.f(x: 1)' type='N.C' result='Fail' time='0.5'>
             <failure exception-type='X'><message>n</message></failure></test>
           <test name='N.C.g' type='N.C' result='Skip'><reason>r</reason></test>
         </collection></assembly></assemblies>",
    );
    assert_eq!(totals(&summary), [0, 1, 0, 1, 0, 1]);
    assert_eq!((&*cases[1].classname, &*cases[1].name), ("N.C", "f(x: 1)"));
    assert_eq!(cases[1].failures[0].type_.as_deref(), Some("X"));
}

#[test]
fn results_of_testng_are_read() {
    let (summary, cases) = read_all(
        "<testng-results><suite name='S'><test name='T'><class name='a.B'>
           <test-method is-config='true' name='fine' status='PASS'/>
           <test-method is-config='true' name='before' status='FAIL'><exception class='E'>
             <message><![CDATA[no]]></message></exception></test-method>
           <test-method name='t' status='SKIP' duration-ms='1500'/>
         </class></test></suite></testng-results>",
    );
    assert_eq!(totals(&summary), [0, 0, 0, 1, 0, 1]);
    assert_eq!((&*cases[0].classname, &*cases[0].name), ("a.B", "before"));
    assert_eq!(cases[0].suite, "S > T > a.B");
}

#[test]
fn names_of_tap_are_without_escapes_and_times() {
    let (summary, cases) = read_all(
        "TAP version 14\n1..4\nnot ok 1 - rounds # time=88.839ms\nok 2 - inner \\#1 # time=1ms\n\
         ok 3 - costs \\\\d+ \\# time=2ms\nok 4 - c\\d # TODO # time=2ms\n",
    );
    assert_eq!(totals(&summary), [2, 1, 0, 1, 0, 0]);
    let names: Vec<&str> = cases.iter().map(|case| &*case.name).collect();
    let wanted = ["rounds", "inner #1", "costs \\d+ # time=2ms", "c\\d"];
    assert_eq!(names, wanted);
}

/// As node-tap writes files, their tests and what these assert.
#[test]
fn tests_of_tap_that_fail_by_their_parts_are_no_failures_at_any_depth() {
    let (summary, cases) = read_all(
        "TAP version 14\n1..2\n# Subtest: test/b.js\n    # Subtest: ok\n        \
         not ok 1 - numbers match\n          ---\n          compare: ===\n          ...\n        \
         1..1\n    not ok 1 - ok # time=35.934ms\n      ---\n      at: x\n      ...\n    \
         # Subtest: fine\n        ok 1 - equal\n        1..1\n    ok 2 - fine\n    \
         1..2\nnot ok 1 - test/b.js # time=400.1ms\n  ---\n  exitCode: 1\n  ...\nok 2 - c\n",
    );
    assert_eq!(totals(&summary), [2, 1, 0, 0, 0, 0]);
    assert_eq!(summary.problem, None);
    assert_eq!(cases[0].name, "numbers match");
    let suites: Vec<&str> = cases.iter().map(|case| &*case.suite).collect();
    assert_eq!(suites, ["test/b.js > ok", "test/b.js > fine", ""]);
    let text = cases[0].failures[0].text.as_deref().unwrap();
    assert!(!text.contains("exitCode"), "{text}");
    // Of one that no line announces, nothing is known.
    let (_, cases) = read_all(
        "TAP version 14\n# Subtest: a\n    ok 1 - in a\n    1..1\nok 1 - a\nok 2 - b {\n    \
         ok 1 - in b\n    1..1\n}\n1..2\n",
    );
    let suites: Vec<(&str, &str)> = cases.iter().map(|c| (&*c.suite, &*c.name)).collect();
    assert!(
        suites.contains(&("a", "in a")) && suites.contains(&("", "in b")),
        "{suites:?}"
    );
}

/// Node names a test before it runs it.
#[test]
fn the_name_of_the_next_test_is_said_of_no_failure() {
    let (_, cases) = read_all(
        "TAP version 13\n# Subtest: sums\nnot ok 1 - sums\n  ---\n  error: 'something odd'\n  ...\n\
         # Subtest: connect ECONNREFUSED 127.0.0.1:5432 is shown\nok 2 - connect ECONNREFUSED \
         127.0.0.1:5432 is shown\n1..2\n",
    );
    let text = cases[0].failures[0].text.as_deref().unwrap();
    assert!(
        text.contains("something odd") && !text.contains("ECONNREFUSED"),
        "{text}"
    );
}

/// What one file prints after its tests, and the next one before them, is said of
/// none of them.
#[test]
fn files_that_prove_shows_are_read_apart() {
    let (summary, cases) = read_all(
        "t/a.t .. \n1..2\nok 1 - fine\nnot ok 2 - sum\n# got: '3'\n\
         Dubious, test returned 1 (wstat 256, 0x100)\nFailed 1/2 subtests \n\
         connect to db:5432: Connection refused at t/b.t line 2.\n\
         t/b.t .. \n1..1\nok 1 - fine\nok\n\nTest Summary Report\n",
    );
    assert_eq!(totals(&summary), [2, 1, 0, 0, 0, 0]);
    assert_eq!(summary.problem, None);
    let text = cases[1].failures[0].text.as_deref();
    assert_eq!(text, Some("got: '3'"));
    // A file that ended otherwise than by its tests is a failure of its own.
    let (summary, cases) = read_all(
        "t/a.t .. \n1..1\nok 1 - fine\nok\nt/b.t .. \nDubious, test returned 2 (wstat 512, 0x200)\n\
         No subtests run \n\nResult: FAIL\n",
    );
    assert_eq!(totals(&summary), [1, 1, 0, 0, 0, 0]);
    assert_eq!(cases[1].name, "t/b.t");
    let (summary, _) = read_all("t/a.t .. \n1..1\nok 1 - fine\nok\nResult: FAIL\n");
    assert!(
        summary
            .problem
            .unwrap()
            .contains("prove says that it failed")
    );
    // Subtests of one file sum up nothing of the next.
    let (summary, _) = read_all(
        "t/a.t .. \n    not ok 1 - connect\nDubious, test returned 255 (wstat 65280, 0xff00)\n\
         t/b.t .. \n1..1\nnot ok 1 - totals\nDubious, test returned 1 (wstat 256, 0x100)\n",
    );
    assert_eq!(totals(&summary)[1], 3);
    // Of one that a signal ended prove says that all had passed.
    let (summary, cases) = read_all(
        "t/a.t .. \n1..3\nok 1\nok 2\nAll 2 subtests passed \nt/my b.t .. \nConnection refused\n\
         Dubious, test returned 2 (wstat 512, 0x200)\nNo subtests run \nResult: FAIL\n",
    );
    assert_eq!(totals(&summary)[1], 2);
    assert_eq!(cases[2].name, "t/a.t");
    assert_eq!(cases[3].name, "t/my b.t");
    let text = cases[3].failures[0].text.as_deref().unwrap();
    assert!(text.contains("Connection refused"), "{text}");
    // Node ends with 1 for whatever number.
    let (summary, _) = read_all(
        "t/a.js .. \nnot ok 1 - a\nnot ok 2 - b\n1..2\nDubious, test returned 1 (wstat 256, 0x100)\n",
    );
    assert_eq!(totals(&summary)[1], 2);
    // A line with dots is no file.
    let (_, cases) = read_all("1..1\nnot ok 1 - b\nconfig.yml ...\n# connect ECONNREFUSED\n");
    let text = cases[0].failures[0].text.as_deref();
    assert!(text.is_some_and(|text| text.contains("ECONNREFUSED")));
}

#[test]
fn lines_of_tap_are_read() {
    let (summary, cases) = read_all(
        "TAP version 14\n1..5\nok 1 - a\nnot ok 2 - b\n  ---\n  message: 'm'\n  at: x.js\n  ...\n\
         # diagnostic\nnot ok 3 - c # TODO later\nok 4 # SKIP no\n\
         # Subtest: d\n    ok 1 - inner\n    not ok 2 - other\n    1..2\nnot ok 5 - d\n",
    );
    assert_eq!(totals(&summary), [2, 2, 0, 2, 0, 0]);
    assert_eq!((summary.dialect.as_str(), &summary.problem), ("tap", &None));
    assert_eq!(cases[1].failures[0].message.as_deref(), Some("m"));
    let text = cases[1].failures[0].text.as_deref().unwrap();
    assert!(
        text.contains("at: x.js") && text.contains("diagnostic"),
        "{text}"
    );
    let (summary, _) = read_all("1..3\nok 1\nBail out! no database\n");
    assert!(summary.problem.unwrap().contains("no database"));
    let (summary, _) = read_all("1..3\nok 1\n");
    assert!(summary.problem.unwrap().contains("3 tests were planned"));
    let (summary, _) = read_all("1..1\nok 1\nok 2\n");
    let problem = summary.problem.unwrap();
    assert!(
        problem.contains("1 test was planned, and 2 written"),
        "{problem}"
    );
}

#[test]
fn tap_of_bats_is_known_by_where_its_tests_stand() {
    for said in [
        "# (in test file ./b.bats, line 2)\n#   `false' failed\n",
        "# (from function `go' in file h.bash, line 1,\n#  in test file ./b.bats, line 2)\n",
    ] {
        let (summary, cases) = read_all(&format!("1..1\nnot ok 1 ok\n{said}"));
        assert_eq!(summary.dialect, "bats", "{said}");
        assert_eq!(cases[0].failures[0].dialect.as_deref(), Some("bats"));
    }
}

#[test]
fn events_of_go_test_are_read() {
    let (summary, cases) = read_all(
        r#"{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: got 1\n"}
{"Action":"fail","Package":"p","Test":"TestA","Elapsed":0.5}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p","Test":"TestB","Elapsed":0}
{"Action":"fail","Package":"p","Elapsed":0.6}
{"ImportPath":"q","Action":"build-output","Output":"q.go:1: undefined: x\n"}
{"Action":"fail","Package":"q"}
"#,
    );
    assert_eq!(totals(&summary), [1, 1, 0, 0, 0, 1]);
    assert_eq!(
        (summary.dialect.as_str(), &summary.problem),
        ("go-test", &None)
    );
    assert_eq!(
        cases[0].failures[0].text.as_deref(),
        Some("    a_test.go:3: got 1")
    );
    assert_eq!(cases[0].classname, "p");
    assert_eq!(
        cases[2].failures[0].text.as_deref(),
        Some("q.go:1: undefined: x")
    );
    let (summary, _) = read_all(r#"{"Action":"run","Package":"p","Test":"TestA"}"#);
    assert!(summary.problem.unwrap().contains("did not end"));
}

#[test]
fn of_a_run_only_the_last_attempt_of_a_test_is_its_failure() {
    let report = |writer: &str| {
        format!(
            "<testsuites name='{writer}'><testsuite name='s'>\
             <testcase name='fails'><failure message='now'/><rerunFailure message='first'/>\
             <rerunError message='second'/></testcase>\
             <testcase name='passes'><flakyFailure message='first'/><flakyError message='last'/>\
             </testcase></testsuite></testsuites>"
        )
    };
    let said = |writer: &str| {
        let (summary, cases) = read_all(&report(writer));
        assert_eq!((summary.failed, summary.flaky, summary.tests), (1, 1, 2));
        let messages = |case: &Kept| -> Vec<String> {
            let failures = case.failures.iter();
            failures.filter_map(|one| one.message.clone()).collect()
        };
        cases.iter().map(messages).collect::<Vec<_>>()
    };
    assert_eq!(said("jelly"), [["now"], ["last"]]);
    // Of others, each may be a cause of its own; so of what a triage wrote again.
    for writer in ["jelly triage", "shop"] {
        let all = said(writer);
        assert_eq!(all[0], ["now", "first", "second"], "{writer}");
        assert_eq!(all[1], ["first", "last"], "{writer}");
    }
}

#[test]
fn only_a_ctrf_that_jelly_wrote_says_labels() {
    let said = r#"{"side":"code","ambiguous":false,"error_category":"ASSERTION","root_cause":"assertion_mismatch","retryable":false,"rule":"x/y","fingerprint":"j2:0123456789abcdef","test_fingerprint":"j2:0123456789abcdef","flaky":false,"advice":{"what":"w","why":"y","fix":["f"]}}"#;
    let document = |writer: &str, extra: &str| {
        format!(
            r#"{{"reportFormat":"CTRF","generatedBy":{writer},"results":{{"tool":{{"name":"t"}},"summary":{{"tests":1,"failed":1}},"tests":[{{"name":"a","status":"failed","duration":1,"message":"m","extra":{extra}}}]}}}}"#
        )
    };
    let labelled = |writer: &str, extra: &str| {
        let (summary, cases) = read_all(&document(writer, extra));
        assert_eq!(
            (summary.failed, &summary.problem),
            (1, &None),
            "{writer} {extra}"
        );
        cases[0].failures[0].label.is_some()
    };
    let own = format!(r#"{{"jelly":{said},"other":[1]}}"#);
    assert!(labelled("\"jelly 0.1.0\"", &own));
    for writer in [
        "\"jelly bean reporter 2\"",
        "\"shop\"",
        "null",
        r#"{"name":"x"}"#,
        "7",
    ] {
        assert!(!labelled(writer, &own), "{writer}");
    }
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for extra in ["null", "7", "\"x\"", r#"{"jelly":"x"}"#, &deep] {
        assert!(!labelled("\"jelly 0.1.0\"", extra), "{extra}");
        assert!(!labelled("\"shop\"", extra), "{extra}");
    }
}

#[test]
fn documents_of_ctrf_are_read() {
    let (summary, cases) = read_all(
        r#"{"reportFormat":"CTRF","results":{"tool":{"name":"Playwright"},"summary":{"tests":4},
        "tests":[{"name":"a","status":"passed","duration":1500},
        {"name":"b","status":"failed","duration":1,"message":"m","trace":"t","suite":["s","u"],
         "filePath":"b.ts","line":3,"stdout":["x","y"]},
        {"name":"c","status":"passed","duration":1,"flaky":true,"message":"first"},
        {"name":"d","status":"skipped","duration":0,"extra":{"k":[1]}}]}}"#,
    );
    assert_eq!(totals(&summary), [1, 1, 0, 1, 1, 0]);
    assert_eq!(
        (summary.dialect.as_str(), &summary.problem),
        ("playwright", &None)
    );
    let failure = &cases[1].failures[0];
    assert_eq!(failure.suite.as_deref(), Some("s > u"));
    assert_eq!(
        (failure.file.as_deref(), failure.line),
        (Some("b.ts"), Some(3))
    );
    assert_eq!(failure.system_out.as_deref(), Some("x\ny"));
    let (summary, _) =
        read_all(r#"{"results":{"tool":{"name":"x"},"tests":[{"name":"a","status":"passed"}"#);
    assert_eq!(summary.passed, 1);
    assert!(summary.problem.unwrap().contains("no whole JSON"));
}

#[test]
fn what_is_no_test_report_is_named() {
    for (begin, word) in [
        ("TN:\nSF:a.c\n", "LCOV"),
        (
            "<coverage line-rate='1'><packages/></coverage>",
            "Cobertura",
        ),
        ("<!DOCTYPE html><html><body></body></html>", "browser"),
        ("<robot><suite/></robot>", "rebot --xunit"),
        (
            "{\"version\":\"2.1.0\",\"$schema\":\"sarif\",\"runs\":[]}",
            "SARIF",
        ),
        ("{\"numTotalTests\":1}", "jest-junit"),
        ("[1]", "unknown kind"),
        ("[true]", "unknown kind"),
        ("[mcp_servers.a]\ncommand = \"python3\"\n", "TOML"),
    ] {
        let problem = read_all(begin).0.problem.unwrap();
        assert!(problem.contains(word), "{problem}");
    }
}

/// `times` times the same bytes, without holding them.
fn repeated(bytes: &'static [u8], times: u64) -> impl BufRead {
    struct Again(&'static [u8], usize);
    impl Read for Again {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let from = &self.0[self.1..];
            let count = from.len().min(out.len());
            out[..count].copy_from_slice(&from[..count]);
            self.1 = (self.1 + count) % self.0.len();
            Ok(count)
        }
    }
    BufReader::new(Again(bytes, 0).take(bytes.len() as u64 * times))
}

#[test]
fn nothing_hostile_takes_time_or_memory() {
    let around = |begin: &'static str, bytes: &'static [u8], times, end: &'static str| {
        let mut input = begin
            .as_bytes()
            .chain(repeated(bytes, times))
            .chain(end.as_bytes());
        let (summary, cases) = read_from(&mut input, &ReaderLimits::default());
        let kept = cases.iter().flat_map(|case| &case.failures);
        let size = kept
            .map(|f| f.text.as_ref().map_or(0, String::len))
            .sum::<usize>();
        assert!(size < 100_000, "{size}");
        summary
    };
    let begin = "<testsuite><testcase name='n'><failure>";
    let end = "</failure></testcase></testsuite>";
    for bytes in [
        &b"text "[..],
        b"&amp;",
        b"<![CDATA[]]]]>",
        b"<b/>",
        b"& &",
        b"\xFF",
    ] {
        assert_eq!(around(begin, bytes, 100_000, end).failed, 1);
    }
    let deep = around("", b"<testsuite name='s'>", 10_000, "");
    assert!(deep.problem.unwrap().contains("more than 1000 elements"));
    let wide = around(
        "<testsuite><testcase name='n' ",
        b"a='b' ",
        500_000,
        "/></testsuite>",
    );
    assert_eq!((wide.tests, wide.problem), (1, None));
    let ends = around("<testsuite>", b"</testcase></x>", 100_000, "</testsuite>");
    assert!(ends.problem.is_some());
    let suites = around(
        "<testsuites>",
        b"<testsuite errors='1'/>",
        10_000,
        "</testsuites>",
    );
    assert_eq!(suites.suite_errors, 10_000);
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("<testsuite name='s' errors='1'>".to_owned()),
        Just("</testsuite>".to_owned()),
        Just("<testcase name='n' classname='c'>".to_owned()),
        "<testcase name='[a-cs]'/>",
        Just("</testcase>".to_owned()),
        "<(failure|error|skipped|flakyError|rerunFailure|system-out)( message='[x&;<é]{0,200}')?/?>",
        "</(failure|error|skipped|flakyError|rerunFailure|system-out)>",
        "[ a-z&;\r\n\u{1b}é]{0,300}",
        "<!\\[CDATA\\[[ \\]>é]{0,300}\\]\\]>",
        "<!--[ a-z>é]{0,300}-->",
        Just("&#0;&lt;".to_owned()),
        Just("<!DOCTYPE x [<!ENTITY y 'z'>]>".to_owned()),
    ]
}

/// A case that any parser takes.
fn whole_case() -> impl Strategy<Value = String> {
    prop_oneof![
        "<testcase name='[a-c é]{0,5}'/>",
        "<testcase name='[a-c]'><(failure|error|flakyError) message='[a-z ]{0,9}'/></testcase>",
        "<testcase name=\"[a-c']\"><failure>[a-z ]{0,20}&lt;</failure><system-out><!\\[CDATA\\[[<a>]{0,9}\\]\\]></system-out></testcase>",
        "<testcase name='[a-c]'><!--[a-z>]{0,9}--><skipped/></testcase>",
    ]
}

/// So that random reports go over all of them.
fn small() -> ReaderLimits {
    ReaderLimits {
        text: 40,
        message: 20,
        output: 30,
        name: 10,
        token: 100,
        depth: 12,
        failures_per_case: 2,
        held: 2_000,
        identities: 8,
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let (summary, _) = read_from(&mut bytes.as_slice(), &small());
        prop_assert!(summary.problem.is_some());
    }

    #[test]
    fn any_report_adds_up(pieces in prop::collection::vec(piece(), 0..40), buffer in 1_usize..200) {
        let xml = pieces.concat();
        let whole = read_from(&mut xml.as_bytes(), &small());
        let (summary, cases) = &whole;
        let sum = summary.passed + summary.failed + summary.errors + summary.skipped + summary.flaky;
        prop_assert_eq!(summary.tests, sum);
        prop_assert_eq!(summary.tests, summary.elements.cases);
        prop_assert_eq!(cases.len() as u64, summary.tests + summary.suite_errors);
        let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count() as u64;
        prop_assert_eq!(summary.flaky, count(CaseOutcome::Flaky));
        prop_assert_eq!(summary.skipped, count(CaseOutcome::Skipped));
        let failing = summary.failed + summary.errors + summary.suite_errors;
        prop_assert_eq!(failing, count(CaseOutcome::Failed) + count(CaseOutcome::Error));
        for (ordinal, case) in cases.iter().enumerate() {
            prop_assert_eq!(case.ordinal, ordinal as u64);
            let fine = matches!(case.outcome, CaseOutcome::Passed | CaseOutcome::Skipped);
            prop_assert_eq!(fine, case.failures.is_empty());
            for failure in &case.failures {
                prop_assert!(failure.text.as_ref().is_none_or(|text| text.len() < 160));
                prop_assert!(failure.message.as_ref().is_none_or(|text| text.len() < 120));
            }
        }
        let mut cut = BufReader::with_capacity(buffer, xml.as_bytes());
        let (cut_summary, cut_cases) = read_from(&mut cut, &small());
        prop_assert_eq!(&cut_summary, summary);
        for (cut, whole) in cut_cases.iter().zip(cases) {
            prop_assert_eq!(cut, whole);
        }
    }

    #[test]
    fn a_report_that_was_cut_off_is_never_whole(
        cases in prop::collection::vec((whole_case(), any::<bool>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let inner: String = cases
            .into_iter()
            .map(|(case, alone)| if alone { case } else { suite(&case) })
            .collect();
        let xml = format!("<testsuites>{inner}</testsuites>");
        prop_assert_eq!(read_all(&xml).0.problem, None);
        let cut = xml.floor_char_boundary(cut.index(xml.len()));
        prop_assert!(read_all(&xml[..cut]).0.problem.is_some(), "{}", &xml[..cut]);
    }
}

#[test]
fn a_writer_is_known_by_what_its_framework_s_file_shows() {
    for ReportExample { writer, report } in crate::frameworks::EXAMPLES.1 {
        assert_eq!(read_all(report).0.dialect, *writer, "{report}");
    }
}
