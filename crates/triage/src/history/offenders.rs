//! Which tests and causes give the most trouble.

use super::fleet::SeenSpan;
use super::past::{Past, count, rate};
use super::record::TestName;
use jelly_base::model::{ErrorCategory, Side};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// What the worst are worst in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OffenderOrder {
    /// Runs in which it failed.
    #[default]
    Failures,
    /// How much it comes and goes; see [`TestRecord::flaky_rate`].
    Flaky,
    /// The latest first.
    LastSeen,
}

/// What a test did in the runs that are remembered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TestRecord {
    #[serde(flatten)]
    pub test: TestName,
    /// Runs that are known to have run it.
    pub runs: u32,
    /// Of those, the ones in which it failed and stayed so.
    pub failed: u32,
    /// Of those, the ones in which it failed and passed in the end.
    pub flaky: u32,
    /// Share of its runs that were flaky or that ended otherwise than the run
    /// before, between 0 and 1.
    pub flaky_rate: f64,
    #[serde(flatten)]
    pub seen: SeenSpan,
    /// Whether it passed when it was last run.
    pub passes_now: bool,
    /// What it failed of last.
    pub fingerprint: String,
    /// Of what it failed of last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<String>,
    /// Causes that it failed of.
    pub causes: u32,
}

/// What a cause did in the runs that are remembered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CauseRecord {
    /// Of the cause.
    pub fingerprint: String,
    pub side: Side,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_category: Option<ErrorCategory>,
    /// The kind of cause in a snake_case word.
    pub root_cause: String,
    /// Runs that it was seen in.
    pub runs: u32,
    /// Failures by it.
    pub failures: u32,
    /// The tests that it befell, by name.
    pub tests: Vec<TestName>,
    /// What told it, the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    #[serde(flatten)]
    pub seen: SeenSpan,
}

impl Past {
    /// The tests that failed, worst first; ties by name.
    #[must_use]
    pub fn worst_tests(&self, order: OffenderOrder) -> Vec<TestRecord> {
        let mut records: Vec<TestRecord> = self
            .all_tests()
            .filter_map(|(test, ends)| {
                let last = ends.iter().rev().find(|end| end.failed() || end.flaky())?;
                let first = ends.iter().find(|end| end.failed() || end.flaky())?;
                let failed = ends.iter().filter(|end| end.failed()).count();
                let flaky = ends.iter().filter(|end| end.flaky()).count();
                let turns = ends
                    .windows(2)
                    .filter(|pair| !pair[1].flaky() && pair[0].failed() != pair[1].failed())
                    .count();
                let causes: BTreeSet<&str> =
                    ends.iter().flat_map(|end| self.causes_of(end)).collect();
                let fingerprint = self.causes_of(last).next().unwrap_or_default().to_owned();
                Some(TestRecord {
                    test: test.clone(),
                    runs: count(ends.len()),
                    failed: count(failed),
                    flaky: count(flaky),
                    flaky_rate: rate(flaky + turns, ends.len()),
                    seen: SeenSpan {
                        first_seen: self.at(first.run),
                        last_seen: self.at(last.run),
                    },
                    passes_now: ends.last().is_some_and(|end| !end.failed()),
                    root_cause: self
                        .last_cause(&fingerprint)
                        .map(|cause| cause.root_cause.clone()),
                    fingerprint,
                    causes: count(causes.len()),
                })
            })
            .collect();
        records.sort_by(|a, b| a.test.cmp(&b.test));
        match order {
            OffenderOrder::Failures => {
                records.sort_by_key(|r| Reverse((r.failed.saturating_add(r.flaky), r.failed)));
            }
            OffenderOrder::Flaky => {
                records.sort_by(|a, b| b.flaky_rate.total_cmp(&a.flaky_rate));
            }
            OffenderOrder::LastSeen => {
                records.sort_by(|a, b| b.seen.last_seen.cmp(&a.seen.last_seen))
            }
        }
        records
    }

    /// The causes, worst first; ties by fingerprint. What a cause is flaky in
    /// nobody can say, so by that order they come by failures.
    #[must_use]
    pub fn worst_causes(&self, order: OffenderOrder) -> Vec<CauseRecord> {
        let mut records: Vec<CauseRecord> = self
            .all_causes()
            .map(|past| CauseRecord {
                side: past.cause.side,
                error_category: past.cause.error_category,
                root_cause: past.cause.root_cause,
                runs: past.runs,
                failures: past.failures,
                tests: past.tests,
                evidence: past.cause.evidence.map(|evidence| evidence.text),
                seen: SeenSpan {
                    first_seen: past.first_seen,
                    last_seen: past.last_seen,
                },
                fingerprint: past.fingerprint,
            })
            .collect();
        records.sort_by(|a, b| a.fingerprint.cmp(&b.fingerprint));
        match order {
            OffenderOrder::Failures | OffenderOrder::Flaky => {
                records.sort_by_key(|r| Reverse((r.failures, r.runs)));
            }
            OffenderOrder::LastSeen => {
                records.sort_by(|a, b| b.seen.last_seen.cmp(&a.seen.last_seen))
            }
        }
        records
    }
}
