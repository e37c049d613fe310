//! What a step wants of its answer, and an error that came where another one
//! was wanted.

use super::Ended;
use crate::exec::step_end::StepEnd;
use jelly_base::model::{Outcome, RpcError, Wanted};
use jelly_plan::Expect;

/// Values of a step's expectations that a failure keeps.
const WANTED: usize = 32;

impl Ended<'_> {
    /// What the step wants of its answer: the operands of what must hold, so
    /// far as they can be resolved.
    pub(super) fn wanted(&self) -> Wanted {
        let Expect {
            is_error: _,
            text,
            json,
            structured,
            error,
            duration: _,
            stderr: _,
            notifications: _,
            // Neither is about the answer to a message.
            startup: _,
            http: _,
        } = &self.step.expect;
        let error = error
            .iter()
            .flat_map(|error| error.code.iter().chain(&error.message));
        let json = json.iter().flat_map(|json| &json.predicates);
        let predicates = error.chain(text).chain(structured).chain(json);
        let values = predicates
            .filter(|predicate| predicate.operator.names_value())
            .filter_map(|predicate| self.resolve(predicate).ok())
            .filter(|value| {
                value.is_number() || value.as_str().is_some_and(is_short) || value.is_array()
            })
            .take(WANTED);
        Wanted {
            error: self.step.expects_error(),
            values: values.collect(),
        }
    }
}

/// A mismatch over a JSON-RPC error that came where another one was expected.
pub(super) fn answered_with(mut end: StepEnd, error: RpcError) -> StepEnd {
    for failure in &mut end.failures {
        if failure.assertion.is_some() {
            failure.outcome = Some(Outcome::Error);
            failure.tool_result = None;
            failure.rpc_error = Some(error.clone());
        }
    }
    end
}

/// What an expectation of an error says is short; anything longer is data.
fn is_short(text: &str) -> bool {
    text.len() <= 2000
}
