//! What `jelly proxy` tells a client of a server that can't be used, and by
//! which others recognise that it was the proxy who answered.
//!
//! Main type: [`UpstreamTrouble`]: the `data` of an error, or the
//! `structuredContent` of a tool. All texts are redacted already.

use super::{ErrorCategory, Evidence, Exit, RpcError, Side};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The code of the proxy's errors: outside of what JSON-RPC keeps for itself.
pub const UPSTREAM_ERROR_CODE: i64 = -31_000;

/// The name of the tool that a server has which can't be started.
pub const TROUBLE_TOOL: &str = "why_this_server_is_unavailable";

/// Characters of the error's message: more is not shown by most clients.
pub const TROUBLE_MESSAGE_CHARS: usize = 300;

/// What kept the server from answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpstreamErrorType {
    /// It could not be started.
    StartupFailed,
    /// It has not answered yet, and may still do so.
    StillStarting,
    /// It died in use.
    Died,
    /// It is reached by a URL, and gave this request no answer.
    NoAnswer,
    /// It speaks the other era of the protocol.
    EraMismatch,
    /// It lists something else than its lock holds, and is not passed on.
    DefinitionChanged,
}

/// Why a server behind the proxy can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UpstreamTrouble {
    pub error_type: UpstreamErrorType,
    /// As in a diagnosis.
    pub root_cause: String,
    /// The rule that found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Null when no known pattern matches.
    pub error_category: Option<ErrorCategory>,
    /// Null exactly when the category is.
    pub retryable: Option<bool>,
    /// As in a diagnosis: whom it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// That this is not proved; never of the code's side.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
    /// What happened and why, in sentences.
    pub details: String,
    /// Null when there is none.
    pub evidence: Option<Evidence>,
    /// Steps in order; a line that starts with `$ ` is a command to paste.
    pub fix_instructions: Vec<String>,
    pub error_context: UpstreamContext,
}

/// Where it happened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UpstreamContext {
    /// What was started, or the URL that was to be reached.
    pub command: String,
    pub args: Vec<String>,
    /// The folder it was started in.
    pub cwd: Option<String>,
    /// Null while it lives, or where it was never started.
    pub exit: Option<Exit>,
    /// The file that the evidence is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// The key of the trouble in `_meta` of the tool that tells it.
pub const TROUBLE_META: &str = "jelly.upstream_trouble";

/// Whether these words start a proxy of jelly's.
#[must_use]
pub fn is_own_proxy<S: AsRef<str>>(argv: &[S]) -> bool {
    let [program, command, ..] = argv else {
        return false;
    };
    let name = program.as_ref().rsplit('/').next().unwrap_or_default();
    name.starts_with("jelly") && command.as_ref() == "proxy"
}

impl UpstreamTrouble {
    /// As an error of the proxy, where a list of tools is that of its stand-in
    /// for a server that can't be started.
    #[must_use]
    pub fn of_stand_in(tools: &Value) -> Option<RpcError> {
        let [tool] = tools.get("tools")?.as_array()?.as_slice() else {
            return None;
        };
        let data = tool.get("_meta")?.get(TROUBLE_META)?;
        let trouble = Self::deserialize(data).ok()?;
        let named = tool.get("name")?.as_str()? == TROUBLE_TOOL;
        named.then(|| RpcError {
            code: Some(UPSTREAM_ERROR_CODE),
            message: trouble.details,
            data: Some(data.clone()),
        })
    }

    /// What the proxy said in this error; none where somebody else made it.
    #[must_use]
    pub fn of(error: &RpcError) -> Option<Self> {
        if error.code != Some(UPSTREAM_ERROR_CODE) {
            return None;
        }
        Self::deserialize(error.data.as_ref()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{UPSTREAM_ERROR_CODE, UpstreamContext, UpstreamErrorType, UpstreamTrouble};
    use crate::model::RpcError;
    use serde_json::json;

    #[test]
    fn an_error_of_the_proxy_is_recognised_and_no_other() {
        let trouble = UpstreamTrouble {
            error_type: UpstreamErrorType::StartupFailed,
            root_cause: "command_not_found".to_owned(),
            rule: None,
            error_category: None,
            retryable: None,
            side: None,
            ambiguous: false,
            details: "It is not there.".to_owned(),
            evidence: None,
            fix_instructions: vec!["Install it.".to_owned()],
            error_context: UpstreamContext::default(),
        };
        let error = |code| RpcError {
            code: Some(code),
            message: String::new(),
            data: serde_json::to_value(&trouble).ok(),
        };
        assert!(!(-32_768..=-32_000).contains(&UPSTREAM_ERROR_CODE));
        let read = UpstreamTrouble::of(&error(UPSTREAM_ERROR_CODE));
        assert_eq!(read.as_ref(), Some(&trouble));
        assert_eq!(UpstreamTrouble::of(&error(-32_603)), None);
        let other = RpcError {
            data: Some(json!({"details": "x"})),
            ..error(UPSTREAM_ERROR_CODE)
        };
        assert_eq!(UpstreamTrouble::of(&other), None);
        let shown = serde_json::to_value(&trouble).unwrap();
        assert!(shown["error_category"].is_null() && shown["error_context"]["exit"].is_null());
        assert!(shown["error_context"].get("file").is_none());
    }
}
