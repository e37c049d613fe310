//! The address of a server in the words of a client that did not reach it.

use super::{LazyPattern, ascii_classes};
use regex::Regex;
use std::sync::LazyLock;

/// The name of this machine, however it is written.
pub const THIS_MACHINE: &str = "localhost";

/// The first address in `text`, in the forms in which clients write them.
#[must_use]
pub fn address(text: &str) -> Option<String> {
    addresses(text).next()
}

/// The addresses in `text`, in the same forms: those of the form that tells most first,
/// and each as often as a form finds it.
pub fn addresses(text: &str) -> impl Iterator<Item = String> {
    static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        [
            // A URL, whose user and password are nobody's business; etcd's client puts its
            // own number before what it dials.
            r#"\b[a-z][a-z0-9+.:-]*://(?:[^@/\s'"]*(?:\[secret [^\]\n]*\])?@)?(?:0x[0-9a-f]+/)?(?P<host>[\w.-]+|\[[0-9A-Fa-f:]+\])(?::(?P<port>\d{1,5}))?"#,
            // gRPC
            r"\bipv[46]:(?:%5B|\[)?(?P<host>[\d.]+|[0-9A-Fa-f:]+?)(?:%5D|\])?:(?P<port>\d{2,5})\b",
            // Go's resolver, whose own address follows: lookup db on 10.0.0.2:53
            r"\blookup (?P<host>[\w.-]+)(?: on [\w.\[\]:]+)?: ",
            // HTTPConnectionPool(host='db', port=80), server at "db" (10.0.0.1), port 5432,
            // connect(2) for "db" port 5432
            r#"(?i)(?:\b(?:host(?:name)?|server at|connect(?:ion)? to|host name)|\bconnect\(2\) for)[=: ]+['"]?(?P<host>[\w.-]+)['"]?(?: \([^)]*\))?(?: and accepting\s+TCP/IP connections)?,? (?:on )?port[=: ]+(?P<port>\d{1,5})"#,
            // PDO's name of a source: mysql:host=db;dbname=shop
            r"\b(?:mysql|pgsql|sqlsrv|dblib|firebird):(?:\w+=[^;\s]*;)*?(?:[Hh]ost|[Ss]erver)=(?P<host>[\w.-]+)(?:;(?:\w+=[^;\s]*;)*?port=(?P<port>\d{1,5}))?",
            // SQL Server: Could not open a connection to 'db,1433'
            r#"['"](?:tcp:)?(?P<host>[\w.-]+),(?P<port>\d{4,5})['"]"#,
            // paramiko: Unable to connect to port 22 on 127.0.0.1
            r"(?i)\bport (?P<port>\d{1,5}) (?:on|at) (?:host )?['\x22]?(?P<host>[\w-]+(?:\.[\w-]+)+|localhost)\b",
            // asyncio: Connect call failed ('db', 5432)
            r#"\(['"](?P<host>[\w.-]+)['"], (?P<port>\d{2,5})\b"#,
            // The JVM tells name and address: db/10.0.0.3:5432
            r"\b(?P<host>[A-Za-z][\w.-]*)/(?:\d{1,3}(?:\.\d{1,3}){3}|\[?[0-9A-Fa-f]*:[0-9A-Fa-f:]+\]?):(?P<port>\d{2,5})\b",
            // The same of a name without an address: db/<unresolved>:5432
            r"\b(?P<host>[A-Za-z][\w.-]*)/<unresolved>:(?P<port>\d{2,5})\b",
            // The parts of a URL as Rust shows them
            r#"\bhost: Some\((?:Domain|Ipv4)\("?(?P<host>[\w.-]+)"?\)\), port: (?:Some\((?P<port>\d{1,5})\))?"#,
            // could not translate host name "db" to address, resolved for DNS name: db
            r#"\b(?:host name ['"]|resolved for DNS name: )(?P<host>[\w-]+(?:\.[\w-]+)*)"#,
            // A socket of this machine: server on socket "/run/postgresql/.s.PGSQL.5432"
            r#"\bsocket ['"](?P<host>/[\w./-]+)['"]"#,
            // The same of Ruby: connect(2) for /run/mysqld/mysqld.sock
            r"\bconnect\(2\) for (?P<host>/[\w./-]+)",
            // MySQL: Can't connect to server on 'db'
            r#"\b[Ss]erver on ['"](?P<host>[\w.-]+)['"]"#,
            r"\bgetaddrinfo for (?P<host>[\w.-]+) failed\b",
            // db:5432, 127.0.0.1:5432, [::1]:5432, ::1:5432, /10.0.0.1:80, and of Go's
            // 10.0.0.3:41234->10.0.0.9:6379 the peer
            r"(?:^|->|[\s/(\[{<'\x22`,;=@])(?P<host>::1|\[[0-9A-Fa-f:]+\]|[A-Za-z0-9][A-Za-z0-9._-]*):(?P<port>\d{2,5})\b(?P<more>\.\d)?",
            // getaddrinfo ENOTFOUND db, Could not resolve host: db, lookup db: no such host
            r#"(?i)\b(?:ENOTFOUND|EAI_AGAIN|resolve host(?:name)?:?|resolve|lookup|UnknownHostException:|unknown host:?)\s+['"]?(?P<host>[\w-]+(?:\.[\w-]+)*)['"]?"#,
        ]
        .iter()
        .filter_map(|form| Regex::new(&of_hosts(form)).ok())
        .collect()
    });
    FORMS.iter().flat_map(move |form| {
        form.captures_iter(text).filter_map(move |found| {
            let host = found.name("host")?.as_str();
            let port = found.name("port").map(|port| port.as_str());
            // Of a path the letters count as they are.
            let host = match host.starts_with('/') {
                true => host.to_owned(),
                false => host.trim_matches(['[', ']', '.']).to_ascii_lowercase(),
            };
            let before = &text[..found.get(0)?.start()];
            // `http+docker://localhost`: the daemon's socket, and no server's name.
            let is_socket = found.get(0)?.as_str().starts_with("http+");
            let is_none = is_socket || is_page(before) || is_image(&host, port, before);
            // In a URL whatever stands there is one.
            let is_named = found.get(0)?.as_str().contains("://") && !host.is_empty();
            // Vitest cuts what it quotes: the rest stands elsewhere, or nowhere.
            let rest = &text[found.get(0)?.end()..];
            if rest.trim_start_matches('.').starts_with("… { …(") {
                return None;
            }
            // The runner's own end of a connection.
            if rest.starts_with("->") {
                return None;
            }
            if !(is_named || is_host(&host)) || found.name("more").is_some() || is_none {
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

/// A form whose classes know the letters of ASCII and of the scripts that names of hosts are
/// written in, and no others.
fn of_hosts(form: &str) -> String {
    const LETTERS: &str = r"0-9A-Za-z_\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{24F}\x{370}-\x{52F}\x{3040}-\x{9FFF}\x{AC00}-\x{D7A3}";
    ascii_classes(form).replace("0-9A-Za-z_", LETTERS)
}

/// Whether `name:number` is an image and its version: `postgres:15`. No service
/// that tests use listens at most numbers of two digits.
fn is_image(host: &str, port: Option<&str>, before: &str) -> bool {
    static IMAGE: LazyPattern = LazyPattern::new(
        r#"(?i)\b(?:image|container|pull(?:ing|ed)?|manifest(?: for)?|tag|docker(?: run| pull)?)[=: ]*['"`]?$"#,
    );
    const SHORT: [&str; 12] = [
        "21", "22", "23", "25", "53", "69", "80", "81", "82", "83", "88", "90",
    ];
    let is_name = !host.contains('.') && !is_this_machine(host);
    let unlikely = is_name && port.is_some_and(|port| port.len() == 2 && !SHORT.contains(&port));
    unlikely || IMAGE.is_match(before)
}

/// Whether the address that follows is of a page to read.
fn is_page(before: &str) -> bool {
    // The last is of a registry that tells its limit.
    const WORDS: [&str; 8] = [
        "see",
        "at:",
        "visit",
        "read",
        "docs:",
        "help:",
        "info:",
        "upgrading:",
    ];
    let before = before.trim_end_matches([' ', '\'', '"', '<', '`']);
    let word = before.rsplit([' ', '(', '\n']).next().unwrap_or_default();
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn is_this_machine(host: &str) -> bool {
    // Others of that network are given to services of their own.
    matches!(
        host,
        "localhost" | "::1" | "0.0.0.0" | "127.0.0.1" | "127.0.1.1"
    )
}

/// A host's name or address, and no file with a line number, no time of day.
fn is_host(host: &str) -> bool {
    const SOURCES: [&str; 46] = [
        "sh", "bash", "bats", "pl", "pm", "t", "yml", "yaml", "json", "feature", "dart", "erl",
        "clj", "hs", "vue", "svelte", "html", "xml", "toml", "ini", "py", "java", "js", "mjs",
        "cjs", "ts", "tsx", "jsx", "go", "rs", "rb", "php", "kt", "cs", "cpp", "cc", "c", "h",
        "hpp", "swift", "scala", "groovy", "lua", "ex", "exs", "sql",
    ];
    const COUNTRIES: [&str; 6] = ["cc", "cs", "pl", "pm", "rs", "sh"];
    let last = host.rsplit('.').next().unwrap_or(host);
    // Endings that countries have too, of names with more than one dot.
    let of_country = COUNTRIES.contains(&last) && host.matches('.').count() > 1;
    let is_source = host.contains('.') && SOURCES.contains(&last) && !of_country;
    let numbers = host.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_address = !numbers || host.split('.').count() == 4;
    let words = [
        "", "line", "errno", "code", "error", "the", "a", "host", "port", "pid", "tid", "thread",
        "id", "attempt", "try", "retry", "timeout", "status", "exit", "signal", "took", "size",
        "count", "address",
    ];
    // The day and hour of a time stamp: 2026-11-26t12
    let is_hour = host.rsplit_once('t').is_some_and(|(day, hour)| {
        let is_day = |b: u8| b.is_ascii_digit() || b == b'-';
        hour.len() == 2
            && hour.bytes().all(|b| b.is_ascii_digit())
            && day.len() >= 8
            && day.bytes().all(is_day)
    });
    is_address && !is_source && !is_hour && !words.contains(&host)
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn an_address_is_found_in_the_words_of_many_clients() {
        for (text, wanted) in [
            ("connect ECONNREFUSED 127.0.0.1:5432", "localhost:5432"),
            ("connect ECONNREFUSED ::1:6379", "localhost:6379"),
            (
                "Unable to connect to port 2222 on 10.0.0.7",
                "10.0.0.7:2222",
            ),
            (
                "last error: UNKNOWN: ipv4:127.0.0.1:50051: Failed to connect to remote host",
                "localhost:50051",
            ),
            (
                "last error: UNKNOWN: ipv6:%5B::1%5D:50052: Failed to connect to remote host",
                "localhost:50052",
            ),
            (
                "etcd-endpoints://0xc00095ddb1/10.0.0.7:2379: refused",
                "10.0.0.7:2379",
            ),
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
                "db:5432",
            ),
            ("Unable to connect to cache/<unresolved>:6379", "cache:6379"),
            (
                r#"url: Url { scheme: "http", host: Some(Domain("orders")), port: Some(8080), path: "/" }"#,
                "orders:8080",
            ),
            (
                r#"url: Url { scheme: "http", host: Some(Domain("orders")), port: None, path: "/" }"#,
                "orders",
            ),
            (
                r#"could not translate host name "db-a" to address: Name or service not known"#,
                "db-a",
            ),
            (
                "Failed to connect to any host resolved for DNS name: cache-a",
                "cache-a",
            ),
            (
                r#"connection to server on socket "/run/postgresql/.s.PGSQL.5433" failed"#,
                "/run/postgresql/.s.PGSQL.5433",
            ),
            (
                "No such file or directory - connect(2) for /run/mysqld/mysqld.sock",
                "/run/mysqld/mysqld.sock",
            ),
            (
                "[Errno 111] Connect call failed ('cache', 6379)",
                "cache:6379",
            ),
            ("Can't connect to MySQL server on 'db' (111)", "db"),
            (
                "postgres://admin:[secret the URL's password]@db:5432/x: refused",
                "db:5432",
            ),
            ("Could not open a connection to 'sql01,1433'", "sql01:1433"),
            (
                "cURL error 6: Could not resolve host: feeds.acme.test (see https://curl.haxx.se/x.html) for https://feeds.acme.test/a",
                "feeds.acme.test",
            ),
            (
                "Post \"http://user:pw@orders:8080/x\": dial tcp: no such host",
                "orders:8080",
            ),
            ("getaddrinfo ENOTFOUND db.internal", "db.internal"),
            ("Connection refused: db.firma.pl:5432", "db.firma.pl:5432"),
            ("http://status:8080/x refused", "status:8080"),
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
                "read tcp 172.17.0.3:41234->10.0.0.9:6379: read: connection reset by peer",
                "10.0.0.9:6379",
            ),
            (
                "read udp 172.17.0.3:41234->10.0.0.2:53: i/o timeout",
                "10.0.0.2:53",
            ),
            (
                "readfrom tcp 127.0.0.1:41234->127.0.0.1:9000: write tcp 127.0.0.1:41234->127.0.0.1:9000: write: broken pipe",
                "localhost:9000",
            ),
            (
                "dial tcp 172.17.0.3:0->10.0.0.9:5432: connect: connection refused",
                "10.0.0.9:5432",
            ),
            (
                "write tcp [::1]:41234->[::1]:5432: write: broken pipe",
                "localhost:5432",
            ),
            (
                "dial tcp: lookup db on 10.0.0.2:53: read udp 172.17.0.3:41234->10.0.0.2:53: i/o timeout",
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
            (
                "dial tcp: lookup db.internal on 10.0.0.2:53: no such host",
                "db.internal",
            ),
            (
                "Get \"http://orders:8080/x\": dial tcp: lookup orders on 127.0.0.11:53: no such host",
                "orders:8080",
            ),
            (
                "Failed to open TCP connection (Connection refused - connect(2) for \"cache\" port 6379)",
                "cache:6379",
            ),
            (
                "Connection refused - connect(2) for 127.0.0.1:6379",
                "localhost:6379",
            ),
            (
                "could not connect to server: Connection refused\n\tIs the server running on host \"pg\" (172.18.0.2) and accepting\n\tTCP/IP connections on port 5432?",
                "pg:5432",
            ),
            (
                "SQLSTATE[HY000] [2002] Connection refused (mysql:host=db;dbname=shop)",
                "db",
            ),
            (
                "SQLSTATE[HY000] [2002] Connection refused (pgsql:dbname=shop;host=db;port=5433)",
                "db:5433",
            ),
            (
                "SQLSTATE[HY000] [2002] php_network_getaddresses: getaddrinfo for mysql failed: Name or service not known",
                "mysql",
            ),
            (
                "cannot start container postgres:15, connect ECONNREFUSED 127.0.0.1:2375",
                "localhost:2375",
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
            "2026-11-26T12:22:33Z ERROR connect failed: Connection refused",
            "20261126T12:22 Connection refused",
            "deploy.sh:12: connect: Connection refused",
            "connect failed: Connection refused (attempt:10, pid:12345)",
            "Connection refused (os error 111)",
            "Container startup failed for image postgres:15",
            "pull access denied for redis:72",
            "postgres:15 did not start: connection refused",
            "promise rejected \"Error: connect ECONNREFUSED 127.0.0.1:543… { …(5) }\"",
            "promise rejected \"Error: getaddrinfo ENOTFOUND db.internal.… { …(4) }\"",
            "Status 500: Get \"http+docker://localhost/v1.41/images/create\": toomanyrequests: You may increase the limit by authenticating and upgrading: https://www.docker.com/increase-rate-limit",
            "cannot start container postgres:15",
            "pulling redis:6379 was refused",
            "no connection to ubuntu:22.04",
            "failed to lookup address information: Name or service not known",
            "Unable to find image 'node:20' locally",
            "",
        ] {
            assert_eq!(address(text), None, "{text}");
        }
    }
}
