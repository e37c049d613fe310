//! What a fleet asks, each in one query.

use crate::error::DatabaseError;
use crate::past::moment;
use crate::write::{cut, outcome_of};
use jelly_base::model::Side;
use jelly_triage::history::{
    BranchSighting, CauseAccount, CauseCount, CommitSighting, ExportedResult, FlakyTest,
    FleetScope, MOST_LISTED, NewCause, PastCause, PastLabel, RunOrigin, SeenSpan, SlowTest,
    TestName, TestSighting,
};
use serde_json::Value;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

/// The runs of a scope: `$1` is the project, `$2` the branch, `$3` the moment.
const SCOPE: &str = "
    scope as (
        select u.id, u.project_id, u.branch_id, u.at, u.commit, u.run_key, u.attempt, u.shard,
            u.shards
        from jelly.runs u
        where ($1::text is null
                or u.project_id = (select id from jelly.projects where name = $1))
            and ($2::text is null
                or u.branch_id = any (array(select id from jelly.branches where name = $2)))
            and ($3::text is null or u.at >= $3::timestamptz)
    )";

/// Runs that are exported at once.
const LOT: i64 = 500;

/// A scope as the values of a query.
struct ScopeValues {
    project: Option<String>,
    branch: Option<String>,
    since: Option<String>,
    limit: i64,
}

impl ScopeValues {
    fn new(scope: &FleetScope) -> Self {
        Self {
            project: scope.project.as_deref().map(cut),
            branch: scope.branch.as_deref().map(cut),
            since: scope.since.clone(),
            limit: i64::try_from(scope.limit).unwrap_or(i64::MAX),
        }
    }

    async fn ask(
        &self,
        client: &Client,
        text: &str,
        more: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, DatabaseError> {
        let mut values: Vec<(&(dyn ToSql + Sync), Type)> = vec![
            (&self.project, Type::TEXT),
            (&self.branch, Type::TEXT),
            (&self.since, Type::TEXT),
        ];
        values.extend(more.iter().cloned());
        Ok(client.query_typed(text, &values).await?)
    }
}

/// What is empty is not known.
fn named(row: &Row, at: usize) -> Option<String> {
    let text: Option<&str> = row.get(at);
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

fn text(row: &Row, at: usize) -> String {
    row.get::<_, Option<&str>>(at)
        .unwrap_or_default()
        .to_owned()
}

fn number(row: &Row, at: usize) -> u32 {
    let number: Option<i64> = row.get(at);
    number.map_or(0, |number| u32::try_from(number).unwrap_or(u32::MAX))
}

fn shard_number(row: &Row, at: usize) -> Option<u32> {
    let number: Option<i32> = row.get(at);
    number.and_then(|number| u32::try_from(number).ok())
}

fn milliseconds(duration: Option<i32>) -> Option<u64> {
    duration.and_then(|ms| u64::try_from(ms).ok())
}

fn name_at(row: &Row, at: usize) -> TestName {
    TestName::new(&text(row, at), &text(row, at + 1), &text(row, at + 2))
}

/// Of an earlier version's cause that is not known any more, nobody is to blame.
fn side(word: &str) -> Side {
    serde_json::from_value(Value::String(word.to_owned())).unwrap_or(Side::Test)
}

fn evidence(body: &str) -> Option<String> {
    let cause: PastCause = serde_json::from_str(body).ok()?;
    cause.evidence.map(|evidence| evidence.text)
}

/// The turns of the tests of one branch: of each result that was bad, what came
/// before it and after it. That is few of many. `offset 0` keeps the planner from a
/// join over all runs, where a look at the nearest is enough.
const TURNS_OF_BRANCH: &str = "
    bad as materialized (
        select x.test_id, x.run_id, x.outcome, s.branch_id, s.at
        from jelly.results x join scope s on s.id = x.run_id
        where x.cause_id is not null and x.outcome > 0
    ),
    tallies as (
        select x.test_id, s.branch_id, count(*) as runs,
            count(*) filter (where x.outcome in (1, 2)) as failed,
            count(*) filter (where x.outcome = 3) as flaky
        from jelly.results x join scope s on s.id = x.run_id
        where x.outcome >= 0
        group by x.test_id, s.branch_id
    ),
    changes as (
        select b.test_id, b.branch_id, max(b.at) as last_seen,
            count(*) filter (where before.outcome in (0, 3))
                + count(*) filter (where after.outcome = 0) as changes
        from bad b
        left join lateral (
            select x.outcome from jelly.results x
            where x.test_id = b.test_id and x.run_id < b.run_id and x.outcome >= 0 and exists (
                select from jelly.runs u where u.id = x.run_id and u.branch_id = b.branch_id
                    and ($3::text is null or u.at >= $3::timestamptz) offset 0
            )
            order by x.run_id desc limit 1
        ) before on b.outcome in (1, 2)
        left join lateral (
            select x.outcome from jelly.results x
            where x.test_id = b.test_id and x.run_id > b.run_id and x.outcome >= 0 and exists (
                select from jelly.runs u where u.id = x.run_id and u.branch_id = b.branch_id
                    and ($3::text is null or u.at >= $3::timestamptz) offset 0
            )
            order by x.run_id limit 1
        ) after on b.outcome in (1, 2)
        group by b.test_id, b.branch_id
    ),
    turns as (
        select t.*, c.changes, c.last_seen from tallies t
        join changes c on c.test_id = t.test_id and c.branch_id is not distinct from t.branch_id
    )";

/// The same over all branches: all results in order, since what came before one on
/// its branch may lie far back.
const TURNS: &str = "
    suspects as materialized (
        select distinct x.test_id from jelly.results x join scope s on s.id = x.run_id
        where x.cause_id is not null and x.outcome > 0
    ),
    turns as (
        select test_id, branch_id, count(*) as runs,
            count(*) filter (where outcome in (1, 2)) as failed,
            count(*) filter (where outcome = 3) as flaky,
            count(*) filter (
                where outcome <> 3 and (outcome in (1, 2)) <> (before in (1, 2))
            ) as changes,
            max(at) filter (where outcome > 0) as last_seen
        from (
            select x.test_id, s.branch_id, s.at, x.outcome, lag(x.outcome) over (
                partition by x.test_id, s.branch_id order by x.run_id
            ) as before
            from jelly.results x join scope s on s.id = x.run_id
            where x.outcome >= 0 and x.test_id in (select test_id from suspects)
        ) e
        group by test_id, branch_id
    )";

pub(crate) async fn flaky(
    client: &Client,
    scope: &FleetScope,
) -> Result<Vec<FlakyTest>, DatabaseError> {
    let values = ScopeValues::new(scope);
    let turns = match values.branch {
        Some(_) => TURNS_OF_BRANCH,
        None => TURNS,
    };
    let query = format!(
        "with {SCOPE},
        {turns},
        worst as (
            select t.project_id, t.suite, t.classname, t.name, b.name as branch, u.*
            from turns u join jelly.tests t on t.id = u.test_id
            left join jelly.branches b on b.id = u.branch_id
            where u.flaky + u.changes > 0
            order by u.flaky + u.changes desc, (u.flaky + u.changes)::float8 / u.runs desc,
                t.suite, t.classname, t.name, b.name
            limit nullif($4, 0)
        )
        select p.name, w.branch, w.suite, w.classname, w.name, w.runs, w.failed, w.flaky,
            w.changes, (extract(epoch from w.last_seen) * 1000000)::bigint,
            (select json_agg(json_build_array(k.fingerprint, k.root_cause, k.n))::text from (
                select c.fingerprint, c.root_cause, count(*) as n
                from jelly.results x join jelly.runs u on u.id = x.run_id
                join jelly.causes c on c.id = x.cause_id
                where x.test_id = w.test_id and x.cause_id is not null
                    and u.branch_id is not distinct from w.branch_id
                    and ($3::text is null or u.at >= $3::timestamptz)
                group by c.fingerprint, c.root_cause order by n desc, c.fingerprint limit 3
            ) k)
        from worst w join jelly.projects p on p.id = w.project_id
        order by w.flaky + w.changes desc, (w.flaky + w.changes)::float8 / w.runs desc,
            w.suite, w.classname, w.name, w.branch, p.name"
    );
    let rows = values
        .ask(client, &query, &[(&values.limit, Type::INT8)])
        .await?;
    let tests = rows.iter().map(|row| {
        let (runs, flaky, changes) = (number(row, 5), number(row, 7), number(row, 8));
        FlakyTest {
            project: named(row, 0),
            branch: named(row, 1),
            test: name_at(row, 2),
            runs,
            failed: number(row, 6),
            flaky,
            changes,
            flaky_rate: f64::from(flaky.saturating_add(changes)) / f64::from(runs.max(1)),
            last_seen: moment(row.get(9)),
            causes: counts(row.get(10)),
        }
    });
    Ok(tests.collect())
}

/// Rows of a list within a row.
fn listed(json: Option<&str>) -> Vec<Vec<Value>> {
    json.and_then(|json| serde_json::from_str(json).ok())
        .unwrap_or_default()
}

fn word(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn amount(value: Option<&Value>) -> u32 {
    let number = value.and_then(Value::as_u64).unwrap_or_default();
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn at_moment(value: Option<&Value>) -> Option<String> {
    moment(value.and_then(Value::as_i64))
}

fn counts(json: Option<&str>) -> Vec<CauseCount> {
    let rows = listed(json).into_iter();
    rows.map(|row| CauseCount {
        fingerprint: word(row.first()),
        root_cause: word(row.get(1)),
        failures: amount(row.get(2)),
    })
    .collect()
}

pub(crate) async fn new_causes(
    client: &Client,
    scope: &FleetScope,
) -> Result<Vec<NewCause>, DatabaseError> {
    // What was seen before the scope begins is not new.
    let values = ScopeValues {
        since: None,
        ..ScopeValues::new(scope)
    };
    let query = format!(
        "with {SCOPE},
        seen as (
            select x.cause_id, min(s.at) as first, max(s.at) as last,
                count(distinct x.run_id) as runs, count(*) as failures,
                count(distinct x.test_id) as tests,
                (array_agg(s.id order by s.at, s.id))[1] as run_id
            from jelly.results x join scope s on s.id = x.run_id
            where x.cause_id is not null and s.at is not null
            group by x.cause_id
            having $4::text is null or min(s.at) >= $4::timestamptz
        ),
        new as (
            select * from seen n where $4::text is null or $2::text is null or not exists (
                select from jelly.results x join jelly.runs u on u.id = x.run_id
                where x.cause_id = n.cause_id and x.cause_id is not null
                    and u.at < $4::timestamptz
            )
        )
        select p.name, c.fingerprint, c.root_cause, c.side, c.body, b.name, u.commit,
            (extract(epoch from n.first) * 1000000)::bigint,
            (extract(epoch from n.last) * 1000000)::bigint, n.runs, n.failures, n.tests
        from new n join jelly.causes c on c.id = n.cause_id
        join jelly.projects p on p.id = c.project_id
        join jelly.runs u on u.id = n.run_id
        left join jelly.branches b on b.id = u.branch_id
        order by n.first desc, c.fingerprint
        limit nullif($5, 0)"
    );
    let more: [(&(dyn ToSql + Sync), Type); 2] =
        [(&scope.since, Type::TEXT), (&values.limit, Type::INT8)];
    let rows = values.ask(client, &query, &more).await?;
    let causes = rows.iter().map(|row| NewCause {
        project: named(row, 0),
        fingerprint: text(row, 1),
        root_cause: text(row, 2),
        side: side(&text(row, 3)),
        evidence: evidence(&text(row, 4)),
        first_branch: named(row, 5),
        first_commit: named(row, 6),
        first_seen: moment(row.get(7)).unwrap_or_default(),
        last_seen: moment(row.get(8)).unwrap_or_default(),
        runs: number(row, 9),
        failures: number(row, 10),
        tests: number(row, 11),
    });
    Ok(causes.collect())
}

pub(crate) async fn accounts(
    client: &Client,
    scope: &FleetScope,
    prefix: &str,
) -> Result<Vec<CauseAccount>, DatabaseError> {
    let values = ScopeValues::new(scope);
    let microseconds = "(extract(epoch from max(y.at)) * 1000000)::bigint";
    let first = "(extract(epoch from min(y.at)) * 1000000)::bigint";
    let query = format!(
        "with {SCOPE},
        seen as materialized (
            select x.cause_id, x.test_id, x.run_id, s.branch_id, s.at, s.commit
            from jelly.causes c join jelly.results x on x.cause_id = c.id
            join scope s on s.id = x.run_id
            where x.cause_id is not null and starts_with(c.fingerprint, $4)
        )
        select p.name, c.fingerprint, c.root_cause, c.side, c.body, a.first, a.last, a.runs,
            a.failures,
            (select json_agg(json_build_array(k.name, k.runs, k.n, k.first, k.last))::text from (
                select b.name, count(distinct y.run_id) as runs, count(*) as n, {first} as first,
                    {microseconds} as last
                from seen y left join jelly.branches b on b.id = y.branch_id
                where y.cause_id = c.id group by b.name order by last desc nulls last, b.name
                limit $5
            ) k),
            (select json_agg(json_build_array(k.suite, k.classname, k.name, k.n, k.last))::text
            from (
                select t.suite, t.classname, t.name, count(*) as n, {microseconds} as last
                from seen y join jelly.tests t on t.id = y.test_id
                where y.cause_id = c.id group by t.id, t.suite, t.classname, t.name
                order by n desc, t.suite, t.classname, t.name limit $5
            ) k),
            (select json_agg(json_build_array(k.commit, k.n, k.first))::text from (
                select y.commit, count(*) as n, {first} as first from seen y
                where y.cause_id = c.id and y.commit is not null group by y.commit
                order by first desc nulls last, y.commit limit $5
            ) k)
        from (
            select y.cause_id, {first} as first, {microseconds} as last,
                count(distinct y.run_id) as runs, count(*) as failures
            from seen y group by y.cause_id
        ) a
        join jelly.causes c on c.id = a.cause_id
        join jelly.projects p on p.id = c.project_id
        order by p.name, c.fingerprint
        limit nullif($6, 0)"
    );
    let most = i64::try_from(MOST_LISTED).unwrap_or(i64::MAX);
    let more: [(&(dyn ToSql + Sync), Type); 3] = [
        (&prefix, Type::TEXT),
        (&most, Type::INT8),
        (&values.limit, Type::INT8),
    ];
    let rows = values.ask(client, &query, &more).await?;
    Ok(rows.iter().map(account).collect())
}

fn account(row: &Row) -> CauseAccount {
    let branches = listed(row.get(9)).into_iter().map(|row| BranchSighting {
        branch: row.first().and_then(Value::as_str).map(str::to_owned),
        runs: amount(row.get(1)),
        failures: amount(row.get(2)),
        seen: SeenSpan {
            first_seen: at_moment(row.get(3)),
            last_seen: at_moment(row.get(4)),
        },
    });
    let side = side(&text(row, 3));
    let body = text(row, 4);
    let cause: Option<PastCause> = serde_json::from_str(&body).ok();
    let label = PastLabel {
        side,
        ambiguous: cause.is_some_and(|cause| cause.ambiguous),
    };
    let tests = listed(row.get(10)).into_iter().map(|row| TestSighting {
        test: TestName::new(&word(row.first()), &word(row.get(1)), &word(row.get(2))),
        failures: amount(row.get(3)),
        label,
        last_seen: at_moment(row.get(4)),
    });
    let commits = listed(row.get(11)).into_iter().map(|row| CommitSighting {
        commit: word(row.first()),
        failures: amount(row.get(1)),
        first_seen: at_moment(row.get(2)),
    });
    CauseAccount {
        project: named(row, 0),
        fingerprint: text(row, 1),
        root_cause: text(row, 2),
        side,
        evidence: evidence(&body),
        seen: SeenSpan {
            first_seen: moment(row.get(5)),
            last_seen: moment(row.get(6)),
        },
        runs: number(row, 7),
        failures: number(row, 8),
        branches: branches.collect(),
        tests: tests.collect(),
        commits: commits.collect(),
    }
}

pub(crate) async fn slow(
    client: &Client,
    scope: &FleetScope,
) -> Result<Vec<SlowTest>, DatabaseError> {
    let values = ScopeValues::new(scope);
    let query = format!(
        "with {SCOPE},
        took as (
            select x.test_id, count(*) as n,
                percentile_disc(0.5) within group (order by x.duration_ms) as median,
                percentile_disc(0.95) within group (order by x.duration_ms) as p95,
                max(x.duration_ms) as longest
            from jelly.results x join scope s on s.id = x.run_id
            where x.duration_ms is not null
            group by x.test_id
        )
        select p.name, t.suite, t.classname, t.name, k.n, k.median, k.p95, k.longest
        from took k join jelly.tests t on t.id = k.test_id
        join jelly.projects p on p.id = t.project_id
        order by k.median desc, t.suite, t.classname, t.name, p.name
        limit nullif($4, 0)"
    );
    let rows = values
        .ask(client, &query, &[(&values.limit, Type::INT8)])
        .await?;
    let tests = rows.iter().map(|row| SlowTest {
        project: named(row, 0),
        test: name_at(row, 1),
        results: number(row, 4),
        median_ms: milliseconds(row.get(5)).unwrap_or_default(),
        p95_ms: milliseconds(row.get(6)).unwrap_or_default(),
        max_ms: milliseconds(row.get(7)).unwrap_or_default(),
    });
    Ok(tests.collect())
}

/// The results of the runs after this one, with the last of them; None where
/// there are no more.
pub(crate) async fn results_after(
    client: &Client,
    scope: &FleetScope,
    after: i32,
) -> Result<Option<(i32, Vec<ExportedResult>)>, DatabaseError> {
    let values = ScopeValues::new(scope);
    let query = format!(
        "with {SCOPE},
        lot as materialized (select * from scope where id > $4 order by id limit $5)
        select s.id, (extract(epoch from s.at) * 1000000)::bigint, p.name, b.name, s.commit,
            s.run_key, s.attempt, s.shard, t.suite, t.classname, t.name, x.outcome, x.duration_ms,
            c.fingerprint, x.print, c.root_cause, s.shards
        from lot s join jelly.projects p on p.id = s.project_id
        left join jelly.branches b on b.id = s.branch_id
        left join (
            jelly.results x join jelly.tests t on t.id = x.test_id
            left join jelly.causes c on c.id = x.cause_id
        ) on x.run_id = s.id
        order by s.id, x.ctid"
    );
    let more: [(&(dyn ToSql + Sync), Type); 2] = [(&after, Type::INT4), (&LOT, Type::INT8)];
    let rows = values.ask(client, &query, &more).await?;
    let Some(last) = rows.last() else {
        return Ok(None);
    };
    // Of a run without results there is a row all the same.
    let results = rows.iter().filter_map(|row| {
        let outcome = outcome_of(row.get::<_, Option<i16>>(11)?.into());
        Some(ExportedResult {
            at: moment(row.get(1)),
            origin: RunOrigin {
                project: named(row, 2),
                branch: named(row, 3),
                commit: named(row, 4),
                run_key: named(row, 5),
                attempt: row
                    .get::<_, Option<i64>>(6)
                    .and_then(|n| u64::try_from(n).ok()),
                shard: shard_number(row, 7),
                shards: shard_number(row, 16),
            },
            test: name_at(row, 8),
            outcome,
            duration_ms: milliseconds(row.get(12)),
            fingerprint: named(row, 13),
            test_fingerprint: named(row, 14),
            root_cause: named(row, 15),
        })
    });
    Ok(Some((last.get(0), results.collect())))
}

pub(crate) async fn commit_seen(
    client: &Client,
    scope: &FleetScope,
    commit: &str,
) -> Result<Option<String>, DatabaseError> {
    let values = ScopeValues::new(scope);
    let query = format!(
        "with {SCOPE}
        select (extract(epoch from min(at)) * 1000000)::bigint from scope
        where starts_with(commit, $4)"
    );
    let rows = values.ask(client, &query, &[(&commit, Type::TEXT)]).await?;
    Ok(rows.first().and_then(|row| moment(row.get(0))))
}
