//! What an assertion compares, taken out before anything else reads the text:
//! values span lines and hold whatever the program printed, stacks and causes
//! of other failures included.
//!
//! Only what would mislead is taken out: short values on one line stay, since
//! rules read statuses and booleans.

use super::labels::{label, labelled};
use super::masked::MASK;
use crate::frameworks::{BLOCK_ENDS, DIFFS, PAIRS};
use jelly_base::text::LazyPattern;
use memchr::memmem::Finder;
use memchr::{memchr, memchr2_iter};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// Shorter values on one line are left to the reader of single lines.
pub(super) const SHORT: usize = 24;
/// As far into a text an assertion in one sentence begins.
const HEAD: usize = 400;
/// Replacements in one text.
const MOST: usize = 8;

/// One of these is in every comparison that is known here.
const MARKS: [&str; 16] = [
    "xpect",
    "ssert",
    "Condition not satisfied",
    " !== ",
    " != ",
    " == ",
    "got:",
    "want",
    "left:",
    "ctual",
    "@@ ",
    "not equal",
    "not contain",
    "+++ ",
    "+new results",
    "Diff",
];

/// `text` without the values that its assertion compares.
pub(super) fn without_compared(text: &str) -> Cow<'_, str> {
    static COMPARES: LazyPattern = LazyPattern::made(|| {
        let marks: Vec<String> = MARKS.into_iter().map(regex::escape).collect();
        marks.join("|")
    });
    if !COMPARES.is_match(text) {
        return Cow::Borrowed(text);
    }
    let mut text = Cow::Borrowed(text);
    for part in [
        condition, bracketed, sentence, assigned, labelled, explained, diff,
    ] {
        let mut from = 0;
        for _ in 0..MOST {
            let Some((range, instead)) = part(&text, from) else {
                break;
            };
            let whole = format!("{}{instead}{}", &text[..range.start], &text[range.end..]);
            from = range.start + instead.len();
            text = Cow::Owned(whole);
        }
    }
    text
}

/// What is to be replaced, and by what.
pub(super) type Replacement = Option<(Range<usize>, String)>;

/// Spock's and Groovy's drawing of a condition, to the end.
fn condition(text: &str, from: usize) -> Replacement {
    const SPOCK: &str = "Condition not satisfied:\n";
    const GROOVY: &str = "Assertion failed: \n\nassert ";
    static FINDERS: LazyLock<[Finder<'_>; 2]> = LazyLock::new(|| [SPOCK, GROOVY].map(Finder::new));
    let rest = &text[from..];
    let [spock, groovy] = &*FINDERS;
    let at = match spock.find(rest.as_bytes()) {
        Some(at) => at + "Condition not satisfied:".len(),
        None => groovy.find(rest.as_bytes())? + "Assertion failed:".len(),
    };
    Some((from + at..text.len(), format!(" {MASK}")))
}

/// `expected: <…> but was: <…>` and the like.
fn bracketed(text: &str, from: usize) -> Replacement {
    let rest = &text[from..];
    // Behind the first of each; all of them end in a bracket, which few lines
    // have in such a place.
    let mut firsts = vec![None; PAIRS.len()];
    for at in memchr2_iter(b'<', b'[', rest.as_bytes()) {
        let before = at.checked_sub(1).map(|before| rest.as_bytes()[before]);
        if !matches!(before, Some(b' ' | b':')) {
            continue;
        }
        for (first, (open, _)) in firsts.iter_mut().zip(PAIRS) {
            if first.is_none() && rest[..=at].ends_with(open) {
                *first = Some(at + 1);
            }
        }
    }
    PAIRS
        .iter()
        .zip(firsts)
        .find_map(|((open, between), start)| {
            let start: usize = start?;
            let close = if open.ends_with('[') { ']' } else { '>' };
            let values = &rest[start..];
            let middle = between
                .iter()
                .filter_map(|between| Some((values.find(between)?, *between)))
                .min();
            if middle.is_none() && !between.is_empty() {
                return None;
            }
            let second = middle.map_or(0, |(at, between)| at + between.len());
            let end = second + end_of_value(&values[second..], Some(close))?;
            let first = &values[..middle.map_or(0, |(at, _)| at)];
            let exception = ["Exception", "Error"]
                .iter()
                .any(|ending| first.ends_with(ending) && !first.contains([' ', '\n']));
            if exception || !misleads(first) && !misleads(&values[second..end]) {
                return None;
            }
            let between = middle.map_or("", |(_, between)| between);
            let first = if between.is_empty() { "" } else { MASK };
            Some((
                from + start..from + start + end,
                format!("{first}{between}{MASK}"),
            ))
        })
}

/// Whether a value may be taken for a statement. A single word, as the name of
/// a class, is none.
fn misleads(value: &str) -> bool {
    value.contains('\n') || value.len() > SHORT && value.contains(' ')
}

/// Where a value ends that `close` closes: there, where its line ends, the
/// last such place where the first line leaves it open. Without one, at the
/// end of the line.
pub(super) fn end_of_value(value: &str, close: Option<char>) -> Option<usize> {
    let line = value.find('\n').unwrap_or(value.len());
    let Some(close) = close else {
        return Some(line);
    };
    let first = &value[..line];
    if let Some(at) = closed_at(first, close) {
        return Some(at);
    }
    let mut end = None;
    let mut from = 0;
    for line in value.split_inclusive('\n') {
        // What closes behind it belongs to something else.
        if end.is_some() && ends_block(line.trim_start()) {
            break;
        }
        if let Some(at) = closes(line.trim_end(), close) {
            end = Some(from + at);
        }
        from += line.len();
    }
    end.or_else(|| first.rfind(close))
}

/// Where the only `close` of a line stands, if it ends the line.
pub(super) fn closed_at(line: &str, close: char) -> Option<usize> {
    let at = closes(line.trim_end(), close)?;
    let inner = &line[..at];
    let open = inner.match_indices(close).any(|(at, _)| {
        let before = inner[..at].bytes().rev();
        before.take_while(|byte| *byte == b'\\').count() % 2 == 0
    });
    (!open).then_some(at)
}

/// The place of `close` at the end of a line, behind which only marks stand.
pub(super) fn closes(line: &str, close: char) -> Option<usize> {
    let bare = line
        .strip_suffix(" // Object.is equality")
        .unwrap_or(line)
        .trim_end_matches([',', '.', ')', ';', ' ', '}']);
    bare.strip_suffix(close).map(str::len)
}

/// Lines that no value goes over.
pub(super) fn ends_block(line: &str) -> bool {
    BLOCK_ENDS.iter().any(|end| line.starts_with(end)) || go_place(line).is_some()
}

/// Lines behind what a test of Go said. The lines of its message are indented,
/// and the program's last words are not.
pub(super) fn ends_message(line: &str) -> bool {
    ends_block(line.trim_start()) || line.starts_with("panic: ") || line.starts_with("FAIL\t")
}

pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

const GO_FILE: &str = "_test.go:";
static GO_FILES: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(GO_FILE));

/// Whether any line of a text may have a [`go_place`].
pub(super) fn has_go_place(text: &str) -> bool {
    GO_FILES.find(text.as_bytes()).is_some()
}

/// What follows `cart_test.go:12: `.
pub(super) fn go_place(line: &str) -> Option<&str> {
    let at = GO_FILES.find(line.as_bytes())?;
    let (file, rest) = (&line[..at], &line[at + GO_FILE.len()..]);
    if file.len() >= 80 || file.contains([' ', '"', '\'']) {
        return None;
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest.get(digits..)?
        .strip_prefix(": ")
        .filter(|_| digits > 0)
}

/// `expected '…' to equal '…'`, `"…" did not equal "…"`, where a value stands
/// in quotes in the first lines.
fn sentence(text: &str, from: usize) -> Replacement {
    const LEADS: [&str; 9] = [
        "xpected ",
        "xpected string ",
        "xpected value ",
        "sserting that ",
        "ailed: (",
        ": ",
        "to be ",
        "to equal ",
        "to contain ",
    ];
    const SAYS: [&str; 30] = [
        " to ",
        " not to ",
        " does not ",
        " did not ",
        " do not ",
        " doesn't ",
        " didn't ",
        " !== ",
        " === ",
        " != ",
        " == ",
        ") is not ",
        " is not ",
        " is equal",
        " is identical",
        " contains ",
        " contained ",
        " equals ",
        " equaled ",
        " matches ",
        " matched ",
        " starts with ",
        " ends with ",
        " should ",
        " was not ",
        " with a length",
        ", but ",
        " but ",
        " not found in ",
        " unexpectedly found in ",
    ];
    if from > 0 {
        return None;
    }
    static PHPUNIT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("Failed asserting that "));
    let base = PHPUNIT.find(text.as_bytes()).unwrap_or(0);
    let head = jelly_base::text::truncate(&text[base..], HEAD);
    let (open, quote) = head
        .char_indices()
        .find(|(_, c)| matches!(c, '"' | '\'' | '`' | '\n'))
        .filter(|(_, c)| *c != '\n')?;
    let lead = &head[..open];
    let leads = lead.trim().is_empty() || LEADS.iter().any(|known| lead.ends_with(known));
    if !leads || label(lead).is_some() {
        return None;
    }
    let first = base + open + 1;
    // What follows the first value; either may hold the like of it.
    let said: Vec<(usize, &'static str)> = text[first..]
        .match_indices(quote)
        .filter_map(|(at, _)| {
            let behind = &text[first + at + 1..];
            let escaped = text[first..first + at].ends_with('\\');
            let says = SAYS.iter().find(|says| behind.starts_with(*says))?;
            (!escaped).then_some((first + at, *says))
        })
        .collect();
    // The second value, if it has quotes, ends where the last quote stands.
    let second = |(at, says): (usize, &'static str)| {
        let start = at + 1 + says.len();
        let rest = &text[start..];
        let line = rest.find('\n').unwrap_or(rest.len());
        let Some(open) = rest[..line].find(['"', '\'', '`']) else {
            return (start + line, rest[..line].to_owned());
        };
        let value = open + 1;
        let quote = rest[open..].chars().next();
        // FluentAssertions says behind the value how long it is.
        let measured = || {
            rest[value..]
                .find("\" has a length of ")
                .filter(|_| says == " with a length")
        };
        let end = measured()
            .or_else(|| end_of_value(&rest[value..], quote))
            .or_else(|| rest[value..].rfind(quote?))
            .map_or(line, |end| value + end);
        (start + end, format!("{}{MASK}", &rest[..value]))
    };
    // Of what both may hold, the words of an assertion are the likelier.
    const SURE: [&str; 4] = [" does not ", " did not ", " to ", "== "];
    let sure = |says: &str| SURE.iter().any(|sure| says.ends_with(sure));
    let near = *said.first()?;
    let far = *said.last()?;
    // A value may say too that something `does not provide` something.
    const COMPARES: [&str; 8] = [
        "contain", "match", "start", "end", "equal", "include", "have", "be ",
    ];
    let compares = |(at, says): &(usize, &str)| {
        let behind = &text[at + 1 + says.len()..];
        COMPARES.iter().any(|verb| behind.starts_with(verb))
    };
    let mut certain = said.iter().filter(|(_, says)| sure(says));
    let told = *certain
        .clone()
        .find(|told| compares(told))
        .or_else(|| certain.next())
        .unwrap_or(&near);
    let end = second(near).0.max(second(far).0).max(second(told).0);
    if !misleads(&text[first..near.0]) && !misleads(&text[near.0..end]) {
        return None;
    }
    let instead = format!("{MASK}{quote}{}{}", told.1, second(told).1);
    Some((first..end, instead))
}

/// Go's `Name() = …, want …` over several lines.
fn assigned(text: &str, from: usize) -> Replacement {
    let rest = &text[from..];
    if !has_go_place(rest) {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some(said) = go_place(line.trim_start()) else {
            continue;
        };
        if !said.contains(" = ") {
            continue;
        }
        let value = start + line.find(" = ")? + 3;
        let message: usize = rest[at..]
            .split_inclusive('\n')
            .take_while(|next| !ends_message(next) || indent(next) > indent(line))
            .map(str::len)
            .sum();
        let told = &rest[value..at + message];
        if !told.contains(", want ") || !told.trim_end().contains('\n') {
            continue;
        }
        let end = rest[..at + message].trim_end().len();
        return Some((from + value..from + end, format!("{MASK}, want {MASK}")));
    }
    None
}

pub(super) fn lines(text: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = from;
    std::iter::from_fn(move || {
        let rest = text.as_bytes().get(at..).filter(|rest| !rest.is_empty())?;
        let length = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = at..at + length;
        at += length + 1;
        Some(line)
    })
}

/// pytest's and unittest's comparisons with the lines that explain them.
fn explained(text: &str, from: usize) -> Replacement {
    const SAYS: [&str; 15] = [
        " == ",
        " != ",
        " not in ",
        " in ",
        " is not ",
        " is ",
        " <= ",
        " >= ",
        " < ",
        " > ",
        " not found in ",
        " unexpectedly found in ",
        " unexpectedly identical",
        " differ: ",
        " has no ",
    ];
    // Only lines with one of these compare.
    static LEADS: LazyLock<[Finder<'_>; 3]> =
        LazyLock::new(|| ["assert ", "AssertionError: ", "Failed: "].map(Finder::new));
    let may_be = |lead: &Finder<'_>| lead.find(&text.as_bytes()[from..]).is_some();
    if !LEADS.iter().any(may_be) {
        return None;
    }
    for line in lines(text, from) {
        let whole = &text[line.clone()];
        let marked = whole.starts_with("E  ");
        let bare = whole.strip_prefix('E').filter(|_| marked).unwrap_or(whole);
        let bare = bare.trim_start();
        let said = bare
            .strip_prefix("AssertionError: ")
            .or_else(|| bare.strip_prefix("Failed: "))
            .unwrap_or(bare);
        let named = said.len() < bare.len();
        let asserted = said.strip_prefix("assert ");
        let value = asserted.unwrap_or(said);
        if !(asserted.is_some() || named && value.starts_with(['\'', '"', '[', '{', '(', 'b'])) {
            continue;
        }
        let Some(says) = SAYS.iter().find(|says| value.contains(*says)) else {
            continue;
        };
        let head = line.end - value.len();
        let mut end = line.end;
        for line in lines(text, line.end.saturating_add(1).min(text.len())) {
            let more = &text[line.clone()];
            let goes_on = if marked {
                more.starts_with("E  ")
            } else {
                more.is_empty()
                    || more.starts_with([' ', '\t', '+', '-', '?'])
                    || more.starts_with("E  ")
            };
            let inner = more.trim_start_matches('E').trim_start();
            if !goes_on || inner.starts_with("+  where") || inner.starts_with("+    and") {
                break;
            }
            // Another exception of the same chain, or a frame.
            if marked && super::heads::class(inner).is_some() && !more.starts_with("E    ") {
                break;
            }
            end = line.end;
        }
        let explains = end > line.end && !text[line.end..end].trim().is_empty();
        let long = value.len() > 2 * SHORT && value.contains(['\'', '"']);
        if !explains && !long {
            continue;
        }
        let instead = if long {
            format!("'{MASK}'{says}'{MASK}'")
        } else {
            value.to_owned()
        };
        return Some((head..end, instead));
    }
    None
}

/// The lines of a diff, behind what heads it.
fn diff(text: &str, from: usize) -> Replacement {
    const GOMEGA: [&str; 2] = ["Expected", "[FAILED] Expected"];
    let mut heads = lines(text, from).filter_map(|line| {
        let bare = text[line.clone()].trim_start();
        // Nearly every line is told by its first letter.
        let first = bare.as_bytes().first()?;
        if !matches!(first, b'-' | b'+' | b'@' | b'D' | b'W' | b'E' | b'w' | b'[') {
            return None;
        }
        let bare = bare.trim_end();
        // What the test says of it stands behind the values, which are indented.
        let indented = bare.starts_with("Expected equality of these values:");
        let block = bare == "with expansion:" || GOMEGA.contains(&bare);
        (indented || block || DIFFS.iter().any(|head| bare.starts_with(head)))
            .then_some((line.end, block))
    });
    let (start, block) = heads.next()?;
    let mut end = start;
    let mut kept = String::new();
    // The heads stand together; a diff may hold the like of them.
    let mut headed = true;
    for line in lines(text, (start + 1).min(text.len())) {
        let raw = &text[line.clone()];
        let bare = raw.trim_start();
        let goes_on = raw.is_empty()
            || raw.starts_with([' ', '\t', '+', '-', '@', '?', '\\', '"', '\'', '<', '>'])
            || block && !bare.starts_with("at ") && super::frames::place(bare).is_none();
        let ends = if block {
            bare.starts_with("In [It] at:")
        } else {
            ends_block(bare)
        };
        if !goes_on || ends {
            break;
        }
        let heads = headed && DIFFS.iter().any(|head| bare.starts_with(head));
        if heads || block && (bare.starts_with("to ") || bare.starts_with("not to ")) {
            kept.push('\n');
            kept.push_str(bare);
        } else if !bare.is_empty() {
            headed = false;
        }
        end = line.end;
    }
    (end > start && !text[start..end].trim().is_empty())
        .then(|| (start..end, format!("\n{MASK}{kept}\n{MASK}")))
}
