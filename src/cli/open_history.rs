//! `--history`: where the past is kept, and how it is opened.

use super::invalid::chain;
use super::refusal::{Refusal, complain};
use super::settings::World;
use crate::cli::args::HistoryArgs;
use crate::report::TestEnd;
use jelly_base::text::plural;
use jelly_triage::history::{Past, PastEnd, PastRun, Recorded, Store};
use std::path::PathBuf;
use std::rc::Rc;

/// The folder whose presence asks for a history.
const FOLDER: &str = ".jelly";
const FILE: &str = ".jelly/history.jsonl";

/// A history that was read, and where this run goes.
#[derive(Debug)]
pub struct OpenHistory {
    pub store: Store,
    pub past: Rc<Past>,
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
    /// The file, by the rule for all commands: as told, else the default where
    /// its folder is.
    #[must_use]
    pub fn store(&self, world: &World) -> Option<Store> {
        if self.no_history {
            return None;
        }
        let default = || world.cwd.join(FOLDER).is_dir().then(|| PathBuf::from(FILE));
        self.history.clone().or_else(default).map(Store::new)
    }

    /// Reads the history and makes sure that it can be added to, before
    /// anything is run. One that was asked for and can't be used is an error;
    /// the default one is gone without, and that is said.
    ///
    /// # Errors
    /// It was asked for.
    pub fn open(&self, world: &World) -> Result<Option<OpenHistory>, Refusal> {
        let Some(store) = self.store(world) else {
            return Ok(None);
        };
        let opened = store.check_writable().and_then(|()| store.load());
        match opened {
            Ok(loaded) => Ok(Some(OpenHistory {
                store,
                past: Rc::new(warned(loaded)),
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

/// Reads a history that is only looked into.
///
/// # Errors
/// It can't be read.
pub fn load(store: &Store) -> Result<Past, Refusal> {
    let loaded = store
        .load()
        .map_err(|error| Refusal::invalid(format!("error: failed to {}", chain(&error))));
    loaded.map(warned)
}

/// A history, when its warnings have been said.
fn warned((past, warnings): (Past, Vec<String>)) -> Past {
    for warning in warnings {
        complain(&format!("warning: {warning}"));
    }
    past
}

impl OpenHistory {
    /// Adds a run; gives back what is to be said about it.
    #[must_use]
    pub fn record(&self, run: PastRun) -> Option<String> {
        match self.store.record(run) {
            Ok(Recorded::Run { dropped: 0 } | Recorded::Known) => None,
            Ok(Recorded::Run { dropped }) => Some(format!(
                "{} of this run are not remembered: there were more than a run may add to the \
                 history {}",
                plural(dropped, "failure"),
                self.store.path().display()
            )),
            Err(error) => Some(format!(
                "this run is not remembered: failed to {}",
                chain(&error)
            )),
        }
    }
}
