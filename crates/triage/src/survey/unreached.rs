//! The kind of service that a line says was not reached, where it names no address.

use super::error_lines::LineKind;
use super::lacks::{Subject, SubjectKind};
use super::service::service_in;
use std::collections::BTreeSet;

/// What says that nobody listens, in small letters. Who waited in vain may have been heard.
const UNREACHED: [&str; 15] = [
    "connection refused",
    // In a header.
    "connection%20refused",
    "connection was refused",
    "econnrefused",
    "actively refused",
    "could not connect",
    "couldn't connect",
    "can't connect",
    "cannot connect",
    "unable to connect",
    "failed to connect",
    "could not open a connection",
    "no servers available",
    // Mongoose, which waits for a connection before it asks anything.
    "buffering timed out",
    "not reachable",
];

/// Adds the service that a line says was not reached, and takes the one away that is back.
pub(super) fn note_service(kind: LineKind, line: &str, found: &mut BTreeSet<Subject>) {
    match kind {
        LineKind::Away | LineKind::Lacks => {
            let line = line.to_ascii_lowercase();
            if UNREACHED.iter().any(|words| line.contains(words)) {
                found.extend(service_in(&line).map(service));
            }
        }
        LineKind::Heals => {
            if let Some(back) = service_in(&line.to_ascii_lowercase()) {
                found.remove(&service(back));
            }
        }
        LineKind::Asks => {}
    }
}

fn service(name: &str) -> Subject {
    Subject::new(SubjectKind::Service, name)
}

#[cfg(test)]
mod tests {
    use super::{LineKind, note_service};
    use std::collections::BTreeSet;

    #[test]
    fn a_line_names_the_one_service_that_was_not_reached() {
        for (line, wanted) in [
            ("mysql: SQLSTATE[HY000] [2002] Connection refused", "mysql"),
            (
                "sqlserver: (error: 40 - Could not open a connection to SQL Server)",
                "mssql",
            ),
            ("queue: nats: no servers available for connection", "nats"),
            // It waited.
            ("redis: timeout after 30 s", ""),
            // Two.
            ("cannot connect to redis or kafka", ""),
            ("cannot connect to the till", ""),
        ] {
            let mut found = BTreeSet::new();
            note_service(LineKind::Away, line, &mut found);
            let names: Vec<&str> = found.iter().map(|one| &*one.name).collect();
            assert_eq!(names.concat(), wanted, "{line}");
            note_service(LineKind::Heals, line, &mut found);
            assert!(found.is_empty(), "{line}");
        }
    }
}
