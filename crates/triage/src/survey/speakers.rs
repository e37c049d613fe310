//! Failures that name no server and tell what was spoken with it: an answer that says that
//! Redis refused, and the tests whose client of Redis was refused.

use super::addresses::Addresses;
use super::group::{CAUSES, Group, SERVERS, subjects};
use super::lacks::SubjectKind;
use super::mentions::Mentions;
use super::service::{service_at, service_of};
use jelly_base::model::FailureView;
use jelly_base::model::{Outage, outage};
use std::collections::{BTreeSet, HashMap};

/// A group whose clients were not answered.
#[derive(Debug, Clone, Copy)]
struct SpokenOutage {
    group: usize,
    /// Its clients name the server.
    is_named: bool,
}

/// The outages by the service that they are of. Of a service that is away twice, nobody
/// knows which is meant.
#[derive(Debug, Default)]
pub(super) struct Speakers(HashMap<&'static str, Option<SpokenOutage>>);

impl Speakers {
    pub(super) fn of(views: &[FailureView<'_>], groups: &[Group], addresses: &Addresses) -> Self {
        let mut speakers = Self::default();
        for (at, group) in groups.iter().enumerate().take(CAUSES) {
            let Some(view) = group.victims.first().and_then(|first| views.get(*first)) else {
                continue;
            };
            if outage(&view.kind.root_cause) != Some(Outage::Away) {
                continue;
            }
            let about = subjects(group, addresses, |at| views.get(at).copied());
            if about.len() <= SERVERS
                && let Some(service) = service_of(view, &about)
            {
                let spoken = SpokenOutage {
                    group: at,
                    is_named: !about.is_empty(),
                };
                speakers
                    .0
                    .entry(service)
                    .and_modify(|known| *known = None)
                    .or_insert(Some(spoken));
            }
        }
        speakers
    }

    /// The outage of the one service that a failure mentions, unless both name a server:
    /// these are two.
    pub(super) fn meant(&self, view: &FailureView<'_>, mentions: &Mentions) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        let mut services: BTreeSet<&str> = BTreeSet::new();
        let mut names_server = false;
        for subject in mentions.of(view) {
            match subject.kind {
                SubjectKind::Server => {
                    names_server = true;
                    services.extend(service_at(&subject.name));
                }
                SubjectKind::Service => {
                    services.insert(&subject.name);
                }
                _ => {}
            }
        }
        let service = services.pop_first()?;
        let spoken = (*self.0.get(service)?)?;
        let is_one = services.is_empty() && !(names_server && spoken.is_named);
        is_one.then_some(spoken.group)
    }
}
