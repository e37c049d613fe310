//! One outage told in different words: a server that is away, or ails.

use super::addresses::Addresses;
use super::ailing::status_of;
use super::clients::{client, service_asked};
use super::group::{Group, OF_EACH, SERVERS, merge, subjects};
use super::mentions::Mentions;
use super::party::party;
use super::service::service_of;
use super::subject::{host_of, is_engine};
use super::titles::suite_of;
use jelly_base::model::FailureView;
use jelly_base::model::{Outage, outage};
use jelly_base::text::{LazyPattern, THIS_MACHINE};
use std::collections::{BTreeSet, HashMap};

/// Joins groups that tell one outage in different words: they name the same
/// address, or one of them names none and there is no other it could mean.
pub(super) fn join_outages(
    views: &[FailureView<'_>],
    groups: &mut [Group],
    addresses: &Addresses,
    mentions: &HashMap<String, Mentions>,
) {
    let root = |group: &Group| -> &str {
        let first = group.victims.first();
        first.map_or("", |first| &views[*first].kind.root_cause)
    };
    let mut outages: Vec<Servers<'_>> = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let cause = root(group).to_owned();
        // A certificate, a version and a name are mended each by itself.
        if outage(&cause).is_none() || cause == "tls_error" {
            continue;
        }
        let about = subjects(group, addresses, |at| views.get(at).copied());
        let rule = group.victims.first().map(|first| &*views[*first].kind.rule);
        // What else is not there and named by no address is a part of the machine, and each
        // is its own.
        if about.is_empty() && cause == "dependency_unavailable" && !rule.is_some_and(is_engine) {
            continue;
        }
        if about.len() <= SERVERS {
            let first = group.victims.first().and_then(|first| views.get(*first));
            let speaks = first.and_then(|view| {
                service_of(view, &about).or_else(|| service_asked(view, mentions))
            });
            let victims = group.victims.iter().take(OF_EACH).map(|at| &views[*at]);
            let clients = victims.filter_map(|view| Some((view.report, client(view, mentions)?)));
            let clients = clients.collect();
            let victims = group.victims.iter().take(OF_EACH).map(|at| &views[*at]);
            let suites = victims.map(|view| (view.report, suite_of(view)));
            let suites = suites.filter(|(_, suite)| !suite.is_empty()).collect();
            let of_socket = match about.is_empty() {
                // Of the engine of containers there is one, whatever its clients say of it.
                true => !rule.is_some_and(is_engine) && first.is_some_and(misses_socket),
                false => about.iter().all(|server| server.starts_with('/')),
            };
            outages.push(Servers {
                group: at,
                about,
                cause: OutageCause {
                    root: cause,
                    of_socket,
                },
                speaks,
                clients,
                suites,
                party: first.and_then(|view| {
                    let evidence = view.evidence.map(|(_, text)| text);
                    party(evidence.or(view.message)?)
                }),
                status: first.and_then(status_of),
            });
        }
    }
    // The one with most victims takes the others in; those that name nobody
    // come last.
    outages.sort_by_key(|servers| {
        let victims = groups[servers.group].victims.len();
        (
            servers.about.is_empty(),
            std::cmp::Reverse(victims),
            servers.group,
        )
    });
    let mut known = KnownOutages::default();
    known.note_ports(&outages);
    for servers in outages {
        let home = if servers.about.is_empty() {
            // One of several would be a guess, and so would one of another kind.
            known
                .asked_alike(&servers)
                .filter(|at| known.is_of_kind(*at, &servers.cause))
                .or_else(|| known.only_of_suites(&servers))
                .or_else(|| known.only(&servers))
                .or_else(|| known.only_of_service(&servers))
                .filter(|at| known.may_be(*at, &servers))
        } else {
            // Of this machine the port tells which, where it is told.
            let is_here = |server: &String| server == THIS_MACHINE;
            let is_vague = servers.about.iter().all(is_here);
            let of_suites = || known.only_of_suites(&servers).filter(|_| is_vague);
            known.first_that_shares(&servers).or_else(of_suites)
        };
        match home {
            Some(at) => {
                merge(groups, known.groups[at], servers.group);
                known.learn(at, &servers);
            }
            None => known.add(&servers),
        }
    }
    for group in groups {
        group.victims.sort_unstable();
    }
}

/// Whether a client that names no server says that its socket is not there.
fn misses_socket(view: &FailureView<'_>) -> bool {
    static MISSING: LazyPattern = LazyPattern::ascii(
        r"\[2002\] No such file or directory|\bNo such file or directory - connect\(2\)|\bdial unix [^\n]{1,400}: connect: no such file or directory",
    );
    let evidence = view.evidence.map(|(_, text)| text);
    let mut texts = [evidence, view.message].into_iter().flatten();
    texts.any(|text| MISSING.is_match(text))
}

/// The root cause of an outage, and whether a socket of this machine is away: that is another
/// fault than a port at which nobody listens.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OutageCause {
    root: String,
    of_socket: bool,
}

/// The servers that one group is about.
struct Servers<'v> {
    group: usize,
    about: BTreeSet<String>,
    cause: OutageCause,
    /// What its clients speak with it, where that shows.
    speaks: Option<&'static str>,
    /// The reports, and the files of the product, from which they were asked.
    clients: BTreeSet<(&'v str, &'v str)>,
    /// The reports and the suites of the tests that failed of it.
    suites: BTreeSet<(&'v str, &'v str)>,
    /// Who is away by its name in words, as in `payments answered 503`.
    party: Option<String>,
    /// What it answered, where it did.
    status: Option<String>,
}

/// The outages with one cause.
struct OutagesOfCause {
    first: usize,
    count: usize,
    /// What is spoken with the first, and whether a port of it is known.
    speaks: Option<&'static str>,
    has_port: bool,
    /// What the first answered.
    status: Option<String>,
}

/// The outages of one cause with which the same is spoken.
#[derive(Debug, Clone, Copy)]
struct OutagesOfService {
    first: usize,
    count: usize,
    /// The first has an address.
    is_named: bool,
}

/// The outages that are told already, by what they are about: there may be as
/// many as failures.
#[derive(Default)]
struct KnownOutages<'v> {
    /// Of each outage, the group.
    groups: Vec<usize>,
    /// Of each, whether a socket is away.
    of_sockets: Vec<bool>,
    /// Of each, who is away by its name in words, and what it answered.
    parties: Vec<(Option<String>, Option<String>)>,
    /// Of each, the root cause, and what is spoken with it, where that shows.
    kinds: Vec<(String, Option<&'static str>)>,
    /// By the suite of the tests that fail of them.
    suites: HashMap<(&'v str, &'v str), BTreeSet<usize>>,
    /// By the cause, and by the cause with what was answered.
    causes: HashMap<(OutageCause, Option<String>), OutagesOfCause>,
    /// The first outage of a kind at an address.
    addresses: HashMap<(Outage, String), usize>,
    /// The first at a host, with or without a port.
    hosts: HashMap<(Outage, String, bool), usize>,
    /// The addresses with a port, by their hosts.
    ports: HashMap<String, BTreeSet<String>>,
    /// By the cause and what is spoken with them: the first, and how many.
    services: HashMap<(OutageCause, &'static str), OutagesOfService>,
    /// By who asked: nothing where several were asked from one file.
    clients: HashMap<(&'v str, &'v str), Option<usize>>,
}

impl<'v> KnownOutages<'v> {
    /// Whether an outage may be this one: words name no other, and it answers no other status.
    fn may_be(&self, at: usize, servers: &Servers<'v>) -> bool {
        let (party, status) = &self.parties[at];
        let is_one = |one: &Option<String>, other: &Option<String>| match (one, other) {
            (Some(one), Some(other)) => one == other,
            (None, _) | (_, None) => true,
        };
        is_one(party, &servers.party) && is_one(status, &servers.status)
    }

    fn note_ports(&mut self, outages: &[Servers<'v>]) {
        for address in outages.iter().flat_map(|servers| &servers.about) {
            let (host, ported) = host_of(address);
            if ported {
                let ports = self.ports.entry(host.to_owned()).or_default();
                ports.insert(address.clone());
            }
        }
    }

    fn add(&mut self, servers: &Servers<'v>) {
        let at = self.groups.len();
        self.groups.push(servers.group);
        self.of_sockets.push(servers.cause.of_socket);
        let answered = (servers.party.clone(), servers.status.clone());
        self.parties.push(answered);
        let kind = (servers.cause.root.clone(), servers.speaks);
        self.kinds.push(kind);
        // What was answered may tell, and may not.
        let answered = servers.status.clone().map(Some);
        for status in [None].into_iter().chain(answered) {
            let first = OutagesOfCause {
                first: at,
                count: 0,
                speaks: servers.speaks,
                status: servers.status.clone(),
                has_port: servers.about.iter().any(|server| host_of(server).1),
            };
            let cause = (servers.cause.clone(), status);
            let known = self.causes.entry(cause).or_insert(first);
            known.count += 1;
        }
        if let Some(service) = servers.speaks {
            let of_service = (servers.cause.clone(), service);
            let known = self.services.entry(of_service).or_insert(OutagesOfService {
                first: at,
                count: 0,
                is_named: !servers.about.is_empty(),
            });
            known.count += 1;
        }
        self.learn(at, servers);
    }

    /// The outage `at` is about these servers, too.
    fn learn(&mut self, at: usize, servers: &Servers<'v>) {
        let Some(kind) = outage(&servers.cause.root) else {
            return;
        };
        if kind == Outage::Away {
            for suite in &servers.suites {
                self.suites.entry(*suite).or_default().insert(at);
            }
        }
        for asked in &servers.clients {
            let known = self.clients.entry(*asked).or_insert(Some(at));
            *known = known.filter(|known| *known == at);
        }
        for address in &servers.about {
            let first = self.addresses.entry((kind, address.clone())).or_insert(at);
            *first = at.min(*first);
            let (host, ported) = host_of(address);
            let first = self
                .hosts
                .entry((kind, host.to_owned(), ported))
                .or_insert(at);
            *first = at.min(*first);
        }
    }

    /// Whether a socket is away in both, or in neither.
    fn is_of_kind(&self, at: usize, cause: &OutageCause) -> bool {
        self.of_sockets.get(at) == Some(&cause.of_socket)
    }

    /// The one outage that was met from the same files of the product.
    fn asked_alike(&self, servers: &Servers<'v>) -> Option<usize> {
        let same = |at: &usize| self.may_be(*at, servers);
        let asked = servers.clients.iter();
        let known: Option<BTreeSet<usize>> = asked
            .filter_map(|asked| self.clients.get(asked).copied())
            .collect();
        let known = known?;
        let only = (known.len() == 1).then(|| known.first().copied()).flatten();
        only.filter(same)
    }

    /// The only outage of which tests of the same suites fail, where nobody answers: a suite asks
    /// few servers.
    fn only_of_suites(&self, servers: &Servers<'v>) -> Option<usize> {
        if outage(&servers.cause.root) != Some(Outage::Away) || servers.status.is_some() {
            return None;
        }
        let of_suites = servers
            .suites
            .iter()
            .filter_map(|suite| self.suites.get(suite));
        let met: BTreeSet<usize> = of_suites.flatten().copied().collect();
        let [only] = *met.into_iter().collect::<Vec<_>>() else {
            return None;
        };
        let (root, speaks) = self.kinds.get(only)?;
        let speaks_otherwise = servers.speaks.is_some() && servers.speaks != *speaks;
        // Who is slow is there, and what asks through another file asks somebody else.
        let differ = speaks_otherwise
            || *root != servers.cause.root
            || self.is_asked_elsewhere(servers, only);
        (!differ && self.is_of_kind(only, &servers.cause)).then_some(only)
    }

    /// The only outage with the cause of this one, unless both speak with services of
    /// different kinds: a cache that is away says nothing of what sends mail. Nor does
    /// what listens at a port at which no such service is known to. Where it answered, only
    /// one that answered the same, if any is known by what it answered.
    fn only(&self, servers: &Servers<'v>) -> Option<usize> {
        let cause = |status| self.causes.get(&(servers.cause.clone(), status));
        let answered = servers
            .status
            .clone()
            .and_then(|status| cause(Some(status)));
        let known = answered.or_else(|| cause(None))?;
        // Two accounts may be refused, each for its own reason.
        let is_refused = outage(&servers.cause.root) == Some(Outage::Refusing);
        if is_refused && (servers.status.is_none() || servers.status != known.status) {
            return None;
        }
        if self.is_asked_elsewhere(servers, known.first) {
            return None;
        }
        let met_in = |suite: &(&str, &str)| {
            let met = self.suites.get(suite);
            met.is_some_and(|met| met.contains(&known.first))
        };
        // Whose tests are of another suite may ask another server.
        let is_away = outage(&servers.cause.root) == Some(Outage::Away);
        let is_elsewhere = !servers.suites.is_empty() && !servers.suites.iter().any(met_in);
        if is_away && known.has_port && is_elsewhere {
            return None;
        }
        let differ = servers.speaks.is_some() && servers.speaks != known.speaks;
        let answered = (&servers.status, &known.status);
        let answers_differ = matches!(answered, (Some(own), Some(first)) if own != first);
        let apart = differ && (known.speaks.is_some() || known.has_port) || answers_differ;
        (known.count == 1 && !apart).then_some(known.first)
    }

    /// Whether another client of the product asks a known outage's server: another service, as
    /// far as anybody knows.
    fn is_asked_elsewhere(&self, servers: &Servers<'v>, known: usize) -> bool {
        !servers.clients.is_empty() && self.clients.values().any(|at| *at == Some(known))
    }

    /// The only outage of this cause with which the same is spoken: of two databases that are
    /// away, nobody knows which is meant.
    fn only_of_service(&self, servers: &Servers<'v>) -> Option<usize> {
        // What it answered may be of each that asked.
        if outage(&servers.cause.root) != Some(Outage::Away) || servers.status.is_some() {
            return None;
        }
        let of_service = (servers.cause.clone(), servers.speaks?);
        let known = *self.services.get(&of_service)?;
        // Where none of them names a server, several files that ask tell of no second one;
        // connections with names of their own do.
        let is_file = |(_, client): &(&str, &str)| client.contains(['/', '\\']);
        let is_nameless = !known.is_named && servers.clients.iter().all(is_file);
        let is_one = is_nameless || !self.is_asked_elsewhere(servers, known.first);
        (known.count == 1 && is_one).then_some(known.first)
    }

    /// The first outage of the same kind that [`same`] finds at one of the
    /// servers.
    fn first_that_shares(&self, servers: &Servers<'v>) -> Option<usize> {
        let kind = outage(&servers.cause.root)?;
        let at = |address: &String| {
            let (host, ported) = host_of(address);
            let near = self.hosts.get(&(kind, host.to_owned(), !ported));
            let exact = self.addresses.get(&(kind, address.clone()));
            // Without a port, one of several servers of a host would be a guess.
            let is_one = self.ports.get(host).is_none_or(|ports| ports.len() <= 1);
            near.filter(|_| host != THIS_MACHINE && is_one)
                .into_iter()
                .chain(exact)
                .min()
                .copied()
        };
        // One who is asked too often is not out of order.
        let is_limit = |root: &str| root == "rate_limited";
        let is_one_fault = |at: &usize| {
            let root = self.kinds.get(*at).map(|(root, _)| root.as_str());
            root.is_none_or(|root| is_limit(root) == is_limit(&servers.cause.root))
        };
        servers
            .about
            .iter()
            .filter_map(at)
            .filter(is_one_fault)
            .min()
    }
}
