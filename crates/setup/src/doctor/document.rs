//! JSON, TOML or YAML → one tree that knows where its values stand.
//!
//! Main function: [`parse`]. It is the only file here that knows how the three
//! are parsed.

use super::clients::Syntax;
use super::entry::Place;
use jelly_base::text::{JsonSlip, JsoncError, Lines, parse_jsonc, refused_by_strict_json};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::Spanned;
use std::fmt;

/// A value, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub place: Place,
    pub data: Data,
}

#[derive(Debug, Clone)]
pub(super) enum Data {
    Null,
    Bool(bool),
    /// As it is written, where the parser keeps that.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Member>),
}

/// A value by its name.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub name: String,
    pub place: Place,
    pub value: Node,
}

/// Why a text can't be read, and where.
#[derive(Debug)]
pub(super) struct SyntaxProblem {
    pub place: Option<Place>,
    pub what: String,
    pub slip: Option<JsonSlip>,
}

impl SyntaxProblem {
    /// What to do about it.
    pub(super) fn help(&self) -> &'static str {
        match self.slip {
            Some(JsonSlip::Backslash) => {
                "in JSON, a backslash begins an escape: write `\\\\` for each one that is meant, as in \
                 `\"C:\\\\Users\\\\me\"`"
            }
            Some(JsonSlip::SingleQuotes) => {
                "JSON knows double quotes alone: write `\"` in place of each `'` around a name or a text"
            }
            None => {
                "look at this line and the one before it: a comma, a quote or a bracket is missing, \
                 or stands there too often"
            }
        }
    }
}

impl Node {
    /// The last member of this name, as every parser of JSON takes it.
    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        let Data::Map(members) = &self.data else {
            return None;
        };
        let found = members.iter().rfind(|member| member.name == name);
        found.map(|member| &member.value)
    }

    /// Its members, where it has any.
    pub(super) fn members(&self) -> &[Member] {
        match &self.data {
            Data::Map(members) => members,
            _ => &[],
        }
    }

    /// Its elements, where it has any.
    pub(super) fn elements(&self) -> &[Self] {
        match &self.data {
            Data::List(elements) => elements,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn is(&self, wanted: bool) -> bool {
        matches!(self.data, Data::Bool(value) if value == wanted)
    }

    /// What a message calls it.
    pub(super) fn kind(&self) -> &'static str {
        match &self.data {
            Data::Text(_) => "a string",
            Data::Number(_) => "a number",
            Data::Bool(_) => "a boolean",
            Data::Map(_) => "an object",
            Data::List(_) => "an array",
            Data::Null => "null",
        }
    }
}

/// Reads a text without a byte order mark; `None` where it holds nothing. JSON
/// is read with comments and trailing commas, whatever the client takes: what
/// it refuses is for [`refused`] to say.
pub(super) fn parse(text: &str, syntax: Syntax) -> Result<Option<Node>, SyntaxProblem> {
    let lines = Lines::of(text);
    match syntax {
        Syntax::StrictJson | Syntax::JsonWithComments | Syntax::Jsonc => match parse_jsonc(text) {
            Ok(root) => Ok(root.map(|root| json_node(&root, &lines))),
            Err(error) => Err(json_problem(error, &lines)),
        },
        Syntax::Toml => toml_document(text, &lines),
        Syntax::Yaml => yaml_document(text),
    }
}

/// The byte order mark that a text begins with, and what to do about it.
pub(super) fn refused_mark(text: &str) -> Option<(SyntaxProblem, &'static str)> {
    text.starts_with('\u{feff}').then(|| {
        let problem = SyntaxProblem {
            place: Some(Place { line: 1, column: 1 }),
            what: "it begins with a byte order mark".to_owned(),
            slip: None,
        };
        (problem, "Save it as UTF-8 without a byte order mark.")
    })
}

/// What the client's own parser refuses in a text that could be read, and what to do
/// about it.
pub(super) fn refused(text: &str, syntax: Syntax) -> Option<(SyntaxProblem, &'static str)> {
    let comments = match syntax {
        Syntax::StrictJson => false,
        Syntax::JsonWithComments => true,
        Syntax::Jsonc | Syntax::Toml | Syntax::Yaml => return None,
    };
    let error = refused_by_strict_json(text, comments)?;
    let fix = "Delete the comment, or the comma before the closing bracket.";
    Some((json_problem(error, &Lines::of(text)), fix))
}

fn place_at(lines: &Lines<'_>, offset: usize) -> Place {
    let (line, column) = lines.place(offset);
    Place { line, column }
}

fn json_problem(error: JsoncError, lines: &Lines<'_>) -> SyntaxProblem {
    SyntaxProblem {
        place: Some(place_at(lines, error.offset)),
        what: error.what,
        slip: error.slip,
    }
}

fn json_node(value: &ast::Value<'_>, lines: &Lines<'_>) -> Node {
    let data = match value {
        ast::Value::StringLit(text) => Data::Text(text.value.to_string()),
        ast::Value::NumberLit(number) => Data::Number(number.value.to_owned()),
        ast::Value::BooleanLit(boolean) => Data::Bool(boolean.value),
        ast::Value::NullKeyword(_) => Data::Null,
        ast::Value::Array(array) => {
            let elements = array.elements.iter();
            Data::List(elements.map(|element| json_node(element, lines)).collect())
        }
        ast::Value::Object(object) => {
            let members = object.properties.iter().map(|member| Member {
                name: member.name.as_str().to_owned(),
                place: place_at(lines, member.range.start),
                value: json_node(&member.value, lines),
            });
            Data::Map(members.collect())
        }
    };
    Node {
        place: place_at(lines, value.range().start),
        data,
    }
}

fn toml_document(text: &str, lines: &Lines<'_>) -> Result<Option<Node>, SyntaxProblem> {
    let document = toml_edit::Document::parse(text).map_err(|error| SyntaxProblem {
        place: error.span().map(|span| place_at(lines, span.start)),
        what: format!("invalid TOML: {}", error.message().trim()),
        slip: None,
    })?;
    let start = Place { line: 1, column: 1 };
    let root = toml_table(document.as_table(), start, lines);
    Ok(Some(root).filter(|root| !root.members().is_empty()))
}

fn toml_table(table: &dyn toml_edit::TableLike, place: Place, lines: &Lines<'_>) -> Node {
    let members = table.iter().filter_map(|(name, item)| {
        let span = table.key(name).and_then(toml_edit::Key::span);
        let place = span.map_or(place, |span| place_at(lines, span.start));
        Some(Member {
            name: name.to_owned(),
            place,
            value: toml_node(item, place, lines)?,
        })
    });
    Node {
        place,
        data: Data::Map(members.collect()),
    }
}

/// `place` is for tables that no line of their own begins.
fn toml_node(item: &toml_edit::Item, place: Place, lines: &Lines<'_>) -> Option<Node> {
    let place = item
        .span()
        .map_or(place, |span| place_at(lines, span.start));
    if let Some(table) = item.as_table_like() {
        return Some(toml_table(table, place, lines));
    }
    let data = match item {
        toml_edit::Item::Value(value) => return Some(toml_value(value, place, lines)),
        toml_edit::Item::ArrayOfTables(tables) => {
            let tables = tables.iter();
            Data::List(
                tables
                    .map(|table| toml_table(table, place, lines))
                    .collect(),
            )
        }
        toml_edit::Item::None | toml_edit::Item::Table(_) => return None,
    };
    Some(Node { place, data })
}

fn toml_value(value: &toml_edit::Value, place: Place, lines: &Lines<'_>) -> Node {
    use toml_edit::Value;
    let place = value
        .span()
        .map_or(place, |span| place_at(lines, span.start));
    let data = match value {
        Value::String(text) => Data::Text(text.value().clone()),
        Value::Integer(number) => Data::Number(number.value().to_string()),
        Value::Float(number) => Data::Number(number.value().to_string()),
        Value::Boolean(boolean) => Data::Bool(*boolean.value()),
        Value::Datetime(time) => Data::Text(time.value().to_string()),
        Value::Array(array) => {
            let elements = array.iter();
            Data::List(
                elements
                    .map(|element| toml_value(element, place, lines))
                    .collect(),
            )
        }
        Value::InlineTable(table) => return toml_table(table, place, lines),
    };
    Node { place, data }
}

fn yaml_document(text: &str) -> Result<Option<Node>, SyntaxProblem> {
    if text.lines().all(|line| line.trim().is_empty()) {
        return Ok(None);
    }
    match serde_yaml::from_str::<Spanned<YamlData>>(text) {
        Ok(root) => Ok(Some(yaml_node(root)).filter(|root| !matches!(root.data, Data::Null))),
        Err(error) => {
            let place = error.location().map(yaml_place);
            let mut bare = error.without_snippet();
            while let serde_yaml::Error::WithSnippet { error, .. } = bare {
                bare = error;
            }
            let said = bare.to_string();
            let what = said
                .split_once(" at line ")
                .map_or(&*said, |(what, _)| what);
            Err(SyntaxProblem {
                place: place.filter(|place| place.line > 0),
                what: format!("invalid YAML: {}", what.lines().next().unwrap_or_default()),
                slip: None,
            })
        }
    }
}

fn yaml_place(location: serde_yaml::Location) -> Place {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Place {
        line: number(location.line()),
        column: number(location.column()),
    }
}

fn yaml_node(value: Spanned<YamlData>) -> Node {
    let place = yaml_place(value.referenced);
    let data = match value.value {
        YamlData::Scalar(data) => data,
        YamlData::List(elements) => Data::List(elements.into_iter().map(yaml_node).collect()),
        YamlData::Map(members) => {
            let members = members.into_iter().map(|(name, value)| Member {
                place: yaml_place(name.referenced),
                name: name.value,
                value: yaml_node(value),
            });
            Data::Map(members.collect())
        }
    };
    Node { place, data }
}

/// A value of YAML whose parts know their places.
enum YamlData {
    Scalar(Data),
    List(Vec<Spanned<Self>>),
    Map(Vec<(Spanned<String>, Spanned<Self>)>),
}

impl<'de> Deserialize<'de> for YamlData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(YamlVisitor)
    }
}

struct YamlVisitor;

impl<'de> Visitor<'de> for YamlVisitor {
    type Value = YamlData;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<YamlData, E> {
        Ok(YamlData::Scalar(Data::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<YamlData, E> {
        Ok(YamlData::Scalar(Data::Number(value.to_string())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<YamlData, E> {
        Ok(YamlData::Scalar(Data::Number(value.to_string())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<YamlData, E> {
        Ok(YamlData::Scalar(Data::Number(value.to_string())))
    }

    fn visit_str<E>(self, value: &str) -> Result<YamlData, E> {
        Ok(YamlData::Scalar(Data::Text(value.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<YamlData, E> {
        Ok(YamlData::Scalar(Data::Null))
    }

    fn visit_none<E>(self) -> Result<YamlData, E> {
        Ok(YamlData::Scalar(Data::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<YamlData, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(YamlData::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<YamlData, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(YamlData::Map(members))
    }
}
