//! What the core may ask of the machine it runs on.

use super::files::{self, FileRequest};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The machine, as far as answers depend on it. Tests have their own.
pub trait Host {
    fn env(&self, name: &str) -> Option<String>;
    fn pid(&self) -> u32;
    /// The working directory.
    fn cwd(&self) -> String;
    /// Some bits nobody can foresee.
    fn entropy(&self) -> u64;
    fn is_dir(&self, path: &str) -> bool;
    /// Serves one request for files below a directory.
    ///
    /// # Errors
    /// A sentence for the client.
    fn file(&mut self, root: &str, request: FileRequest<'_>) -> Result<String, String>;
}

/// The real machine.
#[derive(Debug, Default)]
pub struct OsHost {
    written: BTreeSet<PathBuf>,
}

impl Host for OsHost {
    fn env(&self, name: &str) -> Option<String> {
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn cwd(&self) -> String {
        std::env::current_dir()
            .map(|path| path.to_string_lossy().into_owned())
            .unwrap_or_default()
    }

    fn entropy(&self) -> u64 {
        use std::hash::{BuildHasher, RandomState};
        // The standard library seeds its hash maps from the system.
        RandomState::new().hash_one(self.pid())
    }

    fn is_dir(&self, path: &str) -> bool {
        Path::new(path).is_dir()
    }

    fn file(&mut self, root: &str, request: FileRequest<'_>) -> Result<String, String> {
        files::serve(Path::new(root), request, &mut self.written)
    }
}
