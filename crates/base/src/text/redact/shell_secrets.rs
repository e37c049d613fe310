//! What is secret in a line of a shell: behind each name and flag that says so, wherever in
//! the line it stands, up to where the shell ends the value.
//!
//! No grammar of a shell is followed. Where only one could tell the end of a value, all that
//! follows is hidden: better too much than a part of a secret.

use super::flags::{is_flag, is_header, is_name_letter};
use super::names::looks_secret;
use super::references::{only_refers, reference_length};
use super::shell_reader::{Open, Reader};
use super::shell_words::{Language, ends_with_line_flag};
use crate::text::LazyPattern;
use std::ops::Range;

/// Bytes of a reference to a variable, at most.
const LONGEST_NAME: usize = 128;

/// A value under a name that says that it is secret.
pub(super) struct ShellValue<'a> {
    pub name: &'a str,
    pub at: Range<usize>,
    /// Whether it ends here, and not somewhere before.
    pub ends_here: bool,
    /// Whether it is a word of a command, and stands in nobody else's quotes.
    pub is_word: bool,
}

/// Gives each value to `take`, which says whether it is a secret; in their order, and none
/// within one that is.
pub(super) fn secrets_in_shell<'a>(
    text: &'a str,
    language: Language,
    take: &mut dyn FnMut(&ShellValue<'a>) -> bool,
) {
    let mut line = ShellLine::new(text, language);
    let mut taken = 0;
    for run in names(text) {
        if run.start < taken {
            continue;
        }
        let Some(place) = line.value_behind(&run) else {
            continue;
        };
        let end = line.end_of(&run, &place);
        let value = ShellValue {
            name: text[run].trim_start_matches('-'),
            at: place.from..end.unwrap_or(text.len()),
            ends_here: end.is_some(),
            is_word: end.is_some() && place.ends == Ends::Word && line.is_in_command(),
        };
        if take(&value) {
            taken = value.at.end;
        }
    }
}

/// Where the names and flags of a text stand.
fn names(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_name_letter)?;
        let rest = &text[start..];
        let length = rest.find(|c| !is_name_letter(c)).unwrap_or(rest.len());
        at = start + length;
        Some(start..at)
    })
}

/// Where a value begins, and what ends it.
struct Place {
    from: usize,
    ends: Ends,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// With its word.
    Word,
    /// With the quotes around it.
    Quotes,
    /// With its command.
    Command,
    /// With the bracket of a reference.
    Brace,
}

struct ShellLine<'a> {
    text: &'a str,
    language: Language,
    reader: Reader<'a>,
    /// From here on, quotes do not say where a word ends: one is never closed.
    unsure_from: usize,
    here_document: Option<usize>,
    /// The end of a word, under as many open brackets.
    word: Option<(usize, usize)>,
}

impl<'a> ShellLine<'a> {
    fn new(text: &'a str, language: Language) -> Self {
        let mut whole = Reader::new(text, language, 0);
        while whole.step() {}
        whole.open.retain(|open| *open != Open::Comment);
        let is_closed = whole.open.is_empty();
        let unsure_from = whole.first_quote.filter(|_| !is_closed);
        Self {
            text,
            language,
            reader: Reader::new(text, language, 0),
            unsure_from: unsure_from.unwrap_or(usize::MAX),
            here_document: text.find("<<"),
            word: None,
        }
    }

    /// Where the value of a name begins, if it has one and is that of a secret.
    fn value_behind(&self, run: &Range<usize>) -> Option<Place> {
        let (before, behind) = (&self.text[..run.start], &self.text[run.end..]);
        let word = &self.text[run.clone()];
        let name = word.trim_start_matches('-');
        let is_flag = name.len() < word.len() && is_flag(word);
        let place = |rest: &str, ends: Ends| Place {
            from: self.text.len() - rest.len(),
            ends,
        };
        let found = if let Some(rest) = assigned(before, behind) {
            let is_whole = self.language == Language::Cmd && sets(before);
            place(rest, if is_whole { Ends::Command } else { Ends::Word })
        } else if let Some(rest) = default_of(before, behind) {
            place(rest, Ends::Brace)
        } else if let Some(rest) = listed(before, behind, is_flag) {
            place(rest, Ends::Word)
        } else if let Some(rest) = behind.strip_prefix(':')
            && before.ends_with(['"', '\''])
            && is_header(name, rest)
        {
            place(rest, Ends::Quotes)
        } else if let Some(rest) = behind.strip_prefix(": ")
            && before.ends_with('\n')
            && self.here_document.is_some_and(|at| at < run.start)
        {
            place(rest, Ends::Word)
        } else if !behind.starts_with([' ', '\t', '\\']) {
            return None;
        } else if let Some(rest) = without_blanks(behind).strip_prefix("<<<") {
            place(without_blanks(rest), Ends::Word)
        } else if is_flag {
            place(without_blanks(behind), Ends::Word)
        } else if sets(before) || is_item(before) {
            place(without_flags(without_blanks(behind)), Ends::Command)
        } else {
            return None;
        };
        looks_secret(name).then_some(found)
    }

    /// Where a value ends, if that can be told.
    fn end_of(&mut self, run: &Range<usize>, place: &Place) -> Option<usize> {
        while self.reader.at < place.from && self.reader.step() {}
        if self.reader.is_unsure || place.from >= self.unsure_from {
            let name = self.text[run.clone()].trim_start_matches('-');
            let length = variable_alone(name, &self.text[place.from..]);
            return length.map(|length| place.from + length);
        }
        match self.reader.inside() {
            Some(open) if !open.holds_commands() => self.end_in_quotes(run, place, open),
            Some(_) | None => self.end_in_command(run, place),
        }
    }

    /// Whether the place that was read up to is one of a command's words.
    fn is_in_command(&self) -> bool {
        let reader = &self.reader;
        !reader.is_unsure && reader.inside().is_none_or(Open::holds_commands)
    }

    fn is_backquoted(&self) -> bool {
        self.reader.open.contains(&Open::Backquote)
    }

    fn end_of_word(&self, from: usize) -> Option<usize> {
        Reader::new(self.text, self.language, from).end_of_word(self.is_backquoted())
    }

    fn end_in_command(&self, run: &Range<usize>, place: &Place) -> Option<usize> {
        if self.language == Language::Cmd && place.ends == Ends::Command {
            return self.end_of_command_line(place.from);
        }
        let end = self.end_of_word(place.from)?;
        let adds = self.language == Language::PowerShell
            && self.text[end..].trim_start_matches(' ').starts_with('+');
        if place.ends == Ends::Command || adds {
            return self.end_of_list(end);
        }
        let value = &self.text[place.from..end];
        match is_parameter(&self.text[..run.start]) {
            true => value.find(['&', '#']).map(|length| place.from + length),
            false => None,
        }
        .or(Some(end))
    }

    /// The end of a list of words, the first of which ends here.
    fn end_of_list(&self, first: usize) -> Option<usize> {
        let mut end = first;
        loop {
            let rest = self.text[end..].trim_start_matches([' ', '\t']);
            let next = self.text.len() - rest.len();
            let reader = Reader::new(self.text, self.language, next);
            if reader.ends_word() || rest.starts_with(['#', '&']) {
                return Some(end);
            }
            let is_word = self.end_of_word(next)?;
            if is_word == next {
                return Some(end);
            }
            end = is_word;
        }
    }

    /// Where cmd ends a command.
    fn end_of_command_line(&self, from: usize) -> Option<usize> {
        let mut reader = Reader::new(self.text, self.language, from);
        loop {
            let rest = self.text.get(reader.at..).unwrap_or_default();
            if reader.open.is_empty() && (rest.is_empty() || rest.starts_with(['&', '|', '\n'])) {
                return Some(reader.at.min(self.text.len()));
            }
            if !reader.step() {
                return None;
            }
        }
    }

    /// Where a value ends within quotes, which may hold a line of another shell: at the
    /// latest with the word that they are of.
    fn end_in_quotes(&mut self, run: &Range<usize>, place: &Place, open: Open) -> Option<usize> {
        if open == Open::Comment {
            let rest = &self.text[place.from..];
            return Some(place.from + rest.find('\n').unwrap_or(rest.len()));
        }
        let word = self.end_of_quoted_word()?;
        let quote = match open {
            Open::Double => '"',
            _ => '\'',
        };
        let closed = self.text[place.from..word].strip_suffix(quote);
        let limit = closed.map_or(word, |inside| place.from + inside.len());
        let rest = &self.text[place.from..limit];
        if place.ends == Ends::Brace
            && let Some(length) = rest.find(['{', '}'])
            && rest[length..].starts_with('}')
        {
            return Some(place.from + length);
        }
        if matches!(place.ends, Ends::Quotes | Ends::Brace) || open == Open::Brace {
            return Some(limit);
        }
        let name = self.text[run.clone()].trim_start_matches('-');
        let is_assigned = self.text[run.end..place.from].ends_with('=');
        // The value may be meant to begin in quotes of its own.
        if is_assigned && self.text[place.from..].starts_with(quote) {
            return only_refers(name, &self.text[place.from..limit]).then_some(limit);
        }
        let before = &self.text[..run.start];
        let begins_quotes = before
            .strip_suffix(quote)
            .filter(|outer| !outer.ends_with('\\'));
        if let Some(outer) = begins_quotes
            && !ends_with_line_flag(outer)
        {
            return Some(limit);
        }
        if self.here_document.is_some_and(|at| at < place.from) {
            let rest = &self.text[place.from..limit];
            let line = rest.split_once('\n');
            let line = line.filter(|(line, next)| self.ends_with_line(line, next));
            return Some(line.map_or(limit, |(line, _)| place.from + line.len()));
        }
        let inner = NestedLine {
            text: &self.text[place.from..limit],
            quote,
            is_closed: closed.is_some(),
            is_parameter: is_parameter(before),
        };
        let own = own_quote(before).filter(|_| begins_quotes.is_none() && is_assigned);
        let length = match own {
            Some(own) => inner.text.find(own),
            None => inner.end(name),
        };
        Some(length.map_or(limit, |length| place.from + length))
    }

    /// Whether a value in a here-document ends with its line: what follows is a value of its own
    /// or ends the document.
    fn ends_with_line(&self, line: &str, next: &str) -> bool {
        static PAIR: LazyPattern =
            LazyPattern::ascii(r"\A(?:[A-Z][A-Z0-9_]+=[^=\n]|[a-z][a-z0-9_.-]*: \S)");
        let next = next.lines().next().unwrap_or_default();
        let is_word =
            !next.is_empty() && next.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let opens = ["<<", "<<-", "<<'", "<<\"", "<<-'", "<<-\"", "<<\\"];
        let is_end = || {
            let mut opens = opens.iter().map(|open| format!("{open}{next}"));
            is_word && opens.any(|open| self.text.contains(&open))
        };
        !line.starts_with(['"', '\'']) && !line.ends_with('\\') && (PAIR.is_match(next) || is_end())
    }

    /// The end of the word that holds the quotes.
    fn end_of_quoted_word(&mut self) -> Option<usize> {
        let reader = &self.reader;
        let commands = reader.open.iter().rposition(|open| open.holds_commands());
        let depth = commands.map_or(0, |at| at + 1);
        if let Some((known, end)) = self.word
            && known == depth
            && reader.at < end
        {
            return Some(end);
        }
        let mut quoted = reader.clone();
        quoted.open.drain(..depth);
        let end = quoted.end_of_word(self.is_backquoted())?;
        self.word = Some((depth, end));
        Some(end)
    }
}

/// From a value within quotes to the end of them.
struct NestedLine<'t> {
    text: &'t str,
    /// That ends the quotes.
    quote: char,
    /// Whether the word ends with them.
    is_closed: bool,
    /// Of a URL.
    is_parameter: bool,
}

impl NestedLine<'_> {
    /// How long the value is, if that is clear without reading what another shell reads.
    fn end(&self, name: &str) -> Option<usize> {
        let escapes = self.text.len() - self.text.trim_start_matches('\\').len();
        if self.text[escapes..].starts_with(['"', '\'']) {
            return self.end_of_quotes(escapes);
        }
        let length = match self.text.starts_with('$') {
            true => reference_length(name, self.text)?,
            false => self.plain(),
        };
        let rest = &self.text[length..];
        let is_end = rest.is_empty() && self.is_closed
            || rest.starts_with(is_border)
            || self.is_parameter && rest.starts_with(['&', '#', '\\', '"', '\'']);
        is_end.then_some(length)
    }

    /// How many letters stand for themselves in every shell.
    fn plain(&self) -> usize {
        let mut letters = self.text.char_indices().peekable();
        while let Some((at, c)) = letters.next() {
            let next = letters.peek().map(|(_, next)| *next);
            let joins = c == '&' && !self.is_parameter && next.is_some_and(char::is_alphanumeric);
            if !joins && (is_border(c) || "\"'\\$`({".contains(c)) {
                return at;
            }
        }
        self.text.len()
    }

    /// The length of a value in quotes of its own, behind so many backslashes.
    fn end_of_quotes(&self, escapes: usize) -> Option<usize> {
        let opened = &self.text[..=escapes];
        if opened.ends_with(self.quote) && escapes == 0 {
            return None;
        }
        let inside = &self.text[opened.len()..];
        let length = inside.find(opened)?;
        let end = opened.len() + length + opened.len();
        let is_plain = !inside[..length].contains(['\\', self.quote]);
        let rest = &self.text[end..];
        let is_end =
            rest.is_empty() || rest.starts_with(|c| is_border(c) || "]}\"'\\,".contains(c));
        (is_plain && is_end).then_some(end)
    }
}

/// Behind a value, in every shell.
fn is_border(c: char) -> bool {
    c.is_ascii_whitespace() || ";|&<>)}".contains(c)
}

/// How long a value is that is a variable and nothing else, whatever quotes are around it.
fn variable_alone(name: &str, text: &str) -> Option<usize> {
    let bare = text.trim_start_matches('"');
    let reference = bare.starts_with('$').then_some(bare)?;
    let inside = &reference[..reference.floor_char_boundary(LONGEST_NAME)];
    let rest = &reference[reference_length(name, inside)?..];
    let rest = rest.trim_start_matches('"');
    let is_alone = rest.is_empty() || rest.starts_with(is_border);
    is_alone.then_some(text.len() - rest.len())
}

/// What stands behind the sign that sets a name.
fn assigned<'t>(before: &str, behind: &'t str) -> Option<&'t str> {
    let sign = behind.strip_prefix(['"', '\'', '}']).unwrap_or(behind);
    let sign = without_index(sign);
    let sign = sign.strip_prefix('+').unwrap_or(sign);
    if let Some(value) = sign.strip_prefix('=') {
        return Some(value);
    }
    // `$NAME = value` of PowerShell, `set NAME = value` of csh.
    let is_spaced = before.ends_with(['$', ':']) || is_item(before) || sets(before);
    // What it is compared with is most likely its value.
    let sign = without_blanks(sign).trim_start_matches('!');
    let value = sign.strip_prefix('=').filter(|_| is_spaced)?;
    Some(without_blanks(value.trim_start_matches('=')))
}

/// What stands behind `NAME[index]`.
fn without_index(behind: &str) -> &str {
    const LONGEST: usize = 64;
    let mut bytes = behind.bytes().take(LONGEST);
    let end = bytes.position(|byte| byte == b']');
    match end.filter(|_| behind.starts_with('[')) {
        Some(end) => &behind[end + 1..],
        None => behind,
    }
}

/// What stands for a variable that is not set, in `${NAME:-value}` and its like.
fn default_of<'t>(before: &str, behind: &'t str) -> Option<&'t str> {
    let is_reference = before.ends_with("${") || before.ends_with("${env:");
    let mut signs = [":-", ":=", ":+"].into_iter();
    let value = signs.find_map(|sign| behind.strip_prefix(sign));
    value.filter(|_| is_reference)
}

/// The quoted value of a quoted name: in an object, or where a function is given both, as
/// `SetEnvironmentVariable('NAME', 'value')`; of a flag, in a list.
fn listed<'t>(before: &str, behind: &'t str, is_flag: bool) -> Option<&'t str> {
    let quoted = behind.trim_start_matches('\\').strip_prefix(['"', '\''])?;
    let quoted = without_blanks(quoted);
    let opened = before.trim_end_matches(['"', '\'', '\\']);
    let is_pair = is_flag || opened.ends_with('(');
    let value = match quoted.strip_prefix(':') {
        Some(value) => value,
        None => quoted.strip_prefix(',').filter(|_| is_pair)?,
    };
    let value = without_blanks(value);
    let is_quoted = value.trim_start_matches('\\').starts_with(['"', '\'']);
    is_quoted.then_some(value)
}

/// A text without what parts it from the word before it.
fn without_blanks(text: &str) -> &str {
    let mut rest = text;
    loop {
        let next = rest.trim_start_matches([' ', '\t']);
        let next = next.strip_prefix("\\\n").unwrap_or(next);
        if next.len() == rest.len() {
            return next;
        }
        rest = next;
    }
}

/// A text without the flags that it begins with, as `-Value`.
fn without_flags(text: &str) -> &str {
    let mut rest = text;
    while let Some(flag) = rest.strip_prefix('-')
        && flag.starts_with(|c: char| c.is_ascii_alphabetic())
        && let Some((_, behind)) = flag.split_once([' ', '\t'])
    {
        rest = without_blanks(behind);
    }
    rest
}

/// Whether a text ends with a command that sets the variable behind it: `set -x`, `setenv`.
fn sets(before: &str) -> bool {
    const COMMANDS: [&str; 7] = [
        "set",
        "setenv",
        "setx",
        "let-env",
        "set-variable",
        "load-env",
        "printf",
    ];
    const LOOKED_AT: usize = 64;
    let from = before.ceil_char_boundary(before.len().saturating_sub(LOOKED_AT));
    let before = before[from..].trim_end_matches(['"', '\'', '\\']);
    if !before.ends_with([' ', '\t']) {
        return false;
    }
    let mut words = before
        .split([' ', '\t', '\n', ';', '&', '|', '(', '{', '"', '\''])
        .rev()
        .filter(|word| !word.is_empty() && !word.starts_with('-'));
    words
        .next()
        .is_some_and(|word| COMMANDS.contains(&word.to_ascii_lowercase().as_str()))
}

/// Whether a text ends as PowerShell writes the drive of variables where it sets one.
fn is_item(before: &str) -> bool {
    let before = before.strip_suffix('\\').unwrap_or(before);
    let Some(drive) = before.len().checked_sub("env:".len()) else {
        return false;
    };
    let is_drive = before
        .get(drive..)
        .is_some_and(|end| end.eq_ignore_ascii_case("env:"));
    is_drive && !before[..drive].ends_with(['$', '{'])
}

/// Whether a name behind this text is that of a parameter of a URL.
fn is_parameter(before: &str) -> bool {
    before.ends_with(['?', '&'])
}

/// The quote that a text ends with, with the backslashes before it.
fn own_quote(before: &str) -> Option<&str> {
    let quoted = before.strip_suffix(['"', '\''])?;
    let bare = quoted.trim_end_matches('\\');
    Some(&before[bare.len()..])
}

#[cfg(test)]
#[path = "shell_secrets_tests.rs"]
mod tests;
