//! What is open at a place in a shell's line: quotes, substitutions, brackets.
//!
//! Main type: [`Reader`]. It follows no grammar: it says of itself that it is unsure behind
//! what only a grammar could read.

use super::shell_words::Language;

/// What is open, and until which sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    Single,
    /// `$'`, within which a backslash escapes.
    Ansi,
    Double,
    Backquote,
    /// `(` and `$(`.
    Paren,
    /// `${`.
    Brace,
    Comment,
}

impl Open {
    /// Whether words of commands stand in it.
    pub(super) fn holds_commands(self) -> bool {
        matches!(self, Self::Backquote | Self::Paren)
    }
}

#[derive(Clone)]
pub(super) struct Reader<'t> {
    bytes: &'t [u8],
    language: Language,
    pub(super) at: usize,
    /// The innermost last.
    pub(super) open: Vec<Open>,
    /// What follows may be other than it is read here.
    pub(super) is_unsure: bool,
    /// Where the first quote was opened.
    pub(super) first_quote: Option<usize>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, language: Language, at: usize) -> Self {
        Self {
            bytes: text.as_bytes(),
            language,
            at,
            open: Vec::new(),
            is_unsure: false,
            first_quote: None,
        }
    }

    pub(super) fn inside(&self) -> Option<Open> {
        self.open.last().copied()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn before(&self) -> Option<u8> {
        self.at.checked_sub(1).and_then(|at| self.byte(at))
    }

    /// Whether a word of a command can begin here.
    pub(super) fn begins_word(&self) -> bool {
        self.before()
            .is_none_or(|byte| byte.is_ascii_whitespace() || b";|&()`".contains(&byte))
    }

    /// Reads one sign; whether there was one.
    pub(super) fn step(&mut self) -> bool {
        let Some(byte) = self.byte(self.at) else {
            return false;
        };
        let mut length = 1;
        match self.inside() {
            Some(Open::Comment) => self.close_at(byte, b'\n'),
            Some(Open::Single) if byte == b'\\' && self.language == Language::Fish => length = 2,
            Some(Open::Single) => self.close_at(byte, b'\''),
            Some(Open::Ansi) if byte == b'\\' => {
                // Some shells do not know these quotes, and end them here.
                self.is_unsure |= self.byte(self.at + 1) == Some(b'\'');
                length = 2;
            }
            Some(Open::Ansi) => self.close_at(byte, b'\''),
            Some(_) | None if byte == self.escape() => length = 2,
            Some(Open::Double) => self.in_double(byte),
            inside => length = self.in_command(byte, inside),
        }
        self.at += length;
        true
    }

    fn close_at(&mut self, byte: u8, end: u8) {
        if byte == end {
            self.open.pop();
        }
    }

    fn escape(&self) -> u8 {
        match self.language {
            Language::Posix | Language::Fish => b'\\',
            Language::PowerShell => b'`',
            // Within quotes it stands for itself.
            Language::Cmd if self.inside() == Some(Open::Double) => 0,
            Language::Cmd => b'^',
        }
    }

    fn quote(&mut self, open: Open) {
        self.first_quote.get_or_insert(self.at);
        self.open.push(open);
    }

    fn in_double(&mut self, byte: u8) {
        match byte {
            b'"' => drop(self.open.pop()),
            b'`' if self.language == Language::Posix => self.backquote(),
            b'(' if self.before() == Some(b'$') => self.open.push(Open::Paren),
            b'{' if self.before() == Some(b'$') => self.open.push(Open::Brace),
            _ => {}
        }
    }

    fn backquote(&mut self) {
        if self.inside() == Some(Open::Backquote) {
            self.open.pop();
            return;
        }
        // Which one it closes depends on backslashes before it.
        self.is_unsure |= self.open.contains(&Open::Backquote);
        self.quote(Open::Backquote);
    }

    /// Reads a sign that no quotes hold; how long it is.
    fn in_command(&mut self, byte: u8, inside: Option<Open>) -> usize {
        let is_braced = inside == Some(Open::Brace);
        match byte {
            b'"' => self.double(),
            b'\'' if self.language != Language::Cmd => self.single(is_braced),
            b'`' if self.language == Language::Posix => self.backquote(),
            b'{' if self.before() == Some(b'$') => self.open.push(Open::Brace),
            b'}' if is_braced => drop(self.open.pop()),
            b'(' if !is_braced || self.before() == Some(b'$') => self.open.push(Open::Paren),
            b')' if inside == Some(Open::Paren) => drop(self.open.pop()),
            b'#' if !is_braced && self.language != Language::Cmd && self.begins_word() => {
                self.open.push(Open::Comment);
            }
            b'<' if !is_braced && self.byte(self.at + 1) == Some(b'<') => {
                let is_text = self.byte(self.at + 2) == Some(b'<');
                // The text of a here-document has no quotes.
                self.is_unsure |= !is_text;
                return if is_text { 3 } else { 2 };
            }
            // Its patterns end with a bracket that nothing opened.
            b'c' if !self.open.is_empty() && self.begins_word() => {
                let rest = self.bytes[self.at..].strip_prefix(b"case");
                let ends = |rest: &[u8]| rest.first().is_some_and(u8::is_ascii_whitespace);
                self.is_unsure |= rest.is_some_and(ends);
            }
            _ => {}
        }
        1
    }

    fn double(&mut self) {
        self.is_unsure |= self.is_here_string();
        self.quote(Open::Double);
    }

    fn single(&mut self, is_braced: bool) {
        let is_ansi = self.language == Language::Posix && self.before() == Some(b'$');
        // Within double quotes some shells take it for itself.
        self.is_unsure |= is_braced && self.open.contains(&Open::Double) || self.is_here_string();
        self.quote(if is_ansi { Open::Ansi } else { Open::Single });
    }

    /// `@'` of PowerShell, which ends at a line of its own.
    fn is_here_string(&self) -> bool {
        self.language == Language::PowerShell && self.before() == Some(b'@')
    }

    /// Whether an unquoted word ends here.
    pub(super) fn ends_word(&self) -> bool {
        let Some(byte) = self.byte(self.at) else {
            return true;
        };
        let next = self.byte(self.at + 1);
        match byte {
            b';' => self.language != Language::Cmd,
            // In some shells it is no sign within a word.
            b'&' => !next.is_some_and(|next| next.is_ascii_alphanumeric() || next == b'_'),
            b'|' | b'<' | b'>' | b')' => true,
            byte => byte.is_ascii_whitespace(),
        }
    }

    /// Reads to where the word ends that began here, if that can be told; `is_backquoted`
    /// where a backquote ends it.
    pub(super) fn end_of_word(mut self, is_backquoted: bool) -> Option<usize> {
        let takes_parens = matches!(self.language, Language::Fish | Language::PowerShell);
        loop {
            if self.open.is_empty() {
                let byte = self.byte(self.at);
                if self.ends_word() || is_backquoted && byte == Some(b'`') {
                    return Some(self.at.min(self.bytes.len()));
                }
                // A list, or what no shell reads so.
                if byte == Some(b'(') && self.before() != Some(b'$') && !takes_parens {
                    return None;
                }
            }
            if self.is_unsure || !self.step() {
                return None;
            }
        }
    }
}
