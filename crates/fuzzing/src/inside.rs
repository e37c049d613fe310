//! Arguments one step inside of a bound.

use super::target::Target;
use super::values::numeral;
use serde_json::Value;

/// The arguments with what stands at `pointer` one smaller or one larger, where that
/// is valid.
#[must_use]
pub fn one_step_inside(target: &Target, pointer: &str, arguments: &Value) -> Vec<Value> {
    let Some(at_bound) = arguments.pointer(pointer) else {
        return Vec::new();
    };
    let steps: Vec<Value> = match at_bound {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            let all = [number - 1.0, number + 1.0];
            all.into_iter().filter_map(numeral).collect()
        }
        Value::String(text) => {
            let mut shorter: String = text.clone();
            shorter.pop();
            vec![Value::from(shorter), Value::from(format!("{text}a"))]
        }
        Value::Array(items) => {
            let fewer = items[..items.len().saturating_sub(1)].to_vec();
            let more = items.iter().chain(items.last()).cloned().collect();
            vec![Value::from(fewer), more]
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => Vec::new(),
    };
    let moved = steps.into_iter().filter(|step| step != at_bound);
    let all = moved.map(|step| {
        let mut moved = arguments.clone();
        if let Some(place) = moved.pointer_mut(pointer) {
            *place = step;
        }
        moved
    });
    all.filter(|moved| target.fits(moved)).collect()
}

#[cfg(test)]
mod tests {
    use super::one_step_inside;
    use crate::target::Target;
    use serde_json::json;

    #[test]
    fn one_step_inside_is_valid() {
        let schema = json!({"type": "object", "properties": {
            "n": {"type": "integer", "maximum": 10},
            "tags": {"type": "array", "maxItems": 2},
            "name": {"type": "string", "minLength": 2}}});
        let target = Target::new("t", Some(&schema), None, true).unwrap();
        for (pointer, at_bound, inside) in [
            ("/n", json!({"n": 10}), json!({"n": 9})),
            ("/tags", json!({"tags": ["a", "b"]}), json!({"tags": ["a"]})),
            ("/name", json!({"name": "ab"}), json!({"name": "aba"})),
        ] {
            assert_eq!(one_step_inside(&target, pointer, &at_bound), [inside]);
        }
        assert!(one_step_inside(&target, "/x", &json!({})).is_empty());
    }
}
