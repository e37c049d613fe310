//! What a past answers.

use super::{Ended, Past};
use crate::history::record::{PastCause, PastLabel, TestName};
use schemars::JsonSchema;
use serde::Serialize;

/// How a test ended in an earlier run, whatever it failed of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastEnd {
    Passed,
    /// It failed, and passed when it was run again.
    Flaky,
    Failed,
}

/// A test that failed when it was last seen, and passed now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fixed {
    pub test: TestName,
    /// What it failed of.
    pub fingerprint: String,
    pub root_cause: Option<String>,
    /// RFC 3339; when it failed last.
    pub last_seen: Option<String>,
}

/// What is remembered of a cause.
#[derive(Debug, Clone, PartialEq)]
pub struct CausePast {
    pub fingerprint: String,
    /// As it was diagnosed last.
    pub cause: PastCause,
    /// RFC 3339, where known.
    pub first_seen: Option<String>,
    pub last_seen: Option<String>,
    /// Runs that it was seen in.
    pub runs: u32,
    /// Failures of all those runs.
    pub failures: u32,
    /// The tests that it befell, by name.
    pub tests: Vec<TestName>,
}

/// Whom a cause concerns in one of its tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestLabel {
    #[serde(flatten)]
    pub test: TestName,
    #[serde(flatten)]
    pub label: PastLabel,
}

impl Past {
    /// Whom a cause concerns in each test that it befell, as it was diagnosed there
    /// last; by name.
    #[must_use]
    pub fn labels(&self, fingerprint: &str) -> Vec<TestLabel> {
        let Some(cause) = self.prints.get_index_of(fingerprint) else {
            return Vec::new();
        };
        let label = |(test, ends): (&TestName, &[Ended])| {
            let mut ends = ends.iter();
            let last = ends.rfind(|ended| ended.prints.iter().any(|(of, _)| *of == cause))?;
            Some(TestLabel {
                test: test.clone(),
                label: self.label_in(last, cause)?,
            })
        };
        let mut labels: Vec<TestLabel> = self.all_tests().filter_map(label).collect();
        labels.sort_by(|a, b| a.test.cmp(&b.test));
        labels
    }

    /// Whom a cause, by its place in `prints`, concerned where a test ended so.
    pub(super) fn label_in(&self, ended: &Ended, cause: usize) -> Option<PastLabel> {
        let mut prints = ended.prints.iter();
        let of_test = prints.find(|(of, _)| *of == cause);
        let own = of_test.and_then(|(_, test)| self.labels.get(&(ended.run, *test)));
        let fingerprint = self.print(cause);
        let of_run = || {
            let mut seen = self.causes.get(fingerprint)?.iter();
            let (_, cause, _) = seen.rfind(|(run, ..)| *run == ended.run)?;
            Some(cause.label())
        };
        let last = || self.last_cause(fingerprint).map(PastCause::label);
        own.copied().or_else(of_run).or_else(last)
    }
}
