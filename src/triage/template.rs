//! The template of a message: what stays the same when the same thing goes
//! wrong again elsewhere.

use regex::bytes::{Captures, Regex};
use std::sync::LazyLock;

/// Volatile parts, each in a group that names its replacement. The order
/// matters: a time stamp must be seen before the numbers inside it.
const VOLATILE: &str = r#"(?x-u)
  (?P<uuid>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)
| (?P<time>\b\d{4}-\d\d-\d\d(?:[T\ _]\d\d[:_-]\d\d(?:[:_-]\d\d(?:[.,_]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?
    |\b\d\d/\d\d/\d\d(?:\d\d)?\ \d\d:\d\d:\d\d
    |\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b)
| (?P<addr>\b0x[0-9a-fA-F]+\b)
| (?P<hash>\b(?:sha256:)?[0-9a-f]{32,}\b|\b[0-9a-f]*\d[0-9a-f]{11,}\b)
| (?P<tmp>(?:/private)?(?:/tmp|/var/tmp|/var/folders|/dev/shm|/run/user)/(?:[^\s'"`:,;)\]}>/]+/)*
    |[A-Z]:\\Users\\[^\\\s]+\\AppData\\Local\\Temp\\(?:[^\s'"\\]+\\)*)
| (?P<home>(?:/home|/Users)/[^\s'"`:,;)\]}>/]+|[A-Z]:\\Users\\[^\s'"\\]+|/root\b)
| (?P<port>(?:\b\d{1,3}(?:\.\d{1,3}){3}|\blocalhost|\[::1?\]|\*|\b(?:[a-z0-9-]+\.)+[a-z]{2,})[:]\d{2,5}\b
    |\bport[\ :=]+\d{2,5}\b)
| (?P<pid>\bpid[\ :=]+\d+\b|\bprocess\ \d+\b|'\ \(\d+\)\ |(?m:^)\[\d+\]|\(\d{3,}\):)
| (?P<duration>\b\d+(?:\.\d+)?\ ?(?:ms|s|sec|secs|seconds?|m|min|minutes?|us|ns|h|hours?)\b)
| (?P<line>(?:node_modules|site-packages|dist-packages|node:internal|\.cargo/registry|rustc)/[^\s'"()]*?:\d+(?::\d+)?\b)
"#;

static VOLATILE_PARTS: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "a constant that every test compiles")]
    Regex::new(VOLATILE).expect("the pattern of volatile parts compiles")
});

/// `message` with what is volatile replaced: times, durations, process ids,
/// ports, temporary and home folders, addresses, UUIDs, hashes, and line
/// numbers inside dependencies. Codes and names stay.
pub(super) fn template(message: &str) -> String {
    let replaced = VOLATILE_PARTS.replace_all(message.as_bytes(), |found: &Captures<'_>| {
        let part = |name| {
            found
                .name(name)
                .map(|m| String::from_utf8_lossy(m.as_bytes()))
        };
        if part("uuid").is_some() {
            "<uuid>".to_owned()
        } else if part("time").is_some() {
            "<time>".to_owned()
        } else if part("addr").is_some() {
            "<addr>".to_owned()
        } else if part("hash").is_some() {
            "<hash>".to_owned()
        } else if part("tmp").is_some() {
            "<tmp>/".to_owned()
        } else if part("home").is_some() {
            "~".to_owned()
        } else if let Some(port) = part("port") {
            format!(
                "{}<port>",
                port.trim_end_matches(|c: char| c.is_ascii_digit())
            )
        } else if part("pid").is_some() {
            "<pid>".to_owned()
        } else if part("duration").is_some() {
            "<duration>".to_owned()
        } else if let Some(line) = part("line") {
            format!(
                "{}<line>",
                line.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':')
            )
        } else {
            String::from_utf8_lossy(&found[0]).into_owned()
        }
    });
    String::from_utf8_lossy(&replaced).into_owned()
}

#[cfg(test)]
mod tests {
    use super::template;

    #[test]
    fn volatile_parts_are_replaced() {
        for (message, expected) in [
            (
                "connect ECONNREFUSED 127.0.0.1:59991",
                "connect ECONNREFUSED 127.0.0.1:<port>",
            ),
            ("no answer within 30 s", "no answer within <duration>"),
            ("at 2026-01-02T03:04:05.123Z it broke", "at <time> it broke"),
            ("<X object at 0x7f12ab>", "<X object at <addr>>"),
            ("open '/tmp/pytest-12/a/b.txt'", "open '<tmp>/b.txt'"),
            ("open '/home/ci/app/b.txt'", "open '~/app/b.txt'"),
            ("id 123e4567-e89b-12d3-a456-426614174000", "id <uuid>"),
            (
                "thread 'main' (30409) panicked",
                "thread 'main<pid>panicked",
            ),
            (
                "file:///app/node_modules/express/lib/app.js:605:24",
                "file:///app/node_modules/express/lib/app.js<line>",
            ),
        ] {
            assert_eq!(template(message), expected);
        }
    }

    #[test]
    fn what_means_something_is_kept() {
        for message in [
            "Error 111 connecting",
            "HTTP 404: Not Found",
            "No module named 'yaml'",
            "exit code 1, nothing on stderr",
            "Cannot access directory /srv/data/projects",
            "expected 5 items, got 7",
        ] {
            assert_eq!(template(message), message);
        }
    }
}
