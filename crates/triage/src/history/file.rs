//! The history as a file: JSON Lines, one run a line. All I/O of this room is
//! here.
//!
//! A run is one line and one write, so it is recorded as a whole or not at
//! all. A line that a crash tore is passed over by readers, and the next
//! writer begins a fresh one. Writers wait for each other at a lock of its
//! own file, since the history itself is renamed when it has grown enough:
//! then `history.jsonl` becomes `history.1.jsonl`, and readers read both.

use super::error::HistoryError;
use super::fleet::{CauseAccount, ExportedResult, FlakyTest, FleetScope, NewCause, SlowTest};
use super::origin::RunOrigin;
use super::past::Past;
use super::record::{PastReport, PastRun, SCHEMA_VERSION};
use super::runs::Runs;
use super::store::{HistoryStore, PastLater, PastScope, ReadPast, Recorded};
use jelly_base::text::{Notation, disarmed, plural};
use jelly_process::{LockError, lock_beside};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much a history file holds before it is rotated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryLimits {
    pub runs: usize,
    pub bytes: u64,
    /// Failures kept of one run; what goes beyond is told to the caller.
    pub failures: usize,
    /// How long a writer waits for the others.
    pub wait: Duration,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self {
            runs: 500,
            bytes: 32 * 1024 * 1024,
            failures: 20_000,
            wait: Duration::from_secs(10),
        }
    }
}

impl HistoryLimits {
    /// Of a file that others wait for: nothing is to be rotated away.
    #[must_use]
    pub fn of_spool() -> Self {
        Self {
            runs: usize::MAX,
            bytes: u64::MAX,
            ..Self::default()
        }
    }
}

/// A longer line is none that jelly wrote.
const LINE_MAX: u64 = 64 * 1024 * 1024;
/// A larger file is not read at all.
const FILE_MAX: u64 = 256 * 1024 * 1024;
/// Warnings about single lines, of one file.
const WARNINGS_MAX: usize = 5;

/// A history file, which need not exist yet.
#[derive(Debug, Clone)]
pub struct HistoryFile {
    path: PathBuf,
    limits: HistoryLimits,
    viewer: RunOrigin,
}

/// Of a line, what tells whether the rest can be read.
#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

/// Of a line, what a writer wants to know.
#[derive(Deserialize)]
struct LineHead {
    #[serde(default)]
    reports: Vec<PastReport>,
}

/// What a look through a file finds.
#[derive(Debug, Default)]
struct Survey {
    runs: usize,
    digests: BTreeSet<String>,
    /// It holds lines of a later version.
    later: bool,
}

enum Line<T> {
    Run(Box<T>),
    Later,
    Broken(String),
}

impl HistoryFile {
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            limits: HistoryLimits::default(),
            viewer: RunOrigin::default(),
        }
    }

    /// Whose past it is that is asked for; see [`Past::seen_from`].
    #[must_use]
    pub fn seen_from(mut self, viewer: RunOrigin) -> Self {
        self.viewer = viewer;
        self
    }

    #[must_use]
    pub fn with_limits(mut self, limits: HistoryLimits) -> Self {
        self.limits = limits;
        self
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The runs before the last rotation.
    #[must_use]
    pub fn older(&self) -> PathBuf {
        let mut name = self
            .path
            .file_stem()
            .map_or_else(Default::default, |stem| stem.to_os_string());
        name.push(".1");
        if let Some(extension) = self.path.extension() {
            name.push(".");
            name.push(extension);
        }
        self.path.with_file_name(name)
    }

    /// Hands over the runs of the file and of the one before it, oldest first;
    /// gives back sentences about the lines that could not be read. A file that
    /// does not exist holds none.
    ///
    /// # Errors
    /// A file exists and can't be read.
    pub fn each_run(&self, take: &mut dyn FnMut(PastRun)) -> Result<Vec<String>, HistoryError> {
        let mut warnings = Vec::new();
        for path in [self.older(), self.path.clone()] {
            let mut broken = 0;
            let mut later = 0;
            each_line(&path, &mut |number, line| match parse(line) {
                Line::Run(run) => take(*run),
                Line::Later => later += 1,
                Line::Broken(why) => {
                    broken += 1;
                    if broken <= WARNINGS_MAX {
                        warnings.push(format!(
                            "{}:{number}: this line of the history is passed over: {why}",
                            path.display()
                        ));
                    }
                }
            })?;
            if broken > WARNINGS_MAX {
                warnings.push(format!(
                    "{}: {} more lines of the history are passed over",
                    path.display(),
                    broken - WARNINGS_MAX
                ));
            }
            if later > 0 {
                warnings.push(format!(
                    "{}: {} of a later version of jelly: kept, and not counted here",
                    path.display(),
                    plural(later, "recorded run")
                ));
            }
        }
        Ok(warnings)
    }

    /// All runs that can be read; [`look`](HistoryStore::look) says what can't.
    fn runs(&self) -> Result<Runs, HistoryError> {
        let mut runs = Runs::default();
        self.each_run(&mut |run| runs.add(run))?;
        Ok(runs)
    }

    /// All that is remembered.
    ///
    /// # Errors
    /// A file exists and can't be read.
    pub fn load(&self) -> Result<ReadPast, HistoryError> {
        let mut past = Past::seen_from(&self.viewer);
        let warnings = self.each_run(&mut |run| past.add(run))?;
        Ok(ReadPast { past, warnings })
    }

    fn prepare(&self) -> Result<(), HistoryError> {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => {
                fs::create_dir_all(folder).map_err(|source| self.write_error(source))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn write_error(&self, source: io::Error) -> HistoryError {
        HistoryError::Write {
            path: self.path.clone(),
            source,
        }
    }

    fn open_for_append(&self) -> io::Result<File> {
        OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&self.path)
    }

    /// Waits for the other writers. The lock ends with the file that is
    /// returned, also when this process is killed.
    fn lock(&self) -> Result<File, HistoryError> {
        lock_beside(&self.path, self.limits.wait).map_err(|error| match error {
            LockError::Held(held) => HistoryError::Locked {
                path: self.path.clone(),
                held,
            },
            LockError::Io(source) => self.write_error(source),
        })
    }

    fn rotate_if_full(&self, runs: usize, more: usize) -> Result<(), HistoryError> {
        let bytes = match fs::metadata(&self.path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(self.write_error(source)),
        };
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        let full = runs >= self.limits.runs || bytes.saturating_add(more) > self.limits.bytes;
        if full && runs > 0 {
            fs::rename(&self.path, self.older()).map_err(|source| self.write_error(source))?;
        }
        Ok(())
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        let mut file = self.open_for_append()?;
        let mut bytes = Vec::with_capacity(line.len() + 1);
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                bytes.push(b'\n');
            }
        }
        bytes.extend_from_slice(line);
        file.write_all(&bytes)?;
        file.sync_data()
    }
}

impl HistoryStore for HistoryFile {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    /// Creates the file where there is none.
    fn check_writable(&self) -> Result<(), HistoryError> {
        self.prepare()?;
        let opened = self.open_for_append().map(drop);
        opened.map_err(|source| self.write_error(source))
    }

    /// Appends a line.
    fn record(&self, mut run: PastRun) -> Result<Recorded, HistoryError> {
        self.prepare()?;
        let lock = self.lock()?;
        let (older, current) = (look_through(&self.older())?, look_through(&self.path)?);
        let known: BTreeSet<String> = older.digests.union(&current.digests).cloned().collect();
        let had_reports = !run.reports.is_empty();
        run.without(&known);
        if had_reports && run.reports.is_empty() {
            return Ok(Recorded::Known);
        }
        let dropped = run.failures.len().saturating_sub(self.limits.failures);
        run.failures.truncate(self.limits.failures);
        let line = serde_json::to_string(&run).map_err(|source| HistoryError::Encode { source })?;
        let line = format!("{}\n", disarmed(&line, Notation::Json));
        // To rotate away what a later version wrote would destroy it in time.
        if !older.later && !current.later {
            self.rotate_if_full(current.runs, line.len())?;
        }
        self.append(line.as_bytes())
            .map_err(|source| self.write_error(source))?;
        drop(lock);
        Ok(Recorded::Run { dropped })
    }

    /// Always all of it: a file is read as a whole.
    fn past(&self, scope: &PastScope<'_>) -> Result<ReadPast, HistoryError> {
        let mut read = self.load()?;
        if let PastScope::Tests { before, .. } = scope {
            read.past.end_before(before.iter().map(String::as_str));
        }
        Ok(read)
    }

    fn begin_past<'s>(&'s self, scope: &PastScope<'s>) -> PastLater<'s> {
        let scope = *scope;
        Box::new(move || self.past(&scope))
    }

    fn passed_as(&self, definition: &str, code: Option<&str>) -> Result<bool, HistoryError> {
        Ok(self.load()?.past.passed_as(definition, code))
    }

    fn look(&self) -> Result<Vec<String>, HistoryError> {
        self.each_run(&mut |_| ())
    }

    fn flaky(&self, scope: &FleetScope) -> Result<Vec<FlakyTest>, HistoryError> {
        Ok(self.runs()?.flaky(scope))
    }

    fn new_causes(&self, scope: &FleetScope) -> Result<Vec<NewCause>, HistoryError> {
        Ok(self.runs()?.new_causes(scope))
    }

    fn accounts(
        &self,
        scope: &FleetScope,
        prefix: &str,
    ) -> Result<Vec<CauseAccount>, HistoryError> {
        Ok(self.runs()?.accounts(scope, prefix))
    }

    fn slow(&self, scope: &FleetScope) -> Result<Vec<SlowTest>, HistoryError> {
        Ok(self.runs()?.slow(scope))
    }

    fn export(
        &self,
        scope: &FleetScope,
        take: &mut dyn FnMut(Vec<ExportedResult>) -> bool,
    ) -> Result<(), HistoryError> {
        take(self.runs()?.results(scope));
        Ok(())
    }

    fn commit_seen(
        &self,
        scope: &FleetScope,
        commit: &str,
    ) -> Result<Option<String>, HistoryError> {
        Ok(self.runs()?.commit_seen(scope, commit))
    }
}

fn look_through(path: &Path) -> Result<Survey, HistoryError> {
    let mut survey = Survey::default();
    each_line(path, &mut |_, line| match parse::<LineHead>(line) {
        Line::Run(head) => {
            survey.runs += 1;
            let digests = head.reports.into_iter().map(|report| report.digest);
            survey.digests.extend(digests.filter(|d| !d.is_empty()));
        }
        Line::Later => survey.later = true,
        Line::Broken(_) => {}
    })?;
    Ok(survey)
}

/// Hands on the lines of a file with their numbers, from 1. Of one that is too
/// long, only the beginning.
fn each_line(path: &Path, take: &mut dyn FnMut(usize, &[u8])) -> Result<(), HistoryError> {
    let failed = |source| HistoryError::Read {
        path: path.to_owned(),
        source,
    };
    // To open what is no file, as a pipe that nobody writes, might never end.
    match fs::metadata(path) {
        Ok(there) if there.is_file() => {}
        Ok(_) => return Err(failed(io::Error::other("it is not a file"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    }
    let file = File::open(path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    if bytes > FILE_MAX {
        return Err(HistoryError::TooLarge {
            path: path.to_owned(),
            bytes,
        });
    }
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        number += 1;
        let read = Read::by_ref(&mut reader)
            .take(LINE_MAX)
            .read_until(b'\n', &mut line)
            .map_err(failed)?;
        if read == 0 {
            return Ok(());
        }
        if line.last() != Some(&b'\n') && u64::try_from(read).is_ok_and(|read| read == LINE_MAX) {
            reader.skip_until(b'\n').map_err(failed)?;
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            take(number, &line);
        }
    }
}

fn parse<T: DeserializeOwned>(line: &[u8]) -> Line<T> {
    if !line.trim_ascii_start().starts_with(b"{") {
        return Line::Broken("it is no run: a JSON object is wanted".into());
    }
    match serde_json::from_slice::<Version>(line) {
        Ok(version) if version.schema_version > SCHEMA_VERSION => Line::Later,
        Ok(_) => match serde_json::from_slice(line) {
            Ok(run) => Line::Run(Box::new(run)),
            Err(error) => Line::Broken(format!("it is no run: {error}")),
        },
        Err(error) if error.is_eof() => {
            Line::Broken("it ends in the middle, as when a writer is killed".into())
        }
        Err(error) => Line::Broken(format!("it is no run: {error}")),
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
