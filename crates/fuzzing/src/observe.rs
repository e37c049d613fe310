//! What was seen of one call, for others to judge.
//!
//! Main type: [`Observation`].

use jelly_base::model::Exit;
use serde_json::Value;

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A result as the server sent it, be it an error or not.
    Result(Value),
    /// A JSON-RPC error.
    Error {
        code: Option<i64>,
        message: String,
        data: Option<Value>,
    },
    /// The server's process ended.
    Died { exit: Option<Exit>, stderr: String },
    /// There was no answer in time. `showed_progress` where it told of any.
    Nothing { showed_progress: bool },
    /// An answer that breaks the protocol; completes "the server …".
    Broken(String),
    /// A refusal that HTTP told, by its status.
    HttpStatus(u16),
    /// Nothing that says anything of the server.
    Unjudged(String),
}

impl Answer {
    /// The result, where it is a good one.
    #[must_use]
    pub fn good(&self) -> Option<&Value> {
        match self {
            Self::Result(result) if !self.is_refusal() => Some(result),
            _ => None,
        }
    }

    /// Whether the tool said that it did not do it.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Result(result) => result.get("isError").and_then(Value::as_bool) == Some(true),
            Self::Error { .. } => true,
            Self::HttpStatus(status) => (400..500).contains(status),
            Self::Died { .. } | Self::Nothing { .. } | Self::Broken(_) | Self::Unjudged(_) => false,
        }
    }

    /// All that it says in words.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Result(result) => {
                let blocks = result.get("content").and_then(Value::as_array);
                let blocks = blocks.into_iter().flatten();
                let texts = blocks.filter_map(|block| block.get("text").and_then(Value::as_str));
                let mut all: Vec<String> = texts.map(str::to_owned).collect();
                all.extend(result.get("structuredContent").map(Value::to_string));
                all.join("\n")
            }
            Self::Error { message, data, .. } => match data {
                Some(Value::String(data)) => format!("{message}\n{data}"),
                Some(data) => format!("{message}\n{data}"),
                None => message.clone(),
            },
            Self::Broken(text) | Self::Unjudged(text) => text.clone(),
            Self::Died { stderr, .. } => stderr.clone(),
            Self::Nothing { .. } | Self::HttpStatus(_) => String::new(),
        }
    }
}

/// A breach that the wire check saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireSlip {
    /// As in `answered_twice`.
    pub rule: String,
    /// Completes "the server …".
    pub text: String,
}

/// One call, and what was seen until the server had answered another request.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub answer: Answer,
    /// How the output breaks its own schema, if it does; a sentence.
    pub output: Option<String>,
    /// New breaches of the protocol that MUST not be.
    pub wire: Vec<WireSlip>,
    /// What became of a server that had answered.
    pub afterwards: Option<Answer>,
    /// What a later call gave that is not what it gave before; a sentence.
    pub changed: Option<String>,
}

impl Observation {
    /// Of an answer, and nothing else.
    #[must_use]
    pub fn of(answer: Answer) -> Self {
        Self {
            answer,
            output: None,
            wire: Vec::new(),
            afterwards: None,
            changed: None,
        }
    }
}
