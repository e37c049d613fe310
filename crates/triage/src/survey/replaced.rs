//! The one value in whose place another came: tests of one suite that show the same pair fail
//! of the same, in whatever form each of them compares.

use super::shifted::compared;
use crate::engine::common_words::COMMON_WORDS;
use jelly_base::text::LazyPattern;
use std::collections::HashMap;

/// Words of a value that are looked at.
const WORDS: usize = 400;

/// The pair, as `gold is silver`: what was wanted, and what came. None where either may come
/// by chance, such as a number of one digit, or where more differs.
pub(super) fn replaced<'t>(said: impl Iterator<Item = &'t str>, text: &'t str) -> Option<String> {
    let mut all = said.chain([text]);
    all.find_map(|told| {
        if let Some((wanted, came)) = messages(told) {
            return rephrased(&wanted, &came);
        }
        let (wanted, came) = other_forms(told)
            .or_else(|| compared(told))
            .or_else(|| lines(told))?;
        let (wanted, came) = pair(&wanted, &came)?;
        // Many answer that they are out of order.
        let is_answer = came.len() == 3 && came.starts_with('5') && wanted.starts_with('2');
        if is_answer && came.parse::<u16>().is_ok() {
            return None;
        }
        (is_telling(wanted) && is_telling(came)).then(|| format!("{wanted} is {came}"))
    })
}

/// The forms that only a pair is read from: whole structures, and texts that are to hold others.
fn other_forms(told: &str) -> Option<(String, String)> {
    static FORMS: LazyPattern = LazyPattern::ascii(
        r#"(?x)
              \bWhich\ is:\ "(?P<c1>[^"\n]+)"\s+(?:[\w:]+\()?"(?P<w1>[^"\n]+)"
            | \bexpected\ (?P<c2>\{[^\n]+\})\ to\ include\ (?P<w2>[^\n]+)
            | \bexpected:\ (?P<w3>[\{\[][^\n]+[\}\]])\s+got:\ (?P<c3>[\{\[][^\n]+[\}\]])
            | \bleft:\ (?P<c4>[^\n]+?)(?:\n\s*|;\ )right:\ (?P<w4>[^\n]+)
            | :\ (?P<c5>[\w.-]+)\ !=\ (?P<w5>[\w.-]+)\s*\z
            | \bString:\s+"(?P<c6>[^"\n]+)"\s+Not\ found:\s+"(?P<w6>[^"\n]+)"
            | \bExpected\ constructor:\s+(?P<w8>\w+)\s+Received\ constructor:\s+(?P<c8>\w+)
            | \b(?i:expected)(?:\ (?:value|string|text))?:?\ +[\[<"']?(?P<w7>[\w.\ -]+?)[\]>"']?,?\s+(?i:but\ found|but\ was|received\ (?:value|string|text)|received|got):?\ +[\[<"']?(?P<c7>[\w.\ -]+?)[\]>"']?(?:\n|\z)"#,
    );
    let found = FORMS.captures(told)?;
    (1..=8).find_map(|form| {
        let part = |side| Some(found.name(&format!("{side}{form}"))?.as_str().to_owned());
        Some((part("w")?, part("c")?))
    })
}

/// The words that came in place of some that were wanted: what stands in for a value that could
/// not be had does so for any. None where they are few, are numbers, or are a state's name.
pub(super) fn stands_in<'t>(mut said: impl Iterator<Item = &'t str>) -> Option<String> {
    const LETTERS: usize = 8;
    const MOST: usize = 6;
    let (wanted, came) = said.find_map(|told| other_forms(told).or_else(|| compared(told)))?;
    let (all, others) = (words(&wanted), words(&came));
    let (lost, got) = (without(&all, &others), without(&others, &all));
    let is_word = |word: &&str| word.chars().all(|c| c.is_alphabetic() || "-_.".contains(c));
    let is_state = |word: &&str| COMMON_WORDS.states.contains(&word.to_ascii_lowercase());
    let letters: usize = got.iter().map(|word| word.len()).sum();
    let is_telling = letters >= LETTERS && got.len() <= MOST && got.iter().all(is_word);
    // A single word may be the right one elsewhere, and a class is raised by any.
    let is_one = got.len() == 1 && got.iter().all(|word| word.chars().all(char::is_alphabetic));
    let is_class = |word: &&str| word.ends_with("Error") || word.ends_with("Exception");
    let is_telling = is_telling && !is_one && !got.iter().any(is_class);
    (!lost.is_empty() && is_telling && !got.iter().all(is_state)).then(|| got.join(" "))
}

/// What an exception was to say, and what it says.
pub(super) fn messages(told: &str) -> Option<(String, String)> {
    static FORMS: LazyPattern = LazyPattern::ascii(
        r#"(?x)
              \b(?:including|matching)\ '(?P<w1>[^\n]{1,300}?)'\ but\ got\ '(?P<c1>[^\n]{1,300}?)'
            | \bExpected\ (?:substring|message):\s+"(?P<w2>[^\n]{1,300})"\s+Received\ message:\s+"(?P<c2>[^\n]{1,300})"
            | \bexception\ message\ '(?P<c3>[^\n]{1,300})'\ (?:contains|matches|is)\ '(?P<w3>[^\n]{1,300}?)'\.?(?:\n|\z)
            | \bRegex:\ ['"](?P<w4>[^\n]{1,300})['"]\s+(?:Input|Actual\ message):\ ['"](?P<c4>[^\n]{1,300})['"]
            | \bexpected\ [\w:]+\ with\ "(?P<w5>[^\n]{1,300}?)",\ got\ \#<[\w:]+:\ "?(?P<c5>[^\n]{1,300}?)"?>"#,
    );
    let found = FORMS.captures(told)?;
    (1..=5).find_map(|form| {
        let part = |side| Some(found.name(&format!("{side}{form}"))?.as_str().to_owned());
        Some((part("w")?, part("c")?))
    })
}

/// The words that one message has in place of the other's. What both have is what it is about.
fn rephrased(wanted: &str, came: &str) -> Option<String> {
    const MOST: usize = 16;
    let (all, others) = (words(wanted), words(came));
    let (lost, got) = (without(&all, &others), without(&others, &all));
    let is_short = (4..=MOST).contains(&(lost.len() + got.len()));
    let has_words = |words: &[&str]| words.iter().any(|it| it.chars().all(char::is_alphabetic));
    (is_short && has_words(&lost) && has_words(&got))
        .then(|| format!("{} is {}", lost.join(" "), got.join(" ")))
}

/// The one line that a difference takes out, and the one that it puts in.
fn lines(text: &str) -> Option<(String, String)> {
    let is_head = |line: &str| {
        ["--- ", "+++ ", "- Expected", "+ Received", "-- ", "++ "]
            .iter()
            .any(|head| line.starts_with(head))
    };
    let of = |mark: char| {
        let lines = text.lines().map(str::trim).filter(|line| !is_head(line));
        let mut lines = lines.filter_map(|line| line.strip_prefix(mark));
        let only = lines.next()?.trim();
        lines.next().is_none().then(|| only.to_owned())
    };
    Some((of('-')?, of('+')?))
}

/// The word of the wanted value that the other has not, and what stands there instead: the
/// only other word, or the one behind the same key.
fn pair<'v>(wanted: &'v str, came: &'v str) -> Option<(&'v str, &'v str)> {
    let (all, others) = (words(wanted), words(came));
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in &others {
        *left.entry(word).or_default() += 1;
    }
    let mut lost = Vec::new();
    for (at, word) in all.iter().enumerate() {
        match left.get_mut(word) {
            Some(count) if *count > 0 => *count -= 1,
            _ => lost.push((at, *word)),
        }
    }
    let mut got = others.iter().filter(|word| {
        let count = left.get_mut(**word);
        count.is_some_and(|count| {
            let is_own = *count > 0;
            *count = count.saturating_sub(1);
            is_own
        })
    });
    let first = *got.next()?;
    match (&*lost, got.next()) {
        ([(_, lost)], None) => Some((lost, first)),
        // `expected origin BER, got TXL`
        ([_, (_, lost)], None) if others.len() == 1 => Some((lost, first)),
        ([(at, lost)], Some(_)) => {
            let key = all.get(at.checked_sub(1)?)?;
            let place = others.iter().position(|word| word == key)?;
            let there = others.get(place + 1)?;
            (there != lost).then_some((*lost, *there))
        }
        _ => None,
    }
}

fn without<'w>(words: &[&'w str], others: &[&str]) -> Vec<&'w str> {
    let own = words.iter().filter(|word| !others.contains(word));
    own.copied().collect()
}

fn words(value: &str) -> Vec<&str> {
    value
        .split(|c: char| !(c.is_alphanumeric() || "_.-".contains(c)))
        .map(|word| word.trim_matches(['.', '-']))
        .filter(|word| !word.is_empty())
        .take(WORDS)
        .collect()
}

/// Whether a value hardly comes twice by chance.
fn is_telling(value: &str) -> bool {
    const LETTERS: usize = 3;
    const DIGITS: usize = 4;
    if COMMON_WORDS.states.contains(&value.to_ascii_lowercase()) {
        return false;
    }
    let is_number = value
        .bytes()
        .all(|b| b.is_ascii_digit() || b == b'.' || b == b'-');
    value.len() >= if is_number { DIGITS } else { LETTERS }
}

#[cfg(test)]
mod tests {
    use super::{replaced, stands_in};

    #[test]
    fn what_stands_in_for_any_value_is_told_by_its_words() {
        let told = |said: &str| stands_in([said].into_iter());
        let first = told("expected: <spray> but was: <ask the neighbour>");
        assert_eq!(first.as_deref(), Some("ask the neighbour"));
        assert_eq!(first, told("expected: <wait> but was: <ask the neighbour>"));
        assert_eq!(told("expected: <spray> but was: <cancelled>"), None);
        assert_eq!(told("expected: <spray> but was: <12345678>"), None);
        assert_eq!(told("expected: <spray> but was: <dew>"), None);
    }

    fn of(told: &str) -> Option<String> {
        replaced([told].into_iter(), "")
    }

    #[test]
    fn one_value_in_place_of_another_is_read_from_every_form() {
        for told in [
            "tier ==> expected: <gold> but was: <silver>",
            "tier after upgrade expected [gold] but found [silver]",
            "expected tier gold, got silver",
            "Value of dictionary key 'tier' does not match: silver != gold",
            "expected {:cabin => \"Y\", :tier => \"silver\", :stops => 1} to include {:tier => \"gold\"}",
            "expected: {:cabin=>\"Y\", :tier=>\"gold\"}\n     got: {:cabin=>\"Y\", :tier=>\"silver\"}",
            "assertion `left == right` failed\n  left: Member { tier: \"silver\", zone: 1 }\n right: Member { tier: \"gold\", zone: 1 }",
            "Expected equality of these values:\n  m.tier\n    Which is: \"silver\"\n  \"gold\"",
            "Sub-string not found\nString:    \"A member of silver\"\nNot found: \"member of gold\"",
            "toMatchObject(expected)\n\n- Expected  - 1\n+ Received  + 1\n\n  Object {\n-     \"tier\": \"gold\",\n+     \"tier\": \"silver\",\n  }",
        ] {
            assert_eq!(of(told).as_deref(), Some("gold is silver"), "{told}");
        }
        let told = "Expected value: 3.95\nReceived value: 4.95\n    at cart.test.js:14";
        assert_eq!(of(told).as_deref(), Some("3.95 is 4.95"));
    }

    #[test]
    fn a_message_in_other_words_is_told_without_what_it_is_about() {
        for (told, pair) in [
            (
                "expected [Function] to throw error including 'city is required' but got 'city must not be blank'",
                "is required is must not be blank",
            ),
            (
                "Expected substring: \"zip is required\"\n    Received message:   \"zip must not be blank\"",
                "is required is must not be blank",
            ),
            (
                "Failed asserting that exception message 'Coupon code 'NOPE' is unknown or expired' contains 'Unknown coupon 'NOPE''.",
                "Unknown coupon is Coupon code is unknown or expired",
            ),
        ] {
            assert_eq!(of(told).as_deref(), Some(pair), "{told}");
        }
    }

    #[test]
    fn what_may_come_by_chance_is_no_pair() {
        for told in [
            "expected: <3> but was: <4>",
            "expected: <true> but was: <false>",
            "expected [ 'wren', 'robin' ] to equal [ 'crow', 'finch' ]",
            "assert 7 == 9",
            "order.state expected: <ACTIVE> but was: <PENDING>",
            "expected SUCCESS, got FAILED",
            "got nothing",
        ] {
            assert_eq!(of(told), None, "{told}");
        }
    }
}
