//! What can go wrong with the schema store.

use jelly_process::Held;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Completes "failed to …".
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("read the schema store {}", path.display())]
    Read { path: PathBuf, source: io::Error },

    /// It is left as it is.
    #[error("read the schema store {}: {why}", path.display())]
    Corrupt { path: PathBuf, why: String },

    #[error("write the schema store {}", path.display())]
    Write { path: PathBuf, source: io::Error },

    #[error(
        "write the schema store {}: it would have {bytes} bytes, more than jelly reads again",
        path.display()
    )]
    TooLarge { path: PathBuf, bytes: usize },

    #[error("lock the schema store {}: {held}", path.display())]
    Locked { path: PathBuf, held: Held },
}
