//! A line → what it is: a JSON-RPC message, or what came in its place.
//!
//! Main type: [`Line`]. Lenient on purpose: a harness must see what a server
//! really sent, so what can be understood is understood, with its flaws said.
//! It must not know which requests are pending.

use jelly_base::model::{OwnLimit, RpcError};
use jelly_base::text::{TREE_BYTES, is_too_large, is_whole, tree_bytes};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// What came of bytes that should be a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Understood {
    Message,
    /// It is none.
    Nothing,
    /// It may be one.
    Beyond(OwnLimit),
}

/// What a line on stdout is.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// Nothing but white space.
    Blank,
    /// A `Content-Length: N` header, as of the Language Server Protocol.
    ContentLength,
    /// Text that is no message, such as a log line or a banner.
    Noise,
    /// Meant as a message, and can't be read as one: why, in a fragment.
    Malformed {
        why: String,
        /// It looks like an answer, so somebody waits for it in vain.
        answer: bool,
        /// It is jelly that can't read it.
        beyond: Option<OwnLimit>,
    },
    /// One message, or several in a JSON-RPC batch (2025-03-26 allows it).
    Messages(Vec<Message>),
}

/// One JSON-RPC message with what is wrong about its form.
#[derive(Debug, PartialEq)]
pub struct Message {
    pub body: MessageBody,
    /// Breaches of JSON-RPC that leave the message readable, in fragments.
    pub flaws: Vec<String>,
    /// Carried the member `jsonrpc` at all; without it, only what matches a
    /// pending request is taken for a message.
    pub marked: bool,
    /// Clients of the official SDKs do not take it for a message, for the first
    /// of the flaws.
    pub unfit: bool,
}

/// The kinds of messages.
#[derive(Debug, PartialEq)]
pub enum MessageBody {
    Response {
        /// As it was sent; null where there was none.
        id: Value,
        payload: Payload,
    },
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
}

/// What a response carries.
#[derive(Debug, PartialEq)]
pub enum Payload {
    Result(Value),
    Error(RpcError),
    /// Neither a result nor an error.
    Nothing,
}

/// In UTF-8. JSON texts that are sent must not begin with it (RFC 8259, section
/// 8.1).
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a line, without its line feed.
#[must_use]
pub fn read_line(line: &[u8]) -> Line {
    // Windows programs like to open a stream with a byte order mark.
    let Some(rest) = line.strip_prefix(BYTE_ORDER_MARK) else {
        return read_unmarked(line);
    };
    let mut read = read_unmarked(rest);
    if let Line::Messages(messages) = &mut read
        && let Some(first) = messages.first_mut()
    {
        let flaw = "puts a byte order mark before a message".to_owned();
        first.flaws.insert(0, flaw);
        first.unfit = true;
    }
    read
}

fn read_unmarked(line: &[u8]) -> Line {
    let line = line.trim_ascii();
    match line.first() {
        None => return Line::Blank,
        Some(b'{' | b'[') => {}
        Some(_) if is_content_length(line) => return Line::ContentLength,
        Some(b'\xff' | b'\xfe') if has_utf16_mark(line) => {
            return Line::Malformed {
                why: "writes UTF-16 where UTF-8 is due".into(),
                answer: contains(line, b"j\0s\0o\0n\0r\0p\0c"),
                beyond: None,
            };
        }
        Some(b'"') if line.starts_with(b"\"jsonrpc\"") => {
            return Line::Malformed {
                why: "spreads a message over several lines".into(),
                answer: false,
                beyond: None,
            };
        }
        Some(_) => return Line::Noise,
    }
    if is_too_large(line) {
        return too_large(line);
    }
    if line[0] == b'{'
        && let Ok(members) = serde_json::from_slice::<Members>(line)
    {
        return members
            .message()
            .map_or(Line::Noise, |message| Line::Messages(vec![message]));
    }
    let mut flaw = None;
    let value = match serde_json::from_slice::<Value>(line) {
        Ok(value) => value,
        Err(error) => {
            let lossy = String::from_utf8_lossy(line);
            let again = match &lossy {
                std::borrow::Cow::Owned(text) => serde_json::from_str(text).ok(),
                std::borrow::Cow::Borrowed(_) => None,
            };
            match (again, half_pairs_replaced(line)) {
                (Some(value), _) => {
                    flaw = Some("holds bytes that are not UTF-8".to_owned());
                    value
                }
                // By the grammar of JSON there is nothing wrong with it.
                (None, Some(line)) if let Ok(value) = serde_json::from_slice(&line) => {
                    flaw = Some("holds half of a surrogate pair".to_owned());
                    value
                }
                (None, _) => return malformed(line, &error),
            }
        }
    };
    let mut messages = match value {
        Value::Object(object) => Vec::from_iter(Members::of(object).message()),
        Value::Array(items) => {
            let wanted = items.len();
            let found: Vec<Message> = items
                .into_iter()
                .filter_map(|item| match item {
                    Value::Object(object) => Members::of(object).message(),
                    _ => None,
                })
                .collect();
            if found.len() == wanted {
                found
            } else {
                Vec::new()
            }
        }
        _ => Vec::new(),
    };
    let Some(first) = messages.first_mut() else {
        return Line::Noise;
    };
    first.flaws.extend(flaw);
    Line::Messages(messages)
}

/// Of more values than jelly reads: nothing is known of it but that it is long.
fn too_large(line: &[u8]) -> Line {
    let why = format!(
        "writes a message of so many values that they would take {} MiB as they are read, and \
         jelly gives a message {} MiB",
        tree_bytes(line) >> 20,
        TREE_BYTES >> 20
    );
    unread(line, why, Some(OwnLimit::MessageValues))
}

fn malformed(line: &[u8], error: &serde_json::Error) -> Line {
    if line == b"{" {
        return Line::Noise;
    }
    let beyond = beyond(error);
    let why = match beyond {
        Some(_) => format!("writes a message that is beyond what jelly reads ({error})"),
        None => format!("writes a message that can't be read as JSON ({error})"),
    };
    unread(line, why, beyond)
}

/// A log line may well open with a brace or a bracket; only what names JSON-RPC
/// was meant as a message.
fn unread(line: &[u8], why: String, beyond: Option<OwnLimit>) -> Line {
    let named = contains(line, b"\"jsonrpc\"") || contains(line, b"'jsonrpc'");
    if !named {
        return Line::Noise;
    }
    let answer = [b"result".as_slice(), b"error"]
        .iter()
        .any(|word| contains(line, word));
    Line::Malformed {
        why,
        answer,
        beyond,
    }
}

/// The limit of the JSON parser that a text went beyond, where that is all
/// that is wrong with it. JSON itself has none.
pub(super) fn beyond(error: &serde_json::Error) -> Option<OwnLimit> {
    let deep = error.to_string().starts_with("recursion limit exceeded");
    deep.then_some(OwnLimit::MessageDepth)
}

/// The text with the replacement character where an escape stands for half of a
/// surrogate pair, as a text that was cut between the two leaves it. None where
/// there is none.
pub(super) fn half_pairs_replaced(text: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut replaced = Vec::new();
    let (mut done, mut at) = (0, 0);
    while let Some(next) = memchr::memchr(b'\\', text.get(at..).unwrap_or_default()) {
        at += next;
        match (unit(at), unit(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 12,
            (Some(0xD800..=0xDFFF), _) => {
                replaced.extend_from_slice(&text[done..at]);
                replaced.extend_from_slice(b"\\ufffd");
                at += 6;
                done = at;
            }
            // An escape of two bytes, or of more without a second backslash.
            (Some(_) | None, _) => at += 2,
        }
    }
    if done == 0 {
        return None;
    }
    replaced.extend_from_slice(&text[done..]);
    Some(replaced)
}

/// The members of an object that a message is made of; others are not kept.
#[derive(Default)]
struct Members {
    version: Option<Value>,
    id: Option<Value>,
    method: Option<Value>,
    params: Option<Value>,
    result: Option<Value>,
    error: Option<Value>,
}

impl Members {
    fn of(mut object: Map<String, Value>) -> Self {
        Self {
            version: object.swap_remove("jsonrpc"),
            id: object.swap_remove("id"),
            method: object.swap_remove("method"),
            params: object.swap_remove("params"),
            result: object.swap_remove("result"),
            error: object.swap_remove("error"),
        }
    }

    /// None when the object is no JSON-RPC message at all.
    fn message(self) -> Option<Message> {
        let mut flaws = Vec::new();
        let marked = self.version.is_some();
        let unfit = self.version.as_ref().and_then(Value::as_str) != Some("2.0");
        match &self.version {
            Some(Value::String(text)) if text == "2.0" => {}
            Some(other) => flaws.push(format!("says \"jsonrpc\": {other} where \"2.0\" is due")),
            None => flaws.push("leaves out \"jsonrpc\": \"2.0\"".to_owned()),
        }
        if let Some(Value::String(method)) = self.method {
            let params = self.params.unwrap_or(Value::Null);
            if !marked && self.result.is_some() {
                return None;
            }
            let body = match self.id {
                Some(id) => MessageBody::Request { id, method, params },
                None => MessageBody::Notification { method, params },
            };
            return Some(Message {
                body,
                flaws,
                marked,
                unfit,
            });
        }
        let payload = match (self.result, self.error) {
            // JSON-RPC 1.0 had both, one of them null.
            (Some(result), Some(Value::Null)) => {
                flaws.push("carries both a result and an error".to_owned());
                Payload::Result(result)
            }
            (None, Some(error)) => Payload::Error(read_error(error, &mut flaws)),
            (Some(_), Some(error)) => {
                flaws.push("carries both a result and an error".to_owned());
                Payload::Error(read_error(error, &mut flaws))
            }
            (Some(result), None) => Payload::Result(result),
            (None, None) if marked && self.id.is_some() => Payload::Nothing,
            (None, None) => return None,
        };
        if !marked && self.id.is_none() {
            return None;
        }
        Some(Message {
            body: MessageBody::Response {
                id: self.id.unwrap_or(Value::Null),
                payload,
            },
            flaws,
            marked,
            unfit,
        })
    }
}

/// Straight from the text: an object of which three members are kept needs no
/// map of all of them.
impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Members::default();
                // A name that stands twice means what it says last.
                while let Some(name) = map.next_key::<Name>()? {
                    let value = map.next_value::<Value>()?;
                    let place = match name {
                        Name::Jsonrpc => &mut members.version,
                        Name::Id => &mut members.id,
                        Name::Method => &mut members.method,
                        Name::Params => &mut members.params,
                        Name::Result => &mut members.result,
                        Name::Error => &mut members.error,
                        Name::Other => continue,
                    };
                    *place = Some(value);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Name {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    #[serde(other)]
    Other,
}

fn read_error(error: Value, flaws: &mut Vec<String>) -> RpcError {
    let Value::Object(mut object) = error else {
        flaws.push("sends an error that is not an object".to_owned());
        return RpcError {
            code: None,
            message: match error {
                Value::String(text) => text,
                other => other.to_string(),
            },
            data: None,
        };
    };
    let code = object.get("code").and_then(Value::as_i64);
    if code.is_none() {
        flaws.push("sends an error whose code is not an integer".to_owned());
    }
    let message = match object.swap_remove("message") {
        Some(Value::String(text)) => text,
        other => {
            flaws.push("sends an error whose message is not a string".to_owned());
            other.map_or_else(String::new, |value| value.to_string())
        }
    };
    RpcError {
        code,
        message,
        data: object.swap_remove("data"),
    }
}

/// An id as the whole number that it is; `1.0` is 1 in JSON.
pub(super) fn whole(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| {
        let float = id
            .as_f64()
            .filter(|_| id.as_number().is_some_and(is_whole))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be whole and in range"
        )]
        let number = (0.0..9e15).contains(&float).then_some(float as u64);
        number
    })
}

fn is_content_length(line: &[u8]) -> bool {
    const NAME: &[u8] = b"content-length:";
    line.len() > NAME.len()
        && line[..NAME.len()].eq_ignore_ascii_case(NAME)
        && line[NAME.len()..]
            .trim_ascii()
            .iter()
            .all(u8::is_ascii_digit)
}

fn has_utf16_mark(line: &[u8]) -> bool {
    line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff")
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}

#[cfg(test)]
mod tests {
    use super::{Line, Message, MessageBody, Payload, read_line};
    use jelly_base::model::OwnLimit;
    use serde_json::{Value, json};

    fn one(line: &str) -> Message {
        match read_line(line.as_bytes()) {
            Line::Messages(mut messages) if messages.len() == 1 => messages.remove(0),
            other => panic!("one message expected of {line}, got {other:?}"),
        }
    }

    #[test]
    fn a_good_response_has_no_flaws() {
        let message = one(r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#);
        assert!(message.flaws.is_empty());
        assert_eq!(
            message.body,
            MessageBody::Response {
                id: json!(7),
                payload: Payload::Result(json!({"a":1}))
            }
        );
    }

    #[test]
    fn of_two_members_with_one_name_the_last_counts() {
        let message = one(r#"{"jsonrpc":"2.0","id":1,"result":{},"x":[{}],"id":2,"\u0069d":3}"#);
        assert!(matches!(message.body, MessageBody::Response { id, .. } if id == json!(3)));
    }

    #[test]
    fn a_null_result_is_a_result() {
        let message = one(r#"{"jsonrpc":"2.0","id":7,"result":null}"#);
        assert_eq!(
            message.body,
            MessageBody::Response {
                id: json!(7),
                payload: Payload::Result(Value::Null)
            }
        );
    }

    #[test]
    fn text_and_foreign_json_are_noise() {
        for line in [
            "listening on http://127.0.0.1:3000",
            r#"{"level":"info","msg":"ready"}"#,
            r#"{"level":30,"error":{"message":"x"}}"#,
            "[INFO] started",
            "{",
            "42",
            "[]",
            "[1]",
        ] {
            assert_eq!(read_line(line.as_bytes()), Line::Noise, "{line}");
        }
    }

    #[test]
    fn a_message_that_is_not_json_is_told_from_noise() {
        for (line, is_answer) in [
            (r#"{"jsonrpc":"2.0","id":3,"result":{"value":NaN}}"#, true),
            ("{'jsonrpc': '2.0', 'id': 3, 'result': None}", true),
            (r#"{"jsonrpc":"2.0","method":"x","params":{"#, false),
        ] {
            match read_line(line.as_bytes()) {
                Line::Malformed { answer, .. } => assert_eq!(answer, is_answer, "{line}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn lsp_headers_are_recognised_in_any_case() {
        assert_eq!(read_line(b"Content-Length: 151\r"), Line::ContentLength);
        assert_eq!(read_line(b"content-length:1"), Line::ContentLength);
        assert_eq!(read_line(b"Content-Length: many"), Line::Noise);
    }

    #[test]
    fn a_batch_is_its_messages() {
        let line = br#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"n"}]"#;
        assert!(matches!(read_line(line), Line::Messages(m) if m.len() == 2));
    }

    #[test]
    fn what_is_wrong_with_the_form_is_said() {
        let flaws = |line: &str| one(line).flaws.join("; ");
        assert!(flaws(r#"{"jsonrpc":"1.0","id":1,"result":{}}"#).contains("1.0"));
        assert!(flaws(r#"{"id":1,"result":{}}"#).contains("leaves out"));
        assert!(flaws(r#"{"jsonrpc":"2.0","id":1,"error":"boom"}"#).contains("not an object"));
        assert!(
            flaws(r#"{"jsonrpc":"2.0","id":1,"error":{"code":"E","message":"m"}}"#)
                .contains("integer")
        );
    }

    #[test]
    fn what_clients_throw_away_is_read_and_marked() {
        for line in [
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":2.0,"id":1,"result":{}}"#,
            r#"{"id":1,"result":{}}"#,
            "\u{FEFF}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
        ] {
            let message = one(line);
            assert!(message.unfit && !message.flaws.is_empty(), "{line}");
        }
        let message = one(r#"{"jsonrpc":"2.0","id":1,"error":"boom"}"#);
        assert!(!message.unfit && !message.flaws.is_empty());
    }

    #[test]
    fn half_of_a_surrogate_pair_leaves_an_answer_readable() {
        for (half, read) in [
            (r"a\ud83d", "a\u{FFFD}"),
            (r"\ude00b", "\u{FFFD}b"),
            (r"\ud83dx\ud83d\ude00", "\u{FFFD}x\u{1F600}"),
            (r"\ud83d\n\\ud83d", "\u{FFFD}\n\\ud83d"),
        ] {
            let message = one(&format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"t":"{half}"}}}}"#
            ));
            let MessageBody::Response {
                payload: Payload::Result(result),
                ..
            } = message.body
            else {
                panic!("no result");
            };
            assert_eq!(result["t"], read, "{half}");
            assert!(message.flaws[0].contains("surrogate") && !message.unfit);
        }
    }

    #[test]
    fn what_only_the_parser_can_not_read_is_told_from_what_is_no_json() {
        let of = |value: &str| {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{value}}}"#);
            match read_line(line.as_bytes()) {
                Line::Malformed { beyond, answer, .. } => (beyond, answer),
                other => panic!("{value}: {other:?}"),
            }
        };
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(of(&deep), (Some(OwnLimit::MessageDepth), true));
        let large = format!("[{}0]", "{},".repeat(4 << 20));
        assert_eq!(of(&large), (Some(OwnLimit::MessageValues), true));
        assert_eq!(of("NaN"), (None, true));
    }

    #[test]
    fn bytes_that_are_not_utf8_leave_an_answer_readable() {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"t\":\"a\xe9b\"}}";
        let Line::Messages(messages) = read_line(line) else {
            panic!("unreadable");
        };
        assert_eq!(messages[0].flaws, ["holds bytes that are not UTF-8"]);
    }

    #[test]
    fn utf16_is_named() {
        let line: Vec<u8> = [0xff, 0xfe]
            .into_iter()
            .chain(r#"{"jsonrpc":"2.0"#.bytes().flat_map(|b| [b, 0]))
            .collect();
        assert!(matches!(
            read_line(&line),
            Line::Malformed { answer: true, .. }
        ));
    }
}
