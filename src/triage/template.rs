//! The template of a message: what stays the same when the same thing goes
//! wrong again, elsewhere or at another time.

use crate::text::strip_ansi;
use regex::bytes::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Volatile parts, each in a group that names its replacement. The order
/// matters: a time stamp must be seen before the numbers inside it.
const VOLATILE: &str = r#"(?x)
  (?P<uuid>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)
| (?P<time>\b\d{4}-\d\d-\d\d(?:[T\ _]\d\d[:_-]\d\d(?:[:_-]\d\d(?:[.,_]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?
    |\b\d\d/\d\d/\d\d(?:\d\d)?\ \d\d:\d\d:\d\d
    |\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\ \d{1,2}\ [A-Z][a-z]{2}\ \d{4}\ \d\d:\d\d:\d\d(?:\ GMT|\ UTC)?
    |\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b)
| (?P<addr>\b0x[0-9a-fA-F]+\b)
| (?P<token>\beyJ[\w-]+\.[\w-]+\.[\w-]*|\b[\w-]{40,})
| (?P<hash>\b(?:sha256:)?[0-9a-f]{32,}\b|\b[0-9a-f]*\d[0-9a-f]{11,}\b|\b[0-9A-F]*\d[0-9A-F]{11,}\b)
| (?P<path>(?:file://|[A-Z]:)?(?:[/\\][\w.@+\x7e\#-]+){2,}[/\\]?(?::\d+){0,2})
| (?P<line>[\w./-]*\.(?:rs|py|js|mjs|cjs|jsx|ts|tsx|go|java|kt|rb|php|cs|c|cc|cpp|h|swift|lua|ex|exs):\d+(?::\d+)?\b
    |\bline\ \d+\b
    |"(?:line|column|index|pos)":\ ?\d+)
| (?P<port>(?:\b\d{1,3}(?:\.\d{1,3}){3}|\blocalhost|\[::1?\]|::|\*|\b(?:[a-z0-9-]+\.)+[a-z]{2,}):\d{2,5}\b
    |\bport[\ :=]+\d{2,5}\b
    |',\ \d{4,5}\))
| (?P<pid>\b(?:pid|tid|ppid|inode|ino)[\ :=]+\d+\b|\bprocess\ \d+\b|'\ \(\d+\)\ |(?m:^)\[\d+\]|\(\d{3,}\):)
| (?P<amount>\b\d+(?:\.\d+)?\ ?(?:ms|s|sec|secs|seconds?|m|min|minutes?|us|ns|h|hours?|attempts?|retries|tries|bytes|[kKMGT]i?B(?:/s)?)\b
    |\b\d+(?:\.\d+)?%)
| (?P<host>\b[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(?:[0-9a-f]{8,10}-[a-z0-9]{5}|[0-9a-f]*\d[0-9a-f]{3,})\b)
| (?P<thread>\b(?:exec|thread|worker|pool)-\d+\b)
| (?P<number>\d{6,}(?:\.\d+)?)
"#;

static VOLATILE_PARTS: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "a constant that every test compiles")]
    regex::bytes::RegexBuilder::new(VOLATILE)
        .unicode(false)
        .build()
        .expect("the pattern of volatile parts compiles")
});

/// `message` with what is volatile replaced: times, durations, process ids,
/// ports, temporary, home and project folders, addresses, UUIDs, hashes, line
/// numbers, amounts, and the order of the keys of maps. Codes and names stay.
pub(super) fn template(message: &str) -> String {
    // Writers of XML spell an escape character out.
    let message = strip_ansi(&message.replace("#x1B", "\x1b")).into_owned();
    let replaced = VOLATILE_PARTS.replace_all(message.as_bytes(), |found: &Captures<'_>| {
        let part = |name| {
            found
                .name(name)
                .map(|m| String::from_utf8_lossy(m.as_bytes()))
        };
        const CONSTANT: &[(&str, &str)] = &[
            ("uuid", "<uuid>"),
            ("time", "<time>"),
            ("addr", "<addr>"),
            ("token", "<token>"),
            ("hash", "<hash>"),
            ("pid", "<pid>"),
            ("amount", "<amount>"),
            ("thread", "<thread>"),
            ("number", "<number>"),
        ];
        if let Some((_, text)) = CONSTANT.iter().find(|(name, _)| found.name(name).is_some()) {
            (*text).to_owned()
        } else if let Some(path) = part("path") {
            short_path(unnumbered(&path))
        } else if let Some(port) = part("port") {
            let name = port
                .trim_end_matches(')')
                .trim_end_matches(|c: char| c.is_ascii_digit());
            format!("{name}<port>")
        } else if let Some(line) = part("line") {
            let name = unnumbered(&line).trim_end_matches(|c: char| c.is_ascii_digit());
            format!("{name}<line>")
        } else if let Some(host) = part("host") {
            let name = host.split('-').next().unwrap_or_default();
            format!("{name}-<host>")
        } else {
            String::from_utf8_lossy(&found[0]).into_owned()
        }
    });
    sorted_maps(&String::from_utf8_lossy(&replaced)).into_owned()
}

/// A day with its time, as programs print "now".
const STAMP: &str = r"(?x)
  \b\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?
| \b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\ (?:\d{1,2}\ [A-Z][a-z]{2}|[A-Z][a-z]{2}\ \d{1,2})\ \d{4}\ \d\d:\d\d:\d\d
| \b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\ [A-Z][a-z]{2}\ [\ \d]\d\ \d\d:\d\d:\d\d\ \d{4}
";

static STAMPS: LazyLock<regex::Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "a constant that every test compiles")]
    regex::Regex::new(STAMP).expect("the pattern of time stamps compiles")
});

/// A value without the time stamps inside longer texts: an answer that tells
/// when it was given is not another answer for that. A text that is nothing
/// but a time stamp is a value like any other.
pub(super) fn without_stamps(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::String(text) => {
            let is_all = STAMPS
                .find(text)
                .is_some_and(|stamp| stamp.as_str() == text.trim());
            if !is_all && let Cow::Owned(clean) = STAMPS.replace_all(text, "<time>") {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_stamps),
        Value::Object(map) => map.values_mut().for_each(without_stamps),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A place in a file without its line and column.
fn unnumbered(place: &str) -> &str {
    let mut place = place;
    while let Some((file, number)) = place.rsplit_once(':') {
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
            break;
        }
        place = file;
    }
    place
}

/// The last two parts of an absolute path, or the last one right below a
/// temporary folder: where a project, a home or a temporary folder lies says
/// nothing, and the name of what was looked for does.
fn short_path(path: &str) -> String {
    let parts: Vec<&str> = path
        .split(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != "file:")
        .collect();
    let temporary = matches!(
        parts.as_slice(),
        ["tmp", ..] | ["var", "tmp" | "folders", ..] | ["private", "tmp" | "var", ..]
    );
    let kept = match parts.as_slice() {
        [.., folder, last]
            if temporary && (parts.len() <= 3 || folder.contains(|c: char| c.is_ascii_digit())) =>
        {
            (*last).to_owned()
        }
        [.., folder, last] if parts.len() > 2 => format!("{folder}/{last}"),
        _ => return path.to_owned(),
    };
    format!("<dir>/{kept}")
}

/// The text with the items between each innermost pair of braces in order.
fn sorted_maps(text: &str) -> Cow<'_, str> {
    let mut sorted = String::new();
    let mut rest = text;
    while let Some(close) = rest.find('}') {
        let Some(open) = rest[..close].rfind('{') else {
            sorted.push_str(&rest[..=close]);
            rest = &rest[close + 1..];
            continue;
        };
        let mut items: Vec<&str> = rest[open + 1..close].split(',').map(str::trim).collect();
        items.sort_unstable();
        sorted.push_str(&rest[..=open]);
        sorted.push_str(&items.join(", "));
        sorted.push('}');
        rest = &rest[close + 1..];
    }
    if sorted.is_empty() {
        return Cow::Borrowed(text);
    }
    sorted.push_str(rest);
    Cow::Owned(sorted)
}

#[cfg(test)]
mod tests {
    use super::template;
    use proptest::prelude::*;

    #[test]
    fn a_time_inside_an_answer_is_not_the_answer() {
        let kept = |text: &str| {
            let mut value = serde_json::json!({ "a": [text] });
            super::without_stamps(&mut value);
            value["a"][0].as_str().unwrap().to_owned()
        };
        for stamp in [
            "Sun Nov 22 2026 03:47:32",
            "Sun Nov  2 03:47:32 2026",
            "Sun, 22 Nov 2026 03:47:32",
            "2026-11-22T03:47:32.123Z",
            "2026-11-22 03:47",
        ] {
            assert_eq!(
                kept(&format!("size: 12\nat {stamp}")),
                "size: 12\nat <time>"
            );
            assert_eq!(kept(stamp), stamp, "a value like any other");
        }
        assert_eq!(kept("born 1815-12-10, call 7"), "born 1815-12-10, call 7");
    }

    #[test]
    fn volatile_parts_are_replaced() {
        for (message, expected) in [
            (
                "connect ECONNREFUSED 127.0.0.1:59991",
                "connect ECONNREFUSED 127.0.0.1:<port>",
            ),
            ("listen EADDRINUSE :::3000", "listen EADDRINUSE :::<port>"),
            ("no answer within 30 s", "no answer within <amount>"),
            ("at 2026-01-02T03:04:05.123Z it broke", "at <time> it broke"),
            ("<X object at 0x7f12ab>", "<X object at <addr>>"),
            ("open '/tmp/pytest-12/b.txt'", "open '<dir>/b.txt'"),
            ("open '/home/ci/work/app/b.txt'", "open '<dir>/app/b.txt'"),
            ("id 123e4567-e89b-12d3-a456-426614174000", "id <uuid>"),
            (
                "thread 'main' (30409) panicked at src/lib.rs:6:93",
                "thread 'main<pid>panicked at src/lib.rs<line>",
            ),
            ("bad {\"b\": 1, \"a\": 2}", "bad {\"a\": 2, \"b\": 1}"),
            (
                "pod checkout-api-e5c1c18ed-7765x not ready",
                "pod checkout-<host> not ready",
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
            "Cannot access directory /srv/projects",
            "expected 5 items, got 7",
            "-32601: Method not found",
        ] {
            assert_eq!(template(message), message);
        }
        for (one, other) in [
            ("no /srv/data/projects", "no /srv/data/reports"),
            ("ECONNREFUSED db:5432", "ENOTFOUND db:5432"),
            ("no /srv/data/v1", "no /srv/data/v2"),
            ("Unknown tool: get_a", "Unknown tool: get_b"),
            ("KeyError: 'a'", "KeyError: 'b'"),
        ] {
            assert_ne!(template(one), template(other));
        }
    }

    proptest! {
        #[test]
        fn ports_pids_times_and_addresses_never_show(
            port in 1024u16..,
            pid in 100u32..,
            (hour, minute) in (0u8..24, 0u8..60),
            addr: u64,
        ) {
            let message = format!(
                "{hour:02}:{minute:02}:00 pid={pid} connect 127.0.0.1:{port} of <C at 0x{addr:x}>"
            );
            prop_assert_eq!(
                template(&message),
                "<time> <pid> connect 127.0.0.1:<port> of <C at <addr>>"
            );
        }

        #[test]
        fn any_text_has_a_template(text in "\\PC{0,200}") {
            let _ = template(&text);
        }
    }
}
