//! One message that is passed on as it is, and what comes of it.
//!
//! Main type: [`RawExchange`]. Messages of the server are passed on as they
//! come; the one that answers is known by its id alone.

use super::body::{BodyKind, HttpBody, begins_like_json, kind_of_body};
use super::events::{DEFAULT_RETRY, RESUMPTIONS, pause_of};
use super::exchange::{REFUSAL_TAKES, TAIL_TAKES, is_short};
use super::facts;
use super::listen::{self, Stream, is_stream};
use super::lost_session::{self, Standing};
use super::post::Post;
use super::raw_http::{RawMessage, RawNews, RawSession, RawState};
use super::relearn;
use super::sse::{SseItem, SseParser};
use super::tunnel;
use crate::message::Understood;
use crate::{HttpEnd, MAX_LINE_BYTES};
use jelly_base::mcp::{INITIALIZE, ListKind, code};
use jelly_base::model::{HttpFacts, OwnLimit};
use reqwest::Response;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Sender;
use tokio::time::{sleep, timeout};

/// See the module.
pub(super) struct RawExchange {
    pub state: Arc<RawState>,
    pub message: RawMessage,
    pub news: Sender<RawNews>,
}

/// What came of one attempt.
enum Taken {
    /// All that comes of it has come.
    Whole,
    /// The server misses headers, or has others in mind; its answer.
    Misfit(Vec<u8>),
}

#[derive(Default, Deserialize)]
struct RefusalCode {
    #[serde(default)]
    code: Option<i64>,
}

/// The members of a message that say what it answers.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RawSeen<'a> {
    id: Value,
    method: Option<IgnoredAny>,
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl RawSeen<'_> {
    pub(super) fn answers(&self, id: Option<&Value>) -> bool {
        let is_answer = self.result.is_some() || self.error.is_some();
        self.method.is_none() && is_answer && id == Some(&self.id)
    }
}

/// Statuses that say more than any error in their body.
fn is_telling(status: u16) -> bool {
    matches!(status, 300..=399 | 401 | 403 | 407 | 429 | 502..=504)
}

impl RawExchange {
    /// Sends the message, and tells what comes. True where the server took it.
    pub(super) async fn run(self) -> bool {
        match self.send().await {
            Ok(()) => true,
            Err(end) => {
                let link = &self.state.link;
                let end = tunnel::explained(*end, &link.post_url()).await;
                let end = facts::through(end, link.proxy.as_ref());
                let failed = RawNews::Failed {
                    line: self.message.line,
                    end: Box::new(end),
                };
                // Where nobody listens any more, nobody waits for it.
                let _ = self.news.send(failed).await;
                false
            }
        }
    }

    async fn send(&self) -> Result<(), Box<HttpEnd>> {
        let link = &self.state.link;
        let mut old = None;
        let mut afresh = false;
        let mut may_look_again = self.is_modern_call();
        loop {
            if let Some(end) = link.old_end() {
                return Err(Box::new(end));
            }
            let session: RawSession = link.session();
            let post = Post {
                link,
                carrier: &*self.state,
                body: &self.message.line,
                outline: &self.message.outline,
                carried: &self.message.carried,
            };
            let response = post.response().await?;
            match self.take(response, may_look_again).await {
                Err(end) if post.may_be_old(&end) => {
                    match listen::open_old(link, &*self.state).await {
                        Some((stream, url)) => {
                            link.use_old_transport(url);
                            old = Some(stream);
                        }
                        None => return Err(end),
                    }
                }
                // Another one has been opened meanwhile.
                Err(end) if end.session_lost && !afresh && link.session() != session => {
                    afresh = true;
                }
                // It was refused before it was looked at, so that it may go again.
                Ok(Taken::Misfit(refusal)) => {
                    may_look_again = false;
                    if !relearn::headers_have_changed(&self.state, &self.message.outline).await {
                        self.tell(&refusal).await;
                        return Ok(());
                    }
                }
                Ok(Taken::Whole) => {
                    if let Some(stream) = old {
                        self.hear_old(stream).await;
                    }
                    return Ok(());
                }
                Err(end) => return Err(end),
            }
        }
    }

    /// A call, whose arguments may travel as headers.
    fn is_modern_call(&self) -> bool {
        let outline = &self.message.outline;
        outline.own_version().is_some() && outline.method.as_deref() == Some("tools/call")
    }

    async fn take(&self, response: Response, may_look_again: bool) -> Result<Taken, Box<HttpEnd>> {
        let link = &self.state.link;
        let head = link.head(&response);
        if !response.status().is_success() {
            return self.refused(response, head, may_look_again).await;
        }
        self.taken(response, head).await.map(|()| Taken::Whole)
    }

    async fn taken(&self, response: Response, head: HttpFacts) -> Result<(), Box<HttpEnd>> {
        let link = &self.state.link;
        if self.opens() {
            link.keep_session(&response);
        }
        let waits = self.message.id().is_some() || self.message.is_batch();
        if !waits || link.is_old_transport() {
            return Ok(());
        }
        let kind = kind_of_body(response.headers());
        let body = self.body(response, &head)?;
        match kind {
            BodyKind::Events => self.events(body, head).await,
            BodyKind::Json => self.whole(body, head).await,
            BodyKind::Other(kind) => self.other(body, head, &kind).await,
        }
    }

    fn opens(&self) -> bool {
        self.message.outline.method.as_deref() == Some(INITIALIZE)
    }

    fn body(&self, response: Response, head: &HttpFacts) -> Result<HttpBody, Box<HttpEnd>> {
        HttpBody::of(response).map_err(|coding| {
            let coding = self.state.link.redactor.redact(&coding).into_owned();
            let message =
                format!("was answered with a body packed as `{coding}`, which jelly can't unpack");
            Box::new(facts::beyond(head.clone(), OwnLimit::Encoding, message))
        })
    }

    /// A status that says no; a JSON-RPC error with it is an answer all the
    /// same, under the id of the request if it names none.
    async fn refused(
        &self,
        response: Response,
        mut head: HttpFacts,
        may_look_again: bool,
    ) -> Result<Taken, Box<HttpEnd>> {
        let link = &self.state.link;
        let mut bytes = Vec::new();
        // As much as comes in time, and can be unpacked: the status says enough.
        if let Ok(mut body) = HttpBody::of(response) {
            let _ = timeout(REFUSAL_TAKES, body.read_while(&mut bytes, is_short)).await;
        }
        head.body = facts::body(&bytes, &link.redactor);
        let status = head.status.unwrap_or_default();
        let mut end = facts::refused(head, &bytes);
        let id = self.message.id();
        if id.is_some() && !self.opens() && link.has_session() {
            let standing = lost_session::standing(&end, &bytes, id);
            end.session_lost = standing == Standing::Lost;
            end.session_in_doubt = standing == Standing::InDoubt;
        }
        let seen: RawSeen<'_> = serde_json::from_slice(&bytes).unwrap_or_default();
        let (Some(id), Some(error), false, false) =
            (id, seen.error, end.session_lost, is_telling(status))
        else {
            return Err(Box::new(end));
        };
        let told = match seen.answers(Some(id)) {
            true => bytes.clone(),
            false => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}").into_bytes(),
        };
        let code: RefusalCode = serde_json::from_str(error.get()).unwrap_or_default();
        if may_look_again && code.code == Some(code::HEADER_MISMATCH) {
            return Ok(Taken::Misfit(told));
        }
        self.tell(&told).await;
        Ok(Taken::Whole)
    }

    /// Passes a message on; whether it is the answer.
    async fn pass(&self, bytes: &[u8]) -> (Understood, bool) {
        let batch: bool = begins_like_batch(bytes);
        let seen: RawSeen<'_> = match serde_json::from_slice(bytes) {
            Ok(seen) => seen,
            Err(_) if batch && serde_json::from_slice::<IgnoredAny>(bytes).is_ok() => {
                self.tell(bytes).await;
                return (Understood::Message, self.message.is_batch());
            }
            Err(_) => return (Understood::Nothing, false),
        };
        let answers = seen.answers(self.message.id());
        if answers && let Some(result) = seen.result {
            self.learn(result.get());
        }
        self.tell(bytes).await;
        (Understood::Message, answers)
    }

    async fn tell(&self, bytes: &[u8]) {
        // Where nobody listens any more, nobody waits for it.
        let _ = self.news.send(RawNews::Line(in_one_line(bytes))).await;
    }

    /// What the answer says of what goes with later messages.
    fn learn(&self, result: &str) {
        let method = self.message.outline.method.as_deref().unwrap_or_default();
        let modern = self.message.outline.own_version().is_some();
        if method == INITIALIZE {
            let result: Value = serde_json::from_str(result).unwrap_or_default();
            if let Some(version) = result.get("protocolVersion").and_then(Value::as_str) {
                self.state.settle(version);
            }
        } else if modern && method == ListKind::Tools.method() {
            self.state.learn(result);
        }
    }

    async fn whole(&self, mut body: HttpBody, mut head: HttpFacts) -> Result<(), Box<HttpEnd>> {
        let redactor = &self.state.link.redactor;
        let mut bytes = Vec::new();
        let read = body.read_while(&mut bytes, |bytes| bytes.len() <= MAX_LINE_BYTES);
        let read = read.await;
        head.body = facts::body(&bytes, redactor);
        match read {
            Ok(true) => {}
            Ok(false) => return Err(Box::new(too_long(head, "body"))),
            Err(error) => return Err(Box::new(facts::broke_off(error, head, redactor))),
        }
        match self.pass(&bytes).await {
            (_, true) => Ok(()),
            (understood, false) => Err(facts::without_answer(head, &bytes, understood)),
        }
    }

    /// A body of another kind; some servers forget to say that it is JSON.
    async fn other(
        &self,
        mut body: HttpBody,
        mut head: HttpFacts,
        kind: &str,
    ) -> Result<(), Box<HttpEnd>> {
        let redactor = &self.state.link.redactor;
        let mut bytes = Vec::new();
        let read = timeout(REFUSAL_TAKES, body.read_while(&mut bytes, is_short)).await;
        let complete = matches!(read, Ok(Ok(true)));
        let mut understood = Understood::Nothing;
        if complete && begins_like_json(&bytes) {
            let answered;
            (understood, answered) = self.pass(&bytes).await;
            if answered {
                return Ok(());
            }
        }
        head.body = facts::body(&bytes, redactor);
        let kind = redactor.redact(kind).into_owned();
        let empty = bytes.is_empty() && complete;
        Err(facts::of_another_kind(head, &kind, empty, understood))
    }

    /// A stream of events, of which one is the answer; taken up again where it
    /// broke off, if the server has said how. There is none of that in the modern
    /// era.
    async fn events(&self, mut body: HttpBody, mut head: HttpFacts) -> Result<(), Box<HttpEnd>> {
        let link = &self.state.link;
        let modern = self.message.outline.own_version().is_some();
        let mut parser = SseParser::new(MAX_LINE_BYTES);
        let mut retry = DEFAULT_RETRY;
        let mut in_vain = 0;
        loop {
            let before = parser.last_event_id().map(str::to_owned);
            let Err(end) = self.stream(body, head, &mut parser, &mut retry).await else {
                return Ok(());
            };
            let since = parser.last_event_id().map(str::to_owned);
            in_vain = if since == before { in_vain + 1 } else { 0 };
            let (Some(since), false) = (since, modern || in_vain > RESUMPTIONS) else {
                return Err(end);
            };
            if end.breach.is_some() || end.own_limit.is_some() {
                return Err(end);
            }
            sleep(retry).await;
            match link
                .stream(link.endpoint(), Some(&since), &*self.state)
                .await
            {
                Ok(resumed) if is_stream(&resumed) => {
                    head = link.head(&resumed);
                    body = self.body(resumed, &head)?;
                    parser.restart();
                }
                // What broke off stays the reason.
                Ok(_) | Err(_) => return Err(end),
            }
        }
    }

    /// One connection's worth of a stream. Ok once the answer came.
    async fn stream(
        &self,
        mut body: HttpBody,
        mut head: HttpFacts,
        parser: &mut SseParser,
        retry: &mut Duration,
    ) -> Result<(), Box<HttpEnd>> {
        let redactor = &self.state.link.redactor;
        loop {
            let ended = match body.chunk().await {
                Ok(Some(chunk)) => {
                    let heard = Heard::of(parser, &chunk, retry);
                    let mut answered = false;
                    for message in &heard.messages {
                        let (understood, answers) = self.pass(message).await;
                        answered |= answers;
                        if matches!(understood, Understood::Nothing) {
                            head.body = facts::body(message, redactor);
                        }
                    }
                    if answered {
                        // The stream should end now; if not, it is closed.
                        let _ = timeout(TAIL_TAKES, self.rest(body, parser, retry)).await;
                        return Ok(());
                    }
                    if heard.too_long {
                        return Err(Box::new(too_long(head, "event")));
                    }
                    continue;
                }
                Ok(None) if self.message.is_batch() => return Ok(()),
                Ok(None) => None,
                Err(error) => Some(error),
            };
            let mid_event = parser.is_mid_event();
            let end = facts::stream_ended(ended, head, mid_event, redactor);
            return Err(Box::new(end));
        }
    }

    async fn rest(&self, mut body: HttpBody, parser: &mut SseParser, retry: &mut Duration) {
        while let Ok(Some(chunk)) = body.chunk().await {
            for message in Heard::of(parser, &chunk, retry).messages {
                self.pass(&message).await;
            }
        }
    }

    /// Hears the stream of the deprecated transport to its end, which is that of
    /// every request.
    async fn hear_old(&self, stream: Stream) {
        let Stream {
            mut body,
            head,
            mut parser,
        } = stream;
        let mut retry = DEFAULT_RETRY;
        let error = loop {
            match body.chunk().await {
                Ok(Some(chunk)) => {
                    for message in Heard::of(&mut parser, &chunk, &mut retry).messages {
                        self.pass(&message).await;
                    }
                }
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        let link = &self.state.link;
        let end = listen::old_end(error, head, link);
        link.end_old_transport(end.clone());
        let _ = self.news.send(RawNews::Closed(Box::new(end))).await;
    }
}

/// Listens to a legacy server that has something to say by itself, until it has
/// nothing more. One that offers no such stream need not.
pub(super) async fn listen(state: Arc<RawState>, news: Sender<RawNews>) {
    let link = &state.link;
    let mut parser = SseParser::new(MAX_LINE_BYTES);
    let mut retry = DEFAULT_RETRY;
    let mut in_vain = 0;
    while in_vain <= RESUMPTIONS {
        in_vain += 1;
        let since = parser.last_event_id().map(str::to_owned);
        match link
            .stream(link.endpoint(), since.as_deref(), &*state)
            .await
        {
            Ok(response) if is_stream(&response) => {
                parser.restart();
                let Ok(mut body) = HttpBody::of(response) else {
                    return;
                };
                while let Ok(Some(chunk)) = body.chunk().await {
                    in_vain = 0;
                    for message in Heard::of(&mut parser, &chunk, &mut retry).messages {
                        let line = in_one_line(&message);
                        if news.send(RawNews::Line(line)).await.is_err() {
                            return;
                        }
                    }
                }
            }
            Ok(_) => return,
            // What is wrong shows in the next request.
            Err(_) => {}
        }
        sleep(retry).await;
    }
}

/// What stands in a chunk of a stream.
#[derive(Default)]
struct Heard {
    messages: Vec<Vec<u8>>,
    too_long: bool,
}

impl Heard {
    fn of(parser: &mut SseParser, chunk: &[u8], retry: &mut Duration) -> Self {
        let mut heard = Self::default();
        parser.push(chunk, &mut |item| match item {
            SseItem::Event {
                name: "message",
                data,
            } if !data.trim_ascii().is_empty() => heard.messages.push(data.to_vec()),
            SseItem::Event { .. } => {}
            SseItem::Retry(pause) => *retry = pause_of(pause),
            SseItem::TooLong(_) => heard.too_long = true,
        });
        heard
    }
}

fn too_long(head: HttpFacts, what: &str) -> HttpEnd {
    let message = format!(
        "got a longer {what} than the {MAX_LINE_BYTES} bytes that jelly reads of a message"
    );
    facts::beyond(head, OwnLimit::MessageSize, message)
}

fn begins_like_batch(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"[")
}

/// JSON has line feeds between its tokens alone.
fn in_one_line(bytes: &[u8]) -> Vec<u8> {
    let bytes = bytes.trim_ascii();
    let blank = |byte: &u8| match byte {
        b'\n' | b'\r' => b' ',
        other => *other,
    };
    bytes.iter().map(blank).collect()
}

#[cfg(test)]
mod tests {
    use super::{RawSeen, in_one_line};
    use serde_json::json;

    #[test]
    fn a_body_of_several_lines_becomes_one() {
        assert_eq!(in_one_line(b"{\r\n \"a\": 1\n}\n"), b"{   \"a\": 1 }");
    }

    #[test]
    fn only_an_answer_with_the_same_id_answers() {
        let answers = |line: &str| {
            let seen: RawSeen<'_> = serde_json::from_str(line).unwrap();
            seen.answers(Some(&json!("a")))
        };
        assert!(answers(r#"{"id":"a","result":{}}"#));
        assert!(answers(r#"{"id":"\u0061","error":{}}"#));
        for other in [
            r#"{"id":"b","result":{}}"#,
            r#"{"id":null,"error":{}}"#,
            r#"{"id":"a","method":"roots/list"}"#,
            r#"{"id":"a"}"#,
        ] {
            assert!(!answers(other), "{other}");
        }
    }
}
