//! Earlier runs, as far as they are asked for, in one query.
//!
//! Its rows are of several kinds, which the client puts together: so nothing is
//! sent twice, and there is one way to the database and back.

use crate::error::DatabaseError;
use crate::write::{key, key_of};
use jelly_base::model::FailureStatus;
use jelly_triage::history::{
    Past, PastCause, PastFailure, PastPass, PastReport, PastRun, PastScope, RunKind, RunOrigin,
    TestName,
};
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

/// Of a test, its last results.
const ENDS: i64 = 100;
/// And its last failures, if they are older.
const OLDER: i64 = 50;
/// Runs of a project that are looked at as a whole.
const RUNS: i64 = 1_000;
/// Tests that are watched for whether they pass again.
const WATCHED: i64 = 50_000;
/// Runs in which a watched test must have failed; as [`Past`] has it.
const WINDOW: i64 = 20;
/// Failures by the causes that were asked for.
const SIGHTINGS: i64 = 20_000;

/// Which results are wanted, as rows (`run_id`, `test_id`, `cause_id`, `outcome`,
/// `print`); `$1` is the project. One that is not known, here or there, may be any.
const OF_TESTS: &str = "
    select r.run_id, t.id as test_id, r.cause_id, r.outcome, r.print
    from jelly.tests t
    cross join lateral (
        (select x.run_id, x.cause_id, x.outcome, x.print from jelly.results x
            where x.test_id = t.id and x.run_id < (select id from stop)
            order by x.run_id desc limit $3)
        UNION
        (select x.run_id, x.cause_id, x.outcome, x.print from jelly.results x
            where x.test_id = t.id and x.outcome > 0 and x.run_id < (select id from stop)
            order by x.run_id desc limit $4)
    ) r
    where t.project_id in (select id from project) and t.key = any ($2::text[]::uuid[])";

const OF_FAILING: &str = "
    select f.run_id, t.id as test_id, f.cause_id, f.outcome, f.print
    from jelly.tests t
    cross join lateral (
        select x.run_id, x.cause_id, x.outcome, x.print from jelly.results x
        where x.test_id = t.id and x.outcome > 0
        order by x.run_id desc limit 1
    ) f
    cross join lateral (
        select count(*) as since from (
            select from jelly.results x where x.test_id = t.id and x.run_id > f.run_id
            limit $2
        ) later
    ) later
    where t.project_id in (select id from project) and later.since < $2
    limit $3";

const OF_CAUSES: &str = "
    select x.run_id, x.test_id, x.cause_id, x.outcome, x.print
    from jelly.results x join jelly.causes c on c.id = x.cause_id
    where x.cause_id is not null and c.project_id in (select id from project)
        and exists (
            select from unnest($2::text[]) p
            where starts_with(c.fingerprint, p) or starts_with(x.print, p)
        )
    order by x.run_id desc limit $3";

const OF_RUNS: &str = "
    select x.run_id, x.test_id, x.cause_id, x.outcome, x.print
    from jelly.results x
    where x.run_id = any (array(
        select id from jelly.runs where project_id in (select id from project)
        order by id desc limit $2
    ))";

/// All that is known of these results.
fn query(ends: &str, stop: &str, with_reports: bool) -> String {
    let reports = match with_reports {
        false => "",
        true => {
            "UNION ALL
             select 4, p.run_id, p.place, p.duration_ms, 0, null::bigint, p.path, p.plan, null
             from jelly.reports p where p.run_id in (select run_id from ends)"
        }
    };
    format!(
        "with project as (
            select id from jelly.projects where name in ($1, '') or $1 = ''
        ),
        stop as ({stop}),
        ends as materialized ({ends})
        select 0, t.id, 0, 0, 0, null::bigint, t.suite, t.classname, t.name
            from jelly.tests t where t.id in (select test_id from ends)
        UNION ALL
        select 1, c.id, 0, 0, 0, null, c.fingerprint, c.body, null
            from jelly.causes c where c.id in (select cause_id from ends)
        UNION ALL
        select 2, u.id, 0, 0, 0, (extract(epoch from u.at) * 1000000)::bigint, b.name, u.kind,
            u.commit
            from jelly.runs u left join jelly.branches b on b.id = u.branch_id
            where u.id in (select run_id from ends)
        UNION ALL
        select 3, e.run_id, e.test_id, e.cause_id, e.outcome, null, e.print, null, null from ends e
        UNION ALL
        select 5, 0, 0, 0, 0, count(*), null, null, null
            from jelly.runs u where u.project_id in (select id from project)
        {reports}"
    )
}

/// The past of a project, as far as it is asked for.
pub(crate) async fn read(
    client: &Client,
    viewer: &RunOrigin,
    scope: &OwnedScope,
) -> Result<Past, DatabaseError> {
    let project = viewer.project.as_deref().unwrap_or_default();
    const NEVER: &str = "select 2147483647 as id";
    let rows = match scope {
        OwnedScope::All => {
            let text = query(OF_RUNS, NEVER, true);
            ask(
                client,
                &text,
                &[(&project, Type::TEXT), (&RUNS, Type::INT8)],
            )
            .await?
        }
        OwnedScope::Failing => {
            let text = query(OF_FAILING, NEVER, false);
            let values: [(&(dyn ToSql + Sync), Type); 3] = [
                (&project, Type::TEXT),
                (&WINDOW, Type::INT8),
                (&WATCHED, Type::INT8),
            ];
            ask(client, &text, &values).await?
        }
        OwnedScope::Tests { keys, before } => {
            let stop = "select coalesce(min(run_id), 2147483647) as id from jelly.reports
                where project_id in (select id from project)
                    and digest = any ($5::text[]::uuid[])";
            let text = query(OF_TESTS, stop, false);
            let values: [(&(dyn ToSql + Sync), Type); 5] = [
                (&project, Type::TEXT),
                (keys, Type::TEXT_ARRAY),
                (&ENDS, Type::INT8),
                (&OLDER, Type::INT8),
                (before, Type::TEXT_ARRAY),
            ];
            ask(client, &text, &values).await?
        }
        OwnedScope::Fingerprints(prefixes) => {
            let text = query(OF_CAUSES, NEVER, false);
            let values: [(&(dyn ToSql + Sync), Type); 3] = [
                (&project, Type::TEXT),
                (prefixes, Type::TEXT_ARRAY),
                (&SIGHTINGS, Type::INT8),
            ];
            ask(client, &text, &values).await?
        }
    };
    Ok(assemble(&rows, viewer))
}

async fn ask(
    client: &Client,
    text: &str,
    values: &[(&(dyn ToSql + Sync), Type)],
) -> Result<Vec<Row>, DatabaseError> {
    Ok(client.query_typed(text, values).await?)
}

/// A scope that another thread can have.
#[derive(Debug, Clone)]
pub(crate) enum OwnedScope {
    All,
    Failing,
    Tests {
        keys: Vec<String>,
        before: Vec<String>,
    },
    Fingerprints(Vec<String>),
}

impl OwnedScope {
    pub(crate) fn new(scope: &PastScope<'_>) -> Self {
        match scope {
            PastScope::All => Self::All,
            PastScope::Failing => Self::Failing,
            PastScope::Tests { tests, before } => Self::Tests {
                keys: tests.iter().map(key_of).collect(),
                before: before.iter().map(|digest| key(&[digest])).collect(),
            },
            PastScope::Fingerprints(prefixes) => Self::Fingerprints(prefixes.to_vec()),
        }
    }
}

/// As a run has it that is read from a file.
pub(crate) fn moment(microseconds: Option<i64>) -> Option<String> {
    let at = Timestamp::from_microsecond(microseconds?).ok()?;
    Some(at.to_string())
}

fn assemble(rows: &[Row], viewer: &RunOrigin) -> Past {
    let mut tests: HashMap<i32, TestName> = HashMap::new();
    let mut causes: HashMap<i32, (String, Option<PastCause>)> = HashMap::new();
    // By time, then in the order in which they came.
    let mut runs: BTreeMap<(Option<i64>, i32), PastRun> = BTreeMap::new();
    let mut moments: HashMap<i32, Option<i64>> = HashMap::new();
    let mut all: usize = 0;
    let text = |row: &Row, at: usize| -> String {
        row.get::<_, Option<&str>>(at)
            .unwrap_or_default()
            .to_owned()
    };
    for row in rows {
        let (kind, id): (i32, i32) = (row.get(0), row.get(1));
        match kind {
            0 => {
                let name = TestName::new(&text(row, 6), &text(row, 7), &text(row, 8));
                tests.insert(id, name);
            }
            1 => {
                let body = row.get::<_, Option<&str>>(7).unwrap_or_default();
                causes.insert(id, (text(row, 6), serde_json::from_str(body).ok()));
            }
            2 => {
                let at: Option<i64> = row.get(5);
                let kind = match row.get::<_, Option<&str>>(7) {
                    Some("run") => RunKind::Run,
                    Some(_) | None => RunKind::Triage,
                };
                let mut run = PastRun::new(kind, moment(at));
                run.origin.branch = row.get::<_, Option<&str>>(6).map(str::to_owned);
                run.origin.commit = row.get::<_, Option<&str>>(8).map(str::to_owned);
                moments.insert(id, at);
                runs.insert((at, id), run);
            }
            5 => {
                let count: Option<i64> = row.get(5);
                all = count
                    .and_then(|n| usize::try_from(n).ok())
                    .unwrap_or_default();
            }
            _ => {}
        }
    }
    for row in rows {
        let (kind, id): (i32, i32) = (row.get(0), row.get(1));
        let run = moments.get(&id).and_then(|at| runs.get_mut(&(*at, id)));
        let Some(run) = run.filter(|_| kind == 3 || kind == 4) else {
            continue;
        };
        if kind == 4 {
            let duration: Option<i32> = row.get(3);
            let plan = row.get::<_, Option<&str>>(7).map(str::to_owned);
            run.reports.push(PastReport {
                path: text(row, 6),
                digest: String::new(),
                duration_ms: duration.and_then(|ms| u64::try_from(ms).ok()),
                place: plan,
            });
            continue;
        }
        let Some(test) = tests.get(&row.get::<_, i32>(2)) else {
            continue;
        };
        add(run, row, test, &causes);
    }
    let mut past = Past::seen_from(viewer);
    let known = runs.len();
    runs.into_values().for_each(|run| past.add(run));
    past.with_runs_besides(all.saturating_sub(known));
    past
}

/// Adds a result to the run in which it came.
fn add(
    run: &mut PastRun,
    row: &Row,
    test: &TestName,
    causes: &HashMap<i32, (String, Option<PastCause>)>,
) {
    let status = match row.get::<_, i32>(4) {
        0 => {
            run.passed.push(PastPass {
                report: 0,
                test: test.clone(),
                definition: None,
                duration_ms: None,
            });
            return;
        }
        2 => FailureStatus::Error,
        3 => FailureStatus::Flaky,
        _ => FailureStatus::Failure,
    };
    let cause = row.get::<_, Option<i32>>(3).and_then(|id| causes.get(&id));
    let (fingerprint, body) = match cause {
        Some((fingerprint, body)) => (fingerprint.clone(), body.as_ref()),
        None => (String::new(), None),
    };
    if let Some(body) = body {
        run.causes
            .entry(fingerprint.clone())
            .or_insert_with(|| body.clone());
    }
    run.failures.push(PastFailure {
        report: 0,
        test: test.clone(),
        status,
        fingerprint,
        test_fingerprint: row.get::<_, Option<&str>>(6).unwrap_or_default().to_owned(),
        duration_ms: None,
    });
}
