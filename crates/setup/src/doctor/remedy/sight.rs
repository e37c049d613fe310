//! What can be seen of the machine that the servers are started on.

use std::path::{Path, PathBuf};

/// Answers what remedies ask of the machine, so that they need not touch it.
pub trait Sight {
    /// Whether a file or folder exists.
    fn is_there(&self, path: &Path) -> bool;
    fn is_folder(&self, path: &Path) -> bool;
    /// What lies in a folder, by name; nothing where it can't be read.
    fn names(&self, folder: &Path) -> Vec<String>;
    /// What a file holds, if it is a text of moderate size.
    fn text(&self, file: &Path) -> Option<String>;
    /// The first bytes of a file; nothing where it can't be read.
    fn head(&self, file: &Path) -> Vec<u8> {
        let _ = file;
        Vec::new()
    }
    /// What a path leads to in the end, all its links followed.
    fn real(&self, path: &Path) -> Option<PathBuf>;
    /// What this program answers to `--version`, if it is quick about it.
    fn version(&self, program: &Path) -> Option<String>;
    /// Where the PATH leads to for this command.
    fn on_path(&self, command: &str) -> Option<PathBuf>;
    /// Whether what servers inherit has a variable of this name with something in it.
    fn is_inherited(&self, variable: &str) -> bool {
        let _ = variable;
        false
    }
}
