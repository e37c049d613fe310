//! Requests that a modern server answers by asking for input first
//! (2026-07-28, multi round-trip requests).
//!
//! Main function: [`next_round`]. Pure.

use super::answers::{Answers, Ask};
use jelly_base::mcp::Revision;
use serde_json::{Map, Value};

/// What a result says of itself.
pub(super) enum ResultType {
    Complete { flaw: Option<&'static str> },
    InputRequired,
    Unknown(String),
}

pub(super) fn result_type(result: &Value) -> ResultType {
    match result.get("resultType") {
        Some(Value::String(name)) if name == "complete" => ResultType::Complete { flaw: None },
        Some(Value::String(name)) if name == "input_required" => ResultType::InputRequired,
        Some(other) => ResultType::Unknown(other.to_string()),
        // The peer has said already what is wrong with such a result.
        None if !result.is_object() => ResultType::Complete { flaw: None },
        None => ResultType::Complete {
            flaw: Some("without a resultType, which 2026-07-28 requires"),
        },
    }
}

/// Why a request is not made again. Both are fragments that complete "the
/// server …".
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoRound {
    /// The server must not ask so.
    Breach(String),
    /// The server may ask, and the client has nothing to say.
    Unanswered(String),
}

/// The params of the next round: the original ones with the answers that the
/// server asked for and with its state, or which input it can't have.
pub(super) fn next_round(
    original: &Value,
    result: &Value,
    answers: &Answers,
    version: &Revision,
) -> Result<Value, NoRound> {
    let state = result.get("requestState");
    let mut responses = Map::new();
    if let Some(Value::Object(requests)) = result.get("inputRequests") {
        for (key, request) in requests {
            let response = answer(request, answers, version)?;
            responses.insert(key.clone(), response);
        }
    }
    if state.is_none() && responses.is_empty() {
        let why = "asks for input and does not say which";
        return Err(NoRound::Breach(why.to_owned()));
    }
    let mut params = original.clone();
    if let Value::Object(params) = &mut params {
        if !responses.is_empty() {
            params.insert("inputResponses".to_owned(), Value::Object(responses));
        }
        if let Some(state) = state {
            params.insert("requestState".to_owned(), state.clone());
        }
    }
    Ok(params)
}

fn answer(request: &Value, answers: &Answers, version: &Revision) -> Result<Value, NoRound> {
    let method = request.get("method").and_then(Value::as_str).unwrap_or("?");
    let params = request.get("params").unwrap_or(&Value::Null);
    match answers.answer(&Ask { method, params }) {
        Some(Ok(response)) => Ok(response),
        Some(Err(_)) => Err(NoRound::Unanswered(format!(
            "asks for `{method}`, which is to be answered with an error, and {} has no way to \
             send one",
            version.name
        ))),
        None if is_offered(method, answers, version) => Err(NoRound::Unanswered(format!(
            "asks for `{method}`, and there is no answer to it"
        ))),
        None => Err(NoRound::Breach(format!(
            "asks for `{method}`, which the client did not offer,"
        ))),
    }
}

fn is_offered(method: &str, answers: &Answers, version: &Revision) -> bool {
    method
        .split_once('/')
        .is_some_and(|(area, _)| answers.capabilities(version).get(area).is_some())
}

#[cfg(test)]
mod tests {
    use super::{NoRound, ResultType, next_round, result_type};
    use crate::{Answers, Ask};
    use jelly_base::mcp::{Era, Revision};
    use jelly_base::model::RpcError;
    use serde_json::{Value, json};

    fn next(original: &Value, result: &Value, answers: &Answers) -> Result<Value, NoRound> {
        next_round(original, result, answers, Revision::newest(Era::Modern))
    }

    #[test]
    fn a_server_that_asks_for_what_was_offered_gets_it_with_its_state() {
        let answers = Answers::default().with("roots/list", json!({"roots": []}));
        let result = json!({
            "resultType": "input_required",
            "inputRequests": {"r": {"method": "roots/list"}},
            "requestState": "s",
        });
        let params = next(&json!({"name": "t"}), &result, &answers).unwrap();
        assert_eq!(
            params,
            json!({"name": "t", "inputResponses": {"r": {"roots": []}}, "requestState": "s"})
        );
    }

    #[test]
    fn what_is_asked_for_is_shown_to_who_answers() {
        let answers = Answers::default().by(["elicitation/create"], |ask: &Ask<'_>| {
            Some(Ok(json!({"action": ask.params["message"]})))
        });
        let result = json!({"inputRequests": {
            "a": {"method": "elicitation/create", "params": {"message": "one"}},
            "b": {"method": "elicitation/create", "params": {"message": "two"}},
        }});
        let params = next(&json!({}), &result, &answers).unwrap();
        assert_eq!(
            params["inputResponses"],
            json!({"a": {"action": "one"}, "b": {"action": "two"}})
        );
    }

    #[test]
    fn a_server_that_asks_for_what_was_not_offered_is_in_breach() {
        let result = json!({"inputRequests": {"r": {"method": "elicitation/create"}}});
        match next(&json!({}), &result, &Answers::default()).unwrap_err() {
            NoRound::Breach(why) => assert!(why.contains("`elicitation/create`"), "{why}"),
            other @ NoRound::Unanswered(_) => panic!("{other:?}"),
        }
        let nothing = next(&json!({}), &json!({}), &Answers::default());
        assert!(matches!(nothing, Err(NoRound::Breach(_))));
    }

    #[test]
    fn an_offer_without_an_answer_is_no_breach_of_the_server() {
        let result = json!({"inputRequests": {"r": {"method": "elicitation/create"}}});
        let silent = Answers::default().by(["elicitation/create"], |_: &Ask<'_>| None);
        let why = next(&json!({}), &result, &silent).unwrap_err();
        assert!(matches!(why, NoRound::Unanswered(_)), "{why:?}");
        let refusing = Answers::default().by(["elicitation/create"], |_: &Ask<'_>| {
            Some(Err(RpcError {
                code: Some(-1),
                message: "no".to_owned(),
                data: None,
            }))
        });
        let why = next(&json!({}), &result, &refusing).unwrap_err();
        assert!(matches!(why, NoRound::Unanswered(_)), "{why:?}");
    }

    #[test]
    fn an_absent_result_type_is_complete_and_an_unknown_one_is_not() {
        assert!(matches!(
            result_type(&json!({})),
            ResultType::Complete { flaw: Some(_) }
        ));
        assert!(matches!(
            result_type(&json!({"resultType": "later"})),
            ResultType::Unknown(_)
        ));
    }
}
