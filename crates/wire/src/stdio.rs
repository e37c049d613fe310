//! The driver of a connection by the pipes of a process.
//!
//! Main function: [`drive`]. It reads, writes and watches for the exit, and
//! must not know of how the process was started.

use super::connection::{Shared, reached};
use super::exchange::End;
use super::frame::LineSplitter;
use jelly_base::model::Exit;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout, timeout_at};

/// How long after a closed stream the exit is waited for before the server is
/// said to live on without it.
const CLOSED_GRACE: Duration = Duration::from_secs(1);
/// After the exit, what the server wrote before it is still read. It lies in
/// the pipe already; a pipe that gives nothing for this long is held open by
/// somebody else.
const DRAIN_IDLE: Duration = Duration::from_millis(30);
/// No longer than this, should somebody else write into it.
const DRAIN_TOTAL: Duration = Duration::from_millis(150);

/// Carries the peer's messages between two pipes until the process exits.
pub(super) async fn drive<R, W, X>(shared: Arc<Shared>, mut reader: R, writer: W, exit: X)
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
                Ok(bytes) => {
                    shared.peer().wrote(bytes);
                    // Where the server waits for this processor, it may have
                    // answered by the time that the pipes are looked at.
                    std::thread::yield_now();
                }
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
    peer.note_unfinished(splitter.unfinished());
}

/// What stands after the last line feed counts too: better read than lost.
fn finish_line(shared: &Shared, splitter: &mut LineSplitter) {
    let mut peer = shared.peer();
    if let Some(frame) = splitter.finish() {
        peer.receive(frame);
    }
    peer.note_unfinished(&[]);
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
        } else if self.bytes.is_empty() && shared.is_closing() {
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
