//! What all readers of the tree share: collecting problems, unknown keys,
//! scalars of every kind.

use super::defaults::Defaults;
use super::hints;
use super::parse_duration::parse_duration;
use super::path::Path;
use super::problem::Problem;
use super::references::KnownNames;
use super::snapshot_names::SnapshotNames;
use crate::grammar::{Kind, Mapping, Words};
use crate::syntax::{Data, Entry, Node, Span, Trouble, one_word};
use crate::template::{Part, Template, has_reference};
use crate::{DocPath, Location, Variant};
use jelly_base::text::{Lines, close_names, plural, truncate_middle};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A mapping of the document whose keys were checked.
#[derive(Clone, Copy)]
pub(super) struct Fields<'n, 't, 'p> {
    mapping: &'static Mapping,
    pub node: &'n Node<'t>,
    pub entries: &'n [Entry<'t>],
    pub path: Path<'p>,
}

impl<'n, 't> Fields<'n, 't, '_> {
    pub(super) fn get(self, key: &str) -> Option<&'n Node<'t>> {
        get(self.entries, key)
    }

    pub(super) fn entry(self, key: &str) -> Option<&'n Entry<'t>> {
        entry(self.entries, key)
    }

    /// What stands there of the keys of which there is to be exactly one.
    pub(super) fn alternatives(self) -> impl Iterator<Item = &'n Entry<'t>> {
        let mapping = self.mapping;
        let is_one = move |entry: &&Entry<'_>| mapping.alternatives().any(|key| key == entry.key);
        self.entries.iter().filter(is_one)
    }
}

/// What a scalar of the document comes to, once its kind has been checked.
pub(super) trait Scalar<'n>: Sized {
    fn of_node(node: &'n Node<'_>) -> Option<Self>;
}

impl<'n> Scalar<'n> for &'n str {
    fn of_node(node: &'n Node<'_>) -> Option<Self> {
        node.as_str()
    }
}

impl Scalar<'_> for String {
    fn of_node(node: &Node<'_>) -> Option<Self> {
        node.as_str().map(str::to_owned)
    }
}

impl Scalar<'_> for bool {
    fn of_node(node: &Node<'_>) -> Option<Self> {
        node.to_value().as_bool()
    }
}

impl Scalar<'_> for u32 {
    fn of_node(node: &Node<'_>) -> Option<Self> {
        u32::try_from(node.to_value().as_u64()?).ok()
    }
}

impl Scalar<'_> for Duration {
    fn of_node(node: &Node<'_>) -> Option<Self> {
        node.as_str().and_then(parse_duration)
    }
}

/// The value that a word stands for in a table of them.
pub(super) fn meaning<T: Copy>(word: &str, words: &[(&'static str, T)]) -> Option<T> {
    let found = words.iter().find(|(name, _)| *name == word);
    found.map(|(_, value)| *value)
}

/// Bytes of a problem's message: a key or a value in it may be of any length.
const LONGEST_MESSAGE: usize = 600;

/// Problems that are told one by one; a plan is mended long before the last.
const MOST_PROBLEMS: usize = 200;

/// Reads a tree, and remembers everything that is wrong with it.
pub(super) struct Reader<'t> {
    /// Of the file that is read.
    pub(super) text: &'t str,
    /// The plan's own text, then those that it includes.
    files: Vec<(&'t str, Lines<'t>)>,
    file: usize,
    problems: Vec<Problem>,
    /// Those that came after enough were known; only the last is kept.
    more: Option<(usize, Problem)>,
    pub(super) names: KnownNames,
    pub(super) defaults: Defaults,
    /// The combination of the matrix that is read.
    pub(super) variant: Option<Arc<Variant>>,
    /// What would only show when the plan runs is a problem too.
    pub(super) strict: bool,
    /// Patterns and schemas that compiled already: plans repeat them.
    pub(super) good_operands: HashSet<String>,
    pub(super) snapshots: SnapshotNames,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, troubles: Vec<Trouble>) -> Self {
        let mut reader = Self {
            text,
            files: vec![(text, Lines::of(text))],
            file: 0,
            problems: Vec::new(),
            more: None,
            names: KnownNames::default(),
            defaults: Defaults::default(),
            variant: None,
            strict: false,
            good_operands: HashSet::new(),
            snapshots: SnapshotNames::default(),
        };
        reader.add_troubles(troubles);
        reader
    }

    /// Adds a file that is included; its number is the next one.
    pub(super) fn add_file(&mut self, text: &'t str, troubles: Vec<Trouble>) {
        self.files.push((text, Lines::of(text)));
        self.enter(self.files.len() - 1);
        self.add_troubles(troubles);
        self.enter(0);
    }

    /// What is read from now on stands in the file of this number.
    pub(super) fn enter(&mut self, file: usize) {
        if let Some((text, _)) = self.files.get(file) {
            self.text = text;
            self.file = file;
        }
    }

    fn add_troubles(&mut self, troubles: Vec<Trouble>) {
        for trouble in troubles {
            let problem = self.problem(trouble.span, Path::ROOT, trouble.message);
            problem.hints = trouble.hints;
            problem.also = trouble.also.map(|(span, what)| (span.range(), what));
        }
    }

    pub(super) fn into_problems(mut self) -> Vec<Problem> {
        self.enter(0);
        let mut problems = self.problems;
        if let Some((count, mut last)) = self.more {
            let end = self.text.len();
            last.span = end..end;
            last.location = lines_place(&self.files, 0, end);
            last.field = DocPath::default();
            last.message = format!(
                "and {} more; the first {MOST_PROBLEMS} are shown",
                plural(count, "problem")
            );
            last.hints.clear();
            last.also = None;
            problems.push(last);
        }
        problems
    }

    pub(super) fn problems_so_far(&self) -> usize {
        self.problems.len() + self.more.as_ref().map_or(0, |(count, _)| *count)
    }

    /// The name that was meant; nobody reads that of the thousandth.
    pub(super) fn close<'a, S: AsRef<str> + ?Sized + 'a>(
        &self,
        name: &str,
        known: impl IntoIterator<Item = &'a S>,
    ) -> Option<String> {
        let known = known.into_iter().map(AsRef::as_ref);
        let asked = self.problems.len() < MOST_PROBLEMS;
        asked.then(|| close_names(name, known).into_iter().next())?
    }

    fn place(&self, offset: usize) -> Location {
        lines_place(&self.files, self.file, offset)
    }

    pub(super) fn at(&self, span: Span) -> Location {
        self.place(span.start as usize)
    }

    pub(super) fn problem(
        &mut self,
        span: Span,
        path: Path<'_>,
        message: impl Into<String>,
    ) -> &mut Problem {
        self.problem_at(span.range(), path, message)
    }

    pub(super) fn problem_at(
        &mut self,
        span: Range<usize>,
        path: Path<'_>,
        message: impl Into<String>,
    ) -> &mut Problem {
        let problem = Problem {
            location: self.place(span.start),
            field: path.to_doc(),
            message: truncate_middle(&message.into(), LONGEST_MESSAGE).into_owned(),
            hints: Vec::new(),
            span,
            also: None,
            secret: false,
        };
        let kept = self.problems.len();
        if kept >= MOST_PROBLEMS {
            let count = self.problems_so_far() - kept + 1;
            return &mut self.more.insert((count, problem)).1;
        }
        self.problems.push(problem);
        &mut self.problems[kept]
    }

    pub(super) fn wrong_kind(
        &mut self,
        node: &Node<'_>,
        path: Path<'_>,
        expected: &str,
    ) -> &mut Problem {
        let message = format!("expected {expected}, found {}", node.kind());
        self.problem(node.span, path, message)
    }

    /// The fields of a mapping; unknown keys are problems.
    pub(super) fn fields<'n, 'p>(
        &mut self,
        node: &'n Node<'t>,
        path: Path<'p>,
        mapping: &'static Mapping,
    ) -> Option<Fields<'n, 't, 'p>> {
        let entries = self.entries(node, path, mapping.what)?;
        for entry in entries {
            let key = entry.key.as_ref();
            if mapping.key(key).is_none() {
                let message = format!("unknown key `{key}`");
                let known: Vec<&str> = mapping.all_keys().map(|key| key.name).collect();
                let close = close_names(key, known.iter().copied());
                let problem = self.problem(entry.key_span, path, message);
                problem.hint(match (mapping.hint(key), close.first()) {
                    (Some(hint), _) => hint,
                    (None, Some(close)) => format!("did you mean `{close}`?"),
                    (None, None) => format!("{} knows `{}`", mapping.what, known.join("`, `")),
                });
            }
        }
        Some(Fields {
            mapping,
            node,
            entries,
            path,
        })
    }

    /// The value of a key that must be there, as the grammar says.
    pub(super) fn required<'n>(
        &mut self,
        fields: Fields<'n, 't, '_>,
        key: &str,
    ) -> Option<&'n Node<'t>> {
        let value = fields.get(key);
        if value.is_none() {
            self.missing(fields, key, fields.node.span.range());
        }
        value
    }

    /// Says what the grammar says where a key is missing.
    pub(super) fn missing(&mut self, fields: Fields<'_, '_, '_>, key: &str, span: Range<usize>) {
        let row = fields.mapping.key(key);
        if let Some((message, hint)) = row.and_then(|row| row.missing) {
            let problem = self.problem_at(span, fields.path, message);
            if !hint.is_empty() {
                problem.hint(hint);
            }
        }
    }

    /// The value of a key, if it is there and of the kind that the grammar
    /// wants.
    pub(super) fn read<'n, T: Scalar<'n>>(
        &mut self,
        fields: Fields<'n, 't, '_>,
        key: &str,
    ) -> Option<T> {
        let (node, row) = (fields.get(key)?, fields.mapping.key(key)?);
        let path = fields.path.key(key);
        match row.kind {
            Kind::Flag | Kind::True => self.boolean(node, path).map(drop),
            Kind::Count(least) => self.count(node, path, least).map(drop),
            Kind::Time => self.duration(node, path).map(drop),
            Kind::Name(what) | Kind::ForeignName(what) => {
                self.fixed_string(node, path, what).map(drop)
            }
            Kind::Text => self.string(node, path).map(drop),
            Kind::Choice(words) => self.word_of(node, path, words).map(drop),
            // What is more than a scalar is read where it takes effect.
            _ => {
                debug_assert!(false, "`{key}` is no scalar");
                None
            }
        }?;
        T::of_node(node)
    }

    /// One of a closed set of words.
    pub(super) fn word_of(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        words: &Words,
    ) -> Option<&'static str> {
        let all: Vec<_> = (words.words)().iter().map(|word| (*word, *word)).collect();
        self.one_of(node, path, words.what, &all)
    }

    /// The entries of a map with free keys.
    pub(super) fn entries<'n>(
        &mut self,
        node: &'n Node<'t>,
        path: Path<'_>,
        what: &str,
    ) -> Option<&'n [Entry<'t>]> {
        match &node.data {
            Data::Map(entries) => Some(entries),
            Data::Null => {
                self.wrong_kind(node, path, "a map")
                    .hint("leave the key out, or write `{}` for an empty map");
                None
            }
            Data::Bool(_) | Data::Number(_) | Data::String(_) | Data::List(_) => {
                let as_map = hints::as_map(what, node);
                let meant = node.as_str().and_then(one_word);
                let problem = self.wrong_kind(node, path, &format!("a map ({what})"));
                if let Some(hint) = as_map {
                    problem.hint(hint);
                } else if let Some(meant) = meant {
                    problem.hint(format!(
                        "a key needs a colon followed by a space: write `{meant}`"
                    ));
                } else if matches!(node.data, Data::List(_)) && what.ends_with(" by name") {
                    problem
                        .hint("each stands under its name, as in `NAME: { … }`, and without `-`");
                }
                None
            }
        }
    }

    pub(super) fn list<'n>(
        &mut self,
        node: &'n Node<'t>,
        path: Path<'_>,
        what: &str,
    ) -> Option<&'n [Node<'t>]> {
        match &node.data {
            Data::List(items) => Some(items),
            Data::Null => {
                self.wrong_kind(node, path, &format!("a list ({what})"))
                    .hint("leave the key out, or write `[]` for an empty list");
                None
            }
            Data::Bool(_) | Data::Number(_) | Data::String(_) => {
                let written = self.written(node);
                let written = written
                    .lines()
                    .map(str::trim)
                    .collect::<Vec<_>>()
                    .join(", ");
                let written = hints::as_list(what, written);
                self.wrong_kind(node, path, &format!("a list ({what})"))
                    .hint(format!("write `[{written}]`"));
                None
            }
            Data::Map(_) => {
                let hint = hints::as_item(node, &self.written(node));
                self.wrong_kind(node, path, &format!("a list ({what})"))
                    .hint(hint);
                None
            }
        }
    }

    /// A string that is one in the document.
    pub(super) fn string<'n>(&mut self, node: &'n Node<'t>, path: Path<'_>) -> Option<&'n str> {
        match &node.data {
            Data::String(text) => Some(text),
            Data::Bool(_) | Data::Number(_) => {
                let written = self.written(node).into_owned();
                self.wrong_kind(node, path, "a string")
                    .hint(format!("put it in quotes: \"{written}\""));
                None
            }
            Data::Null | Data::List(_) | Data::Map(_) => {
                self.wrong_kind(node, path, "a string");
                None
            }
        }
    }

    /// A string without variables, and with something in it.
    pub(super) fn fixed_string<'n>(
        &mut self,
        node: &'n Node<'t>,
        path: Path<'_>,
        what: &str,
    ) -> Option<&'n str> {
        let text = self.string(node, path)?;
        if text.is_empty() {
            self.problem(node.span, path, format!("{what} can't be empty"));
            return None;
        }
        if let Some(reference) = text.find("${") {
            let reference = text[reference..].to_owned();
            let span = self.within(node, &reference);
            self.problem_at(span, path, format!("{what} can't hold variables"));
            return None;
        }
        Some(text)
    }

    /// A name that a server chose: it may hold `${`, which is written `$${`.
    pub(super) fn foreign_name(&mut self, fields: Fields<'_, 't, '_>, key: &str) -> Option<String> {
        let (node, path) = (fields.get(key)?, fields.path.key(key));
        if let Some(hint) = hints::as_name(key, node, |node| self.written(node)) {
            self.wrong_kind(node, path, "a string").hint(hint);
            return None;
        }
        let text = self.string(node, path)?;
        if has_reference(text)
            && let Ok(Template { parts, .. }) = Template::parse(text)
            && let [Part::Text(name)] = parts.as_slice()
        {
            return Some(name.clone());
        }
        self.read(fields, key)
    }

    /// A string, or a number or boolean as it is written: what an argument or
    /// an environment variable is made of.
    pub(super) fn word<'n>(&mut self, node: &'n Node<'t>, path: Path<'_>) -> Option<Cow<'n, str>>
    where
        't: 'n,
    {
        match &node.data {
            Data::String(text) => Some(Cow::Borrowed(text)),
            Data::Bool(_) | Data::Number(_) => Some(self.written(node)),
            Data::Null => {
                self.wrong_kind(node, path, "a string")
                    .hint("write \"\" for an empty string");
                None
            }
            Data::List(_) | Data::Map(_) => {
                self.wrong_kind(node, path, "a string");
                None
            }
        }
    }

    /// A scalar as the text has it.
    pub(super) fn written(&self, node: &Node<'_>) -> Cow<'t, str> {
        Cow::Borrowed(self.text.get(node.span.range()).unwrap_or_default())
    }

    pub(super) fn boolean(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<bool> {
        match &node.data {
            Data::Bool(value) => Some(*value),
            Data::Null | Data::Number(_) | Data::String(_) | Data::List(_) | Data::Map(_) => {
                self.wrong_kind(node, path, "`true` or `false`");
                None
            }
        }
    }

    pub(super) fn count(&mut self, node: &Node<'t>, path: Path<'_>, least: u32) -> Option<u32> {
        let value = match &node.data {
            Data::Number(number) => number.as_u64().and_then(|n| u32::try_from(n).ok()),
            Data::Null | Data::Bool(_) | Data::String(_) | Data::List(_) | Data::Map(_) => {
                self.wrong_kind(node, path, "a whole number");
                return None;
            }
        };
        match value {
            Some(value) if value >= least => Some(value),
            Some(_) | None => {
                let written = self.written(node).into_owned();
                self.problem(
                    node.span,
                    path,
                    format!("expected a whole number of at least {least}, found `{written}`"),
                );
                None
            }
        }
    }

    /// One of a few words.
    pub(super) fn one_of<T: Copy>(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        what: &str,
        choices: &[(&'static str, T)],
    ) -> Option<T> {
        let word = self.string(node, path)?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == word) {
            return Some(*value);
        }
        let close = close_names(word, choices.iter().map(|(name, _)| *name));
        let all: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let problem = self.problem(node.span, path, format!("unknown {what} `{word}`"));
        match close.first() {
            Some(close) => problem.hint(format!("did you mean `{close}`?")),
            None => problem.hint(format!("it is one of `{}`", all.join("`, `"))),
        };
        None
    }

    /// The bytes of `piece` inside the text of a scalar, or all of it where
    /// escapes hide them.
    pub(super) fn within(&self, node: &Node<'_>, piece: &str) -> Range<usize> {
        let range = node.span.range();
        let first = piece.lines().next().unwrap_or_default();
        let exact = self
            .text
            .get(range.clone())
            .and_then(|written| written.find(first))
            .map(|at| range.start + at..range.start + at + first.len());
        exact.unwrap_or(range)
    }
}

/// Where a byte of a file stands.
fn lines_place(files: &[(&str, Lines<'_>)], file: usize, offset: usize) -> Location {
    let place = files.get(file).map(|(_, lines)| lines.place(offset));
    Location {
        file: u16::try_from(file).unwrap_or_default(),
        ..place.unwrap_or_default().into()
    }
}

/// The value of `key`, with the path to it.
pub(super) fn get<'n, 't>(entries: &'n [Entry<'t>], key: &str) -> Option<&'n Node<'t>> {
    entries
        .iter()
        .find(|entry| entry.key == key)
        .map(|entry| &entry.value)
}

/// The entry of `key`.
pub(super) fn entry<'n, 't>(entries: &'n [Entry<'t>], key: &str) -> Option<&'n Entry<'t>> {
    entries.iter().find(|entry| entry.key == key)
}
