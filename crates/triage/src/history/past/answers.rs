//! What a past answers.

use crate::history::record::{PastCause, TestName};

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
