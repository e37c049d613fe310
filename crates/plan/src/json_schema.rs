//! JSON Schemas, most of them written by others, held against values within a
//! budget.
//!
//! A schema of a few lines can ask for more steps than there is time and
//! memory: `anyOf` of two references, nested, doubles with each level. So the
//! steps that a value can take are counted first, without any being taken.
//! Main type: [`BoundedSchema`].

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ReferencingError, ValidationError, Validator};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt;

/// Steps that any value may take …
const STEPS: u64 = 1_000_000;
/// … and for each part of a larger one.
const STEPS_A_PART: u64 = 16;
/// Steps from which on an error may hold as many others, of which none is
/// collected.
const STEPS_TOLD: u64 = 50_000;
/// Schemas within schemas; each takes some stack.
const DEPTH: usize = 256;
/// Parts of a schema: values, however deep.
const PARTS: u64 = 100_000;
/// Patterns of a schema, and bytes of each when it is compiled.
const PATTERNS: u64 = 200;
const PATTERN_BYTES: usize = 1 << 20;
/// Steps back of a pattern that looks around.
const BACKTRACKS: usize = 50_000;
/// What such a pattern counts for.
const STEPS_OF_LOOKING_AROUND: u64 = 1_000;
/// Steps for each part of a value that is held against a schema of schemas.
const STEPS_OF_META_SCHEMA: u64 = 64;

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
    parts: Parts,
}

/// What a look at all parts of a schema shows.
#[derive(Debug, Default)]
struct Parts {
    all: u64,
    patterns: u64,
    /// Without references and what looks twice, each of its parts looks at
    /// each part of a value once at most.
    may_repeat: bool,
    /// An error may hold those of each alternative.
    has_alternatives: bool,
    /// A pattern may go back so often that it is given up.
    looks_around: bool,
    /// Pointers to schemas by their `$anchor` …
    anchors: HashMap<String, Vec<String>>,
    /// … and by the last segment of their `$id`.
    resources: HashMap<String, Vec<String>>,
}

impl BoundedSchema {
    /// Compiles a schema; nothing outside of it is read.
    ///
    /// # Errors
    /// It is none, refers to what is not in it, or is too large.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let mut parts = Parts::default();
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
        let mut walk = Walk {
            schema: self,
            left: budget,
        };
        walk.look(&self.schema, &Place::at(""), "", value, DEPTH)?;
        Ok(budget - walk.left)
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

/// The values in it, itself included.
fn parts_of(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(parts_of).sum(),
        Value::Object(members) => members.values().map(parts_of).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

impl Parts {
    fn look_at(&mut self, part: &Value, pointer: &mut String) -> Result<(), TooComplex> {
        self.all += 1;
        if self.all > PARTS {
            return Err(TooComplex {
                pointer: pointer.clone(),
                what: "room",
            });
        }
        let own = pointer.len();
        match part {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    pointer.push_str(&format!("/{index}"));
                    self.look_at(item, pointer)?;
                    pointer.truncate(own);
                }
            }
            Value::Object(members) => {
                self.look_at_keywords(members, pointer)?;
                for (name, member) in members {
                    pointer.push_str(&segment(name));
                    self.look_at(member, pointer)?;
                    pointer.truncate(own);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Ok(())
    }

    /// Of what may be a schema.
    fn look_at_keywords(
        &mut self,
        members: &Map<String, Value>,
        pointer: &str,
    ) -> Result<(), TooComplex> {
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", _)
                | ("unevaluatedProperties" | "unevaluatedItems", _) => self.may_repeat = true,
                ("anyOf" | "oneOf", _) => self.has_alternatives = true,
                ("$anchor" | "$dynamicAnchor", Value::String(name)) => {
                    self.name_anchor(name, pointer);
                }
                ("$id" | "id", Value::String(id)) => {
                    let (document, fragment) = id.split_once('#').unwrap_or((id, ""));
                    if !document.is_empty() {
                        let known = self.resources.entry(last_segment(document).to_owned());
                        known.or_default().push(pointer.to_owned());
                    }
                    // As drafts 6 and 7 write an anchor.
                    if !fragment.is_empty() {
                        self.name_anchor(fragment, pointer);
                    }
                }
                ("pattern", Value::String(pattern)) => {
                    self.patterns += 1;
                    self.looks_around |= looks_around(pattern);
                }
                ("patternProperties", Value::Object(all)) => {
                    self.patterns += all.len() as u64;
                    self.looks_around |= all.keys().any(|pattern| looks_around(pattern));
                }
                _ => {}
            }
        }
        match self.patterns > PATTERNS {
            true => Err(TooComplex {
                pointer: pointer.to_owned(),
                what: "patterns",
            }),
            false => Ok(()),
        }
    }

    fn name_anchor(&mut self, name: &str, pointer: &str) {
        self.anchors
            .entry(name.to_owned())
            .or_default()
            .push(pointer.to_owned());
    }
}

fn last_segment(uri: &str) -> &str {
    uri.rsplit('/').next().unwrap_or(uri)
}

/// A name as a pointer has it.
fn segment(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Where in the schema a step is.
#[derive(Clone, Copy)]
struct Place<'p> {
    before: Option<&'p Place<'p>>,
    /// A pointer, or a name, or an index.
    base: &'p str,
    keyword: &'p str,
    index: Option<usize>,
}

impl<'p> Place<'p> {
    fn at(pointer: &'p str) -> Self {
        Self {
            before: None,
            base: pointer,
            keyword: "",
            index: None,
        }
    }

    fn below(&'p self, keyword: &'p str) -> Self {
        Self {
            before: Some(self),
            base: "",
            keyword,
            index: None,
        }
    }

    fn item(&'p self, index: usize) -> Self {
        Self {
            index: Some(index),
            ..self.below("")
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.before, self.index) {
            (None, _) => f.write_str(self.base),
            (Some(before), None) => write!(f, "{before}{}", segment(self.keyword)),
            (Some(before), Some(index)) => write!(f, "{before}/{index}"),
        }
    }
}

/// Counts the steps that a value takes, at most: no branch is left out.
struct Walk<'s> {
    schema: &'s BoundedSchema,
    left: u64,
}

impl<'s> Walk<'s> {
    fn take(&mut self, steps: u64, at: &Place<'_>) -> Result<(), TooComplex> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(TooComplex {
                pointer: at.to_string(),
                what: "steps",
            }),
        }
    }

    /// `resource` is the pointer to the nearest schema around with an `$id`,
    /// which `#` refers to.
    fn look(
        &mut self,
        schema: &'s Value,
        at: &Place<'_>,
        resource: &str,
        value: &Value,
        depth: usize,
    ) -> Result<(), TooComplex> {
        let Value::Object(keywords) = schema else {
            return self.take(1, at);
        };
        self.take(1 + keywords.len() as u64, at)?;
        let Some(depth) = depth.checked_sub(1) else {
            return Err(TooComplex {
                pointer: at.to_string(),
                what: "schemas within each other",
            });
        };
        let own;
        let has_id = ["$id", "id"]
            .iter()
            .any(|name| keywords.get(*name).is_some_and(Value::is_string));
        let resource = if has_id && at.before.is_some() {
            own = at.to_string();
            &own
        } else {
            resource
        };
        // To know what was not evaluated, the rest is looked at once more.
        let looks_twice = keywords.contains_key("unevaluatedProperties")
            || keywords.contains_key("unevaluatedItems");
        for _ in 0..=usize::from(looks_twice) {
            for (keyword, operand) in keywords {
                let place = at.below(keyword);
                self.keyword(keywords, (keyword, operand), &place, resource, value, depth)?;
            }
        }
        Ok(())
    }

    fn keyword(
        &mut self,
        keywords: &'s Map<String, Value>,
        (keyword, operand): (&'s str, &'s Value),
        at: &Place<'_>,
        resource: &str,
        value: &Value,
        depth: usize,
    ) -> Result<(), TooComplex> {
        let each = |walk: &mut Self, schema, at: &Place<'_>, value: &Value| {
            walk.look(schema, at, resource, value, depth)
        };
        match (keyword, operand, value) {
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas), _) => {
                for (index, schema) in schemas.iter().enumerate() {
                    each(self, schema, &at.item(index), value)?;
                }
                Ok(())
            }
            ("not" | "if" | "then" | "else", schema, _) => each(self, schema, at, value),
            ("dependentSchemas" | "dependencies", Value::Object(schemas), Value::Object(_)) => {
                for (name, schema) in schemas {
                    each(self, schema, &at.below(name), value)?;
                }
                Ok(())
            }
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to), _) => {
                self.referred(to, at, resource, value, depth)
            }
            ("properties", Value::Object(schemas), Value::Object(members)) => {
                self.take(schemas.len() as u64, at)?;
                for (name, member) in members {
                    if let Some(schema) = schemas.get(name) {
                        each(self, schema, &at.below(name), member)?;
                    }
                }
                Ok(())
            }
            ("patternProperties", Value::Object(schemas), Value::Object(members)) => {
                for (pattern, schema) in schemas {
                    for (name, member) in members {
                        self.take(steps_of_pattern(pattern, name), at)?;
                        each(self, schema, &at.below(pattern), member)?;
                    }
                }
                Ok(())
            }
            ("additionalProperties" | "unevaluatedProperties", schema, Value::Object(members)) => {
                let known = keywords.get("properties").and_then(Value::as_object);
                let is_new = |name: &String| known.is_none_or(|known| !known.contains_key(name));
                for (_, member) in members.iter().filter(|(name, _)| is_new(name)) {
                    each(self, schema, at, member)?;
                }
                Ok(())
            }
            ("propertyNames", schema, Value::Object(members)) => {
                for name in members.keys() {
                    each(self, schema, at, &Value::from(name.as_str()))?;
                }
                Ok(())
            }
            ("items" | "prefixItems", Value::Array(schemas), Value::Array(items)) => {
                for (index, (schema, item)) in schemas.iter().zip(items).enumerate() {
                    each(self, schema, &at.item(index), item)?;
                }
                Ok(())
            }
            (
                "items" | "additionalItems" | "unevaluatedItems" | "contains",
                schema,
                Value::Array(items),
            ) => {
                for item in items {
                    each(self, schema, at, item)?;
                }
                Ok(())
            }
            ("enum" | "required", Value::Array(list), _) => self.take(list.len() as u64, at),
            ("pattern", Value::String(pattern), Value::String(text)) => {
                self.take(steps_of_pattern(pattern, text), at)
            }
            _ => Ok(()),
        }
    }

    fn referred(
        &mut self,
        to: &str,
        at: &Place<'_>,
        resource: &str,
        value: &Value,
        depth: usize,
    ) -> Result<(), TooComplex> {
        let targets = self.targets(to, resource);
        if targets.is_empty() {
            // A schema of schemas, which is all that can be referred to besides.
            let steps = parts_of(value).saturating_mul(STEPS_OF_META_SCHEMA);
            return self.take(steps, at);
        }
        let whole = self.schema;
        for (pointer, resource) in targets {
            if let Some(schema) = whole.schema.pointer(&pointer) {
                self.look(schema, &Place::at(&pointer), &resource, value, depth)?;
            }
        }
        Ok(())
    }

    /// Pointers to what a reference may mean, each with that to its resource.
    fn targets(&self, to: &str, resource: &str) -> Vec<(String, String)> {
        let Parts {
            anchors, resources, ..
        } = &self.schema.parts;
        let (document, fragment) = to.split_once('#').unwrap_or((to, ""));
        let fragment = unescaped(fragment);
        let of_document: Vec<&str> = match document {
            "" => vec![resource],
            document => {
                let named = resources.get(last_segment(document));
                named.into_iter().flatten().map(String::as_str).collect()
            }
        };
        let is_anchor = !fragment.is_empty() && !fragment.starts_with('/');
        if is_anchor && (document.is_empty() || !of_document.is_empty()) {
            let named = anchors.get(&fragment).into_iter().flatten();
            return named
                .map(|pointer| (pointer.clone(), resource.to_owned()))
                .collect();
        }
        let within = |base: &str| (format!("{base}{fragment}"), base.to_owned());
        let exists =
            |(pointer, _): &(String, String)| self.schema.schema.pointer(pointer).is_some();
        let found: Vec<_> = of_document
            .iter()
            .map(|base| within(base))
            .filter(exists)
            .collect();
        match found.is_empty() && document.is_empty() {
            // Older drafts refer to the whole from everywhere.
            true => vec![within("")],
            false => found,
        }
    }
}

/// Without `%7E` and its like, which pointers in references may have.
fn unescaped(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a pattern has what is matched by going back.
fn looks_around(pattern: &str) -> bool {
    let marks = ["(?=", "(?!", "(?<=", "(?<!", "\\1", "\\2", "\\k"];
    marks.iter().any(|mark| pattern.contains(mark))
}

/// For a text to be searched for a pattern.
fn steps_of_pattern(pattern: &str, text: &str) -> u64 {
    let own = match looks_around(pattern) {
        true => STEPS_OF_LOOKING_AROUND,
        false => 1,
    };
    own + text.len() as u64 / 64
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

#[cfg(test)]
mod tests {
    use super::{BoundedSchema, SchemaError, TooComplex};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn compiled(schema: &Value) -> BoundedSchema {
        BoundedSchema::compile(schema).unwrap()
    }

    /// `anyOf` of two equal references, so many levels deep.
    fn doubled(levels: usize, last: &Value) -> Value {
        let mut definitions = serde_json::Map::new();
        for level in 0..levels {
            let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
            definitions.insert(format!("l{level}"), json!({ "anyOf": [next, next] }));
        }
        definitions.insert(format!("l{levels}"), last.clone());
        json!({ "$defs": definitions, "$ref": "#/$defs/l0" })
    }

    #[test]
    fn a_schema_that_doubles_is_judged_while_it_is_small_and_given_up_where_not() {
        let small = compiled(&doubled(10, &json!({ "type": "string" })));
        assert_eq!(small.is_valid(&json!("a")), Ok(true));
        assert_eq!(small.is_valid(&json!(1)), Ok(false));
        assert_eq!(small.errors(&json!(1), 9).unwrap().len(), 1);
        for levels in [20, 26, 60] {
            let schema = compiled(&doubled(levels, &json!({ "type": "string" })));
            let error = schema.is_valid(&json!(1)).unwrap_err();
            assert!(error.pointer.starts_with("/$defs/l"), "{error}");
            assert!(schema.errors(&json!(1), 9).is_err());
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_without_an_end_is_given_up() {
        for schema in [
            json!({ "$ref": "#" }),
            json!({ "allOf": [{ "$ref": "#" }] }),
            json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "not": { "$ref": "#/$defs/a" } } }, "$ref": "#/$defs/a" }),
            json!({ "$dynamicAnchor": "x", "anyOf": [{ "$dynamicRef": "#x" }] }),
        ] {
            if let Ok(schema) = BoundedSchema::compile(&schema) {
                assert!(
                    schema.is_valid(&json!({})).is_err(),
                    "{:?}",
                    schema.schema()
                );
            }
        }
    }

    #[test]
    fn what_doubles_by_looking_twice_or_by_anchors_and_ids_is_given_up() {
        let mut twice = json!({ "type": "object" });
        for _ in 0..30 {
            twice = json!({ "allOf": [twice], "unevaluatedProperties": false });
        }
        assert!(compiled(&twice).is_valid(&json!({ "a": 1 })).is_err());
        let mut definitions = vec![json!({ "$anchor": "l40", "type": "string" })];
        for level in 0..40 {
            let next = json!({ "$ref": format!("#l{}", level + 1) });
            definitions
                .push(json!({ "$anchor": format!("l{level}"), "oneOf": [next, next, next] }));
        }
        let anchored = json!({ "$defs": { "all": { "allOf": definitions } }, "$ref": "#l0" });
        assert!(compiled(&anchored).is_valid(&json!(1)).is_err());
        let mut inner = serde_json::Map::new();
        for level in 0..40 {
            let next = json!({ "$ref": format!("l{}", level + 1) });
            inner.insert(
                format!("d{level}"),
                json!({ "$id": format!("https://x.test/l{level}"), "allOf": [next, next] }),
            );
        }
        inner.insert("d40".into(), json!({ "$id": "https://x.test/l40" }));
        let ids = json!({ "$id": "https://x.test/root", "$defs": inner, "$ref": "l0" });
        assert!(compiled(&ids).is_valid(&json!(1)).is_err());
    }

    #[test]
    fn a_schema_of_too_many_parts_or_patterns_is_given_up_before_it_is_compiled() {
        let wide: Vec<Value> = (0..200_000).map(|n| json!({ "const": n })).collect();
        let wide = BoundedSchema::compile(&json!({ "anyOf": wide }));
        assert!(
            matches!(wide, Err(SchemaError::TooComplex(TooComplex { .. }))),
            "{wide:?}"
        );
        let patterns: Vec<Value> = (0..500)
            .map(|n| json!({ "pattern": format!("^{n}") }))
            .collect();
        let patterns = BoundedSchema::compile(&json!({ "anyOf": patterns }));
        assert!(
            matches!(patterns, Err(SchemaError::TooComplex(_))),
            "{patterns:?}"
        );
        let large = BoundedSchema::compile(&json!({ "pattern": "(?:\\w{1,400}x){1,400}" }));
        assert!(
            matches!(large, Err(SchemaError::TooComplex(_))),
            "{large:?}"
        );
    }

    #[test]
    fn a_pattern_that_goes_back_for_ever_is_given_up() {
        let schema = compiled(&json!({ "pattern": "^(?:(?=a)a|(?=a)a)+$" }));
        let text = json!(format!("{}b", "a".repeat(60)));
        let errors = schema.errors(&text, 9);
        assert!(errors.is_err(), "{errors:?}");
        assert!(schema.is_valid(&text).is_err());
    }

    #[test]
    fn a_large_value_is_judged_by_a_usual_schema() {
        let schema = compiled(&json!({
            "type": "object",
            "properties": { "rows": { "type": "array", "items": { "$ref": "#/$defs/row" } } },
            "$defs": { "row": {
                "type": "object",
                "properties": {
                    "id": { "type": "integer" },
                    "kind": { "enum": ["a", "b", "c"] },
                    "note": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                },
                "required": ["id"],
                "additionalProperties": false,
            } },
        }));
        let row = |id: Value| json!({ "id": id, "kind": "b", "note": null });
        let mut rows: Vec<Value> = (0..50_000).map(|n| row(json!(n))).collect();
        assert_eq!(schema.is_valid(&json!({ "rows": rows })), Ok(true));
        rows.push(row(json!("x")));
        let value = json!({ "rows": rows });
        assert_eq!(schema.is_valid(&value), Ok(false));
    }

    #[test]
    fn a_schema_that_is_none_and_one_that_lies_elsewhere_are_told() {
        let wrong = BoundedSchema::compile(&json!({ "properties": { "a": { "type": 1 } } }));
        let Err(SchemaError::Wrong { pointer, .. }) = wrong else {
            panic!("{wrong:?}")
        };
        assert_eq!(pointer, "/properties/a/type");
        let elsewhere = BoundedSchema::compile(&json!({ "$ref": "https://x.test/a.json" }));
        assert!(
            matches!(elsewhere, Err(SchemaError::Elsewhere(_))),
            "{elsewhere:?}"
        );
    }

    fn schema() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(true)),
            Just(json!({ "type": "string" })),
            Just(json!({ "$ref": "#/$defs/a" })),
            Just(json!({ "$ref": "#/$defs/b" })),
            Just(json!({ "$ref": "#" })),
            Just(json!({ "enum": [1, "a"] })),
        ];
        leaf.prop_recursive(4, 24, 3, |inner| {
            let list = proptest::collection::vec(inner.clone(), 1..3);
            prop_oneof![
                list.clone().prop_map(|all| json!({ "anyOf": all })),
                list.clone().prop_map(|all| json!({ "allOf": all })),
                list.prop_map(|all| json!({ "oneOf": all })),
                inner.clone().prop_map(|one| json!({ "not": one })),
                inner.clone().prop_map(|one| json!({ "items": one })),
                inner
                    .clone()
                    .prop_map(|one| json!({ "properties": { "x": one } })),
                inner
                    .clone()
                    .prop_map(|one| json!({ "additionalProperties": one })),
                inner.prop_map(|one| json!({ "unevaluatedProperties": one })),
            ]
        })
    }

    proptest! {
        // What is within the budget ends, and takes no more stack than there is.
        #[test]
        fn whatever_is_within_the_budget_is_judged(
            root in schema(),
            a in schema(),
            b in schema(),
        ) {
            let schema = json!({ "allOf": [root], "$defs": { "a": a, "b": b } });
            if let Ok(schema) = BoundedSchema::compile(&schema) {
                for value in [json!({ "x": { "x": [1, "a"], "y": {} } }), json!([[], 1]), json!("a")] {
                    let valid = schema.is_valid(&value);
                    if let (Ok(valid), Ok(errors)) = (valid, schema.errors(&value, 5)) {
                        prop_assert!(!valid || errors.is_empty(), "{schema:?} {value}");
                    }
                }
            }
        }
    }
}
