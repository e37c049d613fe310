//! Proposals that a run has left in its report.

use super::super::files::text_within;
use indexmap::IndexMap;
use jelly_base::model::RunReport;
use jelly_base::text::did_you_mean;
use jelly_harness::exec::{is_snapshot, snapshot_digest, unnamed_snapshots};
use jelly_plan::{PlanSource, load, snapshot_path};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// How the file of a proposal ends.
const ENDING: &str = ".snap.new";
/// A larger proposal is not read; no answer is longer than a message.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// What an answer says, where its snapshot says otherwise.
#[derive(Debug)]
pub struct Pending {
    pub name: String,
    pub plan: PathBuf,
    /// As it would be stored.
    pub text: String,
    /// What other variants of a matrix answered instead; then nothing can be
    /// stored for all of them.
    pub others: Vec<String>,
    pub stored: Option<String>,
    pub stored_at: PathBuf,
    /// More than one where several variants of a matrix say the same.
    proposed_at: Vec<PathBuf>,
    /// Why it may not be stored: somebody edited what is stored since the run,
    /// or the variants don't agree.
    stale: Option<String>,
}

impl Pending {
    /// Stores it, whole or not at all, and takes it off the list. A symbolic
    /// link stays one.
    pub fn accept(&self) -> Result<(), String> {
        if let Some(why) = &self.stale {
            return Err(why.clone());
        }
        let failed = |error: std::io::Error| {
            format!("failed to store {}: {error}", self.stored_at.display())
        };
        let is_there = fs::symlink_metadata(&self.stored_at).is_ok();
        let at = if is_there {
            fs::canonicalize(&self.stored_at).map_err(failed)?
        } else {
            self.stored_at.clone()
        };
        let folder = at.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(self.text.as_bytes()).map_err(failed)?;
        let file = file.persist(&at).map_err(|e| failed(e.error))?;
        readable(&file).map_err(failed)?;
        self.reject()
    }

    /// Takes it off the list.
    pub fn reject(&self) -> Result<(), String> {
        for file in &self.proposed_at {
            fs::remove_file(file)
                .map_err(|error| format!("failed to remove {}: {error}", file.display()))?;
            // A file without its proposal says nothing any more.
            let _ = fs::remove_file(digest_of(file));
        }
        Ok(())
    }
}

/// Where the digest lies of what a proposal was compared with.
fn digest_of(proposed_at: &Path) -> PathBuf {
    proposed_at.with_extension("sha256")
}

/// Why a proposal may not be stored: what is stored is not what the run held
/// the answer against. By content, since clocks and copies tell nothing.
fn stale(proposed_at: &Path, stored_at: &Path) -> Option<String> {
    let shown = stored_at.display();
    let now = match snapshot_digest(stored_at) {
        Ok(now) => now.unwrap_or_default(),
        Err(error) => return Some(format!("failed to read {shown}: {error}")),
    };
    let then = match text_of(&digest_of(proposed_at)) {
        Ok(then) => then,
        Err(why) => {
            return Some(format!(
                "{shown} may have been edited since the run, which left no word of what it held \
                 ({why}); run the plan again"
            ));
        }
    };
    (now != then).then(|| {
        format!("{shown} was edited since the run, so it is left as it is; run the plan again")
    })
}

/// A temporary file is its owner's alone; what is stored is to be committed.
#[cfg(unix)]
fn readable(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(PermissionsExt::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &File) -> std::io::Result<()> {
    Ok(())
}

/// What a report leaves to be reviewed.
#[derive(Debug, Default)]
pub struct Review {
    /// The proposals that are meant.
    pub pending: Vec<Pending>,
    /// How many there are besides.
    pub unnamed: usize,
    /// Which can't be had, and why.
    pub refusals: Vec<String>,
    /// What is stored, and no step names.
    pub orphans: Vec<PathBuf>,
}

/// The proposals of a run that bear these names, or all, of one of its plans or
/// of all.
///
/// # Errors
/// The report has no such plan, or no proposal of a name.
pub fn find(
    folder: &Path,
    reports: &[RunReport],
    names: &[String],
    plan: Option<&Path>,
) -> Result<Review, String> {
    let wanted = |path: &Path| plan.is_none_or(|plan| is_plan(path, plan));
    if let Some(plan) = plan
        && !reports
            .iter()
            .any(|report| wanted(Path::new(&report.plan.path)))
    {
        let mut all: Vec<&str> = reports.iter().map(|r| r.plan.path.as_str()).collect();
        all.dedup();
        return Err(format!(
            "the report has no plan `{}`, but {}",
            plan.display(),
            all.join(", ")
        ));
    }
    let (mut pending, mut refusals) = (Vec::new(), Vec::new());
    let mut orphans = BTreeSet::new();
    for report in reports {
        if !wanted(Path::new(&report.plan.path)) {
            continue;
        }
        // Of several plans, each has a folder of its own in that of the run.
        let own = report.report_dir.as_deref().map(Path::new);
        let own = own.and_then(Path::file_name).filter(|_| reports.len() > 1);
        let own = own.map_or_else(|| folder.to_owned(), |name| folder.join(name));
        let path = Path::new(&report.plan.path);
        match of_plan(path, &own.join("snapshots")) {
            Ok(found) => pending.extend(found),
            Err(why) => refusals.push(why),
        }
        orphans.extend(orphans_of(path));
    }
    let all: BTreeSet<String> = pending.iter().map(|one| one.name.clone()).collect();
    if let Some(unknown) = names.iter().find(|name| !all.contains(*name)) {
        // Its plan may be what can't be read.
        if !refusals.is_empty() {
            return Err(refusals.join("; "));
        }
        let close = did_you_mean(unknown, all.iter().map(String::as_str));
        let hint = close.map_or_else(String::new, |close| format!("; {close}"));
        return Err(format!("no snapshot `{unknown}` waits for a review{hint}"));
    }
    let mut pending = together(pending);
    let all = pending.len();
    pending.retain(|one| names.is_empty() || names.contains(&one.name));
    Ok(Review {
        unnamed: all - pending.len(),
        pending,
        refusals,
        orphans: orphans.into_iter().collect(),
    })
}

/// The stored texts of a plan that none of its steps names. A plan that can't
/// be read is told elsewhere.
fn orphans_of(plan: &Path) -> Vec<PathBuf> {
    let loaded = PlanSource::read(plan).ok().and_then(|s| load(s).ok());
    loaded.map_or_else(Vec::new, |plan| unnamed_snapshots(&plan))
}

/// Whether a plan is called so: by its path, or by its file's name without the
/// extension.
fn is_plan(path: &Path, called: &Path) -> bool {
    let same_file = || match (path.canonicalize(), called.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        (_, _) => false,
    };
    path == called || path.file_stem() == Some(called.as_os_str()) || same_file()
}

/// One for each file in which something would be stored. The variants of a
/// matrix share their plan's, and where they don't agree, none of them is
/// right for all: it can be looked at and rejected.
fn together(pending: Vec<Pending>) -> Vec<Pending> {
    let mut by_file: IndexMap<PathBuf, Vec<Pending>> = IndexMap::new();
    for one in pending {
        by_file.entry(one.stored_at.clone()).or_default().push(one);
    }
    let merged = by_file.into_values().filter_map(|all| {
        let mut all = all.into_iter();
        let mut first = all.next()?;
        for other in all {
            first.stale = first.stale.or(other.stale);
            first.proposed_at.extend(other.proposed_at);
            if other.text != first.text && !first.others.contains(&other.text) {
                first.others.push(other.text);
            }
        }
        if !first.others.is_empty() {
            let files: Vec<String> = first
                .proposed_at
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            first.stale = Some(format!(
                "the answers for the snapshot `{}` differ, so that none can be stored for all: \
                 {}; leave out what differs by `redact`, or reject them",
                first.name,
                files.join(", ")
            ));
        }
        Some(first)
    });
    merged.collect()
}

fn of_plan(plan: &Path, folder: &Path) -> Result<Vec<Pending>, String> {
    let mut files = Vec::new();
    // A run without a proposal has no such folder.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if let Some(name) = file.strip_suffix(ENDING) {
            files.push((name.to_owned(), entry.path()));
        }
    }
    if files.is_empty() {
        return Ok(Vec::new());
    }
    files.sort();
    let source = PlanSource::read(plan).map_err(|error| {
        format!("{error}; its snapshots are reviewed where the run was started")
    })?;
    let loaded = load(source).map_err(|error| error.to_string())?;
    // A report may come from anywhere: it names no file that the plan doesn't.
    let known = loaded.snapshot_names();
    files.retain(|(name, _)| known.contains(name));
    let mut pending = Vec::new();
    for (name, proposed_at) in files {
        let text = text_of(&proposed_at)?;
        let stored_at = snapshot_path(plan, &name);
        let stored = match stored_at.try_exists() {
            Ok(true) => Some(text_of(&stored_at)?),
            Ok(false) | Err(_) => None,
        };
        // It may have been stored by hand meanwhile.
        let said = text.strip_suffix('\n').unwrap_or(&text);
        if stored
            .as_deref()
            .is_some_and(|stored| is_snapshot(stored, said))
        {
            continue;
        }
        pending.push(Pending {
            name,
            plan: plan.to_owned(),
            text,
            others: Vec::new(),
            stored,
            stale: stale(&proposed_at, &stored_at),
            stored_at,
            proposed_at: vec![proposed_at],
        });
    }
    Ok(pending)
}

fn text_of(path: &Path) -> Result<String, String> {
    text_within(path, MAX_BYTES)
        .map_err(|error| format!("failed to read {}: {error}", path.display()))
}
