//! The end of a run on the terminal. The help summary stands last, so that
//! nobody has to scroll to learn why.

use super::paint::{TerminalPaint, Tone};
use super::{TerminalOptions, name};
use crate::report::json::Results;
use crate::report::kinds::{AlikeRuns, HelpKind, help_kinds, repair_kinds, run_kinds};
use crate::report::view::{self, RepairFate};
use crate::report::{matrix, words};
use jelly_base::model::{ExitCode, HelpProblem, HelpSummary, MatrixReport, RunReport, Verdict};
use jelly_base::text::{first_names, one_line, plural, sanitize};
use unicode_width::UnicodeWidthStr;

/// The end of one run.
pub(super) fn one(paint: &TerminalPaint, report: &RunReport, quiet: bool) -> String {
    let mut out = String::new();
    if !quiet {
        out.push('\n');
    }
    out.push_str(&verdict(paint, report));
    out.push_str(&flaky(paint, report));
    out.push_str(&repaired(paint, report));
    out.push_str(&known(paint, report, ""));
    // Otherwise events have told them already.
    if quiet {
        out.push_str(&warnings(paint, report, ""));
    }
    out.push_str(&where_it_lies(paint, report, ""));
    if let Some(help) = &report.help_summary {
        out.push_str(&help_text(paint, report, help));
    }
    out
}

/// Known failures that are told; the others are counted.
const KNOWN: usize = 10;

fn warnings(paint: &TerminalPaint, report: &RunReport, indent: &str) -> String {
    let head = format!("{indent}warning: ");
    let told = report.warnings.iter();
    told.map(|warning| paint.hanging(&head, Tone::Warn, &name(warning), indent.len() + 4))
        .collect()
}

fn known(paint: &TerminalPaint, report: &RunReport, indent: &str) -> String {
    let head = format!("{indent}known: ");
    let known = report.known.iter().take(KNOWN);
    let mut out: String = known
        .map(|known| {
            let text = format!("{}: {}", known.test, known.entry.reason);
            paint.hanging(&head, Tone::Warn, &name(&text), indent.len() + 4)
        })
        .collect();
    if report.known.len() > KNOWN {
        let more = plural(report.known.len() - KNOWN, "more known failure");
        let text = format!("and {more}");
        out.push_str(&paint.hanging(&head, Tone::Warn, &text, indent.len() + 4));
    }
    out
}

fn where_it_lies(paint: &TerminalPaint, report: &RunReport, indent: &str) -> String {
    report
        .report_dir
        .as_ref()
        .map(|dir| {
            let head = paint.tone(Tone::Faint, "report: ");
            format!("{indent}{head}{}/test_results.md\n", name(dir))
        })
        .unwrap_or_default()
}

/// The end of a call with several plans.
pub(super) fn several(paint: &TerminalPaint, results: &Results<'_>, quiet: bool) -> String {
    let (reports, matrices) = (results.plans, results.matrix);
    let mut out = String::new();
    if !quiet {
        out.push('\n');
    }
    for report in reports {
        out.push_str(&verdict(paint, report));
        out.push_str(&known(paint, report, "    "));
        if quiet {
            out.push_str(&warnings(paint, report, "    "));
        }
        out.push_str(&where_it_lies(paint, report, "    "));
    }
    for found in matrices {
        out.push_str(&side_by_side(paint, found));
    }
    let what = if matrices.is_empty() { "plan" } else { "run" };
    let runs = plural(reports.len() as u64, what);
    let text = format!("{}{runs}, exit code {}", part(results), results.exit_code);
    out.push_str(&paint.hanging("", Tone::Strong, &text, 4));
    let with_help = reports
        .iter()
        .filter(|report| report.help_summary.is_some());
    for AlikeRuns { first, also } in run_kinds(with_help) {
        if let Some(help) = &first.help_summary {
            let plan = name(&first.plan.path);
            out.push_str(&format!("\n{}\n", paint.tone(Tone::Strong, &plan)));
            if !also.is_empty() {
                // Combinations of one plan share its file.
                let plans = also.iter().map(|report| {
                    let RunReport { plan, .. } = report;
                    let is_of_file = plan.path == first.plan.path;
                    name(if is_of_file { &plan.name } else { &plan.path })
                });
                let text = first_names(plans, also.len(), ALSO);
                out.push_str(&paint.hanging("the same in: ", Tone::Strong, &text, 4));
            }
            out.push_str(&help_text(paint, first, help));
        }
    }
    out
}

/// In the place of all that was said of a plan while it ran: it ended as
/// another did, of which that was told.
#[must_use]
pub fn told_as(first: &RunReport, report: &RunReport, options: &TerminalOptions) -> String {
    if options.quiet {
        return String::new();
    }
    let paint = TerminalPaint::new(options.color, options.width);
    let totals = report.iterations.last().map(words::totals);
    let text = format!(
        "{}: {}, as in {}",
        name(&report.plan.name),
        totals.unwrap_or_default(),
        name(&first.plan.name)
    );
    paint.hanging("FAIL     ", Tone::Bad, &text, 9)
}

/// Which part of a run the plans are, and what is still to be done with it.
fn part(results: &Results<'_>) -> String {
    match (results.shard, results.shards) {
        (Some(record), _) => {
            let all = plural(record.plans.len() as u64, "plan");
            let shard = format!("shard {}/{} of {all}", record.index, record.total);
            match results.verdict {
                Verdict::NothingAssigned => format!("{shard}, nothing assigned: "),
                _ => format!("{shard}, for jelly merge: "),
            }
        }
        (None, []) => String::new(),
        (None, shards) => format!("{} merged: ", plural(shards.len() as u64, "shard")),
    }
}

/// Longest cell of a table, in columns.
const CELL: usize = 48;
/// Longest diff of one difference, in lines.
const DIFF_LINES: usize = 20;

/// The combinations of a matrix: a column each, and below what differs.
fn side_by_side(paint: &TerminalPaint, found: &MatrixReport) -> String {
    let head = format!("{}: ", name(&found.plan));
    let mut out = String::from("\n");
    out.push_str(&paint.hanging(&head, Tone::Strong, &matrix::in_short(found), 4));
    let rows: Vec<(Vec<String>, bool)> = matrix::rows(found)
        .into_iter()
        .map(|(row, differs)| {
            let row = row.iter().map(|text| one_line(&name(text), CELL)).collect();
            (row, differs)
        })
        .collect();
    let columns = rows.first().map_or(0, |(row, _)| row.len());
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|(row, _)| row.get(column));
            cells.map(|text| text.width()).max().unwrap_or_default()
        })
        .collect();
    for (row, differs) in &rows {
        let mut line = String::new();
        for (text, width) in row.iter().zip(&widths) {
            line.push_str(text);
            line.push_str(&" ".repeat(width - text.width() + 2));
        }
        let line = line.trim_end();
        let line = if *differs {
            paint.tone(Tone::Warn, &format!("  ≠ {line}"))
        } else {
            format!("    {line}")
        };
        out.push_str(&line);
        out.push('\n');
    }
    for note in matrix::notes(found) {
        out.push_str(&paint.hanging("    ", Tone::Faint, &name(&note), 6));
    }
    let (shown, more) = matrix::shown(found);
    for difference in shown {
        let [one, other] = &difference.between;
        let text = format!("{} ({} | {})", difference.text, name(one), name(other));
        let head = format!("  ≠ {}: ", name(&difference.step));
        out.push_str(&paint.hanging(&head, Tone::Warn, &text, 6));
        if let Some(diff) = &difference.diff {
            out.push_str(&paint.diff(diff, "      ", DIFF_LINES));
        }
    }
    if let Some(more) = more {
        out.push_str(&format!("  {more}\n"));
    }
    out.push('\n');
    out
}

fn verdict(paint: &TerminalPaint, report: &RunReport) -> String {
    let tone = match report.verdict {
        Verdict::Passed
        | Verdict::PassedAfterRetry
        | Verdict::PassedAfterRepair
        | Verdict::PassedWithKnown
        | Verdict::NothingAssigned => {
            if report.exit_code == ExitCode::Passed.code() {
                Tone::Good
            } else {
                Tone::Warn
            }
        }
        Verdict::Skipped => Tone::Warn,
        Verdict::CodeFailure
        | Verdict::NeedsUserHelp
        | Verdict::InvalidInput
        | Verdict::Interrupted => Tone::Bad,
    };
    let totals = report
        .iterations
        .last()
        .map(words::totals)
        .unwrap_or_else(|| "nothing was executed".to_owned());
    let mut text = format!(
        "{}, {totals} ({}, {}), exit code {}",
        name(&report.plan.name),
        plural(report.iterations.len() as u64, "iteration"),
        words::duration(report.duration_ms),
        report.exit_code
    );
    if let Some(why) = view::unaccepted(report) {
        text.push_str(&format!(": {why}"));
    }
    let head = format!("{}: ", view::ending(report));
    paint.hanging(&head, tone, &text, 4)
}

/// Flaky steps that are named.
const FLAKY: usize = 20;

fn flaky(paint: &TerminalPaint, report: &RunReport) -> String {
    let steps: Vec<String> = report
        .iterations
        .last()
        .into_iter()
        .flat_map(|last| &last.steps)
        .filter(|step| step.flaky)
        .map(|step| format!("{}/{}", name(&step.server), name(&step.id)))
        .collect();
    if steps.is_empty() {
        return String::new();
    }
    let names = first_names(&steps, steps.len(), FLAKY);
    paint.hanging("flaky: ", Tone::Warn, &names, 4)
}

fn repaired(paint: &TerminalPaint, report: &RunReport) -> String {
    let mut out = String::new();
    for kind in repair_kinds(view::repairs(report)) {
        let repair = kind.first;
        let (head, tone) = match kind.fate {
            RepairFate::InVain => ("tried in vain: ", Tone::Faint),
            RepairFate::Dropped => ("dropped after fix_tests: ", Tone::Faint),
            RepairFate::TakenOut => ("taken out: ", Tone::Warn),
            RepairFate::Repaired => ("repaired: ", Tone::Warn),
        };
        let text = format!(
            "{} on {}: {}",
            name(&repair.id),
            kind.targets(name),
            name(&repair.explanation)
        );
        out.push_str(&paint.hanging(head, tone, &text, 4));
    }
    if report.repairs_written {
        let text = format!("{} holds the repairs now", name(&report.plan.path));
        out.push_str(&paint.hanging("written: ", Tone::Warn, &text, 4));
    } else if view::has_repairs_to_apply(report) {
        let text = match view::apply_command(report) {
            Some(apply) => format!(
                "`{}` takes the repairs over into your file",
                sanitize(&apply)
            ),
            None => view::NO_FILE.to_owned(),
        };
        out.push_str(&paint.hanging("next: ", Tone::Faint, &text, 4));
    }
    out
}

/// Problems that are told; the others are counted.
const PROBLEMS: usize = 10;
/// Steps that are named of those with the same cause.
const ALSO: usize = 5;

fn help_text(paint: &TerminalPaint, report: &RunReport, help: &HelpSummary) -> String {
    let mut out = String::from("\n");
    out.push_str(&paint.hanging("help: ", Tone::Bad, &name(&help.title), 6));
    let kinds = help_kinds(report, help);
    // The last lines are commands, so what is not told stands before them.
    if let Some(more) = kinds.len().checked_sub(PROBLEMS).filter(|more| *more > 0) {
        let more = format!("{PROBLEMS} kinds of them here, {more} more in the report");
        out.push_str(&paint.hanging("  ", Tone::Faint, &more, 4));
    }
    for HelpKind { first, also } in kinds.iter().take(PROBLEMS) {
        out.push('\n');
        out.push_str(&problem_text(paint, first, also));
    }
    out
}

fn problem_text(paint: &TerminalPaint, problem: &HelpProblem, also: &[&HelpProblem]) -> String {
    let place = view::problem_place(problem, name);
    let place = place.map_or_else(String::new, |place| format!("{place}: "));
    let mut out = paint.hanging(&format!("  {place}"), Tone::Strong, &name(&problem.what), 4);
    if !also.is_empty() {
        let places = also.iter().filter_map(|p| view::problem_place(p, name));
        let text = first_names(places, also.len(), ALSO);
        out.push_str(&paint.hanging("  also in:  ", Tone::Strong, &text, 12));
    }
    if !problem.evidence.is_empty() {
        out.push_str(&paint.hanging("  evidence: ", Tone::Faint, &name(&problem.evidence), 12));
    }
    for tried in &problem.tried {
        out.push_str(&paint.hanging("  tried:    ", Tone::Faint, &name(tried), 12));
    }
    for (at, next) in problem.next.iter().enumerate() {
        if let Some(command) = next.strip_prefix("$ ") {
            // Copied as a whole, so neither wrapped nor folded nor cut.
            let command = paint.tone(Tone::Strong, &sanitize(command));
            let head = if at == 0 {
                format!("  {} ", paint.tone(Tone::Faint, "next:    "))
            } else {
                " ".repeat(12)
            };
            out.push_str(&format!("{head}$ {command}\n"));
        } else {
            let head = if at == 0 {
                "  next:     "
            } else {
                "            "
            };
            out.push_str(&paint.hanging(head, Tone::Faint, &name(next), 12));
        }
    }
    out
}
