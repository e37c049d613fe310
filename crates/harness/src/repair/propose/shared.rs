//! What several steps share in the document: a repair of one of them changes the
//! others too, or does not apply.

use crate::repair::types::{Proposal, RepairId};
use jelly_plan::{Plan, PlanEdit, Step};

/// The proposal with all the steps that it touches; none where it would put
/// into all cases of a step what is true of one.
pub(super) fn at_its_place(mut proposal: Proposal, plan: &Plan) -> Option<Proposal> {
    let mut touched: Vec<String> = Vec::new();
    for edit in &proposal.edits {
        for step in plan.all_steps().filter(|step| is_of(edit, step)) {
            if holds_a_value_of_a_case(edit, step) {
                return None;
            }
            // What expects an error is sent as it is written.
            let changes_request = proposal.id != RepairId::RaiseTimeout;
            if changes_request && step.expects_error() {
                return None;
            }
            touched.push(step.id.clone());
        }
    }
    for id in touched {
        if !proposal.steps_touched.contains(&id) {
            proposal.steps_touched.push(id);
        }
    }
    Some(proposal)
}

/// Whether the edit is made in a step that is written once for several cases.
fn is_of(edit: &PlanEdit, step: &Step) -> bool {
    step.case.is_some() && edit.path().is_within(&step.path)
}

/// Whether what the edit replaces came from a case, be it in part.
fn holds_a_value_of_a_case(edit: &PlanEdit, step: &Step) -> bool {
    let filled = step.case.iter().flat_map(|case| &case.filled);
    let path = edit.path();
    filled.into_iter().any(|filled| match edit {
        // Its name is the step's own, whatever it holds.
        PlanEdit::RenameKey { .. } => path.is_within(filled) && path != filled,
        PlanEdit::Set { .. } | PlanEdit::Remove { .. } => {
            path.is_within(filled) || filled.is_within(path)
        }
    })
}
