//! Several clients of the modern era before one server: their ids and tokens
//! become numbers of our own, and come back as they were.
//!
//! Main functions: [`outward`] and [`homeward`]. Pure; the rest of a line stays
//! as it is.

use super::arrival::PostedRequest;
use crate::message::{Kind, Line, NoticeParams, RequestParams, peek, place_in};
use std::ops::Range;

/// A request as the shared server gets it: under this number, which is its
/// progress token too.
pub fn outward(line: &[u8], number: u64) -> Option<Vec<u8>> {
    let Line::One(message) = peek(line) else {
        return None;
    };
    let number = number.to_string();
    let params: RequestParams<'_> = message.read_params();
    let token = params.meta.and_then(|meta| meta.progress_token);
    let mut changes = vec![(place_in(line, message.id()?)?, number.as_str())];
    if let Some(token) = token {
        changes.push((place_in(line, token.get())?, &number));
    }
    Some(spliced(line, changes))
}

/// Which request a line of the server belongs to.
#[derive(Debug, PartialEq, Eq)]
pub enum Belongs {
    /// It answers this one.
    Answers(u64),
    /// It was said for this one.
    Accompanies(u64),
    /// It ends this one, which gets no answer.
    Ends(u64),
    /// It is a message of the log, for whom is not said.
    Log,
    /// To nobody who asked.
    Nobody,
}

impl Belongs {
    pub fn of(line: &[u8]) -> Self {
        let Line::One(message) = peek(line) else {
            return Self::Nobody;
        };
        let number = |raw: &str| raw.parse::<u64>().ok();
        match message.kind() {
            Kind::Response => message
                .id()
                .and_then(number)
                .map_or(Self::Nobody, Self::Answers),
            Kind::Notification => {
                let params: NoticeParams<'_> = message.read_params();
                let ends = params.request_id.and_then(|id| number(id.get()));
                let subscription = params.meta.and_then(|meta| meta.subscription);
                let told = params.progress_token.or(subscription);
                let told = told.and_then(|number_of| number(number_of.get()));
                match (message.method(), ends, told) {
                    ("notifications/cancelled", Some(ends), _) => Self::Ends(ends),
                    (_, _, Some(number)) => Self::Accompanies(number),
                    ("notifications/message", None, None) => Self::Log,
                    _ => Self::Nobody,
                }
            }
            Kind::Request | Kind::Unknown => Self::Nobody,
        }
    }
}

/// A line of the server as the client gets it: under its own id and token.
pub fn homeward(line: &[u8], request: &PostedRequest) -> Option<Vec<u8>> {
    let Line::One(message) = peek(line) else {
        return None;
    };
    let mut changes = Vec::new();
    if message.kind() == Kind::Response {
        changes.push((place_in(line, message.id()?)?, request.id.as_str()));
        return Some(spliced(line, changes));
    }
    let params: NoticeParams<'_> = message.read_params();
    let subscription = params.meta.and_then(|meta| meta.subscription);
    for (raw, own) in [
        (params.progress_token, request.token.as_deref()),
        (params.request_id, Some(request.id.as_str())),
        (subscription, Some(request.id.as_str())),
    ] {
        if let (Some(raw), Some(own)) = (raw, own) {
            changes.push((place_in(line, raw.get())?, own));
        }
    }
    Some(spliced(line, changes))
}

/// The line with other bytes in places that do not overlap.
fn spliced(line: &[u8], mut changes: Vec<(Range<usize>, &str)>) -> Vec<u8> {
    changes.sort_by_key(|(range, _)| range.start);
    let mut out = Vec::with_capacity(line.len() + 64);
    let mut at = 0;
    for (range, text) in changes {
        out.extend_from_slice(line.get(at..range.start).unwrap_or_default());
        out.extend_from_slice(text.as_bytes());
        at = range.end;
    }
    out.extend_from_slice(line.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::{Belongs, homeward, outward};
    use crate::routing::PostedRequest;

    fn text(line: Option<Vec<u8>>) -> String {
        String::from_utf8(line.unwrap()).unwrap()
    }

    #[test]
    fn ids_and_tokens_are_changed_and_nothing_else_is() {
        let line = br#" {"params":{"x":1.10,"_meta":{"progressToken" : "t"}},"id":"a\u0062","method":"m"}"#;
        assert_eq!(
            text(outward(line, 7)),
            r#" {"params":{"x":1.10,"_meta":{"progressToken" : 7}},"id":7,"method":"m"}"#
        );
        let plain = br#"{"id":0,"method":"m"}"#;
        assert_eq!(text(outward(plain, 7)), r#"{"id":7,"method":"m"}"#);
    }

    #[test]
    fn what_the_server_says_comes_back_under_the_client_s_own_names() {
        let request = PostedRequest {
            id: r#""a\u0062""#.to_owned(),
            token: Some("\"t\"".to_owned()),
            logs: false,
            lists_tools: false,
        };
        for (line, belongs, wanted) in [
            (
                r#"{"result":{"id":7},"id":7}"#,
                Belongs::Answers(7),
                r#"{"result":{"id":7},"id":"a\u0062"}"#,
            ),
            (
                r#"{"method":"notifications/progress","params":{"progressToken":7,"progress":7}}"#,
                Belongs::Accompanies(7),
                r#"{"method":"notifications/progress","params":{"progressToken":"t","progress":7}}"#,
            ),
            (
                r#"{"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}"#,
                Belongs::Accompanies(7),
                r#"{"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"a\u0062"}}}"#,
            ),
            (
                r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#,
                Belongs::Ends(7),
                r#"{"method":"notifications/cancelled","params":{"requestId":"a\u0062"}}"#,
            ),
        ] {
            assert_eq!(Belongs::of(line.as_bytes()), belongs, "{line}");
            assert_eq!(text(homeward(line.as_bytes(), &request)), wanted);
        }
        for nobody in [
            r#"{"method":"notifications/tools/list_changed"}"#,
            r#"{"id":7,"method":"roots/list"}"#,
            r#"{"id":"7","result":{}}"#,
        ] {
            assert_eq!(Belongs::of(nobody.as_bytes()), Belongs::Nobody, "{nobody}");
        }
        let log = r#"{"method":"notifications/message","params":{"data":1}}"#;
        assert_eq!(Belongs::of(log.as_bytes()), Belongs::Log);
    }
}
