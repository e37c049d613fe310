//! The tools a mock offers by itself: pure functions of arguments and state.

use super::action::Action;
use super::fault::End;
use super::files::FileRequest;
use super::host::Host;
use super::reply::Body;
use super::state::State;
use super::{emit, values};
use serde_json::{Value, json};
use std::time::Duration;

/// What a tool call amounts to.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub body: Body,
    /// Done before the reply.
    pub before: Vec<Action>,
    /// Done in place of the reply.
    pub instead: Option<Vec<Action>>,
    /// How long the answer takes.
    pub delay: Duration,
}

impl Outcome {
    #[must_use]
    pub fn of(body: Body) -> Self {
        Self {
            body,
            before: Vec::new(),
            instead: None,
            delay: Duration::ZERO,
        }
    }

    fn invalid(tool: &str, problem: &str) -> Self {
        Self::of(Body::invalid(format!(
            "Invalid arguments for tool {tool}: {problem}"
        )))
    }
}

/// The built-in tools as `tools/list` shows them.
#[must_use]
pub fn descriptors() -> Vec<Value> {
    let message = json!({
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
    });
    vec![
        json!({
            "name": "echo",
            "description": "Answers with the message",
            "inputSchema": message,
        }),
        json!({
            "name": "add",
            "description": "Adds two numbers",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                "required": ["a", "b"],
            },
            "outputSchema": {
                "type": "object",
                "properties": {"sum": {"type": "number"}},
                "required": ["sum"],
            },
        }),
        json!({
            "name": "fail",
            "description": "Answers with isError and the message",
            "inputSchema": message,
        }),
        json!({
            "name": "sleep",
            "description": "Answers after so many milliseconds",
            "inputSchema": {
                "type": "object",
                "properties": {"ms": {"type": "integer", "minimum": 0}},
                "required": ["ms"],
            },
        }),
        json!({
            "name": "crash",
            "description": "Ends the server with an exit code or by a signal",
            "inputSchema": {
                "type": "object",
                "properties": {"code": {"type": "integer", "minimum": 0, "maximum": 255}, "signal": {"type": "string"}},
            },
        }),
        json!({
            "name": "counter",
            "description": "Counts its own calls",
            "inputSchema": {"type": "object"},
            "outputSchema": {
                "type": "object",
                "properties": {"count": {"type": "integer"}},
                "required": ["count"],
            },
        }),
        json!({
            "name": "env",
            "description": "Answers with the value of an environment variable",
            "inputSchema": {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            },
        }),
        json!({
            "name": "noise",
            "description": "Prints lines on stdout and stderr before it answers",
            "inputSchema": {"type": "object"},
        }),
    ]
}

/// The file tools as `tools/list` shows them.
#[must_use]
pub fn file_descriptors() -> Vec<Value> {
    vec![
        json!({
            "name": "write_file",
            "description": "Writes a text file, by a path below the served directory",
            "inputSchema": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
                "required": ["path", "content"],
            },
        }),
        json!({
            "name": "read_file",
            "description": "Answers with the content of a text file",
            "inputSchema": {
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
            },
        }),
        json!({
            "name": "list_files",
            "description": "Answers with the names in the served directory",
            "inputSchema": {"type": "object"},
        }),
        json!({
            "name": "clean_up",
            "description": "Removes the files this server wrote, and the directory once it is empty",
            "inputSchema": {"type": "object"},
        }),
    ]
}

/// Calls a built-in tool; nothing if there is none of this name.
pub fn call(tool: &str, args: &Value, state: &mut State, host: &dyn Host) -> Option<Outcome> {
    let text_arg = |name: &str| args.get(name).and_then(Value::as_str);
    Some(match tool {
        "echo" | "fail" => match text_arg("message") {
            Some(message) => Outcome::of(Body::text(message, tool == "fail")),
            None => Outcome::invalid(tool, "`message` must be a string"),
        },
        "add" => add(args),
        "sleep" => match args.get("ms").and_then(Value::as_u64) {
            Some(ms) => Outcome {
                delay: Duration::from_millis(ms),
                ..Outcome::of(Body::text(format!("slept {ms} ms"), false))
            },
            None => Outcome::invalid(tool, "`ms` must be a whole number"),
        },
        "crash" => crash(args),
        "counter" => {
            state.counter = state.counter.saturating_add(1);
            structured(&state.counter.to_string(), &json!({"count": state.counter}))
        }
        "env" => match text_arg("name") {
            Some(name) => Outcome::of(match host.env(name) {
                Some(value) => Body::text(value, false),
                None => Body::text(format!("environment variable {name} is not set"), true),
            }),
            None => Outcome::invalid(tool, "`name` must be a string"),
        },
        "noise" => Outcome {
            before: vec![emit::junk(3), Action::stderr_line("noise: on stderr too")],
            ..Outcome::of(Body::text("made some noise", false))
        },
        _ => return None,
    })
}

fn structured(text: &str, content: &Value) -> Outcome {
    Outcome::of(Body::Result(json!({
        "content": [{"type": "text", "text": text}],
        "structuredContent": content,
        "isError": false,
    })))
}

fn add(args: &Value) -> Outcome {
    let (a, b) = (args.get("a"), args.get("b"));
    let int = |v: Option<&Value>| v.and_then(Value::as_i64);
    let float = |v: Option<&Value>| v.and_then(Value::as_f64);
    // Whole numbers stay whole, so that 2 + 3 reads 5 and not 5.0.
    let sum = match (int(a), int(b), float(a), float(b)) {
        (Some(a), Some(b), _, _) if a.checked_add(b).is_some() => json!(a.wrapping_add(b)),
        (_, _, Some(a), Some(b)) => json!(a + b),
        _ => return Outcome::invalid("add", "`a` and `b` must be numbers"),
    };
    structured(&sum.to_string(), &json!({"sum": sum}))
}

fn crash(args: &Value) -> Outcome {
    let end = match (args.get("signal"), args.get("code")) {
        (Some(signal), _) => match values::signal(signal.as_str().unwrap_or_default()) {
            Ok(signal) => End::Signal(signal),
            Err(problem) => return Outcome::invalid("crash", &problem),
        },
        (None, None) => End::Code(1),
        (None, Some(code)) => match code.as_u64().map(u8::try_from) {
            Some(Ok(code)) => End::Code(i32::from(code)),
            _ => return Outcome::invalid("crash", "`code` must be 0 to 255"),
        },
    };
    Outcome {
        instead: Some(vec![emit::end(end)]),
        ..Outcome::of(Body::Result(Value::Null))
    }
}

/// Calls a file tool; nothing if there is none of this name.
pub fn call_files(tool: &str, args: &Value, root: &str, host: &mut dyn Host) -> Option<Outcome> {
    let arg = |name: &str| args.get(name).and_then(Value::as_str);
    let request = match (tool, arg("path"), arg("content")) {
        ("write_file", Some(path), Some(content)) => FileRequest::Write { path, content },
        ("read_file", Some(path), _) => FileRequest::Read { path },
        ("list_files", _, _) => FileRequest::List,
        ("clean_up", _, _) => FileRequest::CleanUp,
        ("write_file", _, _) => {
            return Some(Outcome::invalid(
                tool,
                "`path` and `content` must be strings",
            ));
        }
        ("read_file", _, _) => return Some(Outcome::invalid(tool, "`path` must be a string")),
        _ => return None,
    };
    Some(Outcome::of(match host.file(root, request) {
        Ok(text) => Body::text(text, false),
        Err(problem) => Body::text(format!("Error: {problem}"), true),
    }))
}
