//! The failures as one table, a row each.

use super::case::unreliable;
use super::markdown::rows;
use super::words::totals;
use crate::report::quote::line;
use jelly_base::model::TriageReport;

/// Bytes of one foreign text.
const TEXT: usize = 300;

/// What `--format table` prints.
#[must_use]
pub fn table(report: &TriageReport) -> String {
    let mut out = String::new();
    if !report.failures.is_empty() {
        out.push_str(&rows(report, usize::MAX));
    }
    out.push_str(&format!("{}\n", totals(&report.health)));
    for summary in report.reports.iter().filter(|r| r.same_as.is_none()) {
        if let Some(problem) = unreliable(summary) {
            let (path, problem) = (line(&summary.path, TEXT), line(problem, TEXT));
            out.push_str(&format!("unreliable: {path}: {problem}\n"));
        }
    }
    out
}
