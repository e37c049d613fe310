//! What is known of a fingerprint, wherever it was found.

use jelly_base::model::Advice;
use jelly_triage::history::{CausePast, PastCause, PastLabel, TestLabel, TestName};
use schemars::JsonSchema;
use serde::Serialize;

/// One cause.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Known {
    /// Of the cause.
    pub fingerprint: String,
    #[serde(flatten)]
    pub cause: PastCause,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<Advice>,
    /// Where it was seen, without the history.
    pub reports: Vec<String>,
    /// The tests that it befell, by name.
    pub tests: Vec<TestName>,
    /// Whom it concerns in each of them, by name; absent where that is the same in all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<TestLabel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Seen>,
}

/// What the history says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Seen {
    /// Runs that it was seen in.
    pub runs: u32,
    /// Runs that are remembered.
    pub of_runs: u32,
    /// Failures by it.
    pub failures: u32,
    /// RFC 3339, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<String>,
    /// RFC 3339, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<String>,
}

impl Known {
    pub fn new(fingerprint: String, cause: PastCause) -> Self {
        Self {
            fingerprint,
            cause,
            advice: None,
            reports: Vec::new(),
            tests: Vec::new(),
            labels: Vec::new(),
            history: None,
        }
    }

    /// Adds what the history says; of the cause, what a report says holds.
    pub fn add_past(&mut self, past: CausePast, of_runs: usize) {
        if self.cause.template.is_empty() {
            self.cause.template = past.cause.template;
        }
        self.history = Some(Seen {
            runs: past.runs,
            of_runs: u32::try_from(of_runs).unwrap_or(u32::MAX),
            failures: past.failures,
            first_seen: past.first_seen,
            last_seen: past.last_seen,
        });
        for test in past.tests {
            self.add_test(test);
        }
    }

    pub fn add_test(&mut self, test: TestName) {
        if let Err(place) = self.tests.binary_search(&test) {
            self.tests.insert(place, test);
        }
    }

    /// Adds whom it concerns in a test; what was said first holds.
    pub fn add_label(&mut self, test: &TestName, label: PastLabel) {
        let place = self.labels.binary_search_by(|known| known.test.cmp(test));
        if let Err(place) = place {
            let test = test.clone();
            self.labels.insert(place, TestLabel { test, label });
        }
    }

    /// Leaves out labels that all tests share.
    pub fn drop_shared_label(&mut self) {
        let first = self.labels.first().map(|one| one.label);
        if self.labels.iter().all(|one| Some(one.label) == first) {
            self.labels.clear();
        }
    }

    pub fn add_report(&mut self, report: &str) {
        if !self.reports.iter().any(|known| known == report) {
            self.reports.push(report.to_owned());
        }
    }
}
