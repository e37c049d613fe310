//! What is asked of a history that many machines share, and what it answers.

use super::origin::RunOrigin;
use super::record::{PastLabel, TestName};
use jelly_base::model::Side;
use schemars::JsonSchema;
use serde::Serialize;

/// Lists within an answer end there.
pub const MOST_LISTED: usize = 100;

/// From when to when something was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeenSpan {
    /// RFC 3339, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<String>,
    /// RFC 3339, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<String>,
}

/// Which runs are asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FleetScope {
    /// Of one project; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Of one branch; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Not before this moment, RFC 3339; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// So many answers at most, 0 for all.
    #[serde(skip)]
    pub limit: usize,
}

/// A cause, and how often it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CauseCount {
    /// Of the cause.
    pub fingerprint: String,
    /// The kind of cause in a snake_case word.
    pub root_cause: String,
    /// Failures by it.
    pub failures: u32,
}

/// A test that comes and goes, on one branch.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FlakyTest {
    /// Absent where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Absent where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(flatten)]
    pub test: TestName,
    /// Runs that are known to have run it.
    pub runs: u32,
    /// Of those, the ones in which it failed and stayed so.
    pub failed: u32,
    /// Of those, the ones in which it failed and passed in the end.
    pub flaky: u32,
    /// Of those, the ones that ended otherwise than the run before.
    pub changes: u32,
    /// Share of its runs that were flaky or ended otherwise than the run before,
    /// between 0 and 1.
    pub flaky_rate: f64,
    /// RFC 3339, where known: when it did not simply pass last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<String>,
    /// What it failed of, the most frequent first; at most three.
    pub causes: Vec<CauseCount>,
}

/// A cause that was not seen before.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NewCause {
    /// Absent where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Of the cause.
    pub fingerprint: String,
    /// The kind of cause in a snake_case word.
    pub root_cause: String,
    pub side: Side,
    /// RFC 3339.
    pub first_seen: String,
    /// Where it was first seen, as far as that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_branch: Option<String>,
    /// Where it was first seen, as far as that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_commit: Option<String>,
    /// RFC 3339.
    pub last_seen: String,
    /// Runs that it was seen in.
    pub runs: u32,
    /// Failures by it.
    pub failures: u32,
    /// Tests that it befell.
    pub tests: u32,
    /// What told it, the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

/// A branch on which a cause was seen.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BranchSighting {
    /// Absent where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Runs that it was seen in there.
    pub runs: u32,
    /// Failures by it there.
    pub failures: u32,
    #[serde(flatten)]
    pub seen: SeenSpan,
}

/// A test that a cause befell.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TestSighting {
    #[serde(flatten)]
    pub test: TestName,
    /// Failures by it there.
    pub failures: u32,
    /// Whom it concerned there, the last time.
    #[serde(flatten)]
    pub label: PastLabel,
    /// RFC 3339, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<String>,
}

/// A commit at which a cause was seen.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CommitSighting {
    /// Its hash.
    pub commit: String,
    /// Failures by it there.
    pub failures: u32,
    /// RFC 3339, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<String>,
}

/// All that is known of where and when a cause was seen, in one project.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CauseAccount {
    /// Absent where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Of the cause.
    pub fingerprint: String,
    /// The kind of cause in a snake_case word.
    pub root_cause: String,
    pub side: Side,
    /// What told it, the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    #[serde(flatten)]
    pub seen: SeenSpan,
    /// Runs that it was seen in.
    pub runs: u32,
    /// Failures by it.
    pub failures: u32,
    /// Where it was seen, the latest first; at most 100.
    pub branches: Vec<BranchSighting>,
    /// What it befell, the most frequent first; at most 100.
    pub tests: Vec<TestSighting>,
    /// At which commits, the latest first; at most 100.
    pub commits: Vec<CommitSighting>,
}

/// How long a test takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SlowTest {
    /// Absent where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(flatten)]
    pub test: TestName,
    /// Results with a duration.
    pub results: u32,
    /// Half of them took no longer.
    pub median_ms: u64,
    /// Nineteen of twenty took no longer.
    pub p95_ms: u64,
    /// The longest.
    pub max_ms: u64,
}

/// How a test ended in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResultOutcome {
    Passed,
    Failure,
    Error,
    Flaky,
}

impl ResultOutcome {
    /// As in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failure => "failure",
            Self::Error => "error",
            Self::Flaky => "flaky",
        }
    }
}

/// A result, with all that is known of its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExportedResult {
    /// RFC 3339, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    #[serde(flatten)]
    pub origin: RunOrigin,
    #[serde(flatten)]
    pub test: TestName,
    pub outcome: ResultOutcome,
    /// How long it took, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Of the cause, where it did not simply pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Of the cause in this test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_fingerprint: Option<String>,
    /// The kind of cause in a snake_case word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<String>,
}
