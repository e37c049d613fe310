//! A plan's text as it may be shown and stored: without the values of its
//! `headers`, and without what it spells out of secrets anywhere.
//!
//! The main functions are [`shown_plan`] and [`shown_diff`], and beside them
//! [`literal_secrets`]: what is to be masked in all other texts. They hide the
//! bytes of the text that hold such a value, so that lines, comments and
//! layout stay; references such as `${secret:NAME}` hide nothing and are left.
//! What is masked says so in its first line, and [`load`](super::load) refuses
//! it: it is to be read by people, and to be run by nobody.

mod keys;
mod lines;
mod said;

pub(crate) use said::HiddenTexts;

use super::edit::diff;
use super::source::PlanSource;
use super::syntax::{self, Data, Node, Style};
use super::template::{Part, Template};
use indexmap::IndexMap;
use jelly_base::text::redact::{
    Found, Redactor, has_secret_form, looks_secret, secrets_by_form, secrets_in_args,
    secrets_in_argv, secrets_in_header, secrets_in_line, secrets_in_variable, shell_lines,
};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

/// How the first line of what is masked begins.
const MARK: &str = "# masked by jelly: ";
/// What stands where something is hidden: a word in every style of YAML.
const HIDDEN: &str = "<masked>";
/// The map whose values are hidden whatever they are.
const HEADERS: &str = "headers";
/// A list of it begins with the program, and a text may be a whole line.
const COMMAND: &str = "command";
/// Its values are paths into answers, under names of the plan's own.
const CAPTURE: &str = "capture";
/// What a server's `auth` says in a word is no secret.
const AUTH: (&str, usize) = ("auth", 2);
/// Alone, it names an entry more often than what opens a door.
const KEY: &str = "key";
/// From so many bytes on, a hidden value is hidden wherever else it stands.
const ANYWHERE: usize = 8;
/// How a variable begins, in a plan and as others write it.
const REFERENCES: [&str; 2] = ["${", "{{"];
/// Before the value of an `Authorization`: these may be read.
const SCHEMES: &[&str] = &["bearer", "basic", "token", "digest", "apikey"];

/// A shorter value stands in words that are nobody's secret.
const MIN_VALUE: usize = 6;
/// From so many bytes on, small letters alone are no word of a language.
const NO_WORD: usize = 12;

/// Whether a text says of itself that it is masked.
pub(crate) fn is_masked(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').starts_with(MARK)
}

/// The text of a plan for a report.
#[must_use]
pub fn shown_plan(source: &PlanSource, redactor: &Redactor) -> String {
    let shown = redacted(source, redactor);
    if *shown == *source.text {
        return shown.into_owned();
    }
    format!(
        "{MARK}values of headers and secrets are left out, so that this is no plan to run; \
         `jelly apply` makes the repairs of a run in your own file\n{shown}"
    )
}

/// The change of a plan for a report, as a unified diff; empty where nothing
/// changed.
#[must_use]
pub fn shown_diff(before: &PlanSource, after: &PlanSource, redactor: &Redactor) -> String {
    let plain = diff(before, after);
    if plain.is_empty() {
        return plain;
    }
    let masked = |source: &PlanSource| PlanSource {
        text: redacted(source, redactor).into(),
        ..source.clone()
    };
    let shown = diff(&masked(before), &masked(after));
    let shown = redactor.redact(&shown);
    if shown == plain {
        plain
    } else if shown.is_empty() {
        format!("{MARK}the texts differ only in values that are left out\n")
    } else {
        format!(
            "{MARK}values of headers and secrets are left out, so that this is no patch to \
             apply; `jelly apply` makes the repairs of a run in your own file\n{shown}"
        )
    }
}

fn redacted<'s>(source: &'s PlanSource, redactor: &Redactor) -> Cow<'s, str> {
    let hidden = hidden_parts(source);
    if hidden.is_empty() {
        return redactor.redact(&source.text);
    }
    let mut shown = String::with_capacity(source.text.len());
    let mut at = 0;
    for part in hidden {
        shown.push_str(&source.text[at..part.start]);
        shown.push_str(HIDDEN);
        at = part.end;
    }
    shown.push_str(&source.text[at..]);
    Cow::Owned(redactor.redact(&shown).into_owned())
}

/// The bytes of a plan's text that are not to be shown, in their order and
/// apart from each other, none over the end of a line.
pub(crate) fn hidden_parts(source: &PlanSource) -> Vec<Range<usize>> {
    Search::of(source).parts()
}

/// `text` with stars in the place of these parts, so that all else stays where
/// it is.
pub(crate) fn starred(text: &str, parts: impl IntoIterator<Item = Range<usize>>) -> Cow<'_, str> {
    let mut shown = Cow::Borrowed(text);
    for part in parts {
        if let Some(secret) = text.get(part.clone()) {
            let star = |byte| if byte == b'\n' { '\n' } else { '*' };
            let stars: String = secret.bytes().map(star).collect();
            shown.to_mut().replace_range(part, &stars);
        }
    }
    shown
}

/// Names and values of the secrets that a plan, and what was given to it from
/// outside, spell out, as far as they can be looked for in other texts.
pub(crate) fn literal_secrets(
    text: &str,
    root: &Node<'_>,
    given: &IndexMap<String, Value>,
) -> Vec<(String, String)> {
    let mut search = Search::new(text);
    search.node(root, "", 0, false, "");
    for (name, value) in given {
        if let Value::String(value) = value {
            search.learn(&secrets_in_variable(name, value));
        }
    }
    search.literals
}

struct Search<'t> {
    text: &'t str,
    hidden: BTreeSet<(usize, usize)>,
    /// What was hidden, as it is meant.
    values: HashSet<String>,
    /// What was hidden in keys, where it is written.
    in_keys: BTreeSet<(usize, usize)>,
    /// Where no comment can begin.
    scalars: Vec<(u32, u32)>,
    /// What can be looked for in other texts.
    literals: Vec<(String, String)>,
}

impl<'t> Search<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            hidden: BTreeSet::new(),
            values: HashSet::new(),
            in_keys: BTreeSet::new(),
            scalars: Vec::new(),
            literals: Vec::new(),
        }
    }

    fn of(source: &'t PlanSource) -> Self {
        let mut search = Self::new(&source.text);
        match syntax::parse(source).0 {
            Some(root) => {
                search.node(&root, "", 0, false, "");
                search.scalars.sort_unstable();
                search.comments();
            }
            None => search.lines(),
        }
        search.elsewhere();
        search
    }

    /// What is hidden, in its order and apart from each other.
    fn parts(&self) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        for &(start, end) in &self.hidden {
            match parts.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                Some(_) | None => parts.push(start..end),
            }
        }
        parts
    }

    /// Whether these bytes are the name in `${secret:NAME}`: between brackets and without quotes,
    /// YAML reads that as a map with the name for a value. A name hides nothing; what is a secret
    /// elsewhere, or by its own form, is masked here, too.
    fn is_name(&self, part: Range<usize>) -> bool {
        let before = self.text[..part.start].trim_end();
        let name = self.text[part.clone()].trim_matches(['"', '\'']);
        before.ends_with("${secret:")
            && self.text[part.end..].trim_start().starts_with('}')
            && !has_secret_form(name)
    }

    /// Keeps what can be masked in every text without hiding words that mean
    /// something else.
    fn learn(&mut self, found: &[Found<'_>]) {
        for Found { name, value, .. } in found.iter().filter(|found| is_telling(found)) {
            let literal = ((*name).to_owned(), (*value).to_owned());
            if !self.literals.contains(&literal) {
                self.literals.push(literal);
            }
        }
    }

    fn text(&self) -> &'t str {
        self.text
    }

    /// Looks at what stands under this name, so deep in the document; `all` of
    /// it is hidden in headers. `program` is the command beside it, if there is one.
    fn node(&mut self, node: &Node<'t>, name: &str, depth: usize, all: bool, program: &str) {
        match &node.data {
            Data::Map(entries) => {
                let program = entries.iter().find(|entry| entry.key == COMMAND);
                let program = program.and_then(|entry| entry.value.as_str());
                let program = program.unwrap_or_default();
                self.keys(entries, name, all);
                for entry in entries {
                    self.scalars
                        .push((entry.key_span.start, entry.key_span.end));
                    let all = all || entry.key.eq_ignore_ascii_case(HEADERS);
                    let is_open =
                        name == CAPTURE || entry.key == KEY || (&*entry.key, depth) == AUTH;
                    let name = if is_open { "" } else { &*entry.key };
                    self.node(&entry.value, name, depth + 1, all, program);
                }
            }
            Data::List(items) => {
                let words: Vec<&str> = items
                    .iter()
                    .map(|item| item.as_str().unwrap_or(""))
                    .collect();
                let found = match name == COMMAND {
                    true => secrets_in_argv(&words),
                    false => secrets_in_args(program, &words),
                };
                let lines = shell_lines(program, &words);
                self.learn(&found);
                let mut seen = HashSet::new();
                for found in found {
                    if seen.insert((found.word, found.value)) {
                        self.hide(&items[found.word], found.value);
                    }
                }
                for (item, is_line) in items.iter().zip(lines) {
                    // All that is secret in a shell's line was found with its command.
                    if is_line && !all && !looks_secret(name) {
                        self.scalars.push((item.span.start, item.span.end));
                    } else {
                        self.node(item, name, depth + 1, all, "");
                    }
                }
            }
            Data::String(value) => self.scalar(node, value, name, all),
            Data::Number(_) => {
                self.scalar(node, &self.text()[node.span.range()], name, all);
            }
            Data::Bool(value) if all => self.hide(node, if *value { "true" } else { "false" }),
            Data::Null | Data::Bool(_) => {}
        }
    }

    fn scalar(&mut self, node: &Node<'t>, value: &str, name: &str, all: bool) {
        self.scalars.push((node.span.start, node.span.end));
        if self.is_name(node.span.range()) {
            return;
        }
        let found = match all {
            true => secrets_in_header(name, value),
            false if name == COMMAND => secrets_in_line(value),
            false => secrets_in_variable(name, value),
        };
        self.learn(&found);
        // A secret may stand where the name of one is meant to.
        for found in secrets_by_form(value) {
            self.hide(node, found.value);
        }
        if all || looks_secret(name) && value.contains("${") {
            for text in spelled_out(value) {
                self.hide(node, text);
            }
            return;
        }
        for found in found {
            self.hide(node, found.value);
        }
        // An entry without the space behind its colon.
        if let Some((name, rest)) = value.split_once(':')
            && node.style == Style::Plain
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        {
            for found in secrets_in_variable(name, rest) {
                self.hide(node, found.value);
            }
        }
    }

    /// Hides a part of a scalar's value.
    fn hide(&mut self, node: &Node<'t>, value: &str) {
        let quotes = match node.style {
            Style::SingleQuoted | Style::DoubleQuoted => 1,
            Style::Plain | Style::Literal | Style::Folded | Style::Block | Style::Flow => 0,
        };
        let parts = self.places_of(node.span.range(), quotes, value);
        self.hidden.extend(parts);
    }

    /// Where a part of a value stands between so many quotes, and all of that where it is not
    /// written as it is meant; it is hidden elsewhere, too.
    fn places_of(&mut self, span: Range<usize>, quotes: usize, value: &str) -> Vec<(usize, usize)> {
        if value.trim().is_empty() {
            return Vec::new();
        }
        self.values.insert(value.trim().to_owned());
        let raw = &self.text[span.clone()];
        let mut found = raw.match_indices(value).peekable();
        if !value.contains('\n') && found.peek().is_some() {
            let parts = found.map(|(at, _)| (span.start + at, span.start + at + value.len()));
            return parts.collect();
        }
        let inside = span.start + quotes..span.end.saturating_sub(quotes).max(span.start + quotes);
        lines_in(self.text, inside)
    }

    /// Hides what these bytes hold, line by line.
    fn lines_of(&mut self, part: Range<usize>) {
        self.hidden.extend(lines_in(self.text, part));
    }

    /// What was hidden once is hidden wherever it stands.
    fn elsewhere(&mut self) {
        for value in &self.values {
            if value.len() >= ANYWHERE && !value.contains('\n') {
                let found = self.text.match_indices(value.as_str());
                self.hidden
                    .extend(found.map(|(at, _)| (at, at + value.len())));
            }
        }
    }
}

/// What these bytes hold, line by line.
fn lines_in(text: &str, part: Range<usize>) -> Vec<(usize, usize)> {
    let mut at = part.start;
    let mut lines = Vec::new();
    for line in text[part].split_inclusive('\n') {
        let start = at + (line.len() - line.trim_start().len());
        let end = start + line.trim().len();
        if start < end {
            lines.push((start, end));
        }
        at += line.len();
    }
    lines
}

fn is_telling(found: &Found<'_>) -> bool {
    let value = found.value;
    let is_word = value.len() < NO_WORD && value.bytes().all(|b| b.is_ascii_lowercase());
    found.is_telling(MIN_VALUE) && !value.contains("${") && !is_word
}

/// What a value says itself, beside its references, its blanks, and the scheme
/// that an `Authorization` begins with.
fn spelled_out(value: &str) -> Vec<&str> {
    let Ok(template) = Template::parse(value) else {
        return vec![value];
    };
    let mut texts = Vec::new();
    let mut rest = value;
    for part in &template.parts {
        match part {
            Part::Text(text) if rest.starts_with(text.as_str()) => {
                texts.push(&rest[..text.len()]);
                rest = &rest[text.len()..];
            }
            // Written otherwise than it is meant, as `$${`.
            Part::Text(_) => return vec![value],
            other => match rest.strip_prefix(other.reference().as_str()) {
                Some(after) => rest = after,
                None => return vec![value],
            },
        }
    }
    if let Some(first) = texts.first_mut()
        && value.starts_with(*first)
    {
        let bare = first.trim_start();
        let (scheme, after) = bare.split_at(bare.find(' ').unwrap_or(bare.len()));
        if SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) && value.trim() != scheme {
            *first = after;
        }
    }
    texts.retain_mut(|text| {
        *text = text.trim();
        !text.is_empty()
    });
    texts
}

#[cfg(test)]
mod tests;
