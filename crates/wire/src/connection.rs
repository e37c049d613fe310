//! A [`Peer`] with a driver in the background.
//!
//! Main type: [`Connection`]. One task per connection carries what the peer
//! has to say and brings what it is to hear, whether or not somebody waits for
//! an answer: a server is heard while it is idle, and can't be blocked by us.
//! What the task moves the messages by, pipes or HTTP, is the driver's alone
//! to know; the connection must not know of eras either.

use super::exchange::{Outgoing, ReplyOutcome};
use super::http::{Carrier, ParamHeaders};
use super::notices::Listener;
use super::peer::Peer;
use super::stdio;
use jelly_base::model::{Era, Exit, HttpFacts, ToolInfo};
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

/// How much longer a line feed may take than the answer before it, which was late.
const UNENDED_GRACE: Duration = Duration::from_millis(500);
/// What is wrong with an answer that never gets it (2025-06-18, "stdio": "messages
/// are delimited by newlines").
const UNENDED: &str = "wrote its answer without the line feed that ends a message";

/// A connection that is read and written in the background.
///
/// Needs a tokio runtime of any flavour; dropping it ends the task and closes
/// its streams.
#[derive(Debug)]
pub struct Connection {
    shared: Arc<Shared>,
    driver: JoinHandle<()>,
}

/// What a connection and its driver have in common.
#[derive(Debug)]
pub(super) struct Shared {
    peer: Mutex<Peer>,
    /// There may be something to send, or to give up.
    pub(super) wake: Notify,
    closing: AtomicBool,
    /// The newest exchange over HTTP that brought no answer and is made again.
    trouble: Mutex<Option<HttpFacts>>,
    /// Which arguments of tools travel as headers too.
    params: Mutex<Arc<ParamHeaders>>,
}

impl Shared {
    pub(super) fn peer(&self) -> MutexGuard<'_, Peer> {
        // The peer holds no invariant that a panic elsewhere could break.
        self.peer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    pub(super) fn params(&self) -> Arc<ParamHeaders> {
        let params = self.params.lock();
        Arc::clone(&params.unwrap_or_else(PoisonError::into_inner))
    }
}

impl Carrier for Shared {
    fn version(&self) -> Option<String> {
        self.peer().version().map(|version| version.name.to_owned())
    }

    fn params(&self) -> Arc<ParamHeaders> {
        Shared::params(self)
    }

    fn note_trouble(&self, facts: Option<HttpFacts>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = facts;
    }

    fn breach(&self, what: &str) {
        self.peer().breach(what);
    }
}

impl Connection {
    /// Drives `peer` with what the server writes (`reader`), what it reads
    /// (`writer`), and the future of its exit.
    pub fn open<R, W, X>(peer: Peer, reader: R, writer: W, exit: X) -> Self
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
        X: Future<Output = Exit> + Send + 'static,
    {
        Self::driven(peer, |shared| stdio::drive(shared, reader, writer, exit))
    }

    /// With another driver.
    pub(super) fn driven<F>(peer: Peer, driver: impl FnOnce(Arc<Shared>) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let shared = Arc::new(Shared {
            peer: Mutex::new(peer),
            wake: Notify::new(),
            closing: AtomicBool::new(false),
            trouble: Mutex::new(None),
            params: Mutex::default(),
        });
        let driver = tokio::spawn(driver(Arc::clone(&shared)));
        Self { shared, driver }
    }

    /// Changes the peer; what this queues is sent.
    pub fn with_peer<T>(&self, f: impl FnOnce(&mut Peer) -> T) -> T {
        let result = f(&mut self.shared.peer());
        self.shared.wake.notify_one();
        result
    }

    /// Looks at the peer without changing it.
    pub fn look<T>(&self, f: impl FnOnce(&Peer) -> T) -> T {
        f(&self.shared.peer())
    }

    /// For who looks at the peer while another owns the connection.
    pub(super) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Sends a request. Dropping what comes back before the answer gives the
    /// request up, and tells the server so.
    #[must_use]
    pub fn send(&self, request: Outgoing<'_>) -> InFlight {
        self.in_flight(self.with_peer(|peer| peer.open(request)))
    }

    /// Sends bytes as they are.
    #[must_use]
    pub fn send_raw(&self, bytes: &[u8]) -> InFlight {
        self.in_flight(self.with_peer(|peer| peer.open_raw(bytes)))
    }

    fn in_flight(&self, (id, receiver): (u64, oneshot::Receiver<ReplyOutcome>)) -> InFlight {
        InFlight {
            id,
            receiver: Some(receiver),
            shared: Arc::clone(&self.shared),
        }
    }

    /// Has `listener` hear every notification, for as long as what comes back
    /// is kept.
    #[must_use]
    pub fn attend(&self, listener: Box<dyn Listener>) -> Attending {
        Attending {
            number: self.shared.peer().attend(listener),
            shared: Arc::clone(&self.shared),
        }
    }

    /// Takes notice of the server's tools: over HTTP, some of their arguments
    /// travel as headers too (2026-07-28, "Custom Headers from Tool
    /// Parameters"). True where that changes which ones.
    pub fn learn(&self, tools: &[ToolInfo]) -> bool {
        let mirrored = self.look(|peer| {
            peer.has_streams() && peer.version().is_some_and(|v| v.era == Era::Modern)
        });
        if !mirrored {
            return false;
        }
        let (params, flaws) = ParamHeaders::of(tools);
        self.with_peer(|peer| {
            for flaw in &flaws {
                peer.breach(flaw);
            }
        });
        let known = self.shared.params.lock();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        let news = **known != params;
        *known = Arc::new(params);
        news
    }

    /// Whether the specification forbids clients to call this tool, as it is
    /// listed.
    #[must_use]
    pub fn refuses(&self, tool: &str) -> bool {
        self.shared.params().refuses(tool)
    }

    /// Says that nothing more will be sent: closes the server's stdin as soon
    /// as all is written, its stdout is still read; ends a session over HTTP.
    pub fn close(&self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        self.shared.wake.notify_one();
    }

    /// Waits until the driver has nothing left to do, which for pipes is the
    /// exit of the process, and for HTTP, once closed, the end of the session.
    pub async fn closed(&mut self) {
        if !self.driver.is_finished() {
            // The driver is aborted only by our own drop.
            let _ = (&mut self.driver).await;
        }
    }

    /// Why the newest exchange over HTTP that was made again had to be.
    #[must_use]
    pub fn trouble(&self) -> Option<HttpFacts> {
        let trouble = self.shared.trouble.lock();
        trouble.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A listener that hears notifications; dropping this ends it.
#[derive(Debug)]
pub struct Attending {
    number: u64,
    shared: Arc<Shared>,
}

impl Drop for Attending {
    fn drop(&mut self) {
        self.shared.peer().dismiss(self.number);
    }
}

/// A request that waits for its answer.
#[derive(Debug)]
pub struct InFlight {
    id: u64,
    /// None once the answer was taken.
    receiver: Option<oneshot::Receiver<ReplyOutcome>>,
    shared: Arc<Shared>,
}

/// How long a request looks for its answer before it goes to sleep.
const WAKEFUL: Duration = Duration::from_micros(50);

impl InFlight {
    /// The number by which the peer knows it; on the wire too, but for raw
    /// bytes.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The answer, if it is there. After the answer there is none.
    pub fn answer_now(&mut self) -> Option<ReplyOutcome> {
        let answer = self.receiver.as_mut()?.try_recv().ok()?;
        self.receiver = None;
        Some(answer)
    }

    /// The answer. Cancel-safe: it can be called again after being dropped
    /// at an await. After the answer it stays pending for ever.
    pub async fn answer(&mut self) -> ReplyOutcome {
        match self.answer_at_once(WAKEFUL).await {
            Some(answer) => answer,
            None => self.answer_in_time().await,
        }
    }

    /// The answer of a server that answers at once, for which it is not worth
    /// going to sleep: to be woken on another processor takes longer than its
    /// answer.
    async fn answer_at_once(&mut self, limit: Duration) -> Option<ReplyOutcome> {
        self.receiver.as_ref()?;
        let patience = std::time::Instant::now() + limit;
        loop {
            // The runtime looks at the pipes; the first time, the request is
            // still to be written, by the task that drives this.
            tokio::task::yield_now().await;
            let answer = self.answer_now();
            if answer.is_some() || std::time::Instant::now() >= patience {
                return answer;
            }
            // The server may have this processor if it wants it.
            std::thread::yield_now();
        }
    }

    /// The answer of a server that has work to do.
    async fn answer_in_time(&mut self) -> ReplyOutcome {
        let Some(receiver) = &mut self.receiver else {
            return std::future::pending().await;
        };
        let answer = receiver.await;
        self.receiver = None;
        // The peer answers everybody before it goes.
        answer.unwrap_or_else(|_| ReplyOutcome::Broken("connection was closed by jelly".to_owned()))
    }

    /// The answer, if it comes in time; else the request is given up, and the
    /// server told.
    pub async fn answer_within(self, limit: Duration) -> ReplyOutcome {
        self.ended_after(limit, "timed out", false).await
    }

    /// The same, and what the peer still hears of the request is watched for:
    /// see [`Peer::watch`].
    pub async fn cancelled_after(self, limit: Duration, reason: &str) -> ReplyOutcome {
        self.ended_after(limit, reason, true).await
    }

    async fn ended_after(mut self, limit: Duration, reason: &str, watched: bool) -> ReplyOutcome {
        // Most answers come before a timer would be worth its while.
        let at_once = WAKEFUL.min(limit);
        if let Some(answer) = self.answer_at_once(at_once).await {
            return answer;
        }
        if let Ok(answer) = timeout(limit - at_once, self.answer_in_time()).await {
            return answer;
        }
        self.give_up(reason, watched).await
    }

    /// The answer, if it comes within `limit` of the request or of the newest
    /// progress that the server reports, and within `total` in all; else the request
    /// is given up, and the server told.
    pub async fn answer_while_progress(mut self, limit: Duration, total: Duration) -> ReplyOutcome {
        let heard = Arc::new(Notify::new());
        self.shared
            .peer()
            .hear_progress(self.id, Arc::clone(&heard));
        let end = deadline_after(Instant::now(), total);
        let mut until = deadline_after(Instant::now(), limit).min(end);
        loop {
            tokio::select! {
                biased;
                answer = self.answer() => return answer,
                () = heard.notified() => {
                    let now = Instant::now();
                    // A flood of progress would leave no time to look at the clock.
                    if now >= end {
                        break;
                    }
                    until = deadline_after(now, limit).min(end);
                }
                () = sleep_until(until) => break,
            }
        }
        self.give_up("timed out", false).await
    }

    async fn give_up(mut self, reason: &str, watched: bool) -> ReplyOutcome {
        let lacks_end = !watched && self.shared.peer().wrote_unended(self.id);
        if lacks_end && let Ok(answer) = timeout(UNENDED_GRACE, self.answer_in_time()).await {
            return answer;
        }
        let (life, unended) = {
            let mut peer = self.shared.peer();
            let lacks_end = lacks_end && peer.wrote_unended(self.id);
            let life = peer.cancel(self.id, reason);
            let unended = lacks_end.then(|| peer.breach(UNENDED));
            if watched && life.is_some() {
                peer.watch(self.id);
            }
            (life, unended)
        };
        self.shared.wake.notify_one();
        match (life, unended) {
            (Some(_), Some(breach)) => {
                self.receiver = None;
                ReplyOutcome::Broken(breach)
            }
            (Some(life), None) => {
                self.receiver = None;
                ReplyOutcome::TimedOut(life)
            }
            // It came in this very moment.
            (None, _) => self.answer().await,
        }
    }

    /// Gives the request up without telling the server; a late answer is
    /// ignored.
    pub fn forget(mut self) {
        self.receiver = None;
        self.shared.peer().forget_quietly(self.id);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.receiver.is_some() {
            self.shared.peer().cancel(self.id, "no longer wanted");
            self.shared.wake.notify_one();
        }
    }
}

/// When a limit runs out; one that is too large to add up never does in
/// practice.
#[must_use]
pub fn deadline_after(from: Instant, limit: Duration) -> Instant {
    from.checked_add(limit)
        .unwrap_or_else(|| from + Duration::from_secs(365 * 86_400))
}

/// At the moment, if there is one; else never.
pub(super) async fn reached(moment: Option<Instant>) {
    match moment {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
