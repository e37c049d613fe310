//! What was recorded of a server → a plan that expects it again.
//!
//! Main function: [`observed_plan`].

use super::draft::Settings;
use super::names::Ids;
use super::text::Text;
use super::values::{all_written, item, member, one, one_path, written};
use super::varies::{PathStep, below, is_of_a_run, varying_parts};
use jelly_base::text::{Varying, one_line, plural, variable_name, varying};
use jelly_plan::Template;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The longest text that is held as a whole, in bytes; of a longer one, how it
/// begins.
const WHOLE_TEXT: usize = 600;
const BEGINNING: usize = 200;
/// The largest structure that is held as a whole, in bytes of JSON.
const WHOLE_JSON: usize = 1500;
/// So many values of a larger one are held.
const MAX_VALUES: usize = 20;
/// So many items of a list are held by their names.
const MAX_LISTED: usize = 50;
/// So deep a structure is looked into.
const MAX_DEPTH: usize = 24;

/// A request, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Where it stands in the recording.
    pub line: usize,
    pub method: String,
    pub params: Map<String, Value>,
    pub answer: Observed,
    /// How the same was answered in other sessions with the server that had come as
    /// far: what differs there, differs in the next run.
    pub before: Vec<Observed>,
    /// What the server asked meanwhile, with the client's answer: `result` or
    /// `error`.
    pub answers: Vec<(String, Map<String, Value>)>,
}

/// How a request was answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Observed {
    Result(Value),
    Error(Value),
}

/// The plan, and how many steps it has.
#[must_use]
pub fn observed_plan(
    observations: &[Observation],
    settings: &Settings,
    (recording, left_out): (&str, &[String]),
    gone: &dyn Fn(&str) -> bool,
) -> (String, usize) {
    let mut text = Text::default();
    if let Some(schema) = &settings.schema {
        text.line(0, &format!("# yaml-language-server: $schema={schema}"));
    }
    text.comment(
        0,
        &format!(
            "A plan made by `jelly init` of the recording {recording}. It expects what was \
             answered then, but for times, ids, numbers of processes, temporary folders and \
             secrets, and what was another from session to session. It is yours now: change what \
             you like."
        ),
    );
    text.comment(0, &format!("Run it: {}", settings.run));
    let steps = steps(observations, gone);
    let secrets: BTreeSet<&str> = steps
        .iter()
        .flat_map(|step| step.secrets.iter().map(String::as_str))
        .collect();
    if !secrets.is_empty() {
        let names: Vec<&str> = secrets.into_iter().collect();
        text.comment(
            0,
            &format!(
                "TODO: set {} in the environment: the recording has the names of secrets, and not \
                 their values.",
                names.join(", ")
            ),
        );
    }
    text.line(0, "version: 1");
    text.map(0, &one("name", Value::from(settings.name.as_str())), "");
    text.line(0, "servers:");
    for note in &settings.notes {
        text.comment(2, note);
    }
    let server = Value::Object(settings.server.clone());
    text.map(2, &one(&settings.name, server), "");
    text.line(0, "steps:");
    for (index, step) in steps.iter().enumerate() {
        if index > 0 {
            text.blank();
        }
        text.comment(2, &step.about);
        text.map(4, &step.map, "- ");
    }
    for sentence in left_out {
        text.blank();
        text.comment(2, &format!("Left out: {sentence}."));
    }
    (text.into_string(), steps.len())
}

/// One request as a step of a plan, as it stands under `steps`.
#[must_use]
pub fn observed_step(observation: &Observation, server: &str) -> String {
    let mut text = Text::default();
    for step in steps(std::slice::from_ref(observation), &|_| false) {
        let mut map = Map::new();
        for (key, value) in step.map {
            let is_id = key == "id";
            map.insert(key, value);
            if is_id {
                map.insert("server".to_owned(), Value::from(server));
            }
        }
        text.map(4, &map, "- ");
    }
    text.into_string()
}

struct ObservedStep {
    about: String,
    map: Map<String, Value>,
    /// The variables that its arguments need.
    secrets: BTreeSet<String>,
}

fn steps(observations: &[Observation], gone: &dyn Fn(&str) -> bool) -> Vec<ObservedStep> {
    let mut ids = Ids::default();
    let mut steps: Vec<ObservedStep> = Vec::new();
    let mut listed = BTreeSet::new();
    for observation in observations {
        let list = list_of(&observation.method);
        // A list is read whole by one step, however often it was asked for.
        if list.is_some() && !listed.insert(&observation.method) {
            continue;
        }
        let mut sent = Sent {
            gone,
            secrets: BTreeSet::new(),
        };
        let mut map = Map::new();
        let id = ids.of(&step_name(observation));
        map.insert("id".to_owned(), Value::from(id));
        request(
            observation,
            list.map(|(list, ..)| list),
            &mut map,
            &mut sent,
        );
        if !observation.answers.is_empty() {
            let answers = observation.answers.iter().map(|(method, given)| {
                let mut answer = one("method", Value::from(method.as_str()));
                for (key, value) in given {
                    answer.insert(key.clone(), sent.value(value, 0));
                }
                Value::Object(answer)
            });
            map.insert("answers".to_owned(), answers.collect());
        }
        let expect = expect(observation, list);
        if !expect.is_empty() {
            map.insert("expect".to_owned(), Value::Object(expect));
        }
        let many = observation.answers.len();
        let asked = match many {
            0 => String::new(),
            _ => format!("; it asked its client {}", plural(many, "time")),
        };
        steps.push(ObservedStep {
            about: format!("From line {} of the recording{asked}.", observation.line),
            map,
            secrets: sent.secrets,
        });
    }
    steps
}

/// The list that a method reads: its name in a plan, its path, and the member
/// that names an item.
fn list_of(method: &str) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match method {
        "tools/list" => ("tools", "tools", "name"),
        "resources/list" => ("resources", "resources", "uri"),
        "resources/templates/list" => ("resource_templates", "resourceTemplates", "uriTemplate"),
        "prompts/list" => ("prompts", "prompts", "name"),
        _ => return None,
    })
}

fn step_name(observation: &Observation) -> String {
    let of = |key: &str| observation.params.get(key).and_then(Value::as_str);
    match observation.method.as_str() {
        "tools/call" | "prompts/get" => of("name").unwrap_or("call").to_owned(),
        "resources/read" => "read".to_owned(),
        method => match list_of(method) {
            Some((list, ..)) => list.to_owned(),
            None => method.replace('/', "-"),
        },
    }
}

fn request(
    observation: &Observation,
    list: Option<&str>,
    map: &mut Map<String, Value>,
    sent: &mut Sent<'_>,
) {
    let params = &observation.params;
    let text = |key: &str| params.get(key).and_then(Value::as_str);
    let (key, value, args) = match (observation.method.as_str(), list) {
        (_, Some(list)) => ("list", Value::from(list), None),
        ("tools/call", None) if text("name").is_some() => (
            "tool",
            written(text("name").unwrap_or_default()),
            params.get("arguments").cloned(),
        ),
        ("prompts/get", None) if text("name").is_some() => (
            "prompt",
            written(text("name").unwrap_or_default()),
            params.get("arguments").cloned(),
        ),
        ("resources/read", None) if text("uri").is_some() => {
            ("read", sent.text(text("uri").unwrap_or_default()), None)
        }
        (method, None) => {
            let mut params = params.clone();
            params.shift_remove("_meta");
            ("request", Value::from(method), Some(Value::Object(params)))
        }
    };
    map.insert(key.to_owned(), value);
    let args = args.filter(|args| *args != json!({}) && !args.is_null());
    if let Some(args) = args {
        map.insert("args".to_owned(), sent.value(&args, 0));
    }
}

/// A recorded text as a plan sends it: what a secret was is a variable again,
/// called `otherwise` where its name is not known, and a temporary folder that
/// is `gone` is the iteration's own.
#[must_use]
pub fn sent_again(
    text: &str,
    otherwise: &str,
    gone: &dyn Fn(&str) -> bool,
) -> (String, BTreeSet<String>) {
    let (mut whole, mut at, mut names) = (String::new(), 0, BTreeSet::new());
    for (range, what) in varying(text) {
        let reference = match what {
            Varying::Secret(name) => {
                let name = variable_name(name.as_deref().unwrap_or(otherwise));
                let reference = format!("${{secret:{name}}}");
                names.insert(name);
                reference
            }
            Varying::TempFolder if gone(&text[range.clone()]) => "${tmp}".to_owned(),
            Varying::TempFolder | Varying::Form(_) => continue,
        };
        whole.push_str(&Template::literal(&text[at..range.start]).raw);
        whole.push_str(&reference);
        at = range.end;
    }
    whole.push_str(&Template::literal(&text[at..]).raw);
    (whole, names)
}

/// What is sent, and which variables that needs.
struct Sent<'a> {
    gone: &'a dyn Fn(&str) -> bool,
    secrets: BTreeSet<String>,
}

impl Sent<'_> {
    fn text(&mut self, text: &str) -> Value {
        let (text, names) = sent_again(text, "SECRET", self.gone);
        self.secrets.extend(names);
        Value::from(text)
    }

    fn value(&mut self, value: &Value, depth: usize) -> Value {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) if depth < MAX_DEPTH => items
                .iter()
                .map(|item| self.value(item, depth + 1))
                .collect(),
            Value::Object(members) if depth < MAX_DEPTH => members
                .iter()
                .map(|(name, item)| (name.clone(), self.value(item, depth + 1)))
                .collect(),
            other => other.clone(),
        }
    }
}

type ListNames = (&'static str, &'static str, &'static str);

fn expect(observation: &Observation, list: Option<ListNames>) -> Map<String, Value> {
    let others: Vec<&Value> = observation
        .before
        .iter()
        .filter_map(|other| match (other, &observation.answer) {
            (Observed::Result(other), Observed::Result(_))
            | (Observed::Error(other), Observed::Error(_)) => Some(other),
            // What a server does now and then is no expectation's business.
            (Observed::Result(_), Observed::Error(_))
            | (Observed::Error(_), Observed::Result(_)) => None,
        })
        .collect();
    let others = others.as_slice();
    let result = match &observation.answer {
        Observed::Result(result) => result,
        Observed::Error(error) => return expect_error(error, others),
    };
    if let Some((_, path, member)) = list {
        let items = result.get(path).and_then(Value::as_array);
        let held: Vec<Value> = items
            .into_iter()
            .flatten()
            .filter_map(|item| item.get(member)?.as_str())
            .filter(|name| name.len() <= WHOLE_TEXT && varying(name).is_empty())
            .take(MAX_LISTED)
            .map(|name| {
                one_path(
                    &item(&format!("$.{path}"), member, name),
                    "exists",
                    Value::Bool(true),
                )
            })
            .collect();
        return match held.is_empty() {
            true => Map::new(),
            false => one("json", Value::Array(held)),
        };
    }
    match observation.method.as_str() {
        "tools/call" => expect_of_tool(result, others),
        _ => {
            let mut held = Vec::new();
            leaves((result, others), "", (&mut "$".to_owned(), 0), &mut held);
            held.truncate(MAX_VALUES);
            match held.is_empty() {
                true => Map::new(),
                false => one("json", Value::Array(held)),
            }
        }
    }
}

fn expect_error(error: &Value, others: &[&Value]) -> Map<String, Value> {
    let mut held = Map::new();
    if let Some(code) = error.get("code").filter(|code| code.is_i64()) {
        held.insert("code".to_owned(), code.clone());
    }
    if let Some(message) = error.get("message").and_then(Value::as_str) {
        let others = texts_at(others, "/message");
        held.insert(
            "message".to_owned(),
            Value::Object(held_text(message, &others)),
        );
    }
    one("error", Value::Object(held))
}

/// The texts at this place of other answers.
fn texts_at<'v>(others: &[&'v Value], pointer: &str) -> Vec<&'v str> {
    let texts = others.iter();
    texts
        .filter_map(|other| other.pointer(pointer)?.as_str())
        .collect()
}

fn expect_of_tool(result: &Value, others: &[&Value]) -> Map<String, Value> {
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    let mut expect = one("is_error", Value::Bool(is_error));
    let mut held = Vec::new();
    let structured = result.get("structuredContent");
    if let Some(structured) = structured {
        let step = PathStep::Member("structuredContent");
        let others = below(others, step).unwrap_or_default();
        let is_same = others.iter().all(|other| *other == structured);
        if structured.to_string().len() <= WHOLE_JSON && is_same && stays(structured, "", 0) {
            let whole = all_written(structured, &[]);
            expect.insert("structured".to_owned(), json!({ "equals": whole }));
        } else {
            let mut path = "$.structuredContent".to_owned();
            leaves((structured, &others), "", (&mut path, 0), &mut held);
            held.truncate(MAX_VALUES);
        }
    }
    let blocks = result.get("content").and_then(Value::as_array);
    let blocks = blocks.map(Vec::as_slice).unwrap_or_default();
    let only = match blocks {
        [block] => block.get("text").and_then(Value::as_str),
        _ => None,
    };
    // The same once more, for clients that read no structure.
    let says_again = |text: &str| serde_json::from_str(text).ok().as_ref() == structured;
    match only {
        Some(text) if structured.is_some() && says_again(text) => {}
        Some(text) => {
            let others = texts_at(others, "/content/0/text");
            expect.insert("text".to_owned(), Value::Object(held_text(text, &others)));
        }
        None => held.extend(held_blocks(blocks, others)),
    }
    if !held.is_empty() {
        expect.insert("json".to_owned(), Value::Array(held));
    }
    expect
}

fn held_blocks(blocks: &[Value], others: &[&Value]) -> Vec<Value> {
    let mut held = Vec::new();
    for (at, block) in blocks.iter().take(MAX_VALUES).enumerate() {
        for member in ["type", "text", "mimeType", "uri"] {
            if let Some(text) = block.get(member).and_then(Value::as_str) {
                let mut path = one("path", Value::from(format!("$.content[{at}].{member}")));
                let others = texts_at(others, &format!("/content/{at}/{member}"));
                path.extend(held_text(text, &others));
                held.push(Value::Object(path));
            }
        }
    }
    held
}

/// Operators that hold a text, but for what differs in another run.
fn held_text(text: &str, others: &[&str]) -> Map<String, Value> {
    let found = varying_parts(text, others);
    if text.len() <= WHOLE_TEXT && found.is_empty() {
        return one("equals", written(text));
    }
    let whole = text.len() <= WHOLE_TEXT;
    let mut end = if whole { text.len() } else { BEGINNING };
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // What differs is not cut in two.
    let cut = found
        .iter()
        .find(|(range, _)| range.start < end && end < range.end);
    end = cut.map_or(end, |(range, _)| range.start);
    let found: Vec<_> = found
        .into_iter()
        .filter(|(range, _)| range.end <= end)
        .collect();
    if found.is_empty() {
        return match end {
            0 => one("length", json!({ "gt": 0 })),
            _ => one("starts_with", written(&text[..end])),
        };
    }
    let (mut pattern, mut at) = ("^".to_owned(), 0);
    for (range, form) in found {
        pattern.push_str(&regex::escape(&text[at..range.start]));
        pattern.push_str(&form);
        at = range.end;
    }
    pattern.push_str(&regex::escape(&text[at..end]));
    if whole {
        pattern.push('$');
    }
    one("matches", written(&pattern))
}

/// Whether nothing in a value differs in another run.
fn stays(value: &Value, name: &str, depth: usize) -> bool {
    match value {
        Value::String(text) => varying_parts(text, &[]).is_empty(),
        Value::Number(number) => !is_of_a_run(name, number),
        Value::Array(items) => depth < MAX_DEPTH && items.iter().all(|i| stays(i, name, depth + 1)),
        Value::Object(members) => {
            depth < MAX_DEPTH && members.iter().all(|(name, i)| stays(i, name, depth + 1))
        }
        Value::Null | Value::Bool(_) => true,
    }
}

/// The values in a structure that has this name, each with its path. What differs
/// in another run is held by its form, and what others have not, not at all.
fn leaves(
    (value, others): (&Value, &[&Value]),
    name: &str,
    (path, depth): (&mut String, usize),
    held: &mut Vec<Value>,
) {
    if held.len() >= MAX_VALUES || depth > MAX_DEPTH {
        return;
    }
    let length = path.len();
    match value {
        Value::Object(members) => {
            let named = members.iter().filter(|(name, _)| *name != "_meta");
            for (name, inner) in named {
                let Some(others) = below(others, PathStep::Member(name)) else {
                    continue;
                };
                path.push_str(&member(name));
                leaves((inner, &others), name, (path, depth + 1), held);
                path.truncate(length);
            }
        }
        Value::Array(items) => {
            let lengths = others.iter().map(|other| other.as_array().map(Vec::len));
            if lengths
                .into_iter()
                .any(|length| length != Some(items.len()))
            {
                held.push(one_path(path, "type", Value::from("array")));
                return;
            }
            for (at, inner) in items.iter().enumerate().take(MAX_VALUES) {
                let others = below(others, PathStep::Item(at)).unwrap_or_default();
                path.push_str(&format!("[{at}]"));
                leaves((inner, &others), name, (path, depth + 1), held);
                path.truncate(length);
            }
        }
        Value::String(text) => {
            let others: Vec<&str> = others.iter().filter_map(|other| other.as_str()).collect();
            let mut entry = one("path", Value::from(path.as_str()));
            entry.extend(held_text(text, &others));
            held.push(Value::Object(entry));
        }
        Value::Number(number) if is_of_a_run(name, number) => {
            held.push(one_path(path, "type", Value::from("number")));
        }
        Value::Number(_) if others.iter().any(|other| *other != value) => {
            if others.iter().all(|other| other.is_number()) {
                held.push(one_path(path, "type", Value::from("number")));
            }
        }
        other if others.iter().any(|before| *before != other) => {}
        other => held.push(one_path(path, "equals", other.clone())),
    }
}

/// A request in a few words, for what is said of it.
#[must_use]
pub fn described(method: &str, params: &Map<String, Value>) -> String {
    let of = |key: &str| params.get(key).and_then(Value::as_str);
    match of("name").or_else(|| of("uri")) {
        Some(name) => format!("{method} `{}`", one_line(name, 80)),
        None => method.to_owned(),
    }
}

#[cfg(test)]
#[path = "observed_tests.rs"]
mod tests;
