//! All repairs, in the order of preference.

use super::types::{Facts, Proposal};
use crate::model::{Diagnosis, Failure};
use crate::plan::Plan;

/// What could mend this failure, best first. Every proposal changes something,
/// and lies inside the project.
#[must_use]
pub fn propose(
    plan: &Plan,
    failure: &Failure,
    diagnosis: &Diagnosis,
    facts: &Facts<'_>,
) -> Vec<Proposal> {
    let _ = (plan, failure, diagnosis, facts);
    Vec::new()
}
