//! Tests that `go test -json` ran again in one stream: who runs failed tests again appends
//! the events of the second run to those of the first.

use super::case::CaseOutcome;
use super::lines::{give, suite};
use super::machine::Machine;
use jelly_base::model::Failure;
use std::collections::{BTreeMap, BTreeSet};

/// Functions that passed at first, of which some are kept.
const PASSED: usize = 1000;
/// Tests of second runs that wait for the end of their package.
const WAITING: usize = 10_000;

/// How a test ended.
pub(super) struct EndedTest {
    pub(super) name: String,
    pub(super) seconds: Option<f64>,
    pub(super) outcome: CaseOutcome,
    pub(super) failure: Option<Failure>,
}

impl EndedTest {
    fn give(self, machine: &mut Machine<'_>, package: &str) {
        suite(machine, package, |machine| {
            let names = [package, self.name.as_str()];
            give(machine, names, self.seconds, self.outcome, self.failure);
        });
    }
}

/// What is known of a package.
#[derive(Default)]
struct Package {
    /// The ordinals of its tests that failed, and did not pass since.
    failed: BTreeMap<String, u64>,
    /// The functions of all that failed at first.
    functions: BTreeSet<String>,
    /// Functions of some that passed at first.
    passed: BTreeSet<String>,
    /// It broke off in a test: those behind it never ran.
    broke: bool,
    /// A run of it ended.
    has_ended: bool,
}

/// The packages of a stream.
#[derive(Default)]
pub(super) struct Reruns {
    packages: BTreeMap<String, Package>,
    /// Tests of further runs with their packages, as long as all of these may be
    /// reruns.
    waiting: Vec<(String, EndedTest)>,
    /// A further run was one of tests that had passed, too: of the whole once more, with
    /// other flags.
    is_of_others: bool,
}

/// The function of a test: `TestA` of `TestA/b`.
fn function(test: &str) -> &str {
    test.split('/').next().unwrap_or(test)
}

impl Reruns {
    /// A test ended. In a further run of its package, it waits for the end.
    pub(super) fn test(&mut self, machine: &mut Machine<'_>, package: &str, test: EndedTest) {
        let of = self.packages.entry(package.to_owned()).or_default();
        if !of.has_ended {
            let failed = (test.outcome == CaseOutcome::Failed).then(|| test.name.clone());
            let text = test
                .failure
                .as_ref()
                .and_then(|failure| failure.text.as_deref());
            of.broke |=
                text.is_some_and(|text| text.contains("panic: ") || text.contains("fatal error: "));
            if test.outcome == CaseOutcome::Passed && of.passed.len() < PASSED {
                of.passed.insert(function(&test.name).to_owned());
            }
            test.give(machine, package);
            if let Some(name) = failed {
                of.functions.insert(function(&name).to_owned());
                let ordinal = machine.next_ordinal.saturating_sub(1);
                of.failed.insert(name, ordinal);
            }
            return;
        }
        let has_failed = of.functions.contains(function(&test.name));
        self.waiting.push((package.to_owned(), test));
        if self.is_of_others || !has_failed || self.waiting.len() > WAITING {
            self.are_of_others(machine);
        }
    }

    pub(super) fn end(&mut self, package: &str) {
        let of = self.packages.entry(package.to_owned()).or_default();
        of.has_ended = true;
    }

    /// What ran further is no rerun of what failed, or did not end as it should.
    pub(super) fn are_of_others(&mut self, machine: &mut Machine<'_>) {
        self.is_of_others |= !self.waiting.is_empty();
        for (package, test) in self.waiting.drain(..) {
            test.give(machine, &package);
        }
    }

    /// Whether what waits is reruns for sure: of a part of a package's tests, in which nothing
    /// fails that had not, and nothing is run that had passed. The legs of a matrix run all.
    fn are_reruns(&self) -> bool {
        let mut passed = BTreeSet::new();
        self.waiting.iter().all(|(package, test)| {
            let Some(of) = self.packages.get(package) else {
                return false;
            };
            let is_part = of
                .passed
                .iter()
                .any(|passed| !of.functions.contains(passed));
            let is_known = of.failed.contains_key(&test.name);
            let is_new = test.outcome == CaseOutcome::Failed && !is_known;
            let of_test = (package, &test.name);
            let is_done = passed.contains(&of_test);
            if test.outcome == CaseOutcome::Passed {
                passed.insert(of_test);
            }
            is_part && !of.broke && !is_new && !is_done
        })
    }

    /// The stream ends, whole: if what failed was run again, what passed then is flaky,
    /// and the rest failed once.
    pub(super) fn settle(mut self, machine: &mut Machine<'_>) {
        if !self.are_reruns() {
            self.are_of_others(machine);
            return;
        }
        let mut packages = self.packages;
        for (package, test) in self.waiting {
            if test.outcome == CaseOutcome::Passed
                && let Some(of) = packages.get_mut(&package)
                && let Some(ordinal) = of.failed.remove(&test.name)
            {
                machine.pass_again(ordinal);
            }
        }
    }
}

impl Machine<'_> {
    /// A test that was handed on as failed passed when it was run again.
    fn pass_again(&mut self, ordinal: u64) {
        self.summary.failed = self.summary.failed.saturating_sub(1);
        self.summary.flaky += 1;
        if !self.hold.turn_flaky(ordinal) {
            self.sink.turned_flaky(ordinal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read_all, totals};

    /// A run of a package with its tests, and whether they passed.
    fn run(package: &str, tests: &[(&str, bool)]) -> String {
        let word = |ok: bool| if ok { "pass" } else { "fail" };
        let mut out = String::new();
        for (test, ok) in tests {
            let of = format!("\"Package\":\"{package}\",\"Test\":\"{test}\"");
            out.push_str(&format!("{{\"Action\":\"run\",{of}}}\n"));
            if !ok {
                out.push_str(&format!(
                    "{{\"Action\":\"output\",{of},\"Output\":\"    a_test.go:3: got 1\\n\"}}\n"
                ));
            }
            out.push_str(&format!(
                "{{\"Action\":\"{}\",{of},\"Elapsed\":0}}\n",
                word(*ok)
            ));
        }
        let all = tests.iter().all(|(_, ok)| *ok);
        out.push_str(&format!(
            "{{\"Action\":\"{}\",\"Package\":\"{package}\"}}\n",
            word(all)
        ));
        out
    }

    #[test]
    fn a_test_that_passes_in_an_appended_run_of_failed_tests_is_flaky() {
        let first = run("p", &[("TestA", false), ("TestB", true), ("TestC", false)]);
        let second = run("p", &[("TestA", true), ("TestC", false)]);
        let (summary, _) = read_all(&format!("{first}{second}"));
        assert_eq!(totals(&summary), [1, 1, 0, 0, 1, 0]);
        assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
        // And in a third one.
        let third = run("p", &[("TestC", true)]);
        let (summary, _) = read_all(&format!("{first}{second}{third}"));
        assert_eq!(totals(&summary), [1, 0, 0, 0, 2, 0]);
    }

    #[test]
    fn a_subtest_that_passes_again_takes_its_test_along() {
        let first = run(
            "p",
            &[
                ("TestA/x", false),
                ("TestA/y", true),
                ("TestA", false),
                ("TestB", true),
            ],
        );
        for again in [
            run("p", &[("TestA/x", true), ("TestA", true)]),
            run(
                "p",
                &[("TestA/x", true), ("TestA/y", true), ("TestA", true)],
            ),
        ] {
            let (summary, _) = read_all(&format!("{first}{again}"));
            assert_eq!(totals(&summary), [2, 0, 0, 0, 2, 0]);
        }
        // One that fails anew, and one that fails after it passed, are no reruns to be passed by.
        for again in [
            run(
                "p",
                &[("TestA/x", true), ("TestA/y", false), ("TestA", false)],
            ),
            run("p", &[("TestA/x", true), ("TestA", true)])
                + &run("p", &[("TestA/x", false), ("TestA", false)]),
        ] {
            let (summary, _) = read_all(&format!("{first}{again}"));
            assert!(totals(&summary)[1] > 1, "{:?}", totals(&summary));
        }
    }

    #[test]
    fn a_run_of_all_tests_is_another_one() {
        let first = run("p", &[("TestA", false), ("TestB", true)]);
        let other = run("p", &[("TestA", true), ("TestB", true)]);
        let (summary, _) = read_all(&format!("{first}{other}"));
        assert_eq!(totals(&summary), [3, 1, 0, 0, 0, 0]);
        // A package whose only test failed tells nothing, and another one does.
        let (only, more) = (run("p", &[("TestA", false)]), run("q", &[("TestQ", true)]));
        let again = run("p", &[("TestA", true)]);
        let (summary, _) = read_all(&format!("{only}{more}{again}{more}"));
        assert_eq!(totals(&summary), [3, 1, 0, 0, 0, 0]);
        // Of another package, and within one run, as `-count` asks for it.
        let of_q = run("q", &[("TestA", true)]);
        let (summary, _) = read_all(&format!("{first}{of_q}"));
        assert_eq!(totals(&summary), [2, 1, 0, 0, 0, 0]);
        let (summary, _) = read_all(&run("p", &[("TestA", false), ("TestA", true)]));
        assert_eq!(totals(&summary), [1, 1, 0, 0, 0, 0]);
        // One that was cut off.
        let of = "\"Package\":\"p\",\"Test\":\"TestA\"";
        let begun = format!("{{\"Action\":\"run\",{of}}}\n{{\"Action\":\"pass\",{of}}}\n");
        let (summary, _) = read_all(&format!("{first}{begun}"));
        assert_eq!(totals(&summary), [2, 1, 0, 0, 0, 0]);
    }
}
