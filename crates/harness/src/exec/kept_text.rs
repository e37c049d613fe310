//! A text of which something was not kept, held against an operator.
//!
//! Main function: [`holds_of_kept`]. Pure.

use super::operators::{Compiled, OperandError, holds};
use jelly_plan::Operator;
use jelly_process::Said;
use serde_json::{Map, Value, json};

/// Whether a text satisfies `operator` with `operand`, where what was kept of it
/// is enough to tell.
///
/// # Errors
/// The operand does not fit its operator.
pub(super) fn holds_of_kept(
    operator: Operator,
    operand: &Value,
    said: &Said,
    compiled: &mut Compiled,
) -> Result<Option<bool>, OperandError> {
    let (before, after) = (said.before.as_str(), said.after.as_str());
    let text = Value::from(said.clone().into_text());
    // Asked in any case, for what is wrong with the operand.
    let by_all = holds(operator, operand, Some(&text), compiled)?;
    let needle = operand.as_str();
    let in_a_piece = |needle: &str| before.contains(needle) || after.contains(needle);
    Ok(match (operator, needle) {
        (Operator::Exists | Operator::Type, _) => Some(by_all),
        (Operator::Contains, Some(needle)) => in_a_piece(needle).then_some(true),
        (Operator::NotContains, Some(needle)) => in_a_piece(needle).then_some(false),
        (Operator::StartsWith, Some(needle)) => {
            (before.len() >= needle.len()).then(|| before.starts_with(needle))
        }
        (Operator::EndsWith, Some(needle)) => {
            (after.len() >= needle.len()).then(|| after.ends_with(needle))
        }
        (Operator::Matches | Operator::NotMatches, Some(pattern)) => {
            let text = text.as_str().unwrap_or_default();
            let gap = before.len()..text.len() - after.len();
            let found = compiled.matches(pattern, text)?;
            let kept =
                |found: &std::ops::Range<usize>| found.end <= gap.start || found.start >= gap.end;
            let is_found = operator == Operator::Matches;
            found.iter().any(kept).then_some(is_found)
        }
        (Operator::Equals, Some(whole)) => can_not_be(whole, said).then_some(false),
        (Operator::NotEquals, Some(whole)) => can_not_be(whole, said).then_some(true),
        (Operator::Length, None) => length(operand, before, after, compiled)?,
        (_, _) => None,
    })
}

/// Whether a text with these pieces is surely another one.
fn can_not_be(whole: &str, said: &Said) -> bool {
    whole.len() <= said.before.len() + said.after.len()
        || !whole.starts_with(&said.before)
        || !whole.ends_with(&said.after)
}

/// What was left out only makes it longer.
fn length(
    operand: &Value,
    before: &str,
    after: &str,
    compiled: &mut Compiled,
) -> Result<Option<bool>, OperandError> {
    let kept = Value::from(format!("{before}{after}"));
    let bounds = match operand {
        Value::Object(bounds) => bounds.clone(),
        exact => Map::from_iter([
            ("le".to_owned(), exact.clone()),
            ("ge".to_owned(), exact.clone()),
        ]),
    };
    let mut all = true;
    for (name, bound) in &bounds {
        let fits = holds(
            Operator::Length,
            &json!({ name: bound }),
            Some(&kept),
            compiled,
        )?;
        match (name.as_str(), fits) {
            ("lt" | "le", false) => return Ok(Some(false)),
            ("gt" | "ge", true) => {}
            (_, _) => all = false,
        }
    }
    Ok(all.then_some(true))
}

#[cfg(test)]
mod tests {
    use super::holds_of_kept;
    use crate::exec::operators::Compiled;
    use jelly_plan::Operator::{self, *};
    use jelly_process::Said;
    use serde_json::{Value, json};

    fn ask(operator: Operator, operand: &Value) -> Option<bool> {
        let said = Said {
            before: "starting up\nwarn: low\n".to_owned(),
            left_out: 1000,
            after: "tail of it\nready\n".to_owned(),
        };
        holds_of_kept(operator, operand, &said, &mut Compiled::default()).unwrap()
    }

    #[test]
    fn what_was_kept_tells_what_it_can() {
        let may_be = format!(
            "starting up\nwarn: low\n{}tail of it\nready\n",
            "x".repeat(1000)
        );
        let (long, longer) = ("x".repeat(50), "x".repeat(2000));
        let (yes, no) = (Some(true), Some(false));
        for (operator, operand, wanted) in [
            // Beginning and end are known.
            (StartsWith, json!("starting"), yes),
            (StartsWith, json!("ready"), no),
            (StartsWith, json!(long), None),
            (EndsWith, json!("ready\n"), yes),
            (EndsWith, json!("starting"), no),
            (EndsWith, json!(long), None),
            // A match counts where it lies in one piece.
            (Matches, json!("warn: \\w+"), yes),
            (Matches, json!("ready"), yes),
            (Matches, json!("panic"), None),
            (Matches, json!("left out"), None),
            // Of all of it, which is not known.
            (Matches, json!("^[^!]*$"), None),
            // A whole that can't be it is not.
            (Equals, json!("ready\n"), no),
            (NotEquals, json!("ready\n"), yes),
            (Equals, json!(longer), no),
            (Equals, json!(may_be), None),
            (NotEquals, json!(may_be), None),
            (OneOf, json!(["ready\n"]), None),
            // A length is at least that of what was kept.
            (Length, json!({ "lt": 10 }), no),
            (Length, json!({ "ge": 10 }), yes),
            (Length, json!({ "ge": 10, "le": 10_000 }), None),
            (Length, json!({ "ge": 10_000 }), None),
            (Length, json!(3), no),
            (Length, json!(3000), None),
            (Exists, json!(true), yes),
            (Type, json!("string"), yes),
        ] {
            assert_eq!(ask(operator, &operand), wanted, "{operator:?} {operand}");
        }
        for piece in ["warn", "ready\n", "starting up"] {
            assert_eq!(ask(Contains, &json!(piece)), yes, "{piece}");
            assert_eq!(ask(NotContains, &json!(piece)), no, "{piece}");
            assert_eq!(ask(NotMatches, &json!(piece)), no, "{piece}");
        }
        for elsewhere in ["panic", "low\ntail", "bytes left out"] {
            assert_eq!(ask(Contains, &json!(elsewhere)), None, "{elsewhere}");
            assert_eq!(ask(NotContains, &json!(elsewhere)), None, "{elsewhere}");
            assert_eq!(ask(NotMatches, &json!(elsewhere)), None, "{elsewhere}");
        }
    }
}
