//! YAML events → the tree.
//!
//! Built on the event parser below serde-saphyr, since deserializing gives no
//! places for keys and containers, and stops at the first problem.

use super::MAX_DEPTH;
use super::node::{Data, Entry, Node, Span, Style, Trouble};
use super::scalar::{Plain, plain};
use super::slips;
use super::whole::{find_duplicates, mark_referred};
use granit_parser::{Event, Options, Parser, ScalarStyle, StructureStyle, Tag};
use indexmap::IndexMap;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The most nodes a tree may have: a plan of 20,000 steps has a tenth.
const MAX_NODES: usize = 4_000_000;

/// Troubles that are explained from the text around them.
const EXPLAINED: usize = 100;

/// The most nodes that aliases may copy, against documents that grow without
/// bound when they are read.
const MAX_COPIED: usize = 500_000;

/// A key whose value is due.
enum PendingKey<'t> {
    Word(Cow<'t, str>, Span),
    /// `<<`.
    Merge,
    /// It was reported; its value is read and left out.
    Broken,
}

/// A container that is not closed yet.
struct Open<'t> {
    node: Node<'t>,
    anchor: usize,
    /// The key whose value is due.
    key: Option<PendingKey<'t>>,
    /// What merge keys brought.
    merges: IndexMap<Cow<'t, str>, Entry<'t>>,
    /// A key that is no scalar, or a map in a place of a key, is being read:
    /// it was reported, and is left out.
    in_key: bool,
    /// It is `{{…}}`, which was reported: a text that somebody meant.
    is_braces: bool,
}

struct Builder<'t> {
    text: &'t str,
    open: Vec<Open<'t>>,
    root: Option<Node<'t>>,
    anchors: HashMap<usize, Node<'t>>,
    referred: HashSet<usize>,
    /// Anchor and place of the nodes that have one.
    anchored: HashMap<u32, usize>,
    nodes: usize,
    copied: usize,
    /// Anchors and tags with nothing behind them that were looked at.
    signs: usize,
    /// Where the content that was read last ends.
    last_end: usize,
    troubles: Vec<Trouble>,
}

/// Reading can't go on.
struct Stop;

/// Parses a YAML document.
pub(crate) fn parse(text: &str) -> (Option<Node<'_>>, Vec<Trouble>) {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.simple_key_max_lookahead = 64 * 1024;
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    let mut builder = Builder {
        text,
        open: Vec::new(),
        root: None,
        anchors: HashMap::new(),
        referred: HashSet::new(),
        anchored: HashMap::new(),
        nodes: 0,
        copied: 0,
        signs: 0,
        last_end: 0,
        troubles: Vec::new(),
    };
    let mut parser = Parser::new_from_str_with_options(text, options);
    while let Some(next) = parser.next_event() {
        match next {
            Ok((event, span)) => {
                let range = span.byte_range().unwrap_or(0..0);
                if builder.event(event, range).is_err() {
                    return (None, builder.troubles);
                }
            }
            Err(error) => {
                let at = error.marker().byte_offset().unwrap_or(0);
                builder
                    .troubles
                    .push(slips::explain(text, at, &error.info()));
                return (None, builder.troubles);
            }
        }
    }
    builder.finish()
}

impl<'t> Builder<'t> {
    fn event(&mut self, event: Event<'t>, range: Range<usize>) -> Result<(), Stop> {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let end = (range.start + 3).min(self.text.len());
                return self.stop(
                    Trouble::new(range.start..end, "a second document begins here")
                        .hint("a plan is one document; put the other one into its own file"),
                );
            }
            Event::Scalar(text, style, anchor, tag) => {
                let range = match style {
                    ScalarStyle::Literal | ScalarStyle::Folded => {
                        range.start..block_end(self.text, &range)
                    }
                    ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                        range
                    }
                };
                self.last_end = self.last_end.max(range.end);
                // `!!str` and `!` with nothing behind them say what nothing is.
                let is_other_tag = |tag: &Tag| tag.core_suffix().is_none() && !is_bare(tag);
                let has_sign = tag.as_deref().map_or(anchor != 0, is_other_tag);
                let is_nothing = range.is_empty() && style == ScalarStyle::Plain;
                let is_alone = has_sign && is_nothing && self.signs < EXPLAINED;
                self.signs += usize::from(is_alone);
                let trouble = is_alone.then(|| slips::sign_alone(self.text, range.start));
                let node = match trouble.flatten() {
                    Some(trouble) => {
                        self.troubles.push(trouble);
                        Node::new(Data::String(text), range, Style::Plain)
                    }
                    None => self.scalar(text, style, tag.as_deref(), range),
                };
                self.add(node, anchor)?;
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.container_tag(tag.as_deref(), "seq", &range);
                self.start(Data::List(Vec::new()), style, anchor, range)?;
            }
            Event::MappingStart(style, anchor, tag) => {
                self.container_tag(tag.as_deref(), "map", &range);
                self.start(Data::Map(Vec::new()), style, anchor, range)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(range)?,
            Event::Alias(anchor) => {
                self.last_end = self.last_end.max(range.end);
                self.alias(anchor, range)?;
            }
            // Stream and document marks; anchors and comments are not asked for.
            _ => {}
        }
        Ok(())
    }

    fn stop(&mut self, trouble: Trouble) -> Result<(), Stop> {
        self.troubles.push(trouble);
        Err(Stop)
    }

    fn count(&mut self, nodes: usize, range: &Range<usize>) -> Result<(), Stop> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            return self.stop(Trouble::new(
                range.clone(),
                format!("more than {MAX_NODES} values; no plan is that long"),
            ));
        }
        Ok(())
    }

    fn container_tag(&mut self, tag: Option<&Tag>, core: &str, range: &Range<usize>) {
        if let Some(tag) = tag
            && tag.core_suffix() != Some(core)
            && tag.suffix() != ""
        {
            self.unknown_tag(tag, range);
        }
    }

    fn unknown_tag(&mut self, tag: &Tag, range: &Range<usize>) {
        self.troubles.push(
            Trouble::new(
                range.clone(),
                format!("the tag `{}` means nothing in a plan", tag.original()),
            )
            .hint("leave the tag out"),
        );
    }

    fn scalar(
        &mut self,
        text: Cow<'t, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        range: Range<usize>,
    ) -> Node<'t> {
        let is_plain = style == ScalarStyle::Plain;
        let written = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        let core = tag.and_then(Tag::core_suffix);
        let resolved = match (tag, core) {
            (None, _) if is_plain => plain(&text),
            // `!` alone, and `!!str`: a string, however it looks.
            (None, _) | (Some(_), Some("str")) => Plain::Text,
            (Some(tag), _) if is_bare(tag) => Plain::Text,
            (Some(tag), Some(kind @ ("int" | "float" | "bool" | "null"))) => {
                let resolved = plain(&text);
                let fits = match &resolved {
                    Plain::Value(Data::Null) => kind == "null",
                    Plain::Value(Data::Bool(_)) => kind == "bool",
                    Plain::Value(Data::Number(number)) => {
                        kind == "float" || (kind == "int" && !number.is_f64())
                    }
                    Plain::Value(_) | Plain::Text => false,
                    Plain::Refused(_) => true,
                };
                if !fits {
                    let message = format!("`{text}` is not what the tag `{}` says", tag.original());
                    self.troubles.push(Trouble::new(range.clone(), message));
                }
                resolved
            }
            (Some(tag), _) => {
                self.unknown_tag(tag, &range);
                Plain::Text
            }
        };
        let data = match resolved {
            Plain::Value(data) => data,
            Plain::Text => Data::String(text),
            Plain::Refused(why) => {
                self.troubles.push(
                    Trouble::new(range.clone(), format!("`{text}` is {why}"))
                        .hint(format!("write it as a string: \"{text}\"")),
                );
                Data::String(text)
            }
        };
        Node::new(data, range, written)
    }

    fn start(
        &mut self,
        data: Data<'t>,
        style: StructureStyle,
        anchor: usize,
        range: Range<usize>,
    ) -> Result<(), Stop> {
        if self.open.len() >= MAX_DEPTH {
            return self.stop(Trouble::new(
                range,
                format!("nested deeper than {MAX_DEPTH} levels"),
            ));
        }
        self.count(1, &range)?;
        self.last_end = self.last_end.max(range.end);
        let in_key = self.key_is_due();
        let mut braces = false;
        if in_key {
            let outer = range.start.checked_sub(1);
            let outer = outer.filter(|at| self.text[*at..].starts_with("{{"));
            self.troubles.push(match outer {
                Some(at) if self.troubles.len() < EXPLAINED => slips::braces(self.text, at),
                Some(_) | None => {
                    Trouble::new(range.clone(), "a key must be a word, not a map or list")
                        .hint("a value that begins with `{` or `[` needs quotes")
                }
            });
            braces = outer.is_some();
        }
        if let (true, Some(parent)) = (braces, self.open.last_mut()) {
            parent.is_braces = true;
        }
        let style = match style {
            StructureStyle::Block => Style::Block,
            StructureStyle::Flow => Style::Flow,
        };
        self.open.push(Open {
            node: Node::new(data, range, style),
            anchor,
            key: None,
            merges: IndexMap::new(),
            in_key,
            is_braces: false,
        });
        Ok(())
    }

    fn end(&mut self, range: Range<usize>) -> Result<(), Stop> {
        let Some(mut open) = self.open.pop() else {
            return Ok(());
        };
        let end = match open.node.style {
            Style::Flow => range.end,
            Style::Plain
            | Style::SingleQuoted
            | Style::DoubleQuoted
            | Style::Literal
            | Style::Folded
            | Style::Block => self.last_end.max(open.node.span.start as usize),
        };
        self.last_end = self.last_end.max(end);
        open.node.span.end = end as u32;
        open.node.site = open.node.span;
        if let Data::List(items) = &mut open.node.data {
            items.shrink_to_fit();
        }
        if let Data::Map(entries) = &mut open.node.data {
            entries.shrink_to_fit();
            // Keys of the map itself win over merged ones, whatever the order.
            for entry in entries.iter() {
                open.merges.shift_remove(&entry.key);
            }
            entries.extend(open.merges.into_values());
        }
        if open.is_braces {
            let written = self.text.get(open.node.span.range()).unwrap_or_default();
            open.node.data = Data::String(Cow::Borrowed(written));
            open.node.style = Style::Plain;
        }
        if open.in_key {
            if let Some(parent) = self.open.last_mut() {
                parent.key = Some(PendingKey::Broken);
            }
            return Ok(());
        }
        self.add_built(open.node, open.anchor)
    }

    fn key_is_due(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| matches!(open.node.data, Data::Map(_)) && open.key.is_none())
    }

    fn alias(&mut self, anchor: usize, range: Range<usize>) -> Result<(), Stop> {
        let Some(original) = self.anchors.get(&anchor) else {
            return self.stop(Trouble::new(
                range,
                "this alias refers to what it is a part of",
            ));
        };
        let size = original.size();
        self.copied += size;
        if self.copied > MAX_COPIED {
            return self.stop(Trouble::new(
                range,
                format!("aliases copy more than {MAX_COPIED} values"),
            ));
        }
        if self.open.len() + original.depth() > MAX_DEPTH {
            return self.stop(Trouble::new(
                range,
                format!("nested deeper than {MAX_DEPTH} levels"),
            ));
        }
        let mut copy = original.clone();
        copy.aliased = true;
        copy.site = range.clone().into();
        self.referred.insert(anchor);
        if self.key_is_due() {
            // The key stands where the alias does, whatever it refers to.
            copy.span = range.clone().into();
        }
        self.count(size, &range)?;
        self.place(copy, range)
    }

    fn add(&mut self, node: Node<'t>, anchor: usize) -> Result<(), Stop> {
        self.count(1, &node.span.range())?;
        self.add_built(node, anchor)
    }

    fn add_built(&mut self, node: Node<'t>, anchor: usize) -> Result<(), Stop> {
        if anchor != 0 {
            self.anchored.insert(node.span.start, anchor);
            // What anchors hold is bounded like what aliases copy.
            self.copied += node.size();
            if self.copied > MAX_COPIED {
                let range = node.span.range();
                return self.stop(Trouble::new(
                    range,
                    format!("anchors hold more than {MAX_COPIED} values"),
                ));
            }
            self.anchors.insert(anchor, node.clone());
        }
        let range = node.span.range();
        self.place(node, range)
    }

    /// Puts a value (or a key) where the text has it; `range` is the alias
    /// for what came through one.
    fn place(&mut self, node: Node<'t>, range: Range<usize>) -> Result<(), Stop> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.node.data {
            Data::List(items) => items.push(node),
            Data::Map(entries) => match open.key.take() {
                None => {
                    if let Some(trouble) = slips::odd_key(self.text, node.span.start as usize) {
                        return self.stop(trouble);
                    }
                    open.key = Some(match key(self.text, node) {
                        Ok(key) => key,
                        Err(trouble) => {
                            self.troubles.push(trouble);
                            PendingKey::Broken
                        }
                    });
                }
                Some(PendingKey::Broken) => {}
                Some(PendingKey::Merge) => {
                    let sources = match node.data {
                        Data::List(items) => items,
                        Data::Map(_)
                        | Data::Null
                        | Data::Bool(_)
                        | Data::Number(_)
                        | Data::String(_) => vec![node],
                    };
                    for source in sources {
                        let Data::Map(merged) = source.data else {
                            self.troubles.push(
                                Trouble::new(range.clone(), "`<<` takes a map or a list of maps")
                                    .hint("as in `<<: *defaults`"),
                            );
                            continue;
                        };
                        for entry in merged {
                            let first = open.merges.entry(entry.key.clone());
                            first.or_insert(Entry {
                                merged: true,
                                ..entry
                            });
                        }
                    }
                }
                Some(PendingKey::Word(key, key_span)) => entries.push(Entry {
                    key,
                    key_span,
                    value: node,
                    merged: false,
                }),
            },
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => {}
        }
        Ok(())
    }

    fn finish(mut self) -> (Option<Node<'t>>, Vec<Trouble>) {
        let mut root = self.root.take();
        if let Some(root) = &mut root {
            if !self.referred.is_empty() {
                let referred: HashSet<u32> = self
                    .anchored
                    .iter()
                    .filter(|(_, anchor)| self.referred.contains(anchor))
                    .map(|(start, _)| *start)
                    .collect();
                mark_referred(root, &referred);
            }
            find_duplicates(root, &mut self.troubles);
        }
        (root, self.troubles)
    }
}

/// `!`, which names no kind.
fn is_bare(tag: &Tag) -> bool {
    tag.suffix() == "" || tag.original() == "!"
}

/// A key by its text as it is written, since `1:` and `true:` are words here.
fn key<'t>(text: &'t str, node: Node<'t>) -> Result<PendingKey<'t>, Trouble> {
    let span = node.span;
    match node.data {
        Data::String(word) if node.style == Style::Plain && word == "<<" => Ok(PendingKey::Merge),
        Data::String(word) => Ok(PendingKey::Word(word, span)),
        Data::Bool(_) | Data::Number(_) => {
            let word = text.get(span.range()).unwrap_or_default();
            Ok(PendingKey::Word(Cow::Borrowed(word), span))
        }
        Data::Null | Data::List(_) | Data::Map(_) => {
            let message = format!("a key must be a word, not {}", node.kind());
            Err(Trouble::new(span.range(), message))
        }
    }
}

/// Where the lines of a block scalar end: the parser's own range runs on to
/// the next token, over blank lines and comments.
fn block_end(text: &str, range: &Range<usize>) -> usize {
    let written = text.get(range.clone()).unwrap_or_default();
    let line_start = text[..range.start].rfind('\n').map_or(0, |feed| feed + 1);
    let width = range.start - line_start;
    let mut end = range.start;
    let mut at = range.start;
    for line in written.split_inclusive('\n') {
        let content = line.trim_end();
        let blanks = line.len() - line.trim_start_matches(' ').len();
        if !content.is_empty() {
            if at > range.start && blanks < width {
                break;
            }
            end = at + content.len();
        }
        at += line.len();
    }
    end
}
