//! A failure for each mismatch of a step, captures that find nothing included.

use super::super::bound::{copied, copied_text};
use super::super::clean::Cleaner;
use super::super::declared;
use super::super::judge::Mismatch;
use super::super::shared_state::SharedState;
use super::super::step_end::at_step;
use jelly_base::model::{
    Assertion, AssertionTarget, Failure, MismatchPlace, Outcome, Phase, ToolResult,
};
use jelly_plan::{Location, Step};
use serde_json::Value;

/// So many mismatches of one step are failures of their own: each keeps the
/// answer, and a report has to bear them all.
const MISMATCHES: usize = 50;

pub fn tool_result(result: &Value, cleaner: &Cleaner) -> ToolResult {
    ToolResult {
        is_error: declared::is_error(result),
        text: copied_text(declared::text_of(result).into(), cleaner),
        structured_content: result
            .get("structuredContent")
            .map(|own| copied(own, cleaner)),
    }
}

/// A failure for each mismatch. Of very many, the first are kept, and each
/// says how many there were.
pub fn mismatched(
    shared: &SharedState,
    step: &Step,
    result: &Value,
    mut mismatches: Vec<Mismatch>,
) -> Vec<Failure> {
    // The sort is stable: all else stays in the plan's order.
    mismatches.sort_by_key(|m| m.assertion.target == Some(AssertionTarget::Duration));
    let of = u32::try_from(mismatches.len()).unwrap_or(u32::MAX);
    if mismatches.is_empty() {
        return Vec::new();
    }
    let answer = tool_result(result, &shared.cleaner);
    let kept = mismatches.into_iter().take(MISMATCHES);
    kept.zip(1..)
        .map(|(mismatch, index)| {
            let Mismatch {
                assertion,
                message,
                at,
            } = mismatch;
            let at = if at == Location::default() {
                step.at
            } else {
                at
            };
            Failure {
                outcome: Some(Outcome::Result),
                tool_result: Some(answer.clone()),
                assertion: Some(Assertion {
                    at: Some(shared.plan.at(at)),
                    ..assertion
                }),
                mismatch: Some(MismatchPlace { index, of }),
                ..at_step(step, Phase::Assert, message)
            }
        })
        .collect()
}

/// What the plan wants kept, or all that is not there to be kept.
pub fn captured(
    shared: &SharedState,
    step: &Step,
    result: &Value,
) -> Result<Vec<(String, Value)>, Vec<Mismatch>> {
    let mut captured = Vec::new();
    let mut missing = Vec::new();
    for (name, capture) in &step.capture {
        let nodes = capture.path.query(result).all();
        let value = match nodes.as_slice() {
            [] => {
                let message = format!("nothing stands at {} to be kept as `{name}`", capture.raw);
                let (target, compared) = (AssertionTarget::Json, (Value::Bool(true), Value::Null));
                let mut mismatch = Mismatch::new("capture", target, compared, message, capture.at)
                    .at_path(Some(&capture.raw));
                mismatch.assertion.absent = true;
                mismatch.tell_nearest(&capture.raw, result, &shared.cleaner);
                missing.push(mismatch);
                continue;
            }
            [one] => (*one).clone(),
            many => Value::Array(many.iter().map(|value| (*value).clone()).collect()),
        };
        captured.push((name.clone(), value));
    }
    if missing.is_empty() {
        Ok(captured)
    } else {
        Err(missing)
    }
}
