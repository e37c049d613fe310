//! The lines of a text that tell of an error, and no others: what a log says of a
//! healthy server, what a stack shows of a source.

use crate::engine::tables::{built, table};
use aho_corasick::{AhoCorasick, MatchKind};
use memchr::{memchr, memrchr};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

/// Bytes at either end of a text that are looked at: an error stands where a text
/// begins or ends.
const END: usize = 32 << 10;
/// Lines that are read of an end, and those of them that only tell who is asked.
const LINES: usize = 48;
const ASKING: usize = 8;
/// Bytes around such a word that are read of a line, on either side of it.
const AROUND: usize = 400;

/// What the words of a line tell, as `tables/error_lines.yaml` has them. Of a line that
/// has several, the first kind counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LineKind {
    /// Somebody did not answer.
    Away,
    /// Something is not there, not allowed or full.
    Lacks,
    /// Somebody answers again.
    Heals,
    /// Somebody is asked, with what success is not told.
    Asks,
}

/// The kinds, each as often as it has words, and what finds the words.
static FINDER: LazyLock<Option<(AhoCorasick, Vec<LineKind>)>> = LazyLock::new(|| {
    let words: BTreeMap<LineKind, Vec<String>> = table(built!("error_lines"));
    let of_kind = |(kind, words): (&LineKind, &Vec<String>)| vec![*kind; words.len()];
    let kinds = words.iter().flat_map(of_kind).collect();
    let finder = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(words.values().flatten());
    Some((finder.ok()?, kinds))
});

/// The lines of a text that tell something, in order; of long ones, what stands around
/// the word that tells it.
pub(super) fn telling_lines(text: &str) -> Vec<(LineKind, &str)> {
    let mut found = Vec::new();
    if text.len() <= 2 * END {
        read_lines(text, 0..text.len(), &mut found);
    } else {
        let (first, last) = (border(text, END), border(text, text.len() - END));
        read_lines(text, 0..first, &mut found);
        read_lines(text, last..text.len(), &mut found);
    }
    found
}

fn read_lines<'t>(text: &'t str, part: Range<usize>, found: &mut Vec<(LineKind, &'t str)>) {
    let (Some((finder, kinds)), Some(text)) = (&*FINDER, text.get(part)) else {
        return;
    };
    let bytes = text.as_bytes();
    let is_of_pytest = text.contains("\nE   ");
    let most = found.len() + LINES;
    let mut asking = 0;
    // Up to where the text is read, and what that line is so far.
    let mut read = 0;
    let mut last: Option<(LineKind, &str)> = None;
    for word in finder.find_iter(bytes) {
        let Some(kind) = kinds.get(word.pattern().as_usize()).copied() else {
            continue;
        };
        let before = word.start().checked_sub(1).and_then(|at| bytes.get(at));
        let (is_path, is_part) = (before == Some(&b'/'), before == Some(&b'_'));
        let said = &bytes[word.start()..word.end()];
        if is_path || is_setting(said, is_part, &bytes[word.end()..]) {
            continue;
        }
        if word.start() < read {
            // The kind that stands first counts.
            if let Some((known, line)) = &mut last
                && kind < *known
                && !is_quiet(line, kind)
            {
                *known = kind;
            }
            continue;
        }
        if let Some(line) = last.take() {
            asking += usize::from(line.0 == LineKind::Asks);
            if line.0 != LineKind::Asks || asking <= ASKING {
                found.push(line);
            }
        }
        if found.len() >= most {
            return;
        }
        let begin = memrchr(b'\n', &bytes[..word.start()]).map_or(0, |at| at + 1);
        let end = memchr(b'\n', &bytes[word.end()..]).map_or(bytes.len(), |at| word.end() + at);
        let from = border(text, begin.max(word.start().saturating_sub(AROUND)));
        let to = border(text, end.min(word.end() + AROUND));
        read = to;
        let line = &text[begin..end];
        if !is_quiet(line, kind) && !is_source(line, is_of_pytest) {
            last = Some((kind, &text[from..to]));
        }
    }
    found.extend(last);
}

/// Whether a word is the name of how long somebody would wait: `timeout=5`,
/// `'timeout': 5`, `timeoutMs`.
fn is_setting(word: &[u8], is_part: bool, after: &[u8]) -> bool {
    if !word.eq_ignore_ascii_case(b"timeout") && !word.eq_ignore_ascii_case(b"time-out") {
        return false;
    }
    // connect_timeout
    if is_part {
        return true;
    }
    let after = match after {
        [b'_', ..] | [b'M', b's', ..] | [b'S', b'e', b'c', ..] | [b'I', b'n', ..] => return true,
        [b'\\', b'"' | b'\'', rest @ ..] | [b'"' | b'\'', rest @ ..] => {
            return matches!(rest.trim_ascii_start(), [b':' | b'=', ..]);
        }
        after => after.trim_ascii_start(),
    };
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit());
    match after {
        [b'=', ..] => true,
        // timeout 5s
        [b'0'..=b'9', ..] => matches!(after.get(digits.count()), Some(b's' | b'm')),
        // An address begins with digits, too.
        [b':', value @ ..] => {
            let value = value.trim_ascii_start();
            let digits = value.iter().take_while(|byte| byte.is_ascii_digit());
            let digits = digits.count();
            digits > 0 && !matches!(value.get(digits), Some(b'.' | b':'))
        }
        _ => false,
    }
}

/// The next place at or before `at` at which a text can be cut.
fn border(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

/// Bytes of a line in which its level stands.
const HEAD: usize = 100;

/// Whether a line is what a program says by the way: of a log, what is below a warning.
/// Whom it asks, it says there.
fn is_quiet(line: &str, kind: LineKind) -> bool {
    const LEVELS: [&str; 3] = ["INFO", "DEBUG", "TRACE"];
    if matches!(kind, LineKind::Asks | LineKind::Heals) {
        return false;
    }
    let head = &line[..border(line, HEAD)];
    let mut words = head.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| LEVELS.contains(&word))
}

/// Whether a line is one of a log: it has a level or begins with a time.
pub(super) fn is_of_log(line: &str) -> bool {
    const LEVELS: [&str; 8] = [
        "WARN", "WARNING", "ERROR", "ERR", "FATAL", "SEVERE", "CRITICAL", "NOTICE",
    ];
    let head = &line[..border(line, HEAD)];
    let mut words = head.split(|c: char| !c.is_ascii_alphanumeric());
    let begins = head.trim_start_matches([' ', '[', '\t']);
    let time = |c: char| c.is_ascii_digit() || matches!(c, '-' | '/' | ':');
    let time = begins.split(|c: char| !time(c)).next().unwrap_or_default();
    let is_time = time.len() >= 8 && time.contains(['-', '/', ':']);
    is_time || words.any(|word| LEVELS.contains(&word))
}

/// Whether a line is one of the source that a stack shows: in pytest's, sources are
/// indented, and what they raised is not; others number them.
fn is_source(line: &str, is_of_pytest: bool) -> bool {
    const BEGINNINGS: [&str; 19] = [
        "def ", "class ", "raise ", "return ", "if ", "elif ", "except ", "with ", "for ",
        "while ", "assert ", "import ", "from ", "async ", "await ", "self.", "try:", "# ", "//",
    ];
    let numbered = line.trim_start_matches(['>', ' ', '\t']);
    let behind = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
    if behind.len() < numbered.len() && behind.trim_start().starts_with('|') {
        return true;
    }
    let Some(code) = line
        .strip_prefix(">   ")
        .or_else(|| line.strip_prefix("    "))
    else {
        return false;
    };
    let code = code.trim_start();
    is_of_pytest || BEGINNINGS.iter().any(|begin| code.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::{LineKind, is_of_log, telling_lines};

    #[test]
    fn only_lines_that_tell_of_an_error_are_read() {
        let text = "2026-03-01 INFO retry after a timeout of db:5432\n\
                    2026-03-01 WARN db:5432: Connection refused\n\
                    INFO reconnected to cache:6379 after a timeout\n\
                    all is well\n    raise ConnectionError(\"host not found\")\n\
                    E   FileNotFoundError: [Errno 2] No such file or directory: '/etc/a.yml'";
        let kinds: Vec<LineKind> = telling_lines(text).iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [LineKind::Away, LineKind::Heals, LineKind::Lacks]);
    }

    #[test]
    fn the_first_kind_of_a_line_counts() {
        let lines = telling_lines("connecting to db:5432: no such host");
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].0, LineKind::Away);
    }

    #[test]
    fn how_long_somebody_would_wait_is_no_error() {
        for line in [
            "Config(url='http://db:5432', timeout=5)",
            "{'url': 'http://db:5432', 'timeout': 5}",
            "{\\\"url\\\":\\\"http://db:5432\\\",\\\"timeout\\\":5}",
            "url: http://db:5432, timeout: 5",
            "read_timeout_ms of db:5432",
            "timeoutMs of db:5432",
        ] {
            assert!(telling_lines(line).is_empty(), "{line}");
        }
        for line in [
            "TimeoutError: db:5432",
            "i/o timeout: db:5432",
            "i/o timeout: 10.0.0.7:5432",
            "db:5432 timed out (timeout=5)",
            "TimeoutException at db:5432",
        ] {
            assert_eq!(telling_lines(line).len(), 1, "{line}");
        }
    }

    #[test]
    fn a_line_of_a_log_has_a_level_or_a_time() {
        for line in [
            "WARN pool: db:5432 refused",
            "2026-03-01T10:00:00Z pool: db:5432 refused",
            "[10:00:00] db:5432 refused",
            "level=warn WARNING db:5432 refused",
        ] {
            assert!(is_of_log(line), "{line}");
        }
        for line in [
            "AssertionError: 'db:5432 refused' is not 'ok'",
            "cart_test.go:27: got 503; body: dial tcp 10.0.0.3:5432: connection refused",
            "127.0.0.1:7001: [Errno 111] Connection refused",
        ] {
            assert!(!is_of_log(line), "{line}");
        }
    }

    #[test]
    fn of_a_long_text_its_ends_are_read() {
        let long = format!(
            "a:80 refused\n{}\nb:80 refused\n{}\nc:80 refused",
            "ü".repeat(40 << 10),
            "x".repeat(40 << 10)
        );
        let lines: Vec<&str> = telling_lines(&long).iter().map(|(_, line)| *line).collect();
        assert_eq!(lines, ["a:80 refused", "c:80 refused"]);
    }
}
