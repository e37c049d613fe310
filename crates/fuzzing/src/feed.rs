//! What answers gave, for arguments of the same name and type.
//!
//! Main type: [`Feed`].

use super::case::Case;
use super::target::Target;
use jelly_base::text::read_json;
use regex::Regex;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::LazyLock;

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

static PATH: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "a constant that every test compiles")]
    Regex::new(r#"(?m)(?:^|[\s"'`(])((?:/[\w.@+-]+){1,20})"#).expect("the pattern compiles")
});
static URI: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "a constant that every test compiles")]
    Regex::new(r#"\b([a-z][a-z0-9+.-]{1,20}://[^\s"'`<>)\]]{1,200})"#)
        .expect("the pattern compiles")
});

/// Scalars of answers, by the name under which they stood.
#[derive(Debug, Default)]
pub struct Feed {
    values: HashMap<String, Vec<Value>>,
}

impl Feed {
    /// Keeps what a good answer of a tool holds.
    pub fn learn(&mut self, result: &Value) {
        let mut parts = PARTS;
        if let Some(structured) = result.get("structuredContent") {
            self.take(structured, "", "", DEPTH, &mut parts);
        }
        let blocks = result.get("content").and_then(Value::as_array);
        for block in blocks.into_iter().flatten().take(20) {
            let text = block.get("text").and_then(Value::as_str);
            if let Some(text) = text.filter(|text| text.len() <= ANSWER) {
                match read_json(text.trim()) {
                    Some(read @ (Value::Object(_) | Value::Array(_))) => {
                        self.take(&read, "", "", DEPTH, &mut parts);
                    }
                    Some(_) | None => self.words(text),
                }
            }
            if let Some(uri) = block.get("uri").or(block.pointer("/resource/uri")) {
                self.keep("uri", uri);
            }
        }
    }

    /// Paths and addresses in prose.
    fn words(&mut self, text: &str) {
        for (name, pattern) in [("path", &PATH), ("uri", &URI)] {
            for found in pattern.captures_iter(text).take(VALUES) {
                self.keep(name, &Value::from(&found[1]));
            }
        }
    }

    fn take(&mut self, value: &Value, name: &str, parent: &str, depth: usize, parts: &mut usize) {
        if depth == 0 || *parts == 0 {
            return;
        }
        *parts -= 1;
        match value {
            Value::Object(members) => {
                for (key, inner) in members {
                    self.take(inner, key, name, depth - 1, parts);
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.take(item, singular(name), parent, depth - 1, parts);
                }
            }
            Value::String(_) | Value::Number(_) => {
                self.keep(name, value);
                self.keep(&format!("{}{name}", singular(parent)), value);
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn keep(&mut self, name: &str, value: &Value) {
        let name = normal(name);
        let is_long = value
            .as_str()
            .is_some_and(|text| text.is_empty() || text.len() > TEXT);
        let is_known = self.values.contains_key(&name);
        if name.is_empty() || is_long || !is_known && self.values.len() >= NAMES {
            return;
        }
        let values = self.values.entry(name).or_default();
        if values.len() < VALUES && !values.contains(value) {
            values.push(value.clone());
        }
    }

    /// A value for an argument: of its own name, or of the one that it ends with, as
    /// `source_path` ends with `path`.
    #[must_use]
    pub fn value(&self, argument: &str, like: &Value, turn: usize) -> Option<&Value> {
        let name = normal(argument);
        let mut known: Vec<&String> = self
            .values
            .keys()
            .filter(|known| name == **known || known.len() > 1 && name.ends_with(known.as_str()))
            .collect();
        known.sort_by_key(|known| (std::cmp::Reverse(known.len()), (*known).clone()));
        let fits = |value: &&Value| match like {
            Value::String(_) => value.is_string(),
            Value::Number(_) => value.is_number(),
            _ => false,
        };
        known.iter().find_map(|known| {
            let values: Vec<&Value> = self.values.get(*known)?.iter().filter(fits).collect();
            values.get(turn % values.len().max(1)).copied()
        })
    }

    /// The arguments with what earlier answers gave, wherever the case does not try
    /// something else.
    #[must_use]
    pub fn fill(&self, target: &Target, case: &Case, arguments: &Value) -> Value {
        let Some(members) = arguments.as_object() else {
            return arguments.clone();
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
            let Some(value) = self.value(name, value, turn) else {
                continue;
            };
            let before = filled.clone();
            filled[name.as_str()] = value.clone();
            if target.fits(&filled) != was_valid {
                filled = before;
            }
        }
        filled
    }
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
        feed.learn(
            &json!({"content": [], "structuredContent": {"items": [{"id": "it-1", "n": 3}]}}),
        );
        feed.learn(&text("[{\"noteId\": 7}]"));
        feed.learn(&text("Allowed directories:\n/srv/data"));
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
            assert_eq!(feed.value(argument, like, 0).cloned(), value, "{argument}");
        }
    }

    #[test]
    fn what_a_case_tries_is_left_as_it_is() {
        let schema = json!({"type": "object", "required": ["id", "n"], "properties": {
            "id": {"type": "string"}, "n": {"type": "integer"}}});
        let target = Target::new("t", Some(&schema), None, true).unwrap();
        let mut feed = Feed::default();
        feed.learn(&text("{\"id\": \"x9\", \"n\": 4}"));
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
            feed.fill(&target, &case("/id"), &arguments),
            json!({"id": "a", "n": 4})
        );
        assert_eq!(
            feed.fill(&target, &case(""), &arguments),
            json!({"id": "x9", "n": 4})
        );
    }
}
