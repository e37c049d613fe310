//! A tool as its server lists it, as far as a plan wants to know.

use jelly_base::text::one_line;
use serde_json::Value;

/// How much of a description a comment shows, in bytes.
const SHOWN: usize = 200;

/// How much of one is read for what the tool does, in bytes.
const READ: usize = 2000;

/// One tool. Everything but the name may be wrong or missing in what a server
/// sends; what is not of the right type counts as missing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tool {
    pub name: String,
    /// On one line, bounded.
    pub about: String,
    /// All that it says of itself, on one line, cut where it is very long.
    pub description: String,
    /// `annotations.readOnlyHint`, where it is said.
    pub read_only: Option<bool>,
    /// `annotations.destructiveHint`, where it is said.
    pub destructive: Option<bool>,
    /// `annotations.openWorldHint`, where it is said.
    pub open_world: Option<bool>,
    /// It can only be called as a task (`execution.taskSupport`).
    pub only_as_task: bool,
    pub input: Value,
    pub output: Option<Value>,
}

impl Tool {
    /// Absent where the item has no name.
    pub fn read(item: &Value) -> Option<Self> {
        let hint = |key: &str| item.get("annotations")?.get(key)?.as_bool();
        Some(Self {
            name: item.get("name")?.as_str()?.to_owned(),
            about: about(item),
            description: one_line(
                item.get("description")
                    .and_then(Value::as_str)
                    .unwrap_or_default(),
                READ,
            ),
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            open_world: hint("openWorldHint"),
            only_as_task: item.pointer("/execution/taskSupport") == Some(&Value::from("required")),
            input: item.get("inputSchema").cloned().unwrap_or(Value::Null),
            output: item
                .get("outputSchema")
                .filter(|schema| schema.is_object())
                .cloned(),
        })
    }

    /// Names of the arguments that a call can't do without.
    pub fn required(&self) -> Vec<&str> {
        let required = self.input.get("required").and_then(Value::as_array);
        required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }
}

/// What a listed item says of itself, or its title: the first sentence or so.
pub(super) fn about(item: &Value) -> String {
    let text = ["description", "title"]
        .iter()
        .filter_map(|key| item.get(key)?.as_str())
        .find(|text| !text.trim().is_empty())
        .unwrap_or_default();
    // The first sentence: what follows is for models, and long.
    let text = text.trim_start();
    let end = text.find("\n\n").unwrap_or(text.len());
    let line = one_line(&text[..end], SHOWN);
    match line.match_indices(". ").find(|(at, _)| *at >= SENTENCE) {
        Some((at, _)) => line[..=at].to_owned(),
        None => line,
    }
}

/// Shorter ones end with an abbreviation, more likely.
const SENTENCE: usize = 16;
