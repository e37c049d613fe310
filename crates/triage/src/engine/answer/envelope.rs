//! Errors as data: the envelopes that services and their clients put an error
//! into.
//!
//! What an object is about is told by its keys. One that holds anything beside
//! an error and what belongs to it is data, however it speaks of errors: a list
//! of failed jobs, the findings of a linter.

use super::keys::{Role, http_status, is_bad, is_finding, is_none, is_speaking, names_error, role};
use super::{DEPTH, sentence, whole};
use serde_json::{Map, Value};

/// Items of a list that are looked at; a longer one is data.
const ITEMS: usize = 50;
/// Values that an envelope may repeat of the request, as the name asked for.
const ECHOES: usize = 4;
/// Lines of output of a failed command; more is data.
const OUTPUT: usize = 5;

/// Nothing is in it, however deep.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(map) => map.values().all(is_empty),
    }
}

fn is_list(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

/// The lines of a value that is an error as a whole.
pub(super) fn read(value: &Value, depth: usize) -> Option<Vec<String>> {
    if depth > DEPTH {
        return None;
    }
    match value {
        Value::String(text) => whole(text, depth + 1),
        Value::Array(items) => {
            if items.is_empty() || items.len() > ITEMS {
                return None;
            }
            let each: Option<Vec<_>> = items.iter().map(|item| read(item, depth + 1)).collect();
            Some(each?.concat())
        }
        Value::Object(map) => object(map, depth),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// What an object was found to hold.
#[derive(Default)]
struct EnvelopeFacts {
    /// It says outright that it is an error.
    outright: bool,
    /// `ok: false` and the like, beside which anything may be repeated.
    flagged: bool,
    /// It says so by a word for its status, which data may have too.
    by_status: bool,
    /// It says that there is no error.
    denied: bool,
    /// Sentences, the error's own before others.
    words: Vec<String>,
    more: Vec<String>,
    codes: Vec<String>,
    stack: Vec<String>,
    wrapped: Vec<String>,
    others: usize,
    /// Sentences that are errors by themselves, and those that are none.
    stated: usize,
    unstated: usize,
    /// Sentences that tell an error only where something else says so.
    plain_words: usize,
}

impl EnvelopeFacts {
    fn lines(self) -> Vec<String> {
        [self.words, self.wrapped, self.more, self.codes, self.stack].concat()
    }
}

fn object(map: &Map<String, Value>, depth: usize) -> Option<Vec<String>> {
    let mut found = EnvelopeFacts::default();
    let mut entities = 0;
    let is_rpc = map.contains_key("jsonrpc");
    let has_state = ["status", "state"]
        .iter()
        .any(|key| map.get(*key).is_some_and(Value::is_string));
    let is_command = map.keys().any(|key| role(key) == Role::Exit);
    if is_command {
        return command(map);
    }
    for (key, value) in map {
        let role = role(key);
        match role {
            Role::Success => match said_false(value) {
                Some(true) => (found.outright, found.flagged) = (true, true),
                Some(false) => return None,
                None if is_empty(value) => {}
                None => return None,
            },
            Role::Failure => match value {
                Value::Bool(true) => (found.outright, found.flagged) = (true, true),
                Value::String(text) if !text.trim().is_empty() => {
                    found.outright = true;
                    found.words.push(text.clone());
                }
                value if is_empty(value) => {}
                _ => return None,
            },
            Role::Entity if !is_empty(value) || value.is_boolean() => entities += 1,
            // `error: null` says that there is none.
            Role::Error if is_empty(value) => found.denied |= !is_list(value),
            _ if is_empty(value) => {}
            Role::Error => found.outright |= error(key, value, &mut found, depth)?,
            Role::Status => status(key, value, &mut found)?,
            Role::Code => code(value, &mut found),
            Role::Kind => match value.as_str() {
                Some(kind) if names_error(kind) => {
                    found.by_status = true;
                    found.codes.push(kind.to_owned());
                }
                // An address that tells the kind of a problem, or what a block
                // of content is.
                Some(_) if key != "name" => {}
                Some(_) => entities += 1,
                None => found.others += 1,
            },
            Role::Words => words(key, value, &mut found),
            Role::Stack => stack(value, &mut found),
            Role::Stderr => {
                found.more.extend(value.as_str().map(str::to_owned));
            }
            Role::Stdout => found.others += 1,
            Role::Wrap => match read(value, depth + 1) {
                Some(lines) => {
                    found.wrapped.extend(lines);
                    found.stated += 1;
                }
                None => match value {
                    Value::String(text) if text.len() <= 300 => {
                        found.unstated += 1;
                        found.wrapped.push(text.clone());
                    }
                    _ => return None,
                },
            },
            Role::Beside => {
                if key == "documentation_url" {
                    found.by_status = true;
                }
            }
            Role::Entity => {}
            Role::Exit => {}
            Role::Other => match value {
                // What was asked for may be repeated, no more.
                Value::Array(_) | Value::Object(_) => return None,
                Value::String(_) | Value::Number(_) if key == "id" && is_rpc => {}
                // A thing with a number and a state of its own.
                Value::String(_) | Value::Number(_) if key == "id" && has_state => entities += 1,
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Null => {
                    found.others += 1;
                }
            },
        }
    }
    // Errors of Node lose their message where they are printed as JSON.
    let is_errno = |code: &String| code.starts_with('E') && names_error(code);
    let named = !found.words.is_empty()
        || !found.more.is_empty()
        || found.others == 0 && found.codes.iter().any(is_errno);
    let is_error = if found.flagged {
        found.others <= 2 * ECHOES
    } else if found.outright {
        entities == 0 && found.others <= ECHOES && found.unstated == 0
    } else if found.by_status {
        named && entities == 0 && found.others <= 1 && found.unstated == 0
    } else {
        // Nothing but sentences, each of them an error.
        found.stated > 0
            && !found.denied
            && found.unstated + found.plain_words + entities + found.others == 0
    };
    is_error.then(|| found.lines())
}

/// Whether a flag says that it failed; nothing where it is no flag.
fn said_false(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(!flag),
        Value::Number(number) => match number.as_i64() {
            Some(0) => Some(true),
            Some(1) => Some(false),
            Some(_) | None => None,
        },
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "false" | "no" | "0" => Some(true),
            "true" | "yes" | "1" => Some(false),
            _ => None,
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Takes what stands for the error; nothing where it is data after all. The
/// answer is whether there is an error.
fn error(key: &str, value: &Value, found: &mut EnvelopeFacts, depth: usize) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => {
            // A number of errors is a count.
            if key.ends_with('s') {
                found.others += 1;
                return Some(false);
            }
            let number = number.as_i64()?;
            match http_status(number) {
                Some(line) => found.codes.push(line),
                None => found.codes.push(format!("error {number}")),
            }
            found.by_status = true;
            Some(false)
        }
        Value::String(text) => {
            let said = text.trim();
            if is_none(said) {
                return Some(false);
            }
            found.words.push(said.to_owned());
            found.words.extend(whole_json(said, depth));
            Some(true)
        }
        Value::Array(items) => {
            if items.len() > ITEMS {
                return None;
            }
            for item in items {
                match item {
                    Value::String(text) => found.words.push(text.clone()),
                    Value::Object(map) => nested(map, found, depth + 1)?,
                    Value::Null => {}
                    Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
                }
            }
            Some(!items.is_empty())
        }
        Value::Object(map) => {
            nested(map, found, depth + 1)?;
            Some(true)
        }
        Value::Null => Some(false),
    }
}

/// The lines of an error object, which has been called one.
fn nested(map: &Map<String, Value>, found: &mut EnvelopeFacts, depth: usize) -> Option<()> {
    if depth > DEPTH {
        return None;
    }
    if is_finding(map) && !map.contains_key("stack") && !map.contains_key("trace") {
        return None;
    }
    let mut said = false;
    let mut fields = 0;
    for (key, value) in map {
        if is_empty(value) {
            continue;
        }
        match role(key) {
            Role::Words | Role::Error | Role::Wrap | Role::Failure => {
                said = true;
                gather(value, &mut found.words, found_depth(depth));
            }
            Role::Code | Role::Status => {
                said = true;
                code(value, found);
            }
            Role::Kind => {
                said = true;
                found.codes.extend(value.as_str().map(str::to_owned));
            }
            Role::Stack => stack(value, found),
            Role::Stdout | Role::Stderr => gather(value, &mut found.more, found_depth(depth)),
            // As of GraphQL, which has room for codes there.
            Role::Beside => {
                let codes = value.as_object().into_iter().flatten();
                for (_, value) in codes.filter(|(key, _)| role(key) == Role::Code) {
                    code(value, found);
                }
            }
            Role::Success | Role::Exit | Role::Entity => {}
            Role::Other => {
                // `{"name": ["can't be blank"]}`: what is wrong, by field.
                let mut lines = Vec::new();
                gather(value, &mut lines, found_depth(depth));
                if !lines.is_empty() {
                    fields += 1;
                    found
                        .more
                        .extend(lines.into_iter().map(|line| format!("{key}: {line}")));
                }
            }
        }
    }
    (said || fields > 0).then_some(())
}

/// How deep there is left to go.
fn found_depth(depth: usize) -> usize {
    DEPTH.saturating_sub(depth)
}

/// All texts of a value, and statuses.
fn gather(value: &Value, lines: &mut Vec<String>, depth: usize) {
    match value {
        Value::String(text) if !text.trim().is_empty() => {
            lines.push(text.trim().to_owned());
            if let Some(value) = super::literal::parse(text) {
                gather(&value, lines, depth.saturating_sub(1));
            }
        }
        Value::Array(items) if depth > 0 => {
            for item in items.iter().take(ITEMS) {
                gather(item, lines, depth - 1);
            }
        }
        Value::Object(map) if depth > 0 => {
            for (key, value) in map {
                match (role(key), value) {
                    (Role::Code | Role::Status, Value::Number(number)) => {
                        lines.extend(number.as_i64().and_then(http_status));
                    }
                    (_, value) => gather(value, lines, depth - 1),
                }
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {}
    }
}

/// JSON in a text, opened.
fn whole_json(text: &str, depth: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(value) = text
        .find('{')
        .and_then(|at| super::literal::parse(&text[at..]))
    {
        gather(&value, &mut lines, found_depth(depth));
    }
    lines
}

fn status(key: &str, value: &Value, found: &mut EnvelopeFacts) -> Option<()> {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(number) => match http_status(number) {
                Some(line) => {
                    found.by_status = true;
                    found.codes.push(line);
                }
                // 200 says that all is well, and any other number is data.
                None => return None,
            },
            None => return None,
        },
        Value::String(text) => {
            let word = text.trim().to_ascii_lowercase();
            let number = word.get(..3).and_then(|head| head.parse().ok());
            if let Some(line) = number.and_then(http_status) {
                found.by_status = true;
                found.codes.push(format!(
                    "{line}{}",
                    text.trim().get(3..).unwrap_or_default()
                ));
            } else if word == "error" && key.len() <= "status".len() {
                found.outright = true;
            } else if is_bad(&word) {
                found.by_status = true;
                found.codes.push(text.trim().to_owned());
            } else {
                return None;
            }
        }
        Value::Bool(false) => {
            found.outright = true;
        }
        Value::Null | Value::Bool(true) | Value::Array(_) | Value::Object(_) => return None,
    }
    Some(())
}

fn code(value: &Value, found: &mut EnvelopeFacts) {
    match value {
        Value::Number(number) => {
            let Some(number) = number.as_i64() else {
                return;
            };
            match http_status(number) {
                Some(line) => {
                    found.by_status = true;
                    found.codes.push(line);
                }
                None => {
                    // As of JSON-RPC, and of the operating system.
                    found.by_status |= number < 0;
                    found.codes.push(format!("code {number}"));
                }
            }
        }
        Value::String(text) => {
            let text = text.trim();
            let number = text.parse().ok().and_then(http_status);
            found.by_status |= number.is_some() || names_error(text);
            found.codes.push(number.unwrap_or_else(|| text.to_owned()));
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
    }
}

fn words(key: &str, value: &Value, found: &mut EnvelopeFacts) {
    match value {
        Value::String(text) => {
            let text = text.trim();
            let states = || sentence::read(text).is_some() || super::command::read(text).is_some();
            if is_speaking(key) && states() {
                found.stated += 1;
            } else {
                found.plain_words += 1;
            }
            found.words.push(text.to_owned());
            found.words.extend(whole_json(text, 1));
        }
        // Problems of a request's fields, or more of the error.
        Value::Array(_) | Value::Object(_) => {
            let mut lines = Vec::new();
            gather(value, &mut lines, DEPTH);
            let problems = value.as_array().is_some_and(|items| {
                !items.is_empty()
                    && items.iter().all(|item| {
                        item.get("msg").or_else(|| item.get("message")).is_some()
                            && (item.get("loc").is_some()
                                || item.get("type").is_some()
                                || item.get("field").is_some())
                    })
            });
            if problems {
                found.stated += 1;
            } else {
                found.plain_words += 1;
            }
            found.more.extend(lines);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn stack(value: &Value, found: &mut EnvelopeFacts) {
    match value {
        Value::String(text) => found.stack.push(text.clone()),
        Value::Array(items) => {
            let lines = items.iter().take(ITEMS).filter_map(Value::as_str);
            found.stack.extend(lines.map(str::to_owned));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}

/// The result of a command: an exit status with its output.
fn command(map: &Map<String, Value>) -> Option<Vec<String>> {
    let mut exit = None;
    let (mut stderr, mut stdout, mut words) = (String::new(), String::new(), Vec::new());
    for (key, value) in map {
        match role(key) {
            Role::Exit => {
                exit = value
                    .as_i64()
                    .or_else(|| value.as_str()?.trim().parse().ok())
            }
            Role::Stderr => stderr = value.as_str().unwrap_or_default().to_owned(),
            Role::Stdout | Role::Wrap => stdout = value.as_str().unwrap_or_default().to_owned(),
            Role::Error | Role::Words => words.extend(value.as_str().map(str::to_owned)),
            Role::Success
            | Role::Failure
            | Role::Status
            | Role::Code
            | Role::Kind
            | Role::Stack
            | Role::Beside
            | Role::Entity
            | Role::Other => {}
        }
    }
    let exit = exit.filter(|exit| *exit != 0)?;
    if stderr.trim().is_empty() {
        if stdout.lines().count() > OUTPUT {
            return None;
        }
        stderr = stdout;
    }
    words.push(stderr.trim().to_owned());
    words.push(format!("exit code {exit}"));
    Some(words)
}
