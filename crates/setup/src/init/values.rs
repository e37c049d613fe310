//! Values as plans write them, and paths to what is looked for.

use jelly_plan::Template;
use serde_json::{Map, Value, json};

/// A text as a plan writes it: what looks like a reference is none.
pub(super) fn written(text: &str) -> Value {
    Value::from(Template::literal(text).raw)
}

/// The same for all texts in a value, keys aside.
pub(super) fn all_written(value: &Value, paths: &[(&str, &str)]) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => match paths.iter().find(|(path, _)| path == text) {
            Some((_, written)) => Value::from(*written),
            None => written(text),
        },
        Value::Array(items) => items.iter().map(|item| all_written(item, paths)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, item)| (name.clone(), all_written(item, paths)))
            .collect(),
    }
}

/// The path to what is called so in a list.
pub(super) fn item(list: &str, member: &str, name: &str) -> String {
    let mut path = format!("{list}[?@.{member} == '");
    for c in name.chars() {
        match c {
            '\'' | '\\' => path.extend(['\\', c]),
            // What is not in the first plane is no control character.
            c if c.is_control() => path.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => path.push(c),
        }
    }
    path.push_str("']");
    path
}

pub(super) fn one_path(path: &str, operator: &str, operand: Value) -> Value {
    json!({ "path": path, operator: operand })
}

pub(super) fn one(key: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value)])
}
