//! Consumers of events and results: bytes for people and for machines.
//!
//! A report is a pure function from a [`RunReport`](jelly_base::model::RunReport)
//! to bytes; [`RunDir`] alone owns files, [`TerminalReporter`] alone follows
//! [`Event`](jelly_base::model::Event)s. Must not know how anything was executed.

mod agent;
mod cases;
mod ctrf;
mod doctor;
mod files;
mod formats;
mod github;
mod html;
mod json;
mod junit;
mod markdown;
mod matrix;
mod quote;
mod rules;
mod terminal;
pub mod triage;
mod view;
mod words;

#[cfg(test)]
mod samples;

pub use agent::{AGENT_BYTES, AgentReport, MIN_AGENT_BYTES, agent_json, fitted};
pub use cases::{
    CaseWriter, CasesHead, ShownCase, ShownFailure, ShownOutcome, SuiteHead, refused_case,
};
pub use ctrf::{CtrfDocument, CtrfWriter};
pub use doctor::{DoctorOptions, doctor_md, doctor_text, server_text};
pub use files::{Extras, ReportDir, ReportError, RunDir, run_id};
pub use formats::{REPORT_FORMATS, ReportFormat, ReportSurroundings};
pub use github::{annotations, job_summary};
pub use html::{PastEnds, TestEnd};
pub use json::{Results, report_json};
pub use junit::junit_xml;
pub use markdown::test_results_md;
pub use matrix::{Ran, compare, matrix_md};
pub use rules::{RuleList, explanation_text, rule_text, rules_markdown, rules_table};
pub use terminal::{TerminalOptions, TerminalReporter};
