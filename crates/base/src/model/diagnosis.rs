//! What triage says of a failure.

use super::fix::Fix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Whom a failure concerns.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The plan, the environment, the infrastructure; ambiguous cases too.
    Test,
    /// The server (or product) under test.
    Code,
}

/// The five categories of the root-cause report.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCategory {
    Infrastructure,
    Assertion,
    Locator,
    Timeout,
    Other,
}

/// The bytes that a rule matched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The field of the failure, as in `stderr` or `exit.code`.
    pub field: String,
    /// The telling line or value, redacted and cut to a readable length.
    pub text: String,
}

/// Seen before in this run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Repeated {
    /// 1-based.
    pub first_iteration: u32,
    /// Sightings, this one included.
    pub count: u32,
}

/// What history says of a confirmed mismatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    PassedBefore,
    NeverPassed,
}

/// A hint that the server's own code may be involved though the failure is
/// test-side, as a traceback during start-up is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Suspect {
    Code,
}

/// Advice that a person can act on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// What happened.
    pub what: String,
    /// Why it happens.
    pub why: String,
    /// Steps in order; a line that starts with `$ ` is a command to paste.
    pub fix: Vec<Fix>,
}

/// Advice of which what many are told alike stands in memory once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedAdvice {
    /// What happened.
    pub what: String,
    /// Why it happens.
    pub why: Arc<str>,
    /// As in [`Advice`].
    pub fix: Arc<[Fix]>,
}

impl From<Advice> for SharedAdvice {
    fn from(advice: Advice) -> Self {
        Self {
            what: advice.what,
            why: advice.why.into(),
            fix: advice.fix.into(),
        }
    }
}

/// The verdict of triage on one failure.
///
/// `retryable` is absent exactly when `error_category` is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    pub side: Side,
    /// The evidence does not tell whom it concerns; the side is then `test`.
    pub ambiguous: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_category: Option<ErrorCategory>,
    /// The kind of cause in a snake_case word, as in `command_not_found`.
    pub root_cause: String,
    /// Whether the same test may pass unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// Id of the rule, as in `process/missing-directory`.
    pub rule: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Equal for the same cause in different tests.
    pub fingerprint: String,
    /// The cause together with the identity of the step or test.
    pub test_fingerprint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Repeated>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// It comes and goes.
    #[serde(default)]
    pub flaky: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspect: Option<Suspect>,
    /// What failed the expectation is an answer that is an error as a whole,
    /// and may be anybody's: only of a step that passed before is it the code's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub error_answer: bool,
    /// The server told, while it answered with nothing or ended, that a service did not
    /// answer it: that proves nothing against its code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreached: bool,
    /// Id of the repair that applies, as in `filesystem_workspace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
    /// Why a mismatch is not held against the code, in a snake_case word:
    /// `not_repeatable`, `repair_ineffective`, `after_restart`, `duration`,
    /// `environment` (of another mismatch over the same answer), `unconfirmed`,
    /// `earlier_step_not_done`, `earlier_step_failed`, `made_by_jelly`,
    /// `error_answer`, `own_limit`, `same_code`, `service_died`, `unanswered`,
    /// `unreached`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excused: Option<String>,
    /// Id of the step that excuses it: with `earlier_step_not_done`, the one
    /// that did not run; with `earlier_step_failed`, the one that failed for a
    /// cause that is not held against the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excused_by: Option<String>,
    /// With `same_code`: what proves that the step passed before on the very code
    /// that fails it now, as in `commit 0123…` or `npm server@1.2.3`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_code: Vec<String>,
    pub advice: Advice,
}

impl Diagnosis {
    /// Of which nothing is known: test-side and ambiguous, by no rule.
    pub const BLANK: Self = Self {
        side: Side::Test,
        ambiguous: true,
        error_category: None,
        root_cause: String::new(),
        retryable: None,
        rule: String::new(),
        evidence: None,
        fingerprint: String::new(),
        test_fingerprint: String::new(),
        repeated: None,
        standing: None,
        flaky: false,
        suspect: None,
        error_answer: false,
        unreached: false,
        repair: None,
        excused: None,
        excused_by: None,
        same_code: Vec::new(),
        advice: Advice {
            what: String::new(),
            why: String::new(),
            fix: Vec::new(),
        },
    };
}

impl Default for Diagnosis {
    fn default() -> Self {
        Self::BLANK
    }
}
