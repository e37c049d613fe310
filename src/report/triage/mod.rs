//! What `jelly triage` found, as bytes for people and for machines.
//!
//! Each format is a pure function from a
//! [`TriageReport`](jelly_base::model::TriageReport): the same report gives the
//! same bytes. `junit` holds all cases of the reports, passing ones too: it is a
//! [`CaseWriter`](super::CaseWriter), and whoever reads the reports hands the
//! cases over.

mod github;
mod html;
mod human;
mod json;
mod junit;
mod markdown;
mod modes;
mod table;
mod words;

pub use github::{github, summary};
pub(super) use html::triage_html;
pub use human::{HumanOptions, human};
pub use json::{json, json_lines};
pub use junit::JunitWriter;
pub use markdown::markdown;
pub use modes::{Brief, failures_json, failures_lines, paths_json, paths_lines};
pub use table::table;

#[cfg(test)]
pub(in crate::report) mod samples;
#[cfg(test)]
mod tests;
