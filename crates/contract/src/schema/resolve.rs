//! A schema with what it refers to.

use super::super::canonical::same;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// So many references lead on to others.
const HOPS: usize = 32;

/// Keywords that say nothing of a value, but hold schemas or name them.
pub const NAMES: [&str; 8] = [
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$defs",
    "definitions",
    "$comment",
    "$vocabulary",
];

/// Keywords for people and models.
pub const TEXTS: [&str; 9] = [
    "title",
    "description",
    "$comment",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "enumNames",
];

/// Without texts, at any depth where a schema can stand.
pub fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter(|(name, value)| {
                    // A property may be called like a keyword.
                    let is_flag = ["deprecated", "readOnly", "writeOnly"].contains(&name.as_str());
                    let is_schema = value.is_object() || value.is_boolean() && !is_flag;
                    is_schema || !TEXTS.contains(&name.as_str())
                })
                .map(|(name, value)| {
                    let kept = ["enum", "const", "default"].contains(&name.as_str());
                    let value = if kept { value.clone() } else { bare(value) };
                    (name.clone(), value)
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(bare).collect()),
        _ => schema.clone(),
    }
}

/// A schema as it is compared.
#[derive(Debug, Clone)]
pub struct Resolved<'v> {
    pub schema: Cow<'v, Value>,
    /// The last reference that led there.
    pub reference: Option<String>,
    /// A reference that leads nowhere that can be looked up.
    pub unknown: Option<String>,
}

/// Follows `$ref`. What stands beside it holds as well.
pub fn resolved<'v>(root: &'v Value, schema: &'v Value) -> Resolved<'v> {
    let mut current = Cow::Borrowed(schema);
    let mut reference = None;
    for _ in 0..HOPS {
        let Some(to) = current
            .get("$ref")
            .and_then(Value::as_str)
            .map(str::to_owned)
        else {
            return Resolved {
                schema: current,
                reference,
                unknown: None,
            };
        };
        let Some(target) = looked_up(root, &to) else {
            return Resolved {
                schema: current,
                reference,
                unknown: Some(to),
            };
        };
        let beside = beside(&current);
        current = match beside {
            None => Cow::Borrowed(target),
            Some(beside) => Cow::Owned(joined(beside, target)),
        };
        // With what stands beside it, it is another place.
        let key = reference.map_or_else(|| to.clone(), |before: String| format!("{before}>{to}"));
        reference = Some(key);
    }
    let to = reference.clone();
    Resolved {
        schema: current,
        reference,
        unknown: to,
    }
}

/// The members beside a reference, where any of them says something.
fn beside(schema: &Value) -> Option<Map<String, Value>> {
    let members = schema.as_object()?;
    let own: Map<String, Value> = members
        .iter()
        .filter(|(name, _)| *name != "$ref" && !NAMES.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    (!own.is_empty()).then_some(own)
}

/// Both hold. Texts that stand beside a reference win.
fn joined(mut beside: Map<String, Value>, target: &Value) -> Value {
    let Value::Object(members) = target else {
        return json!({ "allOf": [Value::Object(beside), target] });
    };
    let clash = members.iter().any(|(name, value)| {
        !TEXTS.contains(&name.as_str())
            && name != "default"
            && !NAMES.contains(&name.as_str())
            && beside.get(name).is_some_and(|own| !same(own, value))
    });
    if clash || members.contains_key("$ref") && beside.contains_key("$ref") {
        return json!({ "allOf": [Value::Object(beside), target] });
    }
    // Which members others are is a matter of all that is named beside them.
    let mixes = |one: &Map<String, Value>, other: &Map<String, Value>| {
        one.contains_key("additionalProperties")
            && (other.contains_key("properties") || other.contains_key("patternProperties"))
    };
    if mixes(&beside, members) || mixes(members, &beside) {
        return json!({ "allOf": [Value::Object(beside), target] });
    }
    for (name, value) in members {
        beside.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Value::Object(beside)
}

/// What a reference within a document leads to.
fn looked_up<'v>(root: &'v Value, to: &str) -> Option<&'v Value> {
    let fragment = match to.split_once('#') {
        Some(("", fragment)) => fragment,
        Some((base, fragment)) if root.get("$id").and_then(Value::as_str) == Some(base) => fragment,
        Some(_) | None => return None,
    };
    if fragment.is_empty() {
        return Some(root);
    }
    if fragment.starts_with('/') {
        return root.pointer(&percent_decoded(fragment));
    }
    ["$defs", "definitions"].iter().find_map(|key| {
        let all = root.get(*key)?.as_object()?;
        all.values()
            .find(|schema| schema.get("$anchor").and_then(Value::as_str) == Some(fragment))
    })
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = hex
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
