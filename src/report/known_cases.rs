//! Cases of reports that failed, and whose failures are all known.
//!
//! Main type: [`KnownCases`].

use super::cases::CaseCounts;
use jelly_base::model::{FailureStatus, FailureView, TriageReport};
use std::collections::HashMap;

/// Which cases a list of known failures covers, by report and place in it. They
/// are counted as skipped, so that who counts failures alone is not red.
#[derive(Debug, Default)]
pub struct KnownCases<'a> {
    cases: HashMap<&'a str, HashMap<u64, KnownCase>>,
}

#[derive(Debug)]
struct KnownCase {
    status: FailureStatus,
    why: String,
}

impl<'a> KnownCases<'a> {
    #[must_use]
    pub fn of(report: &'a TriageReport) -> Self {
        if report.known.is_empty() {
            return Self::default();
        }
        let reasons: HashMap<(&str, &str), &str> = report
            .known
            .iter()
            .map(|known| {
                let which = (known.test.as_str(), known.fingerprint.as_str());
                (which, known.entry.reason.as_str())
            })
            .collect();
        // None where one failure of a case is not known.
        let mut cases: HashMap<(&str, u64), Option<KnownCase>> = HashMap::new();
        for failure in report.failures.iter() {
            let diagnosis = failure.diagnosis();
            let test = reported_test(&failure);
            let reason = reasons.get(&(test.as_str(), diagnosis.fingerprint.as_str()));
            let known = reason
                .filter(|_| failure.status != FailureStatus::Flaky)
                .map(|reason| KnownCase {
                    status: failure.status,
                    why: format!("known failure: {reason}"),
                });
            let case = cases.entry((failure.report, failure.ordinal));
            case.and_modify(|earlier| {
                if known.is_none() {
                    *earlier = None;
                }
            })
            .or_insert(known);
        }
        let mut known = Self::default();
        for ((report, ordinal), case) in cases {
            if let Some(case) = case {
                known.cases.entry(report).or_default().insert(ordinal, case);
            }
        }
        known
    }

    /// Why a case that failed is passed over; none where it is not.
    #[must_use]
    pub fn why(&self, report: &str, ordinal: u64) -> Option<&str> {
        let case = self.cases.get(report)?.get(&ordinal)?;
        Some(&case.why)
    }

    /// Takes the known ones of a report from its failures.
    pub(super) fn set_aside(&self, report: &str, counts: &mut CaseCounts) {
        for case in self.cases.get(report).into_iter().flat_map(HashMap::values) {
            let failed = match case.status {
                FailureStatus::Error => &mut counts.errors,
                FailureStatus::Failure | FailureStatus::Flaky => &mut counts.failures,
            };
            *failed = failed.saturating_sub(1);
            counts.skipped += 1;
        }
    }
}

/// The name by which a list of known failures names the test.
#[must_use]
pub fn reported_test(failure: &FailureView<'_>) -> String {
    let parts = [failure.suite, failure.classname, failure.name];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" > ")
}
