//! What an outage is about: the address in what a failure quotes.

use jelly_base::model::FailureView;
use regex::Regex;
use std::sync::LazyLock;

/// Kinds of outage: failures of one kind that are about one server can be the
/// same in other words. A server that answers, if by errors, is not away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Outage {
    Away,
    Ailing,
}

/// The name of this machine, however it is written.
pub(super) const THIS_MACHINE: &str = "localhost";

/// The outage behind which one server, or the way to it, can stand.
pub(super) fn outage(root_cause: &str) -> Option<Outage> {
    match root_cause {
        "connection_refused"
        | "connection_reset"
        | "network_dns"
        | "network_timeout"
        | "dependency_unavailable"
        | "startup_timeout" => Some(Outage::Away),
        "upstream_error" | "rate_limited" => Some(Outage::Ailing),
        _ => None,
    }
}

/// The address that a failure of an outage names: `host:port`, or the host
/// where no port is told. Every way to say "this machine" is `localhost`.
pub(super) fn subject(failure: &FailureView<'_>) -> Option<String> {
    outage(&failure.kind.root_cause)?;
    let evidence = failure.evidence.map(|(_, text)| text);
    evidence
        .and_then(address)
        .or_else(|| failure.message.and_then(address))
}

/// The first address in `text`, in the forms in which clients write them.
pub(super) fn address(text: &str) -> Option<String> {
    static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        [
            // A URL, whose user and password are nobody's business.
            r#"\b[a-z][a-z0-9+.:-]*://(?:[^@/\s'"]*@)?(?P<host>[\w.-]+|\[[0-9A-Fa-f:]+\])(?::(?P<port>\d{1,5}))?"#,
            // Go: lookup db on 127.0.0.11:53: no such host; PHP: getaddrinfo for db failed
            r#"(?i)\b(?:lookup|getaddrinfo for) (?P<host>[\w-]+(?:\.[\w-]+)*) (?:on \S+?:\d+|failed)"#,
            // PDO: mysql:host=db;port=3306;dbname=shop
            r"\bhost=(?P<host>[\w.-]+);(?:port=(?P<port>\d{1,5}))?",
            // Ruby: connect(2) for "db" port 5432
            r#"connect\(2\) for "?(?P<host>[\w.-]+)"? port (?P<port>\d{1,5})"#,
            // HTTPConnectionPool(host='db', port=80), server at "db" (10.0.0.1), port 5432
            r#"(?i)\b(?:host(?:name)?|server at|connect(?:ion)? to|host name)[=: ]+['"]?(?P<host>[\w.-]+)['"]?(?: \([^)]*\))?,? (?:on )?port[=: ]+(?P<port>\d{1,5})"#,
            // db:5432, 127.0.0.1:5432, [::1]:5432, ::1:5432, /10.0.0.1:80
            r"(?:^|[\s/(\[{<'\x22`,;=@])(?P<host>::1|\[[0-9A-Fa-f:]+\]|[A-Za-z0-9][A-Za-z0-9._-]*):(?P<port>\d{2,5})\b",
            // getaddrinfo ENOTFOUND db, Could not resolve host: db, lookup db: no such host
            r#"(?i)\b(?:ENOTFOUND|EAI_AGAIN|resolve host(?:name)?:?|resolve|lookup|UnknownHostException:|unknown host:?)\s+['"]?(?P<host>[\w-]+(?:\.[\w-]+)*)['"]?"#,
        ]
        .iter()
        .filter_map(|form| Regex::new(form).ok())
        .collect()
    });
    FORMS.iter().find_map(|form| {
        form.captures_iter(text).find_map(|found| {
            let host = found.name("host")?.as_str();
            let port = found.name("port").map(|port| port.as_str());
            let host = host.trim_matches(['[', ']', '.']).to_ascii_lowercase();
            let before = &text[..found.get(0)?.start()];
            if !is_host(&host) || is_image(&host, port, before) {
                return None;
            }
            let host = if is_this_machine(&host) {
                THIS_MACHINE
            } else {
                &host
            };
            Some(match port {
                Some(port) => format!("{host}:{port}"),
                None => host.to_owned(),
            })
        })
    })
}

fn is_this_machine(host: &str) -> bool {
    matches!(host, "localhost" | "::1" | "0.0.0.0" | "127.0.0.1") || host.starts_with("127.")
}

/// A host's name or address, and no file with a line number, no time of day.
fn is_host(host: &str) -> bool {
    const SOURCES: [&str; 26] = [
        "py", "java", "js", "mjs", "cjs", "ts", "tsx", "jsx", "go", "rs", "rb", "php", "kt", "cs",
        "cpp", "cc", "c", "h", "hpp", "swift", "scala", "groovy", "lua", "ex", "exs", "sql",
    ];
    let last = host.rsplit('.').next().unwrap_or(host);
    let is_source = host.contains('.') && SOURCES.contains(&last);
    let numbers = host.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_address = !numbers || host.split('.').count() == 4;
    let words = [
        "", "line", "errno", "code", "error", "the", "a", "host", "port",
    ];
    is_address && !is_source && !words.contains(&host)
}

/// Whether a name with a number is that of a Docker image with its tag.
fn is_image(host: &str, port: Option<&str>, before: &str) -> bool {
    const PORTS: [&str; 8] = ["21", "22", "25", "53", "80", "88", "92", "99"];
    let told = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    let told = told.ends_with("image") || told.ends_with("Image") || told.ends_with("pull");
    let tagged = port.is_some_and(|port| port.len() == 2 && !PORTS.contains(&port));
    host != THIS_MACHINE && port.is_some() && (told || tagged && !host.contains('.'))
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
    use super::{address, same};

    #[test]
    fn an_address_is_found_in_the_words_of_many_clients() {
        for (text, wanted) in [
            ("connect ECONNREFUSED 127.0.0.1:5432", "localhost:5432"),
            ("connect ECONNREFUSED ::1:6379", "localhost:6379"),
            (
                r#"connection to server at "db" (10.0.0.3), port 5432 failed: Connection refused"#,
                "db:5432",
            ),
            (
                "HTTPConnectionPool(host='api.local', port=8080): Max retries exceeded",
                "api.local:8080",
            ),
            (
                "dial tcp 10.1.2.3:9092: connect: connection refused",
                "10.1.2.3:9092",
            ),
            (
                "java.net.ConnectException: Failed to connect to db/10.0.0.3:5432",
                "10.0.0.3:5432",
            ),
            (
                "Post \"http://user:pw@orders:8080/x\": dial tcp: no such host",
                "orders:8080",
            ),
            ("getaddrinfo ENOTFOUND db.internal", "db.internal"),
            (
                "dial tcp: lookup registry.local: no such host",
                "registry.local",
            ),
            ("[::1]:80 refused", "localhost:80"),
            ("dial tcp: lookup db on 127.0.0.11:53: no such host", "db"),
            (
                "php_network_getaddresses: getaddrinfo for db failed: Name or service not known",
                "db",
            ),
            (
                "could not connect (mysql:host=db;dbname=shop): Connection refused",
                "db",
            ),
            (
                "Connection refused - connect(2) for \"db\" port 5432",
                "db:5432",
            ),
        ] {
            assert_eq!(address(text).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn a_place_in_a_source_and_a_time_are_no_address() {
        for text in [
            "at CartTest.java:55",
            "test_orders.py:12: ConnectionError",
            "at 12:30 the connection was refused",
            "Connection refused (os error 111)",
            "Container startup failed for image postgres:15",
            "pull access denied for redis:72",
            "postgres:15 did not start: connection refused",
            "",
        ] {
            assert_eq!(address(text), None, "{text}");
        }
    }

    #[test]
    fn a_host_without_a_port_is_the_same_host() {
        assert!(same("db:5432", "db:5432"));
        assert!(same("db", "db:5432"));
        assert!(!same("db:5432", "db:6379"));
        assert!(!same("localhost", "localhost:5432"));
        assert!(!same("cache", "db"));
    }
}
