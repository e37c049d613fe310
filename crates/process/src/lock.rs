//! Waiting for other processes at a file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Between two looks at a lock that another holds.
const PAUSE: Duration = Duration::from_millis(10);

/// Others held the lock all the time.
#[derive(Debug, Error)]
#[error(
    "another jelly has been writing to it for {} s; if none is running, look who holds {}",
    waited.as_secs(),
    lock.display()
)]
pub struct Held {
    lock: PathBuf,
    waited: Duration,
}

/// Why a lock was not had.
#[derive(Debug)]
pub enum LockError {
    Held(Held),
    Io(io::Error),
}

/// Locks a file for whoever locks it in the same way, and waits at most so long
/// for others: at `PATH.lock`, since the file itself may be replaced. Its
/// folder and the lock are created where they are absent. The lock ends with
/// the file that is returned, also when this process is killed.
///
/// # Errors
/// Others held it for too long, or the lock can't be had.
pub fn lock_beside(path: &Path, wait: Duration) -> Result<File, LockError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(LockError::Io)?;
    }
    let mut lock = path.as_os_str().to_os_string();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    // To open what is no file, as a pipe that nobody reads, might never end.
    if fs::metadata(&lock).is_ok_and(|there| !there.is_file()) {
        let what = format!("{} is not a file", lock.display());
        return Err(LockError::Io(io::Error::other(what)));
    }
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&lock)
        .map_err(LockError::Io)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < wait => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::Held(Held { lock, waited: wait }));
            }
            Err(TryLockError::Error(source)) => return Err(LockError::Io(source)),
        }
    }
}
