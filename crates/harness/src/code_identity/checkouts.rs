//! The edge of this room: commands and the disk → what is proved of their code.

use super::checkout::Checkout;
use super::started::{Lies, load_folders, started};
use super::types::CodeIdentity;
use jelly_package::exact_version;
use jelly_process::{CommandSpec, program_of};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::Instant;

/// Many plans of one call begin together, and are told what was seen for one.
const SEEN_FOR: Duration = Duration::from_secs(2);

/// Looks at the work trees that servers are started from.
#[derive(Debug, Default)]
pub struct Checkouts {
    /// What jelly itself writes, resolved.
    own: Vec<PathBuf>,
    seen: RefCell<HashMap<PathBuf, Look>>,
}

#[derive(Debug, Clone)]
struct Look {
    began: Instant,
    found: Rc<OnceCell<Option<Checkout>>>,
}

impl Checkouts {
    /// `own` are files and folders that jelly writes: they make no tree dirty.
    #[must_use]
    pub fn new(own: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            own: own.into_iter().map(|path| resolved(&path)).collect(),
            seen: RefCell::default(),
        }
    }

    /// What proves which code a command starts, as the disk is now; none where
    /// nothing does.
    pub async fn identify(&self, command: &CommandSpec) -> Option<CodeIdentity> {
        let folders = load_folders(&command.env, &command.cwd)?;
        if let Some(version) = exact_version(&command.argv) {
            return folders
                .is_empty()
                .then_some(CodeIdentity::Published(version));
        }
        let program = program_of(command)?;
        let started = started(&program, command.argv.get(1..)?, &command.cwd, &lies)?;
        let root = root_of(started.files.first()?)?;
        let look = self.look_at(&root);
        let found = look.get_or_init(|| Checkout::look(&root, &self.own)).await;
        let checkout = found
            .as_ref()
            .filter(|tree| tree.holds(&started, &folders))?;
        Some(CodeIdentity::Commit(checkout.commit().to_owned()))
    }

    /// What was seen so far counts no more: something may have changed the code.
    pub fn forget(&self) {
        self.seen.borrow_mut().clear();
    }

    fn look_at(&self, root: &Path) -> Rc<OnceCell<Option<Checkout>>> {
        let mut seen = self.seen.borrow_mut();
        let now = Instant::now();
        let look = seen
            .get(root)
            .filter(|look| now.duration_since(look.began) < SEEN_FOR);
        let look = look.cloned().unwrap_or_else(|| Look {
            began: now,
            found: Rc::default(),
        });
        seen.insert(root.to_owned(), look.clone());
        look.found
    }
}

fn lies(path: &Path) -> Lies {
    match path.metadata() {
        Ok(facts) if facts.is_file() => Lies::File,
        Ok(facts) if facts.is_dir() => Lies::Folder,
        Ok(_) | Err(_) => Lies::Nowhere,
    }
}

/// The work tree that a file is in.
fn root_of(file: &Path) -> Option<PathBuf> {
    let file = file.canonicalize().ok()?;
    let root = file.ancestors().find(|at| at.join(".git").exists())?;
    Some(root.to_owned())
}

/// With no links in it, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for there in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (there.canonicalize(), path.strip_prefix(there)) {
            return real.join(rest);
        }
    }
    path
}
