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
    /// Takes in a request.
    pub fn note(&mut self, asked: &Peek<'_>) {
        match asked.method() {
            INITIALIZE => {
                self.era = Some(Era::Legacy);
                self.initialize = Some(asked.params().unwrap_or("{}").to_owned());
            }
            DISCOVER => self.era = Some(Era::Modern),
            "logging/setLevel" => self.log_level = asked.params().map(str::to_owned),
            "resources/subscribe" => {
                let params: SubscriptionParams = asked.read_params();
                if self.subscriptions.len() < SUBSCRIPTIONS
                    && let Some(raw) = asked.params()
                {
                    self.subscriptions.insert(params.uri, raw.to_owned());
                }
            }
            "resources/unsubscribe" => {
                let params: SubscriptionParams = asked.read_params();
                self.subscriptions.shift_remove(&params.uri);
            }
            _ => {
                if self.era.is_none() {
                    self.era = era_of(asked);
                }
            }
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

/// The era of a request that opens nothing.
pub fn era_of(asked: &Peek<'_>) -> Option<Era> {
    let params: RequestParams<'_> = asked.read_params();
    let version = params.meta.and_then(|meta| meta.protocol_version);
    version.map(|_| Era::Modern)
}
