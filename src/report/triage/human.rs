//! The report for a person at a terminal, who has ten seconds.

use super::words::{before, fitting, listed, notes, retry, side, totals};
use crate::report::terminal::paint::{TerminalPaint, Tone};
use jelly_base::model::{Cluster, Fix, ReportLabels, TriageReport, Verdict};
use jelly_base::text::{first_names, one_line, plural, sanitize};

/// Causes that are told in full.
const CAUSES: usize = 5;
/// Further causes that are told in a line; the others are counted.
const BRIEF: usize = 10;
/// Victims that are named.
const NAMES: usize = 3;
/// Steps of an advice that are told.
const STEPS: usize = 2;
/// Commands that are told, and bytes of all of them: as much as a person reads
/// and copies.
const COMMANDS: usize = 5;
const COMMAND_BYTES: usize = 1500;
/// Notes and broken reports that are told.
const NOTES: usize = 5;
/// Bytes of one foreign text, and of one beside others in a line.
const TEXT: usize = 300;
const SHORT: usize = 120;

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
    let paint = TerminalPaint::new(options.color, options.width);
    let mut out = String::new();
    head(&paint, report, &mut out);
    broken(&paint, report, &mut out);
    causes(&paint, report, &mut out);
    flaky(&paint, report, &mut out);
    known(&paint, report, &mut out);
    fixed(&paint, report, &mut out);
    remarks(&paint, report, &mut out);
    rerun(&paint, report, &mut out);
    out
}

fn head(paint: &TerminalPaint, report: &TriageReport, out: &mut String) {
    let (word, tone) = match report.verdict {
        Verdict::Passed | Verdict::NothingAssigned => ("PASS  ", Tone::Good),
        Verdict::PassedWithKnown => ("KNOWN  ", Tone::Warn),
        Verdict::Skipped => ("SKIPPED  ", Tone::Warn),
        Verdict::PassedAfterRetry | Verdict::PassedAfterRepair => ("FLAKY  ", Tone::Warn),
        Verdict::InvalidInput => ("UNRELIABLE  ", Tone::Bad),
        Verdict::CodeFailure | Verdict::NeedsUserHelp | Verdict::Interrupted => {
            ("FAIL  ", Tone::Bad)
        }
    };
    out.push_str(&paint.hanging(word, tone, &one_line(&report.health.summary, 1000), 2));
    let counted = report.counted_reports().count();
    let text = format!(
        "{} in {}",
        totals(&report.health),
        plural(counted, "report")
    );
    out.push_str(&paint.tone(Tone::Faint, &text));
    out.push('\n');
}

fn broken(paint: &TerminalPaint, report: &TriageReport, out: &mut String) {
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
        let text = format!("{}: {}", one_line(path, TEXT), one_line(problem, TEXT));
        out.push_str(&paint.hanging("unreliable: ", Tone::Bad, &text, 4));
    }
    more(paint, broken.len(), NOTES, "report", out);
}

fn causes(paint: &TerminalPaint, report: &TriageReport, out: &mut String) {
    let causes: Vec<&Cluster> = report
        .clusters
        .iter()
        .filter(|cluster| cluster.count > cluster.flaky)
        .collect();
    // One advice is given once, however many causes it is for.
    let mut advised: Vec<&[Fix]> = Vec::new();
    for (at, cluster) in causes.iter().take(CAUSES).enumerate() {
        out.push('\n');
        let said = at == 0
            && report
                .health
                .summary
                .contains(cluster.title.trim_end_matches('.'));
        cause(paint, report, at + 1, cluster, said, out);
        let fix = &*cluster.advice.fix;
        if advised.contains(&fix) {
            continue;
        }
        advised.push(fix);
        for step in fix.iter().take(STEPS) {
            if step.is_command() {
                // Copied as a whole, so neither wrapped nor folded nor cut.
                let head = paint.tone(Tone::Good, "   fix ");
                out.push_str(&format!("{head}{}\n", sanitize(&step.line())));
            } else {
                let text = one_line(&step.text, TEXT);
                out.push_str(&paint.hanging("   fix ", Tone::Good, &text, 7));
            }
        }
    }
    if causes.len() > CAUSES {
        out.push('\n');
    }
    for (at, cluster) in causes.iter().enumerate().skip(CAUSES).take(BRIEF) {
        let head = format!("{}. ", at + 1);
        let mut text = named(report, cluster);
        if let Some(evidence) = told_evidence(cluster) {
            text.push_str(&format!(" > {}", one_line(evidence, SHORT)));
        }
        let facts = facts(report, cluster);
        out.push_str(&paint.hanging(&head, Tone::Strong, &format!("{text} ({facts})"), 4));
    }
    if causes.len() > CAUSES + BRIEF {
        let rest = &causes[CAUSES + BRIEF..];
        let victims: u64 = rest.iter().map(|c| c.count - c.flaky).sum();
        let text = format!(
            "and {} more, of {} (`--format json` has all)",
            rest.len(),
            plural(victims, "test")
        );
        out.push_str(&paint.tone(Tone::Faint, &text));
        out.push('\n');
    }
}

/// A cause in a line: its victim or their number, and its title.
fn named(report: &TriageReport, cluster: &Cluster) -> String {
    let title = one_line(&cluster.title, TEXT);
    match cluster.count {
        1 => format!("{}: {title}", names(report, cluster)),
        n => format!("{}: {title}", plural(n, "test")),
    }
}

/// `said`: the first line of all says its title already.
fn cause(
    paint: &TerminalPaint,
    report: &TriageReport,
    number: usize,
    cluster: &Cluster,
    said: bool,
    out: &mut String,
) {
    let head = format!("{number}. ");
    let text = match (said, cluster.count) {
        (true, 1) => names(report, cluster),
        (true, n) => plural(n, "test"),
        (false, _) => named(report, cluster),
    };
    out.push_str(&paint.hanging(&head, Tone::Strong, &text, 3));
    let facts = facts(report, cluster);
    out.push_str(&paint.hanging("   ", Tone::Plain, &facts, 3));
    if let Some(evidence) = told_evidence(cluster) {
        out.push_str(&paint.hanging("   > ", Tone::Faint, &one_line(evidence, TEXT), 5));
    }
    if cluster.count > 1 {
        let mut text = names(report, cluster);
        if cluster.consequences > 0 {
            text.push_str(&format!("; {} as a consequence", cluster.consequences));
        }
        out.push_str(&paint.hanging("   in ", Tone::Faint, &text, 6));
    }
}

/// Root cause, side, whether a rerun may help, and what earlier runs say.
fn facts(report: &TriageReport, cluster: &Cluster) -> String {
    let mut facts = vec![cluster.root_cause.clone(), side(cluster).to_owned()];
    facts.extend(retry(cluster).map(str::to_owned));
    facts.extend(before(report, cluster));
    facts.join(" · ")
}

/// The line that proves a cause, unless its title repeats it.
fn told_evidence(cluster: &Cluster) -> Option<&str> {
    let evidence = cluster.evidence.as_ref()?;
    let (title, text) = (
        one_line(&cluster.title, TEXT),
        one_line(&evidence.text, TEXT),
    );
    let tells = !text.is_empty() && !says_the_same(&title, &text);
    tells.then_some(evidence.text.as_str())
}

/// Whether the evidence repeats the title, but for a few words around it.
fn says_the_same(title: &str, evidence: &str) -> bool {
    let title = title.trim_end_matches('…');
    title.contains(evidence) || (evidence.contains(title) && title.len() * 2 > evidence.len())
}

/// The names of the first victims.
fn names(report: &TriageReport, cluster: &Cluster) -> String {
    let labels = ReportLabels::of_all(report);
    let names = report
        .victims(cluster)
        .map(|failure| one_line(&labels.title(&failure), TEXT));
    first_names(names, cluster.victims.len(), NAMES)
}

fn flaky(paint: &TerminalPaint, report: &TriageReport, out: &mut String) {
    if report.health.flaky == 0 {
        return;
    }
    let labels = ReportLabels::of_all(report);
    let mut names: Vec<String> = report
        .failures
        .iter()
        .filter(|failure| failure.kind.flaky)
        .map(|failure| one_line(&labels.title(&failure), TEXT))
        .collect();
    names.dedup();
    let mut text = format!(
        "{} passed when run again",
        plural(report.health.flaky, "test")
    );
    let all = names.len();
    if all > 0 {
        // Of a test whose report does not tell how it failed, no failure is known.
        let among = match usize::try_from(report.health.flaky) {
            Ok(flaky) if flaky > all => ", among them ",
            _ => ": ",
        };
        text.push_str(among);
        text.push_str(&first_names(names, all, NAMES));
    }
    out.push('\n');
    out.push_str(&paint.hanging("flaky: ", Tone::Warn, &text, 4));
}

fn known(paint: &TerminalPaint, report: &TriageReport, out: &mut String) {
    if report.known.is_empty() {
        return;
    }
    out.push('\n');
    for known in report.known.iter().take(NOTES) {
        out.push_str(&paint.hanging("known: ", Tone::Warn, &listed(known, TEXT), 4));
    }
    more(paint, report.known.len(), NOTES, "known failure", out);
}

fn fixed(paint: &TerminalPaint, report: &TriageReport, out: &mut String) {
    if report.fixed.is_empty() {
        return;
    }
    let names = report.fixed.iter().map(|test| one_line(&test.name, TEXT));
    let fail = match report.fixed.len() {
        1 => "1 test fails".to_owned(),
        n => format!("{n} tests fail"),
    };
    let names = first_names(names, report.fixed.len(), NAMES);
    let text = format!("{fail} no longer: {names}");
    out.push('\n');
    out.push_str(&paint.hanging("fixed: ", Tone::Good, &text, 4));
}

fn remarks(paint: &TerminalPaint, report: &TriageReport, out: &mut String) {
    let notes = notes(report);
    if notes.is_empty() {
        return;
    }
    out.push('\n');
    for note in notes.iter().take(NOTES) {
        out.push_str(&paint.hanging("note: ", Tone::Faint, &one_line(note, TEXT), 4));
    }
    more(paint, notes.len(), NOTES, "note", out);
}

fn rerun(paint: &TerminalPaint, report: &TriageReport, out: &mut String) {
    let retry = &report.retry;
    if retry.tests.is_empty() {
        return;
    }
    let text = match retry.tests.len() {
        1 => "1 test may pass on a rerun".to_owned(),
        n => format!("{n} tests may pass on a rerun"),
    };
    out.push('\n');
    out.push_str(&paint.hanging("RERUN  ", Tone::Strong, &text, 2));
    let shown = fitting(
        &retry.commands[..retry.commands.len().min(COMMANDS)],
        COMMAND_BYTES,
    );
    for command in shown {
        // Copied as a whole: not wrapped, and not cut.
        out.push_str(&format!("   {command}\n"));
    }
    let left = retry.commands.len() - shown.len();
    if left > 0 {
        let (and, noun) = match shown.len() {
            0 => ("", "command, too long for this place"),
            _ => ("and ", "more command"),
        };
        let noun = if left > 1 {
            noun.replacen("command", "commands", 1)
        } else {
            noun.to_owned()
        };
        let text = format!("   {and}{left} {noun}; --emit retry-commands prints them all\n");
        out.push_str(&paint.tone(Tone::Faint, &text));
    }
    for note in &retry.notes {
        out.push_str(&paint.hanging("   ", Tone::Faint, note, 3));
    }
    if !retry.without_command.is_empty() {
        let names = retry
            .without_command
            .iter()
            .map(|name| one_line(name, TEXT));
        let names = first_names(names, retry.without_command.len(), NAMES);
        let text = format!("rerun manually: {names}");
        out.push_str(&paint.hanging("   ", Tone::Plain, &text, 6));
    }
}

fn more(paint: &TerminalPaint, all: usize, shown: usize, noun: &str, out: &mut String) {
    if all > shown {
        let more = plural(all - shown, &format!("more {noun}"));
        out.push_str(&paint.tone(Tone::Faint, &format!("   and {more}")));
        out.push('\n');
    }
}
