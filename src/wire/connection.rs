//! A [`Peer`] on two byte streams and the end of a process.
//!
//! Main type: [`Connection`]. One task per connection reads, writes and
//! watches for the exit, whether or not somebody waits for an answer: a
//! server is heard while it is idle, and can't be blocked by us. It must not
//! know of eras, nor of how the process was started.

use super::exchange::{Answer, End, Life, Outgoing};
use super::frame::LineSplitter;
use super::peer::Peer;
use crate::model::Exit;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

/// How long after a closed stream the exit is waited for before the server is
/// said to live on without it.
const CLOSED_GRACE: Duration = Duration::from_secs(1);
/// After the exit, what the server wrote before it is still read. It lies in
/// the pipe already; a pipe that gives nothing for this long is held open by
/// somebody else.
const DRAIN_IDLE: Duration = Duration::from_millis(30);
/// No longer than this, should somebody else write into it.
const DRAIN_TOTAL: Duration = Duration::from_millis(150);

/// A connection that is read and written in the background.
///
/// Needs a tokio runtime of any flavour; dropping it ends the task and closes
/// both streams.
#[derive(Debug)]
pub struct Connection {
    shared: Arc<Shared>,
    driver: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    peer: Mutex<Peer>,
    wake: Notify,
    closing: AtomicBool,
}

impl Shared {
    fn peer(&self) -> MutexGuard<'_, Peer> {
        // The peer holds no invariant that a panic elsewhere could break.
        self.peer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
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
        let shared = Arc::new(Shared {
            peer: Mutex::new(peer),
            wake: Notify::new(),
            closing: AtomicBool::new(false),
        });
        let task = drive(Arc::clone(&shared), reader, writer, exit);
        let driver = tokio::spawn(task).abort_handle();
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

    /// Hears what goes on here, without being part of it.
    #[must_use]
    pub fn ear(&self) -> Ear {
        Ear(Arc::clone(&self.shared))
    }

    /// Sends a request. Dropping what comes back before the answer gives the
    /// request up, and tells the server so.
    #[must_use]
    pub fn send(&self, request: Outgoing<'_>) -> InFlight {
        let (id, receiver) = self.with_peer(|peer| peer.open(request));
        InFlight {
            id,
            receiver: Some(receiver),
            shared: Arc::clone(&self.shared),
        }
    }

    /// Closes the server's stdin as soon as all is written. Its stdout is
    /// still read.
    pub fn close_stdin(&self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        self.shared.wake.notify_one();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Looks at a connection that somebody else owns.
#[derive(Debug)]
pub struct Ear(Arc<Shared>);

impl Ear {
    /// Messages received so far.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.0.peer().observed().messages
    }
}

/// A request that waits for its answer.
#[derive(Debug)]
pub struct InFlight {
    id: u64,
    /// None once the answer was taken.
    receiver: Option<oneshot::Receiver<Answer>>,
    shared: Arc<Shared>,
}

/// How long a request looks for its answer before it goes to sleep.
const WAKEFUL: Duration = Duration::from_micros(50);

impl InFlight {
    /// The answer. Cancel-safe: it can be called again after being dropped
    /// at an await. After the answer it stays pending for ever.
    pub async fn answer(&mut self) -> Answer {
        let Some(receiver) = &mut self.receiver else {
            return std::future::pending().await;
        };
        // A server that answers at once is not worth going to sleep for: to
        // be woken on another processor takes longer than its answer.
        let patience = std::time::Instant::now() + WAKEFUL;
        // The request is still to be written, by the task that drives this.
        tokio::task::yield_now().await;
        let answer = loop {
            match receiver.try_recv() {
                Ok(answer) => break Ok(answer),
                Err(oneshot::error::TryRecvError::Closed) => break receiver.await,
                Err(oneshot::error::TryRecvError::Empty)
                    if std::time::Instant::now() < patience =>
                {
                    // Both: the runtime looks at the pipes, and the server may
                    // have this processor if it wants it.
                    std::thread::yield_now();
                    tokio::task::yield_now().await;
                }
                Err(oneshot::error::TryRecvError::Empty) => break receiver.await,
            }
        };
        self.receiver = None;
        // The peer answers everybody before it goes.
        answer.unwrap_or_else(|_| Answer::Broken("connection was closed by jelly".to_owned()))
    }

    /// The answer, if it comes in time; else the request is given up, the
    /// server told, and the signs of life since given back.
    pub async fn answer_within(mut self, limit: Duration) -> Result<Answer, Life> {
        if let Ok(answer) = timeout(limit, self.answer()).await {
            return Ok(answer);
        }
        let life = self.shared.peer().cancel(self.id, "timed out");
        self.shared.wake.notify_one();
        match life {
            Some(life) => {
                self.receiver = None;
                Err(life)
            }
            // It came in this very moment.
            None => Ok(self.answer().await),
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

async fn drive<R, W, X>(shared: Arc<Shared>, mut reader: R, writer: W, exit: X)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    X: Future<Output = Exit>,
{
    let mut splitter = LineSplitter::default();
    let mut exit = pin!(exit);
    let mut output = Output {
        writer: Some(writer),
        bytes: Vec::new(),
        at: 0,
        lost: None,
    };
    let exited = loop {
        output.refill(&shared);
        let lost = output.lost;
        tokio::select! {
            read = reader.read_buf(splitter.room()) => match read {
                Ok(0) | Err(_) => break None,
                Ok(_) => feed(&shared, &mut splitter),
            },
            wrote = output.write() => match wrote {
                Ok(bytes) => shared.peer().wrote(bytes),
                Err(_) => output.lose(),
            },
            () = shared.wake.notified() => {}
            () = reached(lost) => {
                output.lost = None;
                shared.peer().fail_unsent("closed its stdin and lives on");
            }
            exit = &mut exit => break Some(exit),
        }
    };
    let exit = match exited {
        Some(exit) => {
            drain(&shared, &mut reader, &mut splitter).await;
            finish_line(&shared, &mut splitter);
            exit
        }
        None => {
            finish_line(&shared, &mut splitter);
            let mut exit = pin!(exit_of(&mut exit, &mut output, &shared));
            match timeout(CLOSED_GRACE, &mut exit).await {
                Ok(exit) => exit,
                Err(_) => {
                    let why = shared.peer().breach("closed its stdout and lives on");
                    shared.peer().finish(End::Closed(why));
                    exit.await
                }
            }
        }
    };
    shared.peer().finish(End::Exited(exit));
}

/// The exit of a server that is not heard any more. Its stdin stays open
/// until the shutdown closes it.
async fn exit_of<W, X>(exit: &mut X, output: &mut Output<W>, shared: &Shared) -> Exit
where
    W: AsyncWrite + Unpin,
    X: Future<Output = Exit> + Unpin,
{
    loop {
        if shared.is_closing() {
            output.writer = None;
        }
        tokio::select! {
            exit = &mut *exit => return exit,
            () = shared.wake.notified() => {}
        }
    }
}

fn feed(shared: &Shared, splitter: &mut LineSplitter) {
    let mut peer = shared.peer();
    while let Some(frame) = splitter.next_frame() {
        peer.receive(frame);
    }
}

/// What stands after the last line feed counts too: better read than lost.
fn finish_line(shared: &Shared, splitter: &mut LineSplitter) {
    if let Some(frame) = splitter.finish() {
        shared.peer().receive(frame);
    }
}

async fn drain<R: AsyncRead + Unpin>(shared: &Shared, reader: &mut R, splitter: &mut LineSplitter) {
    let until = Instant::now() + DRAIN_TOTAL;
    loop {
        let idle = (Instant::now() + DRAIN_IDLE).min(until);
        match timeout_at(idle, reader.read_buf(splitter.room())).await {
            Ok(Ok(n)) if n > 0 => feed(shared, splitter),
            Ok(_) | Err(_) => return,
        }
    }
}

/// The writing half: whoever asks never waits for the server to read.
struct Output<W> {
    /// None once stdin is closed, by us or by the server.
    writer: Option<W>,
    bytes: Vec<u8>,
    /// Up to where `bytes` are written.
    at: usize,
    /// When it is time to give up what the server can no longer read.
    lost: Option<Instant>,
}

impl<W: AsyncWrite + Unpin> Output<W> {
    fn refill(&mut self, shared: &Shared) {
        if self.at < self.bytes.len() {
            return;
        }
        self.bytes.clear();
        self.at = 0;
        shared.peer().take_outbox(&mut self.bytes);
        if self.writer.is_none() {
            if !self.bytes.is_empty() && self.lost.is_none() {
                self.lost = Some(Instant::now() + CLOSED_GRACE);
            }
            self.bytes.clear();
        } else if self.bytes.is_empty() && shared.closing.load(Ordering::Relaxed) {
            self.writer = None;
        }
    }

    /// Writes some; stays pending while there is nothing to write.
    async fn write(&mut self) -> std::io::Result<usize> {
        match &mut self.writer {
            Some(writer) if self.at < self.bytes.len() => {
                let written = writer.write(&self.bytes[self.at..]).await?;
                self.at += written;
                Ok(written)
            }
            Some(_) | None => std::future::pending().await,
        }
    }

    fn lose(&mut self) {
        self.writer = None;
        self.bytes.clear();
        self.at = 0;
        self.lost = Some(Instant::now() + CLOSED_GRACE);
    }
}

/// When a limit runs out; one that is too large to add up never does in
/// practice.
pub(super) fn deadline_after(from: Instant, limit: Duration) -> Instant {
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
