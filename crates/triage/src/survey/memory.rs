//! What earlier runs say of this one, and what of this one is remembered.

use super::account::{Account, ReportPart};
use crate::history::{
    Past, PastCause, PastFailure, PastPass, PastReport, PastRun, RunKind, TestName,
};
use jelly_base::model::{FailureTexts, FailureView, Failures, FixedTest, ReportSummary};
use std::collections::{BTreeSet, HashMap};

/// The earlier runs that a report is compared with.
#[derive(Debug, Clone, Default)]
pub struct Before {
    /// What `--history` remembers.
    pub history: Option<Past>,
    /// The reports of `--baseline`: where there are any, they say what is new.
    pub baseline: Option<Past>,
    /// Reports by path that are one of the baseline again, whatever their tests are called
    /// there: nothing in them is new.
    pub copies: BTreeSet<String>,
}

impl Before {
    /// What says which failures are new; nothing where no earlier run is known.
    fn judge(&self) -> Option<&Past> {
        self.baseline
            .as_ref()
            .or(self.history.as_ref())
            .filter(|past| !past.is_empty())
    }

    /// A report that the history has seen before has the past that it had then.
    /// A baseline is what was named, even if it is the same again.
    pub(super) fn end_before(&mut self, reports: &[ReportSummary]) {
        if let Some(past) = &mut self.history {
            past.end_before(reports.iter().filter_map(|r| r.record_key.as_deref()));
        }
    }

    /// Says of each failure whether it was there before. What is not known by
    /// its fingerprint may be by its first one.
    pub(super) fn date(&self, failures: &mut Failures, first_prints: &HashMap<String, String>) {
        let Some(judge) = self.judge() else {
            return;
        };
        let history = self.history.as_ref().filter(|past| !past.is_empty());
        for index in 0..failures.len() {
            let Some(failure) = failures.get(index) else {
                continue;
            };
            let (suite, classname, name) = (failure.suite, failure.classname, failure.name);
            let is_copy = self.copies.contains(failure.report);
            let before = is_copy || judge.pre_existing(suite, classname, name);
            let known = history.unwrap_or(judge);
            let of = |print: &str| known.history((suite, classname, name), print, failure.status);
            let past = of(failure.test_fingerprint);
            let first = first_prints.get(failure.test_fingerprint);
            let past = match first.filter(|_| past.failed == 0) {
                Some(first) => of(first),
                None => past,
            };
            // Under other names nothing is known of its past.
            let past = Some(past).filter(|past| !is_copy || past.failed > 0);
            failures.set_past(index, Some(before), past);
        }
    }

    /// The tests that failed before and passed now.
    pub(super) fn fixed(&self, passed: &[TestName], failures: &Failures) -> Vec<FixedTest> {
        let Some(judge) = self.judge() else {
            return Vec::new();
        };
        let failing: BTreeSet<TestName> = failures.iter().map(|f| test_of(&f)).collect();
        judge
            .fixed(passed, &failing)
            .into_iter()
            .map(|fixed| FixedTest {
                suite: fixed.test.suite,
                classname: fixed.test.classname,
                name: fixed.test.name,
                root_cause: fixed.root_cause,
            })
            .collect()
    }
}

fn test_of(failure: &FailureView<'_>) -> TestName {
    TestName::new(failure.suite, failure.classname, failure.name)
}

/// The run as it is remembered, each report once by its
/// [`record_key`](super::record_key()). `at` is RFC 3339, where anybody knows.
#[must_use]
pub fn past_run(account: &Account, at: Option<String>) -> PastRun {
    let Account {
        report,
        passed,
        templates,
        took,
    } = account;
    let mut run = PastRun::new(RunKind::Triage, at);
    let mut places: HashMap<&str, usize> = HashMap::new();
    for summary in report.reports.iter().filter(|r| r.same_as.is_none()) {
        places.insert(&summary.path, run.reports.len());
        run.reports.push(PastReport {
            path: summary.path.clone(),
            digest: summary.record_key.clone().unwrap_or_default(),
            ..PastReport::default()
        });
    }
    for (view, whole) in report.failures.iter().zip(report.failures.to_owned_iter()) {
        let diagnosis = whole.diagnosis;
        run.causes
            .entry(diagnosis.fingerprint.clone())
            .or_insert_with(|| {
                let template = templates.get(&diagnosis.fingerprint).cloned();
                PastCause::new(&diagnosis, template.unwrap_or_default())
            });
        run.keep_label(&diagnosis);
        let test = test_of(&view);
        run.failures.push(PastFailure {
            report: places.get(view.report).copied().unwrap_or_default(),
            duration_ms: took.get(&test).copied(),
            test,
            status: view.status,
            fingerprint: diagnosis.fingerprint,
            test_fingerprint: diagnosis.test_fingerprint,
        });
    }
    run.passed = passed
        .iter()
        .map(|test| PastPass {
            report: 0,
            test: test.clone(),
            definition: None,
            duration_ms: took.get(test).copied(),
        })
        .collect();
    run
}

/// Reports that were named as earlier: the same cases are the same run, unless one writer
/// says different things of their failures.
#[derive(Debug, Default)]
struct KnownReports(HashMap<String, Vec<FailureTexts>>);

impl KnownReports {
    fn key(&mut self, summary: &ReportSummary) -> Option<String> {
        let identity = summary.identity.as_ref()?;
        let alike = self.0.entry(identity.clone()).or_default();
        let same = |known: &FailureTexts| !known.is_apart_from(&summary.said);
        let at = alike.iter().position(same).unwrap_or_else(|| {
            alike.push(summary.said);
            alike.len() - 1
        });
        Some(format!("{identity}/{at}"))
    }
}

/// The past that these runs are, oldest first, each by what was read of it.
/// `read` is told what is remembered so far, since of the tests that pass only
/// those are kept that failed before.
#[must_use]
pub fn past_of<R>(runs: Vec<R>, mut read: impl FnMut(R, &Past) -> Vec<ReportPart>) -> Past {
    let mut past = Past::default();
    let mut known = KnownReports::default();
    for run in runs {
        let parts = read(run, &past);
        let mut summaries = Vec::new();
        let mut failures = Failures::default();
        let mut passed = Vec::new();
        for mut part in parts {
            failures.append(&part.failures);
            passed.extend(part.passed);
            part.summary.record_key = known.key(&part.summary);
            summaries.push(part.summary);
        }
        let account = Account {
            report: super::account::bare(summaries, failures),
            passed,
            templates: HashMap::new(),
            took: HashMap::new(),
        };
        past.add(past_run(&account, None));
    }
    past
}
