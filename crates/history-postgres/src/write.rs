//! A run as the database takes it: one value, one call, one transaction.

use crate::error::DatabaseError;
use jelly_base::model::FailureStatus;
use jelly_base::text::stable_name;
use jelly_triage::history::{
    PastCause, PastRun, ProvenPasses, ResultOutcome, RunKind, RunOrigin, TestName,
};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

/// Names that the database looks up are cut there: an index takes no longer ones.
const NAME_MAX: usize = 500;

/// Writers that got into each other's way try again so often.
const TRIES: usize = 4;

/// 16 bytes that stand for a text.
pub(crate) fn key(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// What a test is known by.
pub(crate) fn key_of(test: &TestName) -> String {
    key(&[
        &stable_name(&test.suite),
        &stable_name(&test.classname),
        &test.name,
    ])
}

/// A name as the database keeps it.
pub(crate) fn cut(name: &str) -> String {
    let name: String = name.chars().take(NAME_MAX).collect();
    name.replace('\0', "\u{fffd}")
}

/// How an outcome is kept: see the tables.
pub(crate) fn outcome(status: FailureStatus) -> i16 {
    match status {
        FailureStatus::Failure => 1,
        FailureStatus::Error => 2,
        FailureStatus::Flaky => 3,
    }
}

/// What is kept of a result, whether it is the worst of its test or another.
pub(crate) fn outcome_of(kept: i32) -> ResultOutcome {
    match if kept < 0 { -1 - kept } else { kept } {
        0 => ResultOutcome::Passed,
        2 => ResultOutcome::Error,
        3 => ResultOutcome::Flaky,
        _ => ResultOutcome::Failure,
    }
}

/// The run as JSON.
pub(crate) fn document(run: &PastRun) -> Result<Value, serde_json::Error> {
    let PastRun {
        schema_version: _,
        kind,
        at,
        origin,
        reports,
        causes,
        // The tables keep one label of a cause, the last.
        labels: _,
        failures,
        passed,
        passed_if_accepted,
        proven,
    } = run;
    let RunOrigin {
        project,
        branch,
        commit,
        run_key,
        attempt,
        shard,
        shards,
    } = origin;
    let mut tests: BTreeMap<String, &TestName> = BTreeMap::new();
    let mut results = Vec::with_capacity(failures.len() + passed.len());
    for failure in failures {
        let key = key_of(&failure.test);
        results.push(json!([
            failure.report,
            key,
            outcome(failure.status),
            cut(&failure.fingerprint),
            cut(&failure.test_fingerprint),
            failure.duration_ms.map(clamped),
        ]));
        tests.insert(key, &failure.test);
    }
    for pass in passed {
        let key = key_of(&pass.test);
        results.push(json!([
            pass.report,
            key,
            0,
            Value::Null,
            Value::Null,
            pass.duration_ms.map(clamped),
        ]));
        tests.insert(key, &pass.test);
    }
    let failed = |test: &TestName| failures.iter().any(|failure| failure.test == *test);
    let definitions = passed.iter().filter_map(|pass| {
        let definition = pass.definition.as_deref()?;
        // Of the same name, one that failed weighs more.
        (!failed(&pass.test)).then_some(definition)
    });
    let definitions = definitions.chain(passed_if_accepted.iter().map(String::as_str));
    let definitions: Vec<String> = definitions.map(cut).collect();
    let proven: Vec<Value> = proven
        .iter()
        .map(|ProvenPasses { code, definitions }| {
            let definitions: BTreeSet<String> = definitions.iter().map(|d| cut(d)).collect();
            json!({ "code": cut(code), "definitions": definitions })
        })
        .collect();
    let reports: Vec<Value> = reports
        .iter()
        .map(|report| {
            let known = !report.digest.is_empty();
            json!({
                "key": known.then(|| key(&[&report.digest])),
                "path": report.path,
                "plan": report.place,
                "duration_ms": report.duration_ms.map(clamped),
            })
        })
        .collect();
    // One of which nothing is known but its name.
    let nameless = failures
        .iter()
        .map(|failure| failure.fingerprint.as_str())
        .filter(|fingerprint| !causes.contains_key(*fingerprint))
        .collect::<BTreeSet<&str>>()
        .into_iter()
        .map(|fingerprint| {
            Ok(json!({
                "fingerprint": cut(fingerprint), "root_cause": "", "side": "test", "body": "",
            }))
        });
    let causes: Result<Vec<Value>, serde_json::Error> = causes
        .iter()
        .map(|(fingerprint, cause)| {
            Ok(json!({
                "fingerprint": cut(fingerprint),
                "root_cause": cause.root_cause,
                "side": side_of(cause)?,
                "body": without_nul(serde_json::to_value(cause)?).to_string(),
            }))
        })
        .chain(nameless)
        .collect();
    let tests: Vec<Value> = tests
        .into_iter()
        .map(|(key, test)| json!([key, test.suite, test.classname, test.name]))
        .collect();
    // What is no moment can't be kept as one.
    let at = at.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
    Ok(without_nul(json!({
        "project": project.as_deref().map(cut),
        "branch": branch.as_deref().map(cut),
        "commit": commit,
        "run_key": run_key,
        "attempt": attempt.map(|attempt| i64::try_from(attempt).unwrap_or(i64::MAX)),
        "shard": shard,
        "shards": shards,
        "kind": match kind {
            RunKind::Run => "run",
            RunKind::Triage => "triage",
        },
        "at": at.map(|at| at.to_string()),
        "reports": reports,
        "tests": tests,
        "causes": causes?,
        "results": results,
        "definitions": definitions,
        "proven": proven,
    })))
}

fn side_of(cause: &PastCause) -> Result<Value, serde_json::Error> {
    serde_json::to_value(cause.side)
}

/// Columns of durations end at 24 days.
fn clamped(duration_ms: u64) -> i32 {
    i32::try_from(duration_ms).unwrap_or(i32::MAX)
}

/// PostgreSQL has no text with a NUL in it.
fn without_nul(value: Value) -> Value {
    match value {
        Value::String(text) if text.contains('\0') => Value::String(text.replace('\0', "\u{fffd}")),
        Value::Array(items) => items.into_iter().map(without_nul).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name.replace('\0', "\u{fffd}"), without_nul(value)))
            .collect(),
        other => other,
    }
}

/// Writes a run; whether it was new.
pub(crate) async fn record(client: &Client, run: &str) -> Result<bool, DatabaseError> {
    let mut tries = 1;
    loop {
        let written = client
            .query_typed(
                "select jelly.record_1($1::text::jsonb)",
                &[(&run, Type::TEXT)],
            )
            .await;
        match written {
            Ok(rows) => {
                let id: i32 = rows.first().map_or(0, |row| row.get(0));
                return Ok(id != 0);
            }
            Err(error) if tries < TRIES && is_passing(&error) => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_passing(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| {
        [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
        ]
        .contains(code)
    })
}
