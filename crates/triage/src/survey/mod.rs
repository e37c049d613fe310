//! Many reports, one account: the causes with their victims, the health of the
//! whole, what to rerun and how.
//!
//! A [`Collector`] takes the cases of one report and keeps what is printed of
//! its failures; [`account`] makes one [`TriageReport`](jelly_base::model::TriageReport)
//! of all of them, the same whatever their order.
//!
//! The module must not know how the account is shown.

mod account;
mod addresses;
mod advise;
mod ailing;
mod apart;
mod asked;
mod blocks;
mod came;
mod changes;
mod clients;
mod cluster;
mod collect;
mod compared_signs;
mod contexts;
mod difference;
mod elements;
mod error_codes;
mod error_lines;
mod exit;
mod extensions;
mod fields;
mod files;
mod function_notes;
mod group;
mod health;
mod host_names;
#[cfg(test)]
mod joined_tests;
mod lacks;
mod members;
mod memory;
mod mention_reader;
mod mentions;
mod names;
mod nothing;
mod outages;
mod pages;
mod panics;
mod parametrized;
mod party;
mod pools;
mod queries;
mod quoted;
mod raised;
mod read;
mod record_key;
mod refusals;
mod renamed;
mod rendered;
mod repeated;
mod replaced;
mod rerun;
mod same_line;
mod same_member;
mod same_sign;
mod service;
mod shifted;
mod shown_values;
mod signs;
mod speakers;
mod stages;
mod stragglers;
mod subject;
mod subject_forms;
mod suite_exceptions;
mod suites_off;
mod tested;
mod thrown;
mod titles;
mod told_errors;
mod unfinished;
mod unreached;
mod victims;
mod wanted;
mod words;
mod written;

pub use account::{Account, ReportPart, Terms, account};
pub use collect::Collector;
pub use exit::FailOn;
pub use memory::{Before, past_of, past_run};
pub use mentions::Mentions;
pub use read::{Input, ReportSource, Tools, open, read_all, read_one, written_at};
pub use record_key::record_key;
pub use rerun::Hint;
pub use written::{parts_of, set_aside_retold};

#[cfg(test)]
mod answers_tests;
#[cfg(test)]
mod apart_tests;
#[cfg(test)]
mod repeated_tests;
#[cfg(test)]
mod same_fault_tests;
#[cfg(test)]
mod services_tests;
#[cfg(test)]
mod signs_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod victims_tests;
