//! Tools, prompts and resources: what changed of each.

use super::canonical::same;
use super::change::Change;
use super::compare::ChangeList;
use super::direction::Direction;
use super::lock::{Items, LockedItem};
use super::schema::compare_schemas;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Hints of a tool: what holds where it says nothing, and which value promises
/// more.
const HINTS: [(&str, bool, bool); 4] = [
    ("readOnlyHint", false, true),
    ("destructiveHint", true, false),
    ("idempotentHint", false, true),
    ("openWorldHint", true, false),
];

static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

fn members(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or(&NONE)
}

fn member_names<'v>(a: &'v Value, b: &'v Value) -> BTreeSet<&'v String> {
    members(a).keys().chain(members(b).keys()).collect()
}

/// What a list has to say of its items.
struct Kind {
    /// As items are named by it, and the lock calls it.
    list: &'static str,
    added: &'static str,
    removed: &'static str,
}

impl ChangeList<'_> {
    pub fn tools(&mut self, old: Option<&Items>, new: Option<&Items>) {
        let kind = Kind {
            list: "tools",
            added: "tool-added",
            removed: "tool-removed",
        };
        self.list(&kind, old, new, Self::tool);
    }

    pub fn prompts(&mut self, old: Option<&Items>, new: Option<&Items>) {
        let kind = Kind {
            list: "prompts",
            added: "prompt-added",
            removed: "prompt-removed",
        };
        self.list(&kind, old, new, Self::prompt);
    }

    pub fn resources(&mut self, list: &'static str, old: Option<&Items>, new: Option<&Items>) {
        let kind = Kind {
            list,
            added: "resource-added",
            removed: "resource-removed",
        };
        self.list(&kind, old, new, Self::resource);
    }

    fn list(
        &mut self,
        kind: &Kind,
        old: Option<&Items>,
        new: Option<&Items>,
        compare: fn(&mut Self, &str, &Value, &Value),
    ) {
        let none = Items::new();
        let (a, b) = (old.unwrap_or(&none), new.unwrap_or(&none));
        for (name, before) in a {
            let item = format!("{}/{name}", kind.list);
            match b.get(name) {
                Some(after) if before.digest == after.digest => {}
                Some(LockedItem { definition, .. }) => {
                    compare(self, &item, &before.definition, definition);
                }
                None => self.tell(kind.removed, &item, "", [Some(&before.definition), None]),
            }
        }
        for (name, after) in b.iter().filter(|(name, _)| !a.contains_key(*name)) {
            let item = format!("{}/{name}", kind.list);
            self.tell(kind.added, &item, "", [None, Some(&after.definition)]);
        }
    }

    fn tool(&mut self, item: &str, old: &Value, new: &Value) {
        for name in member_names(old, new) {
            let pair = [old.get(name), new.get(name)];
            let pointer = pointer_to(name);
            match (name.as_str(), pair) {
                (_, [Some(a), Some(b)]) if same(a, b) => {}
                ("title" | "description" | "icons", _) => {
                    self.tell("tool-text", item, &pointer, pair);
                }
                ("inputSchema", [before, after]) => {
                    // Without one, anything may be given.
                    let any = Value::Bool(true);
                    let (a, b) = (before.unwrap_or(&any), after.unwrap_or(&any));
                    self.schema(item, &pointer, [a, b], Direction::Input);
                }
                ("outputSchema", [None, _]) => {
                    self.tell("output-schema-added", item, &pointer, pair);
                }
                ("outputSchema", [_, None]) => {
                    self.tell("output-schema-removed", item, &pointer, pair);
                }
                ("outputSchema", [Some(a), Some(b)]) => {
                    self.schema(item, &pointer, [a, b], Direction::Output);
                }
                ("annotations", [a, b]) => {
                    let none = Value::Null;
                    self.annotations(item, a.unwrap_or(&none), b.unwrap_or(&none));
                }
                ("execution", [a, b]) => self.execution(item, a, b),
                (_, _) => self.tell("member", item, &pointer, pair),
            }
        }
    }

    fn schema(&mut self, item: &str, pointer: &str, [old, new]: [&Value; 2], direction: Direction) {
        let server = self.server().to_owned();
        let (old, new) = (of_objects(old), of_objects(new));
        let changes = compare_schemas(&old, &new, direction).into_iter();
        self.changes.extend(changes.map(|change| Change {
            server: server.clone(),
            item: item.to_owned(),
            kind: change.kind,
            pointer: format!("{pointer}{}", change.pointer),
            before: change.before,
            after: change.after,
            rule: change.rule,
            why: change.why,
            is_shown: change.is_shown,
            era: None,
        }));
    }

    fn annotations(&mut self, item: &str, old: &Value, new: &Value) {
        for name in member_names(old, new) {
            let pair = [old.get(name), new.get(name)];
            if matches!(pair, [Some(a), Some(b)] if same(a, b)) {
                continue;
            }
            let pointer = format!("/annotations{}", pointer_to(name));
            let hint = HINTS.iter().find(|(hint, ..)| hint == name);
            let rule = match hint {
                None => "annotation-other",
                Some((_, unsaid, better)) => {
                    let [a, b] =
                        pair.map(|value| value.and_then(Value::as_bool).unwrap_or(*unsaid));
                    match (a, b) {
                        (a, b) if a == b => "annotation-said",
                        (_, b) if b == *better => "annotation-stronger",
                        (_, _) => "annotation-weaker",
                    }
                }
            };
            self.tell(rule, item, &pointer, pair);
        }
    }

    fn execution(&mut self, item: &str, old: Option<&Value>, new: Option<&Value>) {
        let none = Value::Null;
        let (a, b) = (old.unwrap_or(&none), new.unwrap_or(&none));
        for name in member_names(a, b) {
            let pair = [a.get(name), b.get(name)];
            let pointer = format!("/execution{}", pointer_to(name));
            let words = pair.map(|value| value.and_then(Value::as_str).unwrap_or("forbidden"));
            let rule = match (name.as_str(), words) {
                ("taskSupport", [a, b]) if a == b => continue,
                ("taskSupport", [_, "optional"]) => "execution-wider",
                (_, _) if matches!(pair, [Some(a), Some(b)] if same(a, b)) => continue,
                (_, _) => "execution-narrower",
            };
            self.tell(rule, item, &pointer, pair);
        }
    }

    fn prompt(&mut self, item: &str, old: &Value, new: &Value) {
        for name in member_names(old, new) {
            let pair = [old.get(name), new.get(name)];
            match (name.as_str(), pair) {
                (_, [Some(a), Some(b)]) if same(a, b) => {}
                ("arguments", [a, b]) => {
                    let none = Value::Null;
                    self.arguments(item, a.unwrap_or(&none), b.unwrap_or(&none));
                }
                ("title" | "description" | "icons", _) => {
                    self.tell("prompt-text", item, &pointer_to(name), pair);
                }
                (_, _) => self.tell("member", item, &pointer_to(name), pair),
            }
        }
    }

    fn arguments(&mut self, item: &str, old: &Value, new: &Value) {
        let named = |list: &Value, wanted: &str| {
            let all = list.as_array()?;
            let at = all
                .iter()
                .position(|it| it.get("name").and_then(Value::as_str) == Some(wanted))?;
            Some((at, all[at].clone()))
        };
        let names = |list: &Value| -> Vec<String> {
            let all = list.as_array().into_iter().flatten();
            let names = all.filter_map(|it| it.get("name").and_then(Value::as_str));
            names.map(str::to_owned).collect()
        };
        let required = |argument: &Value| argument.get("required") == Some(&Value::Bool(true));
        for name in names(old) {
            let Some((at, before)) = named(old, &name) else {
                continue;
            };
            let pointer = format!("/arguments/{at}");
            let Some((at, after)) = named(new, &name) else {
                self.tell("argument-removed", item, &pointer, [Some(&before), None]);
                continue;
            };
            let pointer = format!("/arguments/{at}");
            let pair = [Some(&before), Some(&after)];
            match (required(&before), required(&after)) {
                (false, true) => self.tell("argument-required", item, &pointer, pair),
                (true, false) => self.tell("argument-optional", item, &pointer, pair),
                (_, _) => {}
            }
            for member in member_names(&before, &after) {
                let pair = [before.get(member), after.get(member)];
                let is_same = matches!(pair, [Some(a), Some(b)] if same(a, b));
                if member != "required" && !is_same {
                    let pointer = format!("{pointer}{}", pointer_to(member));
                    self.tell("prompt-text", item, &pointer, pair);
                }
            }
        }
        for name in names(new) {
            if named(old, &name).is_some() {
                continue;
            }
            if let Some((at, after)) = named(new, &name) {
                let rule = match required(&after) {
                    true => "argument-added-required",
                    false => "argument-added",
                };
                let pointer = format!("/arguments/{at}");
                self.tell(rule, item, &pointer, [None, Some(&after)]);
            }
        }
    }

    fn resource(&mut self, item: &str, old: &Value, new: &Value) {
        for name in member_names(old, new) {
            let pair = [old.get(name), new.get(name)];
            let rule = match (name.as_str(), pair) {
                (_, [Some(a), Some(b)]) if same(a, b) => continue,
                ("mimeType", [None, _]) => "mime-type-added",
                ("mimeType", _) => "mime-type",
                ("name" | "title" | "description" | "icons" | "annotations", _) => "resource-text",
                (_, _) => "member",
            };
            self.tell(rule, item, &pointer_to(name), pair);
        }
    }
}

/// Arguments and structured outputs are objects by MCP, whether the schema says so
/// or not.
fn of_objects(schema: &Value) -> Value {
    let mut schema = match schema {
        Value::Bool(true) => Value::Object(Map::new()),
        other => other.clone(),
    };
    if let Value::Object(members) = &mut schema
        && !["type", "$ref", "anyOf", "oneOf"]
            .iter()
            .any(|key| members.contains_key(*key))
    {
        members.insert("type".to_owned(), Value::from("object"));
    }
    schema
}

fn pointer_to(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}
