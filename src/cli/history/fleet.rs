//! What a fleet asks: which tests come and go, which causes are new, where one
//! was seen, what is slow.

use super::columns::{finished, number, table, words};
use crate::cli::args::{CauseArgs, FleetArgs, FleetFormat, HistoryArgs, PageArgs, ScopeArgs};
use crate::cli::open_history::unread;
use crate::cli::out::{say, say_json};
use crate::cli::overwrite::refuse_kept;
use crate::cli::provenance::provenance;
use crate::cli::refusal::{Refusal, complain};
use crate::cli::settings::World;
use crate::cli::target::Target;
use crate::report::{FleetAnswers, fleet_html, is_own_page, markdown_table};
use jelly_base::model::{ExitCode, SCHEMA_VERSION, Side};
use jelly_base::text::sanitize;
use jelly_triage::history::{
    CauseAccount, FlakyTest, FleetScope, HistoryStore, NewCause, PastLabel, SlowTest,
};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;

/// How far back `new` looks, where nothing is said.
const NEW_SINCE: &str = "7d";

/// What `--format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FleetDocument<T> {
    /// Raised when a field changes its meaning.
    schema_version: u32,
    /// Which runs were asked about.
    scope: FleetScope,
    #[serde(flatten)]
    answer: T,
}

/// Of `jelly history flaky`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlakyAnswer {
    /// The worst first.
    flaky: Vec<FlakyTest>,
}

/// Of `jelly history new`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NewAnswer {
    /// The latest first.
    new: Vec<NewCause>,
}

/// Of `jelly history cause`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CauseAnswer {
    /// One for each project and fingerprint that begins so.
    causes: Vec<CauseAccount>,
}

/// Of `jelly history slow`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SlowAnswer {
    /// The slowest first.
    slow: Vec<SlowTest>,
}

/// Rows with headings, for people.
struct Columns {
    headings: &'static [&'static str],
    rows: Vec<Vec<ColumnCell>>,
    /// What is said where there are none.
    none: &'static str,
}

enum ColumnCell {
    Words(String),
    Number(String),
}

fn text(text: impl Into<String>) -> ColumnCell {
    ColumnCell::Words(text.into())
}

fn amount(number: impl ToString) -> ColumnCell {
    ColumnCell::Number(number.to_string())
}

fn known(text: Option<&str>) -> ColumnCell {
    ColumnCell::Words(text.unwrap_or("-").to_owned())
}

/// Day and time without what nobody reads.
fn moment(at: Option<&str>) -> ColumnCell {
    known(at.map(|at| at.get(..16).unwrap_or(at)))
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Test => "test",
        Side::Code => "code",
    }
}

/// The same of one test.
fn side_of(label: PastLabel) -> &'static str {
    match (label.side, label.ambiguous) {
        (Side::Test, true) => "undecided",
        (one, _) => side(one),
    }
}

/// Of all tests that are listed: one word, or where they differ, all.
fn sides(cause: &CauseAccount) -> String {
    let labels = cause.tests.iter().map(|test| test.label);
    let mut words: Vec<&str> = Vec::new();
    for word in labels.map(side_of) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    match words.as_slice() {
        [] | [_] => side(cause.side).to_owned(),
        several => several.join(", "),
    }
}

fn percent(rate: f64) -> ColumnCell {
    amount(format!("{:.0} %", rate * 100.0))
}

/// The history that is asked, with what of it can't be read said.
pub fn asked(args: &HistoryArgs, world: &World) -> Result<Box<dyn HistoryStore>, Refusal> {
    let store = args.store_to_read(world)?;
    for warning in store.look().map_err(|error| unread(&error))? {
        complain(&format!("warning: {warning}"));
    }
    Ok(store)
}

/// Which runs are meant.
pub fn scope(
    args: &ScopeArgs,
    limit: usize,
    store: &dyn HistoryStore,
    world: &World,
) -> Result<FleetScope, Refusal> {
    let ScopeArgs {
        project,
        all_projects,
        branch,
        since,
    } = args;
    let here = || provenance(world).project.filter(|_| !all_projects);
    let mut scope = FleetScope {
        project: project.clone().or_else(here),
        branch: branch.clone(),
        since: None,
        limit,
    };
    if let Some(since) = since {
        scope.since = Some(began(since, &scope, store)?);
    }
    Ok(scope)
}

/// The moment that is meant, RFC 3339.
fn began(since: &str, scope: &FleetScope, store: &dyn HistoryStore) -> Result<String, Refusal> {
    if let Some(age) = age(since) {
        let then = Timestamp::now().checked_sub(age);
        return then
            .map(|then| then.to_string())
            .map_err(|_| nothing_since(since));
    }
    if let Ok(moment) = since.parse::<Timestamp>() {
        return Ok(moment.to_string());
    }
    if let Ok(moment) = format!("{since}T00:00:00Z").parse::<Timestamp>() {
        return Ok(moment.to_string());
    }
    let is_commit = since.len() >= 7 && since.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_commit {
        return Err(Refusal::with_help(
            format!("--since {since}: this is no age, no day, no moment and no commit"),
            "write 30d, 12h, 2026-11-01, 2026-11-01T12:00:00Z, or at least 7 digits of a commit",
        ));
    }
    let seen = store.commit_seen(scope, &since.to_ascii_lowercase());
    let seen = seen.map_err(|error| unread(&error))?;
    seen.ok_or_else(|| nothing_since(since))
}

fn nothing_since(since: &str) -> Refusal {
    Refusal::with_help(
        format!("--since {since}: no run of it is known"),
        "name a day, or a commit that was run here",
    )
}

/// Of `30d`, `2w` and `12h`.
fn age(text: &str) -> Option<SignedDuration> {
    let (number, hours) = [("d", 24), ("w", 7 * 24), ("h", 1)]
        .into_iter()
        .find_map(|(unit, hours)| Some((text.strip_suffix(unit)?, hours)))?;
    // What begins with a sign is no age.
    let number: u32 = number.parse().ok().filter(|_| !number.starts_with('+'))?;
    Some(SignedDuration::from_hours(i64::from(number) * hours))
}

fn answer<T: Serialize>(
    scope: FleetScope,
    format: FleetFormat,
    answer: T,
    columns: impl Fn(&T) -> Columns,
    world: &World,
) -> Result<ExitCode, Refusal> {
    let columns = match format {
        FleetFormat::Json => {
            let document = FleetDocument {
                schema_version: SCHEMA_VERSION,
                scope,
                answer,
            };
            return say_json(&document, ExitCode::Passed);
        }
        FleetFormat::Table | FleetFormat::Md => columns(&answer),
    };
    let text = match format {
        FleetFormat::Md => columns.markdown(),
        FleetFormat::Table | FleetFormat::Json => columns.table(world),
    };
    say(text, ExitCode::Passed)
}

impl Columns {
    fn table(&self, world: &World) -> String {
        if self.rows.is_empty() {
            return format!("{}\n", self.none);
        }
        let mut table = table(world, &self.headings.join("|"));
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| match cell {
                ColumnCell::Words(text) => words(text),
                ColumnCell::Number(text) => number(text),
            }));
        }
        finished(&table)
    }

    fn markdown(&self) -> String {
        if self.rows.is_empty() {
            return format!("{}\n", self.none);
        }
        let rows = self.rows.iter().map(|row| {
            let cells = row.iter().map(|cell| match cell {
                ColumnCell::Words(text) | ColumnCell::Number(text) => text.as_str(),
            });
            cells.collect::<Vec<&str>>()
        });
        markdown_table(self.headings, rows)
    }
}

/// `jelly history flaky`.
pub fn flaky(args: &FleetArgs, world: &World) -> Result<ExitCode, Refusal> {
    let store = asked(&args.history, world)?;
    let scope = scope(&args.scope, args.limit, &*store, world)?;
    let flaky = store.flaky(&scope).map_err(|error| unread(&error))?;
    let columns = |answer: &FlakyAnswer| Columns {
        headings: &[
            "test",
            "project",
            "branch",
            "runs",
            "failed",
            "flaky",
            "changes",
            "rate",
            "last seen",
            "causes",
        ],
        rows: answer.flaky.iter().map(flaky_row).collect(),
        none: "no test comes and goes there",
    };
    answer(scope, args.format, FlakyAnswer { flaky }, columns, world)
}

fn flaky_row(test: &FlakyTest) -> Vec<ColumnCell> {
    let causes = test.causes.iter();
    let causes = causes.map(|cause| format!("{} ×{}", cause.root_cause, cause.failures));
    vec![
        text(test.test.to_string()),
        known(test.project.as_deref()),
        known(test.branch.as_deref()),
        amount(test.runs),
        amount(test.failed),
        amount(test.flaky),
        amount(test.changes),
        percent(test.flaky_rate),
        moment(test.last_seen.as_deref()),
        text(causes.collect::<Vec<String>>().join(", ")),
    ]
}

/// `jelly history new`.
pub fn new(args: &FleetArgs, world: &World) -> Result<ExitCode, Refusal> {
    let store = asked(&args.history, world)?;
    let mut asked_for = args.scope.clone();
    asked_for.since.get_or_insert_with(|| NEW_SINCE.to_owned());
    let scope = scope(&asked_for, args.limit, &*store, world)?;
    let new = store.new_causes(&scope).map_err(|error| unread(&error))?;
    let columns = |answer: &NewAnswer| Columns {
        headings: &[
            "root cause",
            "side",
            "project",
            "first seen",
            "branch",
            "commit",
            "failures",
            "runs",
            "tests",
            "fingerprint",
            "evidence",
        ],
        rows: answer.new.iter().map(new_row).collect(),
        none: "no cause was first seen since then",
    };
    answer(scope, args.format, NewAnswer { new }, columns, world)
}

fn new_row(cause: &NewCause) -> Vec<ColumnCell> {
    let commit = cause.first_commit.as_deref();
    vec![
        text(&cause.root_cause),
        text(side(cause.side)),
        known(cause.project.as_deref()),
        moment(Some(&cause.first_seen)),
        known(cause.first_branch.as_deref()),
        known(commit.map(|commit| commit.get(..12).unwrap_or(commit))),
        amount(cause.failures),
        amount(cause.runs),
        amount(cause.tests),
        text(&cause.fingerprint),
        known(cause.evidence.as_deref()),
    ]
}

/// `jelly history cause`.
pub fn cause(args: &CauseArgs, world: &World) -> Result<ExitCode, Refusal> {
    let fleet = &args.fleet;
    let store = asked(&fleet.history, world)?;
    let scope = scope(&fleet.scope, fleet.limit, &*store, world)?;
    let prefix = match args.fingerprint.contains(':') {
        true => args.fingerprint.clone(),
        false => format!("j2:{}", args.fingerprint),
    };
    let causes = store
        .accounts(&scope, &prefix)
        .map_err(|error| unread(&error))?;
    if causes.is_empty() {
        return Err(Refusal::with_help(
            format!("no cause whose fingerprint begins with {prefix} is known there"),
            sanitize(&{
                let history = Some(fleet.history.words()).filter(|words| !words.is_empty());
                let words: Vec<String> = history.into_iter().chain(fleet.scope.words()).collect();
                let words: String = words.iter().map(|word| format!(" {word}")).collect();
                let everywhere = match fleet.scope.all_projects {
                    true => "",
                    false => "; --all-projects looks everywhere",
                };
                format!("`jelly history new --since 365d{words}` lists causes{everywhere}")
            }),
        ));
    }
    if fleet.format == FleetFormat::Json {
        let none = |_: &CauseAnswer| Columns {
            headings: &[],
            rows: Vec::new(),
            none: "",
        };
        return answer(scope, fleet.format, CauseAnswer { causes }, none, world);
    }
    let mut said = String::new();
    for cause in &causes {
        said.push_str(&account(cause, fleet.format, world));
    }
    say(said, ExitCode::Passed)
}

/// What is known of a cause: a head and three tables.
fn account(cause: &CauseAccount, format: FleetFormat, world: &World) -> String {
    let seen = |at: &Option<String>| at.clone().unwrap_or_else(|| "-".to_owned());
    let head = Columns {
        headings: &[
            "fingerprint",
            "root cause",
            "side",
            "project",
            "first seen",
            "last seen",
            "failures",
            "runs",
            "evidence",
        ],
        rows: vec![vec![
            text(&cause.fingerprint),
            text(&cause.root_cause),
            text(sides(cause)),
            known(cause.project.as_deref()),
            moment(Some(&seen(&cause.seen.first_seen))),
            moment(Some(&seen(&cause.seen.last_seen))),
            amount(cause.failures),
            amount(cause.runs),
            known(cause.evidence.as_deref()),
        ]],
        none: "",
    };
    let branches = cause.branches.iter().map(|branch| {
        vec![
            known(branch.branch.as_deref()),
            amount(branch.failures),
            amount(branch.runs),
            moment(branch.seen.first_seen.as_deref()),
            moment(branch.seen.last_seen.as_deref()),
        ]
    });
    let tests = cause.tests.iter().map(|test| {
        vec![
            text(test.test.to_string()),
            amount(test.failures),
            text(side_of(test.label)),
            moment(test.last_seen.as_deref()),
        ]
    });
    let commits = cause.commits.iter().map(|commit| {
        vec![
            text(&commit.commit),
            amount(commit.failures),
            moment(commit.first_seen.as_deref()),
        ]
    });
    let parts = [
        head,
        Columns {
            headings: &["branch", "failures", "runs", "first seen", "last seen"],
            rows: branches.collect(),
            none: "",
        },
        Columns {
            headings: &["test", "failures", "side", "last seen"],
            rows: tests.collect(),
            none: "",
        },
        Columns {
            headings: &["commit", "failures", "first seen"],
            rows: commits.collect(),
            none: "no commit is known",
        },
    ];
    let shown = parts.iter().map(|part| match format {
        FleetFormat::Md => part.markdown(),
        FleetFormat::Table | FleetFormat::Json => part.table(world),
    });
    shown.collect::<Vec<String>>().join("\n")
}

/// `jelly history slow`.
pub fn slow(args: &FleetArgs, world: &World) -> Result<ExitCode, Refusal> {
    let store = asked(&args.history, world)?;
    let scope = scope(&args.scope, args.limit, &*store, world)?;
    let slow = store.slow(&scope).map_err(|error| unread(&error))?;
    let columns = |answer: &SlowAnswer| Columns {
        headings: &[
            "test",
            "project",
            "results",
            "median ms",
            "95 % ms",
            "longest ms",
        ],
        rows: answer
            .slow
            .iter()
            .map(|test| {
                vec![
                    text(test.test.to_string()),
                    known(test.project.as_deref()),
                    amount(test.results),
                    amount(test.median_ms),
                    amount(test.p95_ms),
                    amount(test.max_ms),
                ]
            })
            .collect(),
        none: "no test has a duration there",
    };
    answer(scope, args.format, SlowAnswer { slow }, columns, world)
}

/// `jelly history page`.
pub fn page(args: &PageArgs, world: &World) -> Result<ExitCode, Refusal> {
    refuse_kept(&args.output, &[], "a page", is_own_page)?;
    let store = asked(&args.history, world)?;
    let whole = scope(&args.scope, args.limit, &*store, world)?;
    let recent = FleetScope {
        since: match &whole.since {
            Some(since) => Some(since.clone()),
            None => Some(began(NEW_SINCE, &whole, &*store)?),
        },
        ..whole.clone()
    };
    let read = |error| unread(&error);
    let answers = FleetAnswers {
        history: store.name(),
        flaky: store.flaky(&whole).map_err(read)?,
        new: store.new_causes(&recent).map_err(read)?,
        slow: store.slow(&whole).map_err(read)?,
        scope: recent,
    };
    let page = fleet_html(&answers);
    let written = Target::open(Some(&args.output), None).and_then(|mut target| {
        target.write_all(&page)?;
        target.finish()
    });
    written.map_err(|error| {
        Refusal::needs_help(format!(
            "error: failed to write {}: {error}",
            args.output.display()
        ))
    })?;
    say(format!("{}\n", args.output.display()), ExitCode::Passed)
}

#[cfg(test)]
mod tests {
    use super::age;
    use jiff::SignedDuration;

    #[test]
    fn an_age_is_a_number_with_its_unit() {
        assert_eq!(age("2w"), Some(SignedDuration::from_hours(336)));
        for text in ["2", "d", "-2d", "+2d", "2026-11-01", "4294967296d"] {
            assert_eq!(age(text), None, "{text}");
        }
    }
}
