//! The strings in a value of the plan.

use jelly_plan::DocPath;
use serde_json::Value;

/// Calls `visit` for every string of a value that stands at this place of the
/// plan, with the string's own place.
pub(super) fn each_string(value: &Value, at: &DocPath, visit: &mut impl FnMut(&DocPath, &str)) {
    match value {
        Value::String(text) => visit(at, text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                each_string(item, &at.index(index), visit);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                each_string(item, &at.key(key), visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
