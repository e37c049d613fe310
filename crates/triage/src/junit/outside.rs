//! Cases that are no tests: what failed around them, as a file that can't be loaded or a
//! hook, where the writer knows no better way to tell it.

use super::case::CaseOutcome;
use super::machine::Machine;
use crate::frameworks::spec::Oddity;
use crate::frameworks::{is_odd, is_outside};

/// The name of `begin 3 name`, which Bats 1.8 writes where it has lost count.
fn unnumbered(name: &str) -> Option<&str> {
    let (number, name) = name.strip_prefix("begin ")?.split_once(' ')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !name.is_empty()).then_some(name)
}

impl Machine<'_> {
    /// A case ends: whether it is what surrounds tests. That is an error, and is counted
    /// as one of its suite.
    pub(super) fn note_outside(&mut self, index: usize, outcome: CaseOutcome) -> CaseOutcome {
        let writer = self.dialect_name();
        let has_groups = is_odd(writer, Oddity::GroupsAsCases);
        let is_numbered = self.outside_failed && is_odd(writer, Oddity::NumberedBehindSetUp);
        let Some(case) = self.cases.get_mut(index) else {
            return outcome;
        };
        if is_numbered && let Some(bare) = unnumbered(&case.name) {
            case.name = bare.to_owned();
        }
        let groups = self.suites.last_mut().map(|suite| &mut suite.groups);
        let mut is_group = false;
        if has_groups && let Some(groups) = groups {
            groups.note(&case.name);
            is_group = case.name == case.classname || groups.has(&case.name);
        }
        let is_wrong = matches!(outcome, CaseOutcome::Failed | CaseOutcome::Error);
        let names = (&case.classname, &case.name);
        case.outside =
            is_wrong && !case.of_suite && (is_group || is_outside(writer, names.0, names.1));
        self.outside_failed |= case.outside;
        if case.outside {
            CaseOutcome::Error
        } else {
            outcome
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read_all, totals};

    fn counted(report: &str) -> [u64; 6] {
        let (summary, _) = read_all(report);
        assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
        totals(&summary)
    }

    #[test]
    fn what_failed_around_tests_is_no_test() {
        let vitest = |cases: &str, tests: u32, failures: u32| {
            format!(
                "<testsuites name='vitest tests' tests='{tests}' failures='{failures}'>\
                 <testsuite name='a.test.ts' tests='{tests}' failures='{failures}'>{cases}\
                 </testsuite></testsuites>"
            )
        };
        let case = |name: &str, inside: &str| {
            format!("<testcase classname='a.test.ts' name='{name}'>{inside}</testcase>")
        };
        const FAILED: &str = "<failure message='x' type='Error'/>";
        let group = case("db &gt; one", "") + &case("db &gt; in &gt; two", "");
        let failed = |name: &str| vitest(&format!("{group}{}", case(name, FAILED)), 3, 1);
        assert_eq!(counted(&failed("db")), [2, 0, 0, 0, 0, 1]);
        assert_eq!(counted(&failed("db &gt; in")), [2, 0, 0, 0, 0, 1]);
        // A test.
        assert_eq!(counted(&failed("da")), [2, 1, 0, 0, 0, 0]);
        let unloaded = vitest(&case("a.test.ts", FAILED), 1, 1);
        assert_eq!(counted(&unloaded), [0, 0, 0, 0, 0, 1]);
        let passed = vitest(&case("a.test.ts", ""), 1, 0);
        assert_eq!(counted(&passed), [1, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn hooks_are_told_by_the_names_that_frameworks_give_them() {
        let report = |root: &str, class: &str, name: &str| {
            format!(
                "<testsuites name='{root}'><testsuite name='s'><testcase classname='{class}' \
                 name='{name}'><failure message='x'/></testcase></testsuite></testsuites>"
            )
        };
        for (root, class, name) in [
            ("jest tests", "Test suite failed to run", "a.test.js"),
            (
                "jest tests",
                " Test execution failure: could be caused by test hooks like &apos;afterAll&apos;.",
                "x",
            ),
            (
                "Mocha Tests",
                "&quot;before all&quot; hook for &quot;a&quot;",
                "Cart &quot;before all&quot; hook for &quot;a&quot;",
            ),
            ("Mocha Tests", "Cart", "&quot;after all&quot; hook: close"),
        ] {
            let counts = counted(&report(root, class, name));
            assert_eq!(counts, [0, 0, 0, 0, 0, 1], "{class} {name}");
        }
        for (root, class, name) in [
            ("jest tests", "cart", "Test suite failed to run"),
            (
                "Mocha Tests",
                "Cart",
                "&quot;before each&quot; hook for &quot;a&quot;",
            ),
            (
                "Mocha Tests",
                "Cart",
                "calls the &quot;before all&quot; hooks",
            ),
            ("tests", "Test suite failed to run", "a.test.js"),
        ] {
            let counts = counted(&report(root, class, name));
            assert_eq!(counts, [0, 1, 0, 0, 0, 0], "{class} {name}");
        }
        let bats = "<testsuite name='a.bats' tests='1' failures='1'><testcase classname='a.bats' \
                    name=''><failure type='failure'/></testcase></testsuite>";
        assert_eq!(counted(bats), [0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn what_bats_numbers_behind_a_failed_set_up_has_its_own_name() {
        let names = |of_set_up: &str| -> Vec<String> {
            let xml = format!(
                "<testsuites><testsuite name='a.bats'><testcase classname='a.bats' \
                 name='{of_set_up}'><failure/></testcase></testsuite><testsuite name='b.bats'>\
                 <testcase classname='b.bats' name='begin 3 the end'/></testsuite></testsuites>"
            );
            read_all(&xml).1.into_iter().map(|case| case.name).collect()
        };
        assert_eq!(names(""), ["", "the end"]);
        assert_eq!(names("adds"), ["adds", "begin 3 the end"]);
    }
}
