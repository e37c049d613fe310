//! Files that git is told to ignore: which of them may be code that runs.
//!
//! They are part of no commit, so that code among them is what nobody can tell.

use jelly_base::text::{WordList, is_code_file};
use std::fs;
use std::path::{Path, PathBuf};

/// So many entries of an ignored folder are looked at; a larger one may hold
/// anything.
const MAX_ENTRIES: usize = 2_000;

/// Folders that programs keep for themselves, and load nothing from that is not
/// made of the code anew.
const CACHES: WordList = WordList(
    "__pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .cache .nyc_output coverage \
     htmlcov .idea .vscode .DS_Store .git",
);

/// Folders that dependencies are installed into, each with the files that say
/// which: where one of them is committed, they follow from the commit.
const DEPENDENCIES: [(WordList, WordList); 5] = [
    (
        WordList("node_modules"),
        WordList(
            "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb",
        ),
    ),
    (
        WordList(".venv venv env .tox"),
        WordList("uv.lock poetry.lock pdm.lock Pipfile.lock pylock.toml"),
    ),
    (WordList("target"), WordList("Cargo.lock")),
    (
        WordList("vendor"),
        WordList("composer.lock Gemfile.lock go.sum"),
    ),
    (WordList("deps _build"), WordList("mix.lock")),
];

fn name_of(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("")
}

/// Whether this is a folder of dependencies, by its name.
pub(super) fn holds_dependencies(path: &Path) -> bool {
    let name = name_of(path);
    DEPENDENCIES.iter().any(|(folders, _)| folders.has(name))
}

/// Whether something that git ignores, by its path in the work tree, may be code
/// that the commit says nothing of.
pub(super) fn may_be_code(
    root: &Path,
    path: &Path,
    is_own: &dyn Fn(&Path) -> bool,
    is_tracked: &dyn Fn(&Path) -> bool,
) -> bool {
    let name = name_of(path);
    if CACHES.has(name) {
        return false;
    }
    if let Some((_, locks)) = DEPENDENCIES.iter().find(|(folders, _)| folders.has(name)) {
        let pinned = path.ancestors().skip(1).any(|folder| {
            let mut locks = locks.words();
            locks.any(|lock| is_tracked(&folder.join(lock)))
        });
        return !pinned;
    }
    let mut left = MAX_ENTRIES;
    let mut waiting: Vec<PathBuf> = vec![root.join(path)];
    while let Some(path) = waiting.pop() {
        if left == 0 {
            return true;
        }
        left -= 1;
        if is_own(&path) || CACHES.has(name_of(&path)) {
            continue;
        }
        let Ok(facts) = path.symlink_metadata() else {
            continue;
        };
        if !facts.is_dir() {
            // What a link leads to may be anything.
            if facts.is_symlink() || is_code_file(name_of(&path)) || is_executable(&facts) {
                return true;
            }
            continue;
        }
        match fs::read_dir(&path) {
            Ok(entries) => waiting.extend(entries.flatten().take(left + 1).map(|e| e.path())),
            Err(_) => return true,
        }
    }
    false
}

#[cfg(unix)]
fn is_executable(facts: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    facts.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}
