//! Which name an address of a machine has, as the failures of a run tell: one
//! client writes the name of a server, another what it resolves to.

use super::subject::host_of;
use jelly_base::model::FailureView;
use jelly_base::model::{Outage, outage};
use jelly_base::text::{THIS_MACHINE, address, addresses};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::Ipv4Addr;
use std::sync::LazyLock;

/// Failures whose message and evidence are held against each other. More of them would
/// tell the same.
const PAIRED: usize = 1000;

/// The names of hosts by report and numeric address: containers of two jobs have the
/// same one. An address with two names has none here: what answers for many hosts says
/// nothing of which is meant.
#[derive(Debug, Default)]
pub(super) struct HostNames(HashMap<(String, String), Option<String>>);

impl HostNames {
    /// What the failures of outages tell of both.
    pub(super) fn told_by(views: &[FailureView<'_>]) -> Self {
        let mut names = Self::default();
        let mut paired = 0;
        let mut by_port = ByPort::default();
        for view in views {
            // A name that is not known has no address.
            let is_dns = view.kind.root_cause == "network_dns";
            if outage(&view.kind.root_cause) == Some(Outage::Away) && !is_dns {
                by_port.read(view);
            }
            if outage(&view.kind.root_cause).is_some() {
                let texts = [view.evidence.map(|(_, text)| text), view.message];
                texts
                    .into_iter()
                    .flatten()
                    .for_each(|text| names.read(view.report, text));
                // A server that answers may stand before the one that it tells of.
                if let (Some((_, evidence)), Some(message)) = (view.evidence, view.message)
                    && outage(&view.kind.root_cause) == Some(Outage::Away)
                    && paired < PAIRED
                {
                    names.pair(view.report, evidence, message);
                    paired += 1;
                }
            }
        }
        by_port.note(&mut names);
        names
    }

    fn read(&mut self, report: &str, text: &str) {
        static PAIRS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            [
                // libpq: server at "db" (10.0.0.3), host "db" (10.0.0.3)
                r#"\b(?:server at|host) "(?P<host>[A-Za-z][\w.-]*)" \((?P<address>\d{1,3}(?:\.\d{1,3}){3})\)"#,
                // Go: Get "http://db:5984/a": dial tcp 10.0.0.3:5984: i/o timeout
                r#"https?://(?P<host>[A-Za-z][\w.-]*)(?::\d+)?(?:/[^"\s]*)?": dial tcp (?P<address>\d{1,3}(?:\.\d{1,3}){3}):\d{2,5}\b"#,
                // The JVM: db/10.0.0.3:5432
                r"\b(?P<host>[A-Za-z][\w.-]*)/(?P<address>\d{1,3}(?:\.\d{1,3}){3}):\d{2,5}\b",
            ]
            .iter()
            .filter_map(|form| Regex::new(form).ok())
            .collect()
        });
        for found in PAIRS.iter().flat_map(|form| form.captures_iter(text)) {
            self.note(report, &found["address"], &found["host"]);
        }
    }

    /// A client that tells the URL that it was given, and what the system says of the
    /// address: both are one server where only the one of them is named, at one port.
    fn pair(&mut self, report: &str, evidence: &str, message: &str) {
        let Some(numeric) = address(evidence) else {
            return;
        };
        let ((ip, _), port) = (host_of(&numeric), port_of(&numeric));
        if !is_numeric(ip) || port.is_none() {
            return;
        }
        let others: Vec<String> = addresses(message).filter(|one| *one != numeric).collect();
        if let Some(named) = others.first()
            && others.iter().all(|one| one == named)
            && port_of(named) == port
        {
            let (host, _) = host_of(named);
            if !is_numeric(host) && host != THIS_MACHINE {
                self.note(report, ip, host);
            }
        }
    }

    fn note(&mut self, report: &str, address: &str, host: &str) {
        let host = host.to_ascii_lowercase();
        let known = self
            .0
            .entry((report.to_owned(), address.to_owned()))
            .or_insert_with(|| Some(host.clone()));
        if known.as_ref().is_some_and(|known| *known != host) {
            *known = None;
        }
    }

    /// An address of an outage in a report, by the name of its host where that tells one.
    pub(super) fn named(&self, report: &str, address: String) -> String {
        let (host, _) = host_of(&address);
        match self.0.get(&(report.to_owned(), host.to_owned())) {
            Some(Some(name)) => format!("{name}{}", &address[host.len()..]),
            Some(None) | None => address,
        }
    }
}

/// By report and port, the hosts that did not answer at it: those with names, and those
/// of a private network without.
#[derive(Default)]
struct ByPort<'v>(BTreeMap<(&'v str, String), [BTreeSet<String>; 2]>);

impl<'v> ByPort<'v> {
    fn read(&mut self, view: &FailureView<'v>) {
        let texts = [view.evidence.map(|(_, text)| text), view.message];
        for server in texts.into_iter().flatten().flat_map(addresses) {
            let (host, _) = host_of(&server);
            let Some(port) = port_of(&server).filter(|_| host != THIS_MACHINE) else {
                continue;
            };
            // Services of any kind have these.
            if ["80", "443", "3000", "8000", "8080", "8443"].contains(&port) {
                continue;
            }
            let key = (view.report, port.to_owned());
            let place = self.0.entry(key).or_default();
            let [named, numeric] = place;
            let hosts = match is_numeric(host) {
                true if is_private(host) => numeric,
                true => continue,
                false => named,
            };
            if hosts.len() < 2 {
                hosts.insert(host.to_owned());
            }
        }
    }

    /// One name and one address that are away at one port of a private network are one
    /// server, if there is no other that either could be.
    fn note(self, names: &mut HostNames) {
        for ((report, _), [named, numeric]) in self.0 {
            if let (1, 1, Some(host), Some(ip)) =
                (named.len(), numeric.len(), named.first(), numeric.first())
            {
                let place = (report.to_owned(), ip.clone());
                names.0.entry(place).or_insert_with(|| Some(host.clone()));
            }
        }
    }
}

fn is_private(ip: &str) -> bool {
    ip.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_private())
}

fn port_of(address: &str) -> Option<&str> {
    address.rsplit_once(':').map(|(_, port)| port)
}

fn is_numeric(host: &str) -> bool {
    host.contains('.') && host.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

#[cfg(test)]
mod tests {
    use super::HostNames;

    #[test]
    fn an_address_has_the_one_name_that_is_told_of_it() {
        let mut names = HostNames::default();
        names.read(
            "a.xml",
            r#"connection to server at "db.acme.test" (10.4.2.17), port 5432 failed"#,
        );
        names.read("a.xml", "Failed to connect to ledger/10.9.0.44:8082");
        names.read(
            "a.xml",
            "Failed to connect to a/10.9.0.9:443, then to b/10.9.0.9:443",
        );
        for (address, wanted) in [
            ("10.4.2.17:5432", "db.acme.test:5432"),
            ("10.9.0.44", "ledger"),
            ("10.9.0.9:443", "10.9.0.9:443"),
            ("10.1.1.1:80", "10.1.1.1:80"),
        ] {
            assert_eq!(names.named("a.xml", address.to_owned()), wanted);
            assert_eq!(names.named("b.xml", address.to_owned()), address);
        }
    }

    #[test]
    fn a_url_names_the_address_at_its_port() {
        let mut names = HostNames::default();
        let refused = "Error: connect ECONNREFUSED 10.4.0.9:3333";
        names.pair(
            "a.xml",
            refused,
            "failed to load http://shop.acme.test:3333/cart",
        );
        assert_eq!(
            names.named("a.xml", "10.4.0.9:3333".to_owned()),
            "shop.acme.test:3333"
        );
        // At another port it may be a gateway.
        names.pair(
            "b.xml",
            refused,
            "failed to load http://shop.acme.test:8080/cart",
        );
        assert_eq!(
            names.named("b.xml", "10.4.0.9:3333".to_owned()),
            "10.4.0.9:3333"
        );
    }
}
