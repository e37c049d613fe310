//! What the history is asked by a triage, and what it is given.

use super::TriageCall;
use crate::cli::args::REPORTS;
use crate::cli::args::triage::FailOnArg;
use crate::cli::refusal::{Refusal, complain};
use jelly_triage::history::{Past, TestName};
use jelly_triage::survey::{self, Account, ReportPart};
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

impl TriageCall<'_> {
    /// The past of the tests that these reports tell of.
    ///
    /// # Errors
    /// It can't be read, and what is new is what the exit code is about.
    pub(super) fn known_past(
        &self,
        parts: &[ReportPart],
        has_baseline: bool,
    ) -> Result<Option<Rc<Past>>, Refusal> {
        let Some(history) = &self.history else {
            return Ok(None);
        };
        let (tests, digests) = asked_about(parts);
        let past = history.past_of(&tests, &digests);
        if history.is_blind() && !has_baseline && self.args.fail_on == FailOnArg::New {
            return Err(Refusal::with_help(
                "--fail-on new: which failures are new can't be told without the history",
                "run it again when the history can be read, or name earlier reports with \
                 --baseline",
            ));
        }
        Ok(Some(past))
    }

    /// Adds the run to the history. A report that can't be relied on is no
    /// run that later ones should be compared with.
    pub(super) fn remember(&self, account: &Account) {
        let whole = account.report.reports.iter().all(|r| r.problem.is_none());
        let Some(history) = self.history.as_ref().filter(|_| whole) else {
            return;
        };
        let at = Some(jiff::Timestamp::now().to_string());
        let run = survey::past_run(account, at);
        if let Some(warning) = history.record(run, Some(Path::new(REPORTS))) {
            complain(&format!("warning: {warning}"));
        }
    }
}

/// The tests whose past is asked for, and the digests of the reports they are in.
fn asked_about(parts: &[ReportPart]) -> (Vec<TestName>, Vec<String>) {
    let mut tests = BTreeSet::new();
    let mut digests = Vec::new();
    for part in parts {
        let failures = part.failures.iter();
        tests.extend(failures.map(|f| TestName::new(f.suite, f.classname, f.name)));
        tests.extend(part.passed.iter().cloned());
        digests.extend(part.summary.record_key.clone());
    }
    (tests.into_iter().collect(), digests)
}
