//! Pools of connections that ran dry since their server is away: each test that fails of it
//! says so, and that the server is away stands in the log.

use super::addresses::Addresses;
use super::group::{CAUSES, Group, OF_EACH};
use super::mentions::Mentions;
use super::subject::same;
use jelly_base::model::FailureView;
use std::collections::{BTreeSet, HashMap};

/// The rule of failures that got no connection of a pool.
const RULE: &str = "database/out-of-connections";

/// The groups that got no connection, by the one server that all of a group mention.
#[derive(Debug, Default)]
pub(super) struct DryPools(Vec<(String, usize)>);

impl DryPools {
    pub(super) fn of(
        views: &[FailureView<'_>],
        groups: &[Group],
        mentions: &HashMap<String, Mentions>,
        addresses: &Addresses,
    ) -> Self {
        let mut pools = Self::default();
        for (at, group) in groups.iter().enumerate().take(CAUSES) {
            let first = group.victims.first().and_then(|first| views.get(*first));
            if first.is_none_or(|view| view.kind.rule != RULE) {
                continue;
            }
            let mut servers: BTreeSet<String> = BTreeSet::new();
            for view in group.victims.iter().take(OF_EACH).map(|at| &views[*at]) {
                if let Some(told) = mentions.get(view.report) {
                    servers.extend(addresses.mentioned_by(told, view));
                }
            }
            if let Some(server) = servers.pop_first()
                && servers.is_empty()
            {
                pools.0.push((server, at));
            }
        }
        pools
    }

    /// The one pool of whose server a failure mentions that it is away, and of no other.
    pub(super) fn meant(
        &self,
        view: &FailureView<'_>,
        mentions: &Mentions,
        addresses: &Addresses,
    ) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        let servers = addresses.mentioned_by(mentions, view);
        let is_meant = |server: &str| {
            let is_one = servers.iter().all(|other| same(server, other));
            is_one && !servers.is_empty()
        };
        let mut meant = self
            .0
            .iter()
            .filter(|(server, _)| is_meant(server.as_str()));
        let (_, at) = meant.next()?;
        meant.next().is_none().then_some(*at)
    }
}
