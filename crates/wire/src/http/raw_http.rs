//! Messages as they are, by HTTP: for who stands between a client and a server.
//!
//! Main type: [`RawHttp`]. Lines go in, each by a request of its own; lines come
//! out, whichever stream brought them. No message is rebuilt: a body of several
//! lines becomes one, since line feeds in JSON are blanks.

use super::headers::{Outline, PROTOCOL_VERSION, ParamHeaders, SESSION_ID};
use super::link::{Carrier, Link};
use super::raw_exchange::{RawExchange, listen};
use crate::{Endpoint, HttpEnd};
use jelly_base::mcp::LISTEN;
use jelly_base::model::HttpFacts;
use jelly_base::text::redact::Redactor;
use jelly_process::ExitWatch;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::timeout;

/// Messages of the server that wait to be taken; whoever has another one waits.
const NEWS: usize = 16;

/// What a server said, or did not.
#[derive(Debug)]
pub enum RawNews {
    /// A message of the server, in one line.
    Line(Vec<u8>),
    /// A message of ours, as it was given, to which no answer comes; or one that
    /// was not taken.
    Failed { line: Vec<u8>, end: Box<HttpEnd> },
    /// No answer comes to anything that was sent.
    Closed(Box<HttpEnd>),
}

/// What has room of its own, so that none waits for another: an answer to a
/// question of the server's must not wait for the call that made it ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RawKind {
    Request,
    /// A request that stays open.
    Subscription,
    /// A notification or an answer.
    Word,
}

impl RawKind {
    const ALL: [Self; 3] = [Self::Word, Self::Request, Self::Subscription];

    /// So many are under way at a time.
    fn room(self) -> usize {
        match self {
            Self::Request | Self::Subscription => 256,
            Self::Word => 64,
        }
    }
}

/// A message on its way.
#[derive(Debug)]
pub(super) struct RawMessage {
    pub line: Vec<u8>,
    pub outline: Outline,
    /// Headers that came with it.
    pub carried: HeaderMap,
}

impl RawMessage {
    pub(super) fn of(line: &[u8], carried: &[(String, String)]) -> Self {
        Self {
            line: line.to_vec(),
            outline: Outline::of(line),
            carried: passed_on(carried),
        }
    }

    /// The id of a request, as it is compared.
    pub fn id(&self) -> Option<&Value> {
        self.outline.method.as_ref()?;
        self.outline.id.as_ref().filter(|id| !id.is_null())
    }

    /// Several messages in one, of which nobody knows how many answers come.
    pub fn is_batch(&self) -> bool {
        self.line.trim_ascii_start().starts_with(b"[")
    }

    fn kind(&self) -> RawKind {
        match self.id() {
            Some(_) if self.outline.method.as_deref() == Some(LISTEN) => RawKind::Subscription,
            Some(_) => RawKind::Request,
            None if self.is_batch() => RawKind::Request,
            None => RawKind::Word,
        }
    }

    fn is(&self, method: &str) -> bool {
        self.outline.method.as_deref() == Some(method)
    }
}

/// The server, and what was agreed on with it.
pub(super) struct RawState {
    pub link: Link,
    agreed: Mutex<Agreed>,
}

#[derive(Debug, Default)]
struct Agreed {
    version: Option<String>,
    params: Arc<ParamHeaders>,
}

impl RawState {
    fn agreed(&self) -> MutexGuard<'_, Agreed> {
        // Nothing in it depends on anything else in it.
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version that the answer to `initialize` names.
    pub fn settle(&self, version: &str) {
        self.agreed().version = Some(version.to_owned());
    }

    /// Which arguments travel as headers, as a list of tools says.
    pub fn learn(&self, result: &str) {
        Arc::make_mut(&mut self.agreed().params).learn(result);
    }
}

impl Carrier for RawState {
    fn version(&self) -> Option<String> {
        self.agreed().version.clone()
    }

    fn params(&self) -> Arc<ParamHeaders> {
        Arc::clone(&self.agreed().params)
    }

    fn note_trouble(&self, _facts: Option<HttpFacts>) {}

    fn breach(&self, _what: &str) {}
}

/// What came to its end.
enum RawDone {
    Exchange,
    /// `notifications/initialized`, and whether the server took it.
    Opened(bool),
    Listening,
}

/// See the module. Dropping it gives up what is under way.
pub struct RawHttp {
    state: Arc<RawState>,
    news: Receiver<RawNews>,
    teller: Sender<RawNews>,
    tasks: JoinSet<RawDone>,
    /// What has a place in [`RawKind::room`].
    places: HashMap<Id, RawKind>,
    /// Modern requests, which are cancelled by closing their stream.
    modern: Vec<(Value, AbortHandle)>,
    /// By [`RawKind`].
    waiting: [VecDeque<RawMessage>; 3],
    unsent: usize,
    /// `notifications/initialized` is under way, and nothing may overtake it.
    opening: bool,
}

impl RawHttp {
    /// `exit` is that of the server's process, where it is ours: until it has
    /// answered once, the first message waits for it to listen.
    ///
    /// # Errors
    /// The URL or a header can't be used.
    pub fn new(
        endpoint: &Endpoint,
        redactor: &Redactor,
        exit: Option<ExitWatch>,
    ) -> Result<Self, Box<HttpEnd>> {
        let mut link = Link::new(endpoint, redactor)?;
        link.process = exit;
        let state = RawState {
            link,
            agreed: Mutex::default(),
        };
        let (teller, news) = channel(NEWS);
        Ok(Self {
            state: Arc::new(state),
            news,
            teller,
            tasks: JoinSet::new(),
            places: HashMap::new(),
            modern: Vec::new(),
            waiting: Default::default(),
            unsent: 0,
            opening: false,
        })
    }

    /// Sends a line, as soon as there is room. Of the headers that came with it,
    /// those of MCP are passed on which jelly does not know: intermediaries must
    /// forward them (2026-07-28, Streamable HTTP, "Server Behavior for Custom
    /// Headers").
    pub fn send(&mut self, line: &[u8], carried: &[(String, String)]) {
        let message = RawMessage::of(line, carried);
        if message.is("notifications/cancelled") && self.abandon(&message) {
            return;
        }
        self.unsent += line.len();
        self.waiting[message.kind() as usize].push_back(message);
        self.start_due();
    }

    /// Bytes that wait for room.
    #[must_use]
    pub fn unsent(&self) -> usize {
        self.unsent
    }

    /// What comes next. Cancel-safe.
    pub async fn news(&mut self) -> RawNews {
        loop {
            tokio::select! {
                // It has a sender as long as this lives.
                Some(news) = self.news.recv() => return news,
                Some(done) = self.tasks.join_next_with_id() => self.after(done),
            }
        }
    }

    /// The session is no more; what is under way in it comes to its end.
    pub fn forget_session(&self) {
        self.state.link.forget_session();
        self.state.agreed().version = None;
    }

    /// Ends the session.
    pub async fn end(&mut self, limit: Duration) {
        self.tasks.abort_all();
        if self.state.link.has_session() {
            // Whether it is heeded, or even allowed, is the server's to say.
            let goodbye = self.state.link.delete(&*self.state).send();
            let _ = timeout(limit, goodbye).await;
        }
    }

    fn start_due(&mut self) {
        for kind in RawKind::ALL {
            while !self.opening
                && self.places.values().filter(|other| **other == kind).count() < kind.room()
                && let Some(message) = self.waiting[kind as usize].pop_front()
            {
                self.start(kind, message);
            }
        }
    }

    fn start(&mut self, kind: RawKind, message: RawMessage) {
        self.unsent -= message.line.len();
        let opens = message.is("notifications/initialized");
        self.opening |= opens;
        let modern = message.outline.own_version().is_some();
        let id = message.id().filter(|_| modern).cloned();
        let exchange = RawExchange {
            state: Arc::clone(&self.state),
            message,
            news: self.teller.clone(),
        };
        let handle = self.tasks.spawn(async move {
            let taken = exchange.run().await;
            match opens {
                true => RawDone::Opened(taken),
                false => RawDone::Exchange,
            }
        });
        self.places.insert(handle.id(), kind);
        if let Some(id) = id {
            self.modern.push((id, handle));
        }
    }

    fn after(&mut self, done: Result<(Id, RawDone), tokio::task::JoinError>) {
        let (id, done) = match done {
            Ok((id, done)) => (id, Some(done)),
            // It was given up.
            Err(error) => (error.id(), None),
        };
        self.places.remove(&id);
        self.modern.retain(|(_, handle)| handle.id() != id);
        if let Some(RawDone::Opened(taken)) = done {
            self.opening = false;
            if taken && !self.state.link.is_old_transport() {
                let task = listen(Arc::clone(&self.state), self.teller.clone());
                self.tasks.spawn(async move {
                    task.await;
                    RawDone::Listening
                });
            }
        }
        self.start_due();
    }

    /// Gives a modern request up, for whose server the end of its stream is the
    /// word for that.
    fn abandon(&mut self, cancelled: &RawMessage) -> bool {
        let Some(id) = cancelled.outline.param("requestId") else {
            return false;
        };
        let Some(at) = self.modern.iter().position(|(other, _)| other == id) else {
            return false;
        };
        self.modern.swap_remove(at).1.abort();
        true
    }
}

/// Headers of MCP that say what a message does not say by itself.
fn passed_on(carried: &[(String, String)]) -> HeaderMap {
    const OWN: [&str; 4] = [PROTOCOL_VERSION, SESSION_ID, "mcp-method", "mcp-name"];
    let mut headers = HeaderMap::new();
    for (name, value) in carried {
        let name = name.to_ascii_lowercase();
        if !name.starts_with("mcp-") || OWN.contains(&name.as_str()) {
            continue;
        }
        // They came as headers, so that they can go as such.
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value),
        ) {
            headers.append(name, value);
        }
    }
    headers
}

/// The session that a message was sent in.
pub(super) type RawSession = Option<HeaderValue>;
