//! Arguments for a call, from a tool's own input schema.
//!
//! Main function: [`sample`].

use super::number::{number, shorter_wait};
use super::parts::{MAX_VALUE, Parts, keep_harmless};
use super::phrase::texts;
use indexmap::IndexMap;
use jelly_plan::BoundedSchema;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// How deep a schema is followed.
const MAX_DEPTH: usize = 8;
/// The longest name of an argument; longer ones are nobody's names.
const MAX_NAME: usize = 200;
/// So many items at most are made of an array's `minItems`.
const MAX_ITEMS: usize = 16;
/// So many parts of a schema are looked at: one that refers to itself in many
/// places has no end.
const MAX_PARTS: usize = 500;
/// The largest arguments that are made, in bytes of JSON.
const MAX_ARGS: usize = 4000;
/// So many of the ways through a schema's alternatives are tried.
const MAX_TURNS: usize = 4;

/// So many of several alternatives are looked at.
const MAX_CHOICES: usize = 8;

/// What stands where only a person knows the value.
pub(super) const BLANK: &str = "TODO";

/// What is known of files that the server can see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Paths<'a> {
    /// For an argument that is a file.
    pub file: Option<&'a str>,
    /// For one that is a folder.
    pub folder: Option<&'a str>,
    /// For one that may be either.
    pub either: Option<&'a str>,
}

/// Arguments of a call, in the order in which they are to be tried.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    /// None, where they are not to be sent.
    pub tries: Vec<Map<String, Value>>,
    /// What a person would complete.
    pub draft: Map<String, Value>,
    /// The names of those in it that nothing says a fitting value for:
    /// [`BLANK`], or wrong. Where it has none, and is not to be sent, its
    /// values don't fit together.
    pub blanks: Vec<String>,
}

/// The required arguments, and those with a default, each by the first that is
/// there of: `const`, `default`, `examples`, `enum`, an example in the
/// description, what its name, format, pattern and bounds say. The schema is
/// asked whether they fit.
pub(super) fn sample(schema: &Value, paths: Paths<'_>) -> Sample {
    // A schema that can't be used says nothing.
    let judge = BoundedSchema::compile(schema).ok();
    let mut tries: Vec<Map<String, Value>> = Vec::new();
    let mut first = None;
    for turn in 0..MAX_TURNS {
        let mut sampler = Sampler {
            root: schema,
            paths,
            blanks: Vec::new(),
            entered: Vec::new(),
            left: MAX_PARTS,
            turn,
            chose: false,
        };
        let args = sampler.arguments();
        let Sampler { blanks, chose, .. } = sampler;
        let whole = Value::Object(args.clone());
        let wrong = match (&judge, blanks.is_empty()) {
            (Some(judge), true) => wrong(judge, &whole),
            (_, _) => (!blanks.is_empty()).then_some(blanks),
        };
        if whole.to_string().len() > MAX_ARGS {
            first.get_or_insert((Map::new(), Vec::new()));
        } else if let Some(names) = wrong {
            first.get_or_insert((args, names));
        } else if !tries.contains(&args) {
            tries.push(args);
        }
        if !chose {
            break;
        }
    }
    let (draft, blanks) = match (tries.first(), first) {
        (Some(good), _) => (good.clone(), Vec::new()),
        (None, first) => first.unwrap_or_default(),
    };
    Sample {
        tries,
        draft,
        blanks,
    }
}

/// The names of the arguments that can't be right, where some can't.
fn wrong(judge: &BoundedSchema, args: &Value) -> Option<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    // Where to say so takes too much, nothing says that they fit.
    if judge.is_valid(args) == Ok(true) {
        return None;
    }
    for error in judge.errors(args, 20).into_iter().flatten() {
        let at = error.instance_path().to_string();
        let name = at.split('/').nth(1).unwrap_or_default();
        let name = name.replace("~1", "/").replace("~0", "~");
        if !at.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    Some(names)
}

struct Sampler<'a> {
    root: &'a Value,
    paths: Paths<'a>,
    blanks: Vec<String>,
    /// What was referred to on the way to where it is: a way back is a circle.
    entered: Vec<&'a str>,
    /// Of [`MAX_PARTS`].
    left: usize,
    /// Which of several alternatives comes first.
    turn: usize,
    /// There were several.
    chose: bool,
}

impl<'a> Sampler<'a> {
    fn arguments(&mut self) -> Map<String, Value> {
        let mut parts = Parts::default();
        // What nobody can follow asks for nothing.
        let _ = self.add(&mut parts, self.root);
        match self.filled("", parts, true, 0) {
            Some(Value::Object(args)) => args,
            _ => Map::new(),
        }
    }

    /// Adds a schema, and what it refers to. None where nothing fits it, or
    /// nobody can follow it.
    fn add(&mut self, parts: &mut Parts<'a>, schema: &'a Value) -> Option<()> {
        let mut todo = vec![schema];
        while let Some(schema) = todo.pop() {
            self.left = self.left.checked_sub(1)?;
            let map = match schema {
                Value::Object(map) => map,
                Value::Bool(false) => return None,
                // No schema at all says nothing either.
                Value::Bool(true)
                | Value::Null
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_) => continue,
            };
            parts.layers.push(map);
            if let Some(to) = map.get("$ref").and_then(Value::as_str) {
                if self.entered.contains(&to) {
                    return None;
                }
                self.entered.push(to);
                todo.push(self.root.pointer(to.strip_prefix('#')?)?);
            }
            if let Some(Value::Array(all)) = map.get("allOf") {
                todo.extend(all.iter().rev());
            }
            for key in ["anyOf", "oneOf"] {
                if let Some(Value::Array(some)) = map.get(key) {
                    parts.choices.push(some);
                }
            }
            if map.contains_key("if") {
                self.chose = true;
                let key = ["then", "else"][self.turn % 2];
                todo.extend(map.get(key));
            }
        }
        Some(())
    }

    /// A value that fits all of the schemas.
    fn value(&mut self, name: &str, schemas: &[&'a Value], depth: usize) -> Option<Value> {
        let entered = self.entered.len();
        let mut parts = Parts::default();
        let found = schemas
            .iter()
            .try_for_each(|schema| self.add(&mut parts, schema))
            .and_then(|()| self.filled(name, parts, false, depth));
        self.entered.truncate(entered);
        found
    }

    /// A value of a schema; of its alternatives, the first that has one without
    /// a blank.
    fn filled(
        &mut self,
        name: &str,
        mut parts: Parts<'a>,
        is_root: bool,
        depth: usize,
    ) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        if !is_root && let Some(said) = parts.said().or_else(|| self.listed(&parts)) {
            return Some(shorter_wait(name, &parts).unwrap_or(said));
        }
        let Some(choice) = parts.choices.pop() else {
            return match is_root {
                true => Some(Value::Object(self.object(&parts, true, depth))),
                false => self.made(name, &parts, depth),
            };
        };
        // What may be null may be something, too.
        let mut choice: Vec<&Value> = choice
            .iter()
            .filter(|part| part.get("type") != Some(&Value::from("null")))
            .collect();
        // An `enum` whose values have titles is written so.
        keep_harmless(&mut choice, |part| part.get("const"));
        choice.truncate(MAX_CHOICES);
        self.chose |= choice.len() > 1;
        let (blanks, entered) = (self.blanks.len(), self.entered.len());
        let mut first = None;
        for index in 0..choice.len() {
            let option = choice[(self.turn + index) % choice.len()];
            let mut with = parts.clone();
            let found = self
                .add(&mut with, option)
                .and_then(|()| self.filled(name, with, is_root, depth + 1));
            self.entered.truncate(entered);
            let open = self.blanks.split_off(blanks);
            match found {
                Some(found) if open.is_empty() => return Some(found),
                Some(found) => {
                    first.get_or_insert((found, open));
                }
                None => {}
            }
        }
        let (found, open) = first?;
        self.blanks.extend(open);
        Some(found)
    }

    /// A value of an `enum`: another one at each turn, as far as there are some.
    fn listed(&mut self, parts: &Parts<'a>) -> Option<Value> {
        let listed = parts.choices_listed();
        self.chose |= listed.len() > 1;
        let at = self.turn.min(listed.len().checked_sub(1)?);
        listed.get(at).copied().cloned()
    }

    fn made(&mut self, name: &str, parts: &Parts<'a>, depth: usize) -> Option<Value> {
        match parts.kind()? {
            "string" => {
                let texts = texts(name, parts, self.paths);
                self.chose |= texts.len() > 1;
                let at = self.turn.min(texts.len().checked_sub(1)?);
                texts.into_iter().nth(at).map(Value::from)
            }
            "integer" => number(name, parts, true),
            "number" => number(name, parts, false),
            "boolean" => Some(Value::Bool(false)),
            "array" => self.array(name, parts, depth),
            "object" => Some(Value::Object(self.object(parts, false, depth))),
            "null" => Some(Value::Null),
            _ => None,
        }
    }

    /// The members that an object can't do without; `defaults` too, where that
    /// is asked for.
    fn object(&mut self, parts: &Parts<'a>, defaults: bool, depth: usize) -> Map<String, Value> {
        let mut members = Map::new();
        let required: Vec<&str> = parts
            .all("required")
            .filter_map(Value::as_array)
            .flatten()
            .filter_map(Value::as_str)
            .filter(|name| name.len() <= MAX_NAME)
            .collect();
        let is_required: HashSet<&str> = required.iter().copied().collect();
        let mut declared: IndexMap<&str, Vec<&Value>> = IndexMap::new();
        for properties in parts.all("properties").filter_map(Value::as_object) {
            for (name, own) in properties.iter().filter(|(name, _)| name.len() <= MAX_NAME) {
                declared.entry(name).or_default().push(own);
            }
        }
        for (name, own) in &declared {
            if is_required.contains(name) {
                let value = self.value(name, own, depth + 1);
                let value = value.unwrap_or_else(|| self.blank(name));
                members.insert((*name).to_owned(), value);
            } else if defaults && let Some(value) = own.iter().find_map(|own| default(name, own)) {
                members.insert((*name).to_owned(), value);
            }
        }
        let others = parts.all("additionalProperties").find(|of| of.is_object());
        for name in required {
            if members.contains_key(name) {
                continue;
            }
            let value = others.and_then(|of| self.value(name, &[of], depth + 1));
            let value = value.unwrap_or_else(|| self.blank(name));
            members.insert(name.to_owned(), value);
        }
        let least = parts.least("minProperties").unwrap_or(0);
        let least = usize::try_from(least).unwrap_or(usize::MAX).min(MAX_ITEMS);
        for (name, own) in &declared {
            if members.len() < least
                && !members.contains_key(*name)
                && let Some(value) = self.value(name, own, depth + 1)
            {
                members.insert((*name).to_owned(), value);
            }
        }
        while members.len() < least {
            let name = format!("key{}", members.len() + 1);
            let value = match others {
                Some(of) => self.value(&name, &[of], depth + 1),
                None => Some(Value::from("hello")),
            };
            let Some(value) = value else { break };
            members.insert(name, value);
        }
        members
    }

    fn blank(&mut self, name: &str) -> Value {
        if !self.blanks.iter().any(|blank| blank == name) {
            self.blanks.push(name.to_owned());
        }
        Value::from(BLANK)
    }

    fn array(&mut self, name: &str, parts: &Parts<'a>, depth: usize) -> Option<Value> {
        let bound = |limit: Option<u64>, none: usize| {
            limit.map_or(none, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
        };
        let least = bound(parts.least("minItems"), 0);
        let most = bound(parts.most("maxItems"), usize::MAX);
        // Of draft 7 and before, `items` may be a list.
        let first = parts
            .all("prefixItems")
            .chain(parts.all("items"))
            .find_map(Value::as_array);
        let rest = parts
            .all("items")
            .chain(parts.all("additionalItems"))
            .find(|items| items.is_object());
        let many = least.max(first.map_or(1, Vec::len)).min(most);
        if many > MAX_ITEMS || least > most {
            return None;
        }
        let differ = parts.first("uniqueItems") == Some(&Value::Bool(true));
        let blanks = self.blanks.len();
        let mut items: Vec<Value> = Vec::new();
        for index in 0..many {
            let own = first.and_then(|first| first.get(index)).or(rest);
            let item = match own {
                Some(own) => self.value(name, &[own], depth + 1),
                // Nothing says what is in it: nothing, if that may be.
                None if least == 0 => break,
                None => Some(Value::from("hello")),
            };
            match item {
                Some(item) if differ && items.contains(&item) => {
                    items.push(another(&item, index, own)?);
                }
                Some(item) if self.blanks.len() == blanks || least > 0 => items.push(item),
                // What is in it nobody knows, or has itself in it.
                Some(_) | None if least == 0 => {
                    self.blanks.truncate(blanks);
                    return Some(Value::Array(Vec::new()));
                }
                Some(_) | None => return None,
            }
        }
        Some(Value::Array(items))
    }
}

/// A value of the same kind that is another one.
fn another(value: &Value, index: usize, schema: Option<&Value>) -> Option<Value> {
    let listed = schema.and_then(|schema| schema.get("enum")?.as_array());
    match (listed, value) {
        (Some(listed), _) => listed.get(index).cloned(),
        (None, Value::String(text)) => Some(Value::from(format!("{text}{}", index + 1))),
        (None, Value::Number(number)) => Some(json!(number.as_i64()? + i64::try_from(index).ok()?)),
        (None, Value::Bool(_)) if index == 1 => Some(Value::Bool(true)),
        (None, Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => None,
    }
}

/// The default of an argument that may be left out, where it says something.
fn default(name: &str, schema: &Value) -> Option<Value> {
    let value = schema.get("default")?;
    let empty = match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    if empty || value.to_string().len() > MAX_VALUE {
        return None;
    }
    let parts = Parts {
        layers: schema.as_object().into_iter().collect(),
        choices: Vec::new(),
    };
    Some(shorter_wait(name, &parts).unwrap_or_else(|| value.clone()))
}

#[cfg(test)]
#[path = "sample_tests.rs"]
mod tests;
