//! The output schema that a tool declares, and the texts that an answer holds.

use super::plain;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ReferencingError, ValidationError, Validator};
use serde_json::Value;
use std::cell::OnceCell;

/// Why a value can't be held against a schema that a server declares.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It contradicts JSON Schema or itself: whoever wrote it is wrong.
    #[error("{0}")]
    Wrong(String),
    /// It refers to a document that the server did not send. That says
    /// nothing of the server: a client must not fetch it, so it can't judge.
    ///
    /// Source: MCP 2026-07-28, SEP-2106: a `$ref` to the network must not be
    /// followed unasked.
    #[error("it refers to `{0}`, which the server did not send and jelly does not fetch")]
    Elsewhere(String),
}

impl From<ValidationError<'_>> for Unusable {
    fn from(error: ValidationError<'_>) -> Self {
        match error.kind() {
            ValidationErrorKind::Referencing(
                ReferencingError::Unretrievable { uri, .. }
                | ReferencingError::UnknownSpecification { specification: uri },
            ) => Self::Elsewhere(uri.clone()),
            _ => Self::Wrong(error.to_string()),
        }
    }
}

/// A JSON Schema that a server declares, compiled when first needed.
#[derive(Debug)]
pub struct Declared {
    pub schema: Value,
    /// What is plainly valid needs no compiled schema.
    is_plain: bool,
    validator: OnceCell<Result<Validator, Unusable>>,
}

impl Declared {
    #[must_use]
    pub fn new(schema: Value) -> Self {
        Self {
            is_plain: plain::is_plain(&schema),
            schema,
            validator: OnceCell::new(),
        }
    }

    /// Whether the value fits, without compiling the schema where that can be
    /// seen at once.
    ///
    /// # Errors
    /// The schema is none, or refers to what is not in it.
    pub fn is_valid(&self, value: &Value) -> Result<bool, &Unusable> {
        if self.is_plain && plain::fits(&self.schema, value) {
            return Ok(true);
        }
        Ok(self.validator()?.is_valid(value))
    }

    /// # Errors
    /// The schema is none, or refers to what is not in it.
    pub fn validator(&self) -> Result<&Validator, &Unusable> {
        self.validator
            .get_or_init(|| jsonschema::validator_for(&self.schema).map_err(Unusable::from))
            .as_ref()
    }

    /// Whether a part of it is missing that jelly does not fetch.
    pub(super) fn is_elsewhere(&self) -> bool {
        !self.is_plain && matches!(self.validator(), Err(Unusable::Elsewhere(_)))
    }

    /// Why values that were held against it could not be judged, if they
    /// could not; a fragment about the schema.
    #[must_use]
    pub fn unjudged(&self) -> Option<String> {
        match self.validator.get()? {
            Err(why @ Unusable::Elsewhere(_)) => Some(why.to_string()),
            Err(Unusable::Wrong(_)) | Ok(_) => None,
        }
    }
}

/// All text blocks of a result, joined by newlines; for results other than a
/// tool's, the texts of its contents or messages.
#[must_use]
pub fn text_of(result: &Value) -> String {
    texts_of(result).join("\n")
}

/// The same, one by one.
#[must_use]
pub fn texts_of(result: &Value) -> Vec<&str> {
    let mut texts: Vec<&str> = Vec::new();
    for list in ["content", "contents", "messages"] {
        for block in result
            .get(list)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let text = block
                .get("text")
                .or_else(|| block.pointer("/content/text"))
                .and_then(Value::as_str);
            texts.extend(text);
        }
    }
    texts
}

#[must_use]
pub fn is_error(result: &Value) -> bool {
    result.get("isError").and_then(Value::as_bool) == Some(true)
}
