//! Faults that act before a reply, or instead of one, as actions.

use super::action::{Action, Pieces};
use super::fault::{Ask, EchoForm, End, Kind, PanicStyle};
use super::host::Host;
use super::stacks;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// When a fault does its part. Every kind is named in [`act`], so that a new
/// one can't be forgotten.
#[derive(Debug)]
pub enum Act {
    /// Before anything else.
    Before(Vec<Action>),
    /// In place of the reply.
    Instead(Vec<Action>),
    /// In or around the reply, or in the manners of the process.
    Elsewhere,
}

/// What a fault does, and when.
#[must_use]
pub fn act(kind: &Kind, host: &dyn Host) -> Act {
    match kind {
        Kind::Banner(text) => Act::Before(vec![Action::stdout_line(text)]),
        Kind::Junk(lines) => Act::Before(vec![junk(*lines)]),
        Kind::Stderr(text) => Act::Before(vec![Action::stderr_line(text)]),
        Kind::StderrFlood(bytes) => Act::Before(vec![Action::StderrFlood(*bytes)]),
        Kind::EchoEnv { name, form } => echo(name, *form, host).map_or(Act::Elsewhere, Act::Before),
        Kind::Log(text) => Act::Before(vec![notification(
            "notifications/message",
            &json!({"level": "info", "logger": "jelly-mock", "data": text}),
        )]),
        Kind::Notify(method) => Act::Before(vec![notification(method, &json!({}))]),
        Kind::AskNowait(ask) => Act::Before(vec![request("mock-nowait", *ask)]),
        Kind::Grandchild(child) => Act::Before(vec![Action::Grandchild(child.clone())]),
        Kind::IgnoreSigterm => Act::Before(vec![Action::IgnoreSigterm]),
        Kind::HttpBanner(text) => Act::Before(vec![Action::Listen(text.clone())]),
        Kind::RequireEnv(name) => Act::Before(require_env(name, host)),
        Kind::RequireDir(path) => Act::Before(require_dir(path, host)),

        Kind::Exit(by) => Act::Instead(vec![end(*by)]),
        Kind::Kill(signal) => Act::Instead(vec![Action::Kill(*signal)]),
        Kind::Panic(style) => Act::Instead(panic(*style)),
        Kind::Hang => Act::Instead(vec![Action::Hang]),
        Kind::Mute => Act::Instead(Vec::new()),
        Kind::CloseStdout => Act::Instead(vec![Action::CloseStdout]),
        Kind::JunkOnly(lines) => Act::Instead(vec![junk(*lines)]),

        Kind::ExitAfter(_)
        | Kind::Slow(_)
        | Kind::Truncate
        | Kind::ContentLength
        | Kind::Crlf
        | Kind::Drip(_)
        | Kind::Split(_)
        | Kind::Burst(_)
        | Kind::Huge(_)
        | Kind::WrongId(_)
        | Kind::Duplicate
        | Kind::JsonrpcVersion(_)
        | Kind::Set { .. }
        | Kind::Drop(_)
        | Kind::ProtocolVersion(_)
        | Kind::Error { .. }
        | Kind::NullResult
        | Kind::EmptyResult
        | Kind::MalformedTools(_)
        | Kind::ListLoop
        | Kind::SchemaBreach
        | Kind::WrongValue(_)
        | Kind::Flaky(_)
        | Kind::Ask(_)
        | Kind::Progress(_)
        | Kind::IgnoreEof => Act::Elsewhere,
    }
}

/// What a fault does before anything else; nothing if it acts otherwise.
#[must_use]
pub fn before(kind: &Kind, host: &dyn Host) -> Option<Vec<Action>> {
    match act(kind, host) {
        Act::Before(actions) => Some(actions),
        Act::Instead(_) | Act::Elsewhere => None,
    }
}

/// What a fault does in place of a reply; nothing if it leaves the reply.
#[must_use]
pub fn instead(kind: &Kind, host: &dyn Host) -> Option<Vec<Action>> {
    match act(kind, host) {
        Act::Instead(actions) => Some(actions),
        Act::Before(_) | Act::Elsewhere => None,
    }
}

fn require_env(name: &str, host: &dyn Host) -> Vec<Action> {
    match host.env(name).filter(|value| !value.is_empty()) {
        Some(_) => Vec::new(),
        None => vec![
            Action::stderr_line(&format!("Error: environment variable {name} is not set")),
            Action::Exit(1),
        ],
    }
}

/// The words of a server whose directory is not there.
#[must_use]
pub fn require_dir(path: &str, host: &dyn Host) -> Vec<Action> {
    if host.is_dir(path) {
        return Vec::new();
    }
    vec![
        Action::stderr_line(&format!("Error: directory {path} does not exist")),
        Action::Exit(1),
    ]
}

/// The end of the process.
#[must_use]
pub fn end(by: End) -> Action {
    match by {
        End::Code(code) => Action::Exit(code),
        End::Signal(signal) => Action::Kill(signal),
    }
}

fn panic(style: PanicStyle) -> Vec<Action> {
    let (text, code) = stacks::death(style);
    vec![Action::Stderr(text.as_bytes().to_vec()), Action::Exit(code)]
}

/// Lines that no JSON parser takes, one of them almost JSON.
#[must_use]
pub fn junk(lines: u32) -> Action {
    const SAMPLES: [&str; 4] = [
        "Loading configuration ...",
        "[INFO] 3 plugins registered",
        "{not json}",
        "DEBUG handler took 4 ms",
    ];
    let text: String = SAMPLES
        .iter()
        .cycle()
        .take(lines as usize)
        .flat_map(|line| [line, "\n"])
        .collect();
    Action::Write {
        bytes: text.into_bytes(),
        pieces: Pieces::Whole,
    }
}

/// A message that wants no answer.
#[must_use]
pub fn notification(method: &str, params: &Value) -> Action {
    message(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// A request to the client.
#[must_use]
pub fn request(id: &str, ask: Ask) -> Action {
    let (method, params) = ask_request(ask);
    message(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

/// Method and params of what a server may ask.
#[must_use]
pub fn ask_request(ask: Ask) -> (&'static str, Value) {
    match ask {
        Ask::Ping => ("ping", json!({})),
        Ask::Roots => ("roots/list", json!({})),
        Ask::Sampling => (
            "sampling/createMessage",
            json!({
                "messages": [{
                    "role": "user",
                    "content": {"type": "text", "text": "What is the capital of France?"},
                }],
                "maxTokens": 16,
            }),
        ),
        Ask::Elicitation => (
            "elicitation/create",
            json!({
                "mode": "form",
                "message": "Please give your name",
                "requestedSchema": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}},
                    "required": ["name"],
                },
            }),
        ),
    }
}

fn message(value: &Value) -> Action {
    Action::stdout_line(&value.to_string())
}

fn echo(name: &str, form: EchoForm, host: &dyn Host) -> Option<Vec<Action>> {
    let secret = host.env(name).unwrap_or_default();
    let text = match form {
        EchoForm::Plain => secret,
        EchoForm::Split => {
            let middle = secret
                .char_indices()
                .nth(secret.chars().count() / 2)
                .map_or(0, |(at, _)| at);
            let (head, tail) = secret.split_at(middle);
            return Some(vec![
                Action::Stderr(format!("using {name}={head}").into_bytes()),
                Action::Pause(Duration::from_millis(20)),
                Action::stderr_line(tail),
            ]);
        }
        EchoForm::Url => url_escape(&secret),
        EchoForm::Base64 => STANDARD.encode(secret),
        EchoForm::Json => Value::String(secret).to_string(),
        EchoForm::Result => return None,
    };
    Some(vec![Action::stderr_line(&format!("using {name}={text}"))])
}

/// Percent-encoding of all but RFC 3986's unreserved characters.
fn url_escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string never fails.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::url_escape;

    #[test]
    fn escapes_are_those_of_their_standards() {
        assert_eq!(url_escape("a b/ü~"), "a%20b%2F%C3%BC~");
    }
}
