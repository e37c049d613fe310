//! Two JSON Schemas: what the new one allows beside the old one.
//!
//! Main function: [`compare_schemas`]. It claims that a change is compatible only
//! where each value (or each result) that has to stay allowed was shown to: keyword
//! by keyword, since a schema is the conjunction of its keywords, and branch by
//! branch where it is a choice. What can't be shown is breaking.

mod compare;
mod keywords;
mod known;
mod objects;
mod resolve;
mod types;
mod unions;

use super::change::SchemaChange;
use super::direction::Direction;
use compare::Comparer;
use serde_json::Value;

/// All changes from one schema to another. Never fails, and takes a bounded time:
/// what is too large to be compared differs, in doubt.
#[must_use]
pub fn compare_schemas(old: &Value, new: &Value, direction: Direction) -> Vec<SchemaChange> {
    Comparer::new(old, new, direction).run()
}

#[cfg(test)]
mod tests;
