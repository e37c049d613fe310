//! The tools of one server: what it lists, and which of them answers a call.

use super::builtins::{self, Outcome};
use super::host::Host;
use super::interpolate::{self, Lookup};
use super::reply::Body;
use super::spec::{Response, Script, Tool};
use super::state::State;
use super::units::Dice;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// All tools of a server: scripted ones, files, built-in ones, in this order.
pub struct Tools {
    listed: Vec<Value>,
    /// Where a name stands in `listed`; the first of equal names wins.
    places: HashMap<String, usize>,
    validators: HashMap<String, jsonschema::Validator>,
}

impl Tools {
    #[must_use]
    pub fn new(script: &Script) -> Self {
        let builtins = script
            .builtins
            .unwrap_or(script.tools.is_empty() && script.files.is_none());
        let mut listed: Vec<Value> = script.tools.iter().map(|tool| json!(tool)).collect();
        if script.files.is_some() {
            listed.extend(builtins::file_descriptors());
        }
        if builtins {
            listed.extend(builtins::descriptors());
        }
        let mut places = HashMap::new();
        let mut unique = Vec::with_capacity(listed.len());
        for tool in listed {
            let name = tool["name"].as_str().unwrap_or_default().to_owned();
            if let std::collections::hash_map::Entry::Vacant(vacant) = places.entry(name) {
                vacant.insert(unique.len());
                unique.push(tool);
            }
        }
        Self {
            listed: unique,
            places,
            validators: HashMap::new(),
        }
    }

    /// As `tools/list` shows them.
    #[must_use]
    pub fn listed(&self) -> &[Value] {
        &self.listed
    }

    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Why the arguments don't fit a tool's input schema, if they don't. A
    /// schema that is none fits everything: the script wanted it so.
    pub fn misfit(&mut self, name: &str, args: &Value) -> Option<String> {
        let schema = &self.listed.get(*self.places.get(name)?)?["inputSchema"];
        if !self.validators.contains_key(name) {
            let validator = jsonschema::validator_for(schema).ok()?;
            self.validators.insert(name.to_owned(), validator);
        }
        let problem = self.validators.get(name)?.validate(args).err()?;
        let place = problem.instance_path().to_string();
        Some(if place.is_empty() {
            problem.to_string()
        } else {
            format!("{place}: {problem}")
        })
    }
}

/// The response that is due at a tool's nth call, from 1.
#[must_use]
pub fn due(tool: &Tool, nth: u64) -> Option<&Response> {
    let len = tool.responses.len() as u64;
    let index = nth.saturating_sub(1);
    let index = if tool.cycle {
        index.checked_rem(len)?
    } else {
        index.min(len.checked_sub(1)?)
    };
    tool.responses.get(usize::try_from(index).ok()?)
}

/// A scripted response with its references filled in.
pub fn play(response: &Response, refs: &mut dyn Lookup) -> Outcome {
    let delay = response.delay.unwrap_or_default();
    let body = if let Some(error) = &response.error {
        Body::Error {
            code: error.code,
            message: as_text(interpolate::resolve(&error.message.0, refs)),
            data: error
                .data
                .as_ref()
                .map(|data| interpolate::resolve(&data.0, refs)),
        }
    } else if let Some(result) = &response.result {
        Body::Result(interpolate::resolve(&result.0, refs))
    } else {
        let structured = response
            .structured
            .as_ref()
            .map(|value| interpolate::resolve(&value.0, refs));
        let content = match (&response.content, &response.text, &structured) {
            (Some(content), _, _) => interpolate::resolve(&content.0, refs),
            (None, Some(text), _) => text_block(as_text(interpolate::resolve(&text.0, refs))),
            (None, None, Some(value)) => text_block(value.to_string()),
            (None, None, None) => text_block(String::new()),
        };
        let mut result = Map::new();
        result.insert("content".to_owned(), content);
        if let Some(value) = structured {
            result.insert("structuredContent".to_owned(), value);
        }
        result.insert("isError".to_owned(), json!(response.is_error));
        Body::Result(Value::Object(result))
    };
    Outcome {
        delay,
        ..Outcome::of(body)
    }
}

fn text_block(text: String) -> Value {
    json!([{"type": "text", "text": text}])
}

fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            other.to_string()
        }
    }
}

/// What references in a response refer to.
pub struct Refs<'a> {
    pub args: &'a Value,
    /// Which call of this tool it is, from 1.
    pub call: u64,
    pub state: &'a State,
    pub host: &'a dyn Host,
    pub dice: &'a mut Dice,
}

impl Lookup for Refs<'_> {
    fn lookup(&mut self, reference: &str) -> Value {
        if let Some(path) = reference.strip_prefix("args.") {
            return path
                .split('.')
                .try_fold(self.args, |value, key| match value {
                    Value::Array(items) => items.get(key.parse::<usize>().ok()?),
                    Value::Object(map) => map.get(key),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
                })
                .cloned()
                .unwrap_or_default();
        }
        if let Some(name) = reference.strip_prefix("env:") {
            return self.host.env(name).map_or(Value::Null, Value::String);
        }
        match reference {
            "args" => self.args.clone(),
            "call" => json!(self.call),
            "start" => json!(self.state.starts),
            "pid" => json!(self.host.pid()),
            "cwd" => json!(self.host.cwd()),
            // 32 bits, since JSON readers may hold numbers as doubles.
            "random" => json!(self.dice.roll() >> 32),
            _ => Value::Null,
        }
    }
}
