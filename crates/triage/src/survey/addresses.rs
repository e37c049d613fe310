//! Whom the outages of a run are about: by what of them is kept, and by what else their
//! texts mention.

use super::host_names::HostNames;
use super::lacks::SubjectKind;
use super::mentions::Mentions;
use super::subject::{is_engine, own_host, own_server, same, subject};
use jelly_base::model::FailureView;
use jelly_base::model::{Outage, outage};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The addresses of outages, by the place of the failure.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    names: HostNames,
    /// Of failures whose diagnosis names no server, the one that their texts mention.
    mentioned: HashMap<usize, String>,
    /// Addresses of this machine that are no chance.
    lasting: HashSet<String>,
}

impl Addresses {
    pub(super) fn told_by(views: &[FailureView<'_>], mentions: &HashMap<String, Mentions>) -> Self {
        let mut told = Self {
            names: HostNames::told_by(views),
            mentioned: HashMap::new(),
            lasting: lasting(views),
        };
        if mentions.values().all(Mentions::is_empty) {
            return told;
        }
        for (at, view) in views.iter().enumerate() {
            let Some(of_report) = mentions.get(view.report) else {
                continue;
            };
            let one = match outage(&view.kind.root_cause) {
                Some(Outage::Away) if !is_engine(&view.kind.rule) => {
                    told.only_server(of_report, view)
                }
                Some(Outage::Ailing) if subject(view).is_none() => told.asked(of_report, view),
                Some(_) | None => None,
            };
            told.mentioned.extend(one.map(|one| (at, one)));
        }
        told
    }

    /// The server that a failure mentions, if it is one.
    fn only_server(&self, mentions: &Mentions, view: &FailureView<'_>) -> Option<String> {
        let servers = self.mentioned_by(mentions, view);
        let fullest = servers.iter().max_by_key(|server| server.len())?;
        let is_one = servers
            .iter()
            .all(|server| server == fullest || same(server, fullest));
        is_one.then(|| fullest.clone())
    }

    /// The server that answered a failure with an error, as its client shows the request.
    fn asked(&self, mentions: &Mentions, view: &FailureView<'_>) -> Option<String> {
        let mut told = mentions.of(view);
        let asked = told.find(|subject| subject.kind == SubjectKind::Asked)?;
        Some(self.named(view.report, &asked.name))
    }

    /// The servers that a failure mentions as away.
    pub(super) fn mentioned_by(
        &self,
        mentions: &Mentions,
        view: &FailureView<'_>,
    ) -> BTreeSet<String> {
        mentions
            .of(view)
            .filter(|subject| subject.kind == SubjectKind::Server)
            .map(|subject| self.named(view.report, &subject.name))
            .collect()
    }

    /// An address in a report, by the name of its host where that is told.
    pub(super) fn named(&self, report: &str, address: &str) -> String {
        self.names.named(report, address.to_owned())
    }

    /// What the failure at this place is about, if it is one of an outage.
    pub(super) fn of(&self, at: usize, view: &FailureView<'_>) -> Option<String> {
        match self.mentioned.get(&at) {
            Some(mentioned) => Some(mentioned.clone()),
            None => Some(self.names.named(view.report, subject(view)?)),
        }
    }

    /// The server of an outage, unless its port is chance: what keeps it apart from others in
    /// the same words.
    pub(super) fn apart(&self, at: usize, view: &FailureView<'_>) -> Option<String> {
        match self.mentioned.get(&at) {
            Some(mentioned) => self.own(mentioned),
            None => self.own(&subject(view)?),
        }
    }

    /// An address whose port is none of those that are handed out at random, or is the same
    /// for several tests.
    fn own(&self, address: &str) -> Option<String> {
        let own = own_server(address).map(str::to_owned);
        own.or_else(|| self.lasting.get(address).cloned())
    }
}

/// The addresses of this machine that failures of several tests name.
fn lasting(views: &[FailureView<'_>]) -> HashSet<String> {
    let mut named: HashMap<String, (&str, &str)> = HashMap::new();
    let mut found = HashSet::new();
    for view in views {
        let Some(address) = subject(view).filter(|one| own_host(one).is_none()) else {
            continue;
        };
        let test = (view.classname, view.name);
        match named.get(&address) {
            Some(first) if *first != test => _ = found.insert(address),
            Some(_) => {}
            None => _ = named.insert(address, test),
        }
    }
    found
}
