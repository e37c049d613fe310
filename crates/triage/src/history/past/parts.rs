//! A past of what a database keeps in tables: each test and each cause once.

use super::{Past, RunMark};
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
    /// Of each run: the places of tests that ran, those that failed among them.
    pub ran: Vec<Vec<usize>>,
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
        let mut ran = parts.ran.into_iter();
        for (index, mark) in parts.runs.into_iter().enumerate() {
            let origin = RunOrigin {
                branch: mark.branch,
                ..RunOrigin::default()
            };
            past.runs.push(RunMark {
                at: mark.at,
                digests: Vec::new(),
                durations: mark.durations,
            });
            let here = viewer.may_share_branch(&origin);
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
            let passed = ran.next().unwrap_or_default();
            if here {
                for place in passed.iter().filter_map(|test| places.get(*test)) {
                    past.tests[*place].ended_in(index, here);
                }
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
        past.end = past.runs.len();
        past
    }
}
