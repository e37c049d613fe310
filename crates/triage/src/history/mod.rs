//! What failed before, by fingerprint and by test.
//!
//! The main type is [`Past`]: it takes in earlier runs, oldest first, and
//! answers what is new, known, regressed, flaky or fixed. Where the runs come
//! from is all the same to it: a [`Store`] keeps them in a file, a baseline is
//! read from earlier reports.
//!
//! The module must not know how a failure was found, nor what it means.

mod error;
mod offenders;
mod past;
mod record;
mod recurrence;
mod store;

pub use error::HistoryError;
pub use offenders::{CauseRecord, OffenderOrder, TestRecord};
pub use past::{CausePast, Fixed, Past, PastEnd};
pub use record::{PastCause, PastFailure, PastPass, PastReport, PastRun, RunKind, TestName};
pub use store::{HistoryLimits, Recorded, Store};
