//! What differs between two texts that are too long to be read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What differs between two long texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct TextDifference {
    /// The first of it in words, as in `line 7: got "b" instead of "a"`.
    pub first: String,
    /// The changed lines, as hunks of a unified diff, cut where they are many.
    pub hunks: String,
}
