//! What the triage of test reports found, as it is printed.

use super::diagnosis::{Diagnosis, ErrorCategory, Evidence, SharedAdvice, Side};
use super::exit::Verdict;
use super::failures::{FailureView, Failures};
use super::schema::is_zero;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// All that `jelly triage` found: what `--format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriageReport {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    /// Of `jelly triage`.
    pub exit_code: u8,
    /// `passed_after_retry` where nothing but flaky tests failed,
    /// `needs_user_help` where every failure is test-side.
    pub verdict: Verdict,
    pub health: Health,
    /// By path.
    pub reports: Vec<ReportSummary>,
    /// In the order of the reports and of their cases.
    pub failures: Failures,
    /// By number of victims, most first.
    pub clusters: Vec<Cluster>,
    /// By place in `failures`, the line of the project at which one failed, where its stack tells
    /// it; of some thousands.
    #[serde(skip)]
    #[schemars(skip)]
    pub places: std::collections::HashMap<usize, String>,
    /// Tests that failed before and do not any more; only with a baseline or
    /// a history.
    #[serde(default)]
    pub fixed: Vec<FixedTest>,
    pub retry: RetryPlan,
    /// The failures that a list of known failures covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<super::known::KnownFailure>,
    /// What is wrong around the tests, one sentence a cause.
    pub infrastructure_issues: Vec<String>,
    /// What to do, in the order in which to do it.
    pub recommendations: Vec<String>,
}

impl TriageReport {
    /// The reports that count: of a run that was written twice, one.
    pub fn counted_reports(&self) -> impl Iterator<Item = &ReportSummary> {
        self.reports
            .iter()
            .filter(|report| report.same_as.is_none())
    }

    /// The failures of a cause, in order.
    pub fn victims<'r>(
        &'r self,
        cluster: &'r Cluster,
    ) -> impl Iterator<Item = FailureView<'r>> + Clone {
        let places = cluster.victims.iter();
        places.filter_map(|at| self.failures.get(*at))
    }
}

/// Whether the run as a whole says anything about the code.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    pub state: HealthState,
    /// The first thing to know of the run, in a sentence.
    pub summary: String,
    /// Sums over the reports, each run counted once.
    pub tests: u64,
    /// `tests` without the skipped ones.
    pub executed: u64,
    /// At the first try.
    pub passed: u64,
    /// Failures and errors, `suite_errors` among them.
    pub failed: u64,
    /// Not executed.
    pub skipped: u64,
    /// Failed at first and passed in the end.
    pub flaky: u64,
    /// Suites that failed outside of their tests: in `failed`, and not in
    /// `tests`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub suite_errors: u64,
}

/// What a run's result is worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthState {
    /// Each failure speaks for itself.
    #[default]
    Sound,
    /// Most failures have one cause around the tests, the first cluster: of
    /// the code the run says little.
    OneCause,
    /// No test was executed.
    NothingExecuted,
    /// A report is missing, empty, truncated or none.
    Unreadable,
}

/// One cause with its victims.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cluster {
    /// Of the cause.
    pub fingerprint: String,
    /// Fingerprints of the same cause in other words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Victims, flaky ones included.
    pub count: u64,
    /// Victims that passed when they were run again.
    #[serde(default)]
    pub flaky: u64,
    /// Victims that failed as a consequence: a test whose parts or set-up failed, or one
    /// that failed of something else and names what this cause is about.
    #[serde(default)]
    pub consequences: u64,
    /// The kind of cause in a snake_case word.
    pub root_cause: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_category: Option<ErrorCategory>,
    pub side: Side,
    /// The evidence does not tell whom it concerns.
    #[serde(default)]
    pub ambiguous: bool,
    /// Whether the victims may pass unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// What it is about, as `db:5432`, where all victims name the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The cause in a sentence.
    pub title: String,
    /// A victim's name.
    pub example: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Id of the rule that knows it.
    pub rule: String,
    /// `file:line` at which the first victim failed, as its stack tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    pub advice: SharedAdvice,
    /// Places in `failures`, from 0.
    pub victims: Vec<usize>,
}

/// A test that failed before and does not any more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FixedTest {
    /// Names of the suites around it, outermost first, joined by ` > `.
    #[serde(default)]
    pub suite: String,
    /// Of the case.
    #[serde(default)]
    pub classname: String,
    /// Of the case.
    pub name: String,
    /// What it failed of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<String>,
}

/// What to run again: the tests that failed of something that may pass by
/// itself, and no other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetryPlan {
    /// Each test once, by its name in the report with file or class before it.
    /// Behind it stands in brackets which report it is of, where several of one
    /// framework lie in different folders. What a command runs besides these,
    /// `notes` tells.
    pub tests: Vec<String>,
    /// One shell command a line, for a POSIX shell: of reports in different
    /// folders one each, in the folder of its tests where that is there, or behind
    /// the report's name, as the argument of `:`, which does nothing.
    pub commands: Vec<String>,
    /// Tests of `tests` that no command runs, since jelly does not know how
    /// their framework selects them.
    #[serde(default)]
    pub without_command: Vec<String>,
    /// What to know before the commands are run.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What one report holds, counted element by element: what its attributes
/// claim is never trusted, and a difference is a warning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportSummary {
    /// As it was named on the command line, or found below a folder.
    pub path: String,
    /// The writer, as in `pytest`; `junit` where it can't be told.
    pub dialect: String,
    /// passed + failed + errors + skipped + flaky.
    pub tests: u64,
    /// At the first try.
    pub passed: u64,
    /// By a failure.
    pub failed: u64,
    /// By an error.
    pub errors: u64,
    /// Not executed.
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
    /// What the elements say, before each case is given one outcome.
    pub elements: ElementCounts,
    /// Equal for reports that tell the same run: a digest over the cases with
    /// their outcomes and durations, whatever their order. Absent for reports
    /// without a case.
    #[serde(skip)]
    pub identity: Option<String>,
    /// What the history counts once: this content in this run. Absent where
    /// nothing says which run it is of, or nobody will remember it.
    #[serde(skip)]
    pub record_key: Option<String>,
    /// Where and when it ran: reports that tell the same may be of two runs.
    #[serde(skip)]
    pub ran_at: RanAt,
    /// What its failures say. Two writers of one run say it in different words, so
    /// it is no part of the identity.
    #[serde(skip)]
    pub said: FailureTexts,
    /// What of its cases was an attempt that the writer does not mark.
    #[serde(skip)]
    pub reruns: UnmarkedReruns,
    /// It may hold no test: its writer writes a report for each part of a run, and
    /// that of another part holds tests.
    #[serde(skip)]
    pub may_be_empty: bool,
}

impl ReportSummary {
    /// Whether it says nothing, since there is no test in it.
    #[must_use]
    pub fn is_hollow(&self) -> bool {
        let is_empty = self.tests == 0 && self.suite_errors == 0;
        is_empty && self.same_as.is_none() && !self.may_be_empty
    }
}

/// Cases of tests that were run again, where the writer tells a failed attempt as a case
/// that passed: by their ordinals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnmarkedReruns {
    /// They failed, and a later case tells how the test ended.
    pub attempts: BTreeSet<u64>,
    /// They passed after such an attempt.
    pub passed: BTreeSet<u64>,
}

/// What the failures of a report say, as a digest, and in which format of which writer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailureTexts {
    /// A hash of writer and format. Absent where nobody read the texts.
    pub format: Option<u64>,
    /// A sum over the failures, whatever their order.
    pub texts: u64,
}

impl FailureTexts {
    /// What all of these reports say together; of no format where they have several.
    #[must_use]
    pub fn of_all(parts: impl IntoIterator<Item = Self>) -> Self {
        let both = |one: Self, other: Self| Self {
            format: one.format.filter(|format| other.format == Some(*format)),
            texts: one.texts.wrapping_add(other.texts),
        };
        parts.into_iter().reduce(both).unwrap_or_default()
    }

    /// Whether two reports with the same cases are of two runs, since one writer says
    /// different things of their failures.
    #[must_use]
    pub fn is_apart_from(&self, other: &Self) -> bool {
        self.format.is_some() && self.format == other.format && self.texts != other.texts
    }
}

/// Machines and times of a run, as its report names them: hashes of the texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RanAt {
    pub hosts: BTreeSet<u64>,
    pub times: BTreeSet<u64>,
    /// Properties of its suites: names with values, as `java.version`.
    pub settings: BTreeSet<(u64, u64)>,
}

impl RanAt {
    /// Suites whose hosts and times are kept: if all of them differ, more
    /// would, too.
    const MOST: usize = 64;

    /// Properties that are kept.
    const SETTINGS: usize = 512;

    /// Keeps one more property, as long as there are few.
    pub fn note_setting(&mut self, name: u64, value: u64) {
        if self.settings.len() < Self::SETTINGS {
            self.settings.insert((name, value));
        }
    }

    /// Whether a property that both have has no value in common.
    fn is_set_apart_from(&self, other: &Self) -> bool {
        let of = |name: u64| (name, u64::MIN)..=(name, u64::MAX);
        self.settings.iter().any(|(name, _)| {
            let mut values = self.settings.range(of(*name));
            let is_common = values.any(|setting| other.settings.contains(setting));
            !is_common && other.settings.range(of(*name)).next().is_some()
        })
    }

    /// Keeps one more of `known`, as long as there are few.
    pub fn note(known: &mut BTreeSet<u64>, hash: u64) {
        if known.len() < Self::MOST {
            known.insert(hash);
        }
    }

    /// Whether machine, time or properties say that these are two runs, however alike.
    /// Two writers of one run each have a time and properties of their own.
    #[must_use]
    pub fn is_apart_from(&self, other: &Self, of_one_writer: bool) -> bool {
        let apart = |one: &BTreeSet<u64>, other: &BTreeSet<u64>| {
            !one.is_empty() && !other.is_empty() && one.is_disjoint(other)
        };
        let by_writer = || apart(&self.times, &other.times) || self.is_set_apart_from(other);
        apart(&self.hosts, &other.hosts) || of_one_writer && by_writer()
    }
}

/// Cases of a report by the elements that they hold: one with a `<failure>`
/// and an `<error>` counts for both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ElementCounts {
    /// Cases.
    #[serde(rename = "tests")]
    pub cases: u64,
    /// Cases with a `<failure>`.
    #[serde(rename = "failures")]
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
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FailureStatus {
    #[default]
    Failure,
    Error,
    /// It failed, and passed when it was run again.
    Flaky,
}

/// What earlier runs say of a failure.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureHistory {
    pub state: Recurrence,
    /// Whom it concerned when it was last seen: to be shown, and no evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_side: Option<Side>,
    /// RFC 3339; absent where the baseline has no times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<String>,
    /// RFC 3339; absent where the baseline has no times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<String>,
    /// Earlier runs that are known to have run the test.
    pub runs: u32,
    /// Of those, the ones in which it failed like this.
    pub failed: u32,
    /// `failed / runs`, between 0 and 1; 0 without runs.
    pub rate: f64,
}

/// One failure of a report with its diagnosis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriagedFailure {
    /// Path of the report.
    pub report: String,
    /// Names of the suites around it, outermost first, joined by ` > `.
    #[serde(default)]
    pub suite: String,
    /// Of the case.
    #[serde(default)]
    pub classname: String,
    /// Of the case.
    pub name: String,
    /// Where the case stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where the case stands, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub status: FailureStatus,
    /// What the report says of it, on one line, cut to a readable length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the baseline or the history has it; absent without either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_existing: Option<bool>,
    pub diagnosis: Diagnosis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<FailureHistory>,
}
