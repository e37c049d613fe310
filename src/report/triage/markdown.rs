//! The report as Markdown: for a pull request, a job summary, a chat.

use super::words::{before, notes, retry, side, totals};
use crate::report::quote::{cell, code, code_cell, command_block, fence, line, prose, table};
use crate::report::words;
use jelly_base::model::{Cluster, FailureView, TriageReport, Verdict};
use jelly_base::text::plural;

/// Causes that are told in full.
const CAUSES: usize = 20;
/// Victims that are named of one cause.
const NAMES: usize = 10;
/// Failures in the table.
const ROWS: usize = 200;
const NOTES: usize = 20;
/// Bytes of a command that stands in a line.
const INLINE: usize = 1024;
/// Bytes of all commands together.
const COMMAND_BYTES: usize = 8000;

/// The verdict, what to do, the causes, the failures, what to run again.
#[must_use]
pub fn markdown(report: &TriageReport) -> String {
    let mut out = format!("# Triage: {}\n\n", verdict(report));
    out.push_str(&format!("**{}**\n\n", prose(&report.health.summary)));
    let counted = report
        .reports
        .iter()
        .filter(|r| r.same_as.is_none())
        .count();
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
    fixed(report, &mut out);
    remarks(report, &mut out);
    out
}

fn verdict(report: &TriageReport) -> &'static str {
    match report.verdict {
        Verdict::Passed => "passed",
        Verdict::PassedAfterRetry | Verdict::PassedAfterRepair => "passed, with flaky tests",
        Verdict::CodeFailure => "failures of the code under test",
        Verdict::NeedsUserHelp => "failures of the tests or what is around them",
        Verdict::InvalidInput => "the result can't be relied on",
        Verdict::Interrupted => "interrupted",
    }
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
    if report.clusters.len() > CAUSES {
        let more = plural(report.clusters.len() - CAUSES, "more cause");
        out.push_str(&format!("\nAnd {more}.\n"));
    }
}

fn cause(report: &TriageReport, cluster: &Cluster, out: &mut String) {
    let mut facts = vec![code(&cluster.root_cause)];
    facts.extend(
        cluster
            .error_category
            .map(|category| words::category(category).to_owned()),
    );
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
                true if line(text, INLINE) != text => {
                    out.push_str(&format!("\n{}\n", command_block(text)));
                }
                true => out.push_str(&format!("- {}\n", code(text))),
                false => out.push_str(&format!("- {}\n", prose(text))),
            }
        }
    }
    let names: Vec<String> = cluster
        .victims
        .iter()
        .take(NAMES)
        .filter_map(|at| report.failures.get(*at))
        .map(|failure| code(&failure.title()))
        .collect();
    let more = match cluster.victims.len() - names.len() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let noun = if cluster.victims.len() == 1 {
        "Test"
    } else {
        "Tests"
    };
    out.push_str(&format!("\n{noun}: {}{more}\n", names.join(", ")));
}

fn rerun(report: &TriageReport, out: &mut String) {
    let plan = &report.retry;
    if plan.tests.is_empty() {
        return;
    }
    out.push_str(&format!(
        "\n## Run again\n\n{} failed of what may pass by itself.\n",
        plural(plan.tests.len(), "test")
    ));
    let mut bytes = 0;
    let fits = |command: &&String| {
        bytes += command.len();
        bytes <= COMMAND_BYTES
    };
    let shown = plan.commands.iter().take_while(fits).count();
    if shown > 0 {
        out.push_str(&format!(
            "\n{}",
            fence(&plan.commands[..shown].join("\n"), "sh")
        ));
    }
    if plan.commands.len() > shown {
        let more = plural(plan.commands.len() - shown, "long command");
        out.push_str(&format!(
            "\n{more} not shown here: {} prints them all.\n",
            code("jelly triage --emit retry-commands")
        ));
    }
    for note in &plan.notes {
        out.push_str(&format!("\n{}\n", prose(note)));
    }
    if !plan.without_command.is_empty() {
        let names: Vec<String> = plan
            .without_command
            .iter()
            .take(NAMES)
            .map(|n| code(n))
            .collect();
        let more = match plan.without_command.len() - names.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        out.push_str(&format!("\nBy hand: {}{more}\n", names.join(", ")));
    }
}

fn failures(report: &TriageReport, out: &mut String) {
    if report.failures.is_empty() {
        return;
    }
    out.push_str("\n## Failures\n\n");
    out.push_str(&rows(report, ROWS));
    if report.failures.len() > ROWS {
        let more = plural(report.failures.len() - ROWS, "more failure");
        out.push_str(&format!("\nAnd {more}.\n"));
    }
}

/// The failures as a table, at most `most` of them.
pub(super) fn rows(report: &TriageReport, most: usize) -> String {
    let dated = report
        .failures
        .iter()
        .any(|f| f.history.is_some() || f.pre_existing.is_some());
    let row = |failure: FailureView<'_>| {
        let kind = failure.kind;
        let side = match (kind.flaky, kind.ambiguous) {
            (true, _) => "flaky",
            (false, true) => "undecided",
            (false, false) => words::side(kind.side),
        };
        let mut row = vec![
            code_cell(&failure.title()),
            side.to_owned(),
            kind.error_category
                .map_or_else(String::new, |c| words::category(c).to_owned()),
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
    let rows: Vec<Vec<String>> = report.failures.iter().take(most).map(row).collect();
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
    table(&header[..columns], &rows, &[])
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
    if all.len() > NOTES {
        out.push_str(&format!(
            "\nAnd {}.\n",
            plural(all.len() - NOTES, "more note")
        ));
    }
}
