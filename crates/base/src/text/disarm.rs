//! Words of others that the console of a CI would obey, made harmless where
//! they are written.
//!
//! A runner reads what a job prints for commands: GitHub Actions takes a line
//! that begins with `::` after blanks, and `##[` anywhere; Azure Pipelines
//! `##vso[` and `##[`, TeamCity `##teamcity[`. What a server or a report says
//! must not command it. Main types: [`Notation`], [`Disarming`].
//!
//! In JSON, what is not seen, or turns what is shown around, is written by its
//! escape too: a reader has the same text, and who looks at the bytes sees it.
//!
//! Sources: GitHub's "Workflow commands for GitHub Actions", Azure Pipelines'
//! "Logging commands", TeamCity's "Service messages".

use super::harmless::is_unseen;
use memchr::{memchr3, memmem};
use std::borrow::Cow;
use std::io::{self, Write};

/// The longest name between `##` and `[` that is taken for a command's.
const NAME: usize = 64;

/// What a text is written in, by which its reader undoes what is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// For people: a mark is put in between, and stays.
    Plain,
    Json,
    /// Text and attributes; sections of `CDATA` have no escape.
    Xml,
}

/// `text` in which no console finds a command.
#[must_use]
pub fn disarmed(text: &str, notation: Notation) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_shown = notation != Notation::Json || !bytes.iter().any(|byte| may_be_unseen(*byte));
    if is_shown && memmem::find(bytes, b"##").is_none() && memmem::find(bytes, b"::").is_none() {
        return Cow::Borrowed(text);
    }
    let mut disarmer = Disarmer::new(notation);
    let mut out = Vec::with_capacity(bytes.len() + 16);
    disarmer.push(bytes, &mut out);
    disarmer.finish(&mut out);
    // Only ASCII is put in, and that between characters.
    match String::from_utf8(out) {
        Ok(same) if same == text => Cow::Borrowed(text),
        Ok(other) => Cow::Owned(other),
        Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// Disarms what is written through it; what is held back is written at the
/// latest when this is dropped.
#[derive(Debug)]
pub struct Disarming<W: Write> {
    inner: W,
    disarmer: Disarmer,
    ready: Vec<u8>,
}

impl<W: Write> Disarming<W> {
    pub fn new(inner: W, notation: Notation) -> Self {
        Self {
            inner,
            disarmer: Disarmer::new(notation),
            ready: Vec::new(),
        }
    }

    /// Writes what was held back.
    ///
    /// # Errors
    /// It can't be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.disarmer.finish(&mut self.ready);
        self.inner.write_all(&self.ready)?;
        self.inner.flush()
    }
}

impl<W: Write> Write for Disarming<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.ready.clear();
        self.disarmer.push(bytes, &mut self.ready);
        self.inner.write_all(&self.ready)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for Disarming<W> {
    fn drop(&mut self) {
        // Who wants to know finishes it.
        let _ = self.finish();
    }
}

/// [`disarmed`] for a text that comes in pieces. The end of a piece that may
/// begin a command is held back until more comes.
#[derive(Debug)]
pub struct Disarmer {
    notation: Notation,
    /// Nothing but blanks since the line began. In JSON no string begins one.
    at_start: bool,
    held: Vec<u8>,
}

/// What a text begins with.
enum Beginning {
    /// So many bytes to be copied.
    Harmless(usize),
    /// `##`, a name of so many bytes, `[`.
    Mark(usize),
    /// `::` where a line begins.
    Colons,
    /// A character that is not seen, in JSON.
    Unseen(char),
    /// It depends on what comes.
    Open,
}

impl Disarmer {
    #[must_use]
    pub fn new(notation: Notation) -> Self {
        Self {
            notation,
            at_start: notation != Notation::Json,
            held: Vec::new(),
        }
    }

    /// Adds to `out` what the bytes come to.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let joined;
        let mut rest = if self.held.is_empty() {
            bytes
        } else {
            joined = [&self.held, bytes].concat();
            self.held.clear();
            &joined
        };
        while !rest.is_empty() {
            let taken = match self.beginning(rest) {
                Beginning::Open => {
                    self.held.extend_from_slice(rest);
                    return;
                }
                Beginning::Harmless(length) => {
                    out.extend_from_slice(&rest[..length]);
                    length
                }
                Beginning::Mark(name) => {
                    let marks: &[u8] = match self.notation {
                        Notation::Plain => b"## ",
                        Notation::Json => br"#\u0023",
                        Notation::Xml => b"#&#35;",
                    };
                    out.extend_from_slice(marks);
                    out.extend_from_slice(&rest[2..name + 3]);
                    name + 3
                }
                Beginning::Colons => {
                    out.extend_from_slice(match self.notation {
                        Notation::Plain => b"| ::",
                        Notation::Json => b"::",
                        Notation::Xml => b"&#58;:",
                    });
                    2
                }
                Beginning::Unseen(character) => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                    }
                    character.len_utf8()
                }
            };
            rest = &rest[taken..];
        }
    }

    /// Adds what was held back: nothing comes after it.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
    }

    fn beginning(&mut self, rest: &[u8]) -> Beginning {
        if self.at_start {
            match blank(rest) {
                Some(0) => self.at_start = false,
                Some(length) => return Beginning::Harmless(length),
                None => return Beginning::Open,
            }
            match rest {
                [b':'] => {
                    self.at_start = true;
                    return Beginning::Open;
                }
                [b':', b':', ..] => return Beginning::Colons,
                _ => {}
            }
        }
        if rest[0] == b'#' {
            return mark(rest);
        }
        if self.notation == Notation::Json {
            return in_json(rest);
        }
        let length = memchr3(b'#', b'\n', b'\r', rest).unwrap_or(rest.len());
        match rest.get(length) {
            Some(b'\n' | b'\r') => {
                self.at_start = self.notation != Notation::Json;
                Beginning::Harmless(length + 1)
            }
            Some(_) | None => Beginning::Harmless(length),
        }
    }
}

/// Of a text in JSON that begins with no `#`.
fn in_json(rest: &[u8]) -> Beginning {
    if !may_be_unseen(rest[0]) {
        let stops = |byte: &u8| *byte == b'#' || may_be_unseen(*byte);
        return Beginning::Harmless(rest.iter().position(stops).unwrap_or(rest.len()));
    }
    let Some(bytes) = rest.get(..utf8_length(rest[0])) else {
        return Beginning::Open;
    };
    let character = std::str::from_utf8(bytes).ok();
    match character.and_then(|text| text.chars().next()) {
        Some(character) if is_unseen(character) => Beginning::Unseen(character),
        Some(character) => Beginning::Harmless(character.len_utf8()),
        // No UTF-8, and so no JSON.
        None => Beginning::Harmless(1),
    }
}

/// Whether a character that begins so may be one that is not seen. What JSON
/// has to escape in any case is none of them.
fn may_be_unseen(byte: u8) -> bool {
    byte >= 0x7f
}

fn utf8_length(first: u8) -> usize {
    match first {
        ..0xc0 => 1,
        0xf0.. => 4,
        0xe0.. => 3,
        _ => 2,
    }
}

/// The bytes of the white space that a text begins with, as one character; none
/// where more is needed to tell.
fn blank(text: &[u8]) -> Option<usize> {
    let length = match text[0] {
        first if first.is_ascii() => return Some(usize::from(char::from(first).is_whitespace())),
        first => utf8_length(first),
    };
    let character = std::str::from_utf8(text.get(..length)?).ok();
    let is_blank = character.is_some_and(|text| text.trim_start().is_empty());
    Some(if is_blank { length } else { 0 })
}

/// What a text that begins with `#` begins with.
fn mark(text: &[u8]) -> Beginning {
    match text {
        [_] => Beginning::Open,
        [_, b'#', after @ ..] => {
            let of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
            let name = after
                .iter()
                .take(NAME + 1)
                .take_while(|b| of_name(b))
                .count();
            match after.get(name) {
                Some(b'[') => Beginning::Mark(name),
                None if name <= NAME => Beginning::Open,
                Some(_) | None => Beginning::Harmless(1),
            }
        }
        _ => Beginning::Harmless(1),
    }
}

#[cfg(test)]
mod tests {
    use super::{Disarming, Notation, disarmed};
    use proptest::prelude::*;
    use std::io::Write;

    fn plain(text: &str) -> String {
        disarmed(text, Notation::Plain).into_owned()
    }

    #[test]
    fn what_a_console_would_obey_is_marked() {
        assert_eq!(plain("a\n  ::add-mask::x\n"), "a\n  | ::add-mask::x\n");
        assert_eq!(plain("::stop-commands::x"), "| ::stop-commands::x");
        assert_eq!(plain("a\r\u{a0}\u{3000}::x"), "a\r\u{a0}\u{3000}| ::x");
        assert_eq!(plain("a ##[error]b"), "a ## [error]b");
        assert_eq!(
            plain("###vso[task.setvariable]"),
            "### vso[task.setvariable]"
        );
        assert_eq!(plain("é##teamcity['x']##[y]"), "é## teamcity['x']## [y]");
    }

    #[test]
    fn what_none_obeys_is_left_alone() {
        for text in [
            "a::b\n", ":a", "## [a]\n", "a ##b c[", "#[a]", "", "##", ":", "é", "\n",
        ] {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn readers_of_json_and_xml_undo_it() {
        let said = "##vso[x] ##[error]\n  ::debug::y";
        let json = serde_json::to_string_pretty(&vec![said]).unwrap();
        let shown = disarmed(&json, Notation::Json);
        assert!(!shown.contains("##"), "{shown}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), [said]);
        assert_eq!(
            disarmed("<a b='##vso[x]'>\n ::y</a>", Notation::Xml),
            "<a b='#&#35;vso[x]'>\n &#58;:y</a>"
        );
    }

    #[test]
    fn in_json_what_is_not_seen_is_escaped() {
        let said = "a\u{202e}b\u{9b}c\u{85}d\u{2028}\u{200b}\u{7f}\u{e0041}é👩\u{200d}💻";
        let json = serde_json::to_string(said).unwrap();
        let shown = disarmed(&json, Notation::Json);
        assert_eq!(
            shown,
            r#""a\u202eb\u009bc\u0085d\u2028\u200b\u007f\udb40\udc41é👩\u200d💻""#
        );
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), said);
        assert_eq!(plain(said), said, "people's texts are made by `sanitize`");
    }

    proptest! {
        #[test]
        fn no_piece_hides_a_command(
            text in "[#:a\\[ \n\r\u{a0}\u{3000}é\u{202e}\u{9b}\u{e0041}]{0,40}",
            cuts in proptest::collection::vec(1_usize..6, 0..20),
        ) {
            for notation in [Notation::Plain, Notation::Json, Notation::Xml] {
                let mut out = Vec::new();
                let mut writer = Disarming::new(&mut out, notation);
                let mut rest = text.as_bytes();
                for cut in &cuts {
                    let (piece, after) = rest.split_at((*cut).min(rest.len()));
                    writer.write_all(piece).unwrap();
                    writer.flush().unwrap();
                    rest = after;
                }
                writer.write_all(rest).unwrap();
                drop(writer);
                let out = String::from_utf8(out).unwrap();
                prop_assert_eq!(&out, &*disarmed(&text, notation));
                prop_assert_eq!(&*disarmed(&out, notation), &out);
                for line in out.split(['\n', '\r']) {
                    let is_string = notation == Notation::Json;
                    prop_assert!(is_string || !line.trim_start().starts_with("::"), "{:?}", out);
                    prop_assert!(!line.contains("##[") && !line.contains("##a["), "{:?}", out);
                }
            }
        }
    }
}
