//! The git work tree that a project lies in: which of its files a hook
//! changed. Where there is no git, or no answer in time, nothing is said.

use crate::git::{git, path_of};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// More than this of an answer is not read: such a tree is not looked at.
const MAX_OUTPUT: usize = 8 * 1024 * 1024;
/// Files that differ from the last commit; of more, nothing is said.
const MAX_FILES: usize = 20_000;
/// Of larger files, length and time tell whether they were changed.
const MAX_HASHED: u64 = 8 * 1024 * 1024;

/// How a work tree differs from its last commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTree {
    root: PathBuf,
    /// The last commit; none before the first.
    head: Option<String>,
    /// What is at each path that differs, by path below the root.
    files: BTreeMap<PathBuf, String>,
}

impl WorkTree {
    /// Looks at the work tree that `folder` lies in.
    pub async fn look(folder: &Path) -> Option<Self> {
        let root = git(folder, &["rev-parse", "--show-toplevel"], MAX_OUTPUT).await?;
        let root = PathBuf::from(String::from_utf8(root).ok()?.trim_end_matches('\n'));
        let head = git(
            folder,
            &["rev-parse", "--verify", "--quiet", "HEAD"],
            MAX_OUTPUT,
        )
        .await;
        let head = head.and_then(|head| Some(String::from_utf8(head).ok()?.trim().to_owned()));
        let status = [
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            "--ignore-submodules=none",
        ];
        let listed = git(folder, &status, MAX_OUTPUT).await?;
        let mut files = BTreeMap::new();
        // As in `?? name`, where the two letters are the state.
        for entry in listed.split(|byte| *byte == 0) {
            let (Some(state), Some(name)) = (entry.get(..2), entry.get(3..)) else {
                continue;
            };
            if files.len() >= MAX_FILES {
                return None;
            }
            let path = path_of(name);
            let content = content(&root.join(&path));
            files.insert(path, format!("{state:?} {content}"));
        }
        Some(Self { root, head, files })
    }

    /// The files that are others now, by their whole paths and in order.
    pub async fn changed(&self, folder: &Path) -> Vec<PathBuf> {
        let Some(now) = Self::look(folder).await else {
            return Vec::new();
        };
        let paths: BTreeSet<&PathBuf> = self.files.keys().chain(now.files.keys()).collect();
        let differs = |path: &&PathBuf| self.files.get(*path) != now.files.get(*path);
        let mut changed: BTreeSet<PathBuf> = paths.into_iter().filter(differs).cloned().collect();
        if let (Some(before), Some(after)) = (&self.head, &now.head)
            && before != after
        {
            let commits = format!("{before}..{after}");
            let args = ["diff", "--name-only", "-z", "--no-renames", &commits, "--"];
            let listed = git(folder, &args, MAX_OUTPUT).await.unwrap_or_default();
            let committed = listed.split(|byte| *byte == 0);
            changed.extend(committed.filter(|name| !name.is_empty()).map(path_of));
        }
        changed.iter().map(|path| self.root.join(path)).collect()
    }

    /// As a reader of the repository knows it.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        below.display().to_string()
    }
}

/// What tells a file from what it was.
fn content(path: &Path) -> String {
    let Ok(facts) = path.symlink_metadata() else {
        return "gone".to_owned();
    };
    if facts.is_symlink() {
        return format!("link {:?}", fs::read_link(path).ok());
    }
    if !facts.is_file() || facts.len() > MAX_HASHED {
        return format!("{} {:?}", facts.len(), facts.modified().ok());
    }
    match fs::read(path) {
        Ok(bytes) => format!("{:x?}", Sha256::digest(&bytes)),
        Err(error) => error.kind().to_string(),
    }
}
