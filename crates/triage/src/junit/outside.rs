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
        let is_numbered = self.outside_failed && is_odd(writer, Oddity::NumberedBehindSetUp);
        let Some(case) = self.cases.get_mut(index) else {
            return outcome;
        };
        if is_numbered && let Some(bare) = unnumbered(&case.name) {
            case.name = bare.to_owned();
        }
        let is_wrong = matches!(outcome, CaseOutcome::Failed | CaseOutcome::Error);
        let names = (&case.classname, &case.name);
        case.outside = is_wrong && !case.of_suite && is_outside(writer, names.0, names.1);
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
    fn hooks_are_told_by_the_names_that_frameworks_give_them() {
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
