//! Why the server can't answer, in the forms in which a client is told.
//!
//! Main type: [`Trouble`].

use jelly_base::model::{
    ErrorCategory, Side, TROUBLE_MESSAGE_CHARS, TROUBLE_META, TROUBLE_TOOL, UPSTREAM_ERROR_CODE,
    UpstreamContext, UpstreamErrorType, UpstreamTrouble,
};
use jelly_base::text::{human_duration, one_line, plural};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;

/// Bytes of the last words of a server that is starting.
const WORDS: usize = 110;
/// Bytes of the change that the message names.
const CHANGE: usize = 110;

/// What is told, all of it redacted.
#[derive(Debug, Clone, PartialEq)]
pub struct Trouble {
    /// What, why and the first fix, in few words.
    pub message: String,
    pub data: UpstreamTrouble,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    code: i64,
    message: &'a str,
    data: &'a UpstreamTrouble,
}

impl Trouble {
    /// A modern client before a server of the legacy era: nothing translates.
    #[must_use]
    pub fn of_eras(context: &UpstreamContext) -> Self {
        let message = "This server speaks only the legacy era of MCP (2025-11-25 and before, by \
                       `initialize`), the client only 2026-07-28, and jelly proxy does not \
                       translate. Fix: update the server, or use a client that falls back to \
                       `initialize`.";
        Self {
            message: message.to_owned(),
            data: UpstreamTrouble {
                error_type: UpstreamErrorType::EraMismatch,
                root_cause: "protocol_version_mismatch".to_owned(),
                rule: None,
                error_category: Some(ErrorCategory::Infrastructure),
                retryable: Some(false),
                side: Some(Side::Test),
                ambiguous: false,
                details: message.to_owned(),
                evidence: None,
                fix_instructions: vec![
                    "Update the server to a version that speaks 2026-07-28.".to_owned(),
                    "Or use a client that falls back to `initialize`.".to_owned(),
                ],
                error_context: context.clone(),
            },
        }
    }

    /// A server that lists something else than the lock that it is held to; what
    /// has changed as a sentence without its full stop, the first and all others.
    #[must_use]
    pub fn of_lock(context: &UpstreamContext, lock: &str, changes: &[String]) -> Self {
        let first = changes.first().map_or("", String::as_str);
        let more = match changes.len() {
            0 | 1 => String::new(),
            all => format!(" (and {})", plural(all - 1, "more breaking change")),
        };
        // How the server was named when the lock was made nobody knows here.
        let renew = "`jelly tools lock`, as it was made";
        Self {
            message: one_line(
                &format!(
                    "The server is not what {lock} holds: {}{more}. Fix: if that is meant, renew \
                     the lock by {renew}.",
                    one_line(first, CHANGE),
                ),
                TROUBLE_MESSAGE_CHARS - 1,
            ),
            data: UpstreamTrouble {
                error_type: UpstreamErrorType::DefinitionChanged,
                root_cause: "tool_definition_changed".to_owned(),
                rule: Some("mcp/definition-changed".to_owned()),
                error_category: Some(ErrorCategory::Assertion),
                retryable: Some(false),
                side: Some(Side::Test),
                ambiguous: false,
                details: format!(
                    "The server is held to {lock}, and lists something else: {}.",
                    changes.join("; ")
                ),
                evidence: None,
                fix_instructions: vec![
                    format!(
                        "If the change is meant, renew the lock by {renew}, and start the proxy \
                         again."
                    ),
                    "If it is not, bring the old definition back.".to_owned(),
                ],
                error_context: context.clone(),
            },
        }
    }

    /// Of another type, with the same cause.
    #[must_use]
    pub fn as_type(mut self, error_type: UpstreamErrorType) -> Self {
        self.data.error_type = error_type;
        self
    }

    /// Of a server that is still starting, with what it said last. What shows
    /// already that it will not become ready is told as it is.
    #[must_use]
    pub fn while_starting(mut self, words: Option<&str>) -> Self {
        const RUNS: &str = " It still runs.";
        if !["startup_timeout", "unknown", ""].contains(&self.data.root_cause.as_str()) {
            self.data.details.push_str(RUNS);
            if self.message.chars().count() + RUNS.len() <= TROUBLE_MESSAGE_CHARS {
                self.message.push_str(RUNS);
            }
            return self.as_type(UpstreamErrorType::StillStarting);
        }
        self.data.error_category = Some(ErrorCategory::Timeout);
        self.data.retryable = Some(true);
        let words = words.map(|words| one_line(words, WORDS));
        let doing = match &words {
            Some(words) => format!("it last said: {}.", words.trim_end_matches('.')),
            None => "it has said nothing yet.".to_owned(),
        };
        self.message = format!(
            "The server is still starting; {doing} The start goes on. Fix: ask again in a moment; if \
             it downloads something at each start, install that beforehand."
        );
        self.data
            .details
            .push_str(&format!(" While it starts, {doing}"));
        self.data.fix_instructions = vec![
            "Ask again in a moment: the start goes on.".to_owned(),
            "If it downloads something at each start, as npx and uvx do, install that beforehand."
                .to_owned(),
            "Give it more time: `--startup-timeout 3m` of `jelly proxy`.".to_owned(),
        ];
        self.as_type(UpstreamErrorType::StillStarting)
    }

    /// For a request that came after a death in use, and was not sent to anybody; a
    /// later one starts the server again after this pause, or none does.
    #[must_use]
    pub fn unsent(mut self, pause: Option<Duration>) -> Self {
        if self.data.error_type != UpstreamErrorType::Died {
            return self;
        }
        let next = match pause {
            Some(pause) => format!(
                "Ask again in {}: that starts the server anew.",
                human_duration(Duration::from_secs(pause.as_secs() + 1))
            ),
            None => {
                "Restart the server in the client: this proxy does not start it again.".to_owned()
            }
        };
        self.message = one_line(
            &format!(
                "The server died in use, and this request was not sent to it. Fix: {next} Before: {}",
                self.message
            ),
            TROUBLE_MESSAGE_CHARS - 1,
        );
        self.data
            .details
            .push_str(" That was before this request, which was not sent to it.");
        self.data.fix_instructions.insert(0, next);
        self
    }

    /// For a server that ended after a line of the client that is no JSON: what it could
    /// not parse is that line, and no file.
    #[must_use]
    pub fn after_noise(mut self) -> Self {
        const WHAT: &str = "The server ended after a line of the client that is not JSON.";
        const FIX: &str = "Make sure that the client sends one JSON-RPC message on each line.";
        self.message = one_line(
            &format!("{WHAT} Fix: {FIX} What came of it: {}", self.message),
            TROUBLE_MESSAGE_CHARS - 1,
        );
        self.data.details = format!("{WHAT} {}", self.data.details);
        self.data.fix_instructions.insert(0, FIX.to_owned());
        self
    }

    /// The answer to the request with this id, as it was written.
    #[must_use]
    pub fn answer(&self, id: &str) -> String {
        let error = ErrorObject {
            code: UPSTREAM_ERROR_CODE,
            message: &self.message,
            data: &self.data,
        };
        // Of plain data; it can't fail.
        let error = serde_json::to_string(&error).unwrap_or_default();
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}")
    }

    /// All of it, in sentences.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.data.details.clone();
        if let Some(evidence) = &self.data.evidence {
            text.push_str(&format!("\n\nIt said: {}", evidence.text));
        }
        if !self.data.fix_instructions.is_empty() {
            text.push_str("\n\nTo fix it:");
            for step in &self.data.fix_instructions {
                text.push_str(&format!("\n- {step}"));
            }
        }
        text
    }

    /// The result of a tool that tells it.
    #[must_use]
    pub fn tool_result(&self, is_error: bool) -> Value {
        json!({
            "content": [{ "type": "text", "text": self.text() }],
            "structuredContent": self.data,
            "isError": is_error,
        })
    }

    /// The tool that tells it, as it is listed.
    #[must_use]
    pub fn tool(&self) -> Value {
        json!({
            "name": TROUBLE_TOOL,
            "title": "Why this server is unavailable",
            "description": format!(
                "The server behind this connection can't be used: {} Call this tool for the \
                 cause and the fix; it also tries to start the server again.",
                self.message
            ),
            "inputSchema": { "type": "object", "properties": {} },
            "_meta": { TROUBLE_META: self.data },
            "annotations": { "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false },
        })
    }
}
