//! The template of a message: what stays the same when the same thing goes
//! wrong again, elsewhere or at another time.

use jelly_base::text::strip_ansi;
use regex::bytes::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Volatile parts, each in a group that names its replacement. The order
/// matters: a time stamp must be seen before the numbers inside it.
const VOLATILE: &str = r#"(?x)
  (?P<uuid>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)
| (?P<time>\b\d{4}-\d\d-\d\d(?:[T\ _]\d\d[:_-]\d\d(?:[:_-]\d\d(?:[.,_]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?
    |\b\d{1,2}[/.]\d{1,2}[/.]\d\d(?:\d\d)?,?\ \d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?:\ [AP]M)?
    |\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\ (?:\d{1,2}\ [A-Z][a-z]{2}|[A-Z][a-z]{2}\ \ ?\d{1,2})(?:\ \d{4})?\ \d\d:\d\d:\d\d
       (?:\ [A-Z]{3,4})?(?:\ \d{4})?
    |\b[A-Z][a-z]{2}\ \ ?\d{1,2},?\ (?:\d{4}\ )?\d\d:\d\d:\d\d(?:\ [AP]M)?
    |\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b)
| (?P<mac>\b(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}\b)
| (?P<addr>\b0x[0-9a-fA-F]+\b|\b@[0-9a-f]{5,8}\b|\$\$Lambda[\w$/]*|\$Proxy\d+\b|\$MockitoMock\$\w+
    |\$\$EnhancerBy\w+\$\$\w+|\$ByteBuddy\$\w+)
| (?P<token>\beyJ[\w-]+\.[\w-]+\.[\w-]*|\b[\w-]{40,})
| (?P<hash>\b(?:sha256:)?[0-9a-f]{32,}\b|\b[0-9a-f]*\d[0-9a-f]{11,}\b|\b[0-9A-F]*\d[0-9A-F]{11,}\b)
| (?P<path>(?:file://|[A-Z]:)?(?:[/\\][\w.@+%\x7e\#-]+){2,}[/\\]?(?::\d+){0,2})
| (?P<line>[\w./-]*\.(?:rs|py|js|mjs|cjs|jsx|ts|tsx|go|java|kt|kts|rb|php|cs|fs|vb|c|cc|cpp|cxx|h|hpp|m|mm|swift
       |lua|ex|exs|erl|scala|groovy|hs|ml|dart|clj|pl|t|r|R|feature|robot|sh|bats|sql|tf|vue|svelte):\d+(?::\d+)?\b
    |\b[Ll]ine\s*:?\ ?\d+\b
    |"(?:line|column|index|pos)":\ ?\d+)
| (?P<port>(?:\b\d{1,3}(?:\.\d{1,3}){3}|\blocalhost|\[::1?\]|::|\*|\b(?:[a-z0-9-]+\.)+[a-z]{2,}):\d{2,5}\b
    |\b[Pp]orts?[\ :=]+\[?\d{2,5}\b
    |',\ \d{4,5}\))
| (?P<ip>\b(?:10|172\.(?:1[6-9]|2\d|3[01])|192\.168)(?:\.\d{1,3}){2,3}\b)
| (?P<pid>\b(?:pid|PID|Pid|tid|TID|ppid|inode|ino)[\ :=]+\d+\b|\bprocess\ \d+\b|'\ \(\d+\)\ |(?m:^)\[\d+\]|\(\d{3,}\):
    |\#PID<[\d.]+>|\#Reference<[\d.]+>|\bgoroutine\ \d+\b)
| (?P<seed>\b(?:[Ss]eed|[Rr]eplay|[Rr]andomized\ with\ seed|random[_-]seed)(?:\ is|\ was)?[\ :=]+\d+)
| (?P<amount>\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?\ ?
       (?:ms|s|sec|secs|seconds?|m|min|minutes?|us|\xC2\xB5s|ns|millis|milliseconds?|h|hours?|days?
         |attempts?|retries|tries|shrinks?|bytes|[kKMGT]i?B(?:/s)?)\b
    |\b\d+(?:\.\d+)?%
    |\b(?:after|in)\ \d+\ (?:tests?|examples?|iterations?|polls?)\b
    |\b(?:load|took|elapsed|latency|usage|average|avg|mean)(?:\ of|\ is)?[\ :=]+\d+\.\d+)
| (?P<host>\b[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(?:[0-9a-f]{8,10}-[a-z0-9]{5}|[0-9a-f]*\d[0-9a-f]{3,})\b)
| (?P<node>\b(?:[Hh]ost(?:[Nn]ame)?|[Nn]ode|[Aa]gent|[Rr]unner|[Mm]achine)(?:\ is)?[\ :=]+["']?[A-Za-z0-9][\w.-]*\d[\w.-]*(?::\d{2,5}\b)?
    |\b[\w.+-]+@[A-Za-z0-9][\w.-]*\w)
| (?P<thread>\b(?:exec|[Tt]hread|[Ww]orker|[Pp]ool|ForkJoinPool|Executor|Dispatcher)-\d+(?:[-_]\d+)?\b)
| (?P<short>\b[0-9a-f]{7,11}\b)
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
pub(in crate::engine) fn template(message: &str) -> String {
    // Writers of XML spell an escape character out.
    let spelt_out = if message.contains("#x1B") {
        Cow::Owned(message.replace("#x1B", "\x1b"))
    } else {
        Cow::Borrowed(message)
    };
    let message = strip_ansi(&spelt_out);
    let replaced = VOLATILE_PARTS.replace_all(message.as_bytes(), |found: &Captures<'_>| {
        // Each alternative is one group, so the whole match is that part.
        let groups = VOLATILE_PARTS.capture_names().zip(found.iter()).skip(1);
        let mut named = groups.filter_map(|(name, group)| group.and(name));
        let part = String::from_utf8_lossy(&found[0]);
        match named.next().unwrap_or_default() {
            part @ ("uuid" | "time" | "mac" | "token" | "hash" | "ip" | "pid" | "seed"
            | "amount" | "thread" | "number") => format!("<{part}>"),
            "path" => short_path(unnumbered(&part)),
            "port" => without_port(&part),
            "line" => {
                let name = unnumbered(&part).trim_end_matches(|c: char| c.is_ascii_digit());
                format!("{name}<line>")
            }
            "host" => {
                let name = part.split('-').next().unwrap_or_default();
                format!("{name}-<host>")
            }
            "node" => without_node(&part),
            "addr" if !is_status(&part) => "<addr>".to_owned(),
            "short" => {
                let digits = part.bytes().filter(u8::is_ascii_digit).count();
                match digits {
                    0 => part.into_owned(),
                    all if all == part.len() => "<number>".to_owned(),
                    _ => "<hash>".to_owned(),
                }
            }
            _ => part.into_owned(),
        }
    });
    sorted_maps(&String::from_utf8_lossy(&replaced)).into_owned()
}

/// A host without its port, and without its name where that is a private
/// address.
fn without_port(place: &str) -> String {
    let name = place
        .trim_end_matches(')')
        .trim_end_matches(|c: char| c.is_ascii_digit());
    let private = ["10.", "172.", "192.168."]
        .iter()
        .any(|net| name.starts_with(net));
    let name = if private { "<ip>:" } else { name };
    format!("{name}<port>")
}

/// Words that name a machine, or an object with its address, without which.
fn without_node(node: &str) -> String {
    if let Some(object) = identity_of(node) {
        return format!("{object}<addr>");
    }
    let word = node.split([' ', ':', '=', '@']).next().unwrap_or_default();
    let at = if node.contains('@') { "@" } else { " " };
    let ported = node
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let port = if ported { ":<port>" } else { "" };
    format!("{}{at}<host>{port}", without_numbers(word))
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
pub(in crate::engine) fn without_stamps(value: &mut serde_json::Value) {
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

/// Whether a hexadecimal number is one of the status codes of Windows, which
/// mean something, and no address.
fn is_status(addr: &str) -> bool {
    let status = |prefix: &str| {
        addr.get(..prefix.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
    };
    addr.len() == 10 && (status("0x800") || status("0xC00") || status("0x801"))
}

/// The class of an object that Java names by its address, as in `a.B@1b2c3d4e`.
fn identity_of(word: &str) -> Option<&str> {
    let (class, hash) = word.split_once('@')?;
    let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    ((5..=8).contains(&hash.len()) && hash.bytes().all(hex)).then_some(class)
}

/// A word without the numbers in it, as of an address that a test made up.
fn without_numbers(word: &str) -> String {
    word.split(|c: char| c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("<number>")
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
    ) || parts.contains(&"Temp");
    let kept = match parts.as_slice() {
        [.., folder, last]
            if temporary && (parts.len() <= 3 || folder.contains(|c: char| c.is_ascii_digit())) =>
        {
            made_up(last)
        }
        [.., folder, last] if parts.len() > 2 => format!("{}/{}", checkout(folder), named(last)),
        _ => return path.to_owned(),
    };
    format!("<dir>/{kept}")
}

/// A part of a path, or that it is an id.
fn named(part: &str) -> &str {
    let hex = part.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    if digits >= 6 && digits == part.len() || hex && part.len() >= 12 && digits > 0 {
        "<id>"
    } else {
        part
    }
}

/// A folder without what a CI server adds to tell its copies apart, as in
/// `shop_PR-128@2`.
fn checkout(folder: &str) -> &str {
    let copy = folder.split_once('@').map_or(folder, |(name, number)| {
        if number.bytes().all(|b| b.is_ascii_digit()) {
            name
        } else {
            folder
        }
    });
    let branch = copy.find("_PR-").or_else(|| copy.find("-PR-"));
    named(branch.map_or(copy, |at| &copy[..at]))
}

/// The name of a file or folder right below a temporary one, which is mostly
/// made up by a program.
fn made_up(name: &str) -> String {
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, Some(extension)),
        Some(_) | None => (name, None),
    };
    let digits = stem.bytes().filter(u8::is_ascii_digit).count();
    let random = digits >= 3 || stem.starts_with("tmp") && stem.len() >= 9;
    match (random, extension) {
        (true, Some(extension)) => format!("<tmp>.{extension}"),
        (true, None) => "<tmp>".to_owned(),
        (false, _) => name.to_owned(),
    }
}

/// Braces within braces, that deep.
const DEPTH: usize = 6;

/// The text with the items between braces in order.
fn sorted_maps(text: &str) -> Cow<'_, str> {
    if !text.contains('}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    // Of each open bracket: its kind, and where in `out` its items begin.
    let mut open: Vec<(char, Vec<usize>)> = Vec::new();
    for c in text.chars() {
        match c {
            '{' | '[' | '(' if open.len() < DEPTH => {
                out.push(c);
                open.push((c, vec![out.len()]));
            }
            ',' => {
                out.push(c);
                if let Some((_, items)) = open.last_mut() {
                    items.push(out.len());
                }
            }
            '}' | ']' | ')' => {
                let opener = match c {
                    '}' => '{',
                    ']' => '[',
                    _ => '(',
                };
                if let Some(at) = open.iter().rposition(|(kind, _)| *kind == opener) {
                    // Brackets inside that were never closed are text.
                    open.truncate(at + 1);
                    if let Some((_, items)) = open.pop()
                        && c == '}'
                    {
                        sort_items(&mut out, &items);
                    }
                }
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Sorts the items at the end of `out` that begin at these places, each but
/// the last with its comma.
fn sort_items(out: &mut String, begins: &[usize]) {
    let Some(first) = begins.first().copied() else {
        return;
    };
    let ends = begins
        .iter()
        .skip(1)
        .map(|next| next - 1)
        .chain([out.len()]);
    let mut items: Vec<String> = begins
        .iter()
        .zip(ends)
        .filter_map(|(begin, end)| out.get(*begin..end))
        .map(|item| item.trim().to_owned())
        .collect();
    let is_set = !items.iter().any(|item| item.contains([':', '=']));
    // Which items of a set are left of a text that was cut depends on their
    // order.
    if is_set && items.iter().any(|item| item.contains("...")) {
        items = vec!["...".to_owned()];
    }
    items.sort_unstable();
    out.truncate(first);
    out.push_str(&items.join(", "));
}
