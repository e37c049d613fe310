//! Failures that a list names as known: which entry covers what, and which
//! entries have outlived their reason.

use super::diagnosis::Diagnosis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One entry of a list of known failures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownEntry {
    /// `file:line:column`.
    pub at: String,
    /// The test, as `jelly history` names it: plan, server and step of a run, or
    /// suite, class and name of a report, joined by ` > `.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Of the cause in this test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_fingerprint: Option<String>,
    /// Of the cause, in whatever test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The fingerprint alone decides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any_test: bool,
    /// Why it is accepted for now.
    pub reason: String,
    /// Who takes care of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The last day on which it holds, as `2027-01-31`, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// That it passes at times is known too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flaky: bool,
}

/// What covers a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownMark {
    pub entry: KnownEntry,
    /// The test that failed.
    pub test: String,
}

/// A failure that an entry covers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFailure {
    pub entry: KnownEntry,
    /// The test that failed.
    pub test: String,
    /// Of the cause.
    pub fingerprint: String,
    pub diagnosis: Diagnosis,
}

/// An entry that should be taken out of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaleEntry {
    pub entry: KnownEntry,
    pub because: StaleReason,
}

/// Why an entry should be taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StaleReason {
    /// Its test ran, and passed.
    Passed,
    /// It is past its last day.
    Expired,
    /// Nothing in the whole run failed of it.
    NotSeen,
}

impl KnownEntry {
    /// Whether its last day has passed; `today` is written as it is.
    #[must_use]
    pub fn is_expired(&self, today: &str) -> bool {
        self.expires.as_deref().is_some_and(|last| last < today)
    }

    /// Whether a failure of `test` is the one that is meant. A test alone says
    /// nothing of its cause, so that it stands for wrong answers only: never
    /// for a server that died, nor for a broken contract.
    #[must_use]
    pub fn covers(
        &self,
        test: &str,
        is_mismatch: bool,
        diagnosis: &Diagnosis,
        today: &str,
    ) -> bool {
        let Self {
            at: _,
            test: of_test,
            test_fingerprint,
            fingerprint,
            any_test,
            reason: _,
            owner: _,
            expires: _,
            flaky: _,
        } = self;
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        let by_cause = test_fingerprint.is_some() || fingerprint.is_some();
        let says_which = of_test.is_some() || (*any_test && fingerprint.is_some());
        says_which
            && (by_cause || is_mismatch)
            && is(of_test, test)
            && is(test_fingerprint, &diagnosis.test_fingerprint)
            && is(fingerprint, &diagnosis.fingerprint)
            && !self.is_expired(today)
    }
}

#[cfg(test)]
mod tests {
    use super::KnownEntry;
    use crate::model::Diagnosis;

    fn entry(test: &str, test_print: &str, print: &str) -> KnownEntry {
        let set = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        KnownEntry {
            test: set(test),
            test_fingerprint: set(test_print),
            fingerprint: set(print),
            any_test: test.is_empty(),
            expires: Some("2026-11-25".to_owned()),
            ..KnownEntry::default()
        }
    }

    #[test]
    fn an_entry_covers_what_it_names_and_nothing_else() {
        let mut diagnosis = Diagnosis::BLANK;
        diagnosis.fingerprint = "j2:c".to_owned();
        diagnosis.test_fingerprint = "j2:t".to_owned();
        for (entry, test, is_mismatch, covered) in [
            (entry("p > s > a", "", ""), "p > s > a", true, true),
            // A death or a broken contract, whose cause nobody has named.
            (entry("p > s > a", "", ""), "p > s > a", false, false),
            (entry("p > s > a", "", ""), "p > s > b", true, false),
            (entry("p > s > a", "j2:t", ""), "p > s > a", false, true),
            (entry("p > s > a", "j2:x", ""), "p > s > a", true, false),
            (entry("p > s > a", "", "j2:c"), "p > s > a", false, true),
            (entry("", "", "j2:c"), "whatever", false, true),
            (entry("", "", "j2:x"), "whatever", true, false),
            // Says neither test nor cause.
            (entry("", "", ""), "whatever", true, false),
        ] {
            let covers = |day: &str| entry.covers(test, is_mismatch, &diagnosis, day);
            assert_eq!(covers("2026-11-25"), covered, "{entry:?}");
            assert!(!covers("2026-11-26"), "it is expired");
        }
    }
}
