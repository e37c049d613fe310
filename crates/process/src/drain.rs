//! Reading a pipe whose other end may outlive its process.
//!
//! A grandchild that inherited stdout keeps the pipe open after the server is
//! gone, and a reader that waits for the end of file then waits for ever.
//! [`ExitBoundReader`] ends a bounded time after the exit instead.

use super::ExitWatch;
use jelly_base::model::Exit;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Instant, Sleep};

/// After the exit, a pipe that stays silent for this long is at its end.
pub const DRAIN_QUIET: Duration = Duration::from_millis(100);

/// After the exit, a pipe is at its end after this time, silent or not, once
/// all that the process itself can have left in it was read.
pub const DRAIN_MAX: Duration = Duration::from_millis(200);

/// More than a pipe can hold: what comes after so many bytes was written by
/// somebody who is still alive.
const LEFT_IN_PIPE: usize = 2 << 20;

/// A reader that reports the end of file when its pipe ends, or within
/// [`DRAIN_MAX`] of the exit of the process, whichever comes first.
///
/// Nothing that the process wrote before its exit is lost, however slowly it
/// is read: the time limits hold only for an empty pipe, or for one into which
/// somebody else goes on writing.
pub struct ExitBoundReader<R> {
    inner: R,
    exit: Pin<Box<dyn Future<Output = Exit> + Send>>,
    after_exit: Option<AfterExit>,
    cut_short: bool,
}

struct AfterExit {
    ends: Instant,
    bytes: usize,
    quiet: Pin<Box<Sleep>>,
}

impl<R: AsyncRead + Unpin> ExitBoundReader<R> {
    #[must_use]
    pub fn new(inner: R, exit: &ExitWatch) -> Self {
        let exit = exit.clone();
        Self {
            inner,
            exit: Box::pin(async move { exit.wait().await }),
            after_exit: None,
            cut_short: false,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for ExitBoundReader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.cut_short {
            return Poll::Ready(Ok(()));
        }
        if this.after_exit.is_none() && this.exit.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            this.after_exit = Some(AfterExit {
                ends: now + DRAIN_MAX,
                bytes: 0,
                quiet: Box::pin(tokio::time::sleep_until(now + DRAIN_QUIET)),
            });
        }
        if let Some(after) = &this.after_exit
            && after.bytes > LEFT_IN_PIPE
            && Instant::now() >= after.ends
        {
            this.cut_short = true;
            return Poll::Ready(Ok(()));
        }

        let before = buf.filled().len();
        match Pin::new(&mut this.inner).poll_read(cx, buf) {
            Poll::Ready(result) => {
                if let Some(after) = &mut this.after_exit {
                    after.bytes = after.bytes.saturating_add(buf.filled().len() - before);
                    let silent_until = Instant::now() + DRAIN_QUIET;
                    after.quiet.as_mut().reset(silent_until.min(after.ends));
                }
                Poll::Ready(result)
            }
            Poll::Pending => {
                let Some(after) = &mut this.after_exit else {
                    return Poll::Pending;
                };
                if after.quiet.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                this.cut_short = true;
                Poll::Ready(Ok(()))
            }
        }
    }
}
