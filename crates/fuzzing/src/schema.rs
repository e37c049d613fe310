//! A schema as values are made for it: references followed, `allOf` merged, unions
//! taken apart.
//!
//! What is not understood here is only less well tried: every value that is made is
//! held against the whole schema before it counts as valid or invalid.

use serde_json::{Map, Value};

/// So deep values are made.
pub(crate) const DEPTH: usize = 6;
/// Plain schemas that are made of one with unions.
const ALTERNATIVES: usize = 12;
/// References and unions that are followed into each other.
const STEPS: usize = 24;

/// The plain schemas of which a value has to fit one: each has at most one `type`, and
/// no reference or union at its top.
pub(crate) fn alternatives(root: &Value, schema: &Value) -> Vec<Map<String, Value>> {
    let mut found = Vec::new();
    expand(root, schema, STEPS, &mut found);
    found
}

fn expand(root: &Value, schema: &Value, steps: usize, found: &mut Vec<Map<String, Value>>) {
    if found.len() >= ALTERNATIVES || steps == 0 {
        return;
    }
    let mut own = match schema {
        Value::Object(own) => own.clone(),
        Value::Bool(true) => Map::new(),
        _ => return,
    };
    if let Some(target) = own.shift_remove("$ref") {
        let target = target.as_str().and_then(|to| referred(root, to));
        let Some(Value::Object(target)) = target else {
            return;
        };
        let both = Value::Object(merged(own, target));
        return expand(root, &both, steps - 1, found);
    }
    if let Some(Value::Array(parts)) = own.shift_remove("allOf") {
        let mut both = own;
        for part in &parts {
            // Unions of a part are taken as its first branch.
            if let Some(part) = alternatives_of_part(root, part, steps - 1) {
                both = merged(both, &part);
            }
        }
        return expand(root, &Value::Object(both), steps - 1, found);
    }
    for union in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = own.shift_remove(union) {
            for branch in &branches {
                let mut inner = Vec::new();
                expand(root, branch, steps - 1, &mut inner);
                for branch in inner {
                    let both = Value::Object(merged(branch, &own));
                    expand(root, &both, steps - 1, found);
                }
            }
            return;
        }
    }
    match own.get("type").cloned() {
        Some(Value::Array(names)) => {
            for name in names.into_iter().take(ALTERNATIVES) {
                let mut one = own.clone();
                one.insert("type".to_owned(), name);
                found.push(one);
            }
        }
        _ => found.push(own),
    }
    found.truncate(ALTERNATIVES);
}

fn alternatives_of_part(root: &Value, part: &Value, steps: usize) -> Option<Map<String, Value>> {
    let mut found = Vec::new();
    expand(root, part, steps, &mut found);
    found.into_iter().next()
}

fn referred<'r>(root: &'r Value, to: &str) -> Option<&'r Value> {
    root.pointer(to.strip_prefix('#')?)
}

/// Both; where they say different things, the first.
fn merged(mut one: Map<String, Value>, other: &Map<String, Value>) -> Map<String, Value> {
    for (key, value) in other {
        match (one.get_mut(key), value) {
            (Some(Value::Object(own)), Value::Object(more)) if key == "properties" => {
                for (name, property) in more {
                    if !own.contains_key(name) {
                        own.insert(name.clone(), property.clone());
                    }
                }
            }
            (Some(Value::Array(own)), Value::Array(more)) if key == "required" => {
                let new: Vec<Value> = more
                    .iter()
                    .filter(|it| !own.contains(it))
                    .cloned()
                    .collect();
                own.extend(new);
            }
            (Some(_), _) => {}
            (None, value) => {
                one.insert(key.clone(), value.clone());
            }
        }
    }
    one
}

/// What a plain schema is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One of some values.
    Listed,
    String,
    Integer,
    Number,
    Boolean,
    Null,
    Array,
    Object,
    Any,
}

pub(crate) fn kind(schema: &Map<String, Value>) -> Kind {
    if schema.contains_key("const") || schema.get("enum").is_some_and(Value::is_array) {
        return Kind::Listed;
    }
    let has = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => Kind::String,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        Some("null") => Kind::Null,
        Some("array") => Kind::Array,
        Some("object") => Kind::Object,
        Some(_) | None if has(&["properties", "required"]) => Kind::Object,
        Some(_) | None if has(&["items", "prefixItems", "minItems", "maxItems"]) => Kind::Array,
        Some(_) | None if has(&["minLength", "maxLength", "pattern", "format"]) => Kind::String,
        Some(_) | None if has(&["minimum", "maximum", "multipleOf"]) => Kind::Number,
        Some(_) | None => Kind::Any,
    }
}

/// The values that a plain schema lists.
pub(crate) fn listed(schema: &Map<String, Value>) -> Vec<Value> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => vec![only.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        (None, _) => Vec::new(),
    }
}

pub(crate) fn properties(
    schema: &Map<String, Value>,
) -> impl Iterator<Item = (&String, &Value)> + '_ {
    let all = schema.get("properties").and_then(Value::as_object);
    all.into_iter().flatten()
}

pub(crate) fn is_required(schema: &Map<String, Value>, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|all| all.iter().any(|it| it.as_str() == Some(name)))
}

/// A bound that is a whole number of things.
pub(crate) fn count(schema: &Map<String, Value>, key: &str) -> Option<usize> {
    let value = schema.get(key)?;
    let whole = value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (number >= 0.0 && number.fract() == 0.0 && number < 9e15).then_some(number as u64)
    })?;
    usize::try_from(whole).ok()
}

/// A name as a segment of a JSON pointer.
pub(crate) fn segment(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::alternatives;
    use serde_json::{Value, json};

    fn of(schema: Value) -> Vec<Value> {
        let all = alternatives(&schema, &schema);
        all.into_iter().map(Value::Object).collect()
    }

    #[test]
    fn unions_references_and_parts_become_plain_schemas() {
        for (schema, plain) in [
            (
                json!({"type": ["string", "null"], "minLength": 1}),
                json!([{"type": "string", "minLength": 1}, {"type": "null", "minLength": 1}]),
            ),
            (
                json!({"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"enum": [1]}}}),
                json!([
                    {"type": "integer", "$defs": {"a": {"enum": [1]}}},
                    {"enum": [1], "$defs": {"a": {"enum": [1]}}},
                ]),
            ),
            (
                json!({"allOf": [{"required": ["a"]}, {"required": ["b"], "type": "object"}]}),
                json!([{"required": ["a", "b"], "type": "object"}]),
            ),
            (json!(true), json!([{}])),
            (json!({"$ref": "#/nowhere"}), json!([])),
        ] {
            assert_eq!(Value::from(of(schema.clone())), plain, "{schema}");
        }
    }

    #[test]
    fn a_schema_that_leads_back_to_itself_ends() {
        let all = of(json!({"$ref": "#"}));
        assert!(all.is_empty());
        let wide = json!({"anyOf": [{"$ref": "#"}, {"type": "string"}, {"$ref": "#"}]});
        assert!(!of(wide.clone()).is_empty() && of(wide).len() <= super::ALTERNATIVES);
    }
}
