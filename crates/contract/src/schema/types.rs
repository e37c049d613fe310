//! Which types a schema allows.

use super::super::canonical::same;
use serde_json::Value;
use std::collections::BTreeSet;

/// Types as a set; `number` is `integer` and the rest.
pub type Types = BTreeSet<&'static str>;

/// All of them.
const ALL: [&str; 7] = [
    "array", "boolean", "fraction", "integer", "null", "object", "string",
];

/// Those that `type` allows; all without one, none of a name that is no type.
pub fn declared(schema: &Value) -> Types {
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(_) | None => return ALL.into(),
    };
    let mut types = Types::new();
    for name in names {
        if name == "number" {
            types.extend(["integer", "fraction"]);
        }
        types.extend(
            ALL.iter()
                .filter(|known| **known == name && *known != &"fraction"),
        );
    }
    types
}

/// That of a value.
pub fn of_value(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Number(number) => {
            let whole = number.is_i64()
                || number.is_u64()
                || number.as_f64().is_some_and(|number| number.fract() == 0.0);
            if whole { "integer" } else { "fraction" }
        }
    }
}

/// The values of `enum` and `const` that fit the type; none where the schema
/// lists none.
pub fn listed(schema: &Value) -> Option<Vec<&Value>> {
    let listed: Vec<&Value> = match (schema.get("const"), schema.get("enum")) {
        // Both hold.
        (Some(only), Some(Value::Array(values))) => {
            let is_listed = values.iter().any(|value| same(value, only));
            Some(only).filter(|_| is_listed).into_iter().collect()
        }
        (Some(only), _) => vec![only],
        (None, Some(Value::Array(values))) => values.iter().collect(),
        (None, _) => return None,
    };
    let types = declared(schema);
    let fits = |value: &&Value| types.contains(of_value(value));
    Some(listed.into_iter().filter(fits).collect())
}

/// Those that a value of the schema can have.
pub fn effective(schema: &Value) -> Types {
    match listed(schema) {
        Some(values) => values.into_iter().map(of_value).collect(),
        None => declared(schema),
    }
}
