//! What is done to a history: tables made, runs delivered, old ones taken out.

use crate::cli::args::{MigrateArgs, PruneArgs, PushArgs};
use crate::cli::open_history::{SPOOL, not_kept, unread};
use crate::cli::out::say;
use crate::cli::refusal::{Refusal, complain};
use crate::cli::settings::World;
use jelly_base::model::ExitCode;
use jelly_base::text::plural;
use jelly_triage::history::{HistoryFile, PastRun, Recorded};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Folders below a named one in which runs may wait: that of a call, and that of
/// a shard.
const DEPTH: usize = 3;

/// What can be done to a database only.
fn no_database(what: &str) -> Refusal {
    Refusal::with_help(
        format!("jelly history {what}: the history is a file"),
        "name a database, as in --history postgres://USER@HOST/NAME",
    )
}

#[cfg(feature = "postgres")]
mod of_database {
    use super::{ExitCode, MigrateArgs, PruneArgs, Refusal, World};
    use super::{no_database, not_kept, plural, say, unread};
    use crate::cli::args::HistoryArgs;
    use crate::cli::open_history::{HistoryPlace, database_address};
    use jelly_history_postgres::PostgresHistory;
    use jelly_triage::history::is_database;
    use jiff::{SignedDuration, Timestamp};

    /// Makes the tables, or brings them up to date.
    pub fn migrate(args: &MigrateArgs, world: &World) -> Result<ExitCode, Refusal> {
        let named = args
            .history
            .history
            .as_deref()
            .and_then(|path| path.to_str());
        let url = named
            .filter(|place| is_database(place))
            .ok_or_else(|| no_database("migrate"))?;
        let address = database_address(url, world)?;
        let name = address.name.clone();
        let done = PostgresHistory::migrate(address).map_err(|error| unread(&error))?;
        let told = match done.from == done.to {
            true => format!("{name}: version {}, as it was\n", done.to),
            false => format!("{name}: version {} → {}\n", done.from, done.to),
        };
        say(told, ExitCode::Passed)
    }

    /// Takes out what is old.
    pub fn prune(args: &PruneArgs, world: &World) -> Result<ExitCode, Refusal> {
        let database = database(&args.history, world)?;
        let age = SignedDuration::try_from(args.older_than).ok();
        let before = age.and_then(|age| Timestamp::now().checked_sub(age).ok());
        let before = before.ok_or_else(|| {
            Refusal::with_help("--older-than: nothing is so old", "name fewer days")
        })?;
        let pruned = database.prune(before).map_err(|error| unread(&error))?;
        let pruned = usize::try_from(pruned).unwrap_or(usize::MAX);
        say(
            format!("{} taken out\n", plural(pruned, "run")),
            ExitCode::Passed,
        )
    }

    fn database(args: &HistoryArgs, world: &World) -> Result<PostgresHistory, Refusal> {
        match args.place(world)?.ok_or_else(not_kept)? {
            HistoryPlace::Database(database) => Ok(database),
            HistoryPlace::File(_) => Err(no_database("prune")),
        }
    }
}

#[cfg(feature = "postgres")]
pub use of_database::{migrate, prune};

#[cfg(not(feature = "postgres"))]
pub fn migrate(args: &MigrateArgs, world: &World) -> Result<ExitCode, Refusal> {
    args.history.place(world).and(Err(no_database("migrate")))
}

#[cfg(not(feature = "postgres"))]
pub fn prune(args: &PruneArgs, world: &World) -> Result<ExitCode, Refusal> {
    args.history.place(world).and(Err(no_database("prune")))
}

/// Delivers what was kept in files. A file goes when all of it was delivered, and
/// what was delivered before counts once, so that it can be done again at any time.
pub fn push(args: &PushArgs, world: &World) -> Result<ExitCode, Refusal> {
    let store = args.history.store(world)?.ok_or_else(not_kept)?;
    let files = waiting(&args.from)?;
    store.check_writable().map_err(|error| unread(&error))?;
    let (mut delivered, mut known) = (0, 0);
    for (file, is_spool) in files {
        let spool = HistoryFile::new(&file);
        let mut runs: Vec<PastRun> = Vec::new();
        let warnings = spool.each_run(&mut |run| runs.push(run));
        let warnings = warnings.map_err(|error| unread(&error))?;
        for warning in &warnings {
            complain(&format!("warning: {warning}"));
        }
        for run in runs {
            match store.record(run).map_err(|error| unread(&error))? {
                Recorded::Run { dropped: 0 } => delivered += 1,
                Recorded::Run { dropped } => {
                    delivered += 1;
                    complain(&format!(
                        "warning: {} of a run in {} are not remembered",
                        plural(dropped, "failure"),
                        file.display()
                    ));
                }
                Recorded::Known => known += 1,
            }
        }
        // What could not be read is not thrown away.
        if is_spool && warnings.is_empty() {
            match fs::remove_file(&file) {
                Ok(()) => {}
                // Another call delivered it as well.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(Refusal::needs_help(format!(
                        "error: failed to remove {}, which is delivered: {error}",
                        file.display()
                    )));
                }
            }
        }
    }
    let known = match known {
        0 => String::new(),
        known => format!(", {known} known already"),
    };
    let told = format!(
        "{} delivered to {}{known}\n",
        plural(delivered, "run"),
        store.name()
    );
    say(told, ExitCode::Passed)
}

/// The files with runs in these places, and whether they wait to be delivered.
fn waiting(places: &[PathBuf]) -> Result<Vec<(PathBuf, bool)>, Refusal> {
    let mut files = Vec::new();
    for place in places {
        if place.is_dir() {
            let mut found = Vec::new();
            look_in(place, DEPTH, &mut found).map_err(|error| {
                Refusal::invalid(format!("error: {}: {error}", place.display()))
            })?;
            found.sort();
            files.extend(found.into_iter().map(|file| (file, true)));
        } else if place.is_file() {
            let is_spool = place.file_name().is_some_and(|name| name == SPOOL);
            files.push((place.clone(), is_spool));
        } else {
            return Err(Refusal::with_help(
                format!("{} is neither a folder nor a file", place.display()),
                "name the reports folder, or a file with runs",
            ));
        }
    }
    Ok(files)
}

/// Links are not followed: `latest` is one to a folder that is there anyway.
fn look_in(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_file() && entry.file_name() == SPOOL {
            found.push(entry.path());
        } else if kind.is_dir() && depth > 0 {
            look_in(&entry.path(), depth - 1, found)?;
        }
    }
    Ok(())
}
