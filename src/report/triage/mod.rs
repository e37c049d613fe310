//! What `jelly triage` found, as bytes for people and for machines.
//!
//! Each format is a pure function from a
//! [`TriageReport`](jelly_base::model::TriageReport): the same report gives the
//! same bytes. Formats that hold all cases of the reports, passing ones too, are
//! [`CaseWriter`](super::CaseWriter)s and stand beside this module.

mod html;
mod human;
mod json;
mod markdown;
mod modes;
mod table;
mod words;

pub(super) use html::triage_html;
pub use human::{HumanOptions, human};
pub use json::{json, json_lines};
pub use markdown::{markdown, summary};
pub use modes::{Brief, failures_json, failures_lines, paths_json, paths_lines};
pub use table::table;

#[cfg(test)]
pub(in crate::report) mod samples;
#[cfg(test)]
mod tests;
