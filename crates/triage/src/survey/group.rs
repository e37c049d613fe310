//! Failures that belong together, before they are told as a cluster.

use super::addresses::Addresses;
use jelly_base::model::FailureView;
use std::collections::BTreeSet;

/// Victims that are asked what an outage is about. More of them would not
/// agree better.
const ASKED: usize = 1000;

/// Groups of a run that are asked what they are about, and failures of each: more of them
/// would tell the same.
pub(super) const CAUSES: usize = 5000;
pub(super) const OF_EACH: usize = 64;

/// More addresses than these are ports that change from run to run.
pub(super) const SERVERS: usize = 4;

/// Failures that belong together, before they are told as a cluster.
#[derive(Default)]
pub(super) struct Group {
    pub fingerprints: Vec<String>,
    /// Places of those that fail of the cause itself, rising.
    pub victims: Vec<usize>,
    /// The one by which the cause is told, where it is not the first of them.
    pub lead: Option<usize>,
    /// Places of those that fail since others do.
    pub followers: Vec<usize>,
    /// The suite of which most tests fail so, where that is why they belong together.
    pub suite: Option<String>,
}

pub(super) fn merge(groups: &mut [Group], into: usize, from: usize) {
    if into == from {
        return;
    }
    let mut taken = std::mem::take(&mut groups[from]);
    let group = &mut groups[into];
    group.fingerprints.append(&mut taken.fingerprints);
    group.victims.append(&mut taken.victims);
    group.followers.append(&mut taken.followers);
    group.lead = group.lead.or(taken.lead);
    group.suite = group.suite.take().or(taken.suite);
}

/// The servers that a group's failures name.
pub(super) fn subjects<'v>(
    group: &Group,
    addresses: &Addresses,
    view: impl Fn(usize) -> Option<FailureView<'v>>,
) -> BTreeSet<String> {
    let asked = group.victims.iter().take(ASKED);
    asked
        .filter_map(|at| {
            let view = view(*at)?;
            addresses.of(*at, &view)
        })
        .collect()
}
