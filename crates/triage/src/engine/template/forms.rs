//! What the form alone tells of a piece of text: addresses, ids in base 64, what a
//! writer cut, what a database stored.

use super::walk::{ID, Walk, has_digit, is_number, is_word};
use std::net::Ipv6Addr;

/// Bytes of a statement that are looked at for its first word.
const STATEMENT: usize = 2_000;

impl Walk<'_> {
    /// How much of the text is what a cut left of a value in quotes, before the cut
    /// or behind it: where it falls depends on the length of all the rest. pytest
    /// and others put three dots between, without a blank.
    pub(super) fn cut_value(&self) -> Option<usize> {
        const CUT: &str = "...";
        const QUOTES: [char; 2] = ['\'', '"'];
        let rest = self.rest();
        let in_value = |b: &u8| is_word(*b) || b":-+".contains(b);
        let before = self.out.trim_end_matches('.');
        let dotted = self.out.len() - before.len() >= CUT.len();
        if dotted && (before.ends_with(ID) || before.ends_with([':', ',', ' '])) {
            // A fraction goes on behind its point.
            let len = rest
                .bytes()
                .take_while(|b| in_value(b) || *b == b'.')
                .count();
            let closes = before.ends_with(ID) || rest[len..].starts_with(QUOTES);
            return (closes && has_digit(&rest[..len])).then_some(len);
        }
        if !self.text[..self.at].ends_with(QUOTES) {
            return None;
        }
        let len = rest.bytes().take_while(in_value).count();
        let after = rest[len..].strip_prefix(CUT)?.trim_start_matches('.');
        let next = after.bytes().take_while(in_value).count();
        // `'Loading...done'` is a sentence.
        let cut = next > 0 && (has_digit(&after[..next]) || has_digit(&rest[..len]));
        cut.then_some(len)
    }

    /// How much of the text, from a bracket or a quote on, is what a database was
    /// given to store, as an error of a constraint tells it.
    pub(super) fn stored_values(&self) -> Option<usize> {
        const MARKS: [(&str, char); 6] = [
            ("ailing row contains ", ')'),
            (") values ", ')'),
            (")=", ')'),
            ("uplicate key value is ", ')'),
            ("uplicate entry ", '\''),
            (" dup key: ", '}'),
        ];
        let before = &self.text[..self.at];
        // Asked for where it is needed: a line may be long, and full of brackets.
        let line = || self.rest().lines().next();
        // Python writes a moment so, from a year down to a part of a second, which
        // nobody chooses.
        if before.ends_with("datetime.datetime") {
            let parts = self.rest()[1..].split([')', '.', 't', '\n']).next()?;
            let numbers = parts.split(", ").filter(|part| is_number(part)).count();
            let chance = numbers > if self.compares { 6 } else { 5 };
            return chance.then_some(1 + parts.trim_end_matches([',', ' ']).len());
        }
        if self.compares {
            return None;
        }
        // SQLAlchemy
        if self.rest().starts_with("[parameters: ") {
            return line()?.rfind(']');
        }
        let is_marked = |mark: &&(&str, char)| {
            let from = before.len().checked_sub(mark.0.len());
            let said = from.and_then(|from| before.get(from..));
            said.is_some_and(|said| said.eq_ignore_ascii_case(mark.0))
        };
        let (mark, closes) = MARKS.iter().find(is_marked)?;
        let line = line()?;
        let end = match closes {
            '\'' => 1 + line.get(1..)?.find("' for ")?,
            // A name of a column stands in brackets of its own.
            ')' => closing_bracket(line)?,
            _ => line.find(*closes)?,
        };
        // A value that a key lacks, and what a function was given, is the cause.
        let stored = match *mark {
            ")=" => line[end..].contains("already exists"),
            ") values " => {
                let far = before.floor_char_boundary(before.len().saturating_sub(STATEMENT));
                before[far..].to_ascii_lowercase().contains("insert into ")
            }
            _ => true,
        };
        (end > 1 && stored).then_some(end)
    }
}

/// Where the bracket closes that a text begins with.
pub(super) fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.bytes().position(|b| {
        match b {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// How long the id in base 64 is that a text begins with, behind the word for one.
pub(super) fn base64_id(text: &str) -> Option<usize> {
    const SHORTEST: usize = 20;
    let is_digit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let id = &text[..text.bytes().take_while(is_digit).count()];
    let has = |is: fn(&u8) -> bool| id.as_bytes().iter().any(is);
    let mixed =
        has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    (id.len() >= SHORTEST && mixed).then_some(id.len())
}

/// How long the beginning of a UUID is that a writer cut, as in `0f84026b-1919-4…`.
pub(super) fn cut_uuid(text: &str) -> Option<usize> {
    const SHORTEST: usize = 9;
    let in_uuid = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b) || *b == b'-';
    let id = &text[..text.bytes().take_while(in_uuid).count()];
    let hyphens = |at: usize, b: u8| matches!(at, 8 | 13 | 18 | 23) == (b == b'-');
    let formed = id.bytes().enumerate().all(|(at, b)| hyphens(at, b));
    let cut = text[id.len()..].starts_with('…') || text[id.len()..].starts_with("...");
    (formed && cut && (SHORTEST..36).contains(&id.len())).then_some(id.len())
}

/// How long the address is that `text` begins with, if a test made it up: of a
/// domain that is nobody's (RFC 2606), and of a name with a number or of two parts.
pub(super) fn invented_address(text: &str) -> Option<usize> {
    let in_local = |b: u8| b.is_ascii_alphanumeric() || b"._+-".contains(&b);
    let local = &text[..text.bytes().take_while(|b| in_local(*b)).count()];
    let domain = text[local.len()..].strip_prefix('@')?;
    let reserved = ["example.com", "example.net", "example.org"];
    let domain = reserved.into_iter().find(|of| domain.starts_with(of))?;
    let len = local.len() + 1 + domain.len();
    let ends = !text[len..].starts_with(|c: char| c.is_alphanumeric() || c == '-');
    let invented = has_digit(local) || local.contains(['.', '_', '+']);
    (ends && invented).then_some(len)
}

/// How long what `text` begins with is, if that is bytes in base 64 which are
/// filled up, as in `b'ql30EV0UpGT7TItKXfGX=='`.
pub(super) fn base64_len(text: &str) -> Option<usize> {
    const SHORTEST: usize = 12;
    let is_digit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let digits = text.bytes().take_while(|b| is_digit(b)).count();
    let filled = text[digits..].len() - text[digits..].trim_start_matches('=').len();
    let has = |is: fn(&u8) -> bool| text.as_bytes()[..digits].iter().any(is);
    let mixed =
        has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    let ends = !text[digits + filled..]
        .starts_with(|c: char| c.is_alphanumeric() || "$<[{'\"(".contains(c));
    let quoted = text[digits + filled..].starts_with(['\'', '"']);
    (digits >= SHORTEST && (1..=2).contains(&filled) && mixed && (ends || quoted))
        .then_some(digits + filled)
}

/// How long numbers with colons between them are, three and more, that are no
/// time of day: steps of a search, as in `path: "43:6:3"`.
pub(super) fn steps_len(text: &str) -> Option<usize> {
    let len = text
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b':')
        .count();
    let steps = text[..len].trim_end_matches(':');
    let ends = !text[len..].starts_with(|c: char| c.is_alphanumeric() || c == '.');
    let numbers = steps.split(':').all(is_number) && steps.matches(':').count() > 1;
    (numbers && ends).then_some(steps.len())
}

/// The length of `https://`, if `text` begins with such.
pub(super) fn scheme_len(text: &str) -> Option<usize> {
    const LONGEST: usize = 24;
    let scheme = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+-.:".contains(b);
    let len = text.bytes().take(LONGEST).take_while(scheme).count();
    let named = len > 2 && text[..len].ends_with(':') && text[len..].starts_with("//");
    (named && !text.starts_with("file:")).then_some(len + 2)
}

/// Addresses that are written with colons, of networks and of their devices,
/// and whether one is to be kept.
pub(super) fn colons(text: &str) -> Option<(usize, bool)> {
    let address = |b: &u8| b.is_ascii_hexdigit() || b":.".contains(b);
    let len = text.bytes().take(46).take_while(address).count();
    let address = &text[..len];
    if address.matches(':').take(2).count() < 2
        || text[len..].starts_with(|c: char| c.is_alphanumeric())
    {
        return None;
    }
    let device = address.split(':').count() == 6 && address.split(':').all(|part| part.len() == 2);
    let ip = address.parse::<Ipv6Addr>().ok();
    (device || ip.is_some()).then(|| {
        (
            len,
            ip.is_some_and(|ip| ip.is_loopback() || ip.is_unspecified()),
        )
    })
}
