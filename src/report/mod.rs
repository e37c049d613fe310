//! Consumers of events and results: bytes for people and for machines.
//!
//! A report is a pure function from a [`RunReport`](jelly_base::model::RunReport)
//! to bytes; [`RunDir`] alone owns files, [`TerminalReporter`] alone follows
//! [`Event`](jelly_base::model::Event)s. Must not know how anything was executed.

mod agent;
mod authorship;
mod cases;
pub mod ci;
mod code_quality;
mod contract;
mod coverage;
mod ctrf;
mod doctor;
mod files;
mod findings;
mod formats;
mod fuzz;
mod html;
mod json;
mod junit;
mod kinds;
mod known_cases;
mod markdown;
mod matrix;
mod quote;
mod rules;
mod sarif;
mod shorten;
mod terminal;
pub mod triage;
mod view;
mod whole;
mod words;

#[cfg(test)]
mod samples;

pub use agent::{AGENT_BYTES, AgentReport, MIN_AGENT_BYTES, agent_json};
pub use authorship::{is_own_account, is_own_page};
pub use cases::{
    CaseWriter, CasesHead, ShownCase, ShownFailure, ShownOutcome, SuiteHead, refused_case,
};
pub use code_quality::is_own_code_quality;
pub use contract::{changes_md, changes_text, lint_text, summary};
pub use coverage::coverage_text;
pub use ctrf::{CtrfDocument, CtrfWriter};
pub use doctor::{DoctorOptions, doctor_md, doctor_text, server_text};
pub use files::{Extras, ReportDir, ReportError, RunDir, run_id};
pub use formats::{REPORT_NAMES, ReportFormat, ReportSurroundings};
pub use fuzz::fuzz_text;
pub use html::{FleetAnswers, PastEnds, TestEnd, fleet_html};
pub use json::{FindingLine, Results, report_json};
pub use junit::{JunitWriter, junit_xml, show_run};
pub use kinds::RunEnd;
pub use known_cases::{KnownCases, reported_test};
pub use markdown::test_results_md;
pub use matrix::{Ran, compare, matrix_md};
pub use quote::markdown_table;
pub use rules::{RuleList, explanation_text, rule_text, rules_markdown, rules_table};
pub use shorten::{LEVELS, LeftOut, Level, shorten, size};
pub use terminal::{TerminalOptions, TerminalReporter, UnderWay, progress_target, told_as};
