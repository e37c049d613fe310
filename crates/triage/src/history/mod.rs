//! What failed before, by fingerprint and by test.
//!
//! The main types are [`Past`], which takes in earlier runs, oldest first, and
//! answers what is new, known, regressed, flaky or fixed, and [`HistoryStore`],
//! which keeps them. Where the runs come from is all the same to a past: a store
//! keeps them, a baseline is read from earlier reports.
//!
//! The module must not know how a failure was found, nor what it means.

mod error;
mod file;
mod fleet;
mod offenders;
mod origin;
mod past;
mod record;
mod recurrence;
mod runs;
mod store;

pub use error::HistoryError;
pub use file::{HistoryFile, HistoryLimits};
pub use fleet::{
    BranchSighting, CauseAccount, CauseCount, CommitSighting, ExportedResult, FlakyTest,
    FleetScope, MOST_LISTED, NewCause, ResultOutcome, SeenSpan, SlowTest, TestSighting,
};
pub use offenders::{CauseRecord, OffenderOrder, TestRecord};
pub use origin::RunOrigin;
pub use past::{CausePast, Fixed, Past, PastEnd, PastMark, PastMiss, PastParts, TestLabel};
pub use record::{
    PastCause, PastFailure, PastLabel, PastPass, PastReport, PastRun, ProvenPasses, RunKind,
    TestName,
};
pub use runs::Runs;
pub use store::{
    HistoryStore, PastLater, PastScope, ReadPast, Recorded, is_database, is_nearly_a_database,
};
