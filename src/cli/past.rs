//! `--history`: where the past is kept, and how it is opened.

use super::invalid::chain;
use super::settings::World;
use crate::cli::args::HistoryArgs;
use crate::cli::complain::complain;
use jelly_base::model::ExitCode;
use jelly_base::text::plural;
use jelly_triage::history::{HistoryError, Past, PastRun, Recorded, Store};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The folder whose presence asks for a history.
const FOLDER: &str = ".jelly";
const FILE: &str = ".jelly/history.jsonl";

/// A history that was read, and where this run goes.
#[derive(Debug)]
pub struct Memory {
    pub store: Store,
    pub past: Rc<Past>,
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
    /// The exit code for what was said already.
    pub fn open(&self, world: &World) -> Result<Option<Memory>, ExitCode> {
        let Some(store) = self.store(world) else {
            return Ok(None);
        };
        let opened = store.check_writable().and_then(|()| store.load());
        match opened {
            Ok((past, warnings)) => {
                for warning in warnings {
                    complain(&format!("warning: {warning}"));
                }
                Ok(Some(Memory {
                    store,
                    past: Rc::new(past),
                }))
            }
            Err(error) if self.history.is_some() => {
                refuse(&error);
                complain("help: name a file that can be written, or run with --no-history");
                Err(ExitCode::InvalidInput)
            }
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

/// Says that a history can't be used.
pub fn refuse(error: &HistoryError) {
    complain(&format!("error: failed to {}", chain(error)));
}

impl Memory {
    /// Adds a run; gives back what is to be said about it.
    #[must_use]
    pub fn record(&self, run: PastRun) -> Option<String> {
        match self.store.record(run) {
            Ok(Recorded::Run { dropped: 0 } | Recorded::Known) => None,
            Ok(Recorded::Run { dropped }) => Some(format!(
                "{} of this run are not remembered: there were more than a run may add to the \
                 history {}",
                plural(dropped, "failure"),
                shown(self.store.path())
            )),
            Err(error) => Some(format!(
                "this run is not remembered: failed to {}",
                chain(&error)
            )),
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
