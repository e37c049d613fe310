//! Reader of test reports: every dialect of JUnit XML, and what globs catch
//! besides it, into cases with their failures.
//!
//! The main type is [`Case`]: a report is read as a stream, each case goes to
//! a [`CaseSink`] as soon as it is known, and what remains in memory does not
//! grow with the report but for the identities of its cases.
//!
//! The module must not know what a failure means.

mod around;
mod attempts_said;
mod attributes;
mod bats_tap;
mod case;
mod cases;
mod counts;
mod ctrf;
mod dialect;
mod elements;
mod encoding;
mod escape;
mod failures;
mod form;
mod go_reruns;
mod hold;
mod identity;
mod kept;
mod limits;
mod lines;
mod machine;
mod node_tap;
mod open;
mod outside;
mod own_labels;
mod prove;
mod read;
mod reruns;
mod scan;
mod source;
mod suites;
mod tap;
mod test_more;
mod unstarted;

#[cfg(test)]
mod settle_tests;
#[cfg(test)]
mod tests;

pub use case::{Case, CaseOutcome, CaseSink};
pub use identity::digest_of_all;
pub use limits::ReaderLimits;
pub(crate) use machine::NO_CASE;
pub use read::{is_configuration, read};
