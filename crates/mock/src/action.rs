//! What the core wants done: the only words between it and the edge.

use super::fault::{Grandchild, Signal};
use super::state::State;
use std::time::Duration;

/// One effect, carried out in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Bytes for stdout.
    Write {
        bytes: Vec<u8>,
        pieces: Pieces,
    },
    /// Bytes for stderr, in one write.
    Stderr(Vec<u8>),
    /// So many bytes of filler for stderr.
    StderrFlood(usize),
    /// Nothing else happens for so long.
    Pause(Duration),
    /// These happen after so long, while the server goes on; unless the
    /// request they answer is cancelled before.
    Later {
        after: Duration,
        request: String,
        then: Vec<Action>,
    },
    /// What waits for this request never happens.
    Cancel(String),
    Exit(i32),
    Kill(Signal),
    /// Nothing is read or done any more.
    Hang,
    CloseStdout,
    IgnoreSigterm,
    Grandchild(Grandchild),
    /// Listens on a TCP port, prints this text with `${port}` filled in, and
    /// never comes back.
    Listen(String),
    Persist(State),
}

/// In how many writes bytes go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pieces {
    Whole,
    /// So many bytes each, with a pause between.
    Fixed {
        size: usize,
        pause: Duration,
    },
    /// 1 to 16 bytes each, by this seed.
    Random {
        seed: u64,
    },
}

impl Action {
    /// A line on stderr.
    #[must_use]
    pub fn stderr_line(text: &str) -> Self {
        Self::Stderr(format!("{text}\n").into_bytes())
    }

    /// A line on stdout, as it is.
    #[must_use]
    pub fn stdout_line(text: &str) -> Self {
        Self::Write {
            bytes: format!("{text}\n").into_bytes(),
            pieces: Pieces::Whole,
        }
    }
}
