//! `--schema-store`: how outputs of tools are read, and where it is kept.

use super::invalid::chain;
use crate::cli::args::LadderArgs;
use jelly_base::model::OutputSeen;
use jelly_harness::exec::Overrides;
use jelly_harness::learned::{Limits, Store};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A schema store that was asked for, and could be read.
#[derive(Debug)]
pub struct SchemaStore {
    store: Store,
    pub overrides: BTreeMap<String, Overrides>,
}

impl LadderArgs {
    /// Reads the store, where one is wanted. One that can't be read is gone
    /// without, which is the second value, a sentence.
    #[must_use]
    pub fn open(&self) -> (Option<SchemaStore>, Option<String>) {
        // Without the ladder there is nothing to learn, and nothing to set.
        let wanted = |path: &&PathBuf| !self.no_adapt && !path.as_os_str().is_empty();
        let Some(path) = self.schema_store.as_ref().filter(wanted) else {
            return (None, None);
        };
        let default = Limits::default();
        let store = Store::new(path).with_limits(Limits {
            threshold: self.generic_threshold.unwrap_or(default.threshold),
            ..default
        });
        match store.overrides() {
            Ok(overrides) => (Some(SchemaStore { store, overrides }), None),
            Err(error) => {
                let warning = format!(
                    "the schema store is not used and left as it is: failed to {}",
                    chain(&error)
                );
                (None, Some(warning))
            }
        }
    }
}

impl SchemaStore {
    /// The file, for who reads and writes it by itself.
    #[must_use]
    pub fn into_store(self) -> Store {
        self.store
    }

    /// Takes in what was seen; gives back what is to be said about it.
    #[must_use]
    pub fn learn(&self, outputs: &[OutputSeen]) -> Option<String> {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let learnt = self.store.learn(outputs, &now.to_string());
        let error = learnt.err()?;
        Some(format!(
            "how outputs were read is not kept: failed to {}",
            chain(&error)
        ))
    }
}
