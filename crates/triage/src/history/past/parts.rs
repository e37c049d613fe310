//! A past of what a database keeps in tables: each test and each cause once.

use super::{Ended, Past, RunMark, TestPast};
use crate::history::origin::RunOrigin;
use crate::history::record::{PastCause, TestName};
use std::collections::HashMap;

/// A run, of which nothing is known but where and when it was.
#[derive(Debug, Clone, Default)]
pub struct PastMark {
    /// RFC 3339.
    pub at: Option<String>,
    pub branch: Option<String>,
    /// How long its plans took, by their places.
    pub durations: Vec<(String, u64)>,
}

/// What a test failed of.
#[derive(Debug, Clone)]
pub struct PastMiss {
    /// Place in `causes`.
    pub cause: usize,
    pub test_fingerprint: String,
    /// It passed when it was run again.
    pub flaky: bool,
}

/// Tables of runs, tests and causes, and how the tests ended in the runs.
#[derive(Debug, Clone, Default)]
pub struct PastParts {
    /// Oldest first.
    pub runs: Vec<PastMark>,
    pub tests: Vec<TestName>,
    /// By fingerprint; None where only that is known.
    pub causes: Vec<(String, Option<PastCause>)>,
    /// Of each run: the places of tests that failed, or were flaky.
    pub failed: Vec<Vec<(usize, PastMiss)>>,
    /// By the place of a test: those of the runs that ran it, in rising order, whether
    /// it failed there or not.
    pub ran: Vec<(usize, Vec<usize>)>,
    /// Runs that are remembered besides.
    pub besides: usize,
}

impl Past {
    /// The past that these are, seen from somewhere: what [`Past::add`] makes of
    /// the same runs.
    #[must_use]
    pub fn of_parts(viewer: &RunOrigin, parts: PastParts) -> Self {
        let mut past = Self::seen_from(viewer);
        past.besides = parts.besides;
        let places: Vec<usize> = parts
            .tests
            .into_iter()
            .map(|test| past.place_of(test))
            .collect();
        let prints: Vec<usize> = parts
            .causes
            .iter()
            .map(|(fingerprint, _)| past.prints.insert_full(fingerprint.clone()).0)
            .collect();
        let mut failed = parts.failed.into_iter();
        let mut clears = Vec::with_capacity(parts.runs.len());
        for (index, mark) in parts.runs.into_iter().enumerate() {
            let origin = RunOrigin {
                branch: mark.branch,
                ..RunOrigin::default()
            };
            let here = viewer.may_share_branch(&origin);
            clears.push(here);
            past.runs.push(RunMark {
                at: mark.at,
                digests: Vec::new(),
                durations: mark.durations,
            });
            let mut counts: HashMap<usize, u32> = HashMap::new();
            for (test, miss) in failed.next().unwrap_or_default() {
                let (Some(place), Some(cause)) = (places.get(test), prints.get(miss.cause)) else {
                    continue;
                };
                *counts.entry(miss.cause).or_default() += 1;
                let print = past.prints.insert_full(miss.test_fingerprint).0;
                let ended = past.tests[*place].ended_in(index, here);
                ended.flaky = miss.flaky && (ended.prints.is_empty() || ended.flaky);
                ended.prints.push((*cause, print));
            }
            let mut seen: Vec<(usize, u32)> = counts.into_iter().collect();
            seen.sort_unstable();
            for (cause, failures) in seen {
                let (fingerprint, cause) = &parts.causes[cause];
                past.first_prints |= fingerprint.starts_with("j1:");
                if let Some(cause) = cause {
                    let sightings = past.causes.entry(fingerprint.clone()).or_default();
                    sightings.push((index, cause.clone(), failures));
                }
            }
        }
        for (test, runs) in parts.ran {
            if let Some(place) = places.get(test) {
                let runs = runs.into_iter();
                let counted = runs.filter(|run| clears.get(*run).copied().unwrap_or_default());
                past.tests[*place].passed_elsewhere_in(counted);
            }
        }
        past.end = past.runs.len();
        past
    }
}

impl TestPast {
    /// Adds the runs that ran it, in rising order: where nothing else is known of one,
    /// it passed there.
    fn passed_elsewhere_in(&mut self, runs: impl Iterator<Item = usize>) {
        let mut missed = std::mem::take(&mut self.ends).into_iter().peekable();
        self.ends
            .reserve(missed.len() + runs.size_hint().1.unwrap_or_default());
        for run in runs {
            while let Some(end) = missed.next_if(|end| end.run <= run) {
                self.ends.push(end);
            }
            if self.ends.last().is_none_or(|end| end.run < run) {
                self.ends.push(Ended {
                    run,
                    prints: Vec::new(),
                    flaky: false,
                    // Only runs that share the branch are counted so.
                    here: true,
                });
            }
        }
        self.ends.extend(missed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Past, PastMark, PastMiss, PastParts};
    use crate::history::{PastEnd, RunOrigin, TestName};

    #[test]
    fn what_a_test_missed_and_what_it_ran_come_into_one_order() {
        let miss = |flaky: bool| PastMiss {
            cause: 0,
            test_fingerprint: "j2:1".to_owned(),
            flaky,
        };
        let on = |branch: &str| PastMark {
            branch: Some(branch.to_owned()),
            ..PastMark::default()
        };
        let viewer = RunOrigin {
            branch: Some("main".to_owned()),
            ..RunOrigin::default()
        };
        let parts = PastParts {
            runs: vec![on("main"), on("main"), on("next"), on("next"), on("main")],
            tests: vec![TestName::new("", "", "t"), TestName::new("", "", "other")],
            causes: vec![("j2:0".to_owned(), None)],
            failed: vec![Vec::new(), vec![(0, miss(false))], vec![(0, miss(true))]],
            ran: vec![(0, vec![0, 1, 2, 3, 4]), (1, vec![1])],
            besides: 0,
        };
        let past = Past::of_parts(&viewer, parts);
        // That it passed on another branch clears nothing.
        let ends = [
            PastEnd::Passed,
            PastEnd::Failed,
            PastEnd::Flaky,
            PastEnd::Passed,
        ];
        assert_eq!(past.recent("", "", "t"), ends);
        assert_eq!(past.recent("", "", "other"), [PastEnd::Passed]);
    }
}
