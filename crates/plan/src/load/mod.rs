//! From a plan's text to a [`Plan`](super::Plan): everything that is wrong is
//! found in one pass, and each problem points at its line.
//!
//! The main function is [`load`]. Must not know how a plan is executed.

mod answer_values;
mod at_once;
mod auth;
mod beside;
mod cases;
mod conditions;
mod defaults;
mod due_answer;
mod duration;
mod envelope;
mod expect;
mod features;
mod found;
mod hints;
mod http;
mod include;
mod keywords;
mod known;
mod matrix;
mod misplaced;
mod operand;
mod package;
#[cfg(test)]
mod package_tests;
mod parse_duration;
mod path;
mod patience;
mod plan;
mod problem;
mod project;
mod reader;
mod redact;
mod references;
#[cfg(test)]
mod repeat_tests;
mod server;
mod service;
mod shared_snapshots;
#[cfg(test)]
mod slips_tests;
mod snapshot_names;
mod startup;
mod step;
#[cfg(test)]
mod tests;
mod vacuous;

pub use found::PlanFinding;
pub use include::included_files;
pub use keywords::{UnknownKeyword, unknown_keyword};
pub use known::read_known;
pub use parse_duration::parse_duration;
pub use plan::{check, check_in, load, load_in, load_with};
pub use problem::{PlanError, Problem};
pub use project::{Project, ProjectSetting, SettingKey, SettingKind, read_project};
