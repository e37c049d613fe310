//! A value held against a shape.
//!
//! Main function: [`fit`]. Members that no shape knows are let pass: the
//! specification allows them nearly everywhere.

use super::rules::Rule;
use super::specification::{Choice, Section, Shape, Specification, Type};
use super::strings::{is_reserved, meta_key_flaw};
use jelly_base::text::json_type;
use jelly_base::text::redact::Redactor;
use serde_json::{Map, Value};

/// No more flaws of one message are looked for.
const MAX_FLAWS: usize = 200;
/// Bytes of a word of the server that a flaw quotes.
const QUOTED: usize = 60;

/// One departure from a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flaw {
    pub(super) rule: Rule,
    /// JSON pointer below the value that was held against the shape.
    pub(super) pointer: String,
    /// The same with `*` for every index: equal for all items of a list.
    pub(super) place: String,
    /// What completes "the server answers with …".
    pub(super) text: String,
    /// Where the shape stands.
    pub(super) section: Option<Section>,
}

/// Holds `value` against the type of this name. What a flaw quotes knows no
/// secret of `redactor`.
pub(super) fn fit(
    revision: &Specification,
    type_name: &str,
    value: &Value,
    redactor: &Redactor,
) -> Vec<Flaw> {
    let mut fitting = Fitting {
        revision,
        redactor,
        path: Vec::new(),
        flaws: Vec::new(),
    };
    let owner = Owner {
        name: type_name,
        depth: 0,
        section: None,
    };
    fitting.named(type_name, value, owner);
    fitting.flaws
}

#[derive(Clone, Copy)]
enum Step<'v> {
    Key(&'v str),
    Index(usize),
}

/// The innermost type around a value.
#[derive(Clone, Copy)]
struct Owner<'r> {
    name: &'r str,
    /// Where in the path it begins.
    depth: usize,
    section: Option<&'r Section>,
}

struct Fitting<'r> {
    revision: &'r Specification,
    redactor: &'r Redactor,
    path: Vec<Step<'r>>,
    flaws: Vec<Flaw>,
}

impl<'r> Fitting<'r> {
    fn named(&mut self, name: &'r str, value: &'r Value, around: Owner<'r>) {
        // The loader has seen to it that every name has a type.
        let Some(kind) = self.revision.types.get(name) else {
            return;
        };
        let Value::Object(object) = value else {
            // The root has nothing around it to speak of.
            let text = if self.path.len() == around.depth {
                format!("{} where {} is due", a(json_type(value)), a(name))
            } else {
                self.wrong(around, value, &a(name))
            };
            return self.flaw(Rule::Shape, kind.see.as_ref().or(around.section), text);
        };
        let owner = Owner {
            name,
            depth: self.path.len(),
            section: kind.see.as_ref().or(around.section),
        };
        if let Some(choice) = &kind.choice {
            self.choose(choice, object, value, owner);
        } else {
            self.members(kind, object, owner);
        }
    }

    fn members(&mut self, kind: &'r Type, object: &'r Map<String, Value>, owner: Owner<'r>) {
        for field in &kind.fields {
            let owner = Owner {
                section: field.see.as_ref().or(owner.section),
                ..owner
            };
            match object.get(&field.name) {
                Some(value) => {
                    self.path.push(Step::Key(&field.name));
                    self.value(&field.shape, value, owner);
                    self.path.pop();
                }
                None if field.required => {
                    let text = format!("{} without `{}`", a(owner.name), field.name);
                    self.path.push(Step::Key(&field.name));
                    self.flaw(Rule::Shape, owner.section, text);
                    self.path.pop();
                }
                None => {}
            }
        }
        if !kind.needs.is_empty() && !kind.needs.iter().any(|name| object.contains_key(name)) {
            let names = kind.needs.join("` nor `");
            let text = format!("{} with neither `{names}`", a(owner.name));
            self.flaw(Rule::Shape, owner.section, text);
        }
        if kind.is_meta {
            self.meta_keys(object, owner);
        }
    }

    fn choose(
        &mut self,
        choice: &'r Choice,
        object: &'r Map<String, Value>,
        value: &'r Value,
        owner: Owner<'r>,
    ) {
        let word = match object.get(&choice.member) {
            Some(Value::String(word)) => word.as_str(),
            None if choice.default.is_some() => choice.default.as_deref().unwrap_or_default(),
            found => {
                let text = match found {
                    Some(other) => format!(
                        "{} whose `{}` is {} where a string is due",
                        a(owner.name),
                        choice.member,
                        a(json_type(other))
                    ),
                    None => format!("{} without `{}`", a(owner.name), choice.member),
                };
                self.path.push(Step::Key(&choice.member));
                self.flaw(Rule::Shape, owner.section, text);
                self.path.pop();
                return;
            }
        };
        match choice.of.get(word) {
            Some(name) => self.named(name, value, owner),
            None => {
                let text = format!(
                    "{} whose `{}` is `{}`, which {} does not know here",
                    a(owner.name),
                    choice.member,
                    self.redactor.cut(word, QUOTED),
                    self.revision.name
                );
                self.path.push(Step::Key(&choice.member));
                self.flaw(Rule::Shape, owner.section, text);
                self.path.pop();
            }
        }
    }

    fn value(&mut self, shape: &'r Shape, value: &'r Value, owner: Owner<'r>) {
        let due = match shape {
            Shape::Any => return,
            Shape::Named(name) => return self.named(name, value, owner),
            Shape::List(item, limit) => match value {
                Value::Array(items) => return self.items(item, *limit, items, owner),
                _ => "an array",
            },
            Shape::OneOrMany(item) => match value {
                Value::Array(items) => return self.items(item, None, items, owner),
                _ => return self.value(item, value, owner),
            },
            Shape::Map(item) => match value {
                Value::Object(object) => {
                    for (key, value) in object {
                        if self.is_full() {
                            return;
                        }
                        self.path.push(Step::Key(key));
                        self.value(item, value, owner);
                        self.path.pop();
                    }
                    return;
                }
                _ => "an object",
            },
            Shape::Meta => match value {
                Value::Object(object) => return self.meta_keys(object, owner),
                _ => "an object",
            },
            Shape::Words(words) => match value {
                Value::String(word) if words.contains(word) => return,
                Value::String(word) => {
                    let text = format!(
                        "{} whose `{}` is `{}`, which is none of {}",
                        a(owner.name),
                        self.relative(owner),
                        self.redactor.cut(word, QUOTED),
                        words.join(", ")
                    );
                    return self.flaw(Rule::Shape, owner.section, text);
                }
                _ => "a string",
            },
            Shape::Form(form) => match value {
                Value::String(text) if (form.fits)(text) => return,
                Value::String(_) => {
                    let (name, place) = (a(owner.name), self.relative(owner));
                    let text = format!("{name} whose `{place}` is not {}", form.due);
                    return self.flaw(Rule::Shape, owner.section, text);
                }
                _ => "a string",
            },
            Shape::Scalar(scalar) if (scalar.fits)(value) => return,
            Shape::Scalar(scalar) => scalar.due,
        };
        let text = self.wrong(owner, value, due);
        self.flaw(Rule::Shape, owner.section, text);
    }

    fn items(
        &mut self,
        shape: &'r Shape,
        limit: Option<usize>,
        items: &'r [Value],
        owner: Owner<'r>,
    ) {
        if let Some(limit) = limit.filter(|limit| items.len() > *limit) {
            let text = format!(
                "{} whose `{}` holds {} items where {limit} are allowed",
                a(owner.name),
                self.relative(owner),
                items.len()
            );
            self.flaw(Rule::Shape, owner.section, text);
        }
        for (index, item) in items.iter().enumerate() {
            if self.is_full() {
                return;
            }
            self.path.push(Step::Index(index));
            self.value(shape, item, owner);
            self.path.pop();
        }
    }

    fn meta_keys(&mut self, object: &'r Map<String, Value>, owner: Owner<'r>) {
        for key in object.keys() {
            if self.is_full() {
                return;
            }
            let shown = self.redactor.cut(key, QUOTED);
            let (rule, text) = if let Some(flaw) = meta_key_flaw(key) {
                (
                    Rule::MetaKey,
                    format!("the key `{shown}` in `_meta`, {flaw}"),
                )
            } else if is_reserved(key) {
                let text = format!(
                    "the key `{shown}` in `_meta`, whose prefix the specification reserves"
                );
                (Rule::MetaReserved, text)
            } else {
                continue;
            };
            self.path.push(Step::Key(key));
            self.flaw(rule, owner.section, text);
            self.path.pop();
        }
    }

    fn wrong(&self, owner: Owner<'_>, value: &Value, due: &str) -> String {
        format!(
            "{} whose `{}` is {} where {due} is due",
            a(owner.name),
            self.relative(owner),
            a(json_type(value))
        )
    }

    /// The path within a type, as in `annotations.priority`.
    fn relative(&self, owner: Owner<'_>) -> String {
        let mut text = String::new();
        for step in self.path.get(owner.depth..).unwrap_or_default() {
            match step {
                Step::Key(key) if text.is_empty() => text.push_str(&self.redactor.cut(key, QUOTED)),
                Step::Key(key) => text.push_str(&format!(".{}", self.redactor.cut(key, QUOTED))),
                Step::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }

    fn is_full(&self) -> bool {
        self.flaws.len() >= MAX_FLAWS
    }

    fn flaw(&mut self, rule: Rule, section: Option<&Section>, text: String) {
        if self.is_full() {
            return;
        }
        let mut pointer = String::new();
        let mut place = String::new();
        for step in &self.path {
            match step {
                Step::Key(key) => {
                    let part = escape(&self.redactor.cut(key, 4 * QUOTED));
                    pointer.push_str(&part);
                    place.push_str(&part);
                }
                Step::Index(index) => {
                    pointer.push_str(&format!("/{index}"));
                    place.push_str("/*");
                }
            }
        }
        self.flaws.push(Flaw {
            rule,
            pointer,
            place,
            text,
            section: section.cloned(),
        });
    }
}

/// A reference token of RFC 6901 with its slash.
pub(super) fn escape(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// With its article, as in `an integer`; null needs none.
pub(super) fn a(word: &str) -> String {
    match word.bytes().next() {
        _ if word == "null" => word.to_owned(),
        Some(b'a' | b'e' | b'i' | b'o' | b'A' | b'E' | b'I' | b'O' | b'U') => format!("an {word}"),
        Some(_) | None => format!("a {word}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Flaw, MAX_FLAWS, a, escape, fit};
    use crate::check::load::specification;
    use jelly_base::mcp::Revision;
    use jelly_base::text::redact::Redactor;
    use serde_json::{Value, json};

    fn flaws(version: &str, kind: &str, value: &Value) -> Vec<(String, String)> {
        let revision = Revision::find(version).unwrap();
        fit(specification(revision), kind, value, &Redactor::none())
            .into_iter()
            .map(|Flaw { pointer, text, .. }| (pointer, text))
            .collect()
    }

    #[track_caller]
    fn one(version: &str, kind: &str, value: &Value) -> (String, String) {
        let mut all = flaws(version, kind, value);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    #[test]
    fn a_missing_member_is_named_with_its_place() {
        let (pointer, text) = one(
            "2025-11-25",
            "ListToolsResult",
            &json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}, {"name": "b"}]}),
        );
        assert_eq!(pointer, "/tools/1/inputSchema");
        assert_eq!(text, "a Tool without `inputSchema`");
    }

    #[test]
    fn a_wrong_type_is_named_with_what_is_due() {
        for (value, pointer, text) in [
            (
                json!({"content": {}}),
                "/content",
                "a CallToolResult whose `content` is an object where an array is due",
            ),
            (
                json!({"content": ["a"]}),
                "/content/0",
                "a CallToolResult whose `content[0]` is a string where a ContentBlock is due",
            ),
            (
                json!({"content": [], "isError": "no"}),
                "/isError",
                "a CallToolResult whose `isError` is a string where a boolean is due",
            ),
            (
                json!({"content": [{"type": "text", "text": "a", "annotations": {"priority": 2}}]}),
                "/content/0/annotations/priority",
                "an Annotations whose `priority` is an integer where a number from 0 to 1 is due",
            ),
            (json!([]), "", "an array where a CallToolResult is due"),
        ] {
            let found = one("2025-11-25", "CallToolResult", &value);
            assert_eq!(found, (pointer.to_owned(), text.to_owned()));
        }
    }

    #[test]
    fn content_is_of_the_types_that_the_revision_knows() {
        let audio = json!({"content": [{"type": "audio", "data": "", "mimeType": "a/b"}]});
        let link = json!({"content": [{"type": "resource_link", "uri": "x:y", "name": "n"}]});
        let (pointer, text) = one("2024-11-05", "CallToolResult", &audio);
        assert_eq!(pointer, "/content/0/type");
        assert!(
            text.contains("`audio`, which 2024-11-05 does not know"),
            "{text}"
        );
        assert!(flaws("2025-03-26", "CallToolResult", &audio).is_empty());
        assert!(!flaws("2025-03-26", "CallToolResult", &link).is_empty());
        assert!(flaws("2025-06-18", "CallToolResult", &link).is_empty());
        let untyped = json!({"content": [{"text": "a"}]});
        assert_eq!(
            one("2025-06-18", "CallToolResult", &untyped).1,
            "a ContentBlock without `type`"
        );
    }

    #[test]
    fn one_of_several_members_is_needed() {
        let (pointer, text) = one(
            "2025-06-18",
            "ReadResourceResult",
            &json!({"contents": [{"uri": "a:b"}]}),
        );
        assert_eq!(pointer, "/contents/0");
        assert_eq!(text, "a ResourceContents with neither `text` nor `blob`");
    }

    #[test]
    fn strings_have_their_forms() {
        let value = json!({"contents": [{"uri": "nowhere", "blob": "!"}]});
        let found = flaws("2025-06-18", "ReadResourceResult", &value);
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "a ResourceContents whose `uri` is not a URI",
                "a ResourceContents whose `blob` is not Base64",
            ]
        );
    }

    #[test]
    fn lists_can_be_too_long() {
        let value = json!({"completion": {"values": vec!["x"; 101]}});
        let (pointer, text) = one("2025-06-18", "CompleteResult", &value);
        assert_eq!(pointer, "/completion/values");
        assert!(text.contains("101 items where 100 are allowed"), "{text}");
    }

    #[test]
    fn a_mode_that_is_left_out_is_the_first() {
        let form = json!({"message": "m", "requestedSchema": {"type": "object", "properties": {}}});
        assert!(flaws("2025-11-25", "ElicitParams", &form).is_empty());
        let url = json!({"mode": "url", "message": "m", "url": "https://x"});
        assert_eq!(one("2025-11-25", "ElicitParams", &url).0, "/elicitationId",);
        assert!(flaws("2026-07-28", "ElicitParams", &url).is_empty());
    }

    #[test]
    fn numbers_may_be_written_with_a_point() {
        let value = json!({"progressToken": 1.0, "progress": 0.5});
        assert!(flaws("2025-06-18", "ProgressParams", &value).is_empty());
        let value = json!({"progressToken": 1.5, "progress": 0.5});
        assert_eq!(flaws("2025-06-18", "ProgressParams", &value).len(), 1);
    }

    #[test]
    fn members_that_nobody_knows_are_let_pass() {
        let value = json!({"content": [], "nothing": {"of": "ours"}, "toolResult": 1});
        assert!(flaws("2025-11-25", "CallToolResult", &value).is_empty());
    }

    #[test]
    fn a_flood_of_flaws_ends() {
        let value = json!({"tools": vec![Value::Null; 10_000]});
        assert_eq!(
            flaws("2025-11-25", "ListToolsResult", &value).len(),
            MAX_FLAWS
        );
    }

    #[test]
    fn pointers_are_escaped() {
        assert_eq!(escape("a/b~c"), "/a~1b~0c");
        assert_eq!(
            (a("object"), a("null")),
            ("an object".into(), "null".into())
        );
    }
}
