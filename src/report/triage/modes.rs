//! Less than the whole: the failures alone, or the paths alone.

use jelly_base::model::{ReportLabels, TriageReport};
use jelly_base::text::one_line;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// Bytes of one foreign text on a line for people.
const TEXT: usize = 300;

/// A failure as a list of failures has it.
#[derive(Serialize, JsonSchema)]
pub struct Brief<'a> {
    /// The test's own fingerprint: the same from run to run.
    id: &'a str,
    /// The test as a person names it.
    title: String,
    /// What the report says of it, on one line; empty where it says nothing.
    message: &'a str,
}

fn briefs(report: &TriageReport) -> impl Iterator<Item = Brief<'_>> {
    let labels = ReportLabels::of_all(report);
    report.failures.iter().map(move |failure| Brief {
        id: failure.test_fingerprint,
        title: labels.title(&failure),
        message: failure.message.unwrap_or_default(),
    })
}

/// Id, title and message of each failure, as lines for people.
///
/// # Errors
/// What `out` says.
pub fn failures_lines(report: &TriageReport, out: &mut dyn Write) -> io::Result<()> {
    for Brief { id, title, message } in briefs(report) {
        writeln!(out, "{id}  {}", one_line(&title, TEXT))?;
        if !message.is_empty() {
            writeln!(out, "    {}", one_line(message, TEXT))?;
        }
    }
    Ok(())
}

/// The same as JSON: a list, or with `lines` one a line.
///
/// # Errors
/// What `out` says.
pub fn failures_json(report: &TriageReport, lines: bool, out: &mut dyn Write) -> io::Result<()> {
    list(briefs(report), lines, out)
}

/// The paths of the reports, one a line.
///
/// # Errors
/// What `out` says.
pub fn paths_lines(report: &TriageReport, out: &mut dyn Write) -> io::Result<()> {
    for summary in &report.reports {
        writeln!(out, "{}", one_line(&summary.path, 4096))?;
    }
    Ok(())
}

/// The same as JSON: a list of texts, or with `lines` one a line.
///
/// # Errors
/// What `out` says.
pub fn paths_json(report: &TriageReport, lines: bool, out: &mut dyn Write) -> io::Result<()> {
    list(report.reports.iter().map(|report| &report.path), lines, out)
}

fn list<T: Serialize>(
    items: impl Iterator<Item = T>,
    lines: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut first = true;
    for item in items {
        if !lines {
            out.write_all(if first { b"[\n  " } else { b",\n  " })?;
        }
        first = false;
        serde_json::to_writer(&mut *out, &item)?;
        if lines {
            writeln!(out)?;
        }
    }
    match (lines, first) {
        (true, _) => Ok(()),
        (false, true) => writeln!(out, "[]"),
        (false, false) => writeln!(out, "\n]"),
    }
}
