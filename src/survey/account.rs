//! The parts of several reports → one account of the run.

use super::advise;
use super::cluster::clusters;
use super::exit::{FailOn, exit};
use super::health::health;
use super::rerun;
use crate::model::{Failures, ReportSummary, SCHEMA_VERSION, TriageReport};
use std::collections::HashMap;

/// What was read of one report.
#[derive(Debug, Default)]
pub struct Part {
    pub summary: ReportSummary,
    pub failures: Failures,
}

/// How the account is drawn up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terms {
    pub fail_on: FailOn,
    /// A flaky test counts as a failure.
    pub strict: bool,
}

/// One account of all reports: the same for any order of `parts`.
#[must_use]
pub fn account(mut parts: Vec<Part>, terms: Terms) -> TriageReport {
    parts.sort_by(|a, b| a.summary.path.cmp(&b.summary.path));
    let mut first_of: HashMap<String, String> = HashMap::new();
    let mut reports = Vec::with_capacity(parts.len());
    let mut failures = Failures::default();
    for part in parts {
        let mut summary = part.summary;
        let run = summary.identity.clone();
        let told = run.as_ref().and_then(|run| first_of.get(run).cloned());
        if told.is_some() {
            summary.same_as = told;
        } else {
            if let Some(run) = run {
                first_of.insert(run, summary.path.clone());
            }
            if failures.is_empty() {
                failures = part.failures;
            } else {
                failures.extend(part.failures.to_owned_iter());
            }
        }
        reports.push(summary);
    }
    let clusters = clusters(&failures);
    let health = health(&reports, &clusters);
    let retry = rerun::plan(&failures, &reports);
    let (exit_code, verdict) = exit(&reports, &failures, &health, terms.fail_on, terms.strict);
    TriageReport {
        schema_version: SCHEMA_VERSION,
        exit_code: exit_code.code(),
        verdict,
        infrastructure_issues: advise::infrastructure_issues(&clusters),
        recommendations: advise::recommendations(&health, &reports, &clusters, &retry),
        health,
        reports,
        failures,
        clusters,
        fixed: Vec::new(),
        retry,
    }
}
