//! What of an answer decides whether an expectation holds. Only in that can two
//! answers be wrong in different ways: a list of one element is as much too short
//! whatever the element says.

use super::template::without_any_stamp;
use jelly_base::model::Assertion;
use jelly_base::text::json_type;
use serde_json::Value;

/// The part of what came that the operator looks at.
pub(super) fn decisive(assertion: &Assertion) -> Value {
    let actual = &assertion.actual;
    match (assertion.kind.as_str(), actual) {
        // That something is there; what it is nobody asked.
        ("exists" | "not_contains" | "not_matches", _) => Value::from(assertion.absent),
        ("type", _) => Value::from(json_type(actual)),
        ("length", Value::String(text)) => Value::from(text.chars().count()),
        ("length", Value::Array(items)) => Value::from(items.len()),
        ("length", Value::Object(map)) => Value::from(map.len()),
        // No clock is held against a text: whoever expects a part of one does not
        // expect the time of day.
        ("contains" | "matches", Value::String(text)) => {
            Value::from(without_any_stamp(text).into_owned())
        }
        ("starts_with", Value::String(text)) => {
            let text = without_any_stamp(text);
            Value::from(text.chars().take(wanted(assertion)).collect::<String>())
        }
        ("ends_with", Value::String(text)) => {
            let text = without_any_stamp(text);
            let rest = text.chars().count().saturating_sub(wanted(assertion));
            Value::from(text.chars().skip(rest).collect::<String>())
        }
        _ => actual.clone(),
    }
}

/// How many characters are compared.
fn wanted(assertion: &Assertion) -> usize {
    let expected = assertion.expected.as_str();
    expected.map_or(usize::MAX, |text| text.chars().count())
}

#[cfg(test)]
mod tests {
    use super::decisive;
    use jelly_base::model::Assertion;
    use serde_json::{Value, json};

    fn of(kind: &str, expected: Value, actual: Value) -> Value {
        decisive(&Assertion {
            kind: kind.to_owned(),
            expected,
            actual,
            ..Assertion::default()
        })
    }

    #[test]
    fn what_an_operator_does_not_look_at_makes_no_other_failure() {
        let one = || json!("2026-11-26T06:31:07.123Z");
        let two = || json!("2026-11-26T06:31:08.456Z");
        for (kind, expected) in [
            ("exists", json!(true)),
            ("not_contains", json!("2026")),
            ("type", json!("array")),
            ("length", json!(3)),
            ("contains", json!("1999")),
            ("matches", json!("^1999")),
            ("starts_with", json!("1999")),
            ("ends_with", json!("done")),
        ] {
            let same = of(kind, expected.clone(), one()) == of(kind, expected, two());
            assert!(same, "{kind}");
        }
        let lists = [json!([one()]), json!([two()])];
        let [one_item, other] = lists.map(|list| of("length", json!(2), list));
        assert_eq!(one_item, other);
    }

    #[test]
    fn what_it_looks_at_does() {
        for (kind, expected, one, two) in [
            (
                "equals",
                json!("x"),
                json!("2026-11-26T06:31:07Z"),
                json!("2026-11-26T06:31:08Z"),
            ),
            ("length", json!(3), json!([1]), json!([1, 2])),
            ("type", json!("array"), json!(1), json!("1")),
            ("contains", json!("x"), json!("a"), json!("b")),
            ("starts_with", json!("ok"), json!("no, 1"), json!("er, 1")),
            ("ends_with", json!("ok"), json!("1 no"), json!("1 er")),
        ] {
            let differ = of(kind, expected.clone(), one) != of(kind, expected, two);
            assert!(differ, "{kind}");
        }
    }
}
