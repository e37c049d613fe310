//! Where lists and texts stand in JSON, TOML and YAML, and what to splice to
//! change them.
//!
//! Main type: [`TextList`].

use super::clients::Syntax;
use super::document::{Data, Member, Node};
use super::entry::Place;
use super::written::quoted;
use std::ops::Range;

/// A list of texts, in brackets or by dashes.
pub(super) struct TextList<'t> {
    text: &'t str,
    node: &'t Node,
    start: usize,
    in_brackets: bool,
}

impl<'t> TextList<'t> {
    pub(super) fn of(text: &'t str, node: &'t Node) -> Option<Self> {
        if !matches!(node.data, Data::List(_)) {
            return None;
        }
        let start = offset(text, node.place)?;
        Some(Self {
            text,
            node,
            start,
            in_brackets: text[start..].starts_with('['),
        })
    }

    pub(super) fn elements(&self) -> &'t [Node] {
        self.node.elements()
    }

    fn item(&self, index: usize) -> Option<usize> {
        offset(self.text, self.node.elements().get(index)?.place)
    }

    pub(super) fn scalar(&self, item: &Node) -> Option<Range<usize>> {
        scalar(self.text, offset(self.text, item.place)?, self.in_brackets)
    }

    /// Puts items before the first.
    pub(super) fn insert(&self, items: &[String]) -> Option<(Range<usize>, String)> {
        let Some(first) = self.item(0) else {
            let at = self.start + 1;
            return self.in_brackets.then(|| (at..at, items.join(", ")));
        };
        if self.in_brackets {
            // In the layout of the list: each on its line where the first is.
            let between = self.between(first);
            let items: String = items
                .iter()
                .map(|item| format!("{item},{between}"))
                .collect();
            return Some((first..first, items));
        }
        let dash = self.dash(first)?;
        let line = self.text[..dash].rfind('\n').map_or(0, |feed| feed + 1);
        let feed = if self.text[..line].ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        let between = &self.text[dash..first];
        let indent = " ".repeat(self.text[line..dash].chars().count());
        let items: String = items
            .iter()
            .map(|item| format!("{between}{item}{feed}{indent}"))
            .collect();
        Some((dash..dash, items))
    }

    /// What stands before the first item where it begins a line, else a blank.
    fn between(&self, first: usize) -> String {
        let before = &self.text[self.start + 1..first];
        match before.rfind('\n') {
            Some(feed) if before[feed..].trim().is_empty() => {
                let feed = if before[..feed].ends_with('\r') {
                    feed - 1
                } else {
                    feed
                };
                before[feed..].to_owned()
            }
            Some(_) | None => " ".to_owned(),
        }
    }

    /// Takes the first `count` items out.
    pub(super) fn remove_first(&self, count: usize) -> Option<(Range<usize>, String)> {
        let first = self.item(0)?;
        match (self.item(count), self.in_brackets) {
            (Some(kept), true) => Some((first..kept, String::new())),
            (Some(kept), false) => Some((self.dash(first)?..self.dash(kept)?, String::new())),
            (None, true) => {
                let last = self.last_end()?;
                // Who writes the file may put a comma behind the last item.
                let rest = self.text[last..].trim_start();
                let end = match rest.strip_prefix(',') {
                    Some(rest) => self.text.len() - rest.len(),
                    None => last,
                };
                Some((first..end, String::new()))
            }
            (None, false) => Some((self.dash(first)?..self.last_end()?, "[]".to_owned())),
        }
    }

    fn last_end(&self) -> Option<usize> {
        Some(self.scalar(self.node.elements().last()?)?.end)
    }

    /// Behind the whole list.
    pub(super) fn end(&self) -> Option<usize> {
        let last = match self.node.elements() {
            [] if self.in_brackets => self.start + 1,
            _ => self.last_end()?,
        };
        if !self.in_brackets {
            return Some(last);
        }
        let rest = &self.text[last..];
        let inside = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        inside
            .starts_with(']')
            .then(|| self.text.len() - inside.len() + 1)
    }

    /// The dash before an item.
    fn dash(&self, item: usize) -> Option<usize> {
        let before = self.text[..item].trim_end_matches([' ', '\t']);
        before.ends_with('-').then(|| before.len() - 1)
    }
}

/// The bytes of a place.
pub(super) fn offset(text: &str, place: Place) -> Option<usize> {
    let mut start = 0;
    for _ in 1..place.line {
        start += text[start..].find('\n')? + 1;
    }
    let line = text[start..].split('\n').next()?;
    let mut columns = line.char_indices().map(|(at, _)| at).chain([line.len()]);
    Some(start + columns.nth(place.column.checked_sub(1)?)?)
}

/// The bytes of a text that stands in one line, in quotes or without.
pub(super) fn scalar(text: &str, start: usize, in_flow: bool) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let length = match rest.chars().next()? {
        '"' if rest.starts_with("\"\"\"") => return None,
        '\'' if rest.starts_with("'''") => return None,
        '"' => {
            let mut escaped = false;
            let end = rest[1..].char_indices().find(|(_, c)| {
                let ends = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            end?.0 + 2
        }
        '\'' if rest.starts_with("''") => 2,
        '\'' => {
            // Two of them stand for one, in YAML.
            let mut quotes = rest.match_indices('\'').skip(1).map(|(at, _)| at);
            loop {
                let at = quotes.next()?;
                if !rest[at + 1..].starts_with('\'') {
                    break at + 1;
                }
                quotes.next();
            }
        }
        '|' | '>' | '&' | '*' | '!' | '[' | '{' => return None,
        _ => {
            let line = rest.lines().next()?;
            let comment = line.find(" #").unwrap_or(line.len());
            let flow = match in_flow {
                true => line.find([',', ']', '}']).unwrap_or(line.len()),
                false => line.len(),
            };
            line[..comment.min(flow)].trim_end().len()
        }
    };
    let range = start..start + length;
    (!text[range.clone()].contains('\n')).then_some(range)
}

/// Whether the members of an object stand in braces, with commas between them;
/// else each has lines of its own.
pub(super) fn is_flow(text: &str, syntax: Syntax, object: &Node) -> bool {
    match syntax {
        Syntax::StrictJson | Syntax::JsonWithComments | Syntax::Jsonc => true,
        Syntax::Toml | Syntax::Yaml => {
            offset(text, object.place).is_some_and(|start| text[start..].starts_with('{'))
        }
    }
}

/// The bytes of a member's name, which stands alone before its value: dotted
/// ones are none.
pub(super) fn key(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let end = match rest.chars().next()? {
        '"' | '\'' => scalar(text, start, true)?.end,
        _ => {
            let end = rest.find(|c: char| c.is_whitespace() || ":=].".contains(c))?;
            start + end
        }
    };
    let next = text[end..].trim_start_matches([' ', '\t']).chars().next()?;
    (end > start && [':', '=', ']'].contains(&next)).then_some(start..end)
}

/// A name in the quotes that another one has, or without where that has none.
pub(super) fn named_alike(raw: &str, name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match raw.chars().next() {
        Some('\'') if !name.contains(['\'', '\n']) => format!("'{name}'"),
        Some('"' | '\'') | None => quoted(name),
        Some(_) if name.is_empty() || !name.chars().all(is_plain) => quoted(name),
        Some(_) => name.to_owned(),
    }
}

/// The bytes of a member whose value is a text or a list of texts, with what
/// parts it from the others.
pub(super) fn member_range(text: &str, member: &Member, in_flow: bool) -> Option<Range<usize>> {
    let start = offset(text, member.place)?;
    let end = match &member.value.data {
        Data::List(_) => TextList::of(text, &member.value)?.end()?,
        _ => scalar(text, offset(text, member.value.place)?, in_flow)?.end,
    };
    if in_flow {
        let before = text[..start].trim_end();
        if before.ends_with(',') {
            return Some(before.len() - 1..end);
        }
        let rest = text[end..].trim_start();
        let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        return Some(start..text.len() - rest.len());
    }
    let line = text[..start].rfind('\n')?;
    let line = match text[..line].ends_with('\r') {
        true => line - 1,
        false => line,
    };
    Some(line..end)
}

/// A text with bytes replaced.
pub(super) fn spliced(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut text = text.to_owned();
    for (range, with) in edits {
        text.replace_range(range, &with);
    }
    text
}
