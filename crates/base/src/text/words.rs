//! Truncation at character borders, plurals, durations, harmless lines.

use super::harmless::sanitize;
use memchr::memchr;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

/// The longest prefix of at most `max` bytes that ends at a character border.
fn prefix(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// The lines of `text` as [`str::lines`] has them, in a fraction of its time:
/// a report of failures has them by the million.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(end) = memchr(b'\n', rest.as_bytes()) else {
            return Some(std::mem::take(&mut rest));
        };
        let line = &rest[..end];
        rest = &rest[end + 1..];
        Some(line.strip_suffix('\r').unwrap_or(line))
    })
}

/// At most `max` bytes of `text` (and the mark `…`), from its start.
#[must_use]
pub fn truncate(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("{}…", prefix(text, max)))
    }
}

/// Head and tail of `text`, together at most `max` bytes, around a line that
/// says how many bytes were left out.
#[must_use]
pub fn truncate_middle(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let head = prefix(text, max / 2);
    let tail = &text[text.ceil_char_boundary(text.len() - max / 2)..];
    let left_out = text.len() - head.len() - tail.len();
    Cow::Owned(format!("{head}\n… {left_out} bytes left out …\n{tail}"))
}

/// `text` on one line, white space folded, at most `max` bytes.
#[must_use]
pub fn one_line(text: &str, max: usize) -> String {
    // Most of what is shown are names, thousands of them in a long report.
    if text.len() <= max && is_simple(text) {
        return text.to_owned();
    }
    let line = if is_plain(text) {
        folded(text.split_ascii_whitespace(), max)
    } else {
        folded(sanitize(text).split_whitespace(), max)
    };
    truncate(&line, max).into_owned()
}

/// The words with one space between them, up to the one that goes over `max`.
fn folded<'w>(words: impl Iterator<Item = &'w str>, max: usize) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > max {
            break;
        }
    }
    line
}

/// Whether this is ASCII with nothing to be taken out.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
}

/// Whether this is ASCII to be shown as it is: no control characters, and no
/// spaces but single ones between words.
fn is_simple(text: &str) -> bool {
    let mut before = b' ';
    for byte in text.bytes() {
        if !matches!(byte, b' '..=b'~') || (byte == b' ' && before == b' ') {
            return false;
        }
        before = byte;
    }
    before != b' ' || text.is_empty()
}

/// `3 steps`, `1 step`, `2 retries`, `0 mismatches`.
#[must_use]
pub fn plural(n: impl TryInto<u64>, noun: &str) -> String {
    // Nothing that is counted here comes near the end of u64.
    let n = n.try_into().unwrap_or(u64::MAX);
    if n == 1 {
        return format!("{n} {noun}");
    }
    if noun.ends_with(['s', 'x']) || noun.ends_with("ch") || noun.ends_with("sh") {
        return format!("{n} {noun}es");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{n} {stem}ies"),
        Some(_) | None => format!("{n} {noun}s"),
    }
}

/// `8 tools: add, echo and 6 more`, `no tool`: the first of `total`, of which
/// `names` are known.
#[must_use]
pub fn listed(names: &[String], total: u64, noun: &str) -> String {
    const SHOWN: usize = 20;
    if total == 0 {
        return format!("no {noun}");
    }
    let shown = names.len().min(SHOWN);
    let told = names[..shown].join(", ");
    let count = plural(total, noun);
    match total.saturating_sub(shown as u64) {
        0 => format!("{count}: {told}"),
        more => format!("{count}: {told} and {more} more"),
    }
}

/// `a, b and 3 more`: the first `most` of so many names.
#[must_use]
pub fn first_names<N: AsRef<str>>(
    names: impl IntoIterator<Item = N>,
    all: usize,
    most: usize,
) -> String {
    let mut text = String::new();
    let mut shown = 0;
    for name in names.into_iter().take(most) {
        if shown > 0 {
            text.push_str(", ");
        }
        text.push_str(name.as_ref());
        shown += 1;
    }
    if all > shown {
        text.push_str(&format!(" and {} more", all - shown));
    }
    text
}

/// `850 ms`, `1.2 s`, `2 min 5 s`: three figures are enough for a person.
#[must_use]
pub fn human_duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis < 1 {
        return "<1 ms".to_owned();
    }
    if millis < 1000 {
        return format!("{millis} ms");
    }
    let seconds = duration.as_secs_f64();
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    let mut text = format!("{} min", whole / 60);
    if !whole.is_multiple_of(60) {
        // Writing to a String can't fail.
        let _ = write!(text, " {} s", whole % 60);
    }
    text
}

/// A text without its numbers, and without the words that hold some.
#[must_use]
pub fn without_numbers(text: &str) -> String {
    let words = text.split_inclusive(|c: char| !c.is_alphanumeric());
    words
        .map(|word| match word.contains(|c: char| c.is_ascii_digit()) {
            true => "0",
            false => word,
        })
        .collect()
}

/// The JSON type's name as plans and schemas write it; whole numbers are
/// `integer`.
#[must_use]
pub fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if !n.as_str().contains(['.', 'e', 'E']) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// With a capital letter at its beginning.
#[must_use]
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

/// Whether a text holds another as a word, or words, of its own: `HOME` is none of
/// `HOME_DELIVERY`.
#[must_use]
pub fn holds_whole(text: &str, part: &str) -> bool {
    let is_within = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(part).any(|(at, _)| {
        !is_within(text[..at].chars().next_back())
            && !is_within(text[at + part.len()..].chars().next())
    })
}

/// Whether a shell takes it for the name of a variable.
#[must_use]
pub fn is_variable_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// In capitals, with `_` for what the name of an environment variable can't
/// hold.
#[must_use]
pub fn variable_name(text: &str) -> String {
    let fitting = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_uppercase(),
        false => '_',
    };
    text.chars().map(fitting).collect()
}

#[cfg(test)]
mod tests {
    use super::{holds_whole, human_duration, lines, one_line, plural, truncate, truncate_middle};
    use proptest::prelude::*;
    use std::time::Duration;

    #[test]
    fn a_part_of_a_word_is_not_held_as_a_whole() {
        assert!(holds_whole("set HOME.", "HOME"));
        assert!(!holds_whole("HOME_DELIVERY and éHOME", "HOME"));
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_standard_library(text in "[ab\r\n]{0,12}") {
            prop_assert!(lines(&text).eq(text.lines()));
        }
    }

    #[test]
    fn plurals_read_like_english() {
        assert_eq!(plural(1u32, "step"), "1 step");
        assert_eq!(plural(0u32, "step"), "0 steps");
        assert_eq!(plural(2u32, "retry"), "2 retries");
        assert_eq!(plural(2u32, "day"), "2 days");
        assert_eq!(plural(3usize, "mismatch"), "3 mismatches");
    }

    #[test]
    fn durations_are_short() {
        let shown = |ms| human_duration(Duration::from_millis(ms));
        assert_eq!(shown(0), "<1 ms");
        assert_eq!(shown(12), "12 ms");
        assert_eq!(shown(1_234), "1.2 s");
        assert_eq!(shown(60_000), "1 min");
        assert_eq!(shown(125_000), "2 min 5 s");
    }

    #[test]
    fn a_server_cannot_steer_the_terminal() {
        assert_eq!(one_line("a\n  b\u{0}\tc", 80), "a b c");
    }

    proptest! {
        #[test]
        fn a_line_is_what_its_words_make(text in r"[a-b \t\n~\u{7f}\u{1b}é]{0,8}") {
            let words: String = text.chars().filter(|c| !matches!(c, '\u{7f}' | '\u{1b}')).collect();
            let words: Vec<&str> = words.split_whitespace().collect();
            if !text.contains('\u{1b}') {
                prop_assert_eq!(one_line(&text, 99), words.join(" "));
            }
        }

        #[test]
        fn truncation_keeps_its_bound_and_never_splits_a_character(
            text in any::<String>(), max in 0usize..64
        ) {
            prop_assert!(truncate(&text, max).len() <= max + '…'.len_utf8());
            let cut = truncate_middle(&text, max);
            if text.len() > max {
                prop_assert!(cut.contains("bytes left out"));
            } else {
                prop_assert_eq!(cut, text.as_str());
            }
        }
    }
}
