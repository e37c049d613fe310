//! One message by a request of its own, and what comes of it.
//!
//! Main type: [`Exchange`]. Whatever happens, the request behind the message is
//! settled: with the answer that came, or with what came in its place.

use super::body::{BodyKind, HttpBody, begins_like_json, kind_of_body};
use super::events::{DEFAULT_RETRY, RESUMPTIONS, hear};
use super::facts;
use super::headers::Outline;
use super::link::Link;
use super::listen::{self, Stream};
use super::lost_session::{self, Standing};
use super::post::Post;
use super::sse::SseParser;
use super::tunnel;
use crate::connection::Shared;
use crate::message::Understood;
use crate::{HttpEnd, MAX_LINE_BYTES, ReplyOutcome};
use jelly_base::model::{Era, HttpFacts, OwnLimit};
use reqwest::Response;
use reqwest::header::HeaderMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{sleep, timeout};

/// How long after a lost connection the exit of the process is waited for,
/// which would say more.
const EXIT_GRACE: Duration = Duration::from_secs(1);
/// So much of a refusal's body is read, more only of what may be a message, and
/// no longer than that.
pub(super) const REFUSAL_BYTES: usize = 256 * 1024;
pub(super) const REFUSAL_TAKES: Duration = Duration::from_secs(5);
/// What may come in a stream after the answer is waited for so long, so that
/// the connection can be used again.
pub(super) const TAIL_TAKES: Duration = Duration::from_secs(1);

/// One message under way.
pub(super) struct Exchange {
    pub shared: Arc<Shared>,
    pub link: Arc<Link>,
    /// The peer's number of the request that waits for an answer.
    pub id: Option<u64>,
    pub body: Vec<u8>,
    pub outline: Outline,
    /// Takes the stream of the deprecated transport, should that be what the
    /// server speaks.
    pub streams: UnboundedSender<Stream>,
}

impl Exchange {
    /// Sends the message and settles its request. True where the server took
    /// it.
    pub(super) async fn run(self) -> bool {
        let end = match self.send().await {
            Ok(()) => return true,
            Err(end) => *end,
        };
        let Some(id) = self.id else {
            let what = self.outline.method.as_deref().unwrap_or("an answer");
            let breach = match (&end.breach, end.facts.status) {
                (Some(breach), _) => Some(breach.clone()),
                (None, Some(status)) if !end.session_lost => {
                    Some(format!("refused `{what}` with {}", facts::in_words(status)))
                }
                // What is lost shows in the next request.
                (None, _) => None,
            };
            if let Some(breach) = breach {
                self.shared.peer().breach(&breach);
            }
            return false;
        };
        if end.connection_went()
            && let Some(process) = &self.link.process
            && timeout(EXIT_GRACE, process.wait()).await.is_ok()
        {
            // The driver sees the exit too, and tells everybody.
            return false;
        }
        let end = tunnel::explained(end, &self.link.post_url()).await;
        let mut end = facts::through(end, self.link.proxy.as_ref());
        let mut peer = self.shared.peer();
        if let Some(breach) = &end.breach {
            end.breach = Some(peer.breach(breach));
        }
        peer.settle_request(id, ReplyOutcome::Http(Box::new(end)));
        false
    }

    async fn send(&self) -> Result<(), Box<HttpEnd>> {
        loop {
            if let Some(end) = self.link.old_end() {
                return Err(Box::new(end));
            }
            let post = Post {
                link: &self.link,
                carrier: &*self.shared,
                body: &self.body,
                outline: &self.outline,
                carried: &HeaderMap::new(),
            };
            let response = post.response().await?;
            match self.take(response).await {
                Err(end) if post.may_be_old(&end) => {
                    match listen::open_old(&self.link, &*self.shared).await {
                        Some((stream, url)) => {
                            self.link.use_old_transport(url);
                            // The driver lives as long as its exchanges.
                            let _ = self.streams.send(stream);
                        }
                        None => return Err(end),
                    }
                }
                other => return other,
            }
        }
    }

    /// What the answer is, by its status and type.
    async fn take(&self, response: Response) -> Result<(), Box<HttpEnd>> {
        let head = self.link.head(&response);
        let status = response.status();
        let opens = self.outline.method.as_deref() == Some("initialize");
        if !status.is_success() {
            return Err(Box::new(self.refusal(response, head).await));
        }
        if opens {
            self.link.keep_session(&response);
        }
        let Some(id) = self.id else {
            // Whatever else stands there is of no interest.
            return Ok(());
        };
        if self.link.is_old_transport() {
            // The answer comes by the stream.
            return Ok(());
        }
        let kind = kind_of_body(response.headers());
        let body = self.body(response, &head)?;
        match kind {
            BodyKind::Events => self.events(body, head, id).await,
            BodyKind::Json => self.whole(body, head, id).await,
            BodyKind::Other(kind) => self.other(body, head, id, &kind).await,
        }
    }

    /// The body, if jelly can read it. It asks for none that is packed, which a
    /// server should heed and need not (RFC 9110, section 12.5.3).
    fn body(&self, response: Response, head: &HttpFacts) -> Result<HttpBody, Box<HttpEnd>> {
        HttpBody::of(response).map_err(|coding| {
            let coding = self.link.redactor.redact(&coding).into_owned();
            let message =
                format!("was answered with a body packed as `{coding}`, which jelly can't unpack");
            self.shared.peer().pass_over(
                OwnLimit::Encoding,
                &format!("packs an answer as `{coding}`, which jelly can't unpack"),
            );
            Box::new(facts::beyond(head.clone(), OwnLimit::Encoding, message))
        })
    }

    async fn refusal(&self, response: Response, mut head: HttpFacts) -> HttpEnd {
        let mut bytes = Vec::new();
        // As much as comes in time, and can be unpacked: the status says enough.
        if let Ok(mut body) = HttpBody::of(response) {
            let _ = timeout(REFUSAL_TAKES, body.read_while(&mut bytes, is_short)).await;
        }
        if !bytes.is_empty() {
            let mut peer = self.shared.peer();
            match self.outline.request_id() {
                Some(id) => peer.received_in_refusal(id, &bytes),
                None => peer.record_received(&bytes),
            }
        }
        head.body = facts::body(&bytes, &self.link.redactor);
        let mut end = facts::refused(head, &bytes);
        let opens = self.outline.method.as_deref() == Some("initialize");
        if self.id.is_some() && !opens && self.link.has_session() {
            let standing = lost_session::standing(&end, &bytes, self.outline.id.as_ref());
            end.session_lost = standing == Standing::Lost;
            end.session_in_doubt = standing == Standing::InDoubt;
        }
        end
    }

    /// A body that is one message.
    async fn whole(
        &self,
        mut body: HttpBody,
        mut head: HttpFacts,
        id: u64,
    ) -> Result<(), Box<HttpEnd>> {
        let mut bytes = Vec::new();
        let read = body.read_while(&mut bytes, |bytes| bytes.len() <= MAX_LINE_BYTES);
        let read = read.await;
        head.body = facts::body(&bytes, &self.link.redactor);
        match read {
            Ok(true) => {}
            Ok(false) => return Err(Box::new(self.too_long(head, "body"))),
            Err(error) => return Err(Box::new(facts::broke_off(error, head, &self.link.redactor))),
        }
        let understood = {
            let mut peer = self.shared.peer();
            let understood = peer.receive_whole(&bytes);
            if !peer.is_pending(id) {
                return Ok(());
            }
            understood
        };
        Err(facts::without_answer(head, &bytes, understood))
    }

    /// A body or an event that is longer than what jelly reads.
    fn too_long(&self, head: HttpFacts, what: &str) -> HttpEnd {
        let limit = OwnLimit::MessageSize;
        let text = format!("sent a longer {what} than the {MAX_LINE_BYTES} bytes that jelly reads");
        self.shared.peer().pass_over(limit, &text);
        let message = format!(
            "got a longer {what} than the {MAX_LINE_BYTES} bytes that jelly reads of a message"
        );
        facts::beyond(head, limit, message)
    }

    /// A body of another kind; some servers forget to say that it is JSON.
    async fn other(
        &self,
        mut body: HttpBody,
        mut head: HttpFacts,
        id: u64,
        kind: &str,
    ) -> Result<(), Box<HttpEnd>> {
        let mut bytes = Vec::new();
        let read = timeout(REFUSAL_TAKES, body.read_while(&mut bytes, is_short)).await;
        let complete = matches!(read, Ok(Ok(true)));
        let kind = self.link.redactor.redact(kind).into_owned();
        if bytes.len() > MAX_LINE_BYTES {
            head.body = facts::body(&bytes, &self.link.redactor);
            return Err(Box::new(self.too_long(head, "body")));
        }
        let mut understood = Understood::Nothing;
        if complete && begins_like_json(&bytes) {
            let mut peer = self.shared.peer();
            understood = peer.receive_whole(&bytes);
            if !peer.is_pending(id) {
                peer.breach(&format!("sends a message with the Content-Type {kind}"));
                return Ok(());
            }
        }
        bytes.truncate(REFUSAL_BYTES);
        head.body = facts::body(&bytes, &self.link.redactor);
        let empty = bytes.is_empty() && complete;
        Err(facts::of_another_kind(head, &kind, empty, understood))
    }

    /// A stream of events, of which one is the answer; taken up again where it
    /// broke off, if the server has said how.
    async fn events(&self, body: HttpBody, head: HttpFacts, id: u64) -> Result<(), Box<HttpEnd>> {
        let mut parser = SseParser::new(MAX_LINE_BYTES);
        let mut retry = DEFAULT_RETRY;
        let mut body = body;
        let mut head = head;
        let mut in_vain = 0;
        loop {
            let before = parser.last_event_id().map(str::to_owned);
            let end = self.stream(body, head, id, &mut parser, &mut retry).await;
            let Err(end) = end else {
                return Ok(());
            };
            let since = parser.last_event_id().map(str::to_owned);
            let modern = self
                .shared
                .peer()
                .version()
                .is_none_or(|v| v.era == Era::Modern)
                && self.outline.method.as_deref() != Some("initialize");
            in_vain = if since == before { in_vain + 1 } else { 0 };
            let hopeless = modern || end.breach.is_some() || end.own_limit.is_some();
            let (Some(since), false) = (since, hopeless) else {
                return Err(end);
            };
            if in_vain > RESUMPTIONS {
                return Err(end);
            }
            sleep(retry).await;
            let resumed = self
                .link
                .stream(self.link.endpoint(), Some(&since), &*self.shared);
            match resumed.await {
                Ok(resumed) if listen::is_stream(&resumed) => {
                    head = self.link.head(&resumed);
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
        id: u64,
        parser: &mut SseParser,
        retry: &mut Duration,
    ) -> Result<(), Box<HttpEnd>> {
        let mut last = Vec::new();
        loop {
            let chunk = body.chunk().await;
            let ended = match chunk {
                Ok(Some(chunk)) => {
                    let unread = hear(&self.shared, parser, &chunk, retry, &mut last);
                    if !self.shared.peer().is_pending(id) {
                        let rest = async {
                            while let Ok(Some(chunk)) = body.chunk().await {
                                hear(&self.shared, parser, &chunk, retry, &mut last);
                            }
                        };
                        // The stream should end now; if not, it is closed.
                        let _ = timeout(TAIL_TAKES, rest).await;
                        return Ok(());
                    }
                    if let Some(limit) = unread {
                        let message = "got an event that is beyond what jelly reads";
                        return Err(Box::new(facts::beyond(head, limit, message)));
                    }
                    continue;
                }
                Ok(None) => None,
                Err(error) => Some(error),
            };
            head.body = facts::body(&last, &self.link.redactor);
            let mid_event = parser.is_mid_event();
            let redactor = &self.link.redactor;
            return Err(Box::new(facts::stream_ended(
                ended, head, mid_event, redactor,
            )));
        }
    }
}

/// Whether to read on in what nobody asked for: what begins like a message may
/// be as long as one.
pub(super) fn is_short(bytes: &[u8]) -> bool {
    bytes.len() <= REFUSAL_BYTES || begins_like_json(bytes) && bytes.len() <= MAX_LINE_BYTES
}
