//! `jelly run --watch`: runs again what a change touches, until it is left.
//!
//! What changed is found out by looking at the files themselves; the system's
//! notices only say when to look. So nothing that a run writes (reports, the
//! history, what servers keep) starts another one.

mod files;

use super::interrupt;
use super::plan_files::{is_stdin, plans, plans_and_others};
use super::refusal::{Refusal, complain};
use super::run::{Signals, run_all};
use super::runtime::runtime;
use super::settings::World;
use crate::cli::args::{RunArgs, RunFormat};
use files::WatchedPlans;
use jelly_base::model::ExitCode;
use jelly_base::text::{one_line, plural};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// So long nothing more must change before it is run: an editor writes several
/// files, and a compiler many.
const QUIET: Duration = Duration::from_millis(200);
/// So long that is waited for, at most.
const UNQUIET: Duration = Duration::from_secs(5);
/// Files that a line names.
const NAMED: usize = 3;

/// Runs plans again and again.
pub fn watch(args: &RunArgs, world: &World) -> Result<ExitCode, Refusal> {
    refuse_misuse(args, world)?;
    runtime()?.block_on(watching(args, world))
}

fn refuse_misuse(args: &RunArgs, world: &World) -> Result<(), Refusal> {
    if world.in_ci() {
        return Err(Refusal::with_help(
            "--watch runs until it is interrupted, and this is a CI run (CI is set)",
            "leave it out",
        ));
    }
    if args.format != RunFormat::Human {
        return Err(Refusal::with_help(
            "--watch runs more than once, and this format is one document",
            "leave --format out; --report FORMAT=FILE is written by each run",
        ));
    }
    if args.plans.iter().any(|path| is_stdin(path)) {
        return Err(Refusal::with_help(
            "--watch needs a file that can change, and this plan comes from stdin",
            "name the plan's file",
        ));
    }
    Ok(())
}

async fn watching(args: &RunArgs, world: &World) -> Result<ExitCode, Refusal> {
    let mut signals = interrupt::listen()?;
    let mut notices = Notices::open()?;
    let mut due = plans(&args.plans, "run")?;
    let mut watched = WatchedPlans::default();
    let mut codes: BTreeMap<PathBuf, ExitCode> = BTreeMap::new();
    loop {
        watched.look(&plans_now(args).unwrap_or_else(|| due.clone()), args, world);
        notices.listen(&watched.folders())?;
        // What changes while it runs counts, unless the run itself changes it.
        let before = watched.stamps();
        let own = RunArgs {
            plans: due.clone(),
            ..args.clone()
        };
        let code = run_all(own, world, signals.clone()).await;
        let code = code.unwrap_or_else(Refusal::tell);
        if matches!(code, ExitCode::Interrupted(_)) {
            return Ok(code);
        }
        codes.extend(due.iter().map(|path| (path.clone(), code)));
        let mut stamps = match watched.run_writes(args) {
            true => watched.stamps(),
            false => before,
        };
        let files = plural(watched.files(), "file");
        complain(&format!("watching {files} for changes; Ctrl-C leaves"));
        due = loop {
            let mut all = plans_now(args).unwrap_or_default();
            watched.look(&all, args, world);
            notices.listen(&watched.folders())?;
            let mut changed = watched.changed(&stamps);
            if !changed.is_empty() {
                notices.settle(&mut signals).await;
                // Plans may have come and gone meanwhile.
                all = plans_now(args).unwrap_or_default();
                watched.look(&all, args, world);
                notices.listen(&watched.folders())?;
                changed = watched.changed(&stamps);
            }
            codes.retain(|path, _| all.contains(path));
            if !changed.is_empty() && signals.borrow().is_none() {
                tell(&changed);
                let touched = watched.touched_by(&changed);
                stamps = watched.stamps();
                if !touched.is_empty() {
                    break touched;
                }
            }
            if !notices.next(&mut signals).await {
                return Ok(ExitCode::strongest(codes.values().copied()));
            }
        };
    }
}

/// The plans that there are by now, where there are any.
fn plans_now(args: &RunArgs) -> Option<Vec<PathBuf>> {
    let plans = plans_and_others(&args.plans, "run").ok();
    plans.map(|(plans, _)| plans)
}

fn tell(changed: &BTreeSet<PathBuf>) {
    let names = changed.iter().take(NAMED);
    let names: Vec<String> = names
        .map(|path| one_line(&path.display().to_string(), 200))
        .collect();
    let more = match changed.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    complain(&format!("changed: {}{more}", names.join(", ")));
}

/// The system's word that something changed somewhere.
struct Notices {
    watcher: RecommendedWatcher,
    came: mpsc::Receiver<()>,
    folders: BTreeSet<PathBuf>,
}

impl Notices {
    fn open() -> Result<Self, Refusal> {
        let (tell, came) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |_| {
            // One that waits already says it all.
            let _ = tell.try_send(());
        });
        Ok(Self {
            watcher: watcher.map_err(|error| unwatchable(&error))?,
            came,
            folders: BTreeSet::new(),
        })
    }

    /// Listens to these folders, and to no others.
    fn listen(&mut self, folders: &BTreeSet<PathBuf>) -> Result<(), Refusal> {
        for gone in self.folders.difference(folders) {
            // One that was removed is watched by nobody any more.
            let _ = self.watcher.unwatch(gone);
        }
        for new in folders.difference(&self.folders) {
            match self.watcher.watch(new, RecursiveMode::NonRecursive) {
                Ok(()) => {}
                // It went since it was looked at.
                Err(_) if !new.is_dir() => {}
                Err(error) => return Err(unwatchable(&error)),
            }
        }
        self.folders.clone_from(folders);
        Ok(())
    }

    /// Waits until something may have changed; false where a signal came.
    async fn next(&mut self, signals: &mut Signals) -> bool {
        tokio::select! {
            came = self.came.recv() => came.is_some(),
            _ = signals.wait_for(Option::is_some) => false,
        }
    }

    /// Waits until nothing changes any more.
    async fn settle(&mut self, signals: &mut Signals) {
        let over = Instant::now() + UNQUIET;
        while Instant::now() < over {
            match timeout(QUIET, self.next(signals)).await {
                Ok(true) => {}
                Ok(false) | Err(_) => return,
            }
        }
    }
}

fn unwatchable(error: &notify::Error) -> Refusal {
    Refusal::needs_help(format!(
        "error: changes of files can't be watched: {error}\nhelp: on Linux, \
         `sysctl fs.inotify.max_user_watches` says how many folders may be"
    ))
}
