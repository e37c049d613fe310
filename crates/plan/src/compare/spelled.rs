//! What a plan's texts come to once its own variables stand in them: two ways
//! of writing one value are one value, and a variable that changes changes all
//! that uses it.

use crate::template::{Part, Template, has_reference};
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::BTreeMap;

/// Variables use those before them, so that real plans are far below it.
const DEPTH: u32 = 64;

/// What names stand for before anything runs.
#[derive(Clone, Copy)]
pub(super) struct SpelledNames<'p> {
    pub vars: &'p IndexMap<String, Value>,
    /// What `${env:…}` and `${secret:…}` read. Without it, they stay as they
    /// are written: no value of theirs is compared or kept.
    pub env: Option<&'p BTreeMap<String, String>>,
}

impl SpelledNames<'_> {
    pub fn value(self, value: &Value) -> Value {
        self.at(value, 0)
    }

    pub fn text(self, raw: &str) -> Value {
        self.value_of(raw, 0)
    }

    pub fn template(self, template: &Template) -> Value {
        self.parts(&template.parts, 0)
    }

    /// A word of a command line.
    pub fn word(self, template: &Template) -> String {
        as_text(self.template(template))
    }

    fn at(self, value: &Value, depth: u32) -> Value {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) => self.value_of(text, depth),
            Value::Array(items) => items.iter().map(|item| self.at(item, depth)).collect(),
            Value::Object(map) => map
                .iter()
                .map(|(key, item)| (key.clone(), self.at(item, depth)))
                .collect(),
        }
    }

    fn value_of(self, text: &str, depth: u32) -> Value {
        if !has_reference(text) {
            return Value::from(text);
        }
        match Template::parse(text) {
            Ok(template) => self.parts(&template.parts, depth),
            Err(_) => Value::from(text),
        }
    }

    fn parts(self, parts: &[Part], depth: u32) -> Value {
        if let [part] = parts {
            return self.part(part, depth);
        }
        let texts = parts.iter().map(|part| as_text(self.part(part, depth)));
        Value::from(texts.collect::<String>())
    }

    fn part(self, part: &Part, depth: u32) -> Value {
        let known = match part {
            Part::Text(text) => return Value::from(text.as_str()),
            Part::Name(name) if depth < DEPTH => {
                let value = self.vars.get(name);
                value.map(|value| self.at(value, depth + 1))
            }
            Part::Env(name) | Part::Secret(name) => {
                let value = self.env.and_then(|env| env.get(name));
                value.map(|value| Value::from(value.as_str()))
            }
            Part::Name(_)
            | Part::Workspace
            | Part::Tmp
            | Part::Port(_)
            | Part::File(_)
            | Part::Base64(_) => None,
        };
        // No text of a plan holds this character, so that a reference is never
        // taken for a text that looks like one.
        known.unwrap_or_else(|| Value::from(format!("\0{}\0", part.reference())))
    }
}

/// Whether something in it is only known when the plan runs.
pub(crate) fn is_open(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(is_open),
        Value::Object(map) => map.values().any(is_open),
    }
}

fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}
