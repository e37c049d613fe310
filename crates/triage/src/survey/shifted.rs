//! How a value that came differs from the one that was wanted, where many values differ in
//! the same way for one reason: by some hours, by a constant, by the mark of decimals.

use super::difference::Difference;
use super::rendered::rendered;
use jelly_base::text::LazyPattern;
use jiff::civil::Date;
use regex::Captures;
use std::net::Ipv4Addr;

/// Minutes of a day, and of the least difference between two places.
const DAY: i64 = 24 * 60;
const QUARTER: i64 = 15;

/// How the values that a failure compares differ.
pub(super) fn shift(said: &str) -> Option<Difference> {
    let (wanted, came) = compared(said)?;
    let (wanted, came) = (wanted.as_str(), came.as_str());
    let bare = |value: &'_ str| value.trim_matches(['"', '\'', '`']).to_owned();
    if bare(wanted) == bare(came) {
        return None;
    }
    if let Some((one, other)) = one_word(wanted, came)
        && other.contains('-')
    {
        return Some(Difference::rare(format!("{one} is {other}")));
    }
    separator(wanted, came)
        .or_else(|| hours(wanted, came))
        .or_else(|| difference(wanted, came))
        .or_else(|| affix(wanted, came))
        .or_else(|| written(wanted, came).map(Difference::rare))
        .or_else(|| rendered(wanted, came).map(Difference::common))
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
            && !minus.trim_start().starts_with("Snapshot")
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
        let parts = line.split(|c: char| !(c.is_alphanumeric() || "_.-".contains(c)));
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        parts
    };
    let (minus, plus) = (words(minus), words(plus));
    if minus.len() != plus.len() {
        return None;
    }
    let mut differ = minus.iter().zip(&plus).filter(|(one, other)| one != other);
    let (first, second) = differ.next()?;
    let (one, other) = without_common(first, second);
    if differ.any(|(first, second)| without_common(first, second) != (one, other)) {
        return None;
    }
    let is_name = |word: &str| {
        let is_word = word.starts_with(|c: char| c.is_ascii_lowercase()) && word.len() > 2;
        let is_version = word.split('.').count() > 2;
        let values = ["true", "false", "null", "none", "nil", "undefined"];
        (is_word || is_version) && !values.contains(&word)
    };
    // A name stands before its value.
    let is_key = minus.len() > 1 && minus.last() != Some(first);
    let has_parts = one.contains('.') || one.contains('-') || other.contains('-');
    (is_name(one) && is_name(other) && (is_key || has_parts)).then_some((one, other))
}

/// Two words without the parts that both begin and end with.
fn without_common<'t>(one: &'t str, other: &'t str) -> (&'t str, &'t str) {
    let (mut one, mut other) = (one, other);
    while let (Some((begin, rest)), Some((same, others))) =
        (one.split_once('-'), other.split_once('-'))
        && begin == same
    {
        (one, other) = (rest, others);
    }
    while let (Some((rest, end)), Some((others, same))) =
        (one.rsplit_once('-'), other.rsplit_once('-'))
        && end == same
    {
        (one, other) = (rest, others);
    }
    (one, other)
}

/// The same numbers, written in another way: `9.50 €` and `EUR 9.50`.
fn written(wanted: &str, came: &str) -> Option<String> {
    static NUMBER: LazyPattern = LazyPattern::new(r"\d(?:[\d.,]*\d)?");
    let numbers = |text: &str| -> Vec<String> {
        let found = NUMBER.find_iter(text);
        found.map(|found| found.as_str().to_owned()).collect()
    };
    let form = |text: &str| NUMBER.replace_all(text, "0").into_owned();
    let (all, others) = (numbers(wanted), numbers(came));
    let (wanted, came) = (form(wanted), form(came));
    // Of another unit the numbers are others, too.
    let is_measure = |form: &str| {
        let unit = form.strip_prefix('0').map(str::trim_start);
        unit.is_some_and(|unit| (1..=UNIT).contains(&unit.len()) && !unit.contains(['0', ' ']))
    };
    let is_one = all == others || is_measure(&wanted) && is_measure(&came);
    let is_written = !all.is_empty() && is_one && wanted != came;
    let is_short = wanted.len() + came.len() <= WRITTEN;
    (is_written && is_short).then(|| format!("{wanted} as {came}"))
}

/// Letters of a unit of measure.
const UNIT: usize = 4;

/// Letters of two forms of a value.
const WRITTEN: usize = 40;

/// The two values, as the frameworks tell them: what was wanted, and what came.
pub(super) fn compared(said: &str) -> Option<(String, String)> {
    static COMPARED: LazyPattern = LazyPattern::new(
        r#"(?x)
              \bexpected\ (?P<c9>[\[{][^\n]+?[\]}])\ to\ deeply\ equal\ (?P<w9>[\[{][^\n]+?[\]}])(?:\ //|\n|$)
            | \bexpected\ ['"`]?(?P<c2>[^"'`\n]+?)['"`]?\ to\ (?:deeply\ )?(?:be\ close\ to|be\ within\ \S+\ of|equal|eq|be)\ ['"`]?(?P<w2>[^"'`\n]+?)['"`]?(?:,\ |\ \+/-|\ //|\n|$)
            | (?i:\bexpected)(?:\ string)?(?:\ +|:\ *)[<"'`]{0,2}(?P<w1>[^"'`<>\n]+?)[>"'`]{0,2},?\s+(?i:but\ was|actual|received|got)(?:\ string)?(?:\ +|:\ *)[<"'`]{0,2}(?P<c1>[^"'`<>\n]+?)(?:[>"'`]{1,2}(?:\s|\.|$)|\n|$)
            | \bassert\ ['"]?(?P<c3>[^"'\n]+?)['"]?\ ==\ ['"]?(?P<w3>[^"'\n]+?)['"]?(?:\ ±|\ \+\ +where\ |\ [-+]\ |\n|$)
            | \bgot:?\ +['"]?(?P<c4>[^"'\n,]+?)['"]?,?\s+want(?:ed)?:?\ +['"]?(?P<w4>[^"'\n,;]+?)['"]?(?:[,;]|\n|$)
            | \bFailed\ asserting\ that\ (?:two\ strings\ are\ )?['"]?(?P<c5>[^'"\n]+?)['"]?\ (?:matches\ expected|is\ identical\ to|equals)\ ['"]?(?P<w5>[^'"\n]+?)['"]?\.?(?:\n|$)
            | \A(?P<c8>[^!=\n]{1,40})\ !=\ (?P<w8>[^!=\n]{1,40})\z
            | \bto\ (?:have\ text|have\ value|contain(?:\ text)?)\ '(?P<w7>[^'\n]+)',\ but\ the\ (?:text|value)\ was\ '(?P<c7>[^'\n]+)'
            | \bevaluates\ to\ (?P<c10>-?[\d.e+-]+),\s+\S+\ evaluates\ to\ (?P<w10>-?[\d.e+-]+\b)
            | ---\ Expected\s+\+\+\+\ Actual\s+(?:@@\ @@\s+)?-['"](?P<w12>[^'"\n]+)['"]\s+\+['"](?P<c12>[^'"\n]+)['"](?:\s|$)
            | \bFailed\ asserting\ that\ '(?P<c13>[^'\n]+)'\ (?:\[ASCII\]\([^)\n]*\)\ )?contains\ "(?P<w13>[^"\n]+)"
            | \bWhich\ is:\ (?P<c16>-?[\d.]+)\s+\S[^\n]*?\s+Which\ is:\ (?P<w16>-?[\d.]+)(?:\s|$)
            | \bWhich\ is:\ (?P<c11>-?[\d.]+)\s+(?P<w11>-?[\d.]+)(?:\s|$)
            | \bwith\ expansion:\s+(?P<c17>-?[\d.]+)f?(?:\ \(0x[0-9a-f]+\))?\ ==\ (?:Approx\(\ )?(?P<w17>-?[\d.]+)f?
            | \bwith\ expansion:\s+"(?P<c18>[^"\n]+)"\ ==\ "(?P<w18>[^"\n]+)"
            | \bWhich\ is:\ "(?P<c14>[^"\n]+)"\s+"(?P<w14>[^"\n]+)"
            | \bExpecting:?\s+<(?P<c15>[^<>\n]+)>\s+to\ be\ equal\ to:?\s+<(?P<w15>[^<>\n]+)>
            | \bassert\ (?P<c20>[\[{(][^\n]*?[\]})])\ ==\ (?P<w20>[\[{(][^\n]*?[\]})])(?:\s|$)
            | (?:\A|:\ )(?P<c21>[\[{(][^\n]*?[\]})])\ !=\ (?P<w21>[\[{(][^\n]*?[\]})])(?:\n|$)
            | [\w)\]]\ =\ (?P<c22>[^,;\n]{1,60}),\ want(?:ed)?\ (?P<w22>[^,;\n]{1,60})(?:\n|$)
            | \bis\ (?P<c19>[^,;\n]{1,40}),\ (?:but\ )?(?:expected|want(?:ed)?|should\ be)\ (?P<w19>[^,;\n]{1,40})(?:\n|$)
            | \bleft:\ ['"]?(?P<c6>[^'"\n]+?)['"]?(?:\n\s*|;\ )right:\ ['"]?(?P<w6>[^'"\n]+?)['"]?(?:\n|$)"#,
    );
    static NUMBER: LazyPattern = LazyPattern::new(r#"\b[A-Z]\w+\(['"](-?[\d.]+)['"]\)"#);
    // Python shows what is no number of its own by its class.
    let said = NUMBER.replace_all(said, "$1");
    let found = COMPARED.captures(&said)?;
    (1..=22).find_map(|form| {
        let wanted = found.name(&format!("w{form}"))?.as_str().trim();
        let came = found.name(&format!("c{form}"))?.as_str().trim();
        let bare = |value: &str| {
            let of_rspec = value.strip_suffix(" (compared using ==)");
            of_rspec.unwrap_or(value).trim_end_matches(';').to_owned()
        };
        Some((bare(wanted), bare(came)))
    })
}

/// `1.35 m` and `1,35 m`: another language's way to write numbers.
fn separator(wanted: &str, came: &str) -> Option<Difference> {
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
    // One that is to hold it may hold more.
    let is_in = |at: usize| {
        let beside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit() || ".,".contains(c));
        let (before, behind) = (&came[..at], &came[at + swapped.len()..]);
        !beside(before.chars().next_back()) && !beside(behind.chars().next())
    };
    let holds = || swapped != wanted && came.match_indices(&swapped).any(|(at, _)| is_in(at));
    (has_digits && !is_list && (swapped == came || holds() || is_written_otherwise(wanted, came)))
        .then(|| Difference::common("decimal mark"))
}

/// Whether two texts are the same but for the marks within their numbers, of which the last is
/// another one: `1.234,50` and `1234.50`.
fn is_written_otherwise(wanted: &str, came: &str) -> bool {
    static NUMBER: LazyPattern = LazyPattern::new(r"\d(?:[\d.,\u{a0}\u{202f}']*\d)?");
    const MARKS: [char; 2] = ['.', ','];
    let form = |text: &str| NUMBER.replace_all(text, "0").into_owned();
    if form(wanted) != form(came) {
        return false;
    }
    let digits = |text: &str| {
        text.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    let mark = |text: &str| text.chars().rev().find(|c| MARKS.contains(c));
    let mut pairs = NUMBER.find_iter(wanted).zip(NUMBER.find_iter(came));
    let mut is_other = false;
    pairs.all(|(one, other)| {
        let (one, other) = (one.as_str(), other.as_str());
        is_other |= matches!((mark(one), mark(other)), (Some(one), Some(other)) if one != other);
        digits(one) == digits(other)
    }) && is_other
}

/// The time between two values of one form, which all else equal differ by the place: by
/// hours, or by the one day that they are apart at midnight.
fn hours(wanted: &str, came: &str) -> Option<Difference> {
    if let Some(turned) = turned(wanted, came) {
        return Some(Difference::rare(turned));
    }
    if let Some(beyond) = beyond_midnight(wanted, came) {
        return Some(Difference::common(beyond));
    }
    let (wanted, came) = (time(wanted)?, time(came)?);
    if wanted.around != came.around || wanted.of_day.len() != came.of_day.len() {
        return None;
    }
    let shift = came.since(&wanted)?;
    // One place is apart from another by an hour more in summer.
    let way = if shift > 0 { "later" } else { "earlier" };
    let is_zone = shift != 0 && shift.abs() <= DAY && shift % QUARTER == 0;
    is_zone.then(|| match (wanted.of_day.is_empty(), shift % 60) {
        (true, _) => Difference::common(format!("a day {way}")),
        (false, 0) => Difference::common(format!("hours {way}")),
        (false, _) => Difference::common(format!("{shift} minutes")),
    })
}

/// Whether a time of the next day came with the hours of this one: `25:10` for `01:10`.
fn beyond_midnight(wanted: &str, came: &str) -> Option<&'static str> {
    static CLOCK: LazyPattern = LazyPattern::new(r"\b(\d{2}):(\d{2})\b");
    let (wanted, came) = (CLOCK.captures(wanted)?, CLOCK.captures(came)?);
    let hours = |found: &Captures<'_>| found[1].parse::<i64>().unwrap_or(0);
    let is_beyond = hours(&came) - hours(&wanted) == 24 && wanted[2] == came[2];
    is_beyond.then_some("hours beyond midnight")
}

/// Whether a date came with its day in the place of the month.
fn turned(wanted: &str, came: &str) -> Option<&'static str> {
    static DATE: LazyPattern =
        LazyPattern::new(r"\b(\d{4})(?:-0?|,\ 0?)(\d{1,2})(?:-0?|,\ 0?)(\d{1,2})\b");
    let (wanted, came) = (DATE.captures(wanted)?, DATE.captures(came)?);
    let is_turned = wanted[1] == came[1]
        && wanted[2] == came[3]
        && wanted[3] == came[2]
        && wanted[2] != wanted[3];
    is_turned.then_some("day and month are turned")
}

/// A date, times of a day, or both, with what stands around them.
struct Time {
    around: String,
    /// Any one, where none is told.
    day: Date,
    /// Minutes since midnight, of each time.
    of_day: Vec<i64>,
}

impl Time {
    /// Minutes from another time to this one, if all times are as far apart.
    fn since(&self, other: &Self) -> Option<i64> {
        let days = self.day.duration_since(other.day).as_hours() / 24;
        let apart = |at: usize| {
            let of_day = |time: &Self| time.of_day.get(at).copied().unwrap_or(0);
            let minutes = days * DAY + of_day(self) - of_day(other);
            // Without a date, the next day begins at midnight.
            match days == 0 && self.day == Date::ZERO && minutes.abs() > DAY / 2 {
                true => minutes - DAY * minutes.signum(),
                false => minutes,
            }
        };
        let first = apart(0);
        let is_one = (1..self.of_day.len()).all(|at| apart(at) == first);
        is_one.then_some(first)
    }
}

fn time(text: &str) -> Option<Time> {
    static DATE: LazyPattern = LazyPattern::new(r"\b\d{4}-\d\d-\d\d");
    static EUROPEAN: LazyPattern = LazyPattern::new(r"\b([0-3]\d)[/.]([01]\d)[/.](\d{4})\b");
    static CLOCK: LazyPattern =
        LazyPattern::new(r"(?:\A|[T\s(\[,'\x22])([01]?\d|2[0-3]):([0-5]\d)");
    static NAMED_DAY: LazyPattern = LazyPattern::new(
        r"(?x)\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\ (?:[0-3]?\d\ [A-Z][a-z]{2,8}\ )?
              | \b[0-3]?\d\ (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\ ",
    );
    static ZONE: LazyPattern = LazyPattern::new(r"T#(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:?\d\d)\z");
    let text = EUROPEAN.replace(text, "${3}-${2}-${1}");
    let day = DATE.find(&text);
    let day = day.and_then(|day| day.as_str().parse::<Date>().ok());
    let number = |found: &Captures<'_>, at: usize| found[at].parse::<i64>().unwrap_or(0);
    let minutes = |time: Captures<'_>| number(&time, 1) * 60 + number(&time, 2);
    let of_day: Vec<i64> = CLOCK.captures_iter(&text).map(minutes).collect();
    let around = CLOCK.replace_all(&text, "T#");
    let around = DATE.replace(&around, "#");
    // Over midnight the day of the week and of the month go along, where no year is told.
    let around = match day {
        Some(_) => around,
        None => NAMED_DAY.replace(&around, "D# ").into_owned().into(),
    };
    // The same moment may be told as another place tells it.
    let around = ZONE.replace(&around, "T#").into_owned();
    (day.is_some() || !of_day.is_empty()).then(|| Time {
        around,
        day: day.unwrap_or(Date::ZERO),
        of_day,
    })
}

/// Whether a wanted value is a number.
fn measured_by(wanted: &str) -> bool {
    wanted.trim_start_matches(['-', '+']).parse::<f64>().is_ok()
}

/// Whether words came in place of others, or nothing: no number, and no text.
pub(super) fn is_state(said: &str) -> bool {
    static STATE: LazyPattern = LazyPattern::new(r"\A[A-Za-z]+(?:[ _-][A-Za-z]+){0,2}\z");
    static NOTHING: LazyPattern = LazyPattern::new(
        r"(?im)\b(?:not (?:be |to be )?null|NotNull|is not None|toBeDefined|not to be nil)\b|\bassert (?:False|None)\b|^\s*Error:\s+Should be true\b|\bExpecting value to be (?:true|false) but was\b|\bExpected size: \d+ but was: 0\b|^\s*Actual: nil\b",
    );
    static EMPTY: LazyPattern =
        LazyPattern::new(r"\A(?:0|\[\]|\{\}|\(\)|None|null|nil|undefined|<nil>|)\z");
    let both = compared(said).is_some_and(|(wanted, came)| {
        EMPTY.is_match(&came) || STATE.is_match(&came) && !measured_by(&wanted)
    });
    both || NOTHING.is_match(said)
}

/// Whether the number that came is the larger one or the smaller, whatever its sign, and
/// how many times it is the wanted one.
pub(super) fn measured(said: &str) -> Option<(bool, f64)> {
    static NUMBER: LazyPattern = LazyPattern::new(r"\A\D{0,12}?(-?\d+(?:[.,]\d+)?)\D{0,4}\z");
    let (wanted, came) = compared(said)?;
    let number = |text: &str| {
        let found = NUMBER.captures(text)?;
        found[1].replace(',', ".").parse::<f64>().ok()
    };
    let (wanted, came) = (number(&wanted)?, number(&came)?);
    let times = came / wanted;
    (times.is_finite() && times != 1.0).then_some((came.abs() > wanted.abs(), times))
}

/// The difference of two numbers with decimals, in values that are the same besides. One
/// that comes by chance tells only where it comes often.
fn difference(wanted: &str, came: &str) -> Option<Difference> {
    static NUMBER: LazyPattern = LazyPattern::new(r"\A([^\d]*?)(-?\d+[.,]\d{1,4})(\D*)\z");
    let (wanted, came) = one_part(wanted, came);
    let (wanted, came) = (NUMBER.captures(wanted)?, NUMBER.captures(came)?);
    if wanted[1] != came[1] || wanted[3] != came[3] {
        return None;
    }
    let value = |text: &str| text.replace(',', ".").parse::<f64>().ok();
    let shift = value(&came[2])? - value(&wanted[2])?;
    // Floating point leaves its own digits behind the last.
    let told = format!("{shift:.4}");
    let told = told.trim_end_matches('0').trim_end_matches('.');
    Some(Difference {
        told: format!("{told} more"),
        by_chance: !is_rare(told),
        is_amount: true,
    })
}

/// The one word in which two texts differ, or both as they are.
fn one_part<'t>(wanted: &'t str, came: &'t str) -> (&'t str, &'t str) {
    let mut words = wanted.split(' ').zip(came.split(' '));
    let is_as_long = wanted.split(' ').count() == came.split(' ').count();
    let mut differ = words.by_ref().filter(|(one, other)| one != other);
    match (differ.next(), differ.next()) {
        (Some(pair), None) if is_as_long => pair,
        (_, _) => (wanted, came),
    }
}

/// What a value lacks at its begin or its end, or has there besides: a mark that is always
/// put there is always missed.
fn affix(wanted: &str, came: &str) -> Option<Difference> {
    const LETTERS: usize = 4;
    let is_mark = |affix: &&str| {
        (1..=LETTERS).contains(&affix.len()) && !affix.contains(|c: char| c.is_alphanumeric())
    };
    let told = |long: &str, short: &str, word: &str| {
        let before = long.strip_suffix(short).filter(is_mark);
        let before = before.map(|affix| Difference::common(format!("{affix} {word} before it")));
        let behind = || {
            let affix = long.strip_prefix(short).filter(is_mark)?;
            Some(Difference::common(format!("{affix} {word} behind it")))
        };
        before.or_else(behind)
    };
    match came.is_empty() || wanted.is_empty() {
        true => None,
        false => told(wanted, came, "lacks").or_else(|| told(came, wanted, "stands")),
    }
}

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
    use super::{Difference, shift, swapped};

    fn shown(difference: Difference) -> String {
        let often = if difference.by_chance { "often: " } else { "" };
        format!("{often}{}", difference.told)
    }

    #[test]
    fn values_that_differ_in_one_way_have_one_sign() {
        for (said, wanted) in [
            (
                "Expected: \"1.35 m\"\nActual:   \"1,35 m\"",
                "often: decimal mark",
            ),
            ("expected '7,5 kg' to equal '7.5 kg'", "often: decimal mark"),
            (
                "expected: '1.234,50'\n     got: '1234.50'",
                "often: decimal mark",
            ),
            (
                "assert '12.50 Tsd. W' == '12,50 Tsd. W'",
                "often: decimal mark",
            ),
            (
                "Failed asserting that two strings are identical. --- Expected +++ Actual -'12,50 €' +'12.50 €'",
                "often: decimal mark",
            ),
            (
                "Failed asserting that '<p>Total: 7.00 €</p>' contains \"7,00 €\".",
                "often: decimal mark",
            ),
            (
                "expected: <2024-03-01T09:00Z> but was: <2024-03-01T11:00Z>",
                "often: hours later",
            ),
            ("assert '23:30' == '21:30'", "often: hours later"),
            (
                "expected [ '22:50', '23:05' ] to deeply equal [ '23:50', '00:05' ]",
                "often: hours earlier",
            ),
            (
                "expected 'A 13:30 → B 15:09' to be 'A 14:30 → B 16:09' // Object.is equality",
                "often: hours earlier",
            ),
            (
                "expected '<dd>' to have text '01/03/1987', but the text was '28/02/1987'",
                "often: a day earlier",
            ),
            (
                "expected 282.41 to be close to 9.26, received difference is 273.15",
                "273.15 more",
            ),
            ("got 300.0, want 26.85", "273.15 more"),
            (
                "FAILED:\n  CHECK( kelvin(t) == Approx(26.85) )\nwith expansion:\n  300.0 == Approx( 26.85 )\nat t.cpp:7",
                "273.15 more",
            ),
            (
                "Expected: \"7,50 €\"\n    Received: \"EUR 7,50\"",
                "0 € as EUR 0",
            ),
        ] {
            assert_eq!(shift(said).map(shown).as_deref(), Some(wanted), "{said}");
        }
    }

    #[test]
    fn a_time_of_the_next_day_is_told() {
        let said = "expected '30:15' to equal '06:15'";
        assert_eq!(
            shift(said),
            Some(Difference::common("hours beyond midnight"))
        );
        let gtest = "Which is: 3\n  GetParam().second\n    Which is: 2";
        assert_eq!(
            super::compared(gtest),
            Some(("2".to_owned(), "3".to_owned()))
        );
    }

    #[test]
    fn a_date_with_day_and_month_turned_is_told() {
        for said in [
            "assert '2026-03-02' == '2026-02-03'",
            "assert datetime.date(2026, 1, 3) == datetime.date(2026, 3, 1)",
        ] {
            assert_eq!(
                shift(said),
                Some(Difference::rare("day and month are turned"))
            );
        }
    }

    #[test]
    fn what_differs_by_chance_has_none() {
        for said in [
            "assert 'ab' == 'ba'",
            "assert '10:31' == '10:30'",
            "expected [ '22:50', '23:05' ] to deeply equal [ '23:50', '23:05' ]",
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
            (
                "- Snapshot  - 1\n+ Received  + 1\n\n- <i class=\"place place--free\" x=\"1\">\n+ <i class=\"seat seat--free\" x=\"1\">",
                Some("place is seat"),
            ),
            ("-LOCKED\n+FREE", None),
            ("-  \"state\": \"open\"\n+  \"state\": \"closed\"", None),
            ("-  \"ok\": true,\n+  \"ok\": false,", None),
        ] {
            assert_eq!(swapped(text).as_deref(), wanted, "{text}");
        }
    }
}
