//! How a value that came differs from the one that was wanted, where many values differ in
//! the same way for one reason: by some hours, by a constant, by the mark of decimals.

use regex::Regex;
use std::net::Ipv4Addr;
use std::sync::LazyLock;

/// Minutes of a day, and of the least difference between two places.
const DAY: i64 = 24 * 60;
const QUARTER: i64 = 15;

/// How the values that a failure compares differ.
pub(super) fn shift(said: &str) -> Option<String> {
    let (wanted, came) = compared(said)?;
    if wanted == came {
        return None;
    }
    separator(wanted, came)
        .or_else(|| hours(wanted, came))
        .or_else(|| difference(wanted, came))
        .or_else(|| written(wanted, came))
}

/// The one word in whose place another came in all changed lines of a text, as a field or
/// a version that has another name now.
pub(super) fn swapped(text: &str) -> Option<String> {
    let mut found = None;
    let mut wanted: Vec<&str> = Vec::new();
    for line in text.lines().take(CHANGED) {
        let line = line.rsplit('│').next().unwrap_or(line).trim();
        if let Some(minus) = line.strip_prefix('-')
            && !minus.starts_with("--")
        {
            wanted.push(minus);
        } else if let Some(plus) = line.strip_prefix('+')
            && !plus.starts_with("++")
            && let Some(minus) = (!wanted.is_empty()).then(|| wanted.remove(0))
            && minus.trim() != "Snapshot"
            && !minus.trim_start().starts_with("Expected")
            && !minus.trim_start().starts_with("old snapshot")
        {
            let swap = one_word(minus, plus)?;
            if *found.get_or_insert(swap) != swap {
                return None;
            }
        } else {
            wanted.clear();
        }
    }
    let (minus, plus) = found?;
    Some(format!("{minus} is {plus}"))
}

/// Lines of a text that are read for changes.
const CHANGED: usize = 60;

/// The word in which two lines differ, and the other, where these are the names of
/// something and no values.
fn one_word<'t>(minus: &'t str, plus: &'t str) -> Option<(&'t str, &'t str)> {
    let words = |line: &'t str| {
        let parts = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        parts
    };
    let (minus, plus) = (words(minus), words(plus));
    if minus.len() != plus.len() {
        return None;
    }
    let mut differ = minus.iter().zip(&plus).filter(|(one, other)| one != other);
    let (one, other) = differ.next()?;
    if differ.next().is_some() {
        return None;
    }
    let is_name = |word: &str| {
        let is_word = word.starts_with(|c: char| c.is_ascii_lowercase()) && word.len() > 2;
        let is_version = word.split('.').count() > 2;
        let values = ["true", "false", "null", "none", "nil", "undefined"];
        (is_word || is_version) && !values.contains(&word)
    };
    // A name stands before its value.
    let is_key = minus.len() > 1 && minus.last() != Some(one);
    let is_version = one.contains('.');
    (is_name(one) && is_name(other) && (is_key || is_version)).then_some((*one, *other))
}

/// The same numbers, written in another way: `9.50 €` and `EUR 9.50`.
fn written(wanted: &str, came: &str) -> Option<String> {
    let form = |text: &str| {
        let mut numbers = Vec::new();
        let mut form = String::new();
        for part in text.split_inclusive(|c: char| !c.is_ascii_digit()) {
            let number = part.trim_end_matches(|c: char| !c.is_ascii_digit());
            if !number.is_empty() {
                numbers.push(number.to_owned());
                form.push('0');
            }
            form.push_str(&part[number.len()..]);
        }
        (numbers, form)
    };
    let ((numbers, wanted), (others, came)) = (form(wanted), form(came));
    let is_written = !numbers.is_empty() && numbers == others && wanted != came;
    let is_short = wanted.len() + came.len() <= WRITTEN;
    (is_written && is_short).then(|| format!("{wanted} as {came}"))
}

/// Letters of two forms of a value.
const WRITTEN: usize = 40;

/// The two values, as the frameworks tell them: what was wanted, and what came.
fn compared(said: &str) -> Option<(&str, &str)> {
    static COMPARED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"(?x)
              \bexpected\ ['"`]?(?P<c2>[^"'`\n]+?)['"`]?\ to\ (?:deeply\ )?(?:be\ close\ to|be\ within\ \S+\ of|equal|eq|be)\ ['"`]?(?P<w2>[^"'`\n,]+?)['"`]?(?:,\ |\ \+/-|\ //|\n|$)
            | (?i:\bexpected):?\ +[<"'`]?(?P<w1>[^"'`<>\n]+?)[>"'`]?,?\s+(?i:but\ was|actual|received|got):?\ +[<"'`]?(?P<c1>[^"'`<>\n]+?)(?:[>"'`](?:\s|$)|\n|$)
            | \bassert\ ['"]?(?P<c3>[^"'\n]+?)['"]?\ ==\ ['"]?(?P<w3>[^"'\n]+?)['"]?(?:\ ±|\n|$)
            | \bgot:?\ ['"]?(?P<c4>[^"'\n,]+?)['"]?,?\ want(?:ed)?:?\ ['"]?(?P<w4>[^"'\n,;]+?)['"]?(?:[,;]|\n|$)
            | \bFailed\ asserting\ that\ (?:two\ strings\ are\ )?['"]?(?P<c5>[^'"\n]+?)['"]?\ (?:matches\ expected|is\ identical\ to|equals)\ ['"]?(?P<w5>[^'"\n]+?)['"]?\.?(?:\n|$)
            | \bto\ (?:have\ text|have\ value|contain(?:\ text)?)\ '(?P<w7>[^'\n]+)',\ but\ the\ (?:text|value)\ was\ '(?P<c7>[^'\n]+)'
            | \bleft:\ ['"]?(?P<c6>[^'"\n]+?)['"]?\n\s*right:\ ['"]?(?P<w6>[^'"\n]+?)['"]?(?:\n|$)"#,
        )
        .ok()
    });
    let found = COMPARED.as_ref()?.captures(said)?;
    (1..=7).find_map(|form| {
        let wanted = found.name(&format!("w{form}"))?.as_str().trim();
        let came = found.name(&format!("c{form}"))?.as_str().trim();
        Some((wanted, came))
    })
}

/// `1.35 m` and `1,35 m`: another language's way to write numbers.
fn separator(wanted: &str, came: &str) -> Option<String> {
    let swapped: String = wanted
        .chars()
        .map(|letter| match letter {
            '.' => ',',
            ',' => '.',
            other => other,
        })
        .collect();
    let has_digits = wanted.contains(|letter: char| letter.is_ascii_digit());
    let is_list = wanted.contains(", ") || came.contains(", ");
    (has_digits && !is_list && swapped == came).then(|| "decimal mark".to_owned())
}

/// The hours between two times of one form, which all else equal differ by the place.
fn hours(wanted: &str, came: &str) -> Option<String> {
    static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\A([^\d]*)(?:(\d{4})-(\d\d)-(\d\d)[T ])?([01]?\d|2[0-3]):([0-5]\d)(.*)\z").ok()
    });
    let time = TIME.as_ref()?;
    let (wanted, came) = (time.captures(wanted)?, time.captures(came)?);
    let part = |found: &regex::Captures<'_>, at: usize| {
        found
            .get(at)
            .map_or(String::new(), |part| part.as_str().to_owned())
    };
    let number = |found: &regex::Captures<'_>, at: usize| part(found, at).parse::<i64>().ok();
    let is_alike = part(&wanted, 1) == part(&came, 1) && part(&wanted, 7) == part(&came, 7);
    if !is_alike || part(&wanted, 2) != part(&came, 2) || part(&wanted, 3) != part(&came, 3) {
        return None;
    }
    let minutes = |found: &regex::Captures<'_>| {
        let day = number(found, 4).unwrap_or(0) * DAY;
        Some(day + number(found, 5)? * 60 + number(found, 6)?)
    };
    let shift = minutes(&came)? - minutes(&wanted)?;
    let is_zone = shift != 0 && shift.abs() <= DAY && shift % QUARTER == 0;
    is_zone.then(|| format!("{shift} minutes"))
}

/// The difference of two numbers with decimals, in values that are the same besides. One
/// that comes by chance tells only where it comes often.
fn difference(wanted: &str, came: &str) -> Option<String> {
    static NUMBER: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\A([^\d]*?)(-?\d+[.,]\d{1,4})(\D*)\z").ok());
    let number = NUMBER.as_ref()?;
    let (wanted, came) = (number.captures(wanted)?, number.captures(came)?);
    if wanted[1] != came[1] || wanted[3] != came[3] {
        return None;
    }
    let value = |text: &str| text.replace(',', ".").parse::<f64>().ok();
    let shift = value(&came[2])? - value(&wanted[2])?;
    // Floating point leaves its own digits behind the last.
    let told = format!("{shift:.4}");
    let told = told.trim_end_matches('0').trim_end_matches('.');
    let by_chance = if is_rare(told) { "" } else { BY_CHANCE };
    Some(format!("{by_chance}{told} more"))
}

/// What the name of a sign begins with that tells only where three share it.
pub(super) const BY_CHANCE: &str = "often: ";

/// Whether a number hardly comes twice by chance.
pub(super) fn is_rare(number: &str) -> bool {
    // Zeros at the end say how exactly it is written, or that it is round.
    let bare = match number.contains('.') {
        true => number.trim_end_matches(['0', '.']),
        false => number.trim_end_matches('0'),
    };
    let bare = bare.trim_start_matches(['-', '0', '.']);
    let telling = bare.bytes().filter(u8::is_ascii_digit).count();
    if let Ok(whole) = number.parse::<i64>() {
        let size = whole.unsigned_abs();
        let is_usual = size.is_power_of_two() || size % 60 == 0 || "1234567890".contains(bare);
        let is_long = whole < -99 || whole > 2099 && telling > 3;
        return is_long && !is_usual;
    }
    match number.parse::<f64>() {
        // Pi, halves and eighths, and what lacks little of a whole.
        Ok(value) => {
            let is_part = (value * 64.0).fract() == 0.0;
            telling > 2
                && !is_part
                && !number.starts_with("3.14")
                && !bare.trim_matches(['9', '.']).is_empty()
        }
        // An address, and no version.
        Err(_) => number
            .parse::<Ipv4Addr>()
            .is_ok_and(|ip| !ip.is_loopback() && !ip.is_unspecified()),
    }
}

#[cfg(test)]
mod tests {
    use super::{shift, swapped};

    #[test]
    fn values_that_differ_in_one_way_have_one_sign() {
        for (said, wanted) in [
            ("Expected: \"1.35 m\"\nActual:   \"1,35 m\"", "decimal mark"),
            ("expected '7,5 kg' to equal '7.5 kg'", "decimal mark"),
            (
                "expected: <2024-03-01T09:00Z> but was: <2024-03-01T11:00Z>",
                "120 minutes",
            ),
            ("assert '23:30' == '21:30'", "120 minutes"),
            (
                "expected 282.41 to be close to 9.26, received difference is 273.15",
                "273.15 more",
            ),
            ("got 300.0, want 26.85", "273.15 more"),
            (
                "Expected: \"7,50 €\"\n    Received: \"EUR 7,50\"",
                "0,0 € as EUR 0,0",
            ),
        ] {
            assert_eq!(shift(said).as_deref(), Some(wanted), "{said}");
        }
    }

    #[test]
    fn what_differs_by_chance_has_none() {
        for said in [
            "assert 'ab' == 'ba'",
            "assert '10:31' == '10:30'",
            "assert 7 == 9",
            "assert 'LOCKED' == 'FREE'",
        ] {
            assert_eq!(shift(said), None, "{said}");
        }
    }

    #[test]
    fn another_name_in_all_changed_lines_is_one_change() {
        for (text, wanted) in [
            (
                "  {\n-   \"size\": 3,\n+   \"length\": 3,\n  }",
                Some("size is length"),
            ),
            (
                "    1       │-tool 0.8.4\n          1 │+tool 0.9.0",
                Some("0.8.4 is 0.9.0"),
            ),
            (
                "- Expected\n+ Received\n-   \"size\": 3,\n+   \"size\": 4,",
                None,
            ),
            ("-LOCKED\n+FREE", None),
            ("-  \"state\": \"open\"\n+  \"state\": \"closed\"", None),
            ("-  \"ok\": true,\n+  \"ok\": false,", None),
        ] {
            assert_eq!(swapped(text).as_deref(), wanted, "{text}");
        }
    }
}
