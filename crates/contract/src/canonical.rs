//! JSON in one form, so that equal things are equal texts.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// The value with the members of all objects in the order of their names.
#[must_use]
pub fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_unstable();
            let sorted = names.into_iter().filter_map(|name| {
                let value = members.get(name)?;
                Some((name.clone(), canonical(value)))
            });
            Value::Object(sorted.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// `sha256:…` of the canonical form.
#[must_use]
pub fn digest(value: &Value) -> String {
    let bytes = Sha256::digest(canonical(value).to_string().as_bytes());
    let mut text = String::from("sha256:");
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Whether both are the same value, in whatever order, `1` and `1.0` included.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(name, value)| b.get(name).is_some_and(|other| same(value, other)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Number(x), Value::Number(y)) => {
            x == y || matches!((exact(a), exact(b)), (Some(x), Some(y)) if x == y)
        }
        (_, _) => a == b,
    }
}

/// A number as a double, where that loses nothing.
fn exact(value: &Value) -> Option<f64> {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    value.as_f64().filter(|number| number.abs() < WHOLE)
}

#[cfg(test)]
mod tests {
    use super::{canonical, digest, same};
    use serde_json::json;

    #[test]
    fn order_counts_for_nothing_and_all_else_does() {
        let (a, b) = (
            json!({"b": [1, {"d": 1, "c": 2}], "a": null}),
            json!({"a": null, "b": [1, {"c": 2, "d": 1}]}),
        );
        assert_eq!(canonical(&a).to_string(), canonical(&b).to_string());
        assert_eq!(digest(&a), digest(&b));
        assert_ne!(digest(&a), digest(&json!({"a": null, "b": [1]})));
        assert!(same(&json!({"n": 1}), &json!({"n": 1.0})));
        assert!(!same(&json!(["a", "b"]), &json!(["b", "a"])));
        assert!(!same(
            &json!(9_007_199_254_740_993_u64),
            &json!(9_007_199_254_740_992_u64)
        ));
    }
}
