//! Dates and times of day, as programs write them.

/// A moment at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) len: usize,
    /// It names a day.
    pub(super) day: bool,
    /// It names a time of day.
    pub(super) clock: bool,
    /// The time of day is a round one, as people write them.
    pub(super) round: bool,
}

/// `#` is a digit, `?` one or two, `%` a year of ours, `@` the name of a month,
/// `&` that of a day of the week, `^` how bad a line of a log is; all else
/// stands for itself.
const DAYS: [&str; 13] = [
    "%-##-##", "%/##/##", "%:##:##", "&, ? @ %", "&, ?-@-%", "& @ ? %", "& ? @ %", "?/@/%",
    "? @ %", "?-@-%", "@ ?, %", "?.?.%", "?/?/%",
];
/// Days that are none without a time of day.
const BARE_DAYS: [&str; 5] = ["?/?/##", "& @ ?", "@ ?", "^####", "%.##.##"];
const MONTHS: &str =
    "January February March April May June July August September October November December";
const DAY_NAMES: &str = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday";
const JOINTS: [&str; 6] = ["T", " ", ", ", ":", "_", "-"];
const CLOCKS: [&str; 4] = ["?:##:##", "##-##-##", "##_##_##", "?:##"];
const ZONES: [&str; 13] = [
    "Z", " Z", " AM", " PM", " UTC", " GMT", " CET", "+##:##", "-##:##", "+####", "-####",
    " +####", " -####",
];

/// The moment that `text` begins with.
pub(super) fn moment(text: &str) -> Option<Moment> {
    // Most of what begins so goes on as no moment does.
    let bytes = text.as_bytes();
    let first = *bytes.first()?;
    let digits = bytes
        .iter()
        .take(5)
        .take_while(|b| b.is_ascii_digit())
        .count();
    let after = bytes.get(digits).copied().unwrap_or_default();
    let may_be = match digits {
        0 => {
            first.is_ascii_uppercase()
                && (bytes.len() > 3 && begins_with_name(bytes)
                    || bytes.get(1).is_some_and(u8::is_ascii_digit))
        }
        1 | 2 | 4 => matches!(after, b'-' | b'/' | b':' | b'.' | b' '),
        _ => false,
    };
    if !may_be {
        return None;
    }
    let of = |forms: &[&str]| forms.iter().find_map(|form| fit(form, text));
    if let Some(day) = of(&DAYS) {
        let joint = |joint: &&str| text[day..].strip_prefix(*joint);
        let clock = JOINTS.iter().filter_map(joint).find_map(clock);
        let rest = clock.map_or(&text[day..], |(rest, _)| rest);
        // `2025-06-18-preview` is a name; with a time of day it is that of a file.
        let goes_on = clock.is_some() && rest.starts_with('-');
        let called = clock.is_some() && calls(rest);
        return (goes_on || called || ends(rest)).then(|| Moment {
            len: text.len() - rest.len(),
            day: true,
            clock: clock.is_some(),
            round: clock.is_some_and(|(_, round)| round),
        });
    }
    let day = of(&BARE_DAYS);
    let (rest, round) = match day {
        Some(day) => {
            let rest = &text[day..];
            let rest = rest.strip_prefix(',').unwrap_or(rest);
            clock(rest.strip_prefix([' ', '_'])?)?
        }
        None => clock(text).filter(|(rest, _)| text.len() - rest.len() > "00:00 ".len())?,
    };
    (ends(rest) || calls(rest)).then(|| Moment {
        len: text.len() - rest.len(),
        day: day.is_some(),
        clock: true,
        round,
    })
}

/// Whether a text begins with the name of a month or a day of the week.
fn begins_with_name(bytes: &[u8]) -> bool {
    let names = MONTHS.split(' ').chain(DAY_NAMES.split(' '));
    let first = bytes.get(..3).unwrap_or_default();
    b"JFMASONDTW".contains(&bytes[0])
        && first[1..].iter().all(u8::is_ascii_lowercase)
        && names.map(str::as_bytes).any(|name| name.starts_with(first))
}

/// What follows a time of day, its zone and the year behind it.
fn clock(text: &str) -> Option<(&str, bool)> {
    let form = CLOCKS
        .iter()
        .find_map(|form| Some((form, fit(form, text)?)));
    let (form, len) = form?;
    let mut rest = &text[len..];
    let by_minutes = form.len() < CLOCKS[0].len();
    let mut round = by_minutes || text[..len].ends_with("00");
    if let Some(fraction) = rest.strip_prefix(['.', ',', '_']) {
        let after = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        if after.len() < fraction.len() {
            round &= fraction[..fraction.len() - after.len()]
                .bytes()
                .all(|b| b == b'0');
            rest = after;
        }
    }
    let mut offset = false;
    for _ in 0..2 {
        if let Some(zone) = ZONES.iter().find_map(|zone| fit(zone, rest)) {
            offset = rest[..zone].ends_with(|c: char| c.is_ascii_digit());
            rest = &rest[zone..];
        }
    }
    // With its zone, a program wrote it, and people choose every fifth minute.
    round &= !(by_minutes && offset) || text[..len].ends_with(['0', '5']);
    if let Some(year) = fit(" %", rest) {
        rest = &rest[year..];
    }
    let rest = if offset {
        without_zone_name(rest)
    } else {
        rest
    };
    Some((rest, round))
}

/// What follows the name of a zone, as JavaScript writes it behind its offset:
/// ` (Central European Standard Time)`.
fn without_zone_name(text: &str) -> &str {
    let named = text
        .strip_prefix(" (")
        .and_then(|named| named.split_once(')'));
    match named {
        Some((name, rest)) if name.chars().all(|c| c.is_alphabetic() || c == ' ') => rest,
        Some(_) | None => text,
    }
}

/// How long a time of day is behind the `T` of a moment whose day stands elsewhere, as
/// in what Python's `strptime` left over.
pub(super) fn clock_behind_t(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('T')?;
    let found = moment(rest).filter(|moment| moment.clock && !moment.day)?;
    Some(1 + found.len)
}

/// How long the measured duration is that a text begins with, as ISO 8601 writes it:
/// `PT10.157S`. A whole one is chosen.
pub(super) fn duration_len(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("PT")?;
    let in_duration = |b: &u8| b.is_ascii_digit() || b"HMS.".contains(b);
    let parts = &rest[..rest.bytes().take_while(in_duration).count()];
    let digit = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    let measured = parts
        .split_once('.')
        .is_some_and(|(_, fraction)| digit(fraction));
    (digit(parts) && measured && parts.ends_with('S')).then_some("PT".len() + parts.len())
}

/// Whether a method of the value is called that was written before.
fn calls(rest: &str) -> bool {
    let method = rest.strip_prefix('.');
    method.is_some_and(|method| method.starts_with(|c: char| c.is_ascii_lowercase()))
}

fn ends(rest: &str) -> bool {
    let mut rest = rest.bytes();
    match rest.next() {
        Some(b'-' | b'.' | b':') => !rest.next().is_some_and(|b| b.is_ascii_alphanumeric()),
        Some(b) => !b.is_ascii_alphanumeric(),
        None => true,
    }
}

/// How much of `text` has this form.
fn fit(form: &str, text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    // Whole, or its first three letters.
    let name = |at: usize, names: &str| {
        let rest = text.get(at..)?;
        let found = names.split(' ').find(|name| rest.starts_with(&name[..3]))?;
        Some(
            at + if rest.starts_with(found) {
                found.len()
            } else {
                3
            },
        )
    };
    let mut at = 0;
    for part in form.bytes() {
        at = match part {
            b'#' if digit(at) => at + 1,
            b'?' if digit(at) => at + 1 + usize::from(digit(at + 1)),
            b'%' if (0..4).all(|i| digit(at + i))
                && matches!(bytes.get(at..at + 2), Some(b"19" | b"20")) =>
            {
                at + 4
            }
            b'@' => name(at, MONTHS)?,
            b'&' => name(at, DAY_NAMES)?,
            // Days below ten are filled up with a space.
            b' ' if bytes.get(at) == Some(&b' ') => {
                at + 1 + usize::from(bytes.get(at + 1) == Some(&b' '))
            }
            b'^' if matches!(bytes.get(at), Some(b'I' | b'W' | b'E' | b'F')) => at + 1,
            b'#' | b'?' | b'%' | b'^' => return None,
            other if bytes.get(at) == Some(&other) => at + 1,
            _ => return None,
        };
    }
    Some(at)
}

/// `text` without the moments in it that name a day and a time of day; `None`
/// where there are none, or nothing else.
pub(super) fn without_stamps(text: &str) -> Option<String> {
    stamps_replaced(text, false)
}

/// The same, be the text nothing but one.
pub(super) fn without_any_stamp(text: &str) -> Option<String> {
    stamps_replaced(text, true)
}

fn stamps_replaced(text: &str, even_alone: bool) -> Option<String> {
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    let mut word = false;
    while let Some(b) = text.as_bytes().get(at) {
        let begins = !word && b.is_ascii();
        word = b.is_ascii_alphanumeric() || !b.is_ascii();
        let found = (begins && word).then(|| moment(&text[at..])).flatten();
        match found.filter(|moment| moment.day && moment.clock) {
            Some(moment) if !even_alone && text[at..at + moment.len] == *text.trim() => {
                return None;
            }
            Some(moment) => {
                out.push_str(&text[kept..at]);
                out.push_str("<time>");
                at += moment.len;
                kept = at;
            }
            None => at += 1,
        }
    }
    (kept > 0).then(|| out + &text[kept..])
}
