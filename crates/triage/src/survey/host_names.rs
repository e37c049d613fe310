//! Which name an address of a machine has, as the failures of a run tell: one
//! client writes the name of a server, another what it resolves to.

use super::subject::{host_of, outage};
use jelly_base::model::FailureView;
use regex::Regex;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The names of hosts by report and numeric address: containers of two jobs have the
/// same one. An address with two names has none here: what answers for many hosts says
/// nothing of which is meant.
#[derive(Debug, Default)]
pub(super) struct HostNames(HashMap<(String, String), Option<String>>);

impl HostNames {
    /// What the failures of outages tell of both.
    pub(super) fn told_by(views: &[FailureView<'_>]) -> Self {
        let mut names = Self::default();
        for view in views {
            if outage(&view.kind.root_cause).is_some() {
                let texts = [view.evidence.map(|(_, text)| text), view.message];
                texts
                    .into_iter()
                    .flatten()
                    .for_each(|text| names.read(view.report, text));
            }
        }
        names
    }

    fn read(&mut self, report: &str, text: &str) {
        static PAIRS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            [
                // libpq: server at "db" (10.0.0.3), host "db" (10.0.0.3)
                r#"\b(?:server at|host) "(?P<host>[A-Za-z][\w.-]*)" \((?P<address>\d{1,3}(?:\.\d{1,3}){3})\)"#,
                // The JVM: db/10.0.0.3:5432
                r"\b(?P<host>[A-Za-z][\w.-]*)/(?P<address>\d{1,3}(?:\.\d{1,3}){3}):\d{2,5}\b",
            ]
            .iter()
            .filter_map(|form| Regex::new(form).ok())
            .collect()
        });
        for found in PAIRS.iter().flat_map(|form| form.captures_iter(text)) {
            let host = found["host"].to_ascii_lowercase();
            let known = self
                .0
                .entry((report.to_owned(), found["address"].to_owned()))
                .or_insert_with(|| Some(host.clone()));
            if known.as_ref().is_some_and(|known| *known != host) {
                *known = None;
            }
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
}
