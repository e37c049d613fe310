//! What remedies may ask of this machine.

use super::super::files::text_within;
use jelly_base::files::open_to_read;
use jelly_process as process;
use jelly_setup::doctor::Sight;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Entries of a folder that are looked at, and bytes of a file.
const NAMES: usize = 2000;
const BYTES: u64 = 1 << 20;
/// Bytes that tell what kind of file it is.
const HEAD: u64 = 64;
/// How long a program may take to say its version.
const ANSWER: Duration = Duration::from_secs(5);

/// This machine, with the PATH that servers get.
pub struct Machine<'a> {
    pub path: &'a str,
}

impl Sight for Machine<'_> {
    fn is_there(&self, path: &Path) -> bool {
        path.exists()
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let names = entries
            .take(NAMES)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.collect()
    }

    fn text(&self, file: &Path) -> Option<String> {
        text_within(file, BYTES).ok()
    }

    fn head(&self, file: &Path) -> Vec<u8> {
        let mut head = Vec::new();
        // A pipe or a device may never end.
        if let Ok(file) = open_to_read(file) {
            // What can't be read is not there.
            let _ = file.take(HEAD).read_to_end(&mut head);
        }
        head
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok()
    }

    fn version(&self, program: &Path) -> Option<String> {
        process::version_of(program, ANSWER)
    }

    fn on_path(&self, command: &str) -> Option<PathBuf> {
        if command.is_empty() || command.contains('/') {
            return None;
        }
        std::env::split_paths(self.path)
            .map(|folder| folder.join(command))
            .find(|path| path.is_file())
    }

    fn is_inherited(&self, variable: &str) -> bool {
        std::env::var_os(variable).is_some_and(|value| !value.is_empty())
    }
}

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "written_commands.rs"]
mod written;
