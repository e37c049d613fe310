//! The server's stderr on its way to our own.
//!
//! Main type: [`PassOn`]. A client that never reads it must not hold up what
//! passes: the bytes go through a thread of their own, and what it can't take
//! is left out, and counted.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Pieces that wait for the thread, each of at most a pipe's read.
const PIECES: usize = 256;

/// Writes to our own stderr, and never waits.
#[derive(Debug, Clone)]
pub struct PassOn {
    pieces: SyncSender<Vec<u8>>,
    left_out: u64,
}

/// Told when all was written.
#[derive(Debug)]
pub struct PassedOn(Receiver<()>);

impl PassOn {
    /// Starts the thread.
    ///
    /// # Errors
    /// There can be none.
    pub fn start() -> io::Result<(Self, PassedOn)> {
        let (pieces, received) = sync_channel::<Vec<u8>>(PIECES);
        let (done, passed_on) = sync_channel(1);
        thread::Builder::new()
            .name("stderr".into())
            .stack_size(64 * 1024)
            .spawn(move || {
                let mut stderr = io::stderr();
                while let Ok(piece) = received.recv() {
                    // Where it is closed there is nobody left to tell.
                    if stderr.write_all(&piece).is_err() {
                        break;
                    }
                }
                let _ = done.send(());
            })?;
        let pass_on = Self {
            pieces,
            left_out: 0,
        };
        Ok((pass_on, PassedOn(passed_on)))
    }

    fn offer(&mut self, bytes: &[u8]) {
        let mut piece = Vec::with_capacity(bytes.len());
        if self.left_out > 0 {
            let note = format!("\n[jelly left out {} bytes]\n", self.left_out);
            piece.extend_from_slice(note.as_bytes());
        }
        piece.extend_from_slice(bytes);
        match self.pieces.try_send(piece) {
            Ok(()) => self.left_out = 0,
            Err(TrySendError::Full(_)) => self.left_out += bytes.len() as u64,
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}

impl Write for PassOn {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.offer(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PassedOn {
    /// Waits for the last bytes, yet not for long; every [`PassOn`] has to be
    /// dropped before.
    pub fn wait(self, limit: Duration) {
        let until = Instant::now() + limit;
        // Whether it was done in time, nobody can be told.
        let _ = self
            .0
            .recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}
