//! What is kept of a run: a line of the history file.

use super::origin::RunOrigin;
use jelly_base::model::{Diagnosis, ErrorCategory, Evidence, FailureStatus, Side, Template};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Version of a line of the history file; raised when a field changes its
/// meaning. Lines of a later version are neither read nor thrown away.
pub const SCHEMA_VERSION: u32 = 1;

/// A test by its names. Of a plan's step these are plan, server and id.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(default)]
pub struct TestName {
    /// Suites joined by ` > `, as in [`TriagedFailure`](jelly_base::model::TriagedFailure).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub suite: String,
    /// Class of the case.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub classname: String,
    /// Name of the case.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

impl TestName {
    #[must_use]
    pub fn new(suite: &str, classname: &str, name: &str) -> Self {
        let [suite, classname, name] = [suite, classname, name].map(|part| kept(part).into_owned());
        Self {
            suite,
            classname,
            name,
        }
    }
}

/// A part of a name as every store can keep it: databases know no NUL in a text.
pub(super) fn kept(part: &str) -> Cow<'_, str> {
    match part.contains('\0') {
        true => Cow::Owned(part.replace('\0', "\u{fffd}")),
        false => Cow::Borrowed(part),
    }
}

impl std::fmt::Display for TestName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<&str> = [&self.suite, &self.classname, &self.name]
            .into_iter()
            .map(String::as_str)
            .filter(|part| !part.is_empty())
            .collect();
        f.write_str(&parts.join(" > "))
    }
}

/// Which command recorded a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// `jelly run`
    Run,
    /// `jelly triage`, and reports of a baseline.
    #[default]
    Triage,
}

/// A report that a run's results come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastReport {
    /// As it was named.
    pub path: String,
    /// Identity of its content: what has the same is the same report, whatever
    /// its path. Empty where there is none, and then equal to nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// Of a plan: its path relative to the project, with `/` between folders;
    /// absent where it lies outside, and in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// How long the plan took in milliseconds, absent where `place` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// A cause as it was diagnosed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastCause {
    pub side: Side,
    /// The evidence did not tell whom it concerned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_category: Option<ErrorCategory>,
    /// Whether the same test may pass unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// The kind of cause in a snake_case word.
    pub root_cause: String,
    /// Id of the rule that knew it.
    pub rule: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// What the fingerprint was made of; empty where it was not kept.
    #[serde(default, skip_serializing_if = "Template::is_empty")]
    pub template: Template,
}

impl PastCause {
    /// What is kept of a diagnosis.
    #[must_use]
    pub fn new(diagnosis: &Diagnosis, template: Template) -> Self {
        Self {
            side: diagnosis.side,
            ambiguous: diagnosis.ambiguous,
            error_category: diagnosis.error_category,
            retryable: diagnosis.retryable,
            root_cause: diagnosis.root_cause.clone(),
            rule: diagnosis.rule.clone(),
            evidence: diagnosis.evidence.clone(),
            template,
        }
    }

    #[must_use]
    pub fn label(&self) -> PastLabel {
        PastLabel {
            side: self.side,
            ambiguous: self.ambiguous,
        }
    }
}

/// Whom a cause concerns: in one test it may be proved, and in another open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastLabel {
    pub side: Side,
    /// The evidence did not tell whom it concerned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
}

impl From<&Diagnosis> for PastLabel {
    fn from(diagnosis: &Diagnosis) -> Self {
        Self {
            side: diagnosis.side,
            ambiguous: diagnosis.ambiguous,
        }
    }
}

/// A test that failed in a run, or that was flaky in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastFailure {
    /// Place in the run's reports, from 0.
    #[serde(default)]
    pub report: usize,
    #[serde(flatten)]
    pub test: TestName,
    pub status: FailureStatus,
    /// Of the cause.
    pub fingerprint: String,
    /// Of the cause in this test.
    pub test_fingerprint: String,
    /// How long the test took in milliseconds, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// A test that passed in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastPass {
    /// Place in the run's reports, from 0.
    #[serde(default)]
    pub report: usize,
    #[serde(flatten)]
    pub test: TestName,
    /// Stands for what the test consists of, where that is known: only a pass
    /// of the same definition says that its expectation ever held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// How long the test took in milliseconds, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Steps that passed on code of which is proved which it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProvenPasses {
    /// Stands for that code, and for no other.
    pub code: String,
    /// [Definitions](PastPass::definition) of the steps.
    pub definitions: Vec<String>,
}

/// An earlier run: what failed in it, and which of the tests that had failed
/// before passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastRun {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    #[serde(default)]
    pub kind: RunKind,
    /// RFC 3339; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Where it comes from; absent in runs of older versions.
    #[serde(default, skip_serializing_if = "RunOrigin::is_unknown")]
    pub origin: RunOrigin,
    /// What its results come from.
    #[serde(default)]
    pub reports: Vec<PastReport>,
    /// By fingerprint.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub causes: BTreeMap<String, PastCause>,
    /// By the fingerprint of a test: whom the cause concerns there, where that is not
    /// as `causes` has it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, PastLabel>,
    /// Tests that failed, or were flaky.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<PastFailure>,
    /// Tests that had failed before, and passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<PastPass>,
    /// [Definitions](PastPass::definition) of steps that passed or failed by
    /// nothing but snapshots, with what these proposed in place of what was
    /// stored: once a proposal is accepted, they stand for steps that passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_if_accepted: Vec<String>,
    /// Of the steps that passed, or do once snapshots are accepted, those whose code
    /// is known for sure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proven: Vec<ProvenPasses>,
}

impl PastRun {
    #[must_use]
    pub fn new(kind: RunKind, at: Option<String>) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            kind,
            at,
            origin: RunOrigin::default(),
            reports: Vec::new(),
            causes: BTreeMap::new(),
            labels: BTreeMap::new(),
            failures: Vec::new(),
            passed: Vec::new(),
            passed_if_accepted: Vec::new(),
            proven: Vec::new(),
        }
    }

    /// Keeps whom a failure concerns, where its cause, which is there already, has it
    /// otherwise.
    pub fn keep_label(&mut self, diagnosis: &Diagnosis) {
        let label = PastLabel::from(diagnosis);
        let cause = self.causes.get(&diagnosis.fingerprint);
        if cause.is_some_and(|cause| cause.label() != label) {
            let test = diagnosis.test_fingerprint.clone();
            self.labels.insert(test, label);
        }
    }

    /// Whom a failure of this run concerns, where that is known.
    pub(super) fn label_of(&self, failure: &PastFailure) -> Option<PastLabel> {
        let own = self.labels.get(&failure.test_fingerprint).copied();
        let of_cause = || self.causes.get(&failure.fingerprint).map(PastCause::label);
        own.or_else(of_cause)
    }

    /// Takes out the reports whose digests are `known`, with all that comes
    /// from them.
    pub(super) fn without(&mut self, known: &BTreeSet<String>) {
        let mut places: Vec<Option<usize>> = Vec::new();
        let mut kept = Vec::new();
        for report in std::mem::take(&mut self.reports) {
            let known = !report.digest.is_empty() && known.contains(&report.digest);
            places.push((!known).then_some(kept.len()));
            if !known {
                kept.push(report);
            }
        }
        self.reports = kept;
        // What names no report of the run belongs to the run as a whole.
        let moved = |report: &mut usize| match places.get(*report) {
            Some(Some(place)) => {
                *report = *place;
                true
            }
            Some(None) => false,
            None => true,
        };
        self.failures
            .retain_mut(|failure| moved(&mut failure.report));
        self.passed.retain_mut(|pass| moved(&mut pass.report));
        let used: BTreeSet<&str> = self
            .failures
            .iter()
            .map(|failure| failure.fingerprint.as_str())
            .collect();
        self.causes
            .retain(|fingerprint, _| used.contains(fingerprint.as_str()));
        let failures = self.failures.iter();
        let used: BTreeSet<&str> = failures.map(|f| f.test_fingerprint.as_str()).collect();
        self.labels.retain(|test, _| used.contains(test.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::{PastCause, PastFailure, PastLabel, PastReport, PastRun, RunKind, TestName};
    use jelly_base::model::{Diagnosis, FailureStatus, Side, Template};
    use std::collections::BTreeSet;

    #[test]
    fn a_report_is_taken_out_with_all_that_comes_from_it() {
        let mut run = PastRun::new(RunKind::Triage, None);
        for (place, name) in ["a", "b", "c"].into_iter().enumerate() {
            run.reports.push(PastReport {
                path: format!("{name}.xml"),
                digest: name.into(),
                ..PastReport::default()
            });
            run.failures.push(PastFailure {
                report: place,
                test: TestName::new("", "", name),
                status: FailureStatus::Failure,
                fingerprint: "j1:0".into(),
                test_fingerprint: "j1:1".into(),
                duration_ms: None,
            });
        }
        run.without(&BTreeSet::from(["b".to_owned()]));
        let left: Vec<(usize, &str)> = run
            .failures
            .iter()
            .map(|f| (f.report, f.test.name.as_str()))
            .collect();
        assert_eq!(left, [(0, "a"), (1, "c")]);
        assert_eq!(run.reports.len(), 2);
    }

    #[test]
    fn whom_a_cause_concerns_is_kept_by_test_where_it_is_not_the_same() {
        let diagnosis = |test: &str, side: Side| Diagnosis {
            side,
            ambiguous: side == Side::Test,
            fingerprint: "j2:0".into(),
            test_fingerprint: test.into(),
            ..Diagnosis::BLANK
        };
        let mut run = PastRun::new(RunKind::Run, None);
        let first = diagnosis("j2:1", Side::Code);
        let cause = PastCause::new(&first, Template::default());
        run.causes.insert(first.fingerprint.clone(), cause);
        for diagnosis in [&first, &diagnosis("j2:2", Side::Test)] {
            run.keep_label(diagnosis);
        }
        let open = PastLabel {
            side: Side::Test,
            ambiguous: true,
        };
        let kept: Vec<(&str, PastLabel)> = run
            .labels
            .iter()
            .map(|(test, label)| (test.as_str(), *label))
            .collect();
        assert_eq!(kept, [("j2:2", open)]);
    }

    #[test]
    fn a_test_is_named_by_what_it_has() {
        assert_eq!(TestName::new("", "C", "t").to_string(), "C > t");
        assert_eq!(TestName::new("s", "C", "t").to_string(), "s > C > t");
        assert_eq!(TestName::new("s", "C", "a\0b").name, "a\u{fffd}b");
    }
}
