//! Texts: plain ones that fit a schema, and those that servers stumble over.

use fastrand::Rng;
use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Value};

use super::schema::count;

/// Bytes of the text that is long.
pub(crate) const LONG: usize = 70_000;
/// Of the longer one.
pub(crate) const VERY_LONG: usize = 300_000;
/// Longest text that is made to meet a bound.
const AT_BOUND: usize = 1 << 20;
/// So often a part of a pattern is repeated that may be repeated without end.
const REPEATS: u32 = 3;
/// Bytes of a text that is made of a pattern.
const PATTERN_BYTES: usize = 10_000;

/// Texts of other alphabets, each of which has killed something.
pub(crate) const UNICODE: [&str; 5] = ["é", "日本語", "😀", "e\u{301}", "\u{202e}abc"];
/// Texts that mean something to what a server hands them to.
pub(crate) const SPECIAL: [&str; 8] = [
    " ",
    "a\nb",
    "\"'`\\",
    "%s {0} {{x}} ${x}",
    "\0",
    "null",
    "-1",
    "<b>&amp;</b>",
];

/// A text that fits by length, format and pattern; none where that is not known.
pub(crate) fn plain(schema: &Map<String, Value>) -> Option<String> {
    let least = count(schema, "minLength").unwrap_or(0);
    let most = count(schema, "maxLength");
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        return of_pattern(pattern, None);
    }
    if let Some(format) = schema.get("format").and_then(Value::as_str)
        && let Some(text) = of_format(format)
    {
        return Some(text.to_owned());
    }
    let wanted = least.max(1).min(most.unwrap_or(usize::MAX));
    of_length(wanted)
}

/// `a`, so many times.
pub(crate) fn of_length(chars: usize) -> Option<String> {
    (chars <= AT_BOUND).then(|| "a".repeat(chars))
}

/// A text in a format that JSON Schema knows. No address leads anywhere.
pub(crate) fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2024-01-15",
        "date-time" => "2024-01-15T10:00:00Z",
        "time" => "10:00:00Z",
        "duration" => "P1D",
        "email" | "idn-email" => "a@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        "uri" | "iri" | "url" => "http://127.0.0.1:9/",
        "uri-reference" | "iri-reference" => "/a",
        "uuid" => "123e4567-e89b-12d3-a456-426614174000",
        "json-pointer" => "/a",
        "regex" => "a",
        _ => return None,
    })
}

/// Whether a format is one whose texts are known.
pub(crate) fn is_known_format(schema: &Map<String, Value>) -> bool {
    let format = schema.get("format").and_then(Value::as_str);
    format.is_some_and(|format| of_format(format).is_some())
}

/// A text that a pattern matches: the plainest, or one by chance.
pub(crate) fn of_pattern(pattern: &str, rng: Option<&mut Rng>) -> Option<String> {
    let hir = regex_syntax::Parser::new().parse(pattern).ok()?;
    let mut text = String::new();
    let mut chance = rng;
    written(&hir, &mut chance, &mut text)?;
    Some(text)
}

fn written(hir: &Hir, rng: &mut Option<&mut Rng>, text: &mut String) -> Option<()> {
    if text.len() > PATTERN_BYTES {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(()),
        HirKind::Literal(literal) => {
            text.push_str(std::str::from_utf8(&literal.0).ok()?);
            Some(())
        }
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            let at = |c: char| ranges.iter().any(|it| it.start() <= c && c <= it.end());
            let readable = ['a', 'A', '0', '1', ' ', '-'].into_iter().find(|c| at(*c));
            let first = ranges.first()?;
            let chosen = match rng {
                None => readable.unwrap_or(first.start()),
                Some(rng) => {
                    let range = ranges.get(rng.usize(..ranges.len()))?;
                    let (low, high) = (u32::from(range.start()), u32::from(range.end()));
                    char::from_u32(rng.u32(low..=high)).unwrap_or(range.start())
                }
            };
            text.push(chosen);
            Some(())
        }
        HirKind::Class(Class::Bytes(class)) => {
            text.push(char::from(class.ranges().first()?.start()));
            Some(())
        }
        HirKind::Repetition(repetition) => {
            let least = repetition.min;
            let most = repetition.max.unwrap_or(least.saturating_add(REPEATS));
            let times = match rng {
                None => least,
                Some(rng) => rng.u32(least..=most.clamp(least, least.saturating_add(REPEATS))),
            };
            for _ in 0..times {
                written(&repetition.sub, rng, text)?;
            }
            Some(())
        }
        HirKind::Capture(capture) => written(&capture.sub, rng, text),
        HirKind::Concat(parts) => parts.iter().try_for_each(|it| written(it, rng, text)),
        HirKind::Alternation(parts) => {
            let at = rng.as_mut().map_or(0, |rng| rng.usize(..parts.len()));
            written(parts.get(at)?, rng, text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{of_pattern, plain};
    use fastrand::Rng;
    use regex::Regex;
    use serde_json::json;

    #[test]
    fn a_text_is_made_that_its_pattern_matches() {
        let mut rng = Rng::with_seed(7);
        for pattern in [
            "^[a-z]{3}-\\d+$",
            "^(red|green)?$",
            "^\\w+@\\w+\\.(com|org)$",
            "^[^/]+$",
            "^.{2,5}$",
            "",
        ] {
            let regex = Regex::new(pattern).unwrap();
            let made = of_pattern(pattern, None).unwrap();
            assert!(regex.is_match(&made), "{pattern}: {made}");
            for _ in 0..50 {
                let made = of_pattern(pattern, Some(&mut rng)).unwrap();
                assert!(regex.is_match(&made), "{pattern}: {made}");
            }
        }
        assert_eq!(
            of_pattern("^[a-z]{3}-\\d+$", None).as_deref(),
            Some("aaa-0")
        );
        assert_eq!(of_pattern("(", None), None);
        assert_eq!(of_pattern("a{100000}", None), None);
    }

    #[test]
    fn a_plain_text_keeps_its_bounds() {
        for (schema, text) in [
            (json!({}), "a"),
            (json!({"minLength": 3}), "aaa"),
            (json!({"maxLength": 0}), ""),
            (json!({"format": "date"}), "2024-01-15"),
            (json!({"format": "color"}), "a"),
        ] {
            assert_eq!(plain(schema.as_object().unwrap()).as_deref(), Some(text));
        }
        let huge = json!({"minLength": 4_000_000_000_u64});
        assert_eq!(plain(huge.as_object().unwrap()), None);
    }
}
