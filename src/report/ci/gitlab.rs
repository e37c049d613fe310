//! Sections of a job's log on GitLab, which it shows folded, and its file.
//!
//! Source: "Custom collapsible sections" of GitLab's documentation.

use super::super::code_quality::code_quality;
use super::super::findings::{self, Findings};
use super::super::json::Results;
use jelly_base::model::TriageReport;
use jelly_base::text::{Disarming, Notation, one_line};
use std::io;

/// What GitLab shows beside the lines of a merge request.
///
/// # Errors
/// Only what serde_json says.
pub fn code_quality_of_run(results: &Results<'_>) -> io::Result<Vec<u8>> {
    code_quality_of(&findings::of_run(results))
}

/// The same of a triage.
///
/// # Errors
/// Only what serde_json says.
pub fn code_quality_of_triage(report: &TriageReport) -> io::Result<Vec<u8>> {
    code_quality_of(&findings::of_triage(report))
}

fn code_quality_of(findings: &Findings<'_>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut out = Disarming::new(&mut bytes, Notation::Json);
    code_quality(findings, &mut out)?;
    out.finish()?;
    drop(out);
    Ok(bytes)
}

/// Begins a section; what follows is folded under the title. The time is in
/// seconds of Unix time.
#[must_use]
pub fn section_start(name: &str, title: &str, time: i64) -> String {
    format!(
        "\x1b[0Ksection_start:{time}:{}[collapsed=true]\r\x1b[0K{}\n",
        id(name),
        one_line(title, 200)
    )
}

/// Ends the section.
#[must_use]
pub fn section_end(name: &str, time: i64) -> String {
    format!("\x1b[0Ksection_end:{time}:{}\r\x1b[0K\n", id(name))
}

/// A section's name has few characters.
fn id(name: &str) -> String {
    let of_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = name
        .chars()
        .take(100)
        .map(|c| if of_id(c) { c } else { '_' })
        .collect();
    format!("jelly_{name}")
}
