//! What a client answers when a server asks it for something.
//!
//! Main type: [`Answers`]: prepared results by method, or a [`Responder`] that
//! makes each answer from what was asked. Without either, everything but `ping`
//! is refused politely, and nothing is offered that would be refused.

use jelly_base::mcp::{Revision, code};
use jelly_base::model::RpcError;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a server asks its client for: a request of its own (2024-11-05 to
/// 2025-11-25), or one of the `inputRequests` of a result (2026-07-28).
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    pub method: &'a str,
    /// Null where there are none. Not redacted.
    pub params: &'a Value,
}

/// The answer to one request of a server. An error can't be sent where the
/// request came inside a result (2026-07-28, multi round-trip requests).
pub type Given = Result<Value, RpcError>;

/// Makes the answers of a client.
pub trait Responder: Send + Sync {
    /// The answer to one request; none to refuse it.
    ///
    /// It is called while the connection stands still, so it must be quick and
    /// must not use the session that it answers for.
    fn answer(&self, ask: &Ask<'_>) -> Option<Given>;

    /// How many answers it has that are given once each.
    fn prepared(&self) -> usize {
        0
    }
}

impl<F> Responder for F
where
    F: Fn(&Ask<'_>) -> Option<Given> + Send + Sync,
{
    fn answer(&self, ask: &Ask<'_>) -> Option<Given> {
        self(ask)
    }
}

/// What a client offers a server, and what it answers.
#[derive(Clone, Default)]
pub struct Answers {
    by_method: BTreeMap<String, Value>,
    responder: Option<Arc<dyn Responder>>,
    /// Methods that the responder answers, for what is declared.
    answered: Vec<String>,
    capabilities: Option<Value>,
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers")
            .field("by_method", &self.by_method)
            .field("answered", &self.answered)
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}

impl Answers {
    /// Answers requests for `method` with `result`, as often as they come, and
    /// offers the capability that goes with it.
    #[must_use]
    pub fn with(mut self, method: impl Into<String>, result: Value) -> Self {
        self.by_method.insert(method.into(), result);
        self
    }

    /// Answers by what `responder` says, before any prepared result, and offers
    /// the capabilities that go with `methods`.
    #[must_use]
    pub fn by<M: Into<String>>(
        mut self,
        methods: impl IntoIterator<Item = M>,
        responder: impl Responder + 'static,
    ) -> Self {
        self.answered = methods.into_iter().map(Into::into).collect();
        self.responder = Some(Arc::new(responder));
        self
    }

    /// Declares these capabilities as they are, in place of those that follow
    /// from the answers.
    #[must_use]
    pub fn declaring(mut self, capabilities: Value) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// What is answered; none where the request is refused.
    #[must_use]
    pub fn answer(&self, ask: &Ask<'_>) -> Option<Given> {
        let computed = self.responder.as_ref().and_then(|r| r.answer(ask));
        let prepared = || self.by_method.get(ask.method).cloned().map(Ok);
        let pong = || (ask.method == "ping").then(|| Ok(json!({})));
        computed.or_else(prepared).or_else(pong)
    }

    /// How many answers there are that are given once each.
    #[must_use]
    pub fn prepared(&self) -> usize {
        self.responder.as_ref().map_or(0, |r| r.prepared())
    }

    /// The client capabilities to declare in a version: what was set, or those
    /// that have an answer.
    #[must_use]
    pub fn capabilities(&self, version: &Revision) -> Value {
        if let Some(capabilities) = &self.capabilities {
            return capabilities.clone();
        }
        let mut capabilities = Map::new();
        let methods = self.by_method.keys().chain(&self.answered);
        for (area, _) in methods.filter_map(|method| method.split_once('/')) {
            let modes: &[&str] = match (area, version.elicitation) {
                ("roots" | "sampling", _) => &[],
                ("elicitation", Some(modes)) => modes,
                _ => continue,
            };
            let modes = modes.iter().map(|mode| ((*mode).to_owned(), json!({})));
            capabilities.insert(area.to_owned(), modes.collect());
        }
        Value::Object(capabilities)
    }

    /// The whole response to a server's request.
    #[must_use]
    pub fn respond(&self, id: &Value, ask: &Ask<'_>) -> Value {
        match self.answer(ask) {
            Some(Ok(result)) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Some(Err(error)) => {
                let mut body = Map::new();
                body.insert("code".to_owned(), error.code.unwrap_or_default().into());
                body.insert("message".to_owned(), error.message.into());
                if let Some(data) = error.data {
                    body.insert("data".to_owned(), data);
                }
                json!({ "jsonrpc": "2.0", "id": id, "error": body })
            }
            None => json!({
                "jsonrpc": "2.0",
                "id": id,
                "error": {
                    "code": code::METHOD_NOT_FOUND,
                    "message": format!("jelly does not offer {}", ask.method),
                },
            }),
        }
    }
}

/// The answer of somebody who accepts an elicitation and changes nothing: the
/// defaults that its schema gives (2025-11-25, SEP-1034). A field without one
/// is left out.
#[must_use]
pub fn accept_defaults(params: &Value) -> Value {
    let properties = params
        .pointer("/requestedSchema/properties")
        .and_then(Value::as_object);
    let content: Map<String, Value> = properties
        .into_iter()
        .flatten()
        .filter_map(|(name, schema)| Some((name.clone(), schema.get("default")?.clone())))
        .collect();
    json!({ "action": "accept", "content": content })
}

#[cfg(test)]
mod tests {
    use super::{Answers, Ask, accept_defaults};
    use jelly_base::mcp::{Era, Revision};
    use jelly_base::model::RpcError;
    use serde_json::{Value, json};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn ask(method: &str) -> Ask<'_> {
        Ask {
            method,
            params: &Value::Null,
        }
    }

    fn newest() -> &'static Revision {
        Revision::newest(Era::Legacy)
    }

    #[test]
    fn ping_is_answered_and_the_rest_refused() {
        let answers = Answers::default();
        assert_eq!(
            answers.respond(&json!(1), &ask("ping"))["result"],
            json!({})
        );
        let refusal = answers.respond(&json!("a"), &ask("sampling/createMessage"));
        assert_eq!(refusal["id"], "a");
        assert_eq!(refusal["error"]["code"], -32601);
        assert_eq!(answers.capabilities(newest()), json!({}));
    }

    #[test]
    fn a_prepared_answer_is_offered_as_a_capability() {
        let answers = Answers::default().with("roots/list", json!({"roots": []}));
        assert_eq!(answers.capabilities(newest()), json!({"roots": {}}));
        assert_eq!(
            answers.respond(&json!(1), &ask("roots/list"))["result"],
            json!({"roots": []})
        );
    }

    #[test]
    fn a_responder_answers_first_and_may_give_another_answer_each_time() {
        let asked = AtomicUsize::new(0);
        let answers = Answers::default()
            .with("elicitation/create", json!({"action": "cancel"}))
            .by(["elicitation/create"], move |ask: &Ask<'_>| {
                let first = asked.fetch_add(1, Ordering::Relaxed) == 0;
                first.then(|| Ok(json!({"action": "accept", "content": ask.params["wish"]})))
            });
        let params = json!({"wish": {"a": 1}});
        let ask = Ask {
            method: "elicitation/create",
            params: &params,
        };
        let first = answers.respond(&json!(1), &ask);
        assert_eq!(
            first["result"],
            json!({"action": "accept", "content": {"a": 1}})
        );
        let second = answers.respond(&json!(2), &ask);
        assert_eq!(second["result"], json!({"action": "cancel"}));
    }

    #[test]
    fn an_error_may_be_the_answer() {
        let error = RpcError {
            code: Some(-1),
            message: "declined".to_owned(),
            data: Some(json!({"why": "no"})),
        };
        let answers = Answers::default().by(["sampling/createMessage"], move |_: &Ask<'_>| {
            Some(Err(error.clone()))
        });
        let response = answers.respond(&json!(7), &ask("sampling/createMessage"));
        assert_eq!(
            response["error"],
            json!({"code": -1, "message": "declined", "data": {"why": "no"}})
        );
    }

    #[test]
    fn what_is_declared_follows_the_revision() {
        let answers = Answers::default().by(["elicitation/create", "ping"], |_: &Ask<'_>| None);
        for (version, declared) in [
            ("2025-03-26", json!({})),
            ("2025-06-18", json!({"elicitation": {}})),
            ("2025-11-25", json!({"elicitation": {"form": {}}})),
            ("2026-07-28", json!({"elicitation": {"form": {}}})),
        ] {
            let version = Revision::find(version).unwrap();
            assert_eq!(answers.capabilities(version), declared, "{}", version.name);
        }
        let own = json!({"elicitation": {"url": {}}, "extensions": {"org.example/x": {}}});
        assert_eq!(answers.declaring(own.clone()).capabilities(newest()), own);
    }

    #[test]
    fn the_defaults_of_a_form_are_its_content() {
        let params = json!({"message": "?", "requestedSchema": {"type": "object", "properties": {
            "name": {"type": "string", "default": "Ada"},
            "age": {"type": "integer"},
            "tags": {"type": "array", "default": ["a"]},
        }}});
        assert_eq!(
            accept_defaults(&params),
            json!({"action": "accept", "content": {"name": "Ada", "tags": ["a"]}})
        );
        assert_eq!(
            accept_defaults(&Value::Null),
            json!({"action": "accept", "content": {}})
        );
    }
}
