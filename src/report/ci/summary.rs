//! Summaries of jobs, in Markdown.

use super::super::markdown::{head, help_summary};
use super::super::quote::{cell, code_cell, cut_document, fence, table};
use super::super::view;
use jelly_base::model::{RunReport, json_word};
use jelly_base::text::plural;

/// The most that GitHub and Buildkite take of one step.
pub const SUMMARY_MAX: usize = 1024 * 1024;

/// The most of a run's summary: other commands of the step may add to it.
const MAX_SUMMARY: usize = 200 * 1024;
/// Of each of several plans at least so much is told.
const MIN_SUMMARY: usize = 2 * 1024;

/// A summary for which so many bytes are left.
#[must_use]
pub fn within(summary: String, room: usize) -> String {
    match summary.len() > room {
        true => cut_document(summary, room, "The rest did not fit in here."),
        false => summary,
    }
}

/// The job summary of some runs, for a CI to show.
#[must_use]
pub fn job_summary(reports: &[RunReport]) -> String {
    let max = (MAX_SUMMARY / reports.len().max(1)).max(MIN_SUMMARY);
    let mut out = String::new();
    for (at, report) in reports.iter().enumerate() {
        let summary = summary(report, max);
        if out.len() + summary.len() > 4 * MAX_SUMMARY {
            let left = plural(reports.len() - at, "more plan");
            out.push_str(&format!("\n{left} did not fit in here.\n"));
            break;
        }
        out.push_str(&summary);
    }
    out
}

fn summary(report: &RunReport, max: usize) -> String {
    let mut out = head(report);
    if let Some(last) = report.iterations.last()
        && !last.failures.is_empty()
    {
        let rows: Vec<Vec<String>> = last
            .failures
            .iter()
            .map(|failure| {
                let aside = view::mismatch_aside(failure);
                vec![
                    code_cell(&view::subject(failure)) + &aside,
                    json_word(&failure.diagnosis.side),
                    code_cell(&failure.diagnosis.root_cause),
                    cell(&failure.message),
                    code_cell(&view::telling_line(failure).unwrap_or_default()),
                ]
            })
            .collect();
        let header = ["Where", "Side", "Root cause", "What", "Evidence"];
        out.push_str(&format!("\n{}", table(&header, &rows, &[])));
    }
    if let Some(help) = &report.help_summary {
        out.push_str(&help_summary(help));
    }
    if let Some(diff) = &report.repair_diff {
        out.push_str(&format!(
            "\n## The repaired plan\n\n{}",
            fence(diff, "diff")
        ));
    }
    let mut out = cut_document(out, max, "The rest is in `test_results.md`.");
    out.push('\n');
    out
}
