//! What a path selects in an answer.

use serde_json::Value;
use serde_json_path::JsonPath;
use std::borrow::Cow;

/// The value at a path; the list of them where it selects several.
pub fn selected<'v>(path: &JsonPath, value: &'v Value) -> Option<Cow<'v, Value>> {
    let nodes = path.query(value).all();
    match nodes.as_slice() {
        [] => None,
        [one] => Some(Cow::Borrowed(*one)),
        many => {
            let many = many.iter().map(|value| (*value).clone());
            Some(Cow::Owned(Value::Array(many.collect())))
        }
    }
}
