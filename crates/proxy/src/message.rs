//! What has to be known of a message to pass it on: looked at, never rebuilt.
//!
//! Main function: [`peek`]. Nothing is copied, and what is below the members of
//! a message is skipped.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::ops::Range;

/// The members of a message that tell where it belongs.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Peek<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// One line of the wire.
#[derive(Debug)]
pub enum Line<'a> {
    /// One message.
    One(Peek<'a>),
    /// A batch, as 2025-03-26 has it.
    Many(Vec<Peek<'a>>),
    /// JSON, and no message that is understood: with a member twice, as one.
    Other,
    /// No JSON.
    Noise,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Request,
    Notification,
    Response,
    /// It is no message of JSON-RPC.
    Unknown,
}

/// Where a part stands in the line that it was read from.
#[must_use]
pub fn place_in(line: &[u8], part: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    (line.get(start..end)? == part.as_bytes()).then_some(start..end)
}

/// Looks at a line.
#[must_use]
pub fn peek(line: &[u8]) -> Line<'_> {
    let is_json = || serde_json::from_slice::<IgnoredAny>(line).is_ok();
    match line.trim_ascii_start().first() {
        Some(b'{') => match serde_json::from_slice(line) {
            Ok(one) => Line::One(one),
            Err(_) if is_json() => Line::Other,
            Err(_) => Line::Noise,
        },
        Some(b'[') => match serde_json::from_slice(line) {
            Ok(many) => Line::Many(many),
            Err(_) if is_json() => Line::Other,
            Err(_) => Line::Noise,
        },
        Some(_) | None => Line::Noise,
    }
}

/// Whether a line is JSON that is no message, as some write their log.
#[must_use]
pub fn is_other_json(line: &[u8]) -> bool {
    match peek(line) {
        Line::One(message) => message.kind() == Kind::Unknown,
        Line::Other => true,
        Line::Many(_) | Line::Noise => false,
    }
}

/// The messages of a batch, each as it is written.
#[must_use]
pub fn parts_of(batch: &[u8]) -> Vec<&[u8]> {
    let parts: Vec<&RawValue> = serde_json::from_slice(batch).unwrap_or_default();
    parts
        .into_iter()
        .map(|part| part.get().as_bytes())
        .collect()
}

/// What is left of a batch without some of its messages, each as it was written;
/// `keeps` has a word for each. Nothing where none is left.
#[must_use]
pub fn batch_of(line: &[u8], keeps: &[bool]) -> Option<Vec<u8>> {
    let messages: Vec<&RawValue> = serde_json::from_slice(line).ok()?;
    let kept = messages.iter().zip(keeps).filter(|(_, keeps)| **keeps);
    let kept: Vec<&str> = kept.map(|(message, _)| message.get()).collect();
    (!kept.is_empty()).then(|| format!("[{}]", kept.join(",")).into_bytes())
}

/// A line, be it a batch, without the messages for which this does not hold;
/// nothing where none is left.
#[must_use]
pub fn line_of(line: &[u8], keeps: impl Fn(&Peek<'_>) -> bool) -> Option<Vec<u8>> {
    match peek(line) {
        Line::One(message) => keeps(&message).then(|| line.to_vec()),
        Line::Many(messages) => {
            let keeps: Vec<bool> = messages.iter().map(keeps).collect();
            match keeps.iter().all(|keeps| *keeps) {
                true => Some(line.to_vec()),
                false => batch_of(line, &keeps),
            }
        }
        Line::Other | Line::Noise => Some(line.to_vec()),
    }
}

impl<'a> Peek<'a> {
    #[must_use]
    pub fn kind(&self) -> Kind {
        match (self.method, self.id()) {
            (Some(_), Some(_)) => Kind::Request,
            (Some(_), None) => Kind::Notification,
            (None, Some(_)) if self.result.is_some() || self.error.is_some() => Kind::Response,
            (None, _) => Kind::Unknown,
        }
    }

    /// As it is written; null is none.
    #[must_use]
    pub fn id(&self) -> Option<&'a str> {
        self.id.map(RawValue::get).filter(|id| *id != "null")
    }

    /// Its name; of one that is written with escapes, something that is nobody's.
    #[must_use]
    pub fn method(&self) -> &'a str {
        self.method
            .map(RawValue::get)
            .and_then(|raw| raw.strip_prefix('"')?.strip_suffix('"'))
            .unwrap_or_default()
    }

    #[must_use]
    pub fn params(&self) -> Option<&'a str> {
        self.params.map(RawValue::get)
    }

    #[must_use]
    pub fn result(&self) -> Option<&'a str> {
        self.result.map(RawValue::get)
    }

    #[must_use]
    pub fn error(&self) -> Option<&'a str> {
        self.error.map(RawValue::get)
    }

    /// A part of the params; the default where it can't be read.
    #[must_use]
    pub fn read_params<T: Deserialize<'a> + Default>(&self) -> T {
        self.params()
            .and_then(|params| serde_json::from_str(params).ok())
            .unwrap_or_default()
    }
}

/// What a request's params say of the request itself.
#[derive(Debug, Default, Deserialize)]
pub struct RequestParams<'a> {
    /// Of a tool or a prompt.
    #[serde(default)]
    pub name: Option<String>,
    #[serde(borrow, default, rename = "_meta")]
    pub meta: Option<RequestMeta<'a>>,
}

/// The metadata of a request.
#[derive(Debug, Default, Deserialize)]
pub struct RequestMeta<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    pub progress_token: Option<&'a RawValue>,
    /// Every request of a modern client has it.
    #[serde(default, rename = "io.modelcontextprotocol/protocolVersion")]
    pub protocol_version: Option<String>,
    /// So has this.
    #[serde(default, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub client_capabilities: Option<IgnoredAny>,
    /// Of a modern client that wants messages of the log.
    #[serde(default, rename = "io.modelcontextprotocol/logLevel")]
    pub log_level: Option<IgnoredAny>,
    /// The client's span, as it is written.
    #[serde(borrow, default)]
    pub traceparent: Option<&'a RawValue>,
}

/// What notifications say of what they are about.
#[derive(Debug, Default, Deserialize)]
pub struct NoticeParams<'a> {
    #[serde(borrow, default, rename = "requestId")]
    pub request_id: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "progressToken")]
    pub progress_token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    pub meta: Option<NoticeMeta<'a>>,
}

/// The metadata of a notification.
#[derive(Debug, Default, Deserialize)]
pub struct NoticeMeta<'a> {
    /// The id of the request for a subscription, in the modern era.
    #[serde(borrow, default, rename = "io.modelcontextprotocol/subscriptionId")]
    pub subscription: Option<&'a RawValue>,
}

/// What a subscription is for.
#[derive(Debug, Default, Deserialize)]
pub struct SubscriptionParams {
    #[serde(default)]
    pub uri: String,
}

#[cfg(test)]
mod tests {
    use super::{Kind, Line, Peek, RequestParams, line_of, peek};

    #[test]
    fn messages_of_a_batch_are_left_out_and_the_others_stay_as_they_are() {
        let batch = br#"[ {"id":1.0,"method":"a"}, {"method":"b"},{"id":2,"method":"c"} ]"#;
        let left = |keeps: &dyn Fn(&Peek<'_>) -> bool| {
            line_of(batch, keeps).map(|line| String::from_utf8(line).unwrap())
        };
        assert_eq!(left(&|_| true).unwrap().as_bytes(), batch);
        let without = left(&|message| message.id() != Some("2")).unwrap();
        assert_eq!(without, r#"[{"id":1.0,"method":"a"},{"method":"b"}]"#);
        assert_eq!(left(&|_| false), None);
        assert_eq!(line_of(b"noise", |_| false).unwrap(), b"noise");
    }

    #[test]
    fn a_line_is_known_by_its_members_alone() {
        for (line, kind) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#, Kind::Request),
            (r#" {"id":"x","method":"a","params":{}} "#, Kind::Request),
            (r#"{"method":"a"}"#, Kind::Notification),
            (r#"{"id":null,"method":"a"}"#, Kind::Notification),
            (r#"{"id":1,"result":{}}"#, Kind::Response),
            (r#"{"id":1,"error":{}}"#, Kind::Response),
            ("{}", Kind::Unknown),
            (r#"{"id":1}"#, Kind::Unknown),
        ] {
            let Line::One(seen) = peek(line.as_bytes()) else {
                panic!("{line} is one message");
            };
            assert_eq!(seen.kind(), kind, "{line}");
        }
    }

    #[test]
    fn what_is_no_message_is_told_from_what_is_no_json() {
        assert!(
            matches!(peek(br#"[{"id":1,"method":"a"},{"method":"b"}]"#), Line::Many(m) if m.len() == 2)
        );
        for other in [r#"{"id":1,"id":2,"method":"a"}"#, "[1]"] {
            assert!(matches!(peek(other.as_bytes()), Line::Other), "{other}");
        }
        for noise in ["", "Starting …", "[INFO] up", "{oops", "7", "\u{feff}{}"] {
            assert!(matches!(peek(noise.as_bytes()), Line::Noise), "{noise}");
        }
    }

    #[test]
    fn ids_and_tokens_are_kept_as_they_are_written() {
        let line = br#"{"id":1.50,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"\u0061"}}}"#;
        let Line::One(seen) = peek(line) else {
            panic!("one message");
        };
        assert_eq!((seen.id(), seen.method()), (Some("1.50"), "tools/call"));
        let params: RequestParams<'_> = seen.read_params();
        let token = params.meta.and_then(|meta| meta.progress_token).unwrap();
        assert_eq!(token.get(), "\"\\u0061\"");
    }
}
