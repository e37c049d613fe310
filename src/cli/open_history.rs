//! `--history`: where the past is kept, and how it is opened.

#[cfg(feature = "postgres")]
use super::interrupt;
use super::invalid::chain;
use super::provenance::provenance;
use super::record::passed_before;
use super::refusal::{Refusal, complain};
use super::settings::World;
use crate::cli::args::HistoryArgs;
use crate::report::TestEnd;
use jelly_base::text::{plural, sanitize, shell_flag, shell_path};
use jelly_harness::triage_loop::PassedBefore;
use jelly_triage::history::{
    HistoryError, HistoryFile, HistoryLimits, HistoryStore, Past, PastEnd, PastRun, PastScope,
    ReadPast, Recorded, RunOrigin, TestName, is_database, is_nearly_a_database,
};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The folder whose presence asks for a history.
const FOLDER: &str = ".jelly";
const FILE: &str = ".jelly/history.jsonl";

/// What a run is kept in that could not be delivered.
pub const SPOOL: &str = "history-spool.jsonl";

/// A history that can be asked, and where this run goes.
#[derive(Debug)]
pub struct OpenHistory {
    store: Box<dyn HistoryStore>,
    /// All of a file, as it was before this run; of a database nothing, which is
    /// asked for what is wanted.
    whole: Option<Rc<Past>>,
    origin: RunOrigin,
    /// It could not be read.
    is_blind: Cell<bool>,
}

/// How a test ended in earlier runs, oldest first, as the first of `pasts` knows
/// it.
pub fn recent_ends(
    pasts: [Option<&Past>; 2],
    suite: &str,
    classname: &str,
    name: &str,
) -> Vec<TestEnd> {
    let known = pasts
        .into_iter()
        .flatten()
        .map(|past| past.recent(suite, classname, name));
    let ends = known.into_iter().find(|ends| !ends.is_empty());
    let shown = |end: PastEnd| match end {
        PastEnd::Passed => TestEnd::Passed,
        PastEnd::Flaky => TestEnd::Flaky,
        PastEnd::Failed => TestEnd::Failed,
    };
    ends.unwrap_or_default().into_iter().map(shown).collect()
}

impl HistoryArgs {
    /// Where it is, by the rule for all commands: as told, else the default where
    /// its folder is.
    ///
    /// # Errors
    /// What was told names nothing that can be a history.
    pub fn store(&self, world: &World) -> Result<Option<Box<dyn HistoryStore>>, Refusal> {
        Ok(self.place(world)?.map(|place| match place {
            HistoryPlace::File(file) => Box::new(file) as Box<dyn HistoryStore>,
            #[cfg(feature = "postgres")]
            HistoryPlace::Database(database) => Box::new(database),
        }))
    }

    /// The same, for who only looks into it.
    ///
    /// # Errors
    /// None is kept, or the file that was named is not there. The default one may not be
    /// there yet.
    pub fn store_to_read(&self, world: &World) -> Result<Box<dyn HistoryStore>, Refusal> {
        self.known_store(world)?.ok_or_else(not_kept)
    }

    /// The same, where none may be kept.
    ///
    /// # Errors
    /// The file that was named is not there.
    pub fn known_store(&self, world: &World) -> Result<Option<Box<dyn HistoryStore>>, Refusal> {
        let store = self.store(world)?;
        match store.as_deref().and_then(|store| self.lacking(store)) {
            Some(file) => Err(Refusal::with_help(
                sanitize(&format!("there is no history {}", file.display())),
                sanitize(&format!(
                    "name one that is there, or have one written: jelly run {}",
                    self.words()
                )),
            )),
            None => Ok(store),
        }
    }

    /// The file that was named and is not there.
    pub fn lacking<'s>(&self, store: &'s dyn HistoryStore) -> Option<&'s Path> {
        let file = store.file().filter(|_| self.history.is_some())?;
        matches!(file.try_exists(), Ok(false)).then_some(file)
    }

    /// The flag that names it, for another command; none of the default one.
    pub fn words(&self) -> String {
        let named = self.history.as_ref();
        named.map_or_else(String::new, |path| {
            shell_flag("--history", &path.display().to_string())
        })
    }

    /// The same, for who treats files and databases unlike.
    ///
    /// # Errors
    /// What was told names nothing that can be a history.
    pub fn place(&self, world: &World) -> Result<Option<HistoryPlace>, Refusal> {
        if self.no_history {
            return Ok(None);
        }
        let default = || world.cwd.join(FOLDER).is_dir().then(|| PathBuf::from(FILE));
        let Some(path) = self.history.clone().or_else(default) else {
            return Ok(None);
        };
        if path.to_str().is_some_and(is_nearly_a_database) {
            return Err(Refusal::with_help(
                "--history: what it says looks like a database, and is none that jelly can use",
                "write postgres://USER@HOST/NAME, with the password in PGPASSWORD, or name a file",
            ));
        }
        let viewer = provenance(world);
        if let Some(url) = path.to_str().filter(|path| is_database(path)) {
            return database(url, viewer, world).map(Some);
        }
        let file = HistoryFile::new(path).seen_from(viewer);
        Ok(Some(HistoryPlace::File(file)))
    }

    /// Opens the history before anything is run. A file is read, and made sure to
    /// be writable; one that was asked for and can't be used is an error, and the
    /// default one is gone without, which is said. A database is connected to
    /// meanwhile, since it may be slow, and what it can't take is kept elsewhere.
    ///
    /// # Errors
    /// It was asked for, and can't be used.
    pub fn open(&self, world: &World) -> Result<Option<OpenHistory>, Refusal> {
        let Some(place) = self.place(world)? else {
            return Ok(None);
        };
        let file = match place {
            HistoryPlace::File(file) => file,
            #[cfg(feature = "postgres")]
            HistoryPlace::Database(database) => {
                let database = database.waiting_while_not(interrupt::came);
                database.connect();
                return Ok(Some(OpenHistory {
                    store: Box::new(database),
                    whole: None,
                    origin: provenance(world),
                    is_blind: Cell::new(false),
                }));
            }
        };
        match file.check_writable().and_then(|()| file.load()) {
            Ok(read) => Ok(Some(OpenHistory {
                store: Box::new(file),
                whole: Some(Rc::new(warned(read))),
                origin: provenance(world),
                is_blind: Cell::new(false),
            })),
            Err(error) if self.history.is_some() => Err(Refusal::invalid(format!(
                "error: failed to {}\n\
                 help: name a file that can be written, or run with --no-history",
                chain(&error)
            ))),
            Err(error) => {
                complain(&format!(
                    "warning: nothing is remembered of this run: failed to {}",
                    chain(&error)
                ));
                Ok(None)
            }
        }
    }
}

/// Where a history is.
#[derive(Debug)]
pub enum HistoryPlace {
    File(HistoryFile),
    #[cfg(feature = "postgres")]
    Database(jelly_history_postgres::PostgresHistory),
}

#[cfg(feature = "postgres")]
fn database(url: &str, viewer: RunOrigin, world: &World) -> Result<HistoryPlace, Refusal> {
    let address = database_address(url, world)?;
    let database = jelly_history_postgres::PostgresHistory::new(address, viewer);
    Ok(HistoryPlace::Database(database))
}

/// The database of a URL, with what was passed over said.
///
/// # Errors
/// The URL is of no use, or holds a password.
#[cfg(feature = "postgres")]
pub fn database_address(
    url: &str,
    world: &World,
) -> Result<jelly_history_postgres::DatabaseAddress, Refusal> {
    let address = jelly_history_postgres::DatabaseAddress::read(url, &world.env)
        .map_err(|error| Refusal::invalid(format!("error: {error}")))?;
    for warning in &address.warnings {
        complain(&format!("warning: {warning}"));
    }
    Ok(address)
}

#[cfg(not(feature = "postgres"))]
fn database(_url: &str, _viewer: RunOrigin, _world: &World) -> Result<HistoryPlace, Refusal> {
    Err(Refusal::with_help(
        "--history: this jelly was built without PostgreSQL",
        "name a file, or install a jelly with the feature `postgres`",
    ))
}

/// None is kept, where one is to be looked into.
pub fn not_kept() -> Refusal {
    Refusal::invalid(
        "error: no history is kept here: there is no folder .jelly\n\
         help: create that folder, or name a file with --history",
    )
}

/// Reads a history that is only looked into.
///
/// # Errors
/// It can't be read.
pub fn load(store: &dyn HistoryStore, scope: &PastScope<'_>) -> Result<Past, Refusal> {
    store
        .past(scope)
        .map(warned)
        .map_err(|error| unread(&error))
}

/// What a command says that needs a history which can't be read.
pub fn unread(error: &HistoryError) -> Refusal {
    Refusal::invalid(format!("error: failed to {}", chain(error)))
}

/// A history, when its warnings have been said.
fn warned(ReadPast { past, warnings }: ReadPast) -> Past {
    for warning in warnings {
        complain(&format!("warning: {warning}"));
    }
    past
}

impl OpenHistory {
    /// The file that it is, which nothing else may be written to.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.store.file()
    }

    /// Where what is recorded comes from.
    #[must_use]
    pub fn origin(&self) -> &RunOrigin {
        &self.origin
    }

    /// The past in which tests can be watched for whether they pass again.
    #[must_use]
    pub fn watched(&self) -> Rc<Past> {
        self.asked(&PastScope::Failing)
    }

    /// The past of these tests, up to the first run that holds a report of one
    /// of these digests.
    #[must_use]
    pub fn past_of(&self, tests: &[TestName], before: &[String]) -> Rc<Past> {
        if tests.is_empty() && self.whole.is_none() {
            return Rc::default();
        }
        self.asked(&PastScope::Tests { tests, before })
    }

    /// Asks for the past of these tests, and goes on: what comes of it is waited for
    /// when it is wanted.
    pub fn begin_past_of<'t>(&'t self, tests: &'t [TestName]) -> impl FnOnce() -> Rc<Past> + 't {
        let asked = self.whole.is_none().then(|| {
            let before = &[];
            self.store.begin_past(&PastScope::Tests { tests, before })
        });
        move || match asked {
            Some(asked) => self.came(asked()),
            None => self.asked(&PastScope::All),
        }
    }

    fn asked(&self, scope: &PastScope<'_>) -> Rc<Past> {
        match &self.whole {
            Some(whole) => whole.clone(),
            None => self.came(self.store.past(scope)),
        }
    }

    fn came(&self, read: Result<ReadPast, HistoryError>) -> Rc<Past> {
        match read {
            Ok(read) => Rc::new(warned(read)),
            Err(error) => {
                self.go_blind(&error);
                Rc::default()
            }
        }
    }

    /// Says once that nothing is known of the past.
    fn go_blind(&self, error: &HistoryError) {
        if !self.is_blind.replace(true) {
            let why = chain(error);
            complain(&format!(
                "warning: nothing is known of earlier runs: failed to {why}"
            ));
        }
    }

    /// Whether it was asked for something, and could not be read.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        self.is_blind.get()
    }

    /// What it says of steps that passed.
    #[must_use]
    pub fn passed_before(self: &Rc<Self>) -> PassedBefore {
        if let Some(past) = self.whole.clone() {
            return passed_before(move |definition, code| past.passed_as(definition, code));
        }
        let history = self.clone();
        let known: RefCell<HashMap<(String, Option<String>), bool>> = RefCell::default();
        passed_before(move |definition, code| {
            let mut known = known.borrow_mut();
            let asked = (definition.to_owned(), code.map(str::to_owned));
            if let Some(passed) = known.get(&asked) {
                return *passed;
            }
            let passed = history
                .store
                .passed_as(definition, code)
                .unwrap_or_else(|error| {
                    history.go_blind(&error);
                    // In doubt it never passed.
                    false
                });
            known.insert(asked, passed);
            passed
        })
    }

    /// Adds a run; gives back what is to be said about it. What a database can't
    /// take is kept in a file in `folder`.
    #[must_use]
    pub fn record(&self, mut run: PastRun, folder: Option<&Path>) -> Option<String> {
        let RunOrigin {
            run_key,
            attempt,
            shard,
            shards,
            ..
        } = run.origin;
        run.origin = RunOrigin {
            run_key: run_key.or_else(|| self.origin.run_key.clone()),
            attempt: attempt.or(self.origin.attempt),
            shard,
            shards,
            ..self.origin.clone()
        };
        let spooled = match self.whole {
            Some(_) => None,
            None => folder.map(|folder| (folder.join(SPOOL), run.clone())),
        };
        match (self.store.record(run), spooled) {
            (Ok(Recorded::Run { dropped: 0 } | Recorded::Known), _) => None,
            (Ok(Recorded::Run { dropped }), _) => Some(format!(
                "{} of this run were not recorded: there were more than a run may add to the \
                 history {}",
                plural(dropped, "failure"),
                self.store.name()
            )),
            (Err(error), None) => Some(format!(
                "this run was not recorded: failed to {}",
                chain(&error)
            )),
            (Err(error), Some((file, run))) => Some(spool(&file, run, &error)),
        }
    }
}

/// Keeps a run that could not be delivered; gives back what is to be said.
fn spool(file: &Path, run: PastRun, error: &HistoryError) -> String {
    let why = chain(error);
    let spool = HistoryFile::new(file).with_limits(HistoryLimits::of_spool());
    match spool.record(run) {
        Ok(_) => format!(
            "this run is not in the history yet: failed to {why}; it is kept in {}, which \
             `jelly history push {}` delivers, with the same --history",
            file.display(),
            shell_path(&file.display().to_string())
        ),
        Err(unwritten) => format!(
            "this run was not recorded: failed to {why}, and failed to {}",
            chain(&unwritten)
        ),
    }
}
