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
        (Operator::Matches, Some(pattern)) => {
            let text = text.as_str().unwrap_or_default();
            let gap = before.len()..text.len() - after.len();
            let found = compiled.matches(pattern, text)?;
            let kept =
                |found: &std::ops::Range<usize>| found.end <= gap.start || found.start >= gap.end;
            found.iter().any(kept).then_some(true)
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
    fn what_stands_in_a_kept_piece_is_there_and_what_does_not_may_be_elsewhere() {
        for piece in ["warn", "ready\n", "starting up"] {
            assert_eq!(ask(Contains, &json!(piece)), Some(true), "{piece}");
            assert_eq!(ask(NotContains, &json!(piece)), Some(false), "{piece}");
        }
        for elsewhere in ["panic", "low\ntail", "bytes left out"] {
            assert_eq!(ask(Contains, &json!(elsewhere)), None, "{elsewhere}");
            assert_eq!(ask(NotContains, &json!(elsewhere)), None, "{elsewhere}");
        }
    }

    #[test]
    fn beginning_and_end_are_known() {
        assert_eq!(ask(StartsWith, &json!("starting")), Some(true));
        assert_eq!(ask(StartsWith, &json!("ready")), Some(false));
        assert_eq!(ask(StartsWith, &json!("x".repeat(50))), None);
        assert_eq!(ask(EndsWith, &json!("ready\n")), Some(true));
        assert_eq!(ask(EndsWith, &json!("starting")), Some(false));
        assert_eq!(ask(EndsWith, &json!("x".repeat(50))), None);
    }

    #[test]
    fn a_match_counts_where_it_lies_in_one_piece() {
        assert_eq!(ask(Matches, &json!("warn: \\w+")), Some(true));
        assert_eq!(ask(Matches, &json!("ready")), Some(true));
        assert_eq!(ask(Matches, &json!("panic")), None);
        assert_eq!(ask(Matches, &json!("left out")), None);
        // Of all of it, which is not known.
        assert_eq!(ask(Matches, &json!("^[^!]*$")), None);
    }

    #[test]
    fn a_whole_that_can_not_be_it_is_not() {
        assert_eq!(ask(Equals, &json!("ready\n")), Some(false));
        assert_eq!(ask(NotEquals, &json!("ready\n")), Some(true));
        assert_eq!(ask(Equals, &json!("x".repeat(2000))), Some(false));
        let may_be = format!(
            "starting up\nwarn: low\n{}tail of it\nready\n",
            "x".repeat(1000)
        );
        assert_eq!(ask(Equals, &json!(may_be)), None);
        assert_eq!(ask(NotEquals, &json!(may_be)), None);
        assert_eq!(ask(OneOf, &json!(["ready\n"])), None);
    }

    #[test]
    fn a_length_is_at_least_that_of_what_was_kept() {
        assert_eq!(ask(Length, &json!({ "lt": 10 })), Some(false));
        assert_eq!(ask(Length, &json!({ "ge": 10 })), Some(true));
        assert_eq!(ask(Length, &json!({ "ge": 10, "le": 10_000 })), None);
        assert_eq!(ask(Length, &json!({ "ge": 10_000 })), None);
        assert_eq!(ask(Length, &json!(3)), Some(false));
        assert_eq!(ask(Length, &json!(3000)), None);
        assert_eq!(ask(Exists, &json!(true)), Some(true));
        assert_eq!(ask(Type, &json!("string")), Some(true));
    }
}
