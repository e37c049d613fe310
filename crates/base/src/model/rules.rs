//! Rules of triage as they are shown to people and programs.

use super::diagnosis::{Advice, Diagnosis, ErrorCategory};
use super::failure::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A rule with all that it says.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RuleInfo {
    /// `domain/name`.
    pub id: String,
    /// What the id begins with.
    pub domain: String,
    /// When it is asked.
    pub asked: Asked,
    /// The cause that it names.
    pub root_cause: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_category: Option<ErrorCategory>,
    /// Whether the same test may pass unchanged; present exactly when the
    /// category is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// `test`, `code` or `ambiguous`.
    pub side: String,
    /// `fact`, `signature`, `hint` or `fallback`.
    pub strength: String,
    /// The higher wins among equals.
    pub priority: i32,
    /// Id of the repair that mends this kind of failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
    /// The typed conditions, as the file writes them; empty for none.
    pub when: Value,
    /// Regular expressions, of which one must match.
    pub patterns: Vec<String>,
    /// None of these may match the same text.
    pub unless: Vec<String>,
    /// The texts that the patterns apply to.
    pub fields: Vec<String>,
    /// With its placeholders.
    pub advice: Advice,
    /// Each a text or a failure.
    pub examples: Vec<Value>,
    /// What it must not decide, likewise.
    pub lookalikes: Vec<Value>,
}

/// When a rule is asked. The order is the order of asking: a rule that is
/// asked earlier wins over all that come later, whatever their evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// A rule of the user's, before the built-in ones.
    Before,
    Builtin,
    /// A rule of the user's, where the others say nothing.
    After,
}

/// A root cause that rules may name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CauseInfo {
    /// The snake_case word of a diagnosis.
    pub root_cause: String,
    /// Causes that are mended alike share one.
    pub group: String,
    /// In words.
    pub meaning: String,
}

/// A bucket of Provar's failure report, and where it is found here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProvarBucket {
    /// Its name there.
    pub bucket: String,
    /// Its name here.
    pub root_cause: String,
    /// The rule that speaks of the bucket in its own words, or the chief one
    /// of several.
    pub rule: String,
    /// A text of the bucket, with which the mapping is tested.
    pub example: String,
}

/// How a diagnosis came about.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    pub failure: Failure,
    pub diagnosis: Diagnosis,
    /// What was read, most telling first.
    pub texts: Vec<TextInfo>,
    /// The rules that hold, strongest first; the first one decided.
    pub matches: Vec<MatchInfo>,
    /// Rules whose pattern matched and whose `unless` did too.
    pub vetoed: Vec<VetoInfo>,
    /// Rules whose pattern matched and whose typed conditions do not hold.
    pub withheld: Vec<WithheldInfo>,
}

/// A text of the failure.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TextInfo {
    /// The field as evidence names it.
    pub field: String,
    /// 0 is the most telling.
    pub rank: u8,
    /// Texts in reserve are left unread when an earlier one says enough.
    pub read: bool,
    /// Its beginning, on one line.
    pub text: String,
}

/// A rule that holds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatchInfo {
    /// Its id.
    pub rule: String,
    pub asked: Asked,
    /// What it names.
    pub root_cause: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_category: Option<ErrorCategory>,
    /// Whether the same test may pass unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// `test`, `code` or `ambiguous`.
    pub side: String,
    /// `fact`, `signature`, `hint` or `fallback`.
    pub strength: String,
    /// Of the text that it matched; for facts and fallbacks 0.
    pub rank: u8,
    /// The higher wins among equals.
    pub priority: i32,
    /// None for a rule that only has typed conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<Matched>,
    /// Why it is behind the one that decided; none for that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
}

/// Where a pattern matched.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Matched {
    /// The field as evidence names it.
    pub field: String,
    /// The regular expression.
    pub pattern: String,
    /// What it matched.
    pub text: String,
}

/// A match that an exception of the rule took back.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VetoInfo {
    /// Its id.
    pub rule: String,
    pub matched: Matched,
    /// The pattern under `unless`.
    pub unless: String,
}

/// A match that the rule's typed conditions shut out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WithheldInfo {
    /// Its id.
    pub rule: String,
    pub matched: Matched,
    /// The conditions, as the file writes them.
    pub when: Value,
}
