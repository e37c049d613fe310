//! A server that has nothing but a tool which says why the real one can't be
//! used: for clients that hide errors from the model.
//!
//! Main function: [`answer`]. In the era of the client.

use super::trouble::Trouble;
use jelly_base::mcp::{DISCOVER, Era, INITIALIZE, LISTEN, Revision, meta};
use jelly_base::model::TROUBLE_TOOL;
use serde_json::{Value, json};

/// What the client said.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    pub method: &'a str,
    /// As they are written.
    pub params: &'a str,
    pub modern: bool,
}

/// What the client is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum StandInAnswer {
    Result(String),
    /// To a subscription, which stays open: what it is for.
    Acknowledged(Value),
}

impl StandInAnswer {
    /// The result, where there is one.
    #[must_use]
    pub fn result(&self) -> Option<&str> {
        match self {
            Self::Result(result) => Some(result),
            Self::Acknowledged(_) => None,
        }
    }

    /// The lines that answer the request with this id.
    #[must_use]
    pub fn lines(&self, id: &str) -> Vec<String> {
        match self {
            Self::Result(result) => {
                vec![format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"
                )]
            }
            Self::Acknowledged(filter) => {
                let id: Value = serde_json::from_str(id).unwrap_or_default();
                let message = json!({
                    "jsonrpc": "2.0",
                    "method": "notifications/subscriptions/acknowledged",
                    "params": {
                        "_meta": { "io.modelcontextprotocol/subscriptionId": id },
                        "notifications": filter,
                    },
                });
                vec![message.to_string()]
            }
        }
    }
}

/// What a request is answered; none for what such a server does not know.
#[must_use]
pub fn answer(said: &Said<'_>, trouble: &Trouble) -> Option<StandInAnswer> {
    let params: Value = serde_json::from_str(said.params).unwrap_or_default();
    let mut result = match said.method {
        INITIALIZE => initialize(&params, trouble),
        DISCOVER => json!({
            "supportedVersions": versions(Era::Modern),
            "capabilities": capabilities(),
            "instructions": trouble.text(),
        }),
        LISTEN => {
            let filter = params.get("notifications").cloned();
            return Some(StandInAnswer::Acknowledged(filter.unwrap_or(json!({}))));
        }
        "ping" | "logging/setLevel" => json!({}),
        "tools/list" => json!({ "tools": [trouble.tool()] }),
        "tools/call" => {
            let name = params.get("name").and_then(Value::as_str);
            trouble.tool_result(name != Some(TROUBLE_TOOL))
        }
        "resources/list" => json!({ "resources": [] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "prompts/list" => json!({ "prompts": [] }),
        _ => return None,
    };
    if said.modern {
        result["resultType"] = json!("complete");
        if said.method == DISCOVER || said.method.ends_with("/list") {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
        result["_meta"] = json!({ meta::SERVER_INFO: info() });
    }
    Some(StandInAnswer::Result(result.to_string()))
}

fn initialize(params: &Value, trouble: &Trouble) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let asked = asked.and_then(Revision::find);
    let version = asked.filter(|revision| revision.era == Era::Legacy);
    json!({
        "protocolVersion": version.unwrap_or(Revision::newest(Era::Legacy)).name,
        "capabilities": capabilities(),
        "serverInfo": info(),
        "instructions": trouble.text(),
    })
}

fn versions(era: Era) -> Vec<&'static str> {
    Revision::all(era).map(|revision| revision.name).collect()
}

/// All that may change when the real server is there.
fn capabilities() -> Value {
    let changes = json!({ "listChanged": true });
    json!({ "tools": changes, "resources": changes, "prompts": changes })
}

fn info() -> Value {
    json!({ "name": "jelly proxy", "version": env!("CARGO_PKG_VERSION") })
}
