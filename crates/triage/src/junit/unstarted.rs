//! Tests that were never started, since the set-up of their suite failed or their
//! program is missing: some writers call them skipped, and write nothing of why.

use super::around::{SUITES, UnstartedSuite};
use super::attributes::{Tag, each, set};
use super::case::CaseOutcome;
use super::machine::Machine;
use super::open::OpenSuite;
use crate::frameworks::is_odd;
use crate::frameworks::spec::Oddity;
use jelly_base::model::Failure;

impl Machine<'_> {
    /// The innermost case was skipped. What CTest could not run is no such
    /// case: there `ctest` itself fails.
    pub(super) fn skip_case(&mut self, tag: &Tag<'_>) {
        let not_run_fails = is_odd(self.dialect_name(), Oddity::NotRunFails);
        let limit = self.limits.message;
        let Some(case) = self.case() else { return };
        case.skipped = true;
        if !(not_run_fails && case.status_notrun) {
            return;
        }
        let mut reason = String::new();
        each(tag, |name, value| {
            if name == "message" {
                set(&mut reason, &value, limit);
            }
        });
        // Tests that skip themselves are told by `SKIP_RETURN_CODE` and the
        // like.
        if !reason.is_empty() && reason != "Disabled" && !reason.starts_with("SKIP_") {
            case.error = true;
            case.failures.push(Failure {
                element: Some("error".to_owned()),
                message: Some(reason),
                ..Failure::default()
            });
        }
    }

    /// A case ends.
    pub(super) fn note_unstarted(&mut self, index: usize, outcome: CaseOutcome) {
        let (Some(case), Some(suite)) = (self.cases.get(index), self.suites.last_mut()) else {
            return;
        };
        if outcome == CaseOutcome::Skipped {
            // What a filter left out was not to be started.
            let said = case.unstarted.said().filter(|_| !case.status_notrun);
            suite.unstarted = suite.unstarted.or(said);
            return;
        }
        let is_nameless = case.name.is_empty() && case.classname.is_empty();
        self.unstarted.is_set_up_shown |= is_nameless && outcome != CaseOutcome::Passed;
        self.unstarted.passed_by = self.unstarted.suites.len();
    }

    /// A suite ends. Where something of it failed, tests behind that may have
    /// been left out for it.
    pub(super) fn keep_unstarted(&mut self, suite: &OpenSuite) {
        let Some(said) = suite.unstarted else { return };
        let has_failed = self.summary.elements.failed_or_error > suite.before.failed_or_error
            || self.summary.suite_errors > suite.suite_errors_before;
        let suites = &mut self.unstarted.suites;
        if !has_failed && suites.len() < SUITES {
            suites.push(UnstartedSuite {
                path: self.path.clone(),
                said,
                is_first: suite.before.failed_or_error == 0,
            });
        }
    }

    /// The report ends: what was never started is no test that was skipped.
    pub(super) fn fail_unstarted(&mut self) {
        let unstarted = std::mem::take(&mut self.unstarted);
        let is_odd = is_odd(self.dialect_name(), Oddity::UnstartedWhereSetUpFailed);
        if unstarted.is_set_up_shown || !is_odd {
            return;
        }
        let suites = unstarted.suites.into_iter().enumerate();
        let sure = suites.filter(|(at, suite)| suite.is_first || *at < unstarted.passed_by);
        for (_, UnstartedSuite { path, said, .. }) in sure {
            self.stand_for(path);
            self.wrong_seen += 1;
            if let Some(case) = self.case() {
                case.error = true;
                case.failures.push(Failure {
                    element: Some("error".to_owned()),
                    message: Some(said.to_owned()),
                    ..Failure::default()
                });
            }
            self.end_case();
        }
        self.path.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read_all, totals};

    fn behave(cases: &str) -> String {
        format!(
            "<testsuite name='hook.Hooked' tests='2' errors='0' failures='0' skipped='2' \
             time='0.0' timestamp='t' hostname='h'>{cases}</testsuite>"
        )
    }

    #[test]
    fn what_behave_left_untested_is_neither_passed_nor_skipped() {
        let case = |name: &str, status: &str, inside: &str| {
            format!(
                "<testcase classname='hook.Hooked' name='{name}' status='{status}' \
                 time='0'>{inside}<system-out>x</system-out></testcase>"
            )
        };
        let untested = case("a", "untested", "<skipped/>");
        let (summary, cases) = read_all(&behave(&format!("{untested}{untested}")));
        assert_eq!(totals(&summary), [0, 0, 0, 2, 0, 1]);
        let failed = cases.iter().find(|case| !case.failures.is_empty()).unwrap();
        assert_eq!(failed.name, "hook.Hooked");
        // With `--no-skipped`.
        let (summary, _) = read_all(&behave(&case("a", "untested", "")));
        assert_eq!(totals(&summary), [0, 0, 0, 1, 0, 1]);
        // What is skipped on purpose, and what `--stop` left out.
        let skipped = case("a", "skipped", "<skipped/>");
        let (summary, _) = read_all(&behave(&skipped));
        assert_eq!(totals(&summary), [0, 0, 0, 1, 0, 0]);
        let failed = case("b", "failed", "<failure message='x' type='y'/>");
        let (summary, _) = read_all(&behave(&format!("{failed}{untested}")));
        assert_eq!(totals(&summary), [0, 1, 0, 1, 0, 0]);
    }

    const EPOCH: &str = "1970-01-01T00:00:00.000";

    fn gtest(suites: &str) -> String {
        format!(
            "<testsuites tests='3' failures='0' disabled='0' errors='0' time='0' timestamp='t' \
             name='AllTests'>{suites}</testsuites>"
        )
    }

    fn suite(name: &str, status: &str, time: &str, begun: &str, inside: &str) -> String {
        format!(
            "<testsuite name='{name}' tests='1' failures='0' disabled='0' skipped='0' errors='0' \
             time='0' timestamp='t'><testcase name='A' file='s.cc' line='2' {status} time='{time}' \
             timestamp='{begun}' classname='{name}'>{inside}</testcase></testsuite>"
        )
    }

    #[test]
    fn what_gtest_never_started_failed_with_the_set_up_of_its_suite() {
        const SKIP: &str = "status='run' result='skipped'";
        const OFF: &str = "status='notrun' result='suppressed'";
        const RUN: &str = "status='run' result='completed'";
        let skip = "<skipped message='s.cc:2&#x0A;'/>";
        let ok = suite("Cart", RUN, "0", "2026-11-30T14:34:11.594", "");
        let unstarted = suite("S", SKIP, "0", EPOCH, skip);
        let fails = |xml: &str| read_all(&gtest(xml)).0.suite_errors;
        assert_eq!(fails(&format!("{unstarted}{ok}")), 1);
        let west = suite("S", SKIP, "0", "1969-12-31T19:00:00.000", skip);
        assert_eq!(fails(&format!("{ok}{west}")), 1);
        // A test that skips itself, one that is disabled, and a suite that skips itself, as
        // it can since 1.14.
        for skipped in [
            suite("S", SKIP, "0", "2026-11-30T14:34:11.594", skip),
            suite("S", OFF, "0", EPOCH, ""),
            suite("S", SKIP, "0.", EPOCH, skip),
        ] {
            assert_eq!(fails(&format!("{skipped}{ok}")), 0, "{skipped}");
        }
        // `--gtest_fail_fast` starts nothing after the first failure.
        let failed = suite(
            "F",
            RUN,
            "0",
            "2026-11-30T14:34:11.594",
            "<failure message='x'/>",
        );
        assert_eq!(fails(&format!("{failed}{unstarted}")), 0);
        assert_eq!(fails(&format!("{failed}{unstarted}{ok}")), 1);
        // Where the set-up of all tests failed, it is told.
        let of_all = "<testsuite name='NonTestSuiteFailure' tests='1' failures='1'><testcase \
                      name='' status='run' result='completed' time='0' classname='' \
                      timestamp='t'><failure message='x'/></testcase></testsuite>";
        assert_eq!(fails(&format!("{unstarted}{of_all}")), 1);
    }
}
