//! One message by a request of its own, and what comes of it.
//!
//! Main type: [`Exchange`]. Whatever happens, the request behind the message is
//! settled: with the answer that came, or with what came in its place.

use super::auth::Tries;
use super::body::{BodyError, BodyKind, HttpBody, begins_like_json, kind_of_body};
use super::client::{bare, same_origin};
use super::events::{DEFAULT_RETRY, RESUMPTIONS, hear};
use super::facts;
use super::headers::Outline;
use super::link::Link;
use super::listen::{self, Stream};
use super::lost_session::{self, Standing};
use super::sse::SseParser;
use crate::connection::Shared;
use crate::era::is_modern_error;
use crate::peer::Understood;
use crate::{HttpEnd, MAX_LINE_BYTES, ReplyOutcome};
use jelly_base::mcp::{Method, Notification};
use jelly_base::model::{Era, HttpFacts, OwnLimit};
use reqwest::header::LOCATION;
use reqwest::{Response, Url};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{sleep, timeout};

/// A server of ours that is still starting is asked again after this pause at
/// first, and after longer ones later.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// How long after a lost connection the exit of the process is waited for,
/// which would say more.
const EXIT_GRACE: Duration = Duration::from_secs(1);
/// So many redirects are followed.
const REDIRECTS: usize = 5;
/// So much of a refusal's body is read, more only of what may be a message, and
/// no longer than that.
pub(super) const REFUSAL_BYTES: usize = 256 * 1024;
const REFUSAL_TAKES: Duration = Duration::from_secs(5);
/// What may come in a stream after the answer is waited for so long, so that
/// the connection can be used again.
const TAIL_TAKES: Duration = Duration::from_secs(1);

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
        if !end.answered()
            && let Some(process) = &self.link.process
            && timeout(EXIT_GRACE, process.wait()).await.is_ok()
        {
            // The driver sees the exit too, and tells everybody.
            return false;
        }
        let mut peer = self.shared.peer();
        let mut end = facts::through(end, self.link.proxy.as_deref());
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
            let response = self.response().await?;
            match self.take(response).await {
                Err(end) if self.may_be_old(&end) => {
                    match listen::open_old(&self.link, &self.shared).await {
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

    /// Whether the refusal may be one of a server that knows only the
    /// deprecated HTTP+SSE transport (2026-07-28, Streamable HTTP, "HTTP+SSE
    /// Transport").
    fn may_be_old(&self, end: &HttpEnd) -> bool {
        let modern = end.rpc_error.as_ref().is_some_and(is_modern_error);
        self.outline.method.as_deref() == Some("initialize")
            && !self.link.is_old_transport()
            && matches!(end.facts.status, Some(400 | 404 | 405))
            && !modern
    }

    /// The head of an answer; redirects are followed as far as they may be, and
    /// a server that is still starting is asked again.
    async fn response(&self) -> Result<Response, Box<HttpEnd>> {
        let mut url = self.link.post_url();
        let mut pause = FIRST_PAUSE;
        let mut redirects = 0;
        let mut tries = Tries::default();
        let mut lost = false;
        loop {
            let bearer = self.link.bearer();
            let request = self.link.post(
                url.clone(),
                &self.body,
                &self.outline,
                bearer.as_ref(),
                &self.shared,
            );
            let trouble = match request.send().await {
                Ok(response) if self.is_starting(&response) => {
                    let head = self.head(&response);
                    let words = facts::in_words(response.status().as_u16());
                    facts::useless(head, format!("was answered with {words}"))
                }
                Ok(response) => {
                    self.link.set_ready(&self.shared);
                    let bearer = bearer.as_ref();
                    match self.link.authorize(&response, bearer, &mut tries).await {
                        Some(Ok(())) => continue,
                        Some(Err(error)) => {
                            let head = self.head(&response);
                            return Err(Box::new(facts::unauthorized(head, &error)));
                        }
                        None => {}
                    }
                    if !response.status().is_redirection() {
                        if redirects > 0 {
                            self.link.keep_redirect(&url);
                        }
                        return Ok(response);
                    }
                    url = self.redirected(&url, &response, redirects)?;
                    redirects += 1;
                    continue;
                }
                Err(error) if !lost && self.may_be_sent_again(&error) => {
                    lost = true;
                    continue;
                }
                Err(error) => facts::lost(error, None, &self.link.redactor),
            };
            if self.link.process.is_none() || self.link.is_ready() {
                return Err(Box::new(trouble));
            }
            let mut facts = trouble.facts;
            facts.text.get_or_insert(trouble.message);
            self.shared.note_trouble(Some(facts));
            sleep(pause).await;
            pause = (pause * 3 / 2).min(LONGEST_PAUSE);
        }
    }

    /// Whether a message whose connection was lost may be sent once more: an idle connection may
    /// have been closed by the server in that moment. A call of a tool may have had its effect,
    /// and so may what no revision knows.
    fn may_be_sent_again(&self, error: &reqwest::Error) -> bool {
        let method = self.outline.method.as_deref().unwrap_or_default();
        let only_asks = method != "tools/call"
            && (Method::find(method).is_some() || method.starts_with(Notification::PREFIX));
        only_asks && self.link.is_ready() && !error.is_connect() && !error.is_builder()
    }

    /// Whether the answer is one of a gateway before a process of ours that is
    /// not there yet.
    fn is_starting(&self, response: &Response) -> bool {
        self.link.process.is_some()
            && !self.link.is_ready()
            && matches!(response.status().as_u16(), 502..=504)
    }

    fn head(&self, response: &Response) -> HttpFacts {
        facts::of_head(response.status(), response.headers(), &self.link.redactor)
    }

    /// Where a redirect leads, if it may be followed: the same request again,
    /// and to the same origin, since no header may leave it.
    fn redirected(
        &self,
        from: &Url,
        response: &Response,
        so_far: usize,
    ) -> Result<Url, Box<HttpEnd>> {
        let mut head = self.head(response);
        let words = facts::in_words(response.status().as_u16());
        let location = response
            .headers()
            .get(LOCATION)
            .and_then(|l| l.to_str().ok());
        let Some(Ok(to)) = location.map(|location| from.join(location)) else {
            let message = format!("was answered with {words}, which leads nowhere");
            return Err(Box::new(facts::useless(head, message)));
        };
        let shown = bare(&to, &self.link.redactor);
        let location = Value::from(shown.as_str());
        head.headers.insert("location".to_owned(), location);
        let why = if !same_origin(from, &to) {
            "jelly follows no redirect to another origin"
        } else if !matches!(response.status().as_u16(), 307 | 308) {
            "jelly follows only those that keep the request as it is (307, 308)"
        } else if so_far >= REDIRECTS {
            "jelly follows no more than five in a row"
        } else {
            return Ok(to);
        };
        let message = format!("was redirected with {words} to {shown}; {why}");
        Err(Box::new(facts::useless(head, message)))
    }

    /// What the answer is, by its status and type.
    async fn take(&self, response: Response) -> Result<(), Box<HttpEnd>> {
        let head = self.head(&response);
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
            let message = format!(
                "was answered with a body packed as `{coding}`, which was not asked for, and \
                 which jelly can't unpack"
            );
            self.shared.peer().pass_over(
                OwnLimit::Encoding,
                &format!("packs an answer as `{coding}`, which jelly can't unpack"),
            );
            Box::new(facts::beyond(head.clone(), OwnLimit::Encoding, message))
        })
    }

    /// What is to be said of a body of which no more comes.
    fn broke_off(&self, error: BodyError, head: HttpFacts) -> HttpEnd {
        match error {
            BodyError::Lost(error) => facts::lost(error, Some(head), &self.link.redactor),
            BodyError::Packed(error) => facts::ill_packed(head, &error),
        }
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
            let standing = lost_session::standing(&end, &bytes, self.outline.request_id());
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
            Err(error) => return Err(Box::new(self.broke_off(error, head))),
        }
        let understood = {
            let mut peer = self.shared.peer();
            let understood = peer.receive_whole(&bytes);
            if !peer.is_pending(id) {
                return Ok(());
            }
            understood
        };
        let words = facts::in_words(head.status.unwrap_or_default());
        let cut_off = || {
            let read = serde_json::from_slice::<IgnoredAny>(&bytes);
            read.is_err_and(|error| error.is_eof())
        };
        let (kind, what) = match (bytes.trim_ascii().is_empty(), understood) {
            (true, _) => (Some("empty_body"), "no body"),
            (false, Understood::Message) => (None, "messages of which none answers it"),
            (false, Understood::Nothing) if cut_off() => {
                (Some("cut_off_json"), "JSON that breaks off before its end")
            }
            (false, Understood::Nothing) => {
                (Some("no_message"), "a body that is no JSON-RPC message")
            }
            (false, Understood::Beyond(_)) => (None, "a body that is beyond what jelly reads"),
        };
        head.error = kind.map(str::to_owned);
        let message = format!("was answered with {words} and {what}");
        Err(no_answer(understood, head, message))
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
        let words = facts::in_words(head.status.unwrap_or_default());
        let empty = bytes.is_empty() && complete;
        let name = match empty {
            true => "empty_body",
            false if kind.contains("html") => "html",
            false => "media_type",
        };
        head.error = Some(name.to_owned());
        let message = if empty {
            format!("was answered with {words} and no body")
        } else {
            format!(
                "was answered with {words} and a body of {kind}, where JSON or an event stream is due"
            )
        };
        Err(no_answer(understood, head, message))
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
                .stream(self.link.endpoint(), Some(&since), &self.shared);
            match resumed.await {
                Ok(resumed) if listen::is_stream(&resumed) => {
                    head = self.head(&resumed);
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
            let place = if parser.is_mid_event() {
                "in the middle of an event"
            } else {
                "before its answer came"
            };
            let mut end = match ended {
                Some(error @ BodyError::Packed(_)) => {
                    return Err(Box::new(self.broke_off(error, head)));
                }
                Some(BodyError::Lost(error)) => facts::lost(error, Some(head), &self.link.redactor),
                None => {
                    let mut end = facts::useless(head, "");
                    end.facts.error = Some("closed".to_owned());
                    end
                }
            };
            let cause = end.facts.text.take();
            let text = format!("the event stream ended {place}");
            end.message = format!("got no answer: {text}");
            end.facts.text = Some(match cause {
                Some(cause) => format!("{text}: {cause}"),
                None => text,
            });
            return Err(Box::new(end));
        }
    }
}

/// Whether to read on in what nobody asked for: what begins like a message may
/// be as long as one.
fn is_short(bytes: &[u8]) -> bool {
    bytes.len() <= REFUSAL_BYTES || begins_like_json(bytes) && bytes.len() <= MAX_LINE_BYTES
}

/// A body in which no answer was found.
fn no_answer(understood: Understood, head: HttpFacts, message: String) -> Box<HttpEnd> {
    Box::new(match understood {
        Understood::Beyond(limit) => facts::beyond(head, limit, message),
        Understood::Message | Understood::Nothing => facts::useless(head, message),
    })
}
