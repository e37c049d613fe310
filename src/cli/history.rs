//! `jelly history`: the worst offenders.

mod columns;
mod export;
pub mod fleet;
mod keep;

use super::open_history::{load, not_kept};
use super::out::{say, say_json};
use super::refusal::{Refusal, complain};
use super::settings::World;
use crate::cli::args::{ExportArgs, Format, HistoryArgs, HistoryCommand, HistoryOrder, ListArgs};
use columns::{finished, number, table, words};
use comfy_table::Cell;
use jelly_base::model::{ExitCode, SCHEMA_VERSION};
use jelly_base::text::{plural, sanitize};
use jelly_harness::shards::{PlanTime, PlanTimes};
use jelly_triage::history::{CauseRecord, OffenderOrder, Past, PastScope, TestRecord};
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

/// Lists them. The default history that is not there yet is an empty one; that none is
/// kept at all, or that one is named and not there, is exit code 2.
pub fn history(args: &ListArgs, world: &World) -> Result<ExitCode, Refusal> {
    match &args.command {
        None => {}
        Some(HistoryCommand::Flaky(args)) => return fleet::flaky(args, world),
        Some(HistoryCommand::New(args)) => return fleet::new(args, world),
        Some(HistoryCommand::Cause(args)) => return fleet::cause(args, world),
        Some(HistoryCommand::Slow(args)) => return fleet::slow(args, world),
        Some(HistoryCommand::Page(args)) => return fleet::page(args, world),
        Some(HistoryCommand::Export(args)) if args.durations => return durations(args, world),
        Some(HistoryCommand::Export(args)) => return export::export(args, world),
        Some(HistoryCommand::Migrate(args)) => return keep::migrate(args, world),
        Some(HistoryCommand::Push(args)) => return keep::push(args, world),
        Some(HistoryCommand::Prune(args)) => return keep::prune(args, world),
    }
    let past = kept(&args.history, world)?;
    let order = match args.by {
        HistoryOrder::Failures => OffenderOrder::Failures,
        HistoryOrder::Flaky => OffenderOrder::Flaky,
        HistoryOrder::LastSeen => OffenderOrder::LastSeen,
    };
    match &args.cause {
        Some(wanted) => {
            let mut causes = past.worst_causes(order);
            causes.retain(|cause| is_about(cause, wanted, args.test.as_deref()));
            list(past.runs(), causes, args, world, causes_table, |causes| {
                WorstCauses { causes }
            })
        }
        None => {
            let mut tests = past.worst_tests(order);
            if let Some(wanted) = &args.test {
                tests.retain(|record| record.test.to_string().contains(wanted));
            }
            list(past.runs(), tests, args, world, tests_table, |tests| {
                WorstTests { tests }
            })
        }
    }
}

fn kept(args: &HistoryArgs, world: &World) -> Result<Past, Refusal> {
    let store = args.store_to_read(world)?;
    load(&*store, &PastScope::All)
}

/// How long the plans take. That nothing is known is no error: then plans are
/// assigned by hash, as in the first run of all, which has no file yet.
fn durations(args: &ExportArgs, world: &World) -> Result<ExitCode, Refusal> {
    let store = args.history.store(world)?.ok_or_else(not_kept)?;
    if let Some(file) = args.history.lacking(&*store) {
        let file = file.display();
        complain(&sanitize(&format!("note: there is no history {file} yet")));
    }
    let past = load(&*store, &PastScope::All)?;
    let plans = past.durations().into_iter();
    let times = PlanTimes {
        schema_version: SCHEMA_VERSION,
        plans: plans
            .map(|(path, duration_ms)| PlanTime {
                path: path.to_owned(),
                duration_ms,
            })
            .collect(),
    };
    if times.plans.is_empty() {
        complain("note: the history knows no duration of any plan yet");
    }
    say_json(&times, ExitCode::Passed)
}

/// Prints the first of them.
fn list<R, T: Serialize>(
    runs: usize,
    mut worst: Vec<R>,
    args: &ListArgs,
    world: &World,
    table: impl Fn(&[R], &World) -> String,
    document: impl Fn(Vec<R>) -> T,
) -> Result<ExitCode, Refusal> {
    let all = worst.len();
    if args.limit > 0 {
        worst.truncate(args.limit);
    }
    if args.format == Format::Json {
        let document = Offenders {
            schema_version: SCHEMA_VERSION,
            runs,
            worst: document(worst),
        };
        return say_json(&document, ExitCode::Passed);
    }
    let mut text = format!("{}\n", plural(runs, "remembered run"));
    text.push_str(&table(&worst, world));
    if all > worst.len() {
        let more = all - worst.len();
        text.push_str(&format!("and {more} more; see all with --limit 0\n"));
    }
    say(text, ExitCode::Passed)
}

fn is_about(cause: &CauseRecord, wanted: &str, test: Option<&str>) -> bool {
    let print = cause.fingerprint.as_str();
    let named = print.starts_with(wanted)
        || print[print.find(':').map_or(0, |at| at + 1)..].starts_with(wanted)
        || cause.root_cause == wanted;
    let befell = test.is_none_or(|test| cause.tests.iter().any(|t| t.to_string().contains(test)));
    named && befell
}

/// Day and time without what nobody reads.
fn moment(at: &Option<String>) -> Cell {
    let at = at.as_deref().unwrap_or("-");
    words(at.get(..16).unwrap_or(at))
}

fn tests_table(records: &[TestRecord], world: &World) -> String {
    if records.is_empty() {
        return "no test failed in them\n".to_owned();
    }
    let headings = "test|failed|flaky|of runs|flaky rate|now|last seen|root cause|fingerprint";
    let mut table = table(world, headings);
    for record in records {
        table.add_row(vec![
            words(&record.test.to_string()),
            number(record.failed),
            number(record.flaky),
            number(record.runs),
            number(format!("{:.0} %", record.flaky_rate * 100.0)),
            words(if record.passes_now { "passes" } else { "fails" }),
            moment(&record.seen.last_seen),
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
    let headings = "root cause|failures|runs|tests|last seen|fingerprint|evidence";
    let mut table = table(world, headings);
    for record in records {
        table.add_row(vec![
            words(&record.root_cause),
            number(record.failures),
            number(record.runs),
            number(record.tests.len()),
            moment(&record.seen.last_seen),
            words(&record.fingerprint),
            words(record.evidence.as_deref().unwrap_or("-")),
        ]);
    }
    finished(&table)
}
