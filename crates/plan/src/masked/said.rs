//! What is said of a plan, without what is hidden of its text.

use super::{ANYWHERE, REFERENCES, SCHEMES, Search, starred};
use crate::PlanSource;
use std::collections::BTreeSet;
use std::ops::Range;

/// What is hidden of a plan's text, to be looked for in what is said of it.
pub(crate) struct HiddenTexts<'t> {
    text: &'t str,
    /// With their words, which are looked for in all that is said of their lines.
    parts: Vec<(Range<usize>, BTreeSet<&'t str>)>,
    /// Long enough to be no part of a sentence: as it is meant, and as it is
    /// written.
    long: BTreeSet<String>,
    /// However short: what is hidden in keys, which the name of a place is made of.
    in_keys: BTreeSet<&'t str>,
}

impl<'t> HiddenTexts<'t> {
    /// With what else is not to be shown of the text.
    pub(crate) fn of(source: &'t PlanSource, more: impl IntoIterator<Item = Range<usize>>) -> Self {
        let search = Search::of(source);
        let text = &*source.text;
        let parts = search.parts();
        let more: Vec<Range<usize>> = more.into_iter().collect();
        let written = parts.iter().chain(&more);
        let written = written.filter_map(|part| text.get(part.clone()));
        let mut long = BTreeSet::new();
        for value in search.values.iter().map(String::as_str).chain(written) {
            let value = value.trim().trim_matches(['"', '\'']);
            let texts = match refers(value) {
                true => words(value),
                false => vec![value],
            };
            let texts = texts.into_iter().filter(|text| text.len() >= ANYWHERE);
            long.extend(texts.map(str::to_owned));
        }
        let in_keys = search.in_keys.iter();
        let in_keys = in_keys.filter_map(|(start, end)| text.get(*start..*end));
        let with_words = |part: Range<usize>| {
            let written = text.get(part.clone()).unwrap_or_default();
            (part, words(written).into_iter().collect())
        };
        Self {
            text,
            parts: parts.into_iter().map(with_words).collect(),
            long,
            in_keys: in_keys.collect(),
        }
    }

    /// A key in the name of a place, if something in it is hidden: with stars there.
    pub(crate) fn masked_key(&self, key: &str) -> Option<String> {
        let long = self.long.iter().map(String::as_str);
        let found = long.chain(self.in_keys.iter().copied()).flat_map(|secret| {
            let at = key.match_indices(secret).map(|(at, _)| at);
            at.map(|at| at..at + secret.len())
        });
        let found =
            found.filter(|part| part.len() >= ANYWHERE || !is_part_of_a_word(key, part.clone()));
        let found: Vec<Range<usize>> = found.collect();
        (!found.is_empty()).then(|| starred(key, found).into_owned())
    }

    /// What is said of a place in the text, if that quotes something hidden:
    /// with stars there. A short value is looked for only in what is said of its
    /// own line, where hints quote it in parts and with other quotes, and there not
    /// in jelly's own words.
    pub(crate) fn masked(&self, said: &str, about: Option<&Range<usize>>) -> Option<String> {
        let mut secrets: Vec<&str> = self.long.iter().map(String::as_str).collect();
        if let Some(lines) = about.map(|about| self.lines(about)) {
            let is_beside = |part: &Range<usize>| part.start < lines.end && lines.start < part.end;
            let beside = self.parts.iter().filter(|(part, _)| is_beside(part));
            secrets.extend(beside.flat_map(|(_, words)| words));
        }
        let mut found = Vec::new();
        for secret in secrets {
            for (at, _) in said.match_indices(secret) {
                let end = at + secret.len();
                let is_quoted =
                    || said[..at].matches('`').count() % 2 == 1 || said[..at].contains("write ");
                if secret.len() >= ANYWHERE || is_quoted() && !is_part_of_a_word(said, at..end) {
                    found.push(at..end);
                }
            }
        }
        (!found.is_empty()).then(|| starred(said, found).into_owned())
    }

    /// Whether a text from which bytes were left out holds the beginning or the
    /// end of something hidden.
    pub(crate) fn is_cut_in(&self, said: &str) -> bool {
        self.long.iter().any(|secret| {
            let begin = &secret[..secret.floor_char_boundary(ANYWHERE)];
            let end = &secret[secret.ceil_char_boundary(secret.len() - ANYWHERE)..];
            said.contains(begin) || said.contains(end)
        })
    }

    /// From the beginning of the first line to the end of the last.
    fn lines(&self, about: &Range<usize>) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let is_end = |byte: &u8| *byte == b'\n';
        let start = about.start.min(bytes.len());
        let end = about.end.clamp(start, bytes.len());
        let first = bytes[..start].iter().rposition(is_end);
        let last = bytes[end..].iter().position(is_end);
        first.map_or(0, |at| at + 1)..last.map_or(bytes.len(), |at| end + at)
    }
}

/// The words of a hidden text, and each without the signs around it: no keys, no
/// references, and not the scheme of an `Authorization`.
fn words(hidden: &str) -> Vec<&str> {
    let mut words = match refers(hidden) {
        true => Vec::new(),
        false => vec![hidden.trim()],
    };
    let last_close = hidden.rfind('}').map_or(0, |at| hidden.len() - at);
    let mut rest = hidden;
    while !rest.is_empty() {
        let (before, reference) = rest.split_at(first_reference(rest).unwrap_or(rest.len()));
        let borders = |c: char| c.is_whitespace() || ",{}[]\"'`".contains(c);
        words.extend(before.split(borders).filter(|word| {
            !word.ends_with(':') && !SCHEMES.contains(&word.to_ascii_lowercase().as_str())
        }));
        // Where no bracket is left, none is looked for.
        let is_closed = last_close > 0 && reference.len() >= last_close;
        let close = is_closed.then(|| reference.find('}')).flatten();
        rest = match close {
            Some(close) => reference[close..].trim_start_matches('}'),
            None => reference.get(2..).unwrap_or_default(),
        };
    }
    words.retain(|word| !bare(word).is_empty());
    let without: Vec<&str> = words.iter().copied().map(bare).collect();
    words.extend(without);
    words
}

/// Where the first reference begins, looked for only as far as that.
fn first_reference(text: &str) -> Option<usize> {
    text.match_indices('{').find_map(|(at, _)| {
        let is_doubled = text[at + 1..].starts_with('{');
        match text[..at].ends_with('$') {
            true => Some(at - 1),
            false => is_doubled.then_some(at),
        }
    })
}

fn refers(text: &str) -> bool {
    REFERENCES.into_iter().any(|open| text.contains(open))
}

/// Without the signs around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn is_part_of_a_word(text: &str, part: Range<usize>) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let inside = &text[part.clone()];
    is_word(text[..part.start].chars().next_back()) && is_word(inside.chars().next())
        || is_word(text[part.end..].chars().next()) && is_word(inside.chars().next_back())
}
