//! What a fingerprint was made of, as a person reads it.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parts that a fingerprint is the hash of, by name and in their order:
/// `root_cause` first, then what the failure says with its volatile parts
/// replaced, as in `message: connect ECONNREFUSED <host>:<port>`.
///
/// Two failures share a fingerprint exactly when their templates are equal,
/// but for parts that were too long to be kept whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Template {
    parts: IndexMap<String, String>,
}

impl Template {
    /// Adds a part at the end; a name that is there already gets the text.
    pub fn push(&mut self, name: &str, text: impl Into<String>) {
        self.parts.insert(name.to_owned(), text.into());
    }

    /// Lets `change` have the text of every part.
    pub fn for_each_text(&mut self, change: &mut impl FnMut(&mut String)) {
        self.parts.values_mut().for_each(change);
    }

    /// The parts with their names, in their order.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.parts
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The part with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.parts.get(name).map(String::as_str)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}
