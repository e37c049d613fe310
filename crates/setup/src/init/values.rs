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
    format!("{list}[?@.{member} == {}]", quoted(name))
}

/// The step of a path to a member.
pub(super) fn member(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        false if name.chars().all(is_plain) => format!(".{name}"),
        _ => format!("[{}]", quoted(name)),
    }
}

/// A text as paths write it.
fn quoted(text: &str) -> String {
    let mut quoted = "'".to_owned();
    for c in text.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            // What is not in the first plane is no control character.
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

pub(super) fn one_path(path: &str, operator: &str, operand: Value) -> Value {
    json!({ "path": path, operator: operand })
}

pub(super) fn one(key: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value)])
}
