//! Earlier runs, ready to be asked.

mod answers;
mod parts;

use super::origin::RunOrigin;
use super::record::{PastCause, PastLabel, PastPass, PastRun, ProvenPasses, TestName, kept};
use super::recurrence::{End, WINDOW, recurrence};
use indexmap::{IndexMap, IndexSet};
use jelly_base::model::{FailureHistory, FailureStatus, Recurrence};
use jelly_base::text::stable_name;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

pub use answers::{CausePast, Fixed, PastEnd, TestLabel};
pub use parts::{PastMark, PastMiss, PastParts};

/// Calls of a plan from which its duration is taken.
pub const TIMED: usize = 10;

/// Earlier runs, oldest first, by test and by cause.
///
/// Pure: the same runs in the same order give the same answers, whether they
/// come from a [`HistoryStore`](super::HistoryStore) or from reports of a baseline.
#[derive(Debug, Clone, Default)]
pub struct Past {
    runs: Vec<RunMark>,
    /// Runs that count, from the first; see [`Past::end_before`].
    end: usize,
    tests: Vec<TestPast>,
    /// Places in `tests` by a hash of the stable names, so that asking for a test
    /// that passed costs no allocation.
    index: HashMap<u64, Vec<usize>>,
    /// Fingerprints of either kind, each kept once.
    prints: IndexSet<String>,
    /// Some of them are by the first algorithm.
    first_prints: bool,
    causes: IndexMap<String, Vec<(usize, PastCause, u32)>>,
    /// By run and a test's fingerprint, where that is not as `causes` has it.
    labels: HashMap<(usize, usize), PastLabel>,
    /// The first run in which a test of this definition passed, where
    /// definitions are known.
    definitions: HashMap<String, usize>,
    /// The same by the code that it passed on, where that is proved.
    proven: HashMap<String, HashMap<String, usize>>,
    viewer: RunOrigin,
    /// Runs that are remembered, and of which nothing was asked for.
    besides: usize,
}

#[derive(Debug, Clone)]
struct RunMark {
    at: Option<String>,
    digests: Vec<String>,
    /// How long its plans took, by their places.
    durations: Vec<(String, u64)>,
}

#[derive(Debug, Clone)]
pub(super) struct TestPast {
    /// As it was named last.
    pub(super) test: TestName,
    /// Suite and class as they are in every run.
    stable: [String; 2],
    /// At most one a run, by rising run.
    pub(super) ends: Vec<Ended>,
}

/// How a test ended in a run.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) run: usize,
    /// Places in `prints` of cause and test fingerprint; empty if it passed.
    prints: Vec<(usize, usize)>,
    /// It passed in the end.
    flaky: bool,
    /// On the branch from which is looked, as far as anybody knows.
    here: bool,
}

impl Ended {
    pub(super) fn failed(&self) -> bool {
        !self.prints.is_empty() && !self.flaky
    }

    pub(super) fn flaky(&self) -> bool {
        !self.prints.is_empty() && self.flaky
    }

    /// Whether it failed of this cause, or with this fingerprint of a test.
    fn is_of(&self, print: usize) -> bool {
        let of = |(cause, test): &(usize, usize)| *cause == print || *test == print;
        self.prints.iter().any(of)
    }

    /// The cause of a test's fingerprint.
    fn cause_of(&self, print: usize) -> Option<usize> {
        let same = self.prints.iter().find(|(_, test)| *test == print);
        same.map(|(cause, _)| *cause)
    }

    fn passed(&self) -> bool {
        self.prints.is_empty()
    }
}

impl Past {
    /// An empty one, of whoever asks: runs of other projects are passed over, and
    /// of those of other branches what passed, since it clears nothing here.
    #[must_use]
    pub fn seen_from(viewer: &RunOrigin) -> Self {
        Self {
            viewer: viewer.clone(),
            ..Self::default()
        }
    }

    /// Adds a run that came after all others. Reports that are known already
    /// are passed over, with all that comes from them.
    pub fn add(&mut self, mut run: PastRun) {
        if !self.viewer.may_share_project(&run.origin) {
            return;
        }
        let clears = self.viewer.may_share_branch(&run.origin);
        let known: BTreeSet<String> = run
            .reports
            .iter()
            .filter(|report| self.has_report(&report.digest))
            .map(|report| report.digest.clone())
            .collect();
        if !known.is_empty() {
            run.without(&known);
            if run.reports.is_empty() {
                return;
            }
        }
        let index = self.runs.len();
        let timed = run.reports.iter().filter_map(|report| {
            let place = report.place.clone()?;
            Some((place, report.duration_ms?))
        });
        self.runs.push(RunMark {
            durations: timed.collect(),
            at: run.at.take(),
            digests: run.reports.drain(..).map(|report| report.digest).collect(),
        });
        self.end = self.runs.len();
        let mut counts: HashMap<String, u32> = HashMap::new();
        for failure in run.failures {
            let cause = self.prints.insert_full(failure.fingerprint.clone()).0;
            let label = run.labels.remove(&failure.test_fingerprint);
            let print = self.prints.insert_full(failure.test_fingerprint).0;
            self.labels
                .extend(label.map(|label| ((index, print), label)));
            self.first_prints |= failure.fingerprint.starts_with("j1:");
            *counts.entry(failure.fingerprint).or_default() += 1;
            let flaky = match failure.status {
                FailureStatus::Flaky => true,
                FailureStatus::Failure | FailureStatus::Error => false,
            };
            let ended = self.test(failure.test).ended_in(index, clears);
            ended.flaky = flaky && (ended.prints.is_empty() || ended.flaky);
            ended.prints.push((cause, print));
        }
        for PastPass {
            test, definition, ..
        } in run.passed
        {
            // Of the same name, one that failed weighs more.
            let failed = match clears {
                true => !self.test(test).ended_in(index, clears).prints.is_empty(),
                false => self
                    .find(&test.suite, &test.classname, &test.name)
                    .and_then(|known| known.ends.last())
                    .is_some_and(|ended| ended.run == index),
            };
            if let Some(definition) = definition.filter(|_| !failed) {
                self.definitions.entry(definition).or_insert(index);
            }
        }
        for definition in run.passed_if_accepted {
            self.definitions.entry(definition).or_insert(index);
        }
        for ProvenPasses { code, definitions } in run.proven {
            let known = self.proven.entry(code).or_default();
            for definition in definitions {
                known.entry(definition).or_insert(index);
            }
        }
        for (fingerprint, cause) in run.causes {
            let failures = counts.get(&fingerprint).copied().unwrap_or_default();
            self.causes
                .entry(fingerprint)
                .or_default()
                .push((index, cause, failures));
        }
    }

    /// Leaves out the first run that holds one of these reports, and all later
    /// ones: a report that is asked about again has the past that it had.
    pub fn end_before<'a>(&mut self, digests: impl IntoIterator<Item = &'a str>) {
        let asked: BTreeSet<&str> = digests.into_iter().filter(|d| !d.is_empty()).collect();
        let holds = |run: &RunMark| run.digests.iter().any(|d| asked.contains(d.as_str()));
        if let Some(first) = self.runs.iter().position(holds) {
            self.end = self.end.min(first);
        }
    }

    /// Earlier runs that count.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.end + self.besides
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs() == 0
    }

    /// How long each plan takes in milliseconds, by its path in the project: the
    /// median of its last calls, as many as are kept. The combinations of a matrix are runs
    /// of the same moment, and count together.
    #[must_use]
    pub fn durations(&self) -> BTreeMap<&str, u64> {
        let mut calls: BTreeMap<&str, IndexMap<&str, u64>> = BTreeMap::new();
        for run in &self.runs[..self.end] {
            let at = run.at.as_deref().unwrap_or_default();
            for (place, duration) in &run.durations {
                let of_call = calls.entry(place).or_default().entry(at).or_default();
                *of_call = of_call.saturating_add(*duration);
            }
        }
        let median = |calls: IndexMap<&str, u64>| {
            let mut last: Vec<u64> = calls.into_values().rev().take(TIMED).collect();
            last.sort_unstable();
            last.get(last.len() / 2).copied().unwrap_or_default()
        };
        let calls = calls.into_iter();
        calls.map(|(place, calls)| (place, median(calls))).collect()
    }

    /// Whether it remembers failures by the first algorithm of fingerprints.
    #[must_use]
    pub fn has_first_prints(&self) -> bool {
        self.first_prints
    }

    fn has_report(&self, digest: &str) -> bool {
        let same = |run: &RunMark| run.digests.iter().any(|known| known == digest);
        !digest.is_empty() && self.runs.iter().any(same)
    }

    /// Whether it is worth noting that this test passed: it failed before, and
    /// has not been passing for long. Cheap enough to be asked of every case.
    #[must_use]
    pub fn watches(&self, suite: &str, classname: &str, name: &str) -> bool {
        self.find(suite, classname, name).is_some_and(|test| {
            let recent = &test.ends[test.ends.len().saturating_sub(WINDOW)..];
            recent.iter().any(|end| !end.passed())
        })
    }

    /// What earlier runs say of a failure that ended as `status`.
    #[must_use]
    pub fn history(
        &self,
        test: (&str, &str, &str),
        test_fingerprint: &str,
        status: FailureStatus,
    ) -> FailureHistory {
        let print = self.prints.get_index_of(test_fingerprint);
        let known = self
            .find(test.0, test.1, test.2)
            .map_or(&[][..], |test| self.counted(test));
        let ends: Vec<End> = known.iter().map(|ended| end_of(ended, print)).collect();
        let judged = judged(known).map(|ended| end_of(ended, print));
        let judged: Vec<End> = judged.collect();
        let anywhere = ends.iter().any(|end| end.is_same());
        let mut same = known
            .iter()
            .zip(&ends)
            .filter(|(_, end)| end.is_same())
            .map(|(ended, _)| ended.run);
        let first = same.next();
        let last = same.next_back().or(first);
        let failed = ends.iter().filter(|end| end.is_same()).count();
        let earlier_side = known
            .iter()
            .zip(&ends)
            .rfind(|(_, end)| end.is_same())
            .and_then(|(ended, _)| self.label_in(ended, ended.cause_of(print?)?))
            .map(|label| label.side);
        FailureHistory {
            state: match recurrence(&judged, status) {
                // It works here, and something brought what failed on another branch.
                Recurrence::New if anywhere => Recurrence::Regressed,
                state => state,
            },
            earlier_side,
            first_seen: first.and_then(|run| self.at(run)),
            last_seen: last.and_then(|run| self.at(run)),
            runs: count(ends.len()),
            failed: count(failed),
            rate: rate(failed, ends.len()),
        }
    }

    /// How a test ended in the last runs that are known to have run it, oldest
    /// first.
    #[must_use]
    pub fn recent(&self, suite: &str, classname: &str, name: &str) -> Vec<PastEnd> {
        let known = self.find(suite, classname, name);
        let ends = known.map_or(&[][..], |test| self.counted(test));
        ends[ends.len().saturating_sub(WINDOW)..]
            .iter()
            .map(|end| match (end.passed(), end.flaky) {
                (true, _) => PastEnd::Passed,
                (false, true) => PastEnd::Flaky,
                (false, false) => PastEnd::Failed,
            })
            .collect()
    }

    /// Whether the test, by suite, class and name, did not simply pass when it
    /// was last run: then its failing now is nothing new, whatever it fails of.
    #[must_use]
    pub fn pre_existing(&self, suite: &str, classname: &str, name: &str) -> bool {
        self.find(suite, classname, name)
            .and_then(|test| judged(self.counted(test)).last())
            .is_some_and(|ended| !ended.passed())
    }

    /// Of the tests that passed now, those that failed when they were last
    /// run. A name that is among the `failing` too is not fixed.
    #[must_use]
    pub fn fixed<'a>(
        &self,
        passed: impl IntoIterator<Item = &'a TestName>,
        failing: &BTreeSet<TestName>,
    ) -> Vec<Fixed> {
        let mut fixed: Vec<Fixed> = passed
            .into_iter()
            .filter(|test| !failing.contains(*test))
            .filter_map(|test| self.fixed_one(test))
            .collect();
        fixed.sort();
        fixed.dedup();
        fixed
    }

    fn fixed_one(&self, test: &TestName) -> Option<Fixed> {
        let known = self.find(&test.suite, &test.classname, &test.name)?;
        let last = judged(self.counted(known)).last();
        let last = last.filter(|ended| ended.failed())?;
        let (cause, _) = *last.prints.first()?;
        let fingerprint = self.prints.get_index(cause)?.clone();
        Some(Fixed {
            test: test.clone(),
            root_cause: self
                .last_cause(&fingerprint)
                .map(|cause| cause.root_cause.clone()),
            fingerprint,
            last_seen: self.at(last.run),
        })
    }

    /// Whether a test passed once that was `defined` so, on this proven `code` where
    /// one is named. What defines a test says which one it is, whatever it was
    /// called then.
    #[must_use]
    pub fn passed_as(&self, defined: &str, code: Option<&str>) -> bool {
        let passed = match code {
            None => Some(&self.definitions),
            Some(code) => self.proven.get(code),
        };
        let first = passed.and_then(|passed| passed.get(defined));
        first.is_some_and(|run| *run < self.end)
    }

    /// What is remembered of a cause; its class is that of its last sighting,
    /// to be shown, and no evidence for the next.
    #[must_use]
    pub fn cause(&self, fingerprint: &str) -> Option<CausePast> {
        let print = self.prints.get_index_of(fingerprint)?;
        let mut tests: Vec<TestName> = self
            .all_tests()
            .filter(|(_, ends)| ends.iter().any(|ended| ended.is_of(print)))
            .map(|(test, _)| test.clone())
            .collect();
        tests.sort();
        self.cause_with(fingerprint, tests)
    }

    /// A cause as it was diagnosed last.
    pub(super) fn last_cause(&self, fingerprint: &str) -> Option<&PastCause> {
        let seen = self.causes.get(fingerprint)?.iter().rev();
        seen.filter(|(run, _, _)| *run < self.end)
            .map(|(_, cause, _)| cause)
            .next()
    }

    fn cause_with(&self, fingerprint: &str, tests: Vec<TestName>) -> Option<CausePast> {
        let seen: Vec<&(usize, PastCause, u32)> = self
            .causes
            .get(fingerprint)?
            .iter()
            .filter(|(run, _, _)| *run < self.end)
            .collect();
        let (first, _, _) = *seen.first()?;
        let (last, cause, _) = *seen.last()?;
        Some(CausePast {
            fingerprint: fingerprint.to_owned(),
            cause: cause.clone(),
            first_seen: self.at(*first),
            last_seen: self.at(*last),
            runs: count(seen.len()),
            failures: seen
                .iter()
                .map(|(_, _, failures)| *failures)
                .fold(0, u32::saturating_add),
            tests,
        })
    }

    /// The fingerprints of causes that begin like this, in the order in which
    /// they were first seen. Of a test's fingerprint, the cause's.
    #[must_use]
    pub fn fingerprints(&self, prefix: &str) -> Vec<&str> {
        let causes = self.causes.keys().map(String::as_str);
        let mut found: Vec<&str> = causes.filter(|print| print.starts_with(prefix)).collect();
        let by_test = self
            .tests
            .iter()
            .flat_map(|test| self.counted(test))
            .flat_map(|ended| &ended.prints)
            .filter(|(_, test)| self.print(*test).starts_with(prefix))
            .map(|(cause, _)| self.print(*cause));
        for print in by_test {
            if !found.contains(&print) {
                found.push(print);
            }
        }
        found
    }

    pub(super) fn all_causes(&self) -> impl Iterator<Item = CausePast> {
        let mut befell: HashMap<&str, BTreeSet<&TestName>> = HashMap::new();
        for (test, ends) in self.all_tests() {
            for cause in ends.iter().flat_map(|ended| self.causes_of(ended)) {
                befell.entry(cause).or_default().insert(test);
            }
        }
        self.causes.keys().filter_map(move |fingerprint| {
            let tests = befell.remove(fingerprint.as_str()).unwrap_or_default();
            self.cause_with(fingerprint, tests.into_iter().cloned().collect())
        })
    }

    /// The tests, each with how it ended in the runs that count.
    pub(super) fn all_tests(&self) -> impl Iterator<Item = (&TestName, &[Ended])> {
        self.tests
            .iter()
            .map(|test| (&test.test, self.counted(test)))
            .filter(|(_, ends)| !ends.is_empty())
    }

    /// The causes of an end, by fingerprint.
    pub(super) fn causes_of<'a>(&'a self, ended: &'a Ended) -> impl Iterator<Item = &'a str> {
        ended.prints.iter().map(|(cause, _)| self.print(*cause))
    }

    pub(super) fn at(&self, run: usize) -> Option<String> {
        self.runs.get(run)?.at.clone()
    }

    fn print(&self, place: usize) -> &str {
        self.prints.get_index(place).map_or("", String::as_str)
    }

    /// How a test ended in the runs that count.
    fn counted<'a>(&self, test: &'a TestPast) -> &'a [Ended] {
        let end = test.ends.partition_point(|ended| ended.run < self.end);
        &test.ends[..end]
    }

    fn find(&self, suite: &str, classname: &str, name: &str) -> Option<&TestPast> {
        let [suite, classname, name] = [suite, classname, name].map(kept);
        let (suite, classname) = (&*stable_name(&suite), &*stable_name(&classname));
        self.index
            .get(&hash(suite, classname, &name))?
            .iter()
            .filter_map(|place| self.tests.get(*place))
            .find(|known| known.is(suite, classname, &name))
    }

    fn test(&mut self, test: TestName) -> &mut TestPast {
        let place = self.place_of(test);
        &mut self.tests[place]
    }

    fn place_of(&mut self, test: TestName) -> usize {
        // What was kept by an earlier version may have a NUL in it.
        let test = TestName::new(&test.suite, &test.classname, &test.name);
        let stable = [&test.suite, &test.classname].map(|part| stable_name(part).into_owned());
        let [suite, classname] = &stable;
        let places = self
            .index
            .entry(hash(suite, classname, &test.name))
            .or_default();
        let known = places
            .iter()
            .copied()
            .find(|place| self.tests[*place].is(suite, classname, &test.name));
        if let Some(place) = known {
            self.tests[place].test = test;
            return place;
        }
        let place = self.tests.len();
        places.push(place);
        self.tests.push(TestPast {
            test,
            stable,
            ends: Vec::new(),
        });
        place
    }
}

impl TestPast {
    /// Whether it has this name; suite and class as [`stable_name`] has them.
    fn is(&self, suite: &str, classname: &str, name: &str) -> bool {
        let [of_suite, of_class] = &self.stable;
        of_suite == suite && of_class == classname && self.test.name == name
    }

    /// The end in a run, which is at least as late as all others.
    fn ended_in(&mut self, run: usize, here: bool) -> &mut Ended {
        let place = match self.ends.last() {
            Some(last) if last.run == run => self.ends.len() - 1,
            Some(_) | None => {
                self.ends.push(Ended {
                    run,
                    prints: Vec::new(),
                    flaky: false,
                    here,
                });
                self.ends.len() - 1
            }
        };
        &mut self.ends[place]
    }
}

/// The ends that say what a failure is here: where the test passed last on this
/// branch, it works here, whatever fails on another one.
fn judged(known: &[Ended]) -> impl Iterator<Item = &Ended> {
    let last_here = known.iter().rev().find(|ended| ended.here);
    let works_here = last_here.is_some_and(Ended::passed);
    let counts = move |ended: &&Ended| ended.here || !works_here;
    known.iter().filter(counts)
}

fn end_of(ended: &Ended, print: Option<usize>) -> End {
    let same = ended.prints.iter().any(|(_, test)| Some(*test) == print);
    match (ended.passed(), same, ended.flaky) {
        (true, _, _) => End::Passed,
        (false, true, false) => End::Same,
        (false, true, true) => End::FlakySame,
        (false, false, false) => End::Other,
        (false, false, true) => End::FlakyOther,
    }
}

fn hash(suite: &str, classname: &str, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (suite, classname, name).hash(&mut hasher);
    hasher.finish()
}

pub(super) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

pub(super) fn rate(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    f64::from(count(part)) / f64::from(count(whole))
}

#[cfg(test)]
#[path = "past_tests.rs"]
mod tests;
