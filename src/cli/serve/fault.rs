//! Why a tool could not do what it was asked: what, where, what to do next.

use serde_json::{Map, Value};
use std::fmt::Display;

/// A refusal that goes to the client as the tool's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFault {
    /// A word for programs.
    kind: &'static str,
    what: String,
    location: Option<String>,
    next: String,
}

impl ToolFault {
    pub fn new(kind: &'static str, what: impl Display, next: impl Display) -> Self {
        Self {
            kind,
            what: what.to_string(),
            location: None,
            next: next.to_string(),
        }
    }

    /// With the file, folder or argument that it is about.
    pub fn at(self, location: impl Display) -> Self {
        Self {
            location: Some(location.to_string()),
            ..self
        }
    }

    /// What its client does not wait for any more.
    pub fn cancelled() -> Self {
        Self::new(
            "cancelled",
            "the request was cancelled, and what it had started was stopped",
            "call the tool again",
        )
    }

    /// As fields.
    pub fn json(&self) -> Value {
        let mut error = Map::new();
        error.insert("kind".to_owned(), self.kind.into());
        error.insert("what".to_owned(), self.what.clone().into());
        if let Some(location) = &self.location {
            error.insert("where".to_owned(), location.clone().into());
        }
        error.insert("next".to_owned(), self.next.clone().into());
        Value::Object(Map::from_iter([("error".to_owned(), Value::Object(error))]))
    }
}
