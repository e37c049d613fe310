//! A refusal → whether it says that the session is no more.
//!
//! Main function: [`standing`]. Pure. By the specification (2025-11-25,
//! Streamable HTTP, "Session Management") it is said by 404 to a request that
//! names a session, and such a request was not executed. SDKs that say it in
//! another way are a table, each form exactly as it is sent: what only speaks
//! of a session may come from a tool that has done its work.

use crate::HttpEnd;
use serde_json::Value;

/// What a refusal says of the session that its request named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing.
    Silent,
    /// It is not known any more, and the request was refused for that.
    Lost,
    /// It speaks of a session, in words that no SDK is known for. Whether the
    /// request was executed can't be told.
    InDoubt,
}

/// A way to say that a session is no more, other than by 404.
#[derive(Debug)]
struct LostSessionForm {
    status: u16,
    /// Of the JSON-RPC error in the body; none where the body is the words
    /// alone.
    code: Option<i64>,
    words: &'static str,
    /// What sends it.
    #[cfg_attr(not(test), expect(dead_code, reason = "says where a form is from"))]
    by: &'static str,
}

const FORMS: &[LostSessionForm] = &[
    LostSessionForm {
        status: 400,
        code: Some(-32000),
        words: "Bad Request: No valid session ID provided",
        by: "servers after the TypeScript SDK's examples, and supergateway",
    },
    LostSessionForm {
        status: 400,
        code: Some(-32000),
        words: "No valid session ID provided",
        by: "the same, shortened",
    },
    LostSessionForm {
        status: 400,
        code: Some(-32000),
        words: "Bad Request: No valid session ID provided or not an initialization request",
        by: "the same, with the other condition",
    },
    LostSessionForm {
        status: 400,
        code: Some(-32000),
        words: "Bad Request: Server not initialized",
        by: "a transport of the TypeScript SDK that was made anew, as after a restart",
    },
    LostSessionForm {
        status: 400,
        code: None,
        words: "Bad Request: No valid session ID provided",
        by: "the Python SDK, and FastMCP on it, before 2026",
    },
    LostSessionForm {
        status: 400,
        code: None,
        words: "Invalid session ID",
        by: "mcp-go before 0.44",
    },
    LostSessionForm {
        status: 401,
        code: None,
        words: "Unauthorized: Session not found",
        by: "the Rust SDK before 2026-02-24",
    },
    LostSessionForm {
        status: 401,
        code: Some(-32000),
        words: "Unauthorized: No valid session ID provided",
        by: "punkpeye/mcp-proxy, and the TypeScript FastMCP on it, with authentication",
    },
];

/// JSON-RPC's codes for a request that was looked at: a server that judges its
/// method or its params knows the session.
const OF_THE_REQUEST: [i64; 2] = [-32601, -32602];

/// What the refusal of request `id` says; `body` is all of it that was read.
pub(super) fn standing(end: &HttpEnd, body: &[u8], id: Option<&Value>) -> Standing {
    let Some(status) = end.facts.status else {
        return Standing::Silent;
    };
    let said = Said::of(body);
    if status == 404 {
        let judged = said.id.as_ref().is_some_and(|named| Some(named) == id)
            && said.code.is_some_and(|code| OF_THE_REQUEST.contains(&code));
        return if judged {
            Standing::Silent
        } else {
            Standing::Lost
        };
    }
    let is = |form: &LostSessionForm| {
        form.status == status && form.code == said.code && form.words == said.words.trim()
    };
    if FORMS.iter().any(is) {
        Standing::Lost
    } else if matches!(status, 400 | 410) && said.speaks_of_a_session {
        Standing::InDoubt
    } else {
        Standing::Silent
    }
}

/// What stands in a refusal's body.
#[derive(Debug, Default)]
struct Said {
    id: Option<Value>,
    /// Of a JSON-RPC error.
    code: Option<i64>,
    /// The error's message, else all of the body.
    words: String,
    speaks_of_a_session: bool,
}

impl Said {
    fn of(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let speaks_of_a_session = text.to_ascii_lowercase().contains("session");
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let of_error = |key: &str| message.get("error").and_then(|error| error.get(key));
        match of_error("message").and_then(Value::as_str) {
            Some(words) => Self {
                id: message.get("id").cloned(),
                code: of_error("code").and_then(Value::as_i64),
                words: words.to_owned(),
                speaks_of_a_session,
            },
            None => Self {
                words: text.into_owned(),
                speaks_of_a_session,
                ..Self::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FORMS, Standing, standing};
    use crate::HttpEnd;
    use jelly_base::model::HttpFacts;
    use serde_json::json;

    fn of(status: u16, body: &str) -> Standing {
        let end = HttpEnd {
            facts: HttpFacts {
                status: Some(status),
                ..HttpFacts::default()
            },
            ..HttpEnd::default()
        };
        standing(&end, body.as_bytes(), Some(&json!(7)))
    }

    fn error(code: i64, message: &str) -> String {
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}})
            .to_string()
    }

    #[test]
    fn every_form_is_known_as_it_is_sent_and_only_so() {
        for form in FORMS {
            let body = |words: &str| match form.code {
                Some(code) => error(code, words),
                None => words.to_owned(),
            };
            assert!(!form.by.is_empty());
            assert_eq!(
                of(form.status, &body(form.words)),
                Standing::Lost,
                "{form:?}"
            );
            assert_eq!(
                of(form.status, &format!("{}\n", body(form.words))),
                Standing::Lost
            );
            // The same words from a tool, or with another status.
            let longer = body(&format!("{} for this cart", form.words));
            assert_ne!(of(form.status, &longer), Standing::Lost, "{form:?}");
            assert_ne!(of(422, &body(form.words)), Standing::Lost, "{form:?}");
            if let Some(code) = form.code {
                assert_ne!(
                    of(form.status, &error(code - 1, form.words)),
                    Standing::Lost
                );
            }
        }
    }

    #[test]
    fn what_only_speaks_of_a_session_is_in_doubt() {
        for body in [
            "{\"message\":\"the checkout session is closed already\"}",
            "No session for this user",
            &error(-32000, "Bad Request: the booking session has ended"),
        ] {
            assert_eq!(of(400, body), Standing::InDoubt, "{body}");
        }
        assert_eq!(of(400, "{\"message\":\"no such cart\"}"), Standing::Silent);
        assert_eq!(of(500, "session store is down"), Standing::Silent);
        assert_eq!(of(403, "the session may not do that"), Standing::Silent);
    }

    #[test]
    fn not_found_means_the_session_unless_the_request_itself_was_judged() {
        assert_eq!(of(404, ""), Standing::Lost);
        assert_eq!(of(404, &error(-32001, "Session not found")), Standing::Lost);
        let named = |code: i64| json!({"jsonrpc": "2.0", "id": 7, "error": {"code": code, "message": "no"}});
        assert_eq!(of(404, &named(-32001).to_string()), Standing::Lost);
        assert_eq!(of(404, &named(-32601).to_string()), Standing::Silent);
        assert_eq!(of(404, &named(-32602).to_string()), Standing::Silent);
    }
}
