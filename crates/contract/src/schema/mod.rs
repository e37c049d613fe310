//! Two JSON Schemas: what the new one allows beside the old one.
//!
//! Main function: [`compare_schemas`]. It claims that a change is compatible only
//! where each value (or each result) that has to stay allowed was shown to: keyword
//! by keyword, since a schema is the conjunction of its keywords, and branch by
//! branch where it is a choice. What can't be shown is breaking.

mod compare;
mod keywords;
mod objects;
mod resolve;
mod types;
mod unions;

use super::change::ChangeKind;
use compare::Comparer;
use serde::Deserialize;
use serde_json::Value;

/// Which way the values go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From client to server: the new schema has to allow what the old one does.
    Input,
    /// From server to client: the old schema has to allow what the new one does.
    Output,
}

impl Direction {
    /// For what stands behind a `not`.
    #[must_use]
    fn flipped(self) -> Self {
        match self {
            Self::Input => Self::Output,
            Self::Output => Self::Input,
        }
    }
}

/// What the new schema allows beside the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    More,
    Less,
    /// Neither can be shown.
    Other,
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
}

/// All changes from one schema to another. Never fails, and takes a bounded time:
/// what is too large to be compared differs, in doubt.
#[must_use]
pub fn compare_schemas(old: &Value, new: &Value, direction: Direction) -> Vec<SchemaChange> {
    Comparer::new(old, new, direction).run()
}

#[cfg(test)]
mod tests;
