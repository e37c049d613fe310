//! The messages of one session, by what called forth what.
//!
//! Main function: [`exchanges`].

use jelly_base::mcp::{DISCOVER, INITIALIZE};
use jelly_wire::{Direction, RecordedContent, RecordedSession};
use serde_json::Value;
use std::collections::HashMap;

/// Something that the client sent, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The line of the record where the client sent it.
    pub line: usize,
    /// A request where it has an id, else a notification.
    pub message: Value,
    /// In the order in which it came; the answer is one of them.
    pub reactions: Vec<Reaction>,
    /// The client gave it up.
    pub cancelled: bool,
}

/// What a server said, or waited for, before it went on.
#[derive(Debug, Clone, PartialEq)]
pub enum Reaction {
    /// The answer, with its line.
    Answer { line: usize, message: Value },
    /// A notification, or a request of the server.
    Says { line: usize, message: Value },
    /// A line that is no message.
    Noise(String),
    /// The client's answer to a request of the server.
    Hears { line: usize, message: Value },
}

/// A session as exchanges.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exchanges {
    /// What the server said before it was asked.
    pub unasked: Vec<Reaction>,
    /// In the order in which the client sent them.
    pub list: Vec<Exchange>,
}

impl Exchange {
    #[must_use]
    pub fn method(&self) -> &str {
        let method = self.message.get("method").and_then(Value::as_str);
        method.unwrap_or_default()
    }

    #[must_use]
    pub fn is_request(&self) -> bool {
        self.message.get("id").is_some()
    }

    /// The message that answered it, with its line.
    #[must_use]
    pub fn answer(&self) -> Option<(usize, &Value)> {
        self.reactions.iter().find_map(|reaction| match reaction {
            Reaction::Answer { line, message } => Some((*line, message)),
            Reaction::Says { .. } | Reaction::Noise(_) | Reaction::Hears { .. } => None,
        })
    }

    /// The server's requests meanwhile, with the client's answers.
    pub fn asked(&self) -> impl Iterator<Item = (&Value, &Value)> {
        self.reactions.iter().filter_map(|reaction| {
            let Reaction::Says { message, .. } = reaction else {
                return None;
            };
            let id = message.get("id")?;
            let answer = self.reactions.iter().find_map(|heard| match heard {
                Reaction::Hears { message, .. } => {
                    (message.get("id") == Some(id)).then_some(message)
                }
                Reaction::Answer { .. } | Reaction::Says { .. } | Reaction::Noise(_) => None,
            })?;
            Some((message, answer))
        })
    }
}

/// An id, as a key.
pub(crate) fn key(id: &Value) -> String {
    id.to_string()
}

/// Where the progress of a request is said.
pub(crate) fn progress_token(message: &Value) -> Option<&Value> {
    message.pointer("/params/_meta/progressToken")
}

/// Where a notification says whose progress it is.
fn progress_of(message: &Value) -> Option<&Value> {
    message.pointer("/params/progressToken")
}

/// Takes a session apart.
///
/// An answer belongs to its request, progress to the one that wants it. All
/// else that a server says belongs to what the client said last.
#[must_use]
pub fn exchanges(session: &RecordedSession) -> Exchanges {
    let mut sorter = Sorter::default();
    for recorded in &session.messages {
        let line = recorded.line;
        match (&recorded.said, recorded.direction) {
            (RecordedContent::Message(Value::Array(batch)), direction) => {
                for message in batch {
                    sorter.message(line, direction, message);
                }
            }
            (RecordedContent::Message(message), direction) => {
                sorter.message(line, direction, message)
            }
            (RecordedContent::Text(text), Direction::Received) => {
                sorter.react(sorter.last, Reaction::Noise(text.clone()));
            }
            // What can't be read can't be waited for.
            (RecordedContent::Text(_), Direction::Sent) => {}
        }
    }
    sorter.found
}

/// Which of the sessions with one server is meant where there are several: the
/// last one that did more than to begin, which is the end of a run.
#[must_use]
pub fn main_session(sessions: &[RecordedSession]) -> usize {
    let is_use = |exchange: &Exchange| {
        !matches!(exchange.method(), INITIALIZE | DISCOVER) && exchange.is_request()
    };
    let used = |session: &RecordedSession| exchanges(session).list.iter().any(is_use);
    let last = sessions.len().saturating_sub(1);
    sessions.iter().rposition(used).unwrap_or(last)
}

#[derive(Default)]
struct Sorter {
    found: Exchanges,
    /// What the client said last.
    last: Option<usize>,
    /// By id, the request that waits for its answer.
    open: HashMap<String, usize>,
    /// By token, the request that is told of progress.
    tokens: HashMap<String, usize>,
    /// By id, the exchange in which the server asks.
    asked: HashMap<String, Option<usize>>,
}

impl Sorter {
    fn message(&mut self, line: usize, direction: Direction, message: &Value) {
        let id = message.get("id").filter(|id| !id.is_null()).map(key);
        let is_call = message.get("method").is_some();
        let message = message.clone();
        match (direction, id, is_call) {
            (Direction::Sent, id, true) => self.called(line, id, message),
            (Direction::Sent, id, false) => {
                let owner = id
                    .and_then(|id| self.asked.remove(&id))
                    .unwrap_or(self.last);
                self.react(owner, Reaction::Hears { line, message });
                self.last = owner.or(self.last);
            }
            (Direction::Received, Some(id), true) => {
                self.asked.insert(id, self.last);
                self.react(self.last, Reaction::Says { line, message });
            }
            (Direction::Received, None, true) => {
                let owner = progress_of(&message)
                    .and_then(|token| self.tokens.get(&key(token)).copied())
                    .or(self.last);
                self.react(owner, Reaction::Says { line, message });
            }
            (Direction::Received, Some(id), false) => match self.open.remove(&id) {
                Some(owner) => self.react(Some(owner), Reaction::Answer { line, message }),
                None => self.react(self.last, Reaction::Noise(message.to_string())),
            },
            (Direction::Received, None, false) => {
                self.react(self.last, Reaction::Noise(message.to_string()));
            }
        }
    }

    fn called(&mut self, line: usize, id: Option<String>, message: Value) {
        let at = self.found.list.len();
        if message.get("method").and_then(Value::as_str) == Some("notifications/cancelled") {
            let of = message.pointer("/params/requestId").map(key);
            let of = of.and_then(|id| self.open.get(&id).copied());
            if let Some(given_up) = of.and_then(|at| self.found.list.get_mut(at)) {
                given_up.cancelled = true;
            }
        }
        if let Some(id) = id {
            self.open.insert(id, at);
        }
        if let Some(token) = progress_token(&message) {
            self.tokens.insert(key(token), at);
        }
        self.found.list.push(Exchange {
            line,
            message,
            reactions: Vec::new(),
            cancelled: false,
        });
        self.last = Some(at);
    }

    fn react(&mut self, owner: Option<usize>, reaction: Reaction) {
        match owner.and_then(|at| self.found.list.get_mut(at)) {
            Some(exchange) => exchange.reactions.push(reaction),
            None => self.found.unasked.push(reaction),
        }
    }
}
