//! What the combinations of a plan's matrix came to, side by side: the
//! `matrix[]` of `results.json`.

use super::{Because, Section, ServerState, StepState, Verdict};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// By step, what was answered in the last iteration: `{"result": …}` or
/// `{"error": …}`, redacted and bounded.
pub type StepAnswers = BTreeMap<String, Value>;

/// One plan in all of its combinations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixReport {
    /// The plan's name and path, as the user gave them.
    pub plan: String,
    /// As the user gave it.
    pub path: String,
    /// As in `protocol` or `servers.files`, with the values in turn.
    pub axes: IndexMap<String, Vec<String>>,
    /// In the order in which they were run; the first one is what the others
    /// are compared with.
    pub variants: Vec<MatrixVariant>,
    /// In the plan's order.
    pub steps: Vec<MatrixStep>,
    /// Steps that came to something else than in the first variant.
    pub differences: Vec<Difference>,
}

/// One combination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixVariant {
    /// As in `2025-06-18, files_next`.
    pub name: String,
    /// By axis.
    pub values: IndexMap<String, String>,
    pub verdict: Verdict,
    /// Of its run.
    pub exit_code: u8,
    /// Where its reports lie.
    pub report_dir: Option<String>,
    /// Those that were started.
    pub servers: Vec<MatrixServer>,
    /// Those that its last plan holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<MatrixRepair>,
}

/// A repair that one combination came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixRepair {
    /// As in `tool_name`.
    pub id: String,
    /// Server or step, as in `servers.files` or `steps.write`.
    pub target: String,
    /// Why, in a sentence.
    pub explanation: String,
}

/// A server as one combination found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixServer {
    /// In the plan.
    pub name: String,
    pub state: ServerState,
    /// `modern` or `legacy`; null where it was not settled.
    pub era: Option<String>,
    /// The revision that was agreed on.
    pub protocol_version: Option<String>,
}

/// One step in all combinations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixStep {
    /// Of the step.
    pub id: String,
    /// Where the plan has it, as `file:line:column`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    pub section: Section,
    /// One for each variant, in their order; none where the variant's run did
    /// not come to the step.
    pub cells: Vec<Option<MatrixCell>>,
    /// Whether it is named in `differences`.
    pub differs: bool,
}

/// One step in one combination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixCell {
    /// The server that it ran against.
    pub server: String,
    pub state: StepState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<Because>,
    /// Of its failure, or of the server that blocks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<String>,
    /// Volatile, and never a difference.
    pub duration_ms: Option<f64>,
}

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    State,
    RootCause,
    Answer,
    /// The variants' plans are not the same any more.
    Repair,
}

/// A step that came to something else than in the first variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Of a repair: the step, or the server as in `servers.files`.
    pub step: String,
    pub kind: DifferenceKind,
    /// Names of variants: the first one, and the other.
    pub between: [String; 2],
    /// A sentence's end, as in `passed, and failed (connection_refused)`.
    pub text: String,
    /// Of answers: a unified diff, bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}
