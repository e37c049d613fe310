//! The history of two million results in PostgreSQL: how many bytes they take,
//! how long questions do, and what a run pays for it beside a file.
//!
//! `bench/with-postgres` starts a server of the fixtures and says where it is.

use super::Options;
use super::measure::{Spread, run};
use super::plans;
use super::table::{Unit, figure, head};
use fastrand::Rng;
use jelly_base::model::{FailureStatus, Side, Template};
use jelly_history_postgres::{DatabaseAddress, PostgresHistory};
use jelly_triage::history::{
    FleetScope, HistoryStore, PastCause, PastFailure, PastPass, PastReport, PastRun, PastScope,
    ProvenPasses, RunKind, RunOrigin, TestName,
};
use jiff::{SignedDuration, Timestamp};
use std::io;
use std::process::Command;
use std::time::Instant;
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// What `bench/with-postgres` sets.
const URL: &str = "JELLY_BENCH_DATABASE";

const PLANS: usize = 20;
const STEPS: usize = 100;
const CAUSES: usize = 200;
const BRANCHES: usize = 50;
/// Of results, in a thousand.
const FAILED: u32 = 10;
const FLAKY: u32 = 3;

const PAST_MS: f64 = 20.0;
const FLAKY_MS: f64 = 1000.0;
const BYTES: f64 = 120.0;
const DEARER_MS: f64 = 15.0;

/// Measures, and prints the figures.
pub fn measure(options: &Options) -> io::Result<()> {
    let url = std::env::var(URL)
        .map_err(|_| io::Error::other("run it by bench/with-postgres, which starts a server"))?;
    let results: usize = match std::env::var("JELLY_BENCH_RESULTS") {
        Ok(text) => text.parse().map_err(io::Error::other)?,
        Err(_) => 2_000_000,
    };
    let address = || DatabaseAddress::read(&url, &Default::default()).map_err(io::Error::other);
    PostgresHistory::migrate(address()?).map_err(io::Error::other)?;
    let store = || Ok::<_, io::Error>(PostgresHistory::new(address()?, origin("main")));
    let writing = fill(&store, results / STEPS)?;
    sql(&url, "vacuum analyze")?;

    head();
    figure(
        "a run of 100 results is written",
        Unit::Milliseconds,
        writing,
        None,
    );
    let history = store()?;
    let mut past = Vec::new();
    for round in 0..options.runs {
        let tests: Vec<TestName> = (0..100)
            .map(|n| test((n * 7 + round) % PLANS, (n * 13 + round) % STEPS))
            .collect();
        let scope = PastScope::Tests {
            tests: &tests,
            before: &[],
        };
        past.push(timed(|| history.past(&scope).map(drop))?);
    }
    figure(
        "the past of 100 failures",
        Unit::Milliseconds,
        Spread::of(past),
        Some(PAST_MS),
    );
    let main = FleetScope {
        project: Some("acme/shop".to_owned()),
        branch: Some("main".to_owned()),
        since: None,
        limit: 50,
    };
    let all = FleetScope {
        branch: None,
        ..main.clone()
    };
    let recent = FleetScope {
        since: Some((now()? - SignedDuration::from_hours(24)).to_string()),
        ..all.clone()
    };
    let rounds = options.runs.min(5);
    let ask = |what: &str, target, ask: &dyn Fn() -> Asked| -> io::Result<()> {
        let times: io::Result<Vec<f64>> = (0..rounds).map(|_| timed(ask)).collect();
        figure(what, Unit::Milliseconds, Spread::of(times?), target);
        Ok(())
    };
    ask(
        "the worst 50 flaky tests of a branch",
        Some(FLAKY_MS),
        &|| history.flaky(&main).map(drop),
    )?;
    ask("the worst 50 flaky tests, all branches", None, &|| {
        history.flaky(&all).map(drop)
    })?;
    ask("causes new since yesterday", None, &|| {
        history.new_causes(&recent).map(drop)
    })?;
    ask("one cause", None, &|| {
        history.accounts(&all, "j2:0000000000000007").map(drop)
    })?;
    ask("the slowest 50 tests of a branch", None, &|| {
        history.slow(&main).map(drop)
    })?;
    own_cost(options, &url)?;

    let count: f64 = number(&url, "select count(*) from jelly.results")?;
    let size = "select sum(pg_total_relation_size(c.oid)) from pg_class c \
                join pg_namespace n on n.oid = c.relnamespace \
                where n.nspname = 'jelly' and c.relkind = 'r'";
    let bytes = number(&url, size)? / count;
    let kept = if bytes <= BYTES { "kept" } else { "MISSED" };
    println!(
        "\n{count} results; bytes of each with all tables and indexes: {bytes:.1}, at most {BYTES}: {kept}"
    );
    println!("by table, with its indexes:");
    for table in [
        "results",
        "runs",
        "reports",
        "tests",
        "causes",
        "definitions",
        "proven",
    ] {
        let size = number(
            &url,
            &format!("select pg_total_relation_size('jelly.{table}')"),
        )?;
        println!("  {table:<12} {:>7.1} bytes a result", size / count);
    }
    Ok(())
}

type Asked = Result<(), jelly_triage::history::HistoryError>;

fn timed(ask: impl Fn() -> Asked) -> io::Result<f64> {
    let began = Instant::now();
    ask().map_err(io::Error::other)?;
    Ok(began.elapsed().as_secs_f64() * 1000.0)
}

fn now() -> io::Result<Timestamp> {
    "2026-11-01T00:00:00Z".parse().map_err(io::Error::other)
}

fn origin(branch: &str) -> RunOrigin {
    RunOrigin {
        project: Some("acme/shop".to_owned()),
        branch: Some(branch.to_owned()),
        ..RunOrigin::default()
    }
}

fn test(plan: usize, step: usize) -> TestName {
    TestName::new(&format!("plan {plan}"), "server", &format!("step-{step}"))
}

/// Two writers; how long each run took them.
fn fill(
    store: &(dyn Fn() -> io::Result<PostgresHistory> + Sync),
    runs: usize,
) -> io::Result<Spread> {
    const WRITERS: usize = 2;
    let began = Instant::now();
    let written: io::Result<Vec<Vec<f64>>> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn(move || {
                    let history = store()?;
                    let mut rng = Rng::with_seed(writer as u64);
                    let mut times = Vec::new();
                    for at in (writer..runs).step_by(WRITERS) {
                        let run = made(at, runs, &mut rng)?;
                        let began = Instant::now();
                        history.record(run).map_err(io::Error::other)?;
                        times.push(began.elapsed().as_secs_f64() * 1000.0);
                    }
                    Ok(times)
                })
            })
            .collect();
        let ended = writers.into_iter().map(|writer| writer.join());
        ended
            .map(|times| times.unwrap_or_else(|_| Err(io::Error::other("a writer panicked"))))
            .collect()
    });
    let spread = Spread::of(written?.into_iter().flatten());
    println!(
        "filled in {:.0} s, two writers",
        began.elapsed().as_secs_f64()
    );
    Ok(spread)
}

/// A run of one plan.
fn made(at: usize, runs: usize, rng: &mut Rng) -> io::Result<PastRun> {
    let plan = at % PLANS;
    let ago = SignedDuration::from_mins(i64::try_from((runs - at) * 3).unwrap_or_default());
    let mut run = PastRun::new(RunKind::Run, Some((now()? - ago).to_string()));
    let branch = match rng.bool() {
        true => "main".to_owned(),
        false => format!("pull/{}", rng.usize(1..BRANCHES)),
    };
    run.origin = RunOrigin {
        commit: Some(format!("{:040x}", at / PLANS)),
        run_key: Some(format!("github/acme/shop/{}/plans", at / PLANS)),
        attempt: Some(1),
        ..origin(&branch)
    };
    let path = format!("plans/area-{plan}/plan.yaml");
    run.reports.push(PastReport {
        digest: format!("run {at}"),
        place: Some(path.clone()),
        path,
        duration_ms: Some(rng.u64(1000..60_000)),
    });
    // Each run is of another commit, which is what takes most room.
    let mut passed_on = ProvenPasses {
        code: format!("{:016x}", at / PLANS),
        ..ProvenPasses::default()
    };
    for step in 0..STEPS {
        let test = test(plan, step);
        let duration_ms = Some(rng.u64(1..2000));
        let chance = rng.u32(0..1000);
        if chance >= FAILED + FLAKY {
            let definition = format!("{:016x}", plan * STEPS + step);
            passed_on.definitions.push(definition.clone());
            run.passed.push(PastPass {
                report: 0,
                definition: Some(definition),
                test,
                duration_ms,
            });
            continue;
        }
        let cause = rng.usize(0..CAUSES);
        let fingerprint = format!("j2:{cause:016x}");
        run.causes.insert(
            fingerprint.clone(),
            PastCause {
                side: Side::Test,
                ambiguous: false,
                error_category: None,
                retryable: Some(true),
                root_cause: format!("root_cause_{}", cause % 40),
                rule: "network/refused".to_owned(),
                evidence: None,
                template: Template::default(),
            },
        );
        run.failures.push(PastFailure {
            report: 0,
            status: match chance < FAILED {
                true => FailureStatus::Failure,
                false => FailureStatus::Flaky,
            },
            test_fingerprint: format!("j2:{:016x}", cause * 100_000 + plan * STEPS + step),
            fingerprint,
            test,
            duration_ms,
        });
    }
    run.proven.push(passed_on);
    Ok(run)
}

/// One run with the file and one with the database, in turn: also of the file
/// nothing is read but what is there.
fn own_cost(options: &Options, url: &str) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let server = std::env::current_exe()?;
    let plan = folder.path().join("plan.yaml");
    std::fs::write(&plan, plans::calls(&server, "serve", 20))?;
    let (mut by_file, mut by_database) = (Vec::new(), Vec::new());
    for round in 0..=options.runs {
        for (history, walls) in [("h.jsonl", &mut by_file), (url, &mut by_database)] {
            let mut command = Command::new(&options.jelly);
            command.current_dir(folder.path());
            command.args(["run", "plan.yaml", "--quiet", "--history", history]);
            let done = run(&mut command)?;
            if done.code != Some(0) {
                return Err(io::Error::other(format!(
                    "the plan ended with {:?}",
                    done.code
                )));
            }
            // The first one warms up.
            if round > 0 {
                walls.push(done.wall.as_secs_f64() * 1000.0);
            }
        }
    }
    let dearer: Vec<f64> = by_database
        .iter()
        .zip(&by_file)
        .map(|(d, f)| d - f)
        .collect();
    figure(
        "a run of 20 calls with a file",
        Unit::Milliseconds,
        Spread::of(by_file),
        None,
    );
    figure(
        "the same with the database",
        Unit::Milliseconds,
        Spread::of(by_database),
        None,
    );
    figure(
        "so much dearer",
        Unit::Milliseconds,
        Spread::of(dearer),
        Some(DEARER_MS),
    );
    Ok(())
}

/// The first value, as a number.
fn number(url: &str, text: &str) -> io::Result<f64> {
    sql(url, text)?.parse().map_err(io::Error::other)
}

fn sql(url: &str, text: &str) -> io::Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls)
            .await
            .map_err(io::Error::other)?;
        tokio::spawn(connection);
        let said = client.simple_query(text).await.map_err(io::Error::other)?;
        let row = said.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
            _ => None,
        });
        Ok(row.unwrap_or_default())
    })
}
