//! An output schema, down to what those rely on who read the output.
//!
//! Main function: [`reduced`].

use jelly_plan::BoundedSchema;
use serde_json::{Map, Value, json};

/// Keywords that say nothing about which values fit.
const NOTES: &[&str] = &[
    "$comment",
    "default",
    "deprecated",
    "description",
    "example",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// Keywords whose value is a map from names to schemas.
const MAPS: &[&str] = &["properties", "patternProperties", "$defs", "definitions"];

/// Keywords whose value is a schema, or a list of them.
const INNER: &[&str] = &[
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "items",
    "prefixItems",
];

/// Keywords that hold for fewer values when what they are about is loosened.
const CONTRARY: &[&str] = &["else", "if", "maxContains", "not", "then"];

/// The longest key: longer ones are no implicit keys of YAML, and nobody's
/// names.
const MAX_KEY: usize = 200;

/// How deep a schema is looked into.
const MAX_DEPTH: usize = 12;

/// A schema without what is for readers only, which lets fields join: closed
/// objects are opened, since who adds a field breaks nobody. As deep as it
/// goes with `limit` bytes of JSON; what lies deeper is not held. Everything
/// that fits the schema fits the result. Absent where it is no schema.
pub(super) fn reduced(schema: &Value, limit: usize) -> Option<Value> {
    let found = within(schema, limit);
    BoundedSchema::compile(&found).is_ok().then_some(found)
}

fn within(schema: &Value, limit: usize) -> Value {
    let refers = refers(schema);
    for depth in (1..=MAX_DEPTH).rev() {
        if refers && depth < MAX_DEPTH {
            // Half of a schema that refers to its other half is none.
            break;
        }
        let found = trimmed(schema, depth);
        if found.to_string().len() <= limit {
            return found;
        }
    }
    surface(schema, limit)
}

/// A literal part of a schema, to be looked for in what the server lists: types,
/// names and which of them are required. As deep as it goes with `limit` bytes
/// of JSON.
pub(super) fn outline(schema: &Value, limit: usize) -> Value {
    (0..=MAX_DEPTH)
        .rev()
        .map(|depth| part(schema, depth))
        .find(|found| found.to_string().len() <= limit)
        .unwrap_or_else(|| Value::Object(Map::new()))
}

fn part(schema: &Value, depth: usize) -> Value {
    let Value::Object(map) = schema else {
        return Value::Object(Map::new());
    };
    let mut kept = Map::new();
    for (key, value) in map {
        match (key.as_str(), value) {
            ("type" | "required" | "$ref" | "const", _) => {
                kept.insert(key.clone(), value.clone());
            }
            ("properties", Value::Object(names)) if depth > 0 => {
                let names = names
                    .iter()
                    .filter(|(name, own)| name.len() <= MAX_KEY && own.is_object())
                    .map(|(name, own)| (name.clone(), part(own, depth - 1)))
                    .collect();
                kept.insert(key.clone(), Value::Object(names));
            }
            ("items", Value::Object(_)) if depth > 0 => {
                kept.insert(key.clone(), part(value, depth - 1));
            }
            (_, _) => {}
        }
    }
    Value::Object(kept)
}

/// The type and the names of the required fields, as far as they go.
fn surface(schema: &Value, limit: usize) -> Value {
    let mut found = json!({ "type": schema.get("type").unwrap_or(&Value::from("object")) });
    if let Some(required) = schema.get("required").filter(|r| r.is_array()) {
        found["required"] = required.clone();
        if found.to_string().len() > limit {
            found["required"] = json!([]);
        }
    }
    found
}

/// Whether it is put together of parts that are named elsewhere, or is of a
/// dialect of its own.
fn refers(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            ["$ref", "$dynamicRef", "$id", "$anchor"]
                .iter()
                .any(|key| map.get(*key).is_some_and(Value::is_string))
                || map.values().any(refers)
        }
        Value::Array(items) => items.iter().any(refers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn trimmed(schema: &Value, depth: usize) -> Value {
    let Value::Object(map) = schema else {
        return schema.clone();
    };
    let mut kept = Map::new();
    for (key, value) in map {
        if key == "$schema" {
            // Revisions of the dialect differ in what few schemas use.
            if matters(schema) {
                kept.insert(key.clone(), value.clone());
            }
            continue;
        }
        let closed = matches!(
            key.as_str(),
            "additionalProperties" | "unevaluatedProperties"
        ) && value == &Value::Bool(false);
        let empty = key == "required" && value.as_array().is_some_and(Vec::is_empty);
        let left_out = NOTES.contains(&key.as_str()) || CONTRARY.contains(&key.as_str());
        if left_out || closed || empty || key.len() > MAX_KEY {
            continue;
        }
        let is_map = MAPS.contains(&key.as_str());
        let is_choice = key == "oneOf";
        if !is_map && !is_choice && !INNER.contains(&key.as_str()) {
            kept.insert(key.clone(), value.clone());
            continue;
        }
        if depth == 0 {
            continue;
        }
        // Loosened, several of the alternatives may fit.
        let key = if is_choice { "anyOf" } else { key };
        if is_choice && map.contains_key("anyOf") {
            continue;
        }
        let value = match value {
            Value::Object(parts) if is_map => Value::Object(
                parts
                    .iter()
                    .filter(|(name, _)| name.len() <= MAX_KEY)
                    .map(|(name, part)| (name.clone(), trimmed(part, depth - 1)))
                    .collect(),
            ),
            Value::Array(parts) => {
                Value::Array(parts.iter().map(|part| trimmed(part, depth - 1)).collect())
            }
            other => trimmed(other, depth - 1),
        };
        kept.insert(key.to_owned(), value);
    }
    let names = map.get("properties").and_then(Value::as_object);
    if names.is_some_and(|names| names.keys().any(|name| name.len() > MAX_KEY)) {
        // It would hold for the names that were left out.
        kept.shift_remove("additionalProperties");
    }
    Value::Object(kept)
}

/// Whether the dialect changes what the schema means.
fn matters(schema: &Value) -> bool {
    const KEYWORDS: &[&str] = &[
        "additionalItems",
        "dependencies",
        "$recursiveRef",
        "unevaluatedProperties",
        "unevaluatedItems",
    ];
    match schema {
        Value::Object(map) => map.iter().any(|(key, value)| {
            KEYWORDS.contains(&key.as_str())
                || key == "items" && value.is_array()
                || key == "$ref" && map.len() > 1
                || matters(value)
        }),
        Value::Array(items) => items.iter().any(matters),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::reduced;
    use serde_json::{Value, json};

    #[test]
    fn notes_go_and_fields_that_are_called_like_them_stay() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "title": "T",
            "properties": {"title": {"type": "string", "description": "x"}, "n": {"enum": [1]}},
            "required": ["title"], "additionalProperties": false,
        });
        let kept = json!({
            "type": "object",
            "properties": {"title": {"type": "string"}, "n": {"enum": [1]}},
            "required": ["title"],
        });
        assert_eq!(reduced(&schema, 1000), Some(kept));
    }

    #[test]
    fn what_does_not_fit_is_held_less_deeply() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}}}
        }});
        let shallow = json!({"type": "object", "properties": {"a": {"type": "array"}}});
        assert_eq!(reduced(&schema, 60), Some(shallow));
        assert_eq!(reduced(&schema, 20), Some(json!({"type": "object"})));
    }

    #[test]
    fn an_outline_stands_in_the_schema_as_it_is() {
        let schema = json!({"type": "object", "title": "T", "oneOf": [{}], "required": ["a"],
            "properties": {"a": {"type": "array", "items": {"type": "string", "maxLength": 3}}}});
        let outline = super::outline(&schema, 200);
        let whole = json!({"type": "object", "required": ["a"],
            "properties": {"a": {"type": "array", "items": {"type": "string"}}}});
        assert_eq!(outline, whole);
        assert_eq!(
            super::outline(&schema, 40),
            json!({"type": "object", "required": ["a"]})
        );
        assert_eq!(super::outline(&schema, 5), json!({}));
    }

    #[test]
    fn a_schema_that_refers_is_held_whole_or_by_its_surface() {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"type": "string", "title": "A"}}, "required": ["a"]});
        let whole = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"type": "string"}}, "required": ["a"]});
        assert_eq!(reduced(&schema, 1000), Some(whole));
        assert_eq!(
            reduced(&schema, 60),
            Some(json!({"type": "object", "required": ["a"]}))
        );
    }

    #[test]
    fn what_would_hold_for_less_when_loosened_is_left_out() {
        let closed = |name: &str| json!({"properties": {name: {}}, "additionalProperties": false});
        let schema = json!({"not": closed("x"), "oneOf": [closed("a"), closed("b")]});
        let kept = json!({"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]});
        assert_eq!(reduced(&schema, 1000), Some(kept));
    }

    #[test]
    fn what_is_no_schema_is_not_held() {
        assert_eq!(reduced(&json!({"type": 12}), 1000), None);
        assert_eq!(
            reduced(&json!({"required": "a"}), 10),
            Some(json!({"type": "object"}))
        );
    }

    #[test]
    fn a_dialect_is_kept_where_it_matters() {
        let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#",
            "properties": {"a": {"items": [{"type": "string"}]}}});
        assert!(
            matches!(reduced(&schema, 1000), Some(Value::Object(m)) if m.contains_key("$schema"))
        );
    }
}
