//! All repairs, in the order of preference.

use super::types::{Facts, Proposal};
use super::{coerce, directory, names, port, required, timeout, workspace};
use jelly_base::model::{Diagnosis, Failure, Side};
use jelly_plan::Plan;

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
    let mut proposals = directory::propose(plan, failure, diagnosis, facts);
    proposals.extend(workspace::propose(plan, failure, diagnosis, facts));
    proposals.extend(required::propose(plan, failure, diagnosis, facts));
    proposals.extend(names::rename(plan, failure, diagnosis, facts));
    proposals.extend(coerce::propose(plan, failure));
    proposals.extend(timeout::propose(plan, failure, diagnosis));
    proposals.extend(port::propose(plan, failure, diagnosis));
    proposals.extend(names::quarantine(plan, failure, diagnosis, facts));
    proposals.retain(Proposal::changes_something);
    proposals
}
