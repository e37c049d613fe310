//! The report as JSON, written as it is walked through: a report of a million
//! cases is never in memory as a tree.

use jelly_base::model::TriageReport;
use serde::Serialize;
use std::io::{self, BufWriter, Write};

/// Bytes that are handed on at a time.
const BUFFER: usize = 16 << 10;

/// What `--format json` prints.
///
/// # Errors
/// What `out` says.
pub fn json(report: &TriageReport, out: &mut dyn Write) -> io::Result<()> {
    // The serialiser writes by the letter, which is dear through a pointer.
    let mut out = BufWriter::with_capacity(BUFFER, out);
    serde_json::to_writer_pretty(&mut out, report)?;
    writeln!(out)?;
    out.flush()
}

/// What `--format jsonl` prints: one failure a line.
///
/// # Errors
/// What `out` says.
pub fn json_lines(report: &TriageReport, out: &mut dyn Write) -> io::Result<()> {
    for failure in report.failures.to_owned_iter() {
        line(&failure, out)?;
    }
    Ok(())
}

fn line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}
