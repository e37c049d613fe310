//! The output schema that a tool declares, and the texts that an answer holds.

use super::misfit::{Misfit, misfit};
use super::plain;
use jelly_base::text::{TREE_BYTES, tree_bytes, tree_bytes_of};
use jelly_plan::{BoundedSchema, SchemaError, TooComplex};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::cell::OnceCell;

/// Bytes of a text that can be too large.
const LONG: usize = 1 << 20;

/// A JSON Schema that a server declares, compiled when first needed.
#[derive(Debug)]
pub struct Declared {
    pub schema: Value,
    /// What is plainly valid needs no compiled schema.
    is_plain: bool,
    compiled: OnceCell<Result<BoundedSchema, SchemaError>>,
}

impl Declared {
    #[must_use]
    pub fn new(schema: Value) -> Self {
        Self {
            is_plain: plain::is_plain(&schema),
            schema,
            compiled: OnceCell::new(),
        }
    }

    /// Whether the value fits, without compiling the schema where that can be
    /// seen at once.
    ///
    /// # Errors
    /// The schema is none, refers to what is not in it, or takes too much.
    pub fn is_valid(&self, value: &Value) -> Result<bool, SchemaError> {
        if self.is_plain && plain::fits(&self.schema, value) {
            return Ok(true);
        }
        Ok(self.compiled()?.is_valid(value)?)
    }

    /// Where the value breaks the schema first, as far as that can be said.
    ///
    /// # Errors
    /// As of [`Declared::is_valid`].
    pub fn misfit(&self, value: &Value) -> Result<Option<Misfit>, SchemaError> {
        Ok(misfit(self.compiled()?, value)?)
    }

    /// # Errors
    /// As of [`Declared::is_valid`].
    pub fn compiled(&self) -> Result<&BoundedSchema, SchemaError> {
        let compiled = self
            .compiled
            .get_or_init(|| BoundedSchema::compile(&self.schema));
        compiled.as_ref().map_err(Clone::clone)
    }

    /// Whether a part of it is missing that jelly does not fetch.
    pub(super) fn is_elsewhere(&self) -> bool {
        !self.is_plain && matches!(self.compiled(), Err(SchemaError::Elsewhere(_)))
    }

    /// What keeps jelly from holding the value against it, though both may be
    /// right.
    pub(super) fn too_complex(&self, value: &Value) -> Option<TooComplex> {
        match self.is_valid(value) {
            Err(SchemaError::TooComplex(why)) => Some(why),
            Ok(_) | Err(SchemaError::Wrong { .. } | SchemaError::Elsewhere(_)) => None,
        }
    }

    /// Why values that were held against it could not be judged, if they
    /// could not; a fragment about the schema.
    #[must_use]
    pub fn unjudged(&self) -> Option<String> {
        match self.compiled.get()? {
            Err(why @ SchemaError::Elsewhere(_)) => Some(why.to_string()),
            Err(SchemaError::Wrong { .. } | SchemaError::TooComplex(_)) | Ok(_) => None,
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

/// Whether the texts of a result are JSON that would be read, and are of more
/// values than jelly reads; a fragment that completes "the server …".
pub fn too_large(result: &Value) -> Option<String> {
    let is_read = result.get("structuredContent").is_none_or(Value::is_null);
    if !is_read || is_error(result) {
        return None;
    }
    let texts = texts_of(result);
    let bytes: usize = texts.iter().map(|text| tree_bytes(text.as_bytes())).sum();
    // Few texts are more than a fraction of it, whatever they hold.
    if bytes <= TREE_BYTES / 8 || bytes + tree_bytes_of(result) <= TREE_BYTES {
        return None;
    }
    let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    let any = texts.iter().any(|text| text.len() > LONG && is_json(text))
        || is_json(&texts.concat())
        || is_json(&texts.join("\n"));
    any.then(|| {
        format!(
            "sent JSON of so many values, as text, that it would take {} MiB as it is read, and \
             jelly gives an answer {} MiB",
            bytes >> 20,
            TREE_BYTES >> 20
        )
    })
}

#[must_use]
pub fn is_error(result: &Value) -> bool {
    result.get("isError").and_then(Value::as_bool) == Some(true)
}
