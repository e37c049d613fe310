//! The failures as one table, a row each.

use super::markdown::rows;
use super::words::{listed, totals};
use crate::report::cases::unreliable;
use jelly_base::model::TriageReport;
use jelly_base::text::one_line;

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
    for known in &report.known {
        out.push_str(&format!("known: {}\n", listed(known, TEXT)));
    }
    for summary in report.counted_reports() {
        if let Some(problem) = unreliable(summary) {
            let (path, problem) = (one_line(&summary.path, TEXT), one_line(problem, TEXT));
            out.push_str(&format!("unreliable: {path}: {problem}\n"));
        }
    }
    out
}
