//! Attributes of an element, as tolerant as their writers are careless.

use super::escape::{is_forbidden, unescape};
use memchr::memchr;
use quick_xml::events::BytesStart;
use std::borrow::Cow;

/// Attributes of one element that are looked at.
const MOST: usize = 4_096;

/// A start tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag<'a> {
    /// Without its prefix.
    pub(super) name: &'a str,
    pub(super) attributes: Attributes<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Attributes<'a> {
    /// Names and values, without a reference in any.
    Plain(&'a [(&'a str, &'a str)]),
    /// As they stand.
    Raw(&'a str),
}

impl<'a> Tag<'a> {
    /// The tag that the parser read.
    pub(super) fn parsed(start: &'a BytesStart<'_>) -> Self {
        Self {
            name: start.local_name().into_inner(),
            attributes: Attributes::Raw(start.attributes_raw()),
        }
    }
}

/// Calls `take` with the local name and the unescaped value of each. Values
/// without quotes, names without values and repeated names are taken as they
/// come. Answers whether a reference was to a character that XML forbids.
pub(super) fn each<'a>(tag: &Tag<'a>, mut take: impl FnMut(&'a str, Cow<'a, str>)) -> bool {
    let mut rest = match tag.attributes {
        Attributes::Plain(attributes) => {
            for (name, value) in attributes {
                take(name, Cow::Borrowed(value));
            }
            return false;
        }
        Attributes::Raw(raw) => raw,
    };
    let mut forbidden = false;
    for _ in 0..MOST {
        let Some((name, value, after)) = next(rest) else {
            break;
        };
        rest = after;
        let value = unescape(value);
        forbidden |= matches!(&value, Cow::Owned(value) if value.chars().any(is_forbidden));
        take(name, value);
    }
    forbidden
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
    if let Some(seconds) = decimal(value) {
        return Some(seconds);
    }
    let value = value.trim();
    let number = value.parse::<f64>().ok().or_else(|| {
        let plain: String = value.chars().filter(|c| *c != ',').collect();
        plain.trim_end_matches(['s', ' ']).parse().ok()
    })?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// The number that a few digits and a point are, as nearly all durations are
/// written. Its digits and the power of ten are exact as floats, so that their
/// quotient is rounded as [`str::parse`] rounds it.
fn decimal(value: &str) -> Option<f64> {
    /// All numbers of so many digits are exact.
    const DIGITS: usize = 15;
    const TENS: [f64; DIGITS + 1] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    if value.len() > DIGITS {
        return None;
    }
    let mut digits = 0_u64;
    let mut point = None;
    for (at, byte) in value.bytes().enumerate() {
        match byte {
            b'0'..=b'9' => digits = digits * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() && at > 0 => point = Some(at + 1),
            _ => return None,
        }
    }
    let decimals = value.len() - point.unwrap_or(value.len());
    let whole = !value.is_empty() && point != Some(value.len());
    whole.then(|| digits as f64 / TENS[decimals])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seconds_are_read_as_writers_put_them() {
        assert_eq!(seconds("1,234.5"), Some(1234.5));
        assert_eq!(seconds("0.25s"), Some(0.25));
        assert_eq!(seconds("1.4e-05"), Some(0.000_014));
        assert_eq!(seconds("NaN"), None);
        assert_eq!(seconds("-1"), None);
        assert_eq!(seconds(""), None);
    }

    proptest! {
        #[test]
        fn short_durations_are_those_of_the_standard_library(text in "[0-9]{0,9}[.]?[0-9]{0,7}") {
            let parsed = text.parse::<f64>().ok();
            prop_assert_eq!(seconds(&text).map(f64::to_bits), parsed.map(f64::to_bits));
        }
    }

    #[test]
    fn careless_attributes_are_taken_as_they_come() {
        let start = BytesStart::from_content("a x:one=\"1\" two=2 three four='&lt;' one=\"5\"", 1);
        let mut seen = Vec::new();
        each(&Tag::parsed(&start), |name, value| {
            seen.push(format!("{name}={value}"))
        });
        assert_eq!(seen, ["one=1", "two=2", "three=", "four=<", "one=5"]);
    }
}
