//! The report for a person at a terminal, who has ten seconds.

use super::words::{before, notes, retry, side, totals};
use crate::model::{Cluster, TriageReport, Verdict};
use crate::report::quote::line;
use crate::report::terminal::paint::{Paint, Tone, disarmed};
use crate::text::plural;

/// Causes that are told in full.
const CAUSES: usize = 5;
/// Further causes that are told in a line; the others are counted.
const BRIEF: usize = 10;
/// Victims that are named.
const NAMES: usize = 3;
/// Steps of an advice that are told.
const STEPS: usize = 2;
/// Commands that are told.
const COMMANDS: usize = 5;
/// Notes and broken reports that are told.
const NOTES: usize = 5;
/// Bytes of one foreign text.
const TEXT: usize = 300;

/// How the report is shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct HumanOptions {
    pub color: bool,
    /// Columns to wrap at; `None` where nobody watches.
    pub width: Option<u16>,
}

/// The verdict, the causes by number of victims, what to run again.
#[must_use]
pub fn human(report: &TriageReport, options: HumanOptions) -> String {
    let paint = Paint::new(options.color, options.width);
    let mut out = String::new();
    head(&paint, report, &mut out);
    broken(&paint, report, &mut out);
    causes(&paint, report, &mut out);
    flaky(&paint, report, &mut out);
    fixed(&paint, report, &mut out);
    remarks(&paint, report, &mut out);
    rerun(&paint, report, &mut out);
    disarmed(&out).into_owned()
}

fn head(paint: &Paint, report: &TriageReport, out: &mut String) {
    let (word, tone) = match report.verdict {
        Verdict::Passed => ("PASS  ", Tone::Good),
        Verdict::PassedAfterRetry | Verdict::PassedAfterRepair => ("FLAKY  ", Tone::Warn),
        Verdict::InvalidInput => ("UNRELIABLE  ", Tone::Bad),
        Verdict::CodeFailure | Verdict::NeedsUserHelp | Verdict::Interrupted => {
            ("FAIL  ", Tone::Bad)
        }
    };
    out.push_str(&paint.hanging(word, tone, &line(&report.health.summary, 1000), 2));
    let counted = report
        .reports
        .iter()
        .filter(|r| r.same_as.is_none())
        .count();
    let text = format!(
        "{} in {}",
        totals(&report.health),
        plural(counted, "report")
    );
    out.push_str(&paint.tone(Tone::Faint, &text));
    out.push('\n');
}

fn broken(paint: &Paint, report: &TriageReport, out: &mut String) {
    let broken: Vec<_> = report
        .reports
        .iter()
        .filter_map(|r| Some((&r.path, r.problem.as_ref()?)))
        .collect();
    // A single one stands in the first line.
    if broken.len() < 2 {
        return;
    }
    out.push('\n');
    for (path, problem) in broken.iter().take(NOTES) {
        let text = format!("{}: {}", line(path, TEXT), line(problem, TEXT));
        out.push_str(&paint.hanging("unreliable: ", Tone::Bad, &text, 4));
    }
    more(paint, broken.len(), NOTES, "report", "", out);
}

fn causes(paint: &Paint, report: &TriageReport, out: &mut String) {
    let causes: Vec<&Cluster> = report
        .clusters
        .iter()
        .filter(|cluster| cluster.count > cluster.flaky)
        .collect();
    // One advice is given once, however many causes it is for.
    let mut advised: Vec<&[String]> = Vec::new();
    for (at, cluster) in causes.iter().take(CAUSES).enumerate() {
        out.push('\n');
        let said = at == 0
            && report
                .health
                .summary
                .contains(cluster.title.trim_end_matches('.'));
        cause(paint, report, at + 1, cluster, said, out);
        let fix = cluster.advice.fix.as_slice();
        if advised.contains(&fix) {
            continue;
        }
        advised.push(fix);
        for step in fix.iter().take(STEPS) {
            let text = line(step, TEXT);
            out.push_str(&paint.hanging("   fix ", Tone::Good, &text, 7));
        }
    }
    if causes.len() > CAUSES {
        out.push('\n');
    }
    for (at, cluster) in causes.iter().enumerate().skip(CAUSES).take(BRIEF) {
        let head = format!("{}. ", at + 1);
        let text = format!("{} ({})", named(report, cluster), cluster.root_cause);
        out.push_str(&paint.hanging(&head, Tone::Strong, &text, 4));
    }
    if causes.len() > CAUSES + BRIEF {
        let rest = &causes[CAUSES + BRIEF..];
        let victims: u64 = rest.iter().map(|c| c.count - c.flaky).sum();
        let text = format!("and {} more, of {}", rest.len(), plural(victims, "test"));
        out.push_str(&paint.tone(Tone::Faint, &text));
        out.push('\n');
    }
}

/// A cause in a line: its victim or their number, and its title.
fn named(report: &TriageReport, cluster: &Cluster) -> String {
    let title = line(&cluster.title, TEXT);
    match cluster.count {
        1 => format!("{}: {title}", names(report, cluster).join(", ")),
        n => format!("{}: {title}", plural(n, "test")),
    }
}

/// `said`: the first line of all says its title already.
fn cause(
    paint: &Paint,
    report: &TriageReport,
    number: usize,
    cluster: &Cluster,
    said: bool,
    out: &mut String,
) {
    let head = format!("{number}. ");
    let title = line(&cluster.title, TEXT);
    let names = names(report, cluster);
    let text = match (said, cluster.count) {
        (true, 1) => names.join(", "),
        (true, n) => plural(n, "test"),
        (false, _) => named(report, cluster),
    };
    out.push_str(&paint.hanging(&head, Tone::Strong, &text, 3));
    let mut facts = vec![cluster.root_cause.clone(), side(cluster).to_owned()];
    facts.extend(retry(cluster).map(str::to_owned));
    facts.extend(before(report, cluster));
    let facts = facts.join(" · ");
    out.push_str(&paint.hanging("   ", Tone::Plain, &facts, 3));
    if let Some(evidence) = &cluster.evidence {
        let text = line(&evidence.text, TEXT);
        if !text.is_empty() && !says_the_same(&title, &text) {
            out.push_str(&paint.hanging("   > ", Tone::Faint, &text, 5));
        }
    }
    if cluster.count > 1 {
        let mut text = names.join(", ");
        let rest = cluster.victims.len() - names.len();
        if rest > 0 {
            text.push_str(&format!(" and {rest} more"));
        }
        if cluster.consequences > 0 {
            text.push_str(&format!(
                "; {} only because of the others",
                cluster.consequences
            ));
        }
        out.push_str(&paint.hanging("   in ", Tone::Faint, &text, 6));
    }
}

/// Whether the evidence repeats the title, but for a few words around it.
fn says_the_same(title: &str, evidence: &str) -> bool {
    let title = title.trim_end_matches('…');
    title.contains(evidence) || (evidence.contains(title) && title.len() * 2 > evidence.len())
}

/// The names of the first victims.
fn names(report: &TriageReport, cluster: &Cluster) -> Vec<String> {
    cluster
        .victims
        .iter()
        .take(NAMES)
        .filter_map(|at| report.failures.get(*at))
        .map(|failure| line(&failure.title(), TEXT))
        .collect()
}

fn flaky(paint: &Paint, report: &TriageReport, out: &mut String) {
    if report.health.flaky == 0 {
        return;
    }
    let mut names: Vec<String> = report
        .failures
        .iter()
        .filter(|failure| failure.kind.flaky)
        .map(|failure| line(&failure.title(), TEXT))
        .collect();
    names.dedup();
    let shown = names.len().min(NAMES);
    let mut text = format!(
        "{} passed when run again: {}",
        plural(report.health.flaky, "test"),
        names[..shown].join(", ")
    );
    if names.len() > shown {
        text.push_str(&format!(" and {} more", names.len() - shown));
    }
    out.push('\n');
    out.push_str(&paint.hanging("flaky: ", Tone::Warn, &text, 4));
}

fn fixed(paint: &Paint, report: &TriageReport, out: &mut String) {
    if report.fixed.is_empty() {
        return;
    }
    let names: Vec<String> = report
        .fixed
        .iter()
        .take(NAMES)
        .map(|test| line(&test.name, TEXT))
        .collect();
    let mut text = format!(
        "{} no longer: {}",
        if report.fixed.len() == 1 {
            "1 test fails".to_owned()
        } else {
            format!("{} tests fail", report.fixed.len())
        },
        names.join(", ")
    );
    if report.fixed.len() > names.len() {
        text.push_str(&format!(" and {} more", report.fixed.len() - names.len()));
    }
    out.push('\n');
    out.push_str(&paint.hanging("fixed: ", Tone::Good, &text, 4));
}

fn remarks(paint: &Paint, report: &TriageReport, out: &mut String) {
    let notes = notes(report);
    if notes.is_empty() {
        return;
    }
    out.push('\n');
    for note in notes.iter().take(NOTES) {
        out.push_str(&paint.hanging("note: ", Tone::Faint, &line(note, TEXT), 4));
    }
    more(paint, notes.len(), NOTES, "note", "", out);
}

fn rerun(paint: &Paint, report: &TriageReport, out: &mut String) {
    let retry = &report.retry;
    if retry.tests.is_empty() {
        return;
    }
    let text = match retry.tests.len() {
        1 => "1 test may pass by itself".to_owned(),
        n => format!("{n} tests may pass by themselves"),
    };
    out.push('\n');
    out.push_str(&paint.hanging("RERUN  ", Tone::Strong, &text, 2));
    for command in retry.commands.iter().take(COMMANDS) {
        // Copied as a whole: not wrapped, and not cut.
        out.push_str(&format!("   {command}\n"));
    }
    let flag = "; --emit retry-commands prints them all";
    more(paint, retry.commands.len(), COMMANDS, "command", flag, out);
    for note in &retry.notes {
        out.push_str(&paint.hanging("   ", Tone::Faint, note, 3));
    }
    if !retry.without_command.is_empty() {
        let names: Vec<String> = retry
            .without_command
            .iter()
            .take(NAMES)
            .map(|name| line(name, TEXT))
            .collect();
        let mut text = format!("by hand: {}", names.join(", "));
        if retry.without_command.len() > names.len() {
            text.push_str(&format!(
                " and {} more",
                retry.without_command.len() - names.len()
            ));
        }
        out.push_str(&paint.hanging("   ", Tone::Plain, &text, 6));
    }
}

fn more(paint: &Paint, all: usize, shown: usize, noun: &str, tail: &str, out: &mut String) {
    if all > shown {
        let text = format!(
            "   and {}{tail}",
            plural(all - shown, &format!("more {noun}"))
        );
        out.push_str(&paint.tone(Tone::Faint, &text));
        out.push('\n');
    }
}
