//! What the plans of one call come to together.
//!
//! Main type: [`CallSummary`].

use super::{Diagnosis, ErrorCategory, FailureReport, RunReport, Side, Totals, Verdict, by_cause};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Verdict, totals and causes over all plans, made of their reports alone: the
/// same whether one call ran them or many.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallSummary {
    pub verdict: Verdict,
    pub totals: Totals,
    /// By number of failures, most first.
    pub clusters: Vec<RunCluster>,
}

/// One cause with the failures that it stands behind, over all plans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunCluster {
    /// Of the first failure.
    pub fingerprint: String,
    /// Those of the others, where they differ in numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Failures of the plans' last iterations.
    pub count: u64,
    /// The kind of cause in a snake_case word.
    pub root_cause: String,
    pub side: Side,
    /// Whether the side is a guess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_category: Option<ErrorCategory>,
    /// Whether the failures may pass unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// A list of known failures covers them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
    /// The first failure, as `PLAN: SERVER/STEP`.
    pub example: String,
    /// What went wrong there, in a sentence.
    pub message: String,
    /// Paths of the plans, each once, in order.
    pub plans: Vec<String>,
}

impl CallSummary {
    #[must_use]
    pub fn of(plans: &[RunReport]) -> Self {
        let mut totals = Totals::default();
        for last in plans.iter().filter_map(|plan| plan.iterations.last()) {
            totals.add(last.totals);
        }
        Self {
            verdict: Verdict::of_call(plans.iter().map(|plan| plan.verdict)),
            totals,
            clusters: clusters(plans),
        }
    }
}

fn clusters(plans: &[RunReport]) -> Vec<RunCluster> {
    let failures: Vec<(&RunReport, &FailureReport)> = plans
        .iter()
        .filter_map(|plan| Some((plan, plan.iterations.last()?)))
        .flat_map(|(plan, last)| last.failures.iter().map(move |failure| (plan, failure)))
        .collect();
    let causes = by_cause(failures.iter().map(|(plan, one)| (&*plan.plan.path, *one)));
    let of_cause = |places: Vec<usize>| RunCluster::of(places.iter().map(|at| failures[*at]));
    let mut clusters: Vec<RunCluster> = causes.into_iter().filter_map(of_cause).collect();
    clusters.sort_by_key(|cluster| Reverse(cluster.count));
    clusters
}

impl RunCluster {
    /// Of the failures of one cause; nothing where there are none.
    fn of<'r>(failures: impl Iterator<Item = (&'r RunReport, &'r FailureReport)>) -> Option<Self> {
        let mut failures = failures.peekable();
        let (plan, failure) = *failures.peek()?;
        let mut cluster = Self::first(plan, failure);
        let mut known = HashSet::from([&failure.diagnosis.fingerprint]);
        for (plan, failure) in failures {
            let fingerprint = &failure.diagnosis.fingerprint;
            if known.insert(fingerprint) {
                cluster.also.push(fingerprint.clone());
            }
            cluster.count += 1;
            if cluster.plans.last() != Some(&plan.plan.path) {
                cluster.plans.push(plan.plan.path.clone());
            }
        }
        Some(cluster)
    }

    fn first(plan: &RunReport, failure: &FailureReport) -> Self {
        let Diagnosis {
            fingerprint,
            root_cause,
            side,
            ambiguous,
            error_category,
            retryable,
            ..
        } = &failure.diagnosis;
        let place = [&failure.server, &failure.step];
        let place: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
        Self {
            fingerprint: fingerprint.clone(),
            also: Vec::new(),
            count: 0,
            root_cause: root_cause.clone(),
            side: *side,
            ambiguous: *ambiguous,
            error_category: *error_category,
            retryable: *retryable,
            known: failure.known.is_some(),
            example: format!("{}: {}", plan.plan.name, place.join("/")),
            message: failure.message.clone(),
            plans: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CallSummary;
    use crate::model::{FailureReport, IterationReport, PlanReport, RunReport, Totals, Verdict};

    fn plan(name: &str, verdict: Verdict, causes: &[&str]) -> RunReport {
        let failures = causes.iter().map(|cause| {
            let mut failure = FailureReport::default();
            failure.diagnosis.fingerprint = (*cause).to_owned();
            failure
        });
        let failures: Vec<FailureReport> = failures.collect();
        let failed = u32::try_from(failures.len()).unwrap();
        RunReport {
            plan: PlanReport {
                name: name.to_owned(),
                path: format!("{name}.yaml"),
                ..PlanReport::default()
            },
            verdict,
            iterations: vec![IterationReport {
                totals: Totals {
                    total: failed + 1,
                    passed: 1,
                    failed,
                    ..Totals::default()
                },
                failures,
                ..IterationReport::default()
            }],
            ..RunReport::default()
        }
    }

    #[test]
    fn causes_are_counted_over_all_plans_and_the_strongest_verdict_holds() {
        let plans = [
            plan("a", Verdict::Passed, &[]),
            plan("b", Verdict::NeedsUserHelp, &["j2:1"]),
            plan("c", Verdict::CodeFailure, &["j2:2", "j2:2", "j2:1"]),
            plan("d", Verdict::CodeFailure, &["j2:2"]),
        ];
        let summary = CallSummary::of(&plans);
        assert_eq!(summary.verdict, Verdict::CodeFailure);
        assert_eq!((summary.totals.total, summary.totals.failed), (9, 5));
        let seen: Vec<(&str, u64, usize)> = summary
            .clusters
            .iter()
            .map(|c| (c.fingerprint.as_str(), c.count, c.plans.len()))
            .collect();
        assert_eq!(seen, [("j2:2", 3, 2), ("j2:1", 2, 2)]);
    }

    #[test]
    fn a_call_without_a_plan_is_no_call_that_passed() {
        assert_eq!(CallSummary::of(&[]).verdict, Verdict::NothingAssigned);
    }
}
