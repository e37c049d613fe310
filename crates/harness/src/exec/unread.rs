//! Schemas of a plan that an answer fulfils because nothing of it is looked at.

use super::ladder::{LadderInput, climb};
use super::selected::selected;
use jelly_plan::{Operator, Predicate, Step, unread_properties};
use jelly_wire::ReplyOutcome;
use serde_json::Value;

/// What to tell of those of a step whose answer was right, in sentences: a misspelt
/// property is fulfilled by every answer.
pub fn unread_schemas(
    step: &Step,
    outcome: &ReplyOutcome,
    ladder_input: LadderInput<'_>,
) -> Vec<String> {
    let ReplyOutcome::Answered(result) = outcome else {
        return Vec::new();
    };
    let expect = &step.expect;
    let mut notes = Vec::new();
    let mut look = |of: &str, predicates: &[Predicate], value: &Value| {
        let schemas = predicates.iter().filter(|p| p.operator == Operator::Schema);
        for names in schemas.filter_map(|schema| unread_properties(&schema.operand, value)) {
            notes.push(format!(
                "nothing of `{of}` was compared with its schema, which requires nothing: the answer \
                 of step `{}` has no `{}`",
                step.id,
                names.join("`, `")
            ));
        }
    };
    if expect
        .structured
        .iter()
        .any(|p| p.operator == Operator::Schema)
        && let Some((value, _)) = climb(result, ladder_input)
    {
        look("structured", &expect.structured, &value);
    }
    for json in &expect.json {
        if json
            .predicates
            .iter()
            .any(|p| p.operator == Operator::Schema)
            && let Some(value) = selected(&json.path, result)
        {
            look(&json.raw_path, &json.predicates, &value);
        }
    }
    notes
}
