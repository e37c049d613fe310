//! A triage that was printed as JSON → parts of another account.
//!
//! Main functions: [`parts_of`], [`set_aside_retold`].

use super::account::ReportPart;
use jelly_base::model::{Failures, ReportSummary, TriageReport, TriagedFailure};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

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
            let own = triage.failures.to_owned_iter();
            let own: Vec<TriagedFailure> = own.filter(|f| f.report == summary.path).collect();
            let identity = printed_identity(summary, own.iter());
            let mut failures = Failures::default();
            for mut failure in own {
                failure.report.clone_from(&path);
                // Of the runs that this account is compared with.
                failure.history = None;
                failure.pre_existing = None;
                failures.push(failure);
            }
            let mut summary = summary.clone();
            summary.path = path;
            summary.identity = identity;
            ReportPart {
                summary,
                failures,
                failed_at: stacks.clone(),
                ..ReportPart::default()
            }
        })
        .collect()
}

/// Of parts that a triage brings along, those of reports that are among the others
/// themselves: counted once, where more is known of them.
pub fn set_aside_retold(retold: &mut [ReportPart], others: &[ReportPart]) {
    let of_part = |part: &ReportPart| {
        let failures: Vec<TriagedFailure> = part.failures.to_owned_iter().collect();
        let identity = printed_identity(&part.summary, failures.iter())?;
        Some((identity, part.summary.path.clone()))
    };
    let paths: HashMap<String, String> = match retold.is_empty() {
        true => HashMap::new(),
        false => others.iter().filter_map(of_part).collect(),
    };
    for part in retold {
        let identity = part.summary.identity.as_ref();
        if let Some(path) = identity.and_then(|identity| paths.get(identity)) {
            let mut summary = std::mem::take(&mut part.summary);
            summary.same_as = Some(path.clone());
            summary.identity = None;
            summary.record_key = None;
            *part = ReportPart {
                summary,
                ..ReportPart::default()
            };
        }
    }
}

/// Equal for what two triages print of one report, whatever else they know: the
/// runs that they compare it with, and what explains its failures. None for a report
/// without a case: it tells no run.
fn printed_identity<'f>(
    summary: &ReportSummary,
    failures: impl Iterator<Item = &'f TriagedFailure>,
) -> Option<String> {
    if summary.tests == 0 && summary.suite_errors == 0 {
        return None;
    }
    // Two spellings of one path are one report.
    let path = Path::new(&summary.path).components();
    let path: PathBuf = path.filter(|part| *part != Component::CurDir).collect();
    let summary = ReportSummary {
        warnings: Vec::new(),
        path: path.display().to_string(),
        ..summary.clone()
    };
    let told = |failure: &TriagedFailure| {
        let TriagedFailure {
            report: _,
            suite,
            classname,
            name,
            file,
            line,
            status,
            message,
            pre_existing: _,
            diagnosis,
            history: _,
        } = failure;
        let test = (suite, classname, name, file, line);
        let failed = (status, message, &diagnosis.test_fingerprint);
        serde_json::to_vec(&(test, failed)).unwrap_or_default()
    };
    let mut told: Vec<Vec<u8>> = failures.map(told).collect();
    told.sort_unstable();
    let mut hash = Sha256::new();
    // A summary has no value that JSON can't hold.
    hash.update(serde_json::to_vec(&summary).unwrap_or_default());
    for failure in told {
        hash.update(failure);
    }
    let digest = hash.finalize();
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}
