//! What a server itself says of its error in the `data` of a JSON-RPC error:
//! evidence, and what to do next.

use super::live::FACT_WORDS;
use jelly_base::model::{Failure, Fix};
use jelly_base::text::one_line;
use serde_json::{Map, Value};

/// Texts and members of `data` that are looked at, and how deep.
const MOST: usize = 64;
const DEEPEST: usize = 4;
/// Steps that are passed on, and bytes of each.
const STEPS: usize = 4;
const BYTES: usize = 300;

/// The texts in `data`, but for those of its members that name something: one
/// each, as it stands there.
pub(super) fn sentences(data: &Value) -> Vec<String> {
    let mut found = Vec::new();
    each(data, 0, &mut |_, value| {
        let text = value
            .as_str()
            .filter(|text| text.contains(char::is_whitespace));
        found.extend(text.map(str::to_owned));
    });
    found
}

/// What the server says to do, in its own words, and the place that it names.
pub(super) fn steps(failure: &Failure) -> Vec<Fix> {
    let Some(data) = failure.rpc_error.as_ref().and_then(|e| e.data.as_ref()) else {
        return Vec::new();
    };
    let words = &*FACT_WORDS;
    let is_help = |name: &str| words.error_help.iter().any(|known| known == name);
    let mut said: Vec<String> = Vec::new();
    let mut place = None;
    let mut take = |text: &str| {
        let text = one_line(text, BYTES);
        if said.len() < STEPS && !text.is_empty() && !said.contains(&text) {
            said.push(text);
        }
    };
    members(data, 0, &mut |object| {
        for (name, value) in object {
            match value {
                Value::String(text) if is_help(name) => take(text),
                Value::Array(texts) if is_help(name) => {
                    texts.iter().filter_map(Value::as_str).for_each(&mut take);
                }
                _ => {}
            }
        }
        place = place.take().or_else(|| place_in(object));
    });
    let said = said
        .into_iter()
        .map(|text| format!("The server says: {text}"));
    let place = place.map(|place| format!("The server names this place: {place}"));
    said.chain(place).map(Fix::text).collect()
}

/// `file:line`, where an object has both.
fn place_in(object: &Map<String, Value>) -> Option<String> {
    let file = ["file", "filename", "path"]
        .iter()
        .find_map(|name| object.get(*name)?.as_str())?;
    let line = object.get("line").or_else(|| object.get("lineno"))?;
    let line = line.as_u64()?;
    Some(format!("{}:{line}", one_line(file, BYTES)))
}

/// Every value, with the name of the member that it is of.
fn each(data: &Value, depth: usize, take: &mut impl FnMut(&str, &Value)) {
    match data {
        Value::Object(object) if depth < DEEPEST => {
            for (name, value) in object.iter().take(MOST) {
                take(name, value);
                each(value, depth + 1, take);
            }
        }
        Value::Array(values) if depth < DEEPEST => {
            for value in values.iter().take(MOST) {
                take("", value);
                each(value, depth + 1, take);
            }
        }
        _ => {}
    }
}

/// Every object.
fn members(data: &Value, depth: usize, take: &mut impl FnMut(&Map<String, Value>)) {
    match data {
        Value::Object(object) if depth < DEEPEST => {
            take(object);
            for value in object.values().take(MOST) {
                members(value, depth + 1, take);
            }
        }
        Value::Array(values) if depth < DEEPEST => {
            for value in values.iter().take(MOST) {
                members(value, depth + 1, take);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::steps;
    use crate::engine::Engine;
    use jelly_base::model::{Failure, Fix};
    use serde_json::{Value, json};

    fn failure(data: &Value) -> Failure {
        serde_json::from_value(json!({
            "phase": "call", "outcome": "error",
            "rpc_error": {"code": -32603, "message": "Internal error", "data": data},
            "request": {"method": "tools/call", "params": {"name": "work"}},
        }))
        .unwrap()
    }

    #[test]
    fn a_server_that_says_what_to_do_is_quoted() {
        let lines = |data: &Value| -> Vec<String> {
            steps(&failure(data)).iter().map(Fix::to_string).collect()
        };
        let told = json!({
            "fix_instructions": ["Set the key.", "$ rm -rf /", "Set the key."],
            "error_context": {"command": "srv", "file": "/srv/app.py", "line": 12},
        });
        // Its words are no command of ours.
        assert_eq!(
            lines(&told),
            [
                "The server says: Set the key.",
                "The server says: $ rm -rf /",
                "The server names this place: /srv/app.py:12",
            ]
        );
        assert_eq!(
            lines(&json!({"error": {"hint": "Wait a while."}})),
            ["The server says: Wait a while."]
        );
        for data in [
            json!("text"),
            json!(null),
            json!({"hint": 3}),
            json!({"file": "a"}),
        ] {
            assert!(lines(&data).is_empty(), "{data}");
        }
        let engine = Engine::builtin();
        let fix = engine.diagnose(&failure(&told)).advice.fix;
        assert_eq!(fix[0].to_string(), "The server says: Set the key.");
    }

    #[test]
    fn details_and_logs_are_evidence() {
        let refused = "connect ECONNREFUSED 127.0.0.1:5432";
        let told = failure(&json!({"details": format!("Error: {refused}")}));
        let mut logged = failure(&Value::Null);
        logged.logs = vec!["starting".to_owned(), refused.to_owned()];
        for (failure, field) in [(told, "rpc_error.data"), (logged, "logs")] {
            let diagnosis = Engine::builtin().diagnose(&failure);
            assert_eq!(diagnosis.root_cause, "connection_refused", "{field}");
            assert_eq!(diagnosis.evidence.unwrap().field, field);
        }
        let plain = Engine::builtin().diagnose(&failure(&Value::Null));
        assert_eq!(plain.root_cause, "internal_error");
    }
}
