//! What the triage of test reports found, as it is printed.

use super::diagnosis::Diagnosis;
use serde::{Deserialize, Serialize};

/// What one report holds, counted element by element: what its attributes
/// claim is never trusted, and a difference is a warning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportSummary {
    /// As it was named on the command line, or found below a folder.
    pub path: String,
    /// The writer, as in `pytest`; `junit` where it can't be told.
    pub dialect: String,
    /// passed + failed + errors + skipped + flaky.
    pub tests: u64,
    pub passed: u64,
    pub failed: u64,
    pub errors: u64,
    pub skipped: u64,
    /// Failed at first and passed in the end.
    pub flaky: u64,
    /// Suites that failed without a case to show it: handed on as failures,
    /// and not counted among the tests.
    #[serde(skip_serializing_if = "is_zero")]
    pub suite_errors: u64,
    /// Seconds, where the report tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// What the reader noticed: wrong counts, a recovered truncation.
    pub warnings: Vec<String>,
    /// Why this report can't be trusted to be whole: missing, empty,
    /// truncated, no test report. Such a report is exit code 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The path of the report that tells the same run; this one is not
    /// counted again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// What the elements say, before reruns are taken together.
    #[serde(skip)]
    pub elements: ElementCounts,
    /// Equal for reports that tell the same run: a digest over the cases with
    /// their outcomes and durations, whatever their order. Absent for reports
    /// without a case.
    #[serde(skip)]
    pub identity: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Cases of a report by the elements that they hold: one with a `<failure>`
/// and an `<error>` counts for both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ElementCounts {
    pub cases: u64,
    /// Cases with a `<failure>`.
    pub failed: u64,
    /// Cases with an `<error>`.
    pub errors: u64,
    /// Cases with `<skipped>`; others may say so by an attribute.
    pub skipped: u64,
    /// Cases with a `<flakyFailure>` or a `<flakyError>`.
    pub flaky: u64,
    /// Cases with a `<rerunFailure>` or a `<rerunError>`.
    pub rerun: u64,
    /// Cases with a `<failure>` or an `<error>`.
    pub failed_or_error: u64,
}

/// How a case of a report ended, for those that are triaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureStatus {
    Failure,
    Error,
    /// It failed, and passed when it was run again.
    Flaky,
}

/// What earlier runs say of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recurrence {
    /// Never seen before.
    New,
    /// It failed like this in the run before.
    Known,
    /// It failed like this once, passed in between, and is back.
    Regressed,
    /// It comes and goes without the code being the reason.
    Flaky,
}

/// The past of one test with its cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailureHistory {
    pub state: Recurrence,
    /// RFC 3339; absent where the baseline has no times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<String>,
    /// Recorded runs, this one not included.
    pub runs: u32,
    /// Of those, the ones in which it failed like this.
    pub failed: u32,
    /// `failed / runs`, between 0 and 1; 0 without runs.
    pub rate: f64,
}

/// One failure of a report with its diagnosis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TriagedFailure {
    /// Path of the report.
    pub report: String,
    /// Names of the suites around it, outermost first, joined by ` > `.
    #[serde(default)]
    pub suite: String,
    #[serde(default)]
    pub classname: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub status: FailureStatus,
    /// Whether the baseline or the history has it; absent without either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_existing: Option<bool>,
    pub diagnosis: Diagnosis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<FailureHistory>,
}
