//! What answers gave, for arguments of the same name and type.
//!
//! Main type: [`Feed`].

use super::case::Case;
use super::schema::segment;
use super::target::Target;
use jelly_base::text::{LazyPattern, read_json};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::rc::Rc;

/// Names that are kept.
const NAMES: usize = 200;
/// Values of one name.
const VALUES: usize = 12;
/// Bytes of a text that is kept.
const TEXT: usize = 500;
/// Bytes of an answer that are looked at.
const ANSWER: usize = 256 << 10;
/// So deep answers are looked into.
const DEPTH: usize = 8;
/// Parts of one answer.
const PARTS: usize = 2_000;

static PATH: LazyPattern = LazyPattern::new(r#"(?m)(?:^|[\s"'`(])((?:/[\w.@+-]+){1,20})"#);
static URI: LazyPattern = LazyPattern::new(r#"\b([a-z][a-z0-9+.-]{1,20}://[^\s"'`<>)\]]{1,200})"#);

/// Scalars of answers, by the name under which they stood.
#[derive(Debug, Default)]
pub struct Feed {
    values: HashMap<String, Vec<Known>>,
}

/// A value, and where it can be had again.
#[derive(Debug, Clone)]
struct Known {
    value: Value,
    source: Option<Rc<FedSource>>,
}

/// Where a value stands in what a call gives. A server that makes its ids anew at each
/// start gives another one there.
#[derive(Debug, Clone, PartialEq)]
pub struct FedSource {
    /// The tool that was called.
    pub tool: String,
    pub arguments: Value,
    /// JSON pointer into the structured output, or into what its text says as JSON.
    pub pointer: String,
}

impl FedSource {
    /// What stands there in another answer.
    #[must_use]
    pub fn find<'r>(&self, result: &'r Value) -> Option<Cow<'r, Value>> {
        outputs(result).into_iter().find_map(|output| match output {
            Cow::Borrowed(output) => output.pointer(&self.pointer).map(Cow::Borrowed),
            Cow::Owned(output) => output.pointer(&self.pointer).cloned().map(Cow::Owned),
        })
    }
}

/// An argument whose value an earlier answer gave.
#[derive(Debug, Clone, PartialEq)]
pub struct FedArgument {
    pub name: String,
    pub value: Value,
    pub source: Rc<FedSource>,
}

/// The structured output, and what is JSON in the texts.
fn outputs(result: &Value) -> Vec<Cow<'_, Value>> {
    let structured = result.get("structuredContent").map(Cow::Borrowed);
    let blocks = result.get("content").and_then(Value::as_array);
    let texts = blocks.into_iter().flatten().take(20).filter_map(|block| {
        let text = block.get("text")?.as_str()?;
        let text = Some(text).filter(|text| text.len() <= ANSWER)?;
        let read = read_json(text.trim())?;
        (read.is_object() || read.is_array()).then_some(Cow::Owned(read))
    });
    structured.into_iter().chain(texts).collect()
}

impl Feed {
    /// Keeps what a good answer to a call holds.
    pub fn learn(&mut self, (tool, arguments): (&str, &Value), result: &Value) {
        let mut parts = PARTS;
        for output in outputs(result) {
            let mut place = Place {
                tool,
                arguments,
                pointer: String::new(),
            };
            self.take(&output, ("", ""), &mut place, DEPTH, &mut parts);
        }
        let blocks = result.get("content").and_then(Value::as_array);
        for block in blocks.into_iter().flatten().take(20) {
            let text = block.get("text").and_then(Value::as_str);
            if let Some(text) = text.filter(|text| text.len() <= ANSWER) {
                match read_json(text.trim()) {
                    Some(Value::Object(_) | Value::Array(_)) => {}
                    Some(_) | None => self.words(text),
                }
            }
            if let Some(uri) = block.get("uri").or(block.pointer("/resource/uri")) {
                self.keep("uri", uri, None);
            }
        }
    }

    /// Paths and addresses in prose.
    fn words(&mut self, text: &str) {
        for (name, pattern) in [("path", &PATH), ("uri", &URI)] {
            for found in pattern.captures_iter(text).take(VALUES) {
                self.keep(name, &Value::from(&found[1]), None);
            }
        }
    }

    fn take(
        &mut self,
        value: &Value,
        (name, parent): (&str, &str),
        place: &mut Place<'_>,
        depth: usize,
        parts: &mut usize,
    ) {
        if depth == 0 || *parts == 0 {
            return;
        }
        *parts -= 1;
        let length = place.pointer.len();
        match value {
            Value::Object(members) => {
                for (key, inner) in members {
                    place.pointer.push_str(&segment(key));
                    self.take(inner, (key, name), place, depth - 1, parts);
                    place.pointer.truncate(length);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let _ = write!(place.pointer, "/{index}");
                    let named = (singular(name), parent);
                    self.take(item, named, place, depth - 1, parts);
                    place.pointer.truncate(length);
                }
            }
            Value::String(_) | Value::Number(_) => {
                let source = Rc::new(FedSource {
                    tool: place.tool.to_owned(),
                    arguments: place.arguments.clone(),
                    pointer: place.pointer.clone(),
                });
                self.keep(name, value, Some(source.clone()));
                self.keep(&format!("{}{name}", singular(parent)), value, Some(source));
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn keep(&mut self, name: &str, value: &Value, source: Option<Rc<FedSource>>) {
        let name = normal(name);
        let is_long = value
            .as_str()
            .is_some_and(|text| text.is_empty() || text.len() > TEXT);
        let is_known = self.values.contains_key(&name);
        if name.is_empty() || is_long || !is_known && self.values.len() >= NAMES {
            return;
        }
        let values = self.values.entry(name).or_default();
        // Another server has another one there.
        let same = |known: &&mut Known| source.is_some() && known.source == source;
        if let Some(known) = values.iter_mut().find(same) {
            known.value = value.clone();
            return;
        }
        if values.len() < VALUES && values.iter().all(|known| known.value != *value) {
            values.push(Known {
                value: value.clone(),
                source,
            });
        }
    }

    /// A value for an argument: of its own name, or of the one that it ends with, as
    /// `source_path` ends with `path`.
    fn value(&self, argument: &str, like: &Value, turn: usize) -> Option<&Known> {
        let name = normal(argument);
        let mut known: Vec<&String> = self
            .values
            .keys()
            .filter(|known| name == **known || known.len() > 1 && name.ends_with(known.as_str()))
            .collect();
        known.sort_by_key(|known| (std::cmp::Reverse(known.len()), (*known).clone()));
        let fits = |known: &&Known| match like {
            Value::String(_) => known.value.is_string(),
            Value::Number(_) => known.value.is_number(),
            _ => false,
        };
        known.iter().find_map(|known| {
            let values: Vec<&Known> = self.values.get(*known)?.iter().filter(fits).collect();
            values.get(turn % values.len().max(1)).copied()
        })
    }

    /// The arguments with what earlier answers gave, wherever the case does not try
    /// something else; and which arguments these are.
    #[must_use]
    pub fn fill(
        &self,
        target: &Target,
        case: &Case,
        arguments: &Value,
    ) -> (Value, Vec<FedArgument>) {
        let mut fed = Vec::new();
        let Some(members) = arguments.as_object() else {
            return (arguments.clone(), fed);
        };
        let turn = usize::try_from(case.number / 7).unwrap_or_default();
        let tried = case.pointer.split('/').nth(1);
        let was_valid = target.fits(arguments);
        let mut filled = arguments.clone();
        for (name, value) in members {
            let property = target
                .schema()
                .pointer("/properties")
                .and_then(|all| all.get(name));
            let is_free = property.is_none_or(|property| {
                ["enum", "const", "format", "pattern", "default"]
                    .iter()
                    .all(|key| property.get(*key).is_none())
            });
            // Only what was made up is replaced.
            let is_made_up = match value {
                Value::String(text) => !text.is_empty() && text.chars().all(|c| c == 'a'),
                Value::Number(number) => number.as_i64() == Some(1),
                _ => false,
            };
            if tried == Some(name.as_str()) || !is_free || !is_made_up {
                continue;
            }
            let Some(known) = self.value(name, value, turn) else {
                continue;
            };
            let before = filled.clone();
            filled[name.as_str()] = known.value.clone();
            if target.fits(&filled) != was_valid {
                filled = before;
                continue;
            }
            fed.extend(known.source.clone().map(|source| FedArgument {
                name: name.clone(),
                value: known.value.clone(),
                source,
            }));
        }
        (filled, fed)
    }
}

/// Where in the answer to which call something is looked for.
struct Place<'c> {
    tool: &'c str,
    arguments: &'c Value,
    pointer: String,
}

fn normal(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).take(64).collect()
}

/// As `item` of `items`, and `entity` of `entities`.
fn singular(name: &str) -> &str {
    name.strip_suffix('s').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::Feed;
    use crate::case::{Act, Case, Input};
    use crate::target::Target;
    use serde_json::{Value, json};

    fn text(text: &str) -> Value {
        json!({"content": [{"type": "text", "text": text}]})
    }

    #[test]
    fn an_id_that_one_tool_returned_is_tried_in_another() {
        let mut feed = Feed::default();
        let (no, call) = (json!({}), "list");
        feed.learn(
            (call, &no),
            &json!({"content": [], "structuredContent": {"items": [{"id": "it-1", "n": 3}]}}),
        );
        feed.learn((call, &no), &text("[{\"noteId\": 7}]"));
        feed.learn((call, &no), &text("Allowed directories:\n/srv/data"));
        let (word, number) = (json!("a"), json!(1));
        for (argument, like, value) in [
            ("id", &word, Some(json!("it-1"))),
            ("item_id", &word, Some(json!("it-1"))),
            ("itemId", &word, Some(json!("it-1"))),
            ("note_id", &number, Some(json!(7))),
            ("note_id", &word, Some(json!("it-1"))),
            ("path", &word, Some(json!("/srv/data"))),
            ("sourcePath", &word, Some(json!("/srv/data"))),
            ("name", &word, None),
        ] {
            let found = feed
                .value(argument, like, 0)
                .map(|known| known.value.clone());
            assert_eq!(found, value, "{argument}");
        }
        let other = json!({"structuredContent": {"items": [{"id": "it-2", "n": 3}]}});
        feed.learn((call, &no), &other);
        let found = feed
            .value("item_id", &word, 0)
            .map(|known| known.value.clone());
        assert_eq!(found, Some(json!("it-2")), "the old one is out of date");
        // Where it can be had again, also from a server that calls it otherwise.
        for (argument, like, anew, value) in [
            (
                "item_id",
                &word,
                json!({"structuredContent": {"items": [{"id": "x"}]}}),
                json!("x"),
            ),
            ("note_id", &number, text("[{\"noteId\": 9}]"), json!(9)),
        ] {
            let source = feed
                .value(argument, like, 0)
                .and_then(|known| known.source.clone());
            let found = source.as_ref().and_then(|source| source.find(&anew));
            assert_eq!(found.as_deref(), Some(&value), "{argument}");
        }
    }

    #[test]
    fn what_a_case_tries_is_left_as_it_is() {
        let schema = json!({"type": "object", "required": ["id", "n"], "properties": {
            "id": {"type": "string"}, "n": {"type": "integer"}}});
        let target = Target::new("t", Some(&schema), None, true).unwrap();
        let mut feed = Feed::default();
        feed.learn(("t", &json!({})), &text("{\"id\": \"x9\", \"n\": 4}"));
        let arguments = json!({"id": "a", "n": 1});
        let case = |pointer: &str| Case {
            number: 0,
            tool: 0,
            label: "plain",
            pointer: pointer.to_owned(),
            input: Input::Valid,
            act: Act::Call(arguments.clone()),
        };
        assert_eq!(
            feed.fill(&target, &case("/id"), &arguments).0,
            json!({"id": "a", "n": 4})
        );
        assert_eq!(
            feed.fill(&target, &case(""), &arguments).0,
            json!({"id": "x9", "n": 4})
        );
    }
}
