//! Which bytes an edit replaces.

use super::EditError;
use super::emit::{self, Context};
use crate::DocPath;
use crate::source::Format;
use crate::syntax::{Entry, Node, Style};
use serde_json::Value;
use std::ops::Range;

/// What stands around a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValuePlace {
    pub context: Context,
    /// Where what stands before the value ends: its key, or the item before.
    pub before: usize,
    /// The end of its key, if it has one.
    pub key_end: Option<usize>,
}

/// The text with the questions that splicing asks of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'t>(pub &'t str);

impl<'t> Text<'t> {
    fn slice(self, range: Range<usize>) -> &'t str {
        self.0.get(range).unwrap_or_default()
    }

    /// The number of the line, from 1.
    pub(super) fn line(self, at: usize) -> usize {
        1 + self.slice(0..at).matches('\n').count()
    }

    fn line_start(self, at: usize) -> usize {
        let before = self.slice(0..at);
        before.rfind('\n').map_or(0, |feed| feed + 1)
    }

    /// Where the line of `at` ends, before its feed.
    fn line_end(self, at: usize) -> usize {
        let rest = self.slice(at..self.0.len());
        let end = rest.find('\n').map_or(self.0.len(), |feed| at + feed);
        if end > at && self.0.as_bytes().get(end - 1) == Some(&b'\r') {
            end - 1
        } else {
            end
        }
    }

    /// Behind the feed of the line of `at`.
    fn next_line(self, at: usize) -> usize {
        let rest = self.slice(at..self.0.len());
        rest.find('\n').map_or(self.0.len(), |feed| at + feed + 1)
    }

    /// How the text ends its lines.
    fn feed(self) -> &'static str {
        match self.0.find('\n') {
            Some(at) if self.slice(0..at).ends_with('\r') => "\r\n",
            Some(_) | None => "\n",
        }
    }

    /// Blanks as wide as what stands before `at` on its line.
    fn indent_of(self, at: usize) -> String {
        let before = self.slice(self.line_start(at)..at);
        " ".repeat(before.trim_start_matches('\u{feff}').chars().count())
    }

    /// Whether nothing stands before `at` on its line.
    fn begins_line(self, at: usize) -> bool {
        self.slice(self.line_start(at)..at)
            .bytes()
            .all(|b| b == b' ' || b == b'\t')
    }

    /// Whether an item in brackets shares its lines only with its comma and a
    /// comment.
    fn owns_lines(self, item: &Node<'_>) -> bool {
        let site = item.site.range();
        let rest = self.slice(site.end..self.line_end(site.end)).trim_start();
        let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        self.begins_line(site.start) && (rest.is_empty() || rest.starts_with('#'))
    }

    /// The dash of the block list item whose content begins at `content`.
    pub(super) fn dash(self, before: usize, content: usize) -> Option<usize> {
        let region = self.slice(before..content.max(before));
        let mut at = before;
        for line in region.split_inclusive('\n') {
            let blank = line.len() - line.trim_start().len();
            let rest = &line[blank..];
            // At the start of the region the rest of the line before stands;
            // a dash there belongs to a list in a list.
            if rest.starts_with('-') && rest[1..].chars().next().is_none_or(char::is_whitespace) {
                return Some(at + blank);
            }
            at += line.len();
        }
        None
    }
}

/// Replacements that don't touch each other.
#[derive(Debug, Default)]
pub(super) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    pub(super) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    /// The text with all replacements made.
    pub(super) fn apply(mut self, text: &str) -> Result<String, EditError> {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut result = String::with_capacity(text.len());
        let mut at = 0;
        for (range, new) in &self.0 {
            let conflict = || EditError::Conflict(DocPath::default());
            result.push_str(text.get(at..range.start).ok_or_else(conflict)?);
            result.push_str(new);
            at = range.end;
        }
        result.push_str(text.get(at..).unwrap_or_default());
        Ok(result)
    }

    /// Replaces a scalar.
    pub(super) fn set(
        &mut self,
        text: Text<'_>,
        node: &Node<'_>,
        value: &Value,
        place: ValuePlace,
    ) {
        let span = node.span.range();
        match node.style {
            Style::Literal | Style::Folded => self.set_block(text, node, value, place),
            _ if span.is_empty() => self.fill(text, &span, value, place),
            style => self.replace(span, emit::value(value, style, place.context)),
        }
    }

    /// Gives a value to a key (or a dash) that had none.
    fn fill(&mut self, text: Text<'_>, span: &Range<usize>, value: &Value, place: ValuePlace) {
        let new = emit::value(value, Style::Plain, place.context);
        if let Some(key_end) = place.key_end {
            let rest = text.slice(key_end..text.0.len());
            let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            if rest[blank..].starts_with(':') {
                let at = key_end + blank + 1;
                self.replace(at..at, format!(" {new}"));
            } else {
                self.replace(key_end..key_end, format!(": {new}"));
            }
        } else if text.slice(0..place.before).ends_with('-') {
            self.replace(place.before..place.before, format!(" {new}"));
        } else {
            self.replace(span.clone(), new);
        }
    }

    /// Replaces a block scalar: as one if it can be, else by a quoted one.
    fn set_block(&mut self, text: Text<'_>, node: &Node<'_>, value: &Value, place: ValuePlace) {
        let start = node.span.start as usize;
        let first_line = text.line_start(start);
        let end = node.span.end as usize;
        let region = text.slice(place.before..start);
        let Some(header) = region.find(['|', '>']).map(|at| place.before + at) else {
            return;
        };
        let mark = text.slice(header..text.line_end(header));
        let mark = mark.split_whitespace().next().unwrap_or_default();
        if let (Value::String(new), Style::Literal, "|" | "|-") = (value, node.style, mark) {
            let indent = text.slice(first_line..start);
            if let Some(lines) = emit::literal_lines(new, mark == "|-", indent, text.feed()) {
                self.replace(first_line..end, lines);
                return;
            }
        }
        let style = Style::DoubleQuoted;
        let new = emit::value(value, style, place.context);
        self.replace(header..header + mark.len(), new);
        // The comment of the header stays.
        self.replace(text.line_end(header)..end, "");
    }

    /// Adds `key: value` texts to a map.
    pub(super) fn add_entries(
        &mut self,
        text: Text<'_>,
        node: &Node<'_>,
        entries: &[Entry<'_>],
        added: &[String],
    ) {
        if node.style == Style::Flow {
            let last = entries
                .iter()
                .map(|entry| {
                    let value = entry.value.site.end.max(entry.key_span.end);
                    (entry.key_span.start as usize, value as usize, entry.merged)
                })
                .next_back()
                // What a merge key brought has no place here to add after.
                .filter(|(_, _, merged)| !merged)
                .map(|(start, end, _)| start..end);
            self.add_in_brackets(text, node, !entries.is_empty(), last, added);
        } else {
            let indent = text.indent_of(node.span.start as usize);
            self.add_lines(text, node, &indent, added);
        }
    }

    /// Adds items to a list.
    pub(super) fn add_items(
        &mut self,
        text: Text<'_>,
        node: &Node<'_>,
        items: &[Node<'_>],
        place: ValuePlace,
        added: &[String],
    ) {
        if node.style == Style::Flow {
            let last = items.last().map(|item| item.site.range());
            self.add_in_brackets(text, node, !items.is_empty(), last, added);
        } else if let Some(first) = items.first()
            && let Some(dash) = text.dash(place.before, first.site.start as usize)
        {
            let indent = format!("{}- ", text.indent_of(dash));
            self.add_lines(text, node, &indent, added);
        }
    }

    fn add_lines(&mut self, text: Text<'_>, node: &Node<'_>, indent: &str, added: &[String]) {
        let at = text.line_end(node.span.end as usize);
        let feed = text.feed();
        let lines: String = added
            .iter()
            .map(|line| format!("{feed}{indent}{line}"))
            .collect();
        self.replace(at..at, lines);
    }

    fn add_in_brackets(
        &mut self,
        text: Text<'_>,
        node: &Node<'_>,
        has_some: bool,
        last: Option<Range<usize>>,
        added: &[String],
    ) {
        match last {
            Some(last) => {
                // On its own line where the last one is.
                let before = if text.begins_line(last.start) {
                    format!(",{}{}", text.feed(), text.indent_of(last.start))
                } else {
                    ", ".into()
                };
                let new: String = added.iter().map(|one| format!("{before}{one}")).collect();
                self.replace(last.end..last.end, new);
            }
            None => {
                let at = node.span.start as usize + 1;
                let after = if has_some { ", " } else { "" };
                self.replace(at..at, format!("{}{after}", added.join(", ")));
            }
        }
    }

    /// Takes the marked items out of a list.
    pub(super) fn remove_items(
        &mut self,
        text: Text<'_>,
        node: &Node<'_>,
        items: &[Node<'_>],
        removed: &[bool],
        place: ValuePlace,
    ) {
        if node.style == Style::Flow {
            self.remove_in_brackets(text, node, items, removed, place.context.format);
        } else {
            self.remove_lines(text, node, items, removed, place);
        }
    }

    fn remove_in_brackets(
        &mut self,
        text: Text<'_>,
        node: &Node<'_>,
        items: &[Node<'_>],
        removed: &[bool],
        format: Format,
    ) {
        if removed.iter().all(|gone| *gone) {
            return self.replace(node.span.range(), "[]");
        }
        let gone = || items.iter().zip(removed).filter(|(_, gone)| **gone);
        // YAML forgives the comma that is then left at the end; so an item on
        // a line of its own takes its own comment along, and no other's.
        if format == Format::Yaml && gone().all(|(item, _)| text.owns_lines(item)) {
            for (item, _) in gone() {
                let site = item.site.range();
                self.replace(text.line_start(site.start)..text.next_line(site.end), "");
            }
            return;
        }
        let mut kept_before = None;
        for (index, item) in items.iter().enumerate() {
            let site = item.site.range();
            if !removed[index] {
                kept_before = Some(index);
            } else if kept_before.is_some() {
                let start = items[index - 1].site.end as usize;
                self.replace(start..site.end, "");
            } else if let Some(next) = items.get(index + 1) {
                self.replace(site.start..next.site.start as usize, "");
            }
        }
    }

    fn remove_lines(
        &mut self,
        text: Text<'_>,
        node: &Node<'_>,
        items: &[Node<'_>],
        removed: &[bool],
        place: ValuePlace,
    ) {
        let mut before = place.before;
        let mut dashes = Vec::with_capacity(items.len());
        for item in items {
            dashes.push(text.dash(before, item.site.start as usize));
            before = item.site.end as usize;
        }
        let all = removed.iter().all(|gone| *gone);
        for (index, item) in items.iter().enumerate() {
            let Some(dash) = dashes[index].filter(|_| removed[index]) else {
                continue;
            };
            let end = item.site.end as usize;
            if text.begins_line(dash) {
                let end = text.next_line(end.max(dash + 1).min(text.0.len()));
                self.replace(text.line_start(dash)..end, "");
            } else if let Some(next) = dashes.get(index + 1).copied().flatten() {
                // A list in a list: the first item shares its line.
                self.replace(dash..next, "");
            } else {
                self.replace(dash..end, "");
            }
        }
        if all {
            // A list without items must say so, behind its key or dash.
            let at = match place.key_end {
                Some(key_end) => text
                    .slice(key_end..node.span.end as usize)
                    .find(':')
                    .map_or(key_end, |colon| key_end + colon + 1),
                None => place.before,
            };
            let blank = if at == 0 { "" } else { " " };
            self.replace(at..at, format!("{blank}[]"));
        }
    }
}
