//! A triage that was printed as JSON → parts of another account.
//!
//! Main function: [`parts_of`].

use super::account::ReportPart;
use jelly_base::model::{Failures, TriageReport};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// What each report of a triage brings along; `name` is where the triage was
/// read, since reports of different jobs have the same paths.
///
/// What was never printed is not there: tests that passed, and what a rerun has
/// to know besides the names of tests.
#[must_use]
pub fn parts_of(triage: &TriageReport, name: &str) -> Vec<ReportPart> {
    let stacks: HashMap<String, String> = triage
        .clusters
        .iter()
        .filter_map(|cluster| Some((cluster.fingerprint.clone(), cluster.at.clone()?)))
        .collect();
    let reports = triage.counted_reports();
    reports
        .map(|summary| {
            let path = format!("{name}: {}", summary.path);
            let mut failures = Failures::default();
            let mut hash = Sha256::new();
            // A summary has no value that JSON can't hold.
            hash.update(serde_json::to_vec(summary).unwrap_or_default());
            for mut failure in triage.failures.to_owned_iter() {
                if failure.report == summary.path {
                    hash.update(serde_json::to_vec(&failure).unwrap_or_default());
                    failure.report.clone_from(&path);
                    // Of the runs that this account is compared with.
                    failure.history = None;
                    failure.pre_existing = None;
                    failures.push(failure);
                }
            }
            let digest = hash.finalize();
            let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            let mut summary = summary.clone();
            summary.path = path;
            // Reports without a case tell no run.
            let has_cases = summary.tests > 0 || summary.suite_errors > 0;
            summary.identity = has_cases.then_some(digest);
            ReportPart {
                summary,
                failures,
                failed_at: stacks.clone(),
                ..ReportPart::default()
            }
        })
        .collect()
}
