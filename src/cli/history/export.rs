//! `jelly history export`: the results, for other programs.

use super::fleet::{asked, scope};
use crate::cli::args::{ExportArgs, ExportFormat};
use crate::cli::open_history::unread;
use crate::cli::out::{stdout, unless_unsaid};
use crate::cli::refusal::Refusal;
use crate::cli::settings::World;
use jelly_base::model::ExitCode;
use jelly_base::text::{Notation, sanitize};
use jelly_triage::history::{ExportedResult, RunOrigin};
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

const HEADINGS: [&str; 15] = [
    "at",
    "project",
    "branch",
    "commit",
    "run_key",
    "attempt",
    "shard",
    "suite",
    "classname",
    "name",
    "outcome",
    "duration_ms",
    "fingerprint",
    "test_fingerprint",
    "root_cause",
];

/// Prints them all, as they are read.
pub fn export(args: &ExportArgs, world: &World) -> Result<ExitCode, Refusal> {
    let store = asked(&args.history, world)?;
    let scope = scope(&args.scope, 0, &*store, world)?;
    let notation = match args.format {
        ExportFormat::Jsonl => Notation::Json,
        ExportFormat::Csv => Notation::Plain,
    };
    let mut out = BufWriter::new(stdout(notation));
    let mut written = match args.format {
        ExportFormat::Jsonl => Ok(()),
        ExportFormat::Csv => write_row(&mut out, &HEADINGS.map(Cow::Borrowed)),
    };
    let mut take = |results: Vec<ExportedResult>| {
        for result in &results {
            if written.is_ok() {
                written = match args.format {
                    ExportFormat::Jsonl => write_line(&mut out, result),
                    ExportFormat::Csv => write_row(&mut out, &row(result)),
                };
            }
        }
        written.is_ok()
    };
    store
        .export(&scope, &mut take)
        .map_err(|error| unread(&error))?;
    let ended = written.and_then(|()| out.flush());
    unless_unsaid(ended, ExitCode::Passed)
}

fn write_line(out: &mut impl Write, result: &ExportedResult) -> io::Result<()> {
    let line = serde_json::to_string(result)?;
    writeln!(out, "{line}")
}

fn row(result: &ExportedResult) -> [Cow<'_, str>; 15] {
    let ExportedResult {
        at,
        origin,
        test,
        outcome,
        duration_ms,
        fingerprint,
        test_fingerprint,
        root_cause,
    } = result;
    let RunOrigin {
        project,
        branch,
        commit,
        run_key,
        attempt,
        shard,
        // Of how many says nothing of a result.
        shards: _,
    } = origin;
    fn known(text: &Option<String>) -> Cow<'_, str> {
        Cow::Borrowed(text.as_deref().unwrap_or_default())
    }
    let number =
        |number: Option<u64>| Cow::Owned(number.map_or_else(String::new, |n| n.to_string()));
    [
        known(at),
        known(project),
        known(branch),
        known(commit),
        known(run_key),
        number(*attempt),
        number(shard.map(u64::from)),
        Cow::Borrowed(&test.suite),
        Cow::Borrowed(&test.classname),
        Cow::Borrowed(&test.name),
        Cow::Borrowed(outcome.as_str()),
        number(*duration_ms),
        known(fingerprint),
        known(test_fingerprint),
        known(root_cause),
    ]
}

fn write_row(out: &mut impl Write, cells: &[Cow<'_, str>]) -> io::Result<()> {
    let cells: Vec<Cow<'_, str>> = cells.iter().map(|cell| cell_of(cell)).collect();
    // As RFC 4180 has it.
    write!(out, "{}\r\n", cells.join(","))
}

/// A spreadsheet takes what begins so for a formula, and runs it.
const FORMULAS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

fn cell_of(text: &str) -> Cow<'_, str> {
    // CSV has no escapes for what a terminal would obey.
    let text = sanitize(text);
    let is_formula = text.starts_with(FORMULAS);
    if !is_formula && !text.contains([',', '"', '\r', '\n']) {
        return text;
    }
    let mark = if is_formula { "'" } else { "" };
    Cow::Owned(format!("\"{mark}{}\"", text.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::cell_of;

    #[test]
    fn no_cell_is_a_formula_or_ends_early() {
        for (text, cell) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("-1+1", "\"'-1+1\""),
            ("@sum", "\"'@sum\""),
            ("a\nb", "\"a\nb\""),
            ("\u{1b}[31m=a\0", "\"'=a\""),
        ] {
            assert_eq!(cell_of(text), cell);
        }
    }
}
