//! What frameworks leave out of the values that they show: where a cut falls depends
//! on the length of all the rest, so what stands beside it says nothing.

use super::forms::{closing_bracket, is_cut_uuid};
use super::shape::{has_digit, is_number};
use super::walk::is_word;
use jelly_base::text::LazyPattern;
use std::borrow::Cow;

/// What stands for the rest of a word that was cut.
const CUT: &str = "<cut>";

/// A text without the arguments of the calls that pytest explains a comparison by
/// (`+  where 2 = len([…...…])`), where it cut them, or may have: of several of
/// which one is a path, how much is left depends on the path.
pub(super) fn without_cut_arguments(text: &str) -> Cow<'_, str> {
    if !(text.contains(" where ") && text.contains(['.', '/'])) {
        return Cow::Borrowed(text);
    }
    let shortened = |line: &str| {
        let (blanks, told) = line.split_at(line.len() - line.trim_start().len());
        let told = told.strip_prefix('+')?.trim_start();
        let (word, told) = told
            .strip_prefix("where ")
            .map(|told| ("where", told))
            .or_else(|| told.strip_prefix("and ").map(|told| ("and", told)))?;
        let (value, called) = told.split_once(" = ")?;
        let value = if is_cut(value, false) { CUT } else { value };
        let (called, arguments) = called.split_at(called.find('(').unwrap_or(called.len()));
        let object = called.starts_with(|c: char| c.is_ascii_uppercase());
        // A cut may have taken a bracket along.
        let end = closing_bracket(arguments).or_else(|| arguments.rfind(')'));
        let end = end.map_or(arguments.len(), |end| end + 1);
        let (arguments, rest) = arguments.split_at(end);
        let shown = is_cut(arguments, object).then(|| format!("({CUT})"));
        let arguments = shown.as_deref().unwrap_or(arguments);
        Some(format!(
            "{blanks}+  {word} {value} = {called}{arguments}{rest}"
        ))
    };
    let lines = text
        .split('\n')
        .map(|line| shortened(line).map_or(Cow::Borrowed(line), Cow::Owned));
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Whether pytest left out the middle of what it shows, or may have: of an `object` with
/// its members, or of several values of which one is a path.
fn is_cut(shown: &str, object: bool) -> bool {
    let cuts = shown.match_indices("...").any(|(at, mark)| {
        let behind = &shown[at + mark.len()..];
        // What a list leaves out ends with its bracket.
        let ends = |c: char| " ,)]}>'\".".contains(c);
        let glued = !behind.starts_with(ends) && !behind.is_empty();
        glued || behind.starts_with(' ') && shown[..at].ends_with(|c: char| c.is_ascii_digit())
    });
    // So long is what an object shows of its members.
    let members = || object && shown.matches('=').count() >= 3;
    // The path of a URL has fewer parts.
    let is_path = |(at, _): (usize, &str)| {
        let path = shown[at + 1..].split('\'').next().unwrap_or_default();
        path.matches('/').count() >= 4
    };
    cuts || shown.contains(", ") && (members() || shown.match_indices("'/").any(is_path))
}

/// A text without the pieces of words and numbers that cuts leave: pytest's `...` in
/// the middle of a value, unittest's `[128 chars]`, and the `…` that chai and others
/// end a value with.
pub(super) fn without_cut_ends(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some((from, to)) = next_cut(text, at) {
        at = to;
        let before = &text[kept..from];
        let after = &text[to..];
        // So much of a long value has Node's `assert` before what it was held against.
        if after.starts_with(" == ") || after.starts_with(" != ") {
            let line = &text[text[..from].rfind('\n').map_or(0, |at| at + 1)..from];
            let piece = before.trim_end_matches(|c: char| c.is_alphanumeric());
            if has_digit(line) {
                out.push_str(piece.trim_end());
                out.push_str(CUT);
                kept = to;
            }
            continue;
        }
        if after.starts_with(['\'', '"', '`']) {
            if text[from..].starts_with('…')
                && let Some((len, instead)) = last_piece(before, &after[..1])
            {
                out.push_str(&before[..before.len() - len]);
                out.push_str(instead);
                kept = to;
            }
            continue;
        }
        let counted = text[from..to].starts_with('[');
        let inside = inside_pieces(&text[..from], after).filter(|_| !counted);
        if let Some(pieces) = inside {
            out.push_str(&before[..before.len() - pieces.before.min(before.len())]);
            if pieces.of_id {
                out.push_str("<id>...");
            }
            out.push_str(CUT);
            at = to + pieces.behind;
            kept = at;
            continue;
        }
        let begins = first_piece(before, after, counted);
        if counted || begins > 0 {
            out.push_str(before);
            out.push_str(if counted { "" } else { &text[from..to] });
            out.push_str(CUT);
            at = to + begins;
            kept = at;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// A template without the members of objects of which chai shows as many as there is
/// room for, `{ id: <id>, …(4) }`: how many they are depends on their lengths. What is
/// always as long stays.
pub(super) fn without_left_out(text: &str) -> Cow<'_, str> {
    const MARK: &str = "…(";
    let mut out = String::new();
    let mut kept = 0;
    for (at, _) in text.match_indices(MARK) {
        let digits = text[at + MARK.len()..].bytes();
        let end = at + MARK.len() + digits.take_while(u8::is_ascii_digit).count();
        let Some(rest) = text[end..].strip_prefix(')') else {
            continue;
        };
        let before = &text[kept..at];
        let opens = before.rfind(['{', '[']).map_or(0, |open| open + 1);
        let shown = before[opens..].trim();
        let is_all = rest.trim_start().starts_with(['}', ']']);
        out.push_str(match is_all && (shown.is_empty() || shown.contains('<')) {
            true => &before[..opens],
            false => before,
        });
        out.push('…');
        kept = end + 1;
        if is_all {
            kept += rest.len() - rest.trim_start().len();
        }
    }
    match kept {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(out + &text[kept..]),
    }
}

/// Where the next mark of a cut begins and ends.
fn next_cut(text: &str, from: usize) -> Option<(usize, usize)> {
    let mut marks = text[from..].char_indices().filter_map(|(at, c)| {
        let rest = &text[from + at..];
        let len = match c {
            '…' => '…'.len_utf8(),
            '.' if rest.starts_with("...") => rest.len() - rest.trim_start_matches('.').len(),
            '[' => left_out_len(rest)?,
            _ => return None,
        };
        Some((from + at, from + at + len))
    });
    marks.next()
}

/// How long `[128 chars]` is that a text begins with.
fn left_out_len(text: &str) -> Option<usize> {
    let inner = &text[1..];
    let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
    let named = digits > 0 && inner[digits..].starts_with(" chars]");
    named.then(|| 1 + digits + " chars]".len())
}

/// How many bytes at the end of `before`, which a quote closes, are a piece of what
/// was cut, and what stands for it: nothing of a value without a digit, which is the
/// same each time.
fn last_piece(before: &str, quote: &str) -> Option<(usize, &'static str)> {
    /// Chai shows forty characters; a text of a page ends with such a mark itself.
    const SHORTEST: usize = 30;
    let value = &before[before.rfind(quote)? + quote.len()..];
    if !has_digit(value) || value.len() < SHORTEST {
        return None;
    }
    let in_uuid = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c) || c == '-';
    let digits = &value[value.trim_end_matches(in_uuid).len()..];
    let starts = digits.match_indices('-').map(|(at, _)| at + 1);
    let mut ids = [0].into_iter().chain(starts).map(|at| &digits[at..]);
    if let Some(id) = ids.find(|id| is_cut_uuid(id)) {
        return Some((id.len(), "<id>…"));
    }
    let piece = value.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '.');
    Some((value.len() - piece.len(), CUT))
}

/// What of a value stands beside a cut in its middle.
struct Pieces {
    /// Bytes of a word before it.
    before: usize,
    /// The word holds digits, so it is one that chance made, or a number.
    of_id: bool,
    /// Bytes of a member behind it.
    behind: usize,
}

/// The pieces beside a cut in the middle of a value, if it lies within quotes or
/// brackets of a line that holds digits.
fn inside_pieces(before: &str, after: &str) -> Option<Pieces> {
    /// Bytes that are looked at.
    const FAR: usize = 400;
    const MEMBER: usize = 40;
    let before = &before[before.floor_char_boundary(before.len().saturating_sub(FAR))..];
    let line = before.rsplit('\n').next().unwrap_or(before);
    let in_word = |c: char| c.is_ascii_alphanumeric() || "-:._".contains(c);
    let word = &line[line.trim_end_matches(in_word).len()..];
    let word = word.trim_start_matches(['-', ':', '.', '_']);
    let letters = &word[word
        .trim_end_matches(|c: char| c.is_ascii_alphabetic())
        .len()..];
    let of_id = has_digit(word);
    let piece = if of_id { word } else { letters };
    let glued = !piece.is_empty() && after.starts_with(|c: char| !c.is_whitespace());
    if !glued || !has_digit(line) {
        return None;
    }
    let quotes = quotes_in(line);
    let opened = line.matches(['(', '[', '{']).count();
    let closed = line.matches([')', ']', '}']).count();
    if quotes.is_multiple_of(2) && opened <= closed {
        return None;
    }
    let next = after.split('\n').next().unwrap_or_default();
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    let in_uuid = |text: &str| {
        let mut parts = text.splitn(3, '-');
        let four = parts
            .next()
            .is_some_and(|part| part.len() == 4 && hex(part));
        four && parts.next().and_then(|part| part.get(..4)).is_some_and(hex)
    };
    // `(1...10)` is a range.
    let number = |text: &str| {
        let digits = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        digits.len() < text.len() && !digits.starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    let of_uuid = in_uuid(next) && hex(word);
    if word.bytes().all(|b| b.is_ascii_digit() || b == b'.') && number(next) && !of_uuid {
        return None;
    }
    let closes = |c: char| matches!(c, '\'' | '"' | ')' | ']' | '}' | '>');
    let member = next.find(", ").filter(|at| *at < MEMBER);
    let member = member.map(|at| next[..at].trim_end_matches(closes).len());
    let in_word = |b: &u8| is_word(*b) || b":-+.".contains(b);
    let word = next.bytes().take_while(in_word).count();
    Some(Pieces {
        before: piece.len(),
        of_id: of_id || of_uuid,
        behind: member.unwrap_or(next[..word].trim_end_matches(['.', ':', '-']).len()),
    })
}

/// How many quotes are in a line, apostrophes within words left out.
fn quotes_in(line: &str) -> usize {
    let quotes = line.match_indices(['\'', '"']).filter(|(at, quote)| {
        let in_word = line[..*at].ends_with(|c: char| c.is_alphanumeric())
            && line[at + quote.len()..].starts_with(|c: char| c.is_alphanumeric());
        *quote == "\"" || !in_word
    });
    quotes.count()
}

/// How many bytes at the beginning of `after` are a piece of what was cut: a word
/// with digits, or what is left of a row of numbers up to its bracket, as in
/// `Patient(name=..., 15, 543315))`.
fn first_piece(before: &str, after: &str, counted: bool) -> usize {
    /// Fewer digits has a number of a person.
    const LONG: usize = 5;
    const ROW: usize = 2;
    let glued = before.ends_with(|c: char| !c.is_whitespace());
    if !glued {
        return 0;
    }
    let in_row = |c: char| c.is_ascii_digit() || ", :.+-".contains(c);
    let row = &after[..after.find(|c| !in_row(c)).unwrap_or(after.len())];
    let numbers = || {
        let numbers = row.split(|c: char| !c.is_ascii_digit());
        numbers.filter(|number| !number.is_empty())
    };
    let closes = after[row.len()..].starts_with([')', ']', '}', '\'', '"']);
    let fine = numbers().any(|number| number.len() >= LONG);
    if closes && (fine || numbers().count() >= ROW) {
        return row.len();
    }
    let in_word = |b: &u8| is_word(*b) || b":-+.".contains(b);
    let word = &after[..after.bytes().take_while(in_word).count()];
    let word = word.trim_end_matches(['.', ':', '-']);
    // `1...10` is a range, and `status...404` says what is.
    match has_digit(word) && (counted || !is_number(word)) {
        true => word.len(),
        false => 0,
    }
}
/// Without the end of an address that pytest leaves of an object that it cuts:
/// `<shop.Cart...03d0>`.
pub(super) fn without_cut_objects(text: &str) -> Cow<'_, str> {
    const DOTS: &str = "...";
    const LONGEST_NAME: usize = 120;
    let mut shown = String::new();
    let mut read = 0;
    for (at, _) in text.match_indices(DOTS) {
        let near = text.ceil_char_boundary(at.saturating_sub(LONGEST_NAME));
        let is_name = text[near..at].rsplit_once('<').is_some_and(|(_, name)| {
            !name.is_empty() && name.bytes().all(|b| is_word(b) || b == b'.')
        });
        let from = at + DOTS.len();
        let rest = &text[from..];
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if is_name && (1..=12).contains(&digits) && rest[digits..].starts_with('>') {
            shown.push_str(&text[read..from]);
            read = from + digits;
        }
    }
    match read {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(shown + &text[read..]),
    }
}
/// Without the title and the place of the example that RSpec writes into the name of its
/// group: `#<RSpec::ExampleGroups::Cart "adds" (./spec/cart_spec.rb:9)>`.
pub(super) fn without_example(text: &str) -> Cow<'_, str> {
    static EXAMPLE: LazyPattern =
        LazyPattern::ascii(r#"(#<RSpec::ExampleGroups::[\w:]+) "[^\n]*?" \([^()\n]*:\d+\)>"#);
    if !text.contains("#<RSpec::ExampleGroups") {
        return Cow::Borrowed(text);
    }
    EXAMPLE.replace_all(text, "$1>")
}

/// A text without what frameworks say of a run among the values that a test compares: the
/// heading of Playwright's attempts (`Retry #1 ───`), and the version of an application of
/// Elixir before each of its places (`(shop 0.1.0) lib/shop.ex:3`).
pub(super) fn without_run(text: &str) -> Cow<'_, str> {
    static ATTEMPT: LazyPattern = LazyPattern::new(r"(?m)^\s*Retry #\d+ ─+\n?");
    static APPLICATION: LazyPattern =
        LazyPattern::new(r"\((?P<name>[a-z]\w*) \d+\.\d[\w.+-]*\) (?P<place>\S+\.(?:exs?|erl):\d)");
    let text = match text.contains("Retry #") {
        true => ATTEMPT.replace_all(text, ""),
        false => Cow::Borrowed(text),
    };
    match [".ex:", ".exs:", ".erl:"]
        .iter()
        .any(|end| text.contains(end))
    {
        true => Cow::Owned(
            APPLICATION
                .replace_all(&text, "($name) $place")
                .into_owned(),
        ),
        false => text,
    }
}
