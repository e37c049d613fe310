//! Waiting for other processes at a file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at a lock that another holds.
const PAUSE: Duration = Duration::from_millis(10);

/// Why a lock was not had.
#[derive(Debug)]
pub enum LockError {
    /// Others held it all the time.
    Held,
    Io(io::Error),
}

/// Locks a file that is there for nothing else, which is created where it is
/// absent, and waits at most so long for others. The lock ends with the file
/// that is returned, also when this process is killed.
///
/// # Errors
/// Others held it for too long, or the file can't be had.
pub fn lock(path: &Path, wait: Duration) -> Result<File, LockError> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(LockError::Io)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < wait => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return Err(LockError::Held),
            Err(TryLockError::Error(source)) => return Err(LockError::Io(source)),
        }
    }
}
