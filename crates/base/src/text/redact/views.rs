//! A text as others may read it: without what strips take out of it, and with
//! its escapes undone.
//!
//! What a secret is hidden by comes off later, in a terminal, a browser or a
//! parser: an escape sequence in its middle, a control character, `%2B`,
//! `&#x27;`, `\u0026`. So it is looked for in each of these readings, and
//! masked where it stands in the text itself. Main function: [`views`].

use super::decoded::loose_views;
use crate::text::is_unseen;
use std::ops::Range;

/// How often escapes are undone: JSON within JSON, within a URL.
const ROUNDS: usize = 3;
/// Bytes of the longest escape that is undone.
pub(super) const ESCAPE: usize = 17;

/// A reading of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    pub(super) bytes: Vec<u8>,
    /// For each byte, where in the text stands what it was read from.
    origins: Vec<(u32, u32)>,
    pub(super) kind: ViewKind,
}

/// How near a reading is to the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ViewKind {
    /// Character by character what others make of it.
    #[default]
    Strict,
    /// It brings together what may have stood apart: short forms would be found
    /// in it by chance.
    Joined,
    /// What numbers and Base64 stand for: as above, and its bytes may be anything.
    Decoded,
}

impl View {
    /// The text as it is, of less than 4 GiB.
    fn of_text(text: &[u8]) -> Self {
        let at = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            bytes: text.to_vec(),
            origins: (0..text.len()).map(|n| (at(n), at(n + 1))).collect(),
            kind: ViewKind::Strict,
        }
    }

    /// Where in the text stands what these bytes were read from.
    pub(super) fn origin(&self, bytes: Range<usize>) -> Range<usize> {
        let begin = self.origins.get(bytes.start).map_or(0, |(begin, _)| *begin);
        let last = bytes.end.checked_sub(1).and_then(|at| self.origins.get(at));
        let end = last.map_or(begin, |(_, end)| *end);
        begin as usize..end as usize
    }

    pub(super) fn push(&mut self, byte: u8, origin: (u32, u32)) {
        self.bytes.push(byte);
        self.origins.push(origin);
    }

    /// Takes over a byte of another reading.
    pub(super) fn push_from(&mut self, other: &Self, at: usize) {
        self.push(other.bytes[at], other.origins[at]);
    }

    /// Where these bytes, of which there is one, were read from, in one.
    pub(super) fn origins_of(&self, bytes: Range<usize>) -> (u32, u32) {
        (self.origins[bytes.start].0, self.origins[bytes.end - 1].1)
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
        self.origins.truncate(length);
    }

    /// Without control characters and the marks that nobody sees.
    pub(super) fn without_controls(&self) -> Self {
        let mut kept = Self::default();
        let mut at = 0;
        while at < self.bytes.len() {
            match unseen(&self.bytes[at..]) {
                0 => {
                    kept.push(self.bytes[at], self.origins[at]);
                    at += 1;
                }
                skip => at += skip,
            }
        }
        kept
    }

    /// As a terminal shows it where a backspace goes back over a character.
    fn without_overstrikes(&self) -> Self {
        let mut kept = Self::default();
        for at in 0..self.bytes.len() {
            if self.bytes[at] == 0x08 {
                let is_rest = |byte: &u8| byte & 0xc0 == 0x80;
                let rest = kept.bytes.iter().rev().take_while(|b| is_rest(b)).count();
                kept.truncate(kept.bytes.len().saturating_sub(rest + 1));
            } else {
                kept.push_from(self, at);
            }
        }
        kept
    }

    /// Without escape sequences of terminals, as all that strips them in
    /// jelly does.
    fn without_sequences(&self) -> Self {
        let mut spelt = Self::default();
        for (at, byte) in self.bytes.iter().enumerate() {
            // The one character that begins a sequence as two do, in UTF-8.
            let meant = match (at.checked_sub(1).map(|at| self.bytes[at]), byte) {
                (Some(0xc2), 0x9b) => b'[',
                (_, 0xc2) if self.bytes.get(at + 1) == Some(&0x9b) => 0x1b,
                (_, byte) => *byte,
            };
            spelt.push(meant, self.origins[at]);
        }
        let mut kept = Self::default();
        let start = spelt.bytes.as_ptr() as usize;
        for piece in anstream::adapter::strip_bytes(&spelt.bytes) {
            // The pieces are parts of what was given.
            let at = piece.as_ptr() as usize - start;
            kept.bytes.extend_from_slice(piece);
            kept.origins.extend(&spelt.origins[at..at + piece.len()]);
        }
        kept
    }

    /// With its escapes undone, and those that come to light by that. None where it has none.
    pub(super) fn without_escapes(&self) -> Option<Self> {
        let mut last: Option<Self> = None;
        for _ in 0..ROUNDS {
            let view = last.as_ref().unwrap_or(self);
            let read = may_escape(&view.bytes).then(|| view.unescaped());
            match read {
                Some(read) if read.bytes != view.bytes => last = Some(read.without_controls()),
                Some(_) | None => break,
            }
        }
        last
    }

    /// With its escapes undone, and those that this makes left.
    fn unescaped(&self) -> Self {
        let mut read = Self::default();
        let mut at = 0;
        while at < self.bytes.len() {
            let (meant, length) = match escape(&self.bytes[at..]) {
                Some((meant, length)) => (meant, length),
                None => (Meant::Byte(self.bytes[at]), 1),
            };
            let origin = (self.origins[at].0, self.origins[at + length - 1].1);
            match meant {
                Meant::Byte(byte) => read.push(byte, origin),
                Meant::Char(c) => {
                    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                        read.push(byte, origin);
                    }
                }
            }
            at += length;
        }
        read
    }
}

/// The readings of a text that differ from it, the loose ones last.
pub(super) fn views(text: &[u8]) -> Vec<View> {
    let mut views = Vec::new();
    let has_controls = has_unseen(text);
    let mut last = View::of_text(text);
    let mut first = None;
    if has_controls {
        let plain = last.without_sequences().without_controls();
        let seen = last.without_controls();
        if seen.bytes != plain.bytes {
            views.push(seen);
        }
        if text.contains(&0x08) {
            let shown = last.without_overstrikes().without_sequences();
            views.push(shown.without_controls());
        }
        last = plain;
        views.push(last.clone());
    }
    for _ in 0..ROUNDS {
        if !may_escape(&last.bytes) {
            break;
        }
        let read = last.unescaped();
        if read.bytes == last.bytes {
            break;
        }
        let plain = match has_unseen(&read.bytes) {
            true => read.without_sequences().without_controls(),
            false => read,
        };
        views.push(plain.clone());
        let before = std::mem::replace(&mut last, plain);
        first.get_or_insert(before);
    }
    views.extend(loose_views(first.as_ref(), &last));
    views
}

/// A text without control characters and the marks that nobody sees.
pub(super) fn without_unseen(text: &str) -> String {
    let seen = View::of_text(text.as_bytes()).without_controls().bytes;
    String::from_utf8_lossy(&seen).into_owned()
}

/// Whether an escape or a character begins here that the next bytes may end.
pub(super) fn may_go_on(bytes: &[u8]) -> bool {
    let is_whole = || escape(bytes).is_some() || unseen(bytes) > 0;
    bytes
        .first()
        .is_some_and(|byte| begins_escape(*byte) || *byte >= 0xc2)
        && !is_whole()
}

/// Whether an escape may begin with this byte.
fn begins_escape(byte: u8) -> bool {
    matches!(byte, b'%' | b'&' | b'\\' | b'#')
}

fn may_escape(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| begins_escape(*byte))
}

fn has_unseen(bytes: &[u8]) -> bool {
    (0..bytes.len()).any(|at| bytes[at] >= 0x7f || bytes[at] < b' ')
        && (0..bytes.len()).any(|at| unseen(&bytes[at..]) > 0)
}

/// How many bytes at the beginning are a character that is taken out of what
/// is shown, or that nobody sees.
fn unseen(bytes: &[u8]) -> usize {
    match bytes {
        [b'\n' | b'\t', ..] => 0,
        [0..=0x1f | 0x7f, ..] => 1,
        [0xc2..=0xf4, ..] => first_char(bytes)
            .filter(|c| is_unseen(*c))
            .map_or(0, char::len_utf8),
        _ => 0,
    }
}

/// The character of several bytes that the bytes begin with.
fn first_char(bytes: &[u8]) -> Option<char> {
    let length = match bytes.first()? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    let text = std::str::from_utf8(bytes.get(..length)?).ok()?;
    text.chars().next()
}

enum Meant {
    Byte(u8),
    Char(char),
}

/// What an escape at the beginning means, and its length.
fn escape(bytes: &[u8]) -> Option<(Meant, usize)> {
    match bytes {
        [b'%', b'u' | b'U', rest @ ..] => Some((Meant::Char(char::from_u32(hex(rest, 4)?)?), 6)),
        [b'%', rest @ ..] => Some((Meant::Byte(hex(rest, 2)? as u8), 3)),
        [b'&', rest @ ..] => entity(rest),
        // As some writers of reports spell out what XML can't hold.
        [b'#', b'x', b'1', b'B' | b'b', ..] => Some((Meant::Byte(0x1b), 4)),
        [b'\\', rest @ ..] => backslash(rest),
        _ => None,
    }
}

/// `digits` hexadecimal digits at the beginning.
fn hex(bytes: &[u8], digits: usize) -> Option<u32> {
    let text = std::str::from_utf8(bytes.get(..digits)?).ok()?;
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(text, 16).ok())?
}

/// What follows a backslash, in JSON, in the languages that grew out of C and
/// in shells.
fn backslash(rest: &[u8]) -> Option<(Meant, usize)> {
    let simple = |byte| Some((Meant::Byte(byte), 2));
    match rest {
        [b'u', b'{', digits @ ..] => {
            let end = digits.iter().take(7).position(|byte| *byte == b'}')?;
            Some((Meant::Char(char::from_u32(hex(digits, end)?)?), end + 4))
        }
        [b'u', digits @ ..] => {
            let high = hex(digits, 4)?;
            if let Some(c) = char::from_u32(high) {
                return Some((Meant::Char(c), 6));
            }
            let low = match digits.get(4..)? {
                [b'\\', b'u', digits @ ..] => hex(digits, 4)?,
                _ => return None,
            };
            let pair = char::decode_utf16([high as u16, low as u16]).next()?.ok()?;
            Some((Meant::Char(pair), 12))
        }
        [b'U', digits @ ..] => Some((Meant::Char(char::from_u32(hex(digits, 8)?)?), 10)),
        [b'x', digits @ ..] => Some((Meant::Byte(hex(digits, 2)? as u8), 4)),
        [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
            let digit = |byte: &u8| byte - b'0';
            let byte = digit(a) << 6 | digit(b) << 3 | digit(c);
            Some((Meant::Byte(byte), 4))
        }
        [b'n', ..] => simple(b'\n'),
        [b't', ..] => simple(b'\t'),
        [b'r', ..] => simple(b'\r'),
        [b'e', ..] => simple(0x1b),
        [b'b', ..] => simple(0x08),
        [b'f', ..] => simple(0x0c),
        [b'a', ..] => simple(0x07),
        [b'v', ..] => simple(0x0b),
        [b'0', ..] => simple(0),
        [byte, ..] if byte.is_ascii_punctuation() || *byte == b' ' => simple(*byte),
        _ => None,
    }
}

/// Names of characters in HTML: those of ASCII.
const ENTITIES: &[(&[u8], u8)] = &[
    (b"amp", b'&'),
    (b"lt", b'<'),
    (b"gt", b'>'),
    (b"quot", b'"'),
    (b"apos", b'\''),
    (b"sol", b'/'),
    (b"bsol", b'\\'),
    (b"plus", b'+'),
    (b"equals", b'='),
    (b"num", b'#'),
    (b"excl", b'!'),
    (b"dollar", b'$'),
    (b"percnt", b'%'),
    (b"lpar", b'('),
    (b"rpar", b')'),
    (b"ast", b'*'),
    (b"comma", b','),
    (b"period", b'.'),
    (b"colon", b':'),
    (b"semi", b';'),
    (b"quest", b'?'),
    (b"commat", b'@'),
    (b"lsqb", b'['),
    (b"lbrack", b'['),
    (b"rsqb", b']'),
    (b"rbrack", b']'),
    (b"Hat", b'^'),
    (b"lowbar", b'_'),
    (b"grave", b'`'),
    (b"lcub", b'{'),
    (b"lbrace", b'{'),
    (b"rcub", b'}'),
    (b"rbrace", b'}'),
    (b"vert", b'|'),
    (b"verbar", b'|'),
    (b"nbsp", b' '),
    (b"Tab", b'\t'),
    (b"NewLine", b'\n'),
    (b"UnderBar", b'_'),
    (b"VerticalLine", b'|'),
    (b"midast", b'*'),
    (b"DiacriticalGrave", b'`'),
];

/// Names of characters in HTML that nobody sees.
const UNSEEN_ENTITIES: &[&[u8]] = &[
    b"shy",
    b"zwj",
    b"zwnj",
    b"lrm",
    b"rlm",
    b"ZeroWidthSpace",
    b"NoBreak",
    b"ApplyFunction",
    b"af",
    b"InvisibleTimes",
    b"it",
    b"InvisibleComma",
    b"ic",
];

/// What follows `&`: `amp;`, `#39;`, `#x27;`, and `#39` without an end, which
/// browsers read as well.
fn entity(rest: &[u8]) -> Option<(Meant, usize)> {
    let (radix, digits) = match rest {
        [b'#', b'x' | b'X', digits @ ..] => (16, digits),
        [b'#', digits @ ..] => (10, digits),
        name => return named_entity(name),
    };
    let digit = |byte: &&u8| char::from(**byte).is_digit(radix);
    let count = digits.iter().take(ESCAPE - 4).take_while(digit).count();
    let text = std::str::from_utf8(&digits[..count]).ok()?;
    let meant = char::from_u32(u32::from_str_radix(text, radix).ok()?)?;
    let end = usize::from(digits.get(count) == Some(&b';'));
    if end == 0 && meant.is_control() {
        return None;
    }
    let length = 1 + (rest.len() - digits.len()) + count + end;
    Some((Meant::Char(meant), length))
}

fn named_entity(rest: &[u8]) -> Option<(Meant, usize)> {
    let end = rest
        .iter()
        .take(ESCAPE - 1)
        .position(|byte| *byte == b';')?;
    let name = &rest[..end];
    let known = ENTITIES.iter().find(|(known, _)| *known == name);
    let meant = match known {
        Some((_, byte)) => *byte,
        // As a control character, which is taken out.
        None if UNSEEN_ENTITIES.contains(&name) => 0,
        None => return None,
    };
    Some((Meant::Byte(meant), end + 2))
}

#[cfg(test)]
mod tests {
    use super::{ViewKind, views};

    fn readings(text: &str) -> Vec<String> {
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        views(text.as_bytes())
            .iter()
            .filter(|view| view.kind == ViewKind::Strict)
            .map(|view| lossy(&view.bytes))
            .collect()
    }

    #[test]
    fn a_text_is_read_as_strips_and_parsers_leave_it() {
        for (text, read) in [
            ("a\x1b[31mb\x1b[0mc", "abc"),
            ("a\x1b]8;;http://x\x07b", "ab"),
            ("a\rb\x08c\x7fd\0e", "abcde"),
            ("xä\x08\x08ay\x08b", "ab"),
            ("a\u{200b}b\u{202e}c\u{feff}d\u{85}e", "abcde"),
            ("a%2Bb", "a+b"),
            ("a%252Bb", "a+b"),
            ("a&#x27;b&#34;c&apos;d&amp;e", "a'b\"c'd&e"),
            (r"a\u0026b\x26c\046d\/e\'f", "a&b&c&d/e'f"),
            (r"a\ud83d\ude00b", "a😀b"),
            (r"a\u{26}b\U00000026c", "a&b&c"),
            (r"a\u001b[31mb", "ab"),
            (r"a\bb\fc\ad\ve\0f", "abcdef"),
            ("a#x1B[31mb", "ab"),
            ("a&#90&#113b", "aZqb"),
            ("a&UnderBar;b&shy;c&ZeroWidthSpace;d%u005ae", "a_bcdZe"),
            (
                "a\u{e0100}b\u{180b}c\u{1bca0}d\u{1d173}e\u{34f}f\u{fff9}g\u{2028}h",
                "abcdefgh",
            ),
            (r#"a\\\"b"#, "a\\\"b"),
        ] {
            assert!(
                readings(text).contains(&read.to_owned()),
                "{text}: {:?}",
                readings(text)
            );
        }
    }

    #[test]
    fn a_plain_text_has_no_other_reading() {
        assert!(readings("plain, näive\n\ttext").is_empty());
        assert!(readings("50% of 3 & more C#").is_empty());
    }

    #[test]
    fn what_was_read_is_found_in_the_text() {
        let text = "x\x1b[1ma\x1b[0m%2b\x1b[2m";
        let strict = views(text.as_bytes())
            .into_iter()
            .rfind(|view| view.kind == ViewKind::Strict);
        let view = strict.unwrap();
        assert_eq!(view.bytes, b"xa+");
        assert_eq!(&text[view.origin(1..3)], "a\x1b[0m%2b");
    }
}
