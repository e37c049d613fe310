//! The failures as one table, a row each.

use super::markdown::rows;
use super::words::totals;
use crate::model::TriageReport;

/// What `--format table` prints.
#[must_use]
pub fn table(report: &TriageReport) -> String {
    let mut out = String::new();
    if !report.failures.is_empty() {
        out.push_str(&rows(report, usize::MAX));
    }
    out.push_str(&format!("{}\n", totals(&report.health)));
    out
}
