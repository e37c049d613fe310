//! Attributes of an element, as tolerant as their writers are careless.

use super::escape::{is_forbidden, unescape};
use memchr::{memchr, memchr2};
use quick_xml::events::BytesStart;
use std::borrow::Cow;

/// Attributes of one element that are looked at.
const MOST: usize = 4_096;

/// Calls `take` with the local name and the unescaped value of each. Values
/// without quotes, names without values and repeated names are taken as they
/// come. Answers whether a reference was to a character that XML forbids.
pub(super) fn each<'a>(
    start: &'a BytesStart<'_>,
    mut take: impl FnMut(&'a str, Cow<'a, str>),
) -> bool {
    let mut forbidden = false;
    let mut rest = start.attributes_raw();
    for _ in 0..MOST {
        let (name, value) = if let Some((name, value, after)) = plain(rest) {
            rest = after;
            (name, Cow::Borrowed(value))
        } else if let Some((name, value, after)) = next(rest) {
            rest = after;
            let value = if memchr(b'&', value.as_bytes()).is_some() {
                unescape(value)
            } else {
                Cow::Borrowed(value)
            };
            forbidden |= matches!(&value, Cow::Owned(value) if value.chars().any(is_forbidden));
            (name, value)
        } else {
            break;
        };
        take(name, value);
    }
    forbidden
}

/// The next attribute as nearly everybody writes it: ` name="value"`, without
/// references in the value.
#[inline]
fn plain(text: &str) -> Option<(&str, &str, &str)> {
    let (b' ', name) = text.as_bytes().split_first()? else {
        return None;
    };
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    let mut end = 1;
    for byte in name {
        if !is_letter(*byte) {
            break;
        }
        end += 1;
    }
    let [b'=', b'"', value @ ..] = text.as_bytes().get(end..)? else {
        return None;
    };
    let begin = end + 2;
    let close = memchr2(b'"', b'&', value).filter(|close| value[*close] == b'"')? + begin;
    (end > 1).then(|| (&text[1..end], &text[begin..close], &text[close + 1..]))
}

/// Local name and raw value of the next attribute, and what comes after it.
///
/// The iterator of the parser allocates for its checks and its errors; this
/// is run for every case of a report, and has no errors.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let begin = text
        .bytes()
        .position(|byte| !byte.is_ascii_whitespace() && byte != b'/')?;
    let text = &text[begin..];
    let bytes = text.as_bytes();
    let mut local = 0;
    let mut end = 0;
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'=' | b' ' | b'\n' | b'\r' | b'\t' => break,
            b':' => local = end + 1,
            _ => {}
        }
        end += 1;
    }
    let name = &text[local..end];
    let Some(value) = text[end..].trim_ascii_start().strip_prefix('=') else {
        return Some((name, "", &text[end..]));
    };
    let value = value.trim_ascii_start();
    let (value, after) = match value.as_bytes().first() {
        Some(quote @ (b'"' | b'\'')) => {
            let value = &value[1..];
            let end = memchr(*quote, value.as_bytes()).unwrap_or(value.len());
            (&value[..end], value.get(end + 1..).unwrap_or_default())
        }
        _ => value.split_at(
            value
                .find(|c: char| c.is_ascii_whitespace())
                .unwrap_or(value.len()),
        ),
    };
    Some((name, value, after))
}

/// Overwrites `target` with at most `limit` bytes of `value`.
pub(super) fn set(target: &mut String, value: &str, limit: usize) {
    target.clear();
    target.push_str(&value[..value.floor_char_boundary(limit)]);
}

/// Seconds, as writers put them: `1,234.5`, `0.5s` and `NaN` occur.
pub(super) fn seconds(value: &str) -> Option<f64> {
    let value = value.trim();
    let number = value.parse::<f64>().ok().or_else(|| {
        let plain: String = value.chars().filter(|c| *c != ',').collect();
        plain.trim_end_matches(['s', ' ']).parse().ok()
    })?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_as_writers_put_them() {
        assert_eq!(seconds("1,234.5"), Some(1234.5));
        assert_eq!(seconds("0.25s"), Some(0.25));
        assert_eq!(seconds("1.4e-05"), Some(0.000_014));
        assert_eq!(seconds("NaN"), None);
        assert_eq!(seconds("-1"), None);
        assert_eq!(seconds(""), None);
    }

    #[test]
    fn careless_attributes_are_taken_as_they_come() {
        let start = BytesStart::from_content("a x:one=\"1\" two=2 three four='&lt;' one=\"5\"", 1);
        let mut seen = Vec::new();
        each(&start, |name, value| seen.push(format!("{name}={value}")));
        assert_eq!(seen, ["one=1", "two=2", "three=", "four=<", "one=5"]);
    }
}
