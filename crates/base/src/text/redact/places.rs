//! Where in an argv, a URL, a header or a variable a secret stands.

use super::address_keys::{A_PATH_KEY, A_WEBHOOK, is_key_of_path, path_key, webhook_key};
use super::flags::{assignment, is_flag, is_header, is_header_flag, is_name};
use super::line_words::{MAX_NAMES, secret_flag, word_length};
use super::names::{has_secret_form, is_common, looks_secret, may_be_secret};
use super::prose::secrets_in_word;
use super::references::{only_refers, spelled_out};
use super::requests::{USER, takes_user, user_of};
use super::shell_secrets::{ShellValue, secrets_in_shell};
use super::shell_words::{
    Language, ends_word, is_expanded, is_pieced, line_languages, shell_lines,
};
use std::ops::Range;

/// The name of a secret that is the password of a URL.
pub const URL_PASSWORD: &str = "the URL's password";
/// The name of a secret that is known by its form alone.
pub const AN_ARGUMENT: &str = "an argument";

/// Lines within the quotes of lines that are read.
const MAX_LINES: u8 = 3;
/// A longer value in a shell's line is a secret without being read.
const LONGEST_VALUE: usize = 1_000;
/// Before the value of an `Authorization`.
pub(super) const SCHEMES: &[&str] = &["bearer", "basic", "token", "digest", "apikey", "api-key"];

/// A secret that stands somewhere in plain sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<'a> {
    /// Of the flag, variable, header or member that holds it, or
    /// [`URL_PASSWORD`], or [`AN_ARGUMENT`].
    pub name: &'a str,
    pub value: &'a str,
    /// In which of the words, from 0.
    pub word: usize,
    /// Whether it is a word of a command in a line of a POSIX shell, with the quotes and
    /// backslashes that the shell reads.
    pub is_shell_word: bool,
    pub(super) at: Range<usize>,
}

impl Found<'_> {
    /// Where in its word it stands.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.at.clone()
    }

    /// Whether it can be looked for in other texts without hiding words that
    /// are nobody's secret: from `min` bytes on, and unless it is a word or a
    /// number of anybody's.
    #[must_use]
    pub fn is_telling(&self, min: usize) -> bool {
        self.value.len() >= min && !is_common(self.value)
    }
}

/// Whether what stands for a user in a URL is none that a person has: long, of
/// letters and digits.
fn is_key(user: &str) -> bool {
    const SHORTEST: usize = 20;
    user.len() >= SHORTEST
        && user.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && user.bytes().any(|byte| byte.is_ascii_digit())
        && user.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// What is secret in the words of a command, the first of which is its program: behind
/// flags, in variables and headers, in URLs, or by its form.
#[must_use]
pub fn secrets_in_argv<S: AsRef<str>>(argv: &[S]) -> Vec<Found<'_>> {
    let mut lines = lines_of("", argv);
    // Some write the whole line there.
    if let Some(first) = lines.first_mut() {
        *first = Line::Maybe;
    }
    in_words(argv, &lines)
}

/// The same of its arguments alone, where `program` is what they are given to.
#[must_use]
pub fn secrets_in_args<'a, S: AsRef<str>>(program: &str, args: &'a [S]) -> Vec<Found<'a>> {
    in_words(args, &lines_of(program, args))
}

/// Whether a word is a line with words of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nothing says so.
    No,
    /// It is where some write one.
    Maybe,
    /// A shell reads it.
    OfShell(Language),
}

fn lines_of<S: AsRef<str>>(program: &str, words: &[S]) -> Vec<Line> {
    let languages = line_languages(program, words).into_iter();
    languages
        .map(|language| language.map_or(Line::No, Line::OfShell))
        .collect()
}

fn in_words<'a, S: AsRef<str>>(argv: &'a [S], lines: &[Line]) -> Vec<Found<'a>> {
    let words = argv.iter().zip(lines).enumerate();
    let words = words.map(|(n, (word, line))| Scan {
        line: *line,
        ..Scan::whole(word.as_ref(), n)
    });
    let words: Vec<Scan<'a>> = words.collect();
    let mut found = Vec::new();
    for word in &words {
        word.as_shell(&mut found);
    }
    let mut by_place = Vec::new();
    scan_words(words.into_iter(), &mut by_place);
    add_apart(&mut found, by_place);
    // A word may be a program, or a line of a shell with words of its own.
    let of_words = argv.iter().enumerate();
    let of_words = of_words.flat_map(|(n, word)| secrets_in_word(word.as_ref(), n));
    add_apart(&mut found, of_words.collect());
    found
}

/// Adds what is over nothing that was found, which is in order and apart.
fn add_apart<'a>(found: &mut Vec<Found<'a>>, more: Vec<Found<'a>>) {
    let is_apart = |one: &Found<'_>| {
        let next =
            found.partition_point(|known| (known.word, known.at.end) <= (one.word, one.at.start));
        let next = found.get(next);
        next.is_none_or(|next| next.word != one.word || one.at.end <= next.at.start)
    };
    let more: Vec<Found<'a>> = more.into_iter().filter(is_apart).collect();
    found.extend(more);
    found.sort_by_key(|one| (one.word, one.at.start));
}

/// What is secret in the URLs of a text, which is the word with this number.
pub(super) fn secrets_in_urls(text: &str, word: usize) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    Scan::whole(text, word).urls(&mut found);
    found
}

/// What is secret in what follows the `scheme://` of one URL, to its end.
pub(super) fn secrets_behind_scheme(rest: &str) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    Scan::whole(rest, 0).url(&mut found);
    found
}

/// What is secret in one text: a URL, a word, or a whole command line.
#[must_use]
pub fn secrets_in_text(text: &str) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    Scan::whole(text, 0).look(&mut found);
    found
}

/// What is secret in a program as it is written, which may be a whole command line.
#[must_use]
pub fn secrets_in_line(text: &str) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    let scan = Scan {
        line: Line::Maybe,
        ..Scan::whole(text, 0)
    };
    scan.as_shell(&mut found);
    let mut by_place = Vec::new();
    scan.look(&mut by_place);
    add_apart(&mut found, by_place);
    found
}

/// What is secret in the value of a variable.
#[must_use]
pub fn secrets_in_variable<'a>(name: &'a str, value: &'a str) -> Vec<Found<'a>> {
    let mut found = Vec::new();
    let scan = Scan::whole(value, 0);
    if !(looks_secret(name) && scan.keep(name, &mut found)) {
        scan.look(&mut found);
    }
    for one in &mut found {
        if [AN_ARGUMENT, URL_PASSWORD].contains(&one.name) {
            one.name = name;
        }
    }
    found
}

/// What is secret in the value of a header: what follows the scheme, where
/// there is one.
#[must_use]
pub fn secrets_in_header<'a>(name: &'a str, value: &'a str) -> Vec<Found<'a>> {
    let mut found = Vec::new();
    Scan::whole(value, 0).header(name, &mut found);
    found
}

/// What a word says of the next one.
enum Next<'a> {
    Anything,
    /// It is the value of what has this name.
    Value(&'a str),
    /// It is a header, as `-H` takes one.
    Header,
    /// It is a user and a password, as curl's `-u` takes them.
    User,
}

/// Words of one command, in their order.
fn scan_words<'a>(words: impl Iterator<Item = Scan<'a>>, found: &mut Vec<Found<'a>>) {
    let mut next = Next::Anything;
    let mut of_curl = false;
    for word in words {
        let text = word.text();
        let before = std::mem::replace(&mut next, Next::Anything);
        of_curl |= text == "curl" || text.ends_with("/curl");
        of_curl &= !matches!(text, "&&" | "||" | "|" | "&");
        if of_curl && takes_user(text) {
            next = Next::User;
        } else if of_curl
            && let Some((_, password)) = user_of(text, false).and_then(|user| user.split_once(':'))
            && word.end(password).keep(USER, found)
        {
            continue;
        } else if is_flag(text) {
            let name = text.trim_start_matches('-');
            if is_header_flag(text) {
                next = Next::Header;
            } else if is_name(name) && looks_secret(name) {
                next = Next::Value(name);
            }
        } else if let Next::Value(name) = before
            && word.keep(name, found)
        {
            continue;
        } else if let Next::User = before
            && let Some((_, password)) = text.split_once(':')
            && word.end(password).keep(USER, found)
        {
            continue;
        } else if let Next::Header = before {
            match text.split_once(':') {
                Some((name, value)) => word.end(value).header(name.trim(), found),
                // Some take name and value as two words.
                None if looks_secret(text) => next = Next::Value(text),
                None => word.look(found),
            }
            continue;
        }
        word.look(found);
    }
}

/// A part of a word.
#[derive(Clone)]
struct Scan<'a> {
    whole: &'a str,
    word: usize,
    pub(super) at: Range<usize>,
    /// In how many lines, one in the quotes of the other, it stands.
    depth: u8,
    line: Line,
}

impl<'a> Scan<'a> {
    fn whole(whole: &'a str, word: usize) -> Self {
        Self {
            whole,
            word,
            at: 0..whole.len(),
            depth: 0,
            line: Line::No,
        }
    }

    fn text(&self) -> &'a str {
        &self.whole[self.at.clone()]
    }

    /// From this byte of the part to that one.
    fn part(&self, from: usize, to: usize) -> Self {
        let at = self.at.start + from..self.at.start + to;
        Self { at, ..self.clone() }
    }

    /// Its end, which is `rest`.
    fn end(&self, rest: &str) -> Self {
        let length = self.at.len();
        self.part(length - rest.len(), length)
    }

    /// The value alone: without blanks and quotes around it, and without the
    /// scheme of an `Authorization`.
    fn bare(&self) -> Self {
        let around = |c: char| c.is_whitespace() || c == '"' || c == '\\';
        let text = self.text();
        let begins = text.len() - text.trim_start_matches(around).len();
        let ends = text.trim_end_matches(around).len();
        let bare = self.part(begins, ends.max(begins));
        let quoted = bare.text().strip_prefix('\'');
        let bare = match quoted.and_then(|text| text.strip_suffix('\'')) {
            Some(inside) => bare.part(1, 1 + inside.len()),
            None => bare,
        };
        match bare.text().split_once(' ') {
            Some((scheme, rest)) if SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) => {
                bare.end(rest)
            }
            Some(_) | None => bare,
        }
    }

    /// The same of a value as a shell may quote it: in `$'`, and in quotes that are not closed.
    fn bare_of_shell(&self) -> Self {
        let bare = self.bare();
        match bare
            .text()
            .strip_prefix("$'")
            .or(bare.text().strip_prefix('\''))
        {
            Some(inside) => {
                let closed = inside.strip_suffix('\'').unwrap_or(inside);
                let begin = bare.at.len() - inside.len();
                bare.part(begin, begin + closed.len())
            }
            None => bare,
        }
    }

    /// Takes the part for a secret, if it can be one.
    fn keep(&self, name: &'a str, found: &mut Vec<Found<'a>>) -> bool {
        let bare = self.bare();
        let may_be = may_be_secret(name, bare.text());
        if may_be {
            found.push(Found {
                name,
                value: bare.text(),
                word: self.word,
                is_shell_word: false,
                at: bare.at,
            });
        }
        may_be
    }

    /// Looks for the secrets that only a line of a shell holds.
    fn as_shell(&self, found: &mut Vec<Found<'a>>) {
        let language = match self.line {
            Line::OfShell(language) => Some(language),
            // `sh -c 'LINE'` in one.
            Line::Maybe => holds_line(self.text()).then_some(Language::Posix),
            Line::No => None,
        };
        if let Some(language) = language {
            secrets_in_shell(self.text(), language, &mut |value| {
                self.keep_of_shell(value, found)
            });
        }
    }

    /// Takes a value of a shell's line for a secret, if it spells one out; whether it does.
    /// Where its end is not known, or it is long, it is not asked what it says.
    fn keep_of_shell(&self, value: &ShellValue<'a>, found: &mut Vec<Found<'a>>) -> bool {
        let name = value.name;
        let whole = self.part(value.at.start, value.at.end);
        let of_other = matches!(self.line, Line::OfShell(language) if language != Language::Posix);
        let is_pieced = value.is_word && !of_other && is_pieced(whole.text());
        if is_pieced && !is_expanded(whole.text()) {
            found.push(Found {
                name,
                value: whole.text(),
                word: self.word,
                is_shell_word: true,
                at: whole.at,
            });
            return true;
        }
        let bare = if is_pieced {
            whole.clone()
        } else {
            whole.bare_of_shell()
        };
        let text = bare.text();
        let parts = match value.ends_here && text.len() <= LONGEST_VALUE {
            false if text.is_empty() => return false,
            false => std::iter::once(0..text.len()).collect(),
            true if is_flag(text) || only_refers(name, text) => return false,
            // What a command writes, in fish and PowerShell.
            true if whole.text().starts_with('(') && only_refers(name, &format!("${text}")) => {
                return false;
            }
            true => spelled_out(name, text),
        };
        found.extend(parts.iter().map(|part| Found {
            name,
            value: &text[part.clone()],
            word: self.word,
            is_shell_word: false,
            at: bare.part(part.start, part.end).at,
        }));
        !parts.is_empty()
    }

    /// Looks for secrets in a word.
    fn look(&self, found: &mut Vec<Found<'a>>) {
        // In a line, the value of a variable ends at the first blank.
        let splits = match self.line {
            Line::No => false,
            Line::Maybe => sets_variable(self.text()),
            Line::OfShell(_) => true,
        };
        if splits {
            return scan_words(self.words().into_iter(), found);
        }
        let mut rest = self.clone();
        for _ in 0..MAX_NAMES {
            let Some((name, value)) = assignment(rest.text()) else {
                break;
            };
            let flag = &rest.text()[..rest.text().len() - value.len() - 1];
            rest = rest.end(value);
            if is_header_flag(flag) {
                if let Some((name, value)) = value.split_once(':') {
                    return rest.end(value).header(name.trim(), found);
                }
            } else if looks_secret(name) && rest.keep(name, found) {
                return;
            }
        }
        let text = rest.text();
        if has_secret_form(text) {
            rest.keep(AN_ARGUMENT, found);
        } else if let Some((name, value)) = text.split_once(':')
            && is_header(name, value)
        {
            rest.end(value).header(name, found);
        } else if !rest.members(found) {
            if self.depth < MAX_LINES && is_line(text) {
                scan_words(rest.words().into_iter(), found);
            } else {
                rest.urls(found);
            }
        }
    }

    /// All URLs of a text.
    fn urls(&self, found: &mut Vec<Found<'a>>) {
        let mut rest = self.text();
        while let Some((_, behind)) = rest.split_once("://") {
            let around = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '<' | '>');
            let length = behind.find(around).unwrap_or(behind.len());
            self.end(behind).part(0, length).url(found);
            rest = &behind[length..];
        }
    }

    /// The words of a line; what quotes hold is in one of them.
    fn words(&self) -> Vec<Self> {
        let mut words = Vec::new();
        let mut flag = None;
        let mut rest = self.text().trim_start_matches(ends_word);
        while let Some((word, behind)) = rest.split_at_checked(word_length(rest, flag)) {
            if word.is_empty() {
                break;
            }
            let bare = self.end(rest).part(0, word.len()).bare();
            // A quote that is not closed, or not at the end.
            let bare = match bare.text().strip_prefix('\'') {
                Some(inside) => bare.end(inside),
                None => bare,
            };
            words.push(Self {
                depth: self.depth + 1,
                line: Line::No,
                ..bare
            });
            flag = secret_flag(word);
            rest = behind.trim_start_matches(ends_word);
        }
        words
    }

    /// The value of a header.
    fn header(&self, name: &'a str, found: &mut Vec<Found<'a>>) {
        if looks_secret(name) || has_secret_form(self.bare().text()) {
            self.keep(name, found);
        }
    }

    /// What follows `scheme://`, up to the end of the URL.
    fn url(&self, found: &mut Vec<Found<'a>>) {
        let text = self.text();
        let host = text.find(['/', '?', '#', ';']).unwrap_or(text.len());
        if let Some(at) = text[..host].rfind('@') {
            match text[..at].find(':') {
                Some(colon) => drop(self.part(colon + 1, at).keep(URL_PASSWORD, found)),
                // The key of an account without a password, as in a DSN.
                None if has_secret_form(&text[..at]) || is_key(&text[..at]) => {
                    self.part(0, at).keep(URL_PASSWORD, found);
                }
                None => {}
            }
        }
        if let Some((from, to)) = path_key(text) {
            self.part(from, to).keep(A_PATH_KEY, found);
        } else if let Some((from, to)) = webhook_key(text) {
            self.part(from, to).keep(A_WEBHOOK, found);
        }
        let mut begin = host;
        let borders = text
            .char_indices()
            .filter(|(at, c)| *at >= host && matches!(c, '/' | '?' | '&' | '#' | ';'))
            .map(|(at, _)| at);
        for end in borders.chain([text.len()]) {
            let piece = self.part(begin, end);
            match assignment(piece.text()) {
                Some((name, value))
                    if looks_secret(name)
                        || has_secret_form(value)
                        // Of a function in the cloud, and of a login that goes on.
                        || name == "code" && is_key_of_path(value) =>
                {
                    piece.end(value).keep(name, found);
                }
                None if has_secret_form(piece.text()) => drop(piece.keep(AN_ARGUMENT, found)),
                Some(_) | None => {}
            }
            begin = (end + 1).min(text.len());
        }
    }

    /// The members of an object in JSON, be its quotes escaped or not; whether
    /// there are any. The text need not be whole.
    fn members(&self, found: &mut Vec<Found<'a>>) -> bool {
        let text = self.text();
        // A shell that keeps the quotes around it.
        if let Some(rest) = text.strip_prefix('"')
            && rest.starts_with('{')
        {
            return self.end(rest).members(found);
        }
        let mut quotes = text.match_indices('"').map(|(at, _)| {
            let escapes = text[..at].bytes().rev().take_while(|b| *b == b'\\').count();
            (at, escapes)
        });
        let mut are_any = false;
        let mut name: Option<&'a str> = None;
        let mut before = 0;
        while let Some((open, escapes)) = quotes.next() {
            let between = text[before..open].trim_end_matches('\\').trim();
            let close = quotes.find(|(_, others)| *others == escapes);
            let (end, after) = match close {
                Some((close, _)) => ((close - escapes).max(open + 1), close + 1),
                None => (text.len(), text.len()),
            };
            let string = self.part(open + 1, end);
            match name.take() {
                Some(name) if between == ":" => {
                    are_any = true;
                    if looks_secret(name) || has_secret_form(string.text()) {
                        string.keep(name, found);
                    }
                }
                Some(_) | None => name = Some(string.text()),
            }
            before = after;
        }
        are_any
    }
}

/// Whether one of the words of a text is the begin of a shell's line.
fn holds_line(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    shell_lines("", &words).contains(&true)
}

/// Whether a text begins as a shell sets a variable for the command behind it.
fn sets_variable(text: &str) -> bool {
    let is_one = assignment(text).is_some() && !text.starts_with('-');
    is_one && text.contains(char::is_whitespace)
}

/// Whether a text is a command line or a list of settings, and no program: a
/// word of a program after `token =` is nobody's secret.
fn is_line(text: &str) -> bool {
    text.contains([' ', '\t', ';']) && !text.contains(['(', ')', '{', '}', '[', '\n', '<'])
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
