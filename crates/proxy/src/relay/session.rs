//! What the client has told its server, as far as a new process has to be told
//! it again; and what it was told of the server.
//!
//! Main type: [`Session`].

use crate::message::{Peek, RequestParams, SubscriptionParams};
use indexmap::IndexMap;
use jelly_base::mcp::{DISCOVER, Era, INITIALIZE};
use serde_json::Value;

/// Subscriptions that are kept; beyond that a client loses count as well.
const SUBSCRIPTIONS: usize = 10_000;

/// What a request tells the server that a later process has to be told again:
/// only once the server has accepted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionWord {
    /// The params of the `initialize` before it, should this one be refused.
    Initialize(Option<String>),
    /// The params.
    LogLevel(String),
    Subscribe {
        uri: String,
        params: String,
    },
    Unsubscribe {
        uri: String,
    },
}

/// See the module.
#[derive(Debug, Default)]
pub struct Session {
    pub era: Option<Era>,
    /// The params of `initialize`.
    pub initialize: Option<String>,
    /// The client's `notifications/initialized`.
    pub initialized: Option<Vec<u8>>,
    /// The params of `logging/setLevel`.
    pub log_level: Option<String>,
    /// The params of `resources/subscribe`, by URI.
    pub subscriptions: IndexMap<String, String>,
    /// What the client was told that the server can.
    pub capabilities: Value,
}

impl Session {
    /// Takes in a request; what counts once it is accepted.
    ///
    /// `initialize` counts at once: the server may be started anew before it has
    /// answered, and then is told what its client has said.
    pub fn note(&mut self, asked: &Peek<'_>) -> Option<SessionWord> {
        match asked.method() {
            INITIALIZE => {
                self.era = Some(Era::Legacy);
                let params = asked.params().unwrap_or("{}").to_owned();
                let before = self.initialize.replace(params);
                return Some(SessionWord::Initialize(before));
            }
            DISCOVER => self.era = Some(Era::Modern),
            "logging/setLevel" => {
                let params = asked.params()?;
                return Some(SessionWord::LogLevel(params.to_owned()));
            }
            "resources/subscribe" => {
                let SubscriptionParams { uri } = asked.read_params();
                let params = asked.params()?.to_owned();
                return Some(SessionWord::Subscribe { uri, params });
            }
            "resources/unsubscribe" => {
                let SubscriptionParams { uri } = asked.read_params();
                return Some(SessionWord::Unsubscribe { uri });
            }
            _ => {
                if self.era.is_none() {
                    self.era = era_of(asked);
                }
            }
        }
        None
    }

    /// The client was told that this is so.
    pub fn accepted(&mut self, word: &SessionWord) {
        match word {
            SessionWord::Initialize(_) => {}
            SessionWord::LogLevel(params) => self.log_level = Some(params.clone()),
            SessionWord::Subscribe { uri, params } => {
                if self.subscriptions.len() < SUBSCRIPTIONS {
                    self.subscriptions.insert(uri.clone(), params.clone());
                }
            }
            SessionWord::Unsubscribe { uri } => drop(self.subscriptions.shift_remove(uri)),
        }
    }

    /// The server does not want it: nor would the next one.
    pub fn refused(&mut self, word: &SessionWord) {
        match word {
            SessionWord::Initialize(before) => self.initialize.clone_from(before),
            SessionWord::LogLevel(_)
            | SessionWord::Subscribe { .. }
            | SessionWord::Unsubscribe { .. } => {}
        }
    }

    /// The result with which the connection was opened.
    pub fn opened(&mut self, result: &str) {
        let result: Value = serde_json::from_str(result).unwrap_or_default();
        self.capabilities = result.get("capabilities").cloned().unwrap_or_default();
    }

    /// Whether the client knows this of the server, by pointer.
    pub fn can(&self, pointer: &str) -> bool {
        match self.capabilities.pointer(pointer) {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(_) => true,
        }
    }
}

/// How far the era of a process is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Probing {
    /// A probe was sent and not answered.
    pub waits: bool,
    /// A request that is no probe was sent.
    pub other_sent: bool,
    /// We have asked ourselves.
    pub asked: bool,
}

/// The era of a request that opens nothing.
pub fn era_of(asked: &Peek<'_>) -> Option<Era> {
    let params: RequestParams<'_> = asked.read_params();
    let version = params.meta.and_then(|meta| meta.protocol_version);
    version.map(|_| Era::Modern)
}
