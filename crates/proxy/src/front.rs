//! The client's end: our own standard streams, without a thread between them
//! and the relay.
//!
//! Main types: [`ClientInput`] and [`ClientOutput`]. Pipes and sockets are
//! waited for; a file or `/dev/null`, for which nobody can wait, is read and
//! written at once.

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::sleep;

/// How often it is looked whether the other end of a socket is closed.
const LOOK: Duration = Duration::from_millis(100);

/// Gives a stream back as it was: others may have it too, and expect to block.
#[derive(Debug)]
struct Restore {
    fd: OwnedFd,
    original: OFlags,
}

impl Restore {
    fn of(fd: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Self {
            original: fcntl_getfl(fd)?,
            fd: fd.try_clone_to_owned()?,
        })
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        let _ = fcntl_setfl(&self.fd, self.original);
    }
}

/// What a standard stream is, to whoever reads or writes it.
#[derive(Debug)]
enum End<P> {
    Pipe(P),
    /// As some clients give to their children.
    Socket(UnixStream),
    AtOnce(OwnedFd),
}

impl<P> End<P> {
    fn new(fd: BorrowedFd<'_>, pipe: impl Fn(OwnedFd) -> io::Result<P>) -> io::Result<Self> {
        let kind = FileType::from_raw_mode(fstat(fd)?.st_mode);
        let own = fd.try_clone_to_owned()?;
        Ok(match kind {
            FileType::Fifo => Self::Pipe(pipe(own)?),
            FileType::Socket => {
                let socket = StdUnixStream::from(own);
                socket.set_nonblocking(true)?;
                Self::Socket(UnixStream::from_std(socket)?)
            }
            _ => Self::AtOnce(own),
        })
    }
}

/// Where the client's messages come from.
#[derive(Debug)]
pub struct ClientInput {
    end: End<Receiver>,
    _restore: Restore,
}

/// Where messages to the client go.
#[derive(Debug)]
pub struct ClientOutput {
    end: End<Sender>,
    _restore: Restore,
}

impl ClientInput {
    /// Our stdin.
    ///
    /// # Errors
    /// It is closed.
    pub fn new() -> io::Result<Self> {
        let stdin = rustix::stdio::stdin();
        Ok(Self {
            _restore: Restore::of(stdin)?,
            end: End::new(stdin.as_fd(), Receiver::from_owned_fd)?,
        })
    }

    /// Reads what is there, at the end of the buffer; 0 at the end. Cancel safe.
    pub async fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        match &mut self.end {
            End::Pipe(pipe) => pipe.read_buf(buffer).await,
            End::Socket(socket) => socket.read_buf(buffer).await,
            End::AtOnce(file) => {
                let free = rustix::buffer::spare_capacity(buffer);
                Ok(rustix::io::read(file, free)?)
            }
        }
    }
}

impl ClientOutput {
    /// Our stdout.
    ///
    /// # Errors
    /// It is closed.
    pub fn new() -> io::Result<Self> {
        let stdout = rustix::stdio::stdout();
        Ok(Self {
            _restore: Restore::of(stdout)?,
            end: End::new(stdout.as_fd(), Sender::from_owned_fd)?,
        })
    }

    /// Waits until nobody reads it any more, where that can be seen. Cancel safe.
    pub async fn abandoned(&self) {
        match &self.end {
            End::Pipe(pipe) => {
                if let Ok(ready) = pipe.ready(Interest::ERROR).await
                    && (ready.is_error() || ready.is_write_closed())
                {
                    return;
                }
            }
            // A socket can be written to until its other end is closed, and nothing waits
            // for that alone.
            End::Socket(socket) => {
                while let Ok(ready) = socket.ready(Interest::WRITABLE).await {
                    if ready.is_write_closed() || ready.is_error() {
                        return;
                    }
                    sleep(LOOK).await;
                }
            }
            End::AtOnce(_) => {}
        }
        std::future::pending().await
    }

    /// Writes some. Cancel safe.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.end {
            End::Pipe(pipe) => pipe.write(bytes).await,
            End::Socket(socket) => socket.write(bytes).await,
            End::AtOnce(file) => Ok(rustix::io::write(file, bytes)?),
        }
    }
}
