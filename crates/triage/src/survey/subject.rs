//! What an outage is about: the address in what a failure quotes.

use jelly_base::model::{FailureView, outage};
use jelly_base::text::{THIS_MACHINE, address};

/// The address that a failure of an outage names: `host:port`, or the host
/// where no port is told. Every way to say "this machine" is `localhost`.
pub(super) fn subject(failure: &FailureView<'_>) -> Option<String> {
    outage(&failure.kind.root_cause)?;
    if is_engine(&failure.kind.rule) {
        return None;
    }
    let evidence = failure.evidence.map(|(_, text)| text);
    evidence
        .and_then(address)
        .or_else(|| failure.message.and_then(address))
}

/// Whether a rule is about the engine of containers, of which a machine has one: whatever
/// address its clients make up for its socket.
pub(super) fn is_engine(rule: &str) -> bool {
    matches!(rule, "container/daemon" | "container/engine-missing")
}

/// The host of a subject, unless it is this machine, where ports tell.
pub(super) fn own_host(subject: &str) -> Option<&str> {
    let (host, _) = host_of(subject);
    (host != THIS_MACHINE).then_some(host)
}

/// The subject with its port, unless that is one of those that are handed out at random: then
/// the host, where it is not this machine.
pub(super) fn own_server(subject: &str) -> Option<&str> {
    const RANDOM: std::ops::RangeInclusive<u16> = 32_768..=60_999;
    let port = subject
        .rsplit(':')
        .next()
        .and_then(|port| port.parse().ok());
    match port {
        Some(port) if !RANDOM.contains(&port) => Some(subject),
        Some(_) | None => own_host(subject),
    }
}

/// Whether two subjects can be one: equal, or the same host where one names
/// no port. Of this machine, the port is all that tells.
pub(super) fn same(a: &str, b: &str) -> bool {
    let ((host_a, port_a), (host_b, port_b)) = (host_of(a), host_of(b));
    a == b || (port_a != port_b && host_a == host_b && host_a != THIS_MACHINE)
}

/// The host of a subject, and whether it names a port.
pub(super) fn host_of(subject: &str) -> (&str, bool) {
    match subject.rsplit_once(':') {
        Some((host, _)) => (host, true),
        None => (subject, false),
    }
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn a_host_without_a_port_is_the_same_host() {
        assert!(same("db:5432", "db:5432"));
        assert!(same("db", "db:5432"));
        assert!(!same("db:5432", "db:6379"));
        assert!(!same("localhost", "localhost:5432"));
        assert!(!same("cache", "db"));
    }
}
