//! All repairs.

mod coerce;
mod directory;
mod names;
mod port;
mod prefix;
mod required;
mod shared;
mod timeout;
mod workspace;

use super::case::FailureCase;
use super::types::{Facts, Proposal};
use jelly_base::model::{Diagnosis, Failure, Side};
use jelly_plan::Plan;

type Repair = fn(&FailureCase<'_>) -> Option<Proposal>;

/// In the order of preference.
const REPAIRS: [Repair; 9] = [
    directory::of_server,
    directory::of_step,
    workspace::move_into_project,
    required::give_arguments,
    names::rename,
    coerce::coerce,
    timeout::raise,
    port::choose_another,
    names::quarantine,
];

/// What could mend this failure, best first. Every proposal would change
/// something, and none leaves the project.
#[must_use]
pub fn propose(
    plan: &Plan,
    failure: &Failure,
    diagnosis: &Diagnosis,
    facts: &Facts<'_>,
) -> Vec<Proposal> {
    if diagnosis.side == Side::Code {
        return Vec::new();
    }
    let case = FailureCase {
        plan,
        failure,
        diagnosis,
        facts,
    };
    let proposals = REPAIRS.iter().filter_map(|repair| repair(&case));
    proposals
        .filter(Proposal::changes_something)
        .filter_map(|proposal| shared::at_its_place(proposal, plan))
        .collect()
}
