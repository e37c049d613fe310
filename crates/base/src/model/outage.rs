//! Root causes behind which a server that is away, or ails, can stand.

/// Kinds of outage: failures of one kind that are about one server can be the
/// same in other words. A server that answers, if by errors, is not away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outage {
    Away,
    Ailing,
    /// It takes no request of this account.
    Refusing,
    /// Its certificate is not trusted, or it speaks no TLS.
    Untrusted,
}

/// The outage behind which one server, or the way to it, can stand.
#[must_use]
pub fn outage(root_cause: &str) -> Option<Outage> {
    match root_cause {
        "connection_refused"
        | "connection_reset"
        | "network_dns"
        | "network_timeout"
        | "dependency_unavailable"
        | "startup_timeout" => Some(Outage::Away),
        "upstream_error" | "rate_limited" => Some(Outage::Ailing),
        "auth_failed" => Some(Outage::Refusing),
        "tls_error" => Some(Outage::Untrusted),
        _ => None,
    }
}
