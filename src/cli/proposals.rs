//! What lies beside a plan's text: the snapshots that are stored for it, and
//! those that an iteration's answers propose.

use super::invalid::chain;
use crate::report::{ReportDir, ReportError};
use jelly_harness::exec::{digest_of_snapshot, snapshot_digest};
use jelly_harness::triage_loop::StoredSnapshots;
use jelly_plan::Plan;
use jelly_plan::snapshot_path;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What is stored now for the snapshots that the plan names.
pub fn stored(plan: &Plan) -> StoredSnapshots {
    let digest = |name: &str| {
        // One that can't be read is not what it was when it could be.
        snapshot_digest(&snapshot_path(&plan.source.path, name))
            .unwrap_or_else(|error| Some(error.kind().to_string()))
    };
    let names = plan.snapshot_names();
    names
        .into_iter()
        .map(|name| (name.clone(), digest(&name)))
        .collect()
}

/// The proposals of the iteration that runs, which are the last one's when
/// none does: what a later one has answered otherwise is no proposal any more.
pub struct Proposals {
    plan: PathBuf,
    report_dir: Rc<ReportDir>,
    /// One file can hold one of two texts only.
    texts: RefCell<BTreeMap<String, String>>,
}

impl Proposals {
    pub fn new(plan: &Path, report_dir: Rc<ReportDir>) -> Self {
        Self {
            plan: plan.to_owned(),
            report_dir,
            texts: RefCell::default(),
        }
    }

    /// Takes back what earlier iterations have proposed.
    pub fn begin(&self) -> Result<(), ReportError> {
        let earlier = std::mem::take(&mut *self.texts.borrow_mut());
        earlier
            .keys()
            .try_for_each(|name| self.report_dir.withdraw_snapshot(name))
    }

    /// What would be stored for the plan's snapshots if all proposals were
    /// accepted; none where nothing is proposed.
    pub fn accepted(&self, plan: &Plan) -> Option<StoredSnapshots> {
        let texts = self.texts.borrow();
        if texts.is_empty() {
            return None;
        }
        let mut snapshots = stored(plan);
        for (name, text) in texts.iter() {
            let digest = digest_of_snapshot(format!("{text}\n").as_bytes());
            snapshots.insert(name.clone(), Some(digest));
        }
        Some(snapshots)
    }

    /// Keeps what the snapshot `name` would have to hold, and says where;
    /// otherwise what completes "failed to …".
    pub fn keep(&self, name: &str, text: &str) -> Result<String, String> {
        let mut texts = self.texts.borrow_mut();
        let first = texts.entry(name.to_owned());
        if first.or_insert_with(|| text.to_owned()) != text {
            return Err(format!(
                "keep it beside another text of the same name: two expectations share the \
                 snapshot `{name}`, and got different texts; give each a name of its own"
            ));
        }
        let stored = snapshot_digest(&snapshot_path(&self.plan, name))
            .map_err(|error| format!("read what is stored: {error}"))?;
        self.report_dir
            .propose_snapshot(name, text, stored.as_deref())
            .map_err(|error| chain(&error))
    }
}
