//! From a result to the bytes on stdout, with everything that can be wrong
//! with a message on the way.

use super::action::{Action, Pieces};
use super::emit;
use super::fault::{Kind, Malformed, SplitSize, WrongId};
use jelly_base::mcp::code;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// What a request is answered with.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    Result(Value),
    Error {
        code: i64,
        message: String,
        data: Option<Value>,
    },
}

impl Body {
    /// An error without data.
    #[must_use]
    pub fn error(code: i64, message: impl Into<String>) -> Self {
        Self::Error {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// An error of params that a method can't take.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::error(code::INVALID_PARAMS, message)
    }

    /// A tool's result of one text block.
    #[must_use]
    pub fn text(text: impl Into<String>, is_error: bool) -> Self {
        Self::Result(json!({
            "content": [{"type": "text", "text": text.into()}],
            "isError": is_error,
        }))
    }
}

/// Changes what the reply says. Faults that need the dice or the host come
/// as `wrong` (a text in place of the right one) and `secrets` (texts to add).
#[must_use]
pub fn distort(
    mut body: Body,
    kinds: &[Kind],
    wrong: Option<String>,
    secrets: Vec<String>,
) -> Body {
    if let Body::Result(result) = &mut body {
        if let Some(text) = wrong {
            set_text(result, text);
        }
        for secret in secrets {
            add_text(result, secret);
        }
    }
    for kind in kinds {
        match (kind, &mut body) {
            (Kind::Error { code, message }, body) => *body = Body::error(*code, message),
            (Kind::NullResult, body) => *body = Body::Result(Value::Null),
            (Kind::EmptyResult, body) => *body = Body::Result(json!({})),
            (Kind::Huge(bytes), Body::Result(result)) => set_text(result, "x".repeat(*bytes)),
            (Kind::ProtocolVersion(version), Body::Result(result)) => {
                if result.get("supportedVersions").is_some() {
                    result["supportedVersions"] = json!([version]);
                } else if result.get("protocolVersion").is_some() {
                    result["protocolVersion"] = json!(version);
                }
            }
            (Kind::MalformedTools(how), Body::Result(result)) => malform(result, *how),
            (Kind::ListLoop, Body::Result(Value::Object(result))) => {
                result.insert("nextCursor".to_owned(), json!("page:0"));
            }
            (Kind::SchemaBreach, Body::Result(Value::Object(result))) => breach(result),
            _not_about_what_the_reply_says => {}
        }
    }
    body
}

fn set_text(result: &mut Value, text: String) {
    if let Some(object) = result.as_object_mut() {
        object.insert(
            "content".to_owned(),
            json!([{"type": "text", "text": text}]),
        );
    }
}

/// Adds a text block to a tool's result.
pub fn add_text(result: &mut Value, text: String) {
    if let Some(content) = result.get_mut("content").and_then(Value::as_array_mut) {
        content.push(json!({"type": "text", "text": text}));
    }
}

fn malform(result: &mut Value, how: Malformed) {
    let Some(tools) = result.get_mut("tools") else {
        return;
    };
    let first = tools.get_mut(0).and_then(Value::as_object_mut);
    match (how, first) {
        (Malformed::NotArray, _) => *tools = json!({"echo": "a tool"}),
        (Malformed::NoName, Some(first)) => {
            first.shift_remove("name");
        }
        (Malformed::BadSchema, Some(first)) => {
            first.insert("inputSchema".to_owned(), json!({"type": "no such type"}));
        }
        (Malformed::NullSchema, Some(first)) => {
            first.insert("inputSchema".to_owned(), Value::Null);
        }
        (Malformed::NoName | Malformed::BadSchema | Malformed::NullSchema, None) => {}
    }
}

/// Gives the first property of the structured result another type; a result
/// without properties becomes no object at all.
fn breach(result: &mut Map<String, Value>) {
    let structured = result
        .entry("structuredContent")
        .or_insert_with(|| json!({}));
    let first = structured
        .as_object_mut()
        .and_then(|object| object.values_mut().next());
    match first {
        Some(value) if value.is_string() => *value = json!(0),
        Some(value) => *value = json!("of another type"),
        None => *structured = json!("no object"),
    }
}

/// Puts a value where a pointer leads, or takes out what is there; nothing
/// happens to a message that has no such place.
fn put(message: &mut Value, pointer: &str, value: Option<&Value>) {
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        return;
    };
    let key = key.replace("~1", "/").replace("~0", "~");
    match (message.pointer_mut(parent), value) {
        (Some(Value::Object(object)), Some(value)) => {
            object.insert(key, value.clone());
        }
        (Some(Value::Object(object)), None) => {
            object.shift_remove(&key);
        }
        (Some(Value::Array(items)), value) => match (key.parse::<usize>(), value) {
            (Ok(index), Some(value)) if index < items.len() => items[index] = value.clone(),
            (Ok(index), None) if index < items.len() => {
                items.remove(index);
            }
            (_, Some(value)) if key == "-" => items.push(value.clone()),
            _no_such_item => {}
        },
        _no_such_place => {}
    }
}

/// The reply as writes, with what follows it.
#[must_use]
pub fn write(id: &Value, body: Body, kinds: &[Kind], seed: u64) -> Vec<Action> {
    let id = kinds
        .iter()
        .find_map(|kind| match kind {
            Kind::WrongId(how) => Some(wrong_id(id, *how)),
            _other => None,
        })
        .unwrap_or_else(|| id.clone());
    let version = kinds
        .iter()
        .find_map(|kind| match kind {
            Kind::JsonrpcVersion(version) => Some(version.as_str()),
            _other => None,
        })
        .unwrap_or("2.0");
    let has = |wanted: &Kind| kinds.contains(wanted);

    let mut message = envelope(version, id, body);
    for kind in kinds {
        match kind {
            Kind::Set { pointer, value } => put(&mut message, pointer, Some(value)),
            Kind::Drop(pointer) => put(&mut message, pointer, None),
            _other => {}
        }
    }
    let text = message.to_string();
    let mut bytes = if has(&Kind::ContentLength) {
        format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
    } else if has(&Kind::Crlf) {
        format!("{text}\r\n").into_bytes()
    } else {
        format!("{text}\n").into_bytes()
    };
    if has(&Kind::Truncate) {
        bytes.truncate(bytes.len() / 2);
    }
    if has(&Kind::Duplicate) {
        bytes = bytes.repeat(2);
    }
    let mut pieces = Pieces::Whole;
    let mut after = None;
    for kind in kinds {
        match kind {
            Kind::Burst(n) => {
                let mut burst = Vec::new();
                for i in 0..*n {
                    let note = json!({
                        "jsonrpc": "2.0",
                        "method": "notifications/message",
                        "params": {"level": "debug", "data": format!("message {i}")},
                    });
                    burst.extend_from_slice(note.to_string().as_bytes());
                    burst.push(b'\n');
                }
                burst.append(&mut bytes);
                bytes = burst;
            }
            Kind::Drip(pause) => {
                pieces = Pieces::Fixed {
                    size: 1,
                    pause: *pause,
                };
            }
            Kind::Split(SplitSize::Fixed(size)) => {
                pieces = Pieces::Fixed {
                    size: *size,
                    // Long enough for a reader to wake up between two pieces.
                    pause: Duration::from_micros(100),
                };
            }
            Kind::Split(SplitSize::Random) => pieces = Pieces::Random { seed },
            Kind::ExitAfter(by) => after = Some(emit::end(*by)),
            _other => {}
        }
    }
    let mut actions = vec![Action::Write { bytes, pieces }];
    actions.extend(after);
    actions
}

fn envelope(version: &str, id: Value, body: Body) -> Value {
    let mut message = Map::with_capacity(3);
    message.insert("jsonrpc".to_owned(), json!(version));
    message.insert("id".to_owned(), id);
    match body {
        Body::Result(result) => {
            message.insert("result".to_owned(), result);
        }
        Body::Error {
            code,
            message: text,
            data,
        } => {
            let mut error = Map::new();
            error.insert("code".to_owned(), json!(code));
            error.insert("message".to_owned(), json!(text));
            if let Some(data) = data {
                error.insert("data".to_owned(), data);
            }
            message.insert("error".to_owned(), Value::Object(error));
        }
    }
    Value::Object(message)
}

fn wrong_id(id: &Value, how: WrongId) -> Value {
    match (how, id) {
        (WrongId::Null, _) => Value::Null,
        (WrongId::Other, Value::String(text)) => json!(format!("{text}-other")),
        (WrongId::Other, id) => json!(id.as_i64().unwrap_or(0).wrapping_add(1000)),
        (WrongId::Retyped, Value::String(text)) => {
            text.parse::<i64>().map_or(json!(0), |n| json!(n))
        }
        (WrongId::Retyped, id) => json!(id.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Body, distort, write};
    use crate::action::{Action, Pieces};
    use crate::fault::{Fault, Kind};
    use serde_json::{Value, json};

    fn kinds(texts: &[&str]) -> Vec<Kind> {
        texts
            .iter()
            .map(|text| text.parse::<Fault>().unwrap().kind)
            .collect()
    }

    fn bytes(id: Value, faults: &[&str]) -> Vec<u8> {
        let actions = write(&id, Body::text("hé", false), &kinds(faults), 1);
        match &actions[0] {
            Action::Write { bytes, .. } => bytes.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn message(id: Value, faults: &[&str]) -> Value {
        serde_json::from_slice(&bytes(id, faults)).unwrap()
    }

    fn result(body: Body, faults: &[&str]) -> Value {
        match distort(body, &kinds(faults), None, Vec::new()) {
            Body::Result(result) => result,
            error @ Body::Error { .. } => panic!("{error:?}"),
        }
    }

    #[test]
    fn a_sound_reply_is_one_line() {
        let bytes = bytes(json!(7), &[]);
        assert_eq!(bytes.iter().filter(|b| **b == b'\n').count(), 1);
        assert_eq!(bytes.last(), Some(&b'\n'));
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["id"], 7);
        assert_eq!(value["jsonrpc"], "2.0");
    }

    #[test]
    fn ids_go_wrong_in_three_ways() {
        assert_eq!(message(json!(7), &["wrong_id"])["id"], 1007);
        assert_eq!(message(json!("a"), &["wrong_id"])["id"], "a-other");
        assert_eq!(message(json!(7), &["wrong_id=retyped"])["id"], "7");
        assert_eq!(message(json!("7"), &["wrong_id=retyped"])["id"], 7);
        assert_eq!(message(json!(7), &["wrong_id=null"])["id"], Value::Null);
    }

    #[test]
    fn frames_go_wrong() {
        let framed = String::from_utf8(bytes(json!(1), &["content_length"])).unwrap();
        let (header, rest) = framed.split_once("\r\n\r\n").unwrap();
        assert_eq!(header, format!("Content-Length: {}", rest.len()));
        assert!(bytes(json!(1), &["crlf"]).ends_with(b"}\r\n"));
        assert!(!bytes(json!(1), &["truncate"]).contains(&b'\n'));
        let twice = bytes(json!(1), &["duplicate"]);
        assert_eq!(twice.iter().filter(|b| **b == b'\n').count(), 2);
        let burst = bytes(json!(1), &["burst=50"]);
        assert_eq!(burst.iter().filter(|b| **b == b'\n').count(), 51);
        assert_eq!(message(json!(1), &["jsonrpc_version"])["jsonrpc"], "1.0");
    }

    #[test]
    fn pieces_and_the_end_after_a_reply_are_left_to_the_edge() {
        let actions = write(
            &json!(1),
            Body::text("", false),
            &kinds(&["split=3", "exit_after=4"]),
            1,
        );
        assert!(matches!(
            actions[0],
            Action::Write {
                pieces: Pieces::Fixed { size: 3, .. },
                ..
            }
        ));
        assert_eq!(actions[1], Action::Exit(4));
    }

    #[test]
    fn results_go_wrong() {
        let sum = || Body::Result(json!({"content": [], "structuredContent": {"sum": 3}}));
        assert_eq!(
            result(sum(), &["schema_breach"])["structuredContent"]["sum"],
            "of another type"
        );
        assert_eq!(
            result(Body::text("", false), &["schema_breach"])["structuredContent"],
            "no object"
        );
        assert_eq!(result(sum(), &["null_result"]), Value::Null);
        assert_eq!(result(sum(), &["empty_result"]), json!({}));
        let huge = result(sum(), &["huge=5000"]);
        assert_eq!(huge["content"][0]["text"].as_str().unwrap().len(), 5000);
        assert!(matches!(
            distort(sum(), &kinds(&["error=-5:no: way"]), None, Vec::new()),
            Body::Error { code: -5, message, .. } if message == "no: way"
        ));
    }

    #[test]
    fn any_part_of_a_message_can_go_wrong() {
        let set = |fault: &str| message(json!(7), &[fault]);
        assert_eq!(set("set=/id \"x\"")["id"], "x");
        assert_eq!(set("set=/result/a~1b 1")["result"]["a/b"], 1);
        assert_eq!(
            set("set=/result/content/0/type {}")["result"]["content"][0]["type"],
            json!({})
        );
        assert_eq!(set("set=/result/content/- 2")["result"]["content"][1], 2);
        assert_eq!(set("set=/error/code 1").get("error"), None);
        assert_eq!(set("drop=/jsonrpc").get("jsonrpc"), None);
        assert_eq!(
            set("drop=/result/content/0")["result"]["content"],
            json!([])
        );
        for bad in [
            "set=result 1",
            "set=/result",
            "set=/result {",
            "drop=result",
        ] {
            assert!(bad.parse::<Fault>().is_err(), "{bad}");
        }
    }

    #[test]
    fn lists_go_wrong() {
        let list = || Body::Result(json!({"tools": [{"name": "a", "inputSchema": {}}]}));
        assert!(result(list(), &["malformed_tools"])["tools"].is_object());
        let nameless = result(list(), &["malformed_tools=no_name"]);
        assert!(nameless["tools"][0].get("name").is_none());
        let null = result(list(), &["malformed_tools=null_schema"]);
        assert!(null["tools"][0]["inputSchema"].is_null());
        assert_eq!(result(list(), &["list_loop"])["nextCursor"], "page:0");
    }

    #[test]
    fn versions_go_wrong_in_both_handshakes() {
        let legacy = result(
            Body::Result(json!({"protocolVersion": "2025-11-25"})),
            &["protocol_version"],
        );
        assert_eq!(legacy["protocolVersion"], "1999-01-01");
        let modern = result(
            Body::Result(json!({"supportedVersions": ["2026-07-28"]})),
            &["protocol_version=x"],
        );
        assert_eq!(modern["supportedVersions"], json!(["x"]));
    }
}
