//! `jelly history`: the worst offenders.

use super::out::say_in;
use super::past::refuse;
use super::settings::World;
use crate::cli::args::{Format, HistoryOrder, ListArgs};
use crate::cli::complain::{complain, fault};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use jelly_base::model::{ExitCode, SCHEMA_VERSION};
use jelly_base::text::{one_line, plural, sanitize};
use jelly_triage::history::{CauseRecord, OffenderOrder, TestRecord};
use schemars::JsonSchema;
use serde::Serialize;

/// What `--format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Offenders<T> {
    /// Raised when a field changes its meaning.
    schema_version: u32,
    /// Runs that are remembered.
    runs: usize,
    /// The worst first.
    #[serde(flatten)]
    worst: T,
}

/// Without `--cause`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorstTests {
    /// The tests that failed, the worst first.
    tests: Vec<TestRecord>,
}

/// With `--cause`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorstCauses {
    /// The causes, the worst first.
    causes: Vec<CauseRecord>,
}

impl<T> Offenders<T> {
    fn new(runs: usize, worst: T) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            runs,
            worst,
        }
    }
}

/// Lists them. A history that is not there yet is an empty one; that none is
/// kept at all is exit code 2.
pub fn history(args: &ListArgs, world: &World) -> ExitCode {
    let Some(store) = args.memory.store(world) else {
        complain("error: no history is kept here: there is no folder .jelly");
        complain("help: make that folder, or name a file with --history");
        return ExitCode::InvalidInput;
    };
    let (past, warnings) = match store.load() {
        Ok(loaded) => loaded,
        Err(error) => {
            refuse(&error);
            return ExitCode::InvalidInput;
        }
    };
    for warning in warnings {
        complain(&format!("warning: {warning}"));
    }
    let order = match args.by {
        HistoryOrder::Failures => OffenderOrder::Failures,
        HistoryOrder::Flaky => OffenderOrder::Flaky,
        HistoryOrder::LastSeen => OffenderOrder::LastSeen,
    };
    let text = match &args.cause {
        Some(wanted) => {
            let mut causes = past.worst_causes(order);
            causes.retain(|cause| is_about(cause, wanted, args.test.as_deref()));
            let all = causes.len();
            causes.truncate(limit(args.limit));
            match args.format {
                Format::Json => pretty(&Offenders::new(past.runs(), WorstCauses { causes })),
                Format::Human => Ok(head(past.runs())
                    + &causes_table(&causes, world)
                    + &rest(all, causes.len())),
            }
        }
        None => {
            let mut tests = past.worst_tests(order);
            if let Some(wanted) = &args.test {
                tests.retain(|record| record.test.to_string().contains(wanted));
            }
            let all = tests.len();
            tests.truncate(limit(args.limit));
            match args.format {
                Format::Json => pretty(&Offenders::new(past.runs(), WorstTests { tests })),
                Format::Human => {
                    Ok(head(past.runs()) + &tests_table(&tests, world) + &rest(all, tests.len()))
                }
            }
        }
    };
    match text {
        Ok(text) => say_in(args.format.notation(), text, ExitCode::Passed),
        Err(error) => fault(&format!("the list is no JSON: {error}")),
    }
}

fn limit(limit: usize) -> usize {
    if limit == 0 { usize::MAX } else { limit }
}

fn is_about(cause: &CauseRecord, wanted: &str, test: Option<&str>) -> bool {
    let print = cause.fingerprint.as_str();
    let named = print.starts_with(wanted)
        || print.starts_with(&format!("j1:{wanted}"))
        || cause.root_cause == wanted;
    let befell = test.is_none_or(|test| cause.tests.iter().any(|t| t.to_string().contains(test)));
    named && befell
}

fn pretty(value: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(value).map(|text| text + "\n")
}

fn head(runs: usize) -> String {
    format!("{}\n", plural(runs, "remembered run"))
}

fn rest(all: usize, shown: usize) -> String {
    if all == shown {
        return String::new();
    }
    format!("and {} more; see all with --limit 0\n", all - shown)
}

fn table(world: &World, headings: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(headings.iter().copied());
    table.set_width(world.width().unwrap_or(160));
    table
}

fn number(text: impl ToString) -> Cell {
    Cell::new(text.to_string()).set_alignment(CellAlignment::Right)
}

fn words(text: &str) -> Cell {
    Cell::new(sanitize(&one_line(text, 120)))
}

/// Day and time without what nobody reads.
fn moment(at: &Option<String>) -> Cell {
    let at = at.as_deref().unwrap_or("-");
    words(at.get(..16).unwrap_or(at))
}

fn finished(table: &Table) -> String {
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect();
    lines.concat()
}

fn tests_table(records: &[TestRecord], world: &World) -> String {
    if records.is_empty() {
        return "no test failed in them\n".to_owned();
    }
    let mut table = table(
        world,
        &[
            "test",
            "failed",
            "flaky",
            "of runs",
            "changes",
            "now",
            "last seen",
            "root cause",
            "fingerprint",
        ],
    );
    for record in records {
        table.add_row(vec![
            words(&record.test.to_string()),
            number(record.failed),
            number(record.flaky),
            number(record.runs),
            number(format!("{:.0} %", record.flaky_rate * 100.0)),
            words(if record.passes_now { "passes" } else { "fails" }),
            moment(&record.last_seen),
            words(record.root_cause.as_deref().unwrap_or("-")),
            words(&record.fingerprint),
        ]);
    }
    finished(&table)
}

fn causes_table(records: &[CauseRecord], world: &World) -> String {
    if records.is_empty() {
        return "no such cause in them\n".to_owned();
    }
    let mut table = table(
        world,
        &[
            "root cause",
            "failures",
            "runs",
            "tests",
            "last seen",
            "fingerprint",
            "evidence",
        ],
    );
    for record in records {
        table.add_row(vec![
            words(&record.root_cause),
            number(record.failures),
            number(record.runs),
            number(record.tests.len()),
            moment(&record.last_seen),
            words(&record.fingerprint),
            words(record.evidence.as_deref().unwrap_or("-")),
        ]);
    }
    finished(&table)
}
