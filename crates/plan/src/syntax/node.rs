//! The tree.

use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::ops::Range;

/// Bytes of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl From<Range<usize>> for Span {
    /// Texts are bounded far below 4 GiB before they are parsed.
    fn from(range: Range<usize>) -> Self {
        Self {
            start: range.start as u32,
            end: range.end as u32,
        }
    }
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// `|`; the span holds the lines, not the header.
    Literal,
    /// `>`; likewise.
    Folded,
    /// A map or list by indentation.
    Block,
    /// A map or list in brackets.
    Flow,
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node<'t> {
    pub data: Data<'t>,
    pub span: Span,
    /// Where the document has it: the alias, for what came through one, while
    /// `span` is the place that it came from.
    pub site: Span,
    pub style: Style,
    /// Came from elsewhere through an alias.
    pub aliased: bool,
    /// Some alias refers to it.
    pub referred: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data<'t> {
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'t, str>),
    List(Vec<Node<'t>>),
    Map(Vec<Entry<'t>>),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry<'t> {
    pub key: Cow<'t, str>,
    pub key_span: Span,
    pub value: Node<'t>,
    /// Came through a merge key.
    pub merged: bool,
}

/// Something that is wrong with the text itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trouble {
    pub span: Span,
    pub message: String,
    pub hints: Vec<String>,
    /// A second place that belongs to it, and what it is.
    pub also: Option<(Span, String)>,
}

impl Trouble {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            span: span.into(),
            message: message.into(),
            hints: Vec::new(),
            also: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub(crate) fn duplicate_key(key: &str, span: Span, first: Span) -> Self {
        Self {
            also: Some((first, "first defined here".into())),
            ..Self::new(span.range(), format!("the key `{key}` is given twice"))
        }
    }
}

impl<'t> Node<'t> {
    pub(crate) fn new(data: Data<'t>, span: Range<usize>, style: Style) -> Self {
        let span = span.into();
        Self {
            data,
            span,
            site: span,
            style,
            aliased: false,
            referred: false,
        }
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry<'t>> {
        match &self.data {
            Data::Map(entries) => entries.iter().find(|entry| entry.key == key),
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) | Data::List(_) => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::List(_) | Data::Map(_) => None,
        }
    }

    pub(crate) fn is_scalar(&self) -> bool {
        match &self.data {
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => true,
            Data::List(_) | Data::Map(_) => false,
        }
    }

    /// Nodes, itself included.
    pub(crate) fn size(&self) -> usize {
        1 + match &self.data {
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => 0,
            Data::List(items) => items.iter().map(Node::size).sum(),
            Data::Map(entries) => entries.iter().map(|entry| entry.value.size()).sum(),
        }
    }

    /// Levels, its own included.
    pub(crate) fn depth(&self) -> usize {
        1 + match &self.data {
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => 0,
            Data::List(items) => items.iter().map(Node::depth).max().unwrap_or(0),
            Data::Map(entries) => entries
                .iter()
                .map(|entry| entry.value.depth())
                .max()
                .unwrap_or(0),
        }
    }

    /// The value without its places.
    pub(crate) fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Number(number) => Value::Number(number.clone()),
            Data::String(text) => Value::String(text.clone().into_owned()),
            Data::List(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Data::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone().into_owned(), entry.value.to_value()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// What a message calls it, as in "expected a map, found a list".
    pub(crate) fn kind(&self) -> &'static str {
        match &self.data {
            Data::Null => "nothing",
            Data::Bool(_) => "a boolean",
            Data::Number(_) => "a number",
            Data::String(_) => "a string",
            Data::List(_) => "a list",
            Data::Map(_) => "a map",
        }
    }
}
