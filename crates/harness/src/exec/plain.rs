//! Plain JSON Schemas: those that say no more than types, names and bounds,
//! as most tools' do.
//!
//! Compiling any schema takes the `jsonschema` crate milliseconds, since it
//! compiles the schema of schemas first. So what is plainly valid is said
//! here, and everything else is left to the crate: a schema with any other
//! keyword, a value that does not plainly fit, and what is wrong with it.

use jelly_base::text::{is_whole, order};
use serde_json::Value;
use std::collections::HashSet;

/// Schemas nested deeper than this are not looked into.
const MAX_DEPTH: usize = 32;

/// Nor are longer lists of names and values: each part of a value may be held
/// against all of them.
const MAX_LIST: usize = 64;
const MAX_PROPERTIES: usize = 256;

/// Whether this is a valid schema made of nothing but keywords that
/// [`fits`] knows. True of a schema only if `jsonschema` compiles it.
pub fn is_plain(schema: &Value) -> bool {
    is_plain_at(schema, 0)
}

fn is_plain_at(schema: &Value, depth: usize) -> bool {
    let object = match schema {
        Value::Bool(_) => return true,
        Value::Object(object) if depth < MAX_DEPTH => object,
        _ => return false,
    };
    object
        .iter()
        .all(|(keyword, value)| match keyword.as_str() {
            "type" => match value {
                Value::String(name) => is_type_name(name),
                Value::Array(names) => {
                    !names.is_empty()
                        && unique_strings(names)
                        && names.iter().filter_map(Value::as_str).all(is_type_name)
                }
                _ => false,
            },
            "properties" => value.as_object().is_some_and(|all| {
                all.len() <= MAX_PROPERTIES
                    && all.values().all(|schema| is_plain_at(schema, depth + 1))
            }),
            "items" => is_plain_at(value, depth + 1),
            "additionalProperties" => value.is_boolean(),
            "required" => value.as_array().is_some_and(|names| unique_strings(names)),
            // Older drafts want at least one, and no two the same.
            "enum" => value
                .as_array()
                .is_some_and(|values| !values.is_empty() && unique_strings(values)),
            "minimum" | "maximum" => value.is_number(),
            "minLength" | "maxLength" => value.is_u64(),
            "const" | "default" => true,
            "examples" => value.is_array(),
            "title" | "description" => value.is_string(),
            "$schema" => depth == 0 && value.as_str().is_some_and(is_known_draft),
            _ => false,
        })
}

/// Whether the value fits a schema that [`is_plain`]; false as well where it
/// can't be seen at once.
pub fn fits(schema: &Value, value: &Value) -> bool {
    let rules = match schema {
        Value::Object(rules) => rules,
        other => return *other == Value::Bool(true),
    };
    rules.iter().all(|(keyword, rule)| match keyword.as_str() {
        "type" => match rule {
            Value::Array(names) => names.iter().any(|name| is_of_type(value, name)),
            name => is_of_type(value, name),
        },
        "properties" => match (rule, value) {
            (Value::Object(schemas), Value::Object(members)) => schemas
                .iter()
                .all(|(name, schema)| members.get(name).is_none_or(|member| fits(schema, member))),
            _ => true,
        },
        "additionalProperties" => {
            *rule == Value::Bool(true)
                || value.as_object().is_none_or(|members| {
                    let known = rules.get("properties").and_then(Value::as_object);
                    let is_known = |name| known.is_some_and(|known| known.contains_key(name));
                    members.keys().all(is_known)
                })
        }
        "required" => value
            .as_object()
            .is_none_or(|members| strings(rule).all(|name| members.contains_key(name))),
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| fits(rule, item))),
        "enum" => value
            .as_str()
            .is_some_and(|text| strings(rule).any(|one| one == text)),
        "const" => value == rule,
        "minimum" => !value.is_number() || is_at_most(rule, value),
        "maximum" => !value.is_number() || is_at_most(value, rule),
        "minLength" => length(value).is_none_or(|n| rule.as_u64().is_some_and(|min| min <= n)),
        "maxLength" => length(value).is_none_or(|n| rule.as_u64().is_some_and(|max| n <= max)),
        // What only describes.
        _ => true,
    })
}

fn is_known_draft(uri: &str) -> bool {
    // Draft 4 counts 1.0 as no integer, so it is not among them.
    matches!(
        uri.strip_suffix('#').unwrap_or(uri),
        "https://json-schema.org/draft/2020-12/schema"
            | "https://json-schema.org/draft/2019-09/schema"
            | "http://json-schema.org/draft-07/schema"
            | "http://json-schema.org/draft-06/schema"
    )
}

fn is_type_name(name: &str) -> bool {
    matches!(
        name,
        "null" | "boolean" | "object" | "array" | "number" | "string" | "integer"
    )
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Object(_) => name == "object",
        Value::Array(_) => name == "array",
        Value::String(_) => name == "string",
        Value::Number(number) => name == "number" || (name == "integer" && is_whole(number)),
    }
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// A list of different strings, and no long one.
fn unique_strings(values: &[Value]) -> bool {
    let mut seen = HashSet::with_capacity(values.len());
    values.len() <= MAX_LIST
        && values
            .iter()
            .all(|value| value.as_str().is_some_and(|text| seen.insert(text)))
}

/// In characters, as JSON Schema counts.
fn length(value: &Value) -> Option<u64> {
    value.as_str().map(|text| text.chars().count() as u64)
}

/// `a <= b`.
fn is_at_most(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => order(a, b).is_le(),
        (_, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{fits, is_plain};
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    fn parse(json: &str) -> Value {
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
    }

    #[test]
    fn a_usual_schema_is_plain_and_its_values_fit() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1, "maxLength": 3, "description": "d"},
                "count": {"type": ["integer", "null"], "minimum": 0.5, "maximum": 9},
                "kind": {"enum": ["a", "b"]},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["text"],
            "additionalProperties": false,
        });
        assert!(is_plain(&schema));
        let good = r#"
            {"text": "äöü", "count": 1, "kind": "b", "tags": ["x"]}
            {"text": "a", "count": null}"#;
        let bad = r#"
            {}
            []
            {"text": ""}
            {"text": "abcd"}
            {"text": "a", "count": 0}
            {"text": "a", "count": 10}
            {"text": "a", "kind": "c"}
            {"text": "a", "tags": [1]}
            {"text": "a", "more": 1}"#;
        for (values, wanted) in [(good, true), (bad, false)] {
            for value in values.trim().lines() {
                assert_eq!(fits(&schema, &parse(value)), wanted, "{value}");
            }
        }
    }

    /// What says more, or says it wrongly.
    const NOT_PLAIN: &str = r##"
        null
        {"type": 1}
        {"type": "text"}
        {"type": []}
        {"type": ["string", "string"]}
        {"required": ["a", "a"]}
        {"required": "a"}
        {"properties": {"unused": {"pattern": "("}}}
        {"properties": {"unused": 7}}
        {"items": [{"type": "string"}]}
        {"enum": []}
        {"enum": [1, 1.0]}
        {"minLength": -1}
        {"title": 1}
        {"examples": 1}
        {"$ref": "#"}
        {"oneOf": []}
        {"$schema": "http://json-schema.org/draft-04/schema#"}
        {"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}}"##;

    #[test]
    fn what_says_more_or_says_it_wrongly_is_not_plain() {
        for schema in NOT_PLAIN.trim().lines() {
            assert!(!is_plain(&parse(schema)), "{schema}");
        }
    }

    #[test]
    fn a_schema_without_a_floor_is_not_looked_into_for_ever() {
        let mut schema = json!({});
        for _ in 0..1_000 {
            schema = json!({ "items": schema });
        }
        assert!(!is_plain(&schema));
    }

    fn value() -> impl Strategy<Value = Value> {
        let number = prop_oneof![
            (-3i64..4).prop_map(Value::from),
            (-6i32..8).prop_map(|half| json!(f64::from(half) / 2.0)),
            prop_oneof![
                Just(u64::MAX),
                Just(1 << 53),
                Just((1 << 53) + 1),
                Just(i64::MAX as u64)
            ]
            .prop_map(Value::from),
            prop_oneof![Just(1e300), Just(-1e300), Just(9_007_199_254_740_993.0)]
                .prop_map(Value::from),
            Just(json!(i64::MIN)),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            number,
            "[ab\u{e4}\u{1f600}]{0,3}".prop_map(Value::String),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                members(inner, 3),
            ]
        })
    }

    fn members(inner: impl Strategy<Value = Value>, most: usize) -> impl Strategy<Value = Value> {
        let names = prop_oneof![Just("a"), Just("b"), Just("c")];
        proptest::collection::vec((names, inner), 0..most).prop_map(|members| {
            let members = members.into_iter().map(|(name, v)| (name.to_owned(), v));
            Value::Object(members.collect::<Map<_, _>>())
        })
    }

    /// As schemas write them, and wrong ones, which must not be taken for plain.
    const RULES: &str = r#"[
        {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "object"},
        {"type": ["array", "null"]}, {"type": ["string", "boolean", "integer"]},
        {"type": "text"}, {"type": []},
        {"minLength": 0}, {"minLength": 1}, {"minLength": 2}, {"maxLength": 0}, {"maxLength": 2},
        {"enum": ["a", "", "äb"]}, {"required": ["a"]},
        {"additionalProperties": true}, {"additionalProperties": false},
        {"$schema": "https://json-schema.org/draft/2020-12/schema"},
        {"$schema": "https://json-schema.org/draft/2019-09/schema"},
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {"$schema": "http://json-schema.org/draft-07/schema"},
        {"$schema": "http://json-schema.org/draft-06/schema#"},
        {"$schema": "http://json-schema.org/draft-04/schema#"}
    ]"#;

    const KEYWORDS: [&str; 9] = [
        "minimum",
        "maximum",
        "minLength",
        "const",
        "default",
        "title",
        "enum",
        "required",
        "pattern",
    ];

    fn schema() -> impl Strategy<Value = Value> {
        let usual: Vec<Map<String, Value>> = serde_json::from_str(RULES).unwrap();
        let odd = (prop::sample::select(&KEYWORDS[..]), value())
            .prop_map(|(keyword, value)| Map::from_iter([(keyword.to_owned(), value)]));
        let rule = prop_oneof![2 => prop::sample::select(usual), 1 => odd];
        let rules = proptest::collection::vec(rule, 0..4)
            .prop_map(|rules| Value::Object(rules.into_iter().flatten().collect()));
        let leaf = prop_oneof![1 => any::<bool>().prop_map(Value::Bool), 9 => rules];
        leaf.prop_recursive(3, 12, 3, |inner| {
            let parts = (
                proptest::option::of(members(inner.clone(), 3)),
                proptest::option::of(inner.clone()),
                inner,
            );
            parts.prop_map(|(properties, items, mut schema)| {
                if let Value::Object(rules) = &mut schema {
                    rules.extend(properties.map(|schemas| ("properties".to_owned(), schemas)));
                    rules.extend(items.map(|schema| ("items".to_owned(), schema)));
                }
                schema
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn what_is_plainly_valid_is_valid(
            schema in schema(),
            values in proptest::collection::vec(value(), 1..6),
        ) {
            if is_plain(&schema) {
                let validator = jsonschema::validator_for(&schema)
                    .map_err(|error| TestCaseError::fail(format!("{schema}: {error}")))?;
                for value in values.iter().filter(|value| fits(&schema, value)) {
                    prop_assert!(validator.is_valid(value), "{schema} {value}");
                }
            }
        }
    }
}
