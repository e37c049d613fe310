//! A work tree of git that is clean, and what is in its commit.

use super::ignored::{holds_dependencies, may_be_code};
use super::started::Started;
use crate::git::{git, path_of};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// More than this of an answer is not read: of such a tree nothing is said.
const MAX_OUTPUT: usize = 32 * 1024 * 1024;

/// A clean work tree.
#[derive(Debug)]
pub(super) struct Checkout {
    /// Resolved.
    root: PathBuf,
    commit: String,
    /// By path below the root.
    tracked: BTreeSet<PathBuf>,
}

/// What a work tree differs by from its commit.
#[derive(Debug, Default)]
struct Differences {
    commit: Option<String>,
    /// Changed, or in no commit; below the root.
    changed: Vec<PathBuf>,
    ignored: Vec<PathBuf>,
}

impl Checkout {
    /// Looks at the work tree at `root`, which is resolved. None where it is not
    /// clean, or where that can't be told. What lies in `own` makes it no less so:
    /// it is written by jelly.
    pub(super) async fn look(root: &Path, own: &[PathBuf]) -> Option<Self> {
        let status = [
            "status",
            "--porcelain=v2",
            "--branch",
            "-z",
            "--untracked-files=all",
            "--ignored=matching",
            "--no-renames",
            "--ignore-submodules=none",
        ];
        let (said, files) = tokio::join!(
            git(root, &status, MAX_OUTPUT),
            git(root, &["ls-files", "-v", "-s", "-z"], MAX_OUTPUT)
        );
        let differences = differences(&said?)?;
        let tracked = tracked(&files?, root)?;
        let is_own = |path: &Path| own.iter().any(|own| path.starts_with(own));
        let mut changed = differences.changed.iter();
        let mut ignored = differences.ignored.iter();
        let is_tracked = |path: &Path| tracked.contains(path);
        let clean = changed.all(|path| is_own(&root.join(path)))
            && ignored.all(|path| !may_be_code(root, path, &is_own, &is_tracked));
        clean.then_some(Self {
            root: root.to_owned(),
            commit: differences.commit?,
            tracked,
        })
    }

    pub(super) fn commit(&self) -> &str {
        &self.commit
    }

    /// Whether all that is started is part of the commit, with the `folders` that code
    /// is loaded from besides.
    pub(super) fn holds(&self, started: &Started, folders: &[PathBuf]) -> bool {
        let Started { files, interpreter } = started;
        // One that dependencies were installed with is as known as these are.
        let runs = interpreter.as_ref().is_none_or(|path| {
            let Some(below) = path.strip_prefix(&self.root).ok() else {
                return true;
            };
            self.tracked.contains(below) || below.ancestors().any(holds_dependencies)
        });
        let mut loaded = files.iter().chain(folders);
        runs && loaded.all(|path| self.is_in_commit(path))
    }

    /// Whether it is a file of the commit, or a folder with some.
    fn is_in_commit(&self, path: &Path) -> bool {
        // By way of no link that leads out of the tree.
        let Ok(resolved) = path.canonicalize() else {
            return false;
        };
        let Ok(below) = resolved.strip_prefix(&self.root) else {
            return false;
        };
        let mut from = self.tracked.range(below.to_owned()..);
        from.next().is_some_and(|first| first.starts_with(below))
    }
}

/// Reads `git status --porcelain=v2`.
fn differences(said: &[u8]) -> Option<Differences> {
    let mut found = Differences::default();
    for entry in said.split(|byte| *byte == 0).filter(|e| !e.is_empty()) {
        let after = |fields: usize| entry.splitn(fields, |byte| *byte == b' ').nth(fields - 1);
        match entry.first()? {
            b'#' => {
                if let Some(oid) = entry.strip_prefix(b"# branch.oid ") {
                    let oid = std::str::from_utf8(oid).ok()?;
                    let is_commit = oid.bytes().all(|byte| byte.is_ascii_hexdigit());
                    found.commit = is_commit.then(|| oid.to_owned());
                }
            }
            b'1' => found.changed.push(path_of(after(9)?)),
            b'u' => found.changed.push(path_of(after(11)?)),
            b'?' => found.changed.push(path_of(after(2)?)),
            b'!' => found.ignored.push(path_of(after(2)?)),
            _ => return None,
        }
    }
    Some(found)
}

/// Reads `git ls-files -v -s`. None where the index hides changes of a file, or
/// where a part of the tree is another repository or lies elsewhere.
fn tracked(said: &[u8], root: &Path) -> Option<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    for entry in said.split(|byte| *byte == 0).filter(|e| !e.is_empty()) {
        // As in `H 100644 0123… 0<tab>name`.
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let (facts, path) = (entry.get(..tab)?, path_of(entry.get(tab + 1..)?));
        let mut facts = facts.split(|byte| *byte == b' ');
        if facts.next() != Some(b"H") {
            return None;
        }
        match facts.next()? {
            b"160000" => return None,
            b"120000" => {
                let leads_out = |to: PathBuf| !to.starts_with(root);
                if root.join(&path).canonicalize().is_ok_and(leads_out) {
                    return None;
                }
            }
            _ => {}
        }
        files.insert(path);
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::{differences, tracked};
    use std::path::{Path, PathBuf};

    #[test]
    fn what_git_says_is_read() {
        let said = b"# branch.oid 0123456789abcdef\0# branch.head main\0\
            1 .M N... 100644 100644 100644 0a 0b a b.py\0? new.py\0! node_modules/\0";
        let found = differences(said).unwrap();
        assert_eq!(found.commit.as_deref(), Some("0123456789abcdef"));
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(found.changed, paths(&["a b.py", "new.py"]));
        assert_eq!(found.ignored, paths(&["node_modules/"]));
        let first = differences(b"# branch.oid (initial)\0").unwrap();
        assert_eq!(first.commit, None);
        assert!(differences(b"9 odd\0").is_none());
    }

    #[test]
    fn an_index_that_hides_something_proves_nothing() {
        let of = |said: &str| tracked(said.as_bytes(), Path::new("/nowhere"));
        let files = of("H 100644 0a 0\ta.py\0H 100755 0b 0\tb c\0").unwrap();
        assert_eq!(files.len(), 2);
        for hiding in [
            "h 100644 0a 0\tassumed-unchanged.py\0",
            "S 100644 0a 0\tskipped.py\0",
            "M 100644 0a 1\tconflict.py\0",
            "H 160000 0a 0\tsubmodule\0",
            "H 100644",
        ] {
            assert!(of(hiding).is_none(), "{hiding}");
        }
    }
}
