//! Characters that look like a blank or like nothing, as texts copied from pages and chats have
//! them: a program takes them for letters of a name.

use super::entries::Change;
use super::prescribe::Doctor;
use super::seen::Seen;
use super::steps::Remedy;
use crate::doctor::launcher::{SHELLS, is_flag};
use jelly_base::model::Phase;
use std::path::Path;

/// Characters that take no place: those of writing directions, and marks where a word may break
/// or must not.
const UNSEEN: &[char] = &[
    '\u{ad}', '\u{200b}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}',
    '\u{202e}', '\u{2060}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}', '\u{feff}',
];

/// A blank that is none to a shell.
fn is_odd_blank(c: char) -> bool {
    c.is_whitespace() && !c.is_ascii()
}

/// The text with plain blanks, and without what nobody sees.
pub(super) fn plain_blanks(text: &str) -> String {
    let kept = text.chars().filter(|c| !UNSEEN.contains(c));
    kept.map(|c| if is_odd_blank(c) || c == '\r' { ' ' } else { c })
        .collect()
}

/// What a character that is taken for a blank, or for nothing, is called.
fn called(c: char) -> String {
    match c {
        ' ' => "a blank".to_owned(),
        '\n' => "a line end".to_owned(),
        '\r' => "a carriage return".to_owned(),
        '\t' => "a tab".to_owned(),
        '\u{a0}' | '\u{202f}' => format!("a no-break space (U+{:04X})", u32::from(c)),
        c if c.is_whitespace() => format!("a blank of another kind (U+{:04X})", u32::from(c)),
        c => format!("a character that nobody sees (U+{:04X})", u32::from(c)),
    }
}

/// What stands at an end of a text and belongs to no name.
pub(super) fn blank_at_an_end(text: &str) -> String {
    let is_blank = |c: &char| c.is_whitespace();
    let end = text.chars().next_back().filter(is_blank);
    let blank = end.or_else(|| text.chars().next().filter(is_blank));
    called(blank.unwrap_or(' '))
}

impl Doctor<'_> {
    /// A character in a command or an argument that nobody sees, or that a shell takes for a
    /// letter.
    pub(super) fn odd_character(&self) -> Option<Seen> {
        let started = self.started;
        let is_started = self.context.failure.phase == Some(Phase::Handshake);
        let is_there = |text: &str| self.context.sight.is_there(&self.whole(text));
        let own = &*started.command.text;
        let is_line = |text: &str| text.contains(is_odd_blank);
        let (at, change) = if is_started {
            let in_shell = SHELLS.contains(&started.program());
            let is_wrong = |(index, text): (usize, &str)| {
                let plain = plain_blanks(text);
                let plain = plain.trim();
                let is_sure = || is_flag(plain) || index < started.program_end() || is_there(plain);
                let is_unseen = text.contains(UNSEEN) && is_sure();
                // Its complaint repeats the word.
                let is_word = || {
                    let mut lines = self.stderr.lines();
                    lines.any(|line| line.contains("not found") && is_line(line))
                };
                !is_there(text) && (is_unseen || in_shell && is_line(text) && is_word())
            };
            let texts = started.texts();
            let wrong = texts.iter().copied().enumerate().position(is_wrong)?;
            let mut words = started.words();
            words[wrong] = started.shown(plain_blanks(texts[wrong]).trim());
            let change = started.args(&words).at(self.at_arg(wrong));
            (texts[wrong], change)
        } else {
            let is_odd = own.contains(UNSEEN) || is_line(own);
            let words = shlex::split(&plain_blanks(own)).filter(|_| is_odd && !is_there(own))?;
            // A folder may be called so.
            let whole = self.whole(own);
            let mut above = whole.ancestors().skip(1);
            let is_named = |folder: &Path| {
                let name = folder.file_name().and_then(|name| name.to_str());
                name.is_some_and(|name| name.contains(UNSEEN) || name.contains(is_odd_blank))
            };
            if above.any(|folder| is_named(folder) && self.context.sight.is_there(folder)) {
                return None;
            }
            (own, self.command_of(&words)?)
        };
        let odd = at
            .chars()
            .find(|c| is_odd_blank(*c) || UNSEEN.contains(c))?;
        let shown = started.shown(plain_blanks(at).trim());
        let remedy = Remedy::new()
            .what(format!("`{shown}` is written with {}.", called(odd)))
            .why("Programs take it for a letter, and look for a name that has it.")
            .write("Write it without,", change);
        let root_cause = match is_started {
            true => "invalid_argument",
            false => "command_not_found",
        };
        Some(Seen::new("doctor/odd-character", root_cause, remedy))
    }

    /// The words of a command line in place of the command.
    fn command_of(&self, words: &[String]) -> Option<Change> {
        let (program, more) = words.split_first()?;
        if more.is_empty() {
            return Some(self.started.command(&self.started.shown(program)));
        }
        let more = more.iter().map(|word| self.started.shown(word));
        let all: Vec<String> = more.chain(self.started.words()).collect();
        Some(self.started.command_and_args(program, &all))
    }
}

#[cfg(test)]
mod tests {
    use super::{blank_at_an_end, plain_blanks};

    #[test]
    fn what_looks_like_a_blank_becomes_one() {
        assert_eq!(plain_blanks("a\u{a0}b\u{202f}"), "a b ");
        assert_eq!(plain_blanks("\u{feff}npx\u{200b} a"), "npx a");
        // A part of what is written so.
        assert_eq!(plain_blanks("👩\u{200d}💻"), "👩\u{200d}💻");
    }

    #[test]
    fn a_blank_is_called_what_it_is() {
        for (text, name) in [
            ("s.js ", "a blank"),
            ("s.js\n", "a line end"),
            ("\ts.js", "a tab"),
            ("s.js\u{a0}", "a no-break space (U+00A0)"),
            ("s.js\u{3000}", "a blank of another kind (U+3000)"),
        ] {
            assert_eq!(blank_at_an_end(text), name);
        }
    }
}
