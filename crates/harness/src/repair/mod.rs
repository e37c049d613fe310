//! `(Plan, Failure, Diagnosis, Facts) → Proposal`s, best first.
//!
//! A repair may change how a test reaches the server, never what it expects;
//! it never leaves the project folder, and never touches a step that expects
//! an error. Must not do any of it: no I/O but the questions of
//! [`FsFacts`], no clock. The loop decides, applies and shows.

mod args;
mod case;
mod paths;
mod propose;
mod strings;
mod types;

pub use propose::propose;
pub use types::{Facts, FsFacts, PathKind, Proposal, RepairId};

#[cfg(test)]
mod required_tests;
#[cfg(test)]
mod tests;
