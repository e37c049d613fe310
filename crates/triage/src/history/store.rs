//! Where runs are remembered.
//!
//! The main type is [`HistoryStore`]: what a history has to do, whether it is a
//! file ([`HistoryFile`](super::HistoryFile)) or a database, which is a crate of
//! its own. Stores keep and select; what follows from what they kept is for
//! [`Past`] to say, so that all give the same answers.

use super::error::HistoryError;
use super::fleet::{CauseAccount, ExportedResult, FlakyTest, FleetScope, NewCause, SlowTest};
use super::past::Past;
use super::record::{PastRun, TestName};
use std::path::Path;

/// Whether this names a database, and no file.
#[must_use]
pub fn is_database(place: &str) -> bool {
    let scheme = place.split_once("://").map(|(scheme, _)| scheme);
    // Letters of a scheme may be large (RFC 3986).
    let is = |name: &str| scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(name));
    is("postgres") || is("postgresql")
}

/// Whether this names no file that anybody means, and no database that is known:
/// another scheme, one without `//`, or the parameters that libpq takes.
#[must_use]
pub fn is_nearly_a_database(place: &str) -> bool {
    let lower = place.trim().to_ascii_lowercase();
    let parameters = ["host=", "hostaddr=", "dbname=", "user=", "service="];
    let begins = |start: &&str| lower.starts_with(*start);
    !is_database(place)
        && (lower.contains("://")
            || ["postgres:", "postgresql:"].iter().any(begins)
            || lower.contains("password=")
            || parameters.iter().any(begins))
}

/// What came of recording a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// As a new one; `dropped` failures went beyond the limit of one run.
    Run { dropped: usize },
    /// Not again: all of its reports are there already.
    Known,
}

/// What of the past is asked for. A store may give more.
#[derive(Debug, Clone, Copy)]
pub enum PastScope<'a> {
    /// All of it.
    All,
    /// Tests that failed not long ago, with how they ended since.
    Failing,
    /// These tests.
    Tests {
        tests: &'a [TestName],
        /// Runs that hold a report of one of these digests, and all later ones,
        /// do not count.
        before: &'a [String],
    },
    /// Causes whose fingerprint, or that of one of their tests, begins like one
    /// of these.
    Fingerprints(&'a [String]),
}

/// A past, with sentences about what of it could not be read.
#[derive(Debug, Default)]
pub struct ReadPast {
    pub past: Past,
    pub warnings: Vec<String>,
}

/// A past that was asked for: what comes of it, when it is waited for.
pub type PastLater<'s> = Box<dyn FnOnce() -> Result<ReadPast, HistoryError> + 's>;

/// A place where runs are remembered, seen from one project and branch.
pub trait HistoryStore: std::fmt::Debug {
    /// What it is called in messages; no secret is in it.
    fn name(&self) -> String;

    /// The file that it is, which nothing else may be written to.
    fn file(&self) -> Option<&Path>;

    /// Makes sure that a run could be recorded, before there is one.
    ///
    /// # Errors
    /// It can't be.
    fn check_writable(&self) -> Result<(), HistoryError>;

    /// Adds a run as a whole or not at all, without the reports that are
    /// recorded already.
    ///
    /// # Errors
    /// It could not be written.
    fn record(&self, run: PastRun) -> Result<Recorded, HistoryError>;

    /// Earlier runs, as far as they are asked for.
    ///
    /// # Errors
    /// They can't be read.
    fn past(&self, scope: &PastScope<'_>) -> Result<ReadPast, HistoryError>;

    /// The same, asked for now and waited for later, where that is two things.
    fn begin_past<'s>(&'s self, scope: &PastScope<'s>) -> PastLater<'s>;

    /// Sentences about what of it can't be read.
    ///
    /// # Errors
    /// Nothing of it can be.
    fn look(&self) -> Result<Vec<String>, HistoryError>;

    /// The tests that come and go most, by project and branch.
    ///
    /// # Errors
    /// They can't be read.
    fn flaky(&self, scope: &FleetScope) -> Result<Vec<FlakyTest>, HistoryError>;

    /// The causes that no run had before the scope begins, the latest first.
    ///
    /// # Errors
    /// They can't be read.
    fn new_causes(&self, scope: &FleetScope) -> Result<Vec<NewCause>, HistoryError>;

    /// What is known of the causes whose fingerprint begins so.
    ///
    /// # Errors
    /// It can't be read.
    fn accounts(&self, scope: &FleetScope, prefix: &str)
    -> Result<Vec<CauseAccount>, HistoryError>;

    /// The tests that take longest.
    ///
    /// # Errors
    /// They can't be read.
    fn slow(&self, scope: &FleetScope) -> Result<Vec<SlowTest>, HistoryError>;

    /// Hands over each result, lot by lot, until `take` wants no more.
    ///
    /// # Errors
    /// They can't be read.
    fn export(
        &self,
        scope: &FleetScope,
        take: &mut dyn FnMut(Vec<ExportedResult>) -> bool,
    ) -> Result<(), HistoryError>;

    /// When a commit was first seen that begins so.
    ///
    /// # Errors
    /// It can't be read.
    fn commit_seen(&self, scope: &FleetScope, commit: &str)
    -> Result<Option<String>, HistoryError>;

    /// Whether a test passed once that was [defined](super::PastPass::definition)
    /// so, on whatever branch and machine; where a code is named, on
    /// [that](super::ProvenPasses::code).
    ///
    /// # Errors
    /// It can't be read.
    fn passed_as(&self, definition: &str, code: Option<&str>) -> Result<bool, HistoryError>;
}

#[cfg(test)]
mod tests {
    use super::{is_database, is_nearly_a_database};

    #[test]
    fn a_database_is_told_from_a_file_and_from_what_is_nearly_one() {
        for url in ["postgres://u@h/x", "Postgres://u@h/x", "POSTGRESQL://h"] {
            assert!(is_database(url) && !is_nearly_a_database(url), "{url}");
        }
        for near in [
            "postgres:/u:pw@h/x",
            "Postgresql:x",
            "mysql://x@h/t",
            "host=h user=u password=pw dbname=t",
            "dbname=t",
            " postgres://u@h/x",
            "file:///tmp/h.jsonl",
        ] {
            assert!(is_nearly_a_database(near) && !is_database(near), "{near}");
        }
        for file in [
            ".jelly/history.jsonl",
            "postgres",
            "C:\\h.jsonl",
            "/a/host.jsonl",
        ] {
            assert!(!is_nearly_a_database(file) && !is_database(file), "{file}");
        }
    }
}
