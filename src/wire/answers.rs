//! What a client answers when a server asks it for something.
//!
//! Main type: [`Answers`]. Without answers of the plan, everything but `ping`
//! is refused politely, and nothing is offered that would be refused.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// JSON-RPC's code for a method that the other side does not know.
const METHOD_NOT_FOUND: i64 = -32601;

/// Prepared answers by method, as in `roots/list`; refusals for the rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    by_method: BTreeMap<String, Value>,
}

impl Answers {
    /// Answers requests for `method` with `result`, and offers the
    /// capability that goes with it.
    #[must_use]
    pub fn with(mut self, method: impl Into<String>, result: Value) -> Self {
        self.by_method.insert(method.into(), result);
        self
    }

    /// The prepared result for a method.
    #[must_use]
    pub fn result(&self, method: &str) -> Option<Value> {
        match self.by_method.get(method) {
            Some(result) => Some(result.clone()),
            None if method == "ping" => Some(json!({})),
            None => None,
        }
    }

    /// The client capabilities to declare: those that have an answer.
    #[must_use]
    pub fn capabilities(&self) -> Value {
        let mut capabilities = Map::new();
        for method in self.by_method.keys() {
            if let Some((area @ ("roots" | "sampling" | "elicitation"), _)) = method.split_once('/')
            {
                capabilities.insert(area.to_owned(), json!({}));
            }
        }
        Value::Object(capabilities)
    }

    /// The whole response to a server's request.
    #[must_use]
    pub fn respond(&self, id: &Value, method: &str) -> Value {
        match self.result(method) {
            Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            None => json!({
                "jsonrpc": "2.0",
                "id": id,
                "error": {
                    "code": METHOD_NOT_FOUND,
                    "message": format!("jelly does not offer {method}"),
                },
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Answers;
    use serde_json::json;

    #[test]
    fn ping_is_answered_and_the_rest_refused() {
        let answers = Answers::default();
        assert_eq!(answers.respond(&json!(1), "ping")["result"], json!({}));
        let refusal = answers.respond(&json!("a"), "sampling/createMessage");
        assert_eq!(refusal["id"], "a");
        assert_eq!(refusal["error"]["code"], -32601);
        assert_eq!(answers.capabilities(), json!({}));
    }

    #[test]
    fn a_prepared_answer_is_offered_as_a_capability() {
        let answers = Answers::default().with("roots/list", json!({"roots": []}));
        assert_eq!(answers.capabilities(), json!({"roots": {}}));
        assert_eq!(
            answers.respond(&json!(1), "roots/list")["result"],
            json!({"roots": []})
        );
    }
}
