//! What `jelly triage` found, as bytes for people and for machines.
//!
//! Each format is a pure function from a
//! [`TriageReport`](crate::model::TriageReport): the same report gives the
//! same bytes.

mod human;
mod json;
mod words;

pub use human::{HumanOptions, human};
pub use json::{json, json_lines};
