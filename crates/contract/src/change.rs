//! A change of what a server promises.
//!
//! Main type: [`Change`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a change means to clients.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// A client of the old contract may fail.
    Breaking,
    /// What people and models read.
    Text,
    /// No client of the old contract can tell.
    Compatible,
}

impl ChangeKind {
    /// As in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Text => "text",
            Self::Compatible => "compatible",
        }
    }
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Name of the server in the lock.
    pub server: String,
    /// What changed, as in `tools/echo`, `prompts/greet`, `resources/file:///a`,
    /// `capabilities` or `server`.
    pub item: String,
    /// What it means to clients.
    pub kind: ChangeKind,
    /// JSON pointer into the item's definition; empty for all of it.
    pub pointer: String,
    /// What stood there; absent where nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What stands there; absent where nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// Which rule says so, as in `schema/type` or `tool-removed`.
    pub rule: String,
    /// Why it is of this kind.
    pub why: String,
    /// It means that, and does not merely lack the proof of the contrary. In no
    /// JSON, where `why` says it.
    #[serde(skip)]
    pub is_shown: bool,
    /// The era that it was seen in, where the others do not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<String>,
}

/// What `jelly tools diff --format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Changes {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    /// By server and item; of an item, the breaking ones first.
    pub changes: Vec<Change>,
}

/// A change of a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaChange {
    pub kind: ChangeKind,
    /// JSON pointer into the schema, through what it refers to.
    pub pointer: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
    /// As in `schema/type`.
    pub rule: String,
    pub why: String,
    /// See [`Change::is_shown`].
    pub is_shown: bool,
}
