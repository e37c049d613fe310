//! What a plan says of all that is more than a request and its answer: answers
//! to a server's own questions, notifications, subscriptions, cancellation,
//! raw bytes.

use super::grammar::Operator;
use super::source::Location;
use super::template::Template;
use super::types::{JsonExpect, Predicate, Server};
use serde_json::Value;
use std::time::Duration;

/// What the client answers when the server asks it for something.
#[derive(Debug, Clone)]
pub struct Answer {
    /// As in `sampling/createMessage`.
    pub method: String,
    /// Over the params of what was asked.
    pub expect: Vec<JsonExpect>,
    pub give: Give,
    /// Of a step: that nobody asks is as good.
    pub optional: bool,
    pub at: Location,
}

/// What is answered. Raw: templates are resolved when it is due.
#[derive(Debug, Clone, PartialEq)]
pub enum Give {
    Result(Value),
    /// An object with `code` and `message`, and perhaps `data`.
    Error(Value),
    /// `elicitation/create` is accepted, with the defaults of its schema.
    AcceptDefaults,
}

impl Give {
    /// What may hold templates.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Result(value) | Self::Error(value) => Some(value),
            Self::AcceptDefaults => None,
        }
    }
}

/// A notification that must come, or must not.
#[derive(Debug, Clone)]
pub struct NotificationExpect {
    pub method: String,
    /// Over its params; what does not fit all of these is another one.
    pub json: Vec<JsonExpect>,
    /// How many fit; at least one where nothing is said.
    pub count: Vec<Predicate>,
    /// None may come within the time.
    pub absent: bool,
    /// From the answer on; what came since the request was sent counts too.
    /// Without it, the time limit of the step.
    pub within: Option<Duration>,
    pub at: Location,
}

impl NotificationExpect {
    /// Once their number is right it stays so, however many more come.
    #[must_use]
    pub fn count_only_grows(&self) -> bool {
        self.count.iter().all(|predicate| {
            matches!(
                predicate.operator,
                Operator::Ge | Operator::Gt | Operator::Exists
            )
        })
    }
}

/// What a completion is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Completion {
    pub of: CompletionOf,
    pub argument: String,
    /// What is typed so far (may hold variables).
    pub value: String,
}

/// Whose argument is completed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CompletionOf {
    Prompt(String),
    /// The URI template of a resource, as the server lists it.
    Resource(String),
}

/// The changes that a step wants to hear of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Subscription {
    /// URIs (may hold variables).
    pub resources: Vec<String>,
    pub tools: bool,
    pub prompts: bool,
    pub resources_list: bool,
}

/// A call of a tool that is sent together with that of its step.
#[derive(Debug, Clone, PartialEq)]
pub struct CallAtOnce {
    pub tool: String,
    /// May hold variables; null where there are none.
    pub args: Value,
}

/// Bytes that are sent as they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Raw {
    /// May hold variables.
    Text(String),
    Bytes(Vec<u8>),
}

/// When a step cancels its own request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancel {
    /// Since it was sent.
    pub after: Duration,
    /// No answer may come for so long afterwards. Default 500 ms.
    pub quiet_for: Duration,
}

/// How serious a log message must be for the server to send it (RFC 5424).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    pub const ALL: [(&'static str, Self); 8] = [
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("notice", Self::Notice),
        ("warning", Self::Warning),
        ("error", Self::Error),
        ("critical", Self::Critical),
        ("alert", Self::Alert),
        ("emergency", Self::Emergency),
    ];

    /// As on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        let row = Self::ALL.into_iter().find(|(_, level)| *level == self);
        row.map_or("", |(name, _)| name)
    }
}

/// What must hold as a server starts, besides what it writes on stderr.
#[derive(Debug, Clone, Default)]
pub struct StartupExpect {
    /// Over its `serverInfo`.
    pub server_info: Vec<JsonExpect>,
    /// Over its capabilities.
    pub capabilities: Vec<JsonExpect>,
    /// It must not start.
    pub refuses: Option<RefusalExpect>,
}

impl StartupExpect {
    /// Every predicate, whatever it looks at.
    pub fn predicates(&self) -> impl Iterator<Item = &Predicate> {
        let json = self.server_info.iter().chain(&self.capabilities);
        let refusal = self.refuses.iter().flat_map(|refusal| &refusal.exit);
        json.flat_map(|json| &json.predicates).chain(refusal)
    }
}

/// How a server that must not start exits.
#[derive(Debug, Clone, Default)]
pub struct RefusalExpect {
    /// Over its exit code.
    pub exit: Vec<Predicate>,
    pub at: Location,
}

/// A request to what stands beside the endpoint of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HttpCall {
    /// As in `GET`.
    pub method: String,
    /// From the host on; may hold variables, as may the values of headers.
    pub path: String,
    pub headers: Vec<(String, String)>,
}

/// What the head of its answer must be.
#[derive(Debug, Clone, Default)]
pub struct HttpExpect {
    /// A success, where nothing is said.
    pub status: Vec<Predicate>,
    pub headers: Vec<HeaderExpect>,
}

/// What a header must be.
#[derive(Debug, Clone)]
pub struct HeaderExpect {
    /// In any case.
    pub name: String,
    pub predicates: Vec<Predicate>,
    pub at: Location,
}

impl HttpExpect {
    /// Every predicate, whatever it looks at.
    pub fn predicates(&self) -> impl Iterator<Item = &Predicate> {
        let headers = self.headers.iter().flat_map(|header| &header.predicates);
        self.status.iter().chain(headers)
    }
}

/// A process beside the servers.
#[derive(Debug, Clone)]
pub struct Service {
    /// How it is started, as a server by pipes is. Nothing is said over them.
    pub server: Server,
    pub ready: ServiceReady,
}

/// How a service shows that it is ready.
#[derive(Debug, Clone)]
pub enum ServiceReady {
    /// This is in a line on its stdout or stderr.
    Line(Template),
    /// This port of 127.0.0.1 takes connections.
    Port(Template),
    /// This URL answers with a status below 500.
    Url(Template),
}

impl Service {
    /// Every template of the service.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let (ServiceReady::Line(sign) | ServiceReady::Port(sign) | ServiceReady::Url(sign)) =
            &self.ready;
        self.server.templates().chain([sign])
    }
}
