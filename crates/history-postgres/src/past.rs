//! Earlier runs, as far as they are asked for, in one query.
//!
//! Its rows are of several kinds, which the client puts together: so nothing is
//! sent twice, and there is one way to the database and back.

use crate::error::DatabaseError;
use crate::write::{key, key_of, outcome_of};
use jelly_triage::history::{
    Past, PastCause, PastMark, PastMiss, PastParts, PastScope, ResultOutcome, RunOrigin, TestName,
};
use jiff::Timestamp;
use std::collections::{BTreeSet, HashMap};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

/// Of a test, the runs that ran it last.
const ENDS: i64 = 100;
/// And its last failures, if they are older.
const MISSES: i64 = 150;
/// Runs of a project that are looked at as a whole.
const RUNS: i64 = 1_000;
/// Tests that are watched for whether they pass again.
const WATCHED: i64 = 50_000;
/// Runs in which a watched test must have failed; as [`Past`] has it.
const WINDOW: i64 = 20;
/// Failures by the causes that were asked for.
const SIGHTINGS: i64 = 20_000;

/// What is wanted: `missed`, rows of results that were bad (`run_id`, `test_id`,
/// `cause_id`, `outcome`, `print`), and `ran`, the runs that ran a test (`test_id`,
/// `runs`). `$1` is the project. One that is not known, here or there, may be any.
///
/// That a test ran is read from an index alone; so what was not bad passed.
const OF_TESTS: &str = "
    stop as (
        select coalesce(min(run_id), 2147483647) as id from jelly.reports
        where project_id in (select id from project) and digest = any ($5::text[]::uuid[])
    ),
    wanted as materialized (
        select t.id from jelly.tests t
        where t.project_id in (select id from project) and t.key = any ($2::text[]::uuid[])
    ),
    missed as materialized (
        select x.run_id, w.id as test_id, x.cause_id, x.outcome, x.print
        from wanted w cross join lateral (
            select x.run_id, x.cause_id, x.outcome, x.print from jelly.results x
            where x.test_id = w.id and x.cause_id is not null and x.run_id < (select id from stop)
            order by x.run_id desc limit $4
        ) x
    ),
    ran as materialized (
        select w.id as test_id, array(
            select x.run_id from jelly.results x
            where x.test_id = w.id and x.run_id < (select id from stop)
            order by x.run_id desc limit $3
        ) as runs
        from wanted w
    )";

const OF_FAILING: &str = "
    missed as materialized (
        select f.run_id, t.id as test_id, f.cause_id, f.outcome, f.print
        from jelly.tests t
        cross join lateral (
            select x.run_id, x.cause_id, x.outcome, x.print from jelly.results x
            where x.test_id = t.id and x.cause_id is not null
            order by x.run_id desc limit 1
        ) f
        cross join lateral (
            select count(*) as since from (
                select from jelly.results x where x.test_id = t.id and x.run_id > f.run_id
                limit $2
            ) later
        ) later
        where t.project_id in (select id from project) and later.since < $2
        limit $3
    ),
    ran as (select 0 as test_id, '{}'::int[] as runs where false)";

const OF_CAUSES: &str = "
    missed as materialized (
        select x.run_id, x.test_id, x.cause_id, x.outcome, x.print
        from jelly.results x join jelly.causes c on c.id = x.cause_id
        where x.cause_id is not null and c.project_id in (select id from project)
            and exists (
                select from unnest($2::text[]) p
                where starts_with(c.fingerprint, p) or starts_with(x.print, p)
            )
        order by x.run_id desc limit $3
    ),
    ran as (select 0 as test_id, '{}'::int[] as runs where false)";

const OF_RUNS: &str = "
    latest as materialized (
        select id from jelly.runs where project_id in (select id from project)
        order by id desc limit $2
    ),
    of_latest as materialized (
        select x.run_id, x.test_id, x.cause_id, x.outcome, x.print from jelly.results x
        where x.run_id = any (array(select id from latest))
    ),
    missed as (select * from of_latest where cause_id is not null),
    ran as (select test_id, array_agg(run_id) as runs from of_latest group by test_id)";

/// What a row tells: its first column.
mod row_kind {
    pub(super) const TEST: i32 = 0;
    pub(super) const CAUSE: i32 = 1;
    pub(super) const RUNS: i32 = 2;
    pub(super) const MISSED: i32 = 3;
    pub(super) const RAN: i32 = 4;
    pub(super) const BRANCH: i32 = 5;
    pub(super) const COUNT: i32 = 6;
    pub(super) const REPORT: i32 = 7;
}

/// What is told besides what is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Besides {
    Nothing,
    /// Whether the project has any run before this one.
    Any,
    /// How many runs the project has in all: each of them is looked at for that, so
    /// that nobody waits for it whom it does not concern.
    Count,
    /// That, and how long plans took.
    Reports,
}

/// All that is known of what is wanted. What could be many rows comes as arrays.
fn query(wanted: &str, besides: Besides) -> String {
    let count = match besides {
        Besides::Nothing => "",
        Besides::Any => {
            "UNION ALL
             select 6, 0, 0, 0, (
                select count(*) from (
                    select from jelly.runs u
                    where u.project_id in (select id from project)
                        and u.id < (select id from stop)
                    limit 1
                ) one
             ), null, null, null, null, null, null"
        }
        Besides::Count | Besides::Reports => {
            "UNION ALL
             select 6, 0, 0, 0, count(*), null, null, null, null, null, null
             from jelly.runs u where u.project_id in (select id from project)"
        }
    };
    let reports = match besides {
        Besides::Nothing | Besides::Any | Besides::Count => "",
        Besides::Reports => {
            "UNION ALL
             select 7, p.run_id, p.duration_ms, 0, null::bigint, p.plan, null, null, null::int[],
                null::bigint[], null::int[]
             from jelly.reports p
             where p.run_id in (select id from seen) and p.plan is not null
                and p.duration_ms is not null"
        }
    };
    format!(
        "with project as (
            select id from jelly.projects where name in ($1, '') or $1 = ''
        ),
        {wanted},
        seen as materialized (
            select run_id as id from missed
            UNION
            select unnest(runs) from ran
        ),
        runs as materialized (
            select u.id, u.branch_id, (extract(epoch from u.at) * 1000000)::bigint as at
            from jelly.runs u where u.id in (select id from seen)
        )
        select 0, t.id, 0, 0, null::bigint, t.suite, t.classname, t.name, null::int[],
            null::bigint[], null::int[]
            from jelly.tests t
            where t.id in (select test_id from missed) or t.id in (select test_id from ran)
        UNION ALL
        select 1, c.id, 0, 0, null, c.fingerprint, c.body, null, null, null, null
            from jelly.causes c where c.id in (select cause_id from missed)
        UNION ALL
        select 2, 0, 0, 0, null, null, null, null, array_agg(u.id order by u.id),
            array_agg(u.at order by u.id), array_agg(u.branch_id order by u.id) from runs u
        UNION ALL
        select 3, m.run_id, m.test_id, m.cause_id, m.outcome, m.print, null, null, null, null, null
            from missed m
        UNION ALL
        select 4, r.test_id, 0, 0, null, null, null, null, r.runs, null, null from ran r
        UNION ALL
        select 5, b.id, 0, 0, null, b.name, null, null, null, null, null
            from jelly.branches b where b.id in (select branch_id from runs)
        {count}
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
    let mut values: Vec<(&(dyn ToSql + Sync), Type)> = vec![(&project, Type::TEXT)];
    let text = match scope {
        OwnedScope::All => {
            values.push((&RUNS, Type::INT8));
            query(OF_RUNS, Besides::Reports)
        }
        OwnedScope::Failing => {
            values.extend([
                (&WINDOW as &(dyn ToSql + Sync), Type::INT8),
                (&WATCHED, Type::INT8),
            ]);
            query(OF_FAILING, Besides::Nothing)
        }
        OwnedScope::Tests { keys, before } => {
            values.extend([
                (keys as &(dyn ToSql + Sync), Type::TEXT_ARRAY),
                (&ENDS, Type::INT8),
                (&MISSES, Type::INT8),
                (before, Type::TEXT_ARRAY),
            ]);
            query(OF_TESTS, Besides::Any)
        }
        OwnedScope::Fingerprints(prefixes) => {
            values.extend([
                (prefixes as &(dyn ToSql + Sync), Type::TEXT_ARRAY),
                (&SIGHTINGS, Type::INT8),
            ]);
            query(OF_CAUSES, Besides::Count)
        }
    };
    let rows = client.query_typed(&text, &values).await?;
    Ok(Past::of_parts(viewer, assemble(&rows)))
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

fn word(row: &Row, at: usize) -> String {
    row.get::<_, Option<&str>>(at)
        .unwrap_or_default()
        .to_owned()
}

/// Puts the rows together: ids become places.
fn assemble(rows: &[Row]) -> PastParts {
    let of_kind = |kind: i32| rows.iter().filter(move |row| row.get::<_, i32>(0) == kind);
    let id = |row: &Row| row.get::<_, i32>(1);
    let mut parts = PastParts::default();
    // Calls of a plan are told apart by when they were.
    let dated = of_kind(row_kind::REPORT).next().is_some();

    let mut tests: HashMap<i32, usize> = HashMap::new();
    for row in of_kind(row_kind::TEST) {
        tests.insert(id(row), parts.tests.len());
        let name = TestName::new(&word(row, 5), &word(row, 6), &word(row, 7));
        parts.tests.push(name);
    }
    let mut causes: HashMap<i32, usize> = HashMap::new();
    for row in of_kind(row_kind::CAUSE) {
        causes.insert(id(row), parts.causes.len());
        let body: Option<PastCause> = serde_json::from_str(&word(row, 6)).ok();
        parts.causes.push((word(row, 5), body));
    }
    let branches: HashMap<i32, String> = of_kind(row_kind::BRANCH)
        .map(|row| (id(row), word(row, 5)))
        .collect();

    // By time, then in the order in which they came.
    let mut order: Vec<(Option<i64>, i32, Option<i32>)> = Vec::new();
    for row in of_kind(row_kind::RUNS) {
        let ids: Option<Vec<i32>> = row.get(8);
        let moments: Option<Vec<Option<i64>>> = row.get(9);
        let of_branch: Option<Vec<Option<i32>>> = row.get(10);
        let ids = ids.unwrap_or_default().into_iter();
        let moments = moments.unwrap_or_default().into_iter();
        let of_branch = of_branch.unwrap_or_default().into_iter();
        let runs = ids.zip(moments).zip(of_branch);
        order.extend(runs.map(|((run, at), branch)| (at, run, branch)));
    }
    order.sort_unstable();
    // When a run was is told of those only in which something was seen.
    let sighted: BTreeSet<i32> = of_kind(row_kind::MISSED).map(id).collect();
    let mut places: HashMap<i32, usize> = HashMap::with_capacity(order.len());
    for (place, (at, run, branch)) in order.into_iter().enumerate() {
        places.insert(run, place);
        parts.runs.push(PastMark {
            at: moment(at.filter(|_| sighted.contains(&run) || dated)),
            branch: branch.and_then(|branch| branches.get(&branch).cloned()),
            durations: Vec::new(),
        });
    }
    for row in of_kind(row_kind::REPORT) {
        let duration: Option<i32> = row.get(2);
        if let (Some(run), Some(took)) = (
            places
                .get(&id(row))
                .and_then(|place| parts.runs.get_mut(*place)),
            duration.and_then(|ms| u64::try_from(ms).ok()),
        ) {
            run.durations.push((word(row, 5), took));
        }
    }

    parts.failed = vec![Vec::new(); parts.runs.len()];
    for row in of_kind(row_kind::MISSED) {
        let (Some(run), Some(test), Some(cause)) = (
            places.get(&id(row)),
            tests.get(&row.get::<_, i32>(2)),
            causes.get(&row.get::<_, i32>(3)),
        ) else {
            continue;
        };
        let kept: Option<i64> = row.get(4);
        let kept = kept.and_then(|kept| i32::try_from(kept).ok());
        let miss = PastMiss {
            cause: *cause,
            test_fingerprint: word(row, 5),
            flaky: kept.is_some_and(|kept| outcome_of(kept) == ResultOutcome::Flaky),
        };
        parts.failed[*run].push((*test, miss));
    }
    for row in of_kind(row_kind::RAN) {
        let runs: Option<Vec<i32>> = row.get(8);
        let Some(test) = tests.get(&id(row)) else {
            continue;
        };
        let runs = runs.unwrap_or_default();
        let mut runs: Vec<usize> = runs.iter().filter_map(|r| places.get(r).copied()).collect();
        runs.sort_unstable();
        parts.ran.push((*test, runs));
    }
    let count: Option<i64> = of_kind(row_kind::COUNT).find_map(|row| row.get(4));
    let all = count.and_then(|count| usize::try_from(count).ok());
    parts.besides = all.unwrap_or_default().saturating_sub(parts.runs.len());
    parts
}
