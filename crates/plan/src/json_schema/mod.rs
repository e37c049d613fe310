//! JSON Schemas, most of them written by others, held against values within a
//! budget.
//!
//! A schema of a few lines can ask for more steps than there is time and
//! memory: `anyOf` of two references, nested, doubles with each level. So the
//! steps that a value can take are counted first, without any being taken.
//! Main type: [`BoundedSchema`].

mod parts;
mod steps;
#[cfg(test)]
mod tests;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ReferencingError, ValidationError, Validator};
use parts::SchemaParts;
use serde_json::{Map, Value};
use steps::{SchemaPlace, StepCount, parts_of};

/// Steps that any value may take …
const STEPS: u64 = 1_000_000;
/// … and for each part of a larger one.
const STEPS_A_PART: u64 = 16;
/// Steps from which on an error may hold as many others, of which none is
/// collected.
const STEPS_TOLD: u64 = 50_000;
/// Schemas within schemas; each takes some stack.
const DEPTH: usize = 256;
/// Bytes of a compiled pattern.
const PATTERN_BYTES: usize = 1 << 20;
/// Steps back of a pattern that looks around.
const BACKTRACKS: usize = 50_000;

/// To hold a value against a schema takes more than jelly gives it, which says
/// nothing of either.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "to judge by it takes more {what} than jelly gives a schema, at `{}`",
    shown(pointer)
)]
pub struct TooComplex {
    /// JSON pointer into the schema, to where the budget ended.
    pub pointer: String,
    /// What ran out, as in "steps".
    pub what: &'static str,
}

fn shown(pointer: &str) -> String {
    format!("#{pointer}")
}

/// Why nothing can be held against a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It contradicts JSON Schema or itself: whoever wrote it is wrong.
    #[error("{what}")]
    Wrong {
        /// A fragment.
        what: String,
        /// JSON pointer into the schema.
        pointer: String,
    },
    /// It refers to a document that is not in it. That says nothing of who
    /// wrote it: a client must not fetch it, so it can't judge.
    ///
    /// Source: MCP 2026-07-28, SEP-2106: a `$ref` to the network must not be
    /// followed unasked.
    #[error("it refers to `{0}`, which the server did not send and jelly does not fetch")]
    Elsewhere(String),
    #[error(transparent)]
    TooComplex(#[from] TooComplex),
}

impl From<ValidationError<'_>> for SchemaError {
    fn from(error: ValidationError<'_>) -> Self {
        match error.kind() {
            ValidationErrorKind::Referencing(
                ReferencingError::Unretrievable { uri, .. }
                | ReferencingError::UnknownSpecification { specification: uri },
            ) => Self::Elsewhere(uri.clone()),
            _ => Self::Wrong {
                what: error.to_string(),
                pointer: error.instance_path().to_string(),
            },
        }
    }
}

/// A schema that is ready to be held against values.
#[derive(Debug)]
pub struct BoundedSchema {
    schema: Value,
    validator: Validator,
    parts: SchemaParts,
}

impl BoundedSchema {
    /// Compiles a schema; nothing outside of it is read.
    ///
    /// # Errors
    /// It is none, refers to what is not in it, or is too large.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let mut parts = SchemaParts::default();
        parts.look_at(schema, &mut String::new())?;
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(BACKTRACKS)
            .size_limit(PATTERN_BYTES);
        let validator = jsonschema::options()
            .with_pattern_options(patterns)
            .build(schema)
            .map_err(|error| too_large_a_pattern(schema, &error).unwrap_or_else(|| error.into()))?;
        Ok(Self {
            schema: schema.clone(),
            validator,
            parts,
        })
    }

    /// As it was given.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Whether the value fits.
    ///
    /// # Errors
    /// To say so takes too many steps.
    pub fn is_valid(&self, value: &Value) -> Result<bool, TooComplex> {
        self.steps(value)?;
        if self.validator.is_valid(value) {
            return Ok(true);
        }
        if self.parts.looks_around {
            self.errors(value, 1)?;
        }
        Ok(false)
    }

    /// Where the value does not fit, up to `most` places. None of a value
    /// that does not fit where each place may hold more than can be kept.
    ///
    /// # Errors
    /// To say so takes too many steps.
    pub fn errors<'v>(
        &'v self,
        value: &'v Value,
        most: usize,
    ) -> Result<Vec<ValidationError<'v>>, TooComplex> {
        let errors: Vec<_> = match self.steps(value)? {
            steps if steps <= STEPS_TOLD => self.validator.iter_errors(value).take(most).collect(),
            _ if self.parts.has_alternatives => Vec::new(),
            // Of very many places, only the first is asked for.
            _ => self.validator.validate(value).err().into_iter().collect(),
        };
        match errors.iter().find(|error| gave_up(error)) {
            Some(error) => Err(TooComplex {
                pointer: error.schema_path().to_string(),
                what: "steps of a pattern",
            }),
            None => Ok(errors),
        }
    }

    /// The most steps that the value can take.
    fn steps(&self, value: &Value) -> Result<u64, TooComplex> {
        let size = parts_of(value);
        let budget = STEPS.saturating_add(STEPS_A_PART.saturating_mul(size));
        let at_most = self.parts.all.saturating_mul(size);
        if !self.parts.may_repeat && at_most <= budget {
            return Ok(at_most);
        }
        let mut count = StepCount {
            schema: self,
            left: budget,
        };
        count.look(&self.schema, &SchemaPlace::at(""), "", value, DEPTH)?;
        Ok(budget - count.left)
    }
}

/// A pattern that is one, and is too large.
fn too_large_a_pattern(schema: &Value, error: &ValidationError<'_>) -> Option<SchemaError> {
    let pointer = error.instance_path().to_string();
    let pattern = schema.pointer(&pointer)?.as_str();
    let names = schema.pointer(&pointer)?.as_object();
    let mut patterns = pattern
        .into_iter()
        .chain(names.into_iter().flat_map(Map::keys).map(String::as_str));
    patterns
        .any(|pattern| {
            let built = regex::RegexBuilder::new(pattern)
                .size_limit(PATTERN_BYTES)
                .build();
            matches!(built, Err(regex::Error::CompiledTooBig(_)))
        })
        .then(|| {
            TooComplex {
                pointer,
                what: "memory for a pattern",
            }
            .into()
        })
}

/// Whether a pattern was given up, in it or in one of its alternatives.
fn gave_up(error: &ValidationError<'_>) -> bool {
    match error.kind() {
        ValidationErrorKind::BacktrackLimitExceeded { .. } => true,
        ValidationErrorKind::AnyOf { context }
        | ValidationErrorKind::OneOfNotValid { context }
        | ValidationErrorKind::OneOfMultipleValid { context } => {
            context.iter().flatten().any(gave_up)
        }
        _ => false,
    }
}
