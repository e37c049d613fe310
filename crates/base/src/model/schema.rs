//! What derives can't say of how a type is written, or of its schema.

use schemars::Schema;
use schemars::transform::{Transform, transform_subschemas};
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// The word that JSON has for a value of a closed list, as in `code_failure`.
#[must_use]
pub fn json_word(value: &impl Serialize) -> String {
    struct Word<'v, V>(&'v V);
    impl<V: Serialize> fmt::Display for Word<'_, V> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.serialize(f)
        }
    }
    Word(value).to_string()
}

/// For counts that are left out where they are nothing.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Takes null out of what is left out where there is nothing to say. Types say
/// `Option` for both.
#[derive(Debug, Clone)]
pub struct NeverNull {
    /// Also where a field is required.
    pub of_required: bool,
}

impl Transform for NeverNull {
    fn transform(&mut self, schema: &mut Schema) {
        let required: Vec<String> = match schema.get("required") {
            Some(Value::Array(names)) => names
                .iter()
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect(),
            Some(_) | None => Vec::new(),
        };
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            for (name, property) in properties {
                if self.of_required || !required.contains(name) {
                    without_null(property);
                }
            }
        }
        transform_subschemas(self, schema);
    }
}

fn without_null(schema: &mut Value) {
    let Value::Object(map) = schema else {
        return;
    };
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            map.insert("type".to_owned(), one);
        }
    }
    // An enum of words with null among them.
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(one)] = choices.as_slice() {
            let one = one.clone();
            map.shift_remove("anyOf");
            for (key, value) in one {
                map.entry(key).or_insert(value);
            }
        }
    }
}
