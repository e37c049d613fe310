//! What can go wrong with a history.

use jelly_process::Held;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Completes "failed to …".
#[derive(Debug, Error)]
pub enum HistoryError {
    #[error("read the history {}", path.display())]
    Read { path: PathBuf, source: io::Error },

    #[error("write the history {}", path.display())]
    Write { path: PathBuf, source: io::Error },

    #[error(
        "read the history {}: it has {bytes} bytes, more than jelly ever lets it grow to; \
         move it out of the way",
        path.display()
    )]
    TooLarge { path: PathBuf, bytes: u64 },

    #[error("lock the history {}: {held}", path.display())]
    Locked { path: PathBuf, held: Held },

    #[error("{task} the history {name}: {why}")]
    Store {
        /// As in "read".
        task: &'static str,
        name: String,
        why: String,
    },

    #[error("put a run into the history")]
    Encode { source: serde_json::Error },
}
