//! Tests that were run again by a writer that says nothing of it: each attempt is a case
//! of the same name, and those that failed look as if they had passed.

use super::identity::Attempts;
use super::machine::Machine;
use super::open::OpenSuite;
use crate::frameworks::is_odd;
use crate::frameworks::spec::Oddity;
use std::collections::HashMap;

/// Cases of a suite element that were written again, by their places among all cases.
#[derive(Debug, Default, PartialEq, Eq)]
struct Again {
    /// All that passed but the last of each name.
    attempts: Vec<usize>,
    /// Those last ones that passed.
    passed: Vec<usize>,
    /// How many did not pass, and were not the last of their name: a test that failed, and
    /// whose tear-down failed, too.
    doubled: u64,
}

impl Again {
    /// Of the cases from `from` on.
    fn of(cases: &Attempts, from: usize) -> Option<Self> {
        let keys = cases.keys().get(from..)?;
        let mut last: HashMap<u64, usize> = HashMap::with_capacity(keys.len());
        let mut again = Self::default();
        for (at, key) in keys.iter().enumerate() {
            match last.insert(*key, from + at) {
                Some(before) if cases.has_passed(before) => again.attempts.push(before),
                Some(_) => again.doubled += 1,
                None => {}
            }
        }
        let names: Vec<u64> = again.attempts.iter().map(|at| keys[at - from]).collect();
        let ends = names.iter().filter_map(|key| last.get(key).copied());
        again.passed = ends.filter(|at| cases.has_passed(*at)).collect();
        again.passed.sort_unstable();
        again.passed.dedup();
        Some(again)
    }
}

impl Machine<'_> {
    /// A suite element ends that holds so many cases, and claims fewer tests than it would
    /// if all of them were one each: those that were run again are counted once there.
    /// What else pytest counts, as tear-downs and subtests that passed, makes its claim
    /// larger. pytest-rerunfailures runs nothing again that did not fail, so that a test
    /// that passed in the end is flaky.
    pub(super) fn settle_unmarked(&mut self, suite: &OpenSuite, cases: u64) {
        let tests = suite.claims.tests.and_then(|n| u64::try_from(n).ok());
        let more = tests.map_or(0, |tests| cases.saturating_sub(tests));
        let elements = self.summary.elements;
        let is_known = self.attempts.keys().len() as u64 == elements.cases
            && self.summary.suite_errors == suite.suite_errors_before;
        if more == 0 || !is_known || !is_odd(self.dialect_name(), Oddity::UnmarkedAttempts) {
            return;
        }
        let from = usize::try_from(suite.before.cases).unwrap_or(usize::MAX);
        let Some(again) = Again::of(&self.attempts, from) else {
            return;
        };
        let (attempts, passed) = (again.attempts.len() as u64, again.passed.len() as u64);
        // Beside a test that passed, what failed behind it is a test more; a subtest that
        // passed is one that nothing shows.
        let errors = elements.errors - suite.before.errors;
        let behind = errors.saturating_sub(again.doubled);
        let most = attempts + again.doubled;
        let is_exact = more <= most && more + behind >= most;
        let has_subtests = self.several > 0 && more > again.doubled && more <= most;
        if attempts == 0 || !(is_exact || has_subtests) {
            return;
        }
        self.unmarked += attempts;
        let summary = &mut self.summary;
        summary.tests = summary.tests.saturating_sub(attempts);
        summary.passed = summary.passed.saturating_sub(attempts + passed);
        summary.flaky += passed;
        // A suite that failed without a case has an ordinal, too.
        let errors = suite.suite_errors_before;
        let ordinals = |places: Vec<usize>| places.into_iter().map(move |at| at as u64 + errors);
        let reruns = &mut summary.reruns;
        reruns.attempts.extend(ordinals(again.attempts));
        reruns.passed.extend(ordinals(again.passed));
    }
}
