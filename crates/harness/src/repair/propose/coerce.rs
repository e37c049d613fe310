//! `coerce_argument`: a value of another JSON type than the tool's schema
//! wants, if it can be had without loss.

use crate::repair::case::{FailureCase, step_target};
use crate::repair::types::{Proposal, RepairId};
use jelly_base::model::PlanIssue;
use jelly_plan::{DocPath, PlanEdit, has_reference};
use serde_json::{Number, Value};

pub(super) fn coerce(case: &FailureCase<'_>) -> Option<Proposal> {
    let Some(PlanIssue::ArgumentType {
        pointer, expected, ..
    }) = &case.failure.issue
    else {
        return None;
    };
    let step = case.step()?;
    let value = step.args.pointer(pointer)?;
    let converted = expected.iter().find_map(|wanted| convert(value, wanted))?;
    let path = place(&step.args, &step.path.key("args"), pointer)?;
    let name = pointer.trim_start_matches('/').replace('/', ".");
    let target = format!("{}.args.{name}", step_target(step));
    let explanation =
        format!("passed {name} as {converted} instead of {value}, as the tool's schema wants");
    let proposal = Proposal::of_step(RepairId::CoerceArgument, target, explanation, step);
    let value = converted;
    Some(proposal.with(PlanEdit::Set { path, value }))
}

/// The value in the wanted JSON type, if it says exactly the same there.
fn convert(value: &Value, wanted: &str) -> Option<Value> {
    match (value, wanted) {
        // What a reference stands for is known only when the step is due.
        (Value::String(text), _) if has_reference(text) => None,
        (Value::String(text), "integer") => {
            let number: i64 = text.parse().ok()?;
            (number.to_string() == *text).then(|| number.into())
        }
        (Value::String(text), "number") => {
            let number: Number = text.parse().ok()?;
            (number.to_string() == *text).then_some(Value::Number(number))
        }
        (Value::String(text), "boolean") => text.parse().ok().map(Value::Bool),
        (Value::Number(number), "integer") => {
            let whole = whole(number.as_f64()?)?;
            (!number.is_i64() && !number.is_u64()).then(|| whole.into())
        }
        (Value::Number(number), "string") => Some(Value::String(number.to_string())),
        (Value::Bool(flag), "string") => Some(Value::String(flag.to_string())),
        _ => None,
    }
}

/// `5.0` as 5; beyond 2^53 a float stands for more than one whole number.
fn whole(float: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "within the range in which floats are exact"
    )]
    let whole = (float.abs() < EXACT && float.fract() == 0.0).then_some(float as i64);
    whole
}

/// The place of a JSON pointer in the plan document.
fn place(args: &Value, at: &DocPath, pointer: &str) -> Option<DocPath> {
    let mut place = at.clone();
    let mut value = args;
    for token in pointer.strip_prefix('/')?.split('/') {
        let token = token.replace("~1", "/").replace("~0", "~");
        match value {
            Value::Object(map) => {
                value = map.get(&token)?;
                place = place.key(token);
            }
            Value::Array(items) => {
                let index: usize = token.parse().ok()?;
                value = items.get(index)?;
                place = place.index(index);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        }
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::{convert, place};
    use jelly_plan::DocPath;
    use serde_json::{Value, json};

    #[test]
    fn converts_what_says_the_same_in_the_other_type() {
        let cases = [
            (json!("5"), "integer", json!(5)),
            (json!("-5"), "integer", json!(-5)),
            (json!("5"), "number", json!(5)),
            (json!("0.5"), "number", json!(0.5)),
            (json!("true"), "boolean", json!(true)),
            (json!(5), "string", json!("5")),
            (json!(false), "string", json!("false")),
            (json!(5.0), "integer", json!(5)),
        ];
        for (value, wanted, converted) in cases {
            assert_eq!(convert(&value, wanted), Some(converted), "{value} {wanted}");
        }
    }

    #[test]
    fn refuses_what_would_lose_something() {
        let cases: [(Value, &str); 14] = [
            (json!("05"), "integer"),
            (json!("+5"), "integer"),
            (json!("5 "), "integer"),
            (json!("5.5"), "integer"),
            (json!("99999999999999999999"), "integer"),
            (json!("1e400"), "number"),
            (json!("NaN"), "number"),
            (json!("True"), "boolean"),
            (json!("yes"), "boolean"),
            (json!(5.5), "integer"),
            (json!(1e300), "integer"),
            (json!(5), "boolean"),
            (json!("${n}"), "integer"),
            (json!([1]), "string"),
        ];
        for (value, wanted) in cases {
            assert_eq!(convert(&value, wanted), None, "{value} {wanted}");
        }
    }

    #[test]
    fn finds_a_pointer_in_the_document() {
        let args = json!({"a/b": [{"c": 1}]});
        let at = DocPath::default().key("steps").index(2).key("args");
        let found = place(&args, &at, "/a~1b/0/c").map(|p| p.to_string());
        assert_eq!(found.as_deref(), Some("steps[2].args.a/b[0].c"));
        assert_eq!(place(&args, &at, "/a~1b/1/c"), None);
        assert_eq!(place(&args, &at, ""), None);
    }
}
