//! The store's file. All I/O of this room is here.
//!
//! Readers take the file as it is: writers replace it as a whole. Writers read,
//! change and write under a lock of a file of its own, so that none loses what
//! another wrote. A file that can't be read as a store is never written to.

use super::document::Document;
use super::error::StoreError;
use super::status::Status;
use indexmap::IndexMap;
use jelly_base::model::OutputSeen;
use jelly_process::{LockError, lock_beside, replace_locked};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the store keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Generic results in a row after which a generic schema takes the place
    /// of a declared one; at least 1.
    pub threshold: u32,
    /// How long a writer waits for the others.
    pub wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            threshold: 2,
            wait: Duration::from_secs(10),
        }
    }
}

/// A larger file is not read at all.
const FILE_MAX: u64 = 64 * 1024 * 1024;

/// Schemas by server and tool.
pub type Schemas = BTreeMap<String, BTreeMap<String, Value>>;

/// What a store says of tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredSchemas {
    /// What a person set.
    pub set: Schemas,
    /// All that stands for outputs, whoever set it.
    pub all: Schemas,
}

/// A schema store, whose file need not exist yet.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
    limits: Limits,
}

impl Store {
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            limits: Limits::default(),
        }
    }

    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The schemas that a person set for tools, by server and tool. A file that
    /// does not exist sets none.
    ///
    /// # Errors
    /// It can't be read, or is no store.
    pub fn overrides(&self) -> Result<Schemas, StoreError> {
        Ok(self.schemas()?.set)
    }

    /// All schemas of the store, as one look at the file has them: others may write it
    /// meanwhile. A file that does not exist has none.
    ///
    /// # Errors
    /// As of [`Store::overrides`].
    pub fn schemas(&self) -> Result<StoredSchemas, StoreError> {
        let document = read(&self.path)?;
        let mut found = StoredSchemas::default();
        for (server, tool, status) in document.statuses() {
            let keep = |schemas: &mut Schemas, schema: &Value| {
                let tools = schemas.entry(server.to_owned()).or_default();
                tools.insert(tool.to_owned(), schema.clone());
            };
            if let Some(schema) = status.set_by_person() {
                keep(&mut found.set, schema);
            }
            if let Some(schema) = &status.schema {
                keep(&mut found.all, schema);
            }
        }
        Ok(found)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes in outputs, in their order, at this time (RFC 3339). Says whether
    /// that changed anything; the file is not written where it did not.
    ///
    /// # Errors
    /// The file is no store, can't be written, or others held it for too long.
    /// Then it is as it was.
    pub fn learn(&self, outputs: &[OutputSeen], now: &str) -> Result<bool, StoreError> {
        if outputs.is_empty() {
            return Ok(false);
        }
        // A file behind a link is replaced where it is, not the link.
        let path = match fs::canonicalize(&self.path) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => behind_links(&self.path),
            Err(source) => return Err(self.write_error(source)),
        };
        let _lock = self.lock(&path)?;
        let mut document = read(&path)?;
        let threshold = u64::from(self.limits.threshold);
        let mut of_tools: IndexMap<(&str, &str), Vec<&OutputSeen>> = IndexMap::new();
        for seen in outputs {
            let tool = (seen.server.as_str(), seen.tool.as_str());
            of_tools.entry(tool).or_default().push(seen);
        }
        let mut changed = false;
        for (tool, outputs) in of_tools {
            let observe = |status: &mut Status| {
                for seen in outputs {
                    status.observe(seen, threshold);
                }
            };
            changed |= document
                .change(tool, now, observe)
                .map_err(|why| corrupt(&path, why))?;
        }
        if changed {
            let text = document
                .text()
                .map_err(|error| self.write_error(error.into()))?;
            if u64::try_from(text.len()).is_ok_and(|bytes| bytes > FILE_MAX) {
                return Err(StoreError::TooLarge {
                    path: self.path.clone(),
                    bytes: text.len(),
                });
            }
            replace_locked(&path, &text).map_err(|source| self.write_error(source))?;
        }
        Ok(changed)
    }

    fn lock(&self, path: &Path) -> Result<File, StoreError> {
        lock_beside(path, self.limits.wait).map_err(|error| match error {
            LockError::Held(held) => StoreError::Locked {
                path: self.path.clone(),
                held,
            },
            LockError::Io(source) => self.write_error(source),
        })
    }

    fn write_error(&self, source: io::Error) -> StoreError {
        StoreError::Write {
            path: self.path.clone(),
            source,
        }
    }
}

fn corrupt(path: &Path, why: impl Into<String>) -> StoreError {
    StoreError::Corrupt {
        path: path.to_owned(),
        why: why.into(),
    }
}

/// Where links lead to, if there is nothing yet.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many as Linux follows.
    for _ in 0..40 {
        let Ok(target) = fs::read_link(&path) else {
            break;
        };
        path = path
            .parent()
            .map_or(target.clone(), |folder| folder.join(target));
    }
    path
}

fn read(path: &Path) -> Result<Document, StoreError> {
    let failed = |source| StoreError::Read {
        path: path.to_owned(),
        source,
    };
    // What is no file, as a pipe, might never end.
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(corrupt(path, "it is not a file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Document::default()),
        Err(error) => return Err(failed(error)),
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len > FILE_MAX) {
        return Err(corrupt(path, format!("it is larger than {FILE_MAX} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| corrupt(path, "it is not UTF-8 text"))?;
    Document::parse(&text).map_err(|why| corrupt(path, why))
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
