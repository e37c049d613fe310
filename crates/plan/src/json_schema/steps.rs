//! Counts the steps that a value takes when it is held against a schema.
//!
//! Main type: [`StepCount`].

use super::parts::{SchemaParts, last_segment, looks_around, segment};
use super::{BoundedSchema, TooComplex};
use serde_json::{Map, Value};
use std::fmt;

/// What a pattern that looks around counts for.
const STEPS_OF_LOOKING_AROUND: u64 = 1_000;
/// Steps for each part of a value that is held against a schema of schemas.
const STEPS_OF_META_SCHEMA: u64 = 64;

/// The values in it, itself included.
pub fn parts_of(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(parts_of).sum(),
        Value::Object(members) => members.values().map(parts_of).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Where in the schema a step is.
#[derive(Clone, Copy)]
pub struct SchemaPlace<'p> {
    before: Option<&'p SchemaPlace<'p>>,
    /// A pointer, or a name, or an index.
    base: &'p str,
    keyword: &'p str,
    index: Option<usize>,
}

impl<'p> SchemaPlace<'p> {
    pub fn at(pointer: &'p str) -> Self {
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

impl fmt::Display for SchemaPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.before, self.index) {
            (None, _) => f.write_str(self.base),
            (Some(before), None) => write!(f, "{before}{}", segment(self.keyword)),
            (Some(before), Some(index)) => write!(f, "{before}/{index}"),
        }
    }
}

/// Counts the steps that a value takes, at most: no branch is left out.
pub struct StepCount<'s> {
    pub schema: &'s BoundedSchema,
    pub left: u64,
}

impl<'s> StepCount<'s> {
    fn take(&mut self, steps: u64, at: &SchemaPlace<'_>) -> Result<(), TooComplex> {
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
    pub fn look(
        &mut self,
        schema: &'s Value,
        at: &SchemaPlace<'_>,
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
        at: &SchemaPlace<'_>,
        resource: &str,
        value: &Value,
        depth: usize,
    ) -> Result<(), TooComplex> {
        let each = |count: &mut Self, schema, at: &SchemaPlace<'_>, value: &Value| {
            count.look(schema, at, resource, value, depth)
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
        at: &SchemaPlace<'_>,
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
                self.look(schema, &SchemaPlace::at(&pointer), &resource, value, depth)?;
            }
        }
        Ok(())
    }

    /// Pointers to what a reference may mean, each with that to its resource.
    fn targets(&self, to: &str, resource: &str) -> Vec<(String, String)> {
        let SchemaParts {
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

/// For a text to be searched for a pattern.
fn steps_of_pattern(pattern: &str, text: &str) -> u64 {
    let own = match looks_around(pattern) {
        true => STEPS_OF_LOOKING_AROUND,
        false => 1,
    };
    own + text.len() as u64 / 64
}
