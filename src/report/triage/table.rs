//! The failures as one table, a row each; of very many of one cause the first.

use super::markdown::{beside_rows, rows};
use super::words::{listed, totals};
use crate::report::cases::unreliable;
use jelly_base::model::TriageReport;
use jelly_base::text::{one_line, plural};

/// Bytes of one foreign text.
const TEXT: usize = 300;
/// Known failures that are told; the others are counted.
const KNOWN: usize = 20;

/// What `--format table` prints.
#[must_use]
pub fn table(report: &TriageReport) -> String {
    let mut out = String::new();
    if !report.failures.is_empty() {
        let (rows, shown) = rows(report, usize::MAX);
        out.push_str(&rows);
        out.extend(beside_rows(report, shown).map(|more| format!("and {more}\n")));
    }
    out.push_str(&format!("{}\n", totals(&report.health)));
    for known in report.known.iter().take(KNOWN) {
        out.push_str(&format!("known: {}\n", listed(known, TEXT)));
    }
    if report.known.len() > KNOWN {
        let more = plural(report.known.len() - KNOWN, "more known failure");
        out.push_str(&format!("and {more}; --format json has each\n"));
    }
    for summary in report.counted_reports() {
        if let Some(problem) = unreliable(summary) {
            let (path, problem) = (one_line(&summary.path, TEXT), one_line(problem, TEXT));
            out.push_str(&format!("unreliable: {path}: {problem}\n"));
        }
    }
    out
}
