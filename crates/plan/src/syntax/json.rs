//! JSON text → the tree.
//!
//! serde_json says whether the text is JSON at all, and reads its strings and
//! numbers; this finds their places.

use super::MAX_DEPTH;
use super::node::{Data, Entry, Node, Style, Trouble};
use super::whole::find_duplicates;
use serde_json::Number;
use std::borrow::Cow;
use std::ops::Range;

/// Parses a JSON document.
pub(crate) fn parse(text: &str) -> (Option<Node<'_>>, Vec<Trouble>) {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    if text[start..].trim().is_empty() {
        return (None, Vec::new());
    }
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&text[start..]) {
        return (None, vec![syntax_error(text, start, &error)]);
    }
    let mut walk = Walk {
        text,
        at: start,
        troubles: Vec::new(),
    };
    let root = walk.value(0);
    let mut troubles = walk.troubles;
    let root = root.map(|mut root| {
        find_duplicates(&mut root, &mut troubles);
        root
    });
    (root, troubles)
}

fn syntax_error(text: &str, start: usize, error: &serde_json::Error) -> Trouble {
    let line_start = text[start..]
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum::<usize>()
        + start;
    // serde_json's columns count bytes, up to and with the one that is wrong.
    let at =
        text.floor_char_boundary((line_start + error.column().saturating_sub(1)).min(text.len()));
    let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    let message = error.to_string();
    let message = message
        .rsplit_once(" at line ")
        .map_or(message.as_str(), |(message, _)| message);
    if error.is_eof() {
        let what = message.trim_start_matches("EOF while parsing ");
        return Trouble::new(at..end, format!("invalid JSON: it ends within {what}"))
            .hint("a quote or a closing bracket is missing");
    }
    let after_comma = text[start..at].trim_end().ends_with(',');
    if after_comma && text[at..].starts_with(['}', ']']) {
        Trouble::new(at..end, "trailing comma")
            .hint("JSON allows no comma before a closing bracket")
    } else if text[at..].starts_with(['/', '#']) {
        Trouble::new(at..end, message).hint("JSON has no comments; YAML plans may have them")
    } else {
        Trouble::new(at..end, message)
    }
}

/// A walk through a text that is known to be JSON. Where it meets what it
/// does not expect, it reports it and ends: there is no way to panic.
struct Walk<'t> {
    text: &'t str,
    at: usize,
    troubles: Vec<Trouble>,
}

impl<'t> Walk<'t> {
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn trouble(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.troubles.push(Trouble::new(span, message));
    }

    fn value(&mut self, depth: usize) -> Option<Node<'t>> {
        let first = self.peek()?;
        let start = self.at;
        if depth > MAX_DEPTH {
            self.trouble(
                start..start + 1,
                format!("nested deeper than {MAX_DEPTH} levels"),
            );
            return None;
        }
        match first {
            b'{' => self.map(depth),
            b'[' => self.list(depth),
            b'"' => {
                let (text, span) = self.string()?;
                Some(Node::new(Data::String(text), span, Style::DoubleQuoted))
            }
            _ => {
                let rest = &self.text[start..];
                let length = rest
                    .find(|c: char| c.is_ascii_whitespace() || matches!(c, ',' | ']' | '}'))
                    .unwrap_or(rest.len());
                self.at += length;
                let span = start..self.at;
                let data = match &rest[..length] {
                    "null" => Data::Null,
                    "true" => Data::Bool(true),
                    "false" => Data::Bool(false),
                    number => self.number(number, &span)?,
                };
                Some(Node::new(data, span, Style::Plain))
            }
        }
    }

    fn number(&mut self, written: &'t str, span: &Range<usize>) -> Option<Data<'t>> {
        match serde_json::from_str::<Number>(written) {
            Ok(number) => Some(Data::Number(number)),
            Err(_) => {
                self.trouble(span.clone(), format!("`{written}` is not a JSON value"));
                None
            }
        }
    }

    fn string(&mut self) -> Option<(Cow<'t, str>, Range<usize>)> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        let mut escaped = false;
        loop {
            match bytes.get(end)? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    end += 2;
                }
                _ => end += 1,
            }
        }
        self.at = end + 1;
        let span = start..self.at;
        let raw = self.text.get(span.clone())?;
        if !escaped {
            return Some((Cow::Borrowed(&raw[1..raw.len() - 1]), span));
        }
        match serde_json::from_str::<String>(raw) {
            Ok(text) => Some((Cow::Owned(text), span)),
            Err(error) => {
                self.troubles.push(syntax_error_in(raw, start, &error));
                None
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Node<'t>> {
        let start = self.at;
        self.at += 1;
        let mut items = Vec::new();
        loop {
            match self.peek()? {
                b']' => break,
                b',' => self.at += 1,
                _ => items.push(self.value(depth + 1)?),
            }
        }
        self.at += 1;
        Some(Node::new(Data::List(items), start..self.at, Style::Flow))
    }

    fn map(&mut self, depth: usize) -> Option<Node<'t>> {
        let start = self.at;
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            match self.peek()? {
                b'}' => break,
                b'"' => {
                    let (key, span) = self.string()?;
                    self.peek()?;
                    self.at += 1;
                    entries.push(Entry {
                        key,
                        key_span: span.into(),
                        value: self.value(depth + 1)?,
                        merged: false,
                    });
                }
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(Node::new(Data::Map(entries), start..self.at, Style::Flow))
    }
}

fn syntax_error_in(raw: &str, start: usize, error: &serde_json::Error) -> Trouble {
    let trouble = syntax_error(raw, 0, error);
    let span = trouble.span.range();
    Trouble {
        span: (start + span.start..start + span.end).into(),
        ..trouble
    }
}
