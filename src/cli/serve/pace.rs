//! A client that asks and does not read: after some more of its messages no
//! others are taken, and after some time it counts as gone.
//!
//! Main function: [`paced`].

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep_until};

/// So much is still read of a client that does not take its answers.
const MOST_MESSAGES: usize = 128;
const MOST_BYTES: usize = 8 << 20;

/// So long it may not read when that is used up.
const PATIENCE: Duration = Duration::from_secs(20);

/// What both sides know.
#[derive(Default)]
struct Pace {
    /// The client takes nothing, and this was read since.
    stuck: Option<Overdraft>,
    reader: Option<Waker>,
}

#[derive(Default)]
struct Overdraft {
    messages: usize,
    bytes: usize,
}

impl Overdraft {
    fn is_used_up(&self) -> bool {
        self.messages >= MOST_MESSAGES || self.bytes >= MOST_BYTES
    }
}

/// Reads as long as the client reads, too.
pub struct PacedReader<R> {
    inner: R,
    pace: Arc<Mutex<Pace>>,
    gone: watch::Sender<bool>,
    patience: Option<Pin<Box<Sleep>>>,
}

/// Notes when the client does not read.
pub struct PacedWriter<W> {
    inner: W,
    pace: Arc<Mutex<Pace>>,
}

/// Both ends of a client, and whether it has gone.
pub fn paced<R, W>(
    reader: R,
    writer: W,
) -> (PacedReader<R>, PacedWriter<W>, watch::Receiver<bool>) {
    let pace = Arc::new(Mutex::new(Pace::default()));
    let (gone, seen) = watch::channel(false);
    let reader = PacedReader {
        inner: reader,
        pace: pace.clone(),
        gone,
        patience: None,
    };
    let writer = PacedWriter {
        inner: writer,
        pace,
    };
    (reader, writer, seen)
}

fn lock(pace: &Mutex<Pace>) -> MutexGuard<'_, Pace> {
    pace.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R: AsyncRead + Unpin> AsyncRead for PacedReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let used_up = {
            let mut pace = lock(&self.pace);
            pace.reader = Some(context.waker().clone());
            pace.stuck.as_ref().is_some_and(Overdraft::is_used_up)
        };
        if used_up {
            let patience = self
                .patience
                .get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + PATIENCE)));
            ready!(patience.as_mut().poll(context));
            // As at the end of its input.
            self.gone.send_replace(true);
            return Poll::Ready(Ok(()));
        }
        self.patience = None;
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.inner).poll_read(context, buffer));
        let new = &buffer.filled()[before..];
        if read.is_err() || new.is_empty() {
            self.gone.send_replace(true);
        }
        if let Some(overdraft) = &mut lock(&self.pace).stuck {
            overdraft.messages += new.iter().filter(|byte| **byte == b'\n').count();
            overdraft.bytes += new.len();
        }
        Poll::Ready(read)
    }
}

impl<W> PacedWriter<W> {
    fn note(&self, is_stuck: bool) {
        let mut pace = lock(&self.pace);
        match (is_stuck, pace.stuck.is_some()) {
            (true, false) => pace.stuck = Some(Overdraft::default()),
            (false, true) => {
                pace.stuck = None;
                if let Some(reader) = pace.reader.take() {
                    reader.wake();
                }
            }
            (true, true) | (false, false) => {}
        }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for PacedWriter<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.note(written.is_pending());
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_MESSAGES, paced};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_is_read_no_further_and_counts_as_gone() {
        let (mut client, input) = duplex(1 << 20);
        let (output, mut unread) = duplex(16);
        let (mut reader, mut writer, gone) = paced(input, output);
        client.write_all(&b"\n".repeat(10_000)).await.unwrap();
        let answers = tokio::spawn(async move { writer.write_all(&[b'x'; 100]).await });
        tokio::task::yield_now().await;
        let mut read = 0;
        let mut buffer = [0; 64];
        loop {
            match reader.read(&mut buffer).await.unwrap() {
                0 => break,
                more => read += more,
            }
        }
        assert!(
            (MOST_MESSAGES..MOST_MESSAGES + 64).contains(&read),
            "{read}"
        );
        assert!(*gone.borrow());
        // It reads after all: its answers are there.
        let mut taken = vec![0; 100];
        unread.read_exact(&mut taken).await.unwrap();
        answers.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_client_that_reads_is_read_to_its_end() {
        let (mut client, input) = duplex(1 << 20);
        let (output, mut answers) = duplex(16);
        let (mut reader, mut writer, gone) = paced(input, output);
        client.write_all(&b"\n".repeat(10_000)).await.unwrap();
        drop(client);
        let write = async {
            writer.write_all(&[b'x'; 100_000]).await.unwrap();
            drop(writer);
        };
        let take = async {
            let mut all = Vec::new();
            answers.read_to_end(&mut all).await.unwrap();
        };
        let mut all = Vec::new();
        let read = reader.read_to_end(&mut all);
        let ((), (), read) = tokio::join!(write, take, read);
        assert_eq!(read.unwrap(), 10_000);
        assert!(*gone.borrow());
    }
}
