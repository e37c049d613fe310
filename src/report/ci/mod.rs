//! What CI systems show by themselves: commands on stdout, summaries.
//!
//! Main types: [`Notice`], one thing that a system shows beside a file, picked
//! and worded once for all of them; [`CiSystem`], a row of [`CI_SYSTEMS`]. Pure
//! functions; whoever calls them knows where this runs.

mod azure;
mod github;
mod gitlab;
mod notices;
mod summary;
mod system;
mod teamcity;

pub use azure::{azure_commands, azure_publish, azure_summary};
pub use github::{GITHUB_JOB, GITHUB_STEP, github_commands};
pub use gitlab::{code_quality_of_run, code_quality_of_triage, section_end, section_start};
pub use notices::{Notice, NoticeLevel, NoticeTerms, of_run, of_triage};
pub use summary::{SUMMARY_MAX, job_summary, within};
pub use system::{CI_SYSTEMS, CiSystem, CiVariable};
pub use teamcity::{TeamCityWriter, teamcity_problems};

#[cfg(test)]
mod tests;
