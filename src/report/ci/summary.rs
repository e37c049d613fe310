//! Summaries of jobs, in Markdown.

use super::super::kinds::{AlikeRuns, run_kinds};
use super::super::markdown::{head, help_in_short};
use super::super::quote::{cell, code, code_cell, cut_document, fence, fence_up_to, table};
use super::super::view::{self, FailureCluster};
use jelly_base::model::{FailureReport, IterationReport, RunReport, json_word};
use jelly_base::text::{first_names, plural};

/// The most that GitHub and Buildkite take of one step.
pub const SUMMARY_MAX: usize = 1024 * 1024;

/// The most of a run's summary: other commands of the step may add to it.
const MAX_SUMMARY: usize = 200 * 1024;
/// Of each of several plans at least so much is told.
const MIN_SUMMARY: usize = 2 * 1024;

/// Causes that have a row; the others are counted.
const CAUSES: usize = 40;
/// Steps and servers of one cause that are named; the others are counted.
const PLACES: usize = 5;
/// Of long texts that differ, so many are shown, and so many lines of each.
const COMPARED: usize = 5;
const HUNK_LINES: usize = 20;
/// Bytes of the repaired plan's diff.
const DIFF: usize = 4000;
/// Plans that are named of those that ended as another did.
const ALSO: usize = 50;

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
    let kinds = run_kinds(reports.iter());
    let max = (MAX_SUMMARY / kinds.len().max(1)).max(MIN_SUMMARY);
    let mut out = String::new();
    let mut untold = reports.len();
    for AlikeRuns { first, also } in &kinds {
        let mut told = summary(first, max);
        if !also.is_empty() {
            let names = also.iter().map(|report| code(&report.plan.name));
            let names = first_names(names, also.len(), ALSO);
            told.push_str(&format!("\nEnded in the same way: {names}.\n\n"));
        }
        if out.len() + told.len() > 4 * MAX_SUMMARY {
            let left = plural(untold, "more plan");
            out.push_str(&format!("\n{left} did not fit in here.\n"));
            break;
        }
        untold -= 1 + also.len();
        out.push_str(&told);
    }
    out
}

fn summary(report: &RunReport, max: usize) -> String {
    let mut out = head(report);
    if let Some(last) = report.iterations.last() {
        out.push_str(&causes(report, last));
    }
    if let Some(help) = &report.help_summary {
        out.push_str(&help_in_short(report, help));
    }
    if let Some(diff) = &report.repair_diff {
        out.push_str(&format!(
            "\n## The repaired plan\n\n{}",
            fence_up_to(DIFF, diff, "diff")
        ));
    }
    let mut out = cut_document(out, max, "The rest is in `test_results.md`.");
    out.push('\n');
    out
}

/// A row for each cause of an iteration, and what differs of long texts.
fn causes(report: &RunReport, iteration: &IterationReport) -> String {
    let mut clusters = view::failure_clusters(iteration);
    view::put_code_first(&mut clusters, CAUSES);
    if clusters.is_empty() {
        return String::new();
    }
    let shown = &clusters[..clusters.len().min(CAUSES)];
    let rows: Vec<Vec<String>> = shown
        .iter()
        .map(|cluster| {
            let failure = cluster.failures[0];
            vec![
                place(cluster),
                side(failure),
                code_cell(&failure.diagnosis.root_cause),
                cell(&failure.message),
                code_cell(&view::telling_line(failure).unwrap_or_default()),
            ]
        })
        .collect();
    let header = ["Where", "Side", "Root cause", "What", "Evidence"];
    let mut out = format!("\n{}", table(&header, &rows, &[]));
    let failures = iteration.failures.len();
    if failures > shown.len() {
        let all = plural(failures, "failure");
        let dir = report.report_dir.as_deref();
        let file = dir.map_or_else(
            || "test_results.md".to_owned(),
            |dir| format!("{dir}/test_results.md"),
        );
        out.push_str(&format!("\nAll {all} are in {}.\n", code(&file)));
    }
    let compared = shown.iter().filter_map(|cluster| {
        let difference = view::difference(cluster.failures[0])?;
        Some((cluster, difference))
    });
    for (cluster, difference) in compared.take(COMPARED) {
        let subject = code(&view::subject(cluster.failures[0]));
        let hunks = view::first_lines(&difference.hunks, HUNK_LINES);
        out.push_str(&format!(
            "\nWhat differs in {subject}:\n\n{}",
            fence(&hunks, "diff")
        ));
    }
    out
}

fn side(failure: &FailureReport) -> String {
    let side = json_word(&failure.diagnosis.side);
    match &failure.known {
        Some(mark) => format!("{side}, known: {}", cell(&mark.entry.reason)),
        None => side,
    }
}

/// Where the failures of a cause are: the first ones, and how many there are
/// beside them.
fn place(cluster: &FailureCluster<'_>) -> String {
    let places = cluster
        .failures
        .iter()
        .map(|failure| code_cell(&view::subject(failure)) + &view::mismatch_aside(failure));
    first_names(places, cluster.failures.len(), PLACES)
}
