//! The report as Markdown: for a pull request, a job summary, a chat.

use super::words::{before, fitting, notes, retry, side, totals, verdict};
use crate::report::quote::{
    cell, code, code_cell, command_block, cut_document, fence, prose, table,
};
use jelly_base::model::{
    Cluster, FailureView, KnownFailure, ReportLabels, TriageReport, json_word,
};
use jelly_base::text::{first_names, one_line, plural};
use std::collections::HashSet;

/// Causes that are told in full.
const CAUSES: usize = 20;
/// Victims that are named of one cause.
const NAMES: usize = 10;
/// Failures in the table, and those of one cause.
const ROWS: usize = 200;
const OF_A_CAUSE: usize = 10;
const NOTES: usize = 20;
/// Bytes of a command that stands in a line.
const INLINE: usize = 1024;
/// Bytes of all commands together.
const COMMAND_BYTES: usize = 8000;

/// The most of a summary: other commands of the step may add to it.
pub(super) const MAX_SUMMARY: usize = 200 * 1024;

/// The same for a CI to show beside the result.
#[must_use]
pub fn summary(report: &TriageReport) -> String {
    let rest = "The rest did not fit in here.";
    let mut out = cut_document(markdown(report), MAX_SUMMARY, rest);
    out.push('\n');
    out
}

/// The verdict, what to do, the causes, the failures, what to run again.
#[must_use]
pub fn markdown(report: &TriageReport) -> String {
    let mut out = format!("# Triage: {}\n\n", verdict(report));
    out.push_str(&format!("**{}**\n\n", prose(&report.health.summary)));
    let counted = report.counted_reports().count();
    out.push_str(&format!(
        "{} in {}.\n",
        totals(&report.health),
        plural(counted, "report")
    ));
    if !report.recommendations.is_empty() {
        out.push_str("\n## What to do\n\n");
        for (at, step) in report.recommendations.iter().enumerate() {
            out.push_str(&format!("{}. {}\n", at + 1, prose(step)));
        }
    }
    causes(report, &mut out);
    rerun(report, &mut out);
    failures(report, &mut out);
    known(report, &mut out);
    fixed(report, &mut out);
    remarks(report, &mut out);
    out
}

fn causes(report: &TriageReport, out: &mut String) {
    if report.clusters.is_empty() {
        return;
    }
    out.push_str("\n## Causes\n");
    for (at, cluster) in report.clusters.iter().take(CAUSES).enumerate() {
        let tests = if cluster.flaky == cluster.count {
            format!("{}, flaky", plural(cluster.count, "test"))
        } else {
            plural(cluster.count, "test")
        };
        out.push_str(&format!(
            "\n### {}. {} ({tests})\n\n",
            at + 1,
            prose(&cluster.title)
        ));
        cause(report, cluster, out);
    }
    more(report.clusters.len(), CAUSES, "more cause", out);
}

fn cause(report: &TriageReport, cluster: &Cluster, out: &mut String) {
    let mut facts = vec![code(&cluster.root_cause)];
    facts.extend(cluster.error_category.as_ref().map(json_word));
    facts.push(side(cluster).to_owned());
    facts.extend(retry(cluster).map(str::to_owned));
    facts.extend(before(report, cluster));
    out.push_str(&format!(
        "{}; rule {}, fingerprint {}\n",
        facts.join(" · "),
        code(&cluster.rule),
        code(&cluster.fingerprint)
    ));
    if let Some(evidence) = cluster
        .evidence
        .as_ref()
        .filter(|e| !e.text.trim().is_empty())
    {
        out.push_str(&format!("\n{}", fence(&evidence.text, "text")));
    }
    let why = cluster.advice.why.trim();
    if !why.is_empty() {
        out.push_str(&format!("\n{}\n", prose(why)));
    }
    if !cluster.advice.fix.is_empty() {
        out.push('\n');
        for step in cluster.advice.fix.iter() {
            let text = &*step.text;
            match step.is_command() {
                // A code span has no double spaces, and an end.
                true if one_line(text, INLINE) != text => {
                    out.push_str(&format!("\n{}\n", command_block(text)));
                }
                true => out.push_str(&format!("- {}\n", code(text))),
                false => out.push_str(&format!("- {}\n", prose(text))),
            }
        }
    }
    let labels = ReportLabels::of_all(report);
    let names = report
        .victims(cluster)
        .map(|failure| code(&labels.title(&failure)));
    let names = first_names(names, cluster.victims.len(), NAMES);
    let noun = if cluster.victims.len() == 1 {
        "Test"
    } else {
        "Tests"
    };
    out.push_str(&format!("\n{noun}: {names}\n"));
}

fn rerun(report: &TriageReport, out: &mut String) {
    let plan = &report.retry;
    if plan.tests.is_empty() {
        return;
    }
    out.push_str(&format!(
        "\n## Rerun\n\n{} may pass on a rerun.\n",
        plural(plan.tests.len(), "test")
    ));
    let shown = fitting(&plan.commands, COMMAND_BYTES);
    if !shown.is_empty() {
        out.push_str(&format!("\n{}", fence(&shown.join("\n"), "sh")));
    }
    if plan.commands.len() > shown.len() {
        let more = plural(plan.commands.len() - shown.len(), "long command");
        out.push_str(&format!(
            "\n{more} not shown here: {} prints them all.\n",
            code("jelly triage --emit retry-commands")
        ));
    }
    for note in &plan.notes {
        out.push_str(&format!("\n{}\n", prose(note)));
    }
    if !plan.without_command.is_empty() {
        let names = plan.without_command.iter().map(|name| code(name));
        let names = first_names(names, plan.without_command.len(), NAMES);
        out.push_str(&format!("\nBy hand: {names}\n"));
    }
}

fn failures(report: &TriageReport, out: &mut String) {
    if report.failures.is_empty() {
        return;
    }
    out.push_str("\n## Failures\n\n");
    let (rows, shown) = rows(report, ROWS);
    out.push_str(&rows);
    if let Some(more) = beside_rows(report, shown) {
        out.push_str(&format!("\nAnd {}.\n", prose(&more)));
    }
}

/// The failures that have no row, in words.
pub(super) fn beside_rows(report: &TriageReport, shown: usize) -> Option<String> {
    let more = report.failures.len().checked_sub(shown);
    let more = plural(more.filter(|more| *more > 0)?, "more failure");
    Some(format!("{more} of these causes; --format json has each"))
}

/// The failures as a table, and how many it has: at most `most`, and of one
/// cause the first.
pub(super) fn rows(report: &TriageReport, most: usize) -> (String, usize) {
    let alike = report.clusters.iter();
    let alike: HashSet<usize> = alike
        .flat_map(|cluster| cluster.victims.iter().skip(OF_A_CAUSE).copied())
        .collect();
    let dated = report
        .failures
        .iter()
        .any(|f| f.history.is_some() || f.pre_existing.is_some());
    let labels = ReportLabels::of_all(report);
    let row = |failure: FailureView<'_>| {
        let kind = failure.kind;
        let side = match (kind.flaky, kind.ambiguous) {
            (true, _) => "flaky".to_owned(),
            (false, true) => "undecided".to_owned(),
            (false, false) => json_word(&kind.side),
        };
        let mut row = vec![
            code_cell(&labels.title(&failure)),
            side,
            kind.error_category
                .as_ref()
                .map(json_word)
                .unwrap_or_default(),
            code_cell(&kind.root_cause),
            match kind.retryable {
                Some(true) => "yes".to_owned(),
                Some(false) => "no".to_owned(),
                None => String::new(),
            },
            cell(failure.message.unwrap_or_default()),
        ];
        if dated {
            row.push(super::words::recurrence(&failure).to_owned());
        }
        row
    };
    let failures = report.failures.iter().enumerate();
    let shown = failures.filter(|(at, _)| !alike.contains(at)).take(most);
    let rows: Vec<Vec<String>> = shown.map(|(_, failure)| row(failure)).collect();
    let header = [
        "Test",
        "Side",
        "Category",
        "Root cause",
        "Rerun",
        "Message",
        "Before",
    ];
    let columns = if dated {
        header.len()
    } else {
        header.len() - 1
    };
    (table(&header[..columns], &rows, &[]), rows.len())
}

fn known(report: &TriageReport, out: &mut String) {
    if report.known.is_empty() {
        return;
    }
    out.push_str("\n## Known failures\n\n");
    for KnownFailure { entry, test, .. } in report.known.iter().take(ROWS) {
        let (test, reason, at) = (code(test), prose(&entry.reason), code(&entry.at));
        out.push_str(&format!("- {test}: {reason} ({at})\n"));
    }
    more(report.known.len(), ROWS, "more known failure", out);
}

fn fixed(report: &TriageReport, out: &mut String) {
    if report.fixed.is_empty() {
        return;
    }
    out.push_str("\n## Fixed\n\n");
    for test in report.fixed.iter().take(ROWS) {
        out.push_str(&format!("- {}\n", code(&test.name)));
    }
    if report.fixed.len() > ROWS {
        let more = report.fixed.len() - ROWS;
        out.push_str(&format!("\nAnd {more} more.\n"));
    }
}

fn remarks(report: &TriageReport, out: &mut String) {
    let broken = report.reports.iter().filter_map(|r| {
        let problem = r.problem.as_ref()?;
        Some(format!("{}: {problem}", r.path))
    });
    let all: Vec<String> = broken.chain(notes(report)).collect();
    if all.is_empty() {
        return;
    }
    out.push_str("\n## Reports\n\n");
    for note in all.iter().take(NOTES) {
        out.push_str(&format!("- {}\n", prose(note)));
    }
    more(all.len(), NOTES, "more note", out);
}

/// How many of `all` are not shown.
fn more(all: usize, shown: usize, noun: &str, out: &mut String) {
    if all > shown {
        out.push_str(&format!("\nAnd {}.\n", plural(all - shown, noun)));
    }
}
