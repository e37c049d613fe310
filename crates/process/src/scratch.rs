//! Temporary folders that are gone with jelly, whatever ends it.
//!
//! Main type: [`Scratch`]. All of them lie in one folder, whose name is chosen
//! before jelly splits in two, so that each half can take it away when the
//! other has died.

use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use tempfile::TempDir;

/// The folder of all of them; it exists as long as one of them does.
static HOME: OnceLock<PathBuf> = OnceLock::new();

/// Held while one comes or goes, so that the home of all does not go under
/// the one that comes.
static CHANGES: Mutex<()> = Mutex::new(());

fn one_at_a_time() -> MutexGuard<'static, ()> {
    CHANGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A fresh temporary folder that nobody else can read; removed when this is
/// dropped, or when jelly dies before.
#[derive(Debug)]
pub struct Scratch {
    // Removed before the folder that it lies in.
    own: Option<TempDir>,
    home: PathBuf,
}

impl Scratch {
    /// # Errors
    /// The system's folder for such things can't be written.
    pub fn new() -> io::Result<Self> {
        let _guard = one_at_a_time();
        let home = home();
        let made = DirBuilder::new().mode(0o700).create(home);
        // Another plan's may be there.
        if let Err(error) = made
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(error);
        }
        Ok(Self {
            own: Some(tempfile::Builder::new().prefix("tmp-").tempdir_in(home)?),
            home: home.to_owned(),
        })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.own.as_ref().map_or(&self.home, TempDir::path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(self.own.take());
        let _guard = one_at_a_time();
        // Refused as long as there is another one in it.
        let _ = fs::remove_dir(&self.home);
    }
}

/// Chooses the name, if that was not done yet. It can't be guessed, so that
/// nobody is there before us.
pub(super) fn home() -> &'static Path {
    HOME.get_or_init(|| {
        let chance = RandomState::new().build_hasher().finish();
        std::env::temp_dir().join(format!("jelly-{chance:016x}"))
    })
}

/// Removes all that is there now, for an end without destructors.
pub fn clear_scratch() {
    if let Some(home) = HOME.get() {
        // Hardly ever is there anything; and what can't be removed stays.
        let _ = fs::remove_dir_all(home);
    }
}

#[cfg(test)]
mod tests {
    use super::Scratch;

    #[test]
    fn a_folder_is_fresh_and_leaves_nothing() {
        let first = Scratch::new().unwrap();
        let second = Scratch::new().unwrap();
        assert_ne!(first.path(), second.path());
        assert_eq!(first.path().parent(), second.path().parent());
        let path = first.path().to_owned();
        std::fs::write(path.join("a"), "b").unwrap();
        drop(first);
        assert!(!path.exists() && second.path().is_dir());
    }
}
