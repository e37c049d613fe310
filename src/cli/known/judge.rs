//! Which entries of a list have outlived their reason, by what a whole run
//! showed.
//!
//! Main function: [`judge`]. Pure.

use crate::cli::record::well;
use jelly_base::model::{
    HelpProblem, IterationReport, KnownEntry, RunCause, RunReport, StaleEntry, StaleReason,
    StepState, Verdict,
};
use jelly_triage::history::TestName;
use std::collections::{BTreeMap, BTreeSet};

/// What a call ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgedScope {
    /// All plans that there are: what was not seen here is nowhere.
    AllPlans,
    /// Those that were named; a cause may be that of another one.
    NamedPlans,
}

/// The path of a report's plan in the project.
type PlaceOf<'p> = &'p dyn Fn(&RunReport) -> Option<String>;

/// Writes into the reports which entries should be taken out, and fails what
/// was green with them: the places of the reports that were changed. An entry
/// about no test that was run is told with the first plan. `place_of` says the path
/// of a plan in the project, by which an entry may name it as well.
pub fn judge(
    entries: &[KnownEntry],
    (reports, place_of): (&mut [RunReport], PlaceOf<'_>),
    scope: JudgedScope,
    today: &str,
) -> BTreeSet<usize> {
    let seen = WholeRun::of(reports, place_of);
    let stale: Vec<(usize, StaleEntry)> = entries
        .iter()
        .filter_map(|entry| {
            let because = seen.outlived(entry, scope, today)?;
            let entry = entry.clone();
            let at = seen.plan_of(&entry);
            Some((at, StaleEntry { entry, because }))
        })
        .collect();
    let mut changed = BTreeSet::new();
    for (at, stale) in stale {
        if let Some(report) = reports.get_mut(at) {
            fail(report, &stale);
            report.known_stale.push(stale);
            changed.insert(at);
        }
    }
    changed
}

/// What is wrong with an entry, in a sentence that begins with its place.
pub fn said_of(stale: &StaleEntry) -> String {
    let StaleEntry { entry, because } = stale;
    let what = entry.test.as_deref().or(entry.fingerprint.as_deref());
    let what = what.unwrap_or_default();
    let why = match because {
        StaleReason::Passed => "its test passed".to_owned(),
        StaleReason::Expired => {
            let last = entry.expires.as_deref().unwrap_or_default();
            format!("its last day was {last}")
        }
        StaleReason::NotSeen => "nothing failed of it in the whole run".to_owned(),
    };
    format!("{}: this known failure is stale: {why} ({what})", entry.at)
}

/// What all plans showed.
struct WholeRun {
    /// The tests that ran, each with its plan's place and whether it passed at
    /// once.
    tests: BTreeMap<String, (usize, bool)>,
    /// Causes of all failures of all iterations.
    causes: BTreeSet<String>,
    /// No step was left out: what was not seen did not come.
    is_whole: bool,
}

impl WholeRun {
    fn of(reports: &[RunReport], place_of: &dyn Fn(&RunReport) -> Option<String>) -> Self {
        let mut seen = Self {
            tests: BTreeMap::new(),
            causes: BTreeSet::new(),
            is_whole: true,
        };
        for (at, report) in reports.iter().enumerate() {
            let failures = report.iterations.iter().flat_map(|one| &one.failures);
            let causes = failures.map(|failure| failure.diagnosis.fingerprint.clone());
            seen.causes.extend(causes);
            // What a signal cut short says nothing about the tests.
            if report.verdict != Verdict::Interrupted
                && let Some(last) = report.iterations.last()
            {
                seen.take(at, &report.plan.name, last);
                if let Some(place) = place_of(report) {
                    seen.take(at, &place, last);
                }
            }
        }
        seen
    }

    fn take(&mut self, at: usize, plan: &str, last: &IterationReport) {
        for step in &last.steps {
            let ran = match step.state {
                StepState::Passed | StepState::Failed => true,
                StepState::Blocked | StepState::Quarantined | StepState::Skipped => false,
            };
            self.is_whole &= ran;
            if ran {
                let passed = step.state == StepState::Passed && !step.flaky;
                let test = TestName::new(plan, &step.server, &step.id);
                // Of several that are called alike, all have to pass.
                let seen = self.tests.entry(test.to_string()).or_insert((at, true));
                seen.1 &= passed;
            }
        }
        for server in &last.servers {
            for name in well(server, &last.failures) {
                let test = TestName::new(plan, &server.name, name);
                self.tests.insert(test.to_string(), (at, true));
            }
        }
    }

    fn outlived(&self, entry: &KnownEntry, scope: JudgedScope, today: &str) -> Option<StaleReason> {
        if entry.is_expired(today) {
            return Some(StaleReason::Expired);
        }
        if entry.flaky {
            return None;
        }
        match (&entry.test, &entry.fingerprint) {
            (Some(test), _) => {
                let (_, passed) = self.tests.get(test)?;
                passed.then_some(StaleReason::Passed)
            }
            (None, Some(cause)) => {
                let is_judged = scope == JudgedScope::AllPlans && self.is_whole;
                (is_judged && !self.causes.contains(cause)).then_some(StaleReason::NotSeen)
            }
            (None, None) => None,
        }
    }

    fn plan_of(&self, entry: &KnownEntry) -> usize {
        let test = entry.test.as_ref();
        let known = test.and_then(|test| self.tests.get(test));
        known.map_or(0, |(at, _)| *at)
    }
}

/// A run that was green with a list that is wrong is not green.
fn fail(report: &mut RunReport, stale: &StaleEntry) {
    let problem = HelpProblem {
        root_cause: Some(RunCause::StaleKnownFailure),
        at: Some(stale.entry.at.clone()),
        what: said_of(stale),
        evidence: stale.entry.reason.clone(),
        next: vec!["take the entry out of the list, or renew it".to_owned()],
        ..HelpProblem::default()
    };
    report.fail_closed("The list of known failures is out of date", [problem]);
}

#[cfg(test)]
mod tests {
    use super::{JudgedScope, judge};
    use jelly_base::model::{
        FailureReport, IterationReport, KnownEntry, PlanReport, RunReport, StaleReason, StepReport,
        StepState, Verdict,
    };

    fn plan(name: &str, step: StepState, cause: &str) -> RunReport {
        let mut failure = FailureReport {
            server: Some("s".into()),
            step: Some("a".into()),
            ..FailureReport::default()
        };
        failure.diagnosis.fingerprint = cause.to_owned();
        let failures = match step {
            StepState::Failed => vec![failure],
            _ => Vec::new(),
        };
        RunReport {
            plan: PlanReport {
                name: name.into(),
                ..PlanReport::default()
            },
            verdict: Verdict::PassedWithKnown,
            iterations: vec![IterationReport {
                steps: vec![StepReport {
                    id: "a".into(),
                    server: "s".into(),
                    state: step,
                    ..StepReport::default()
                }],
                failures,
                ..IterationReport::default()
            }],
            ..RunReport::default()
        }
    }

    fn entry(test: &str, cause: &str) -> KnownEntry {
        let set = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        KnownEntry {
            test: set(test),
            fingerprint: set(cause),
            any_test: test.is_empty(),
            ..KnownEntry::default()
        }
    }

    #[test]
    fn an_entry_is_stale_where_its_reason_is_gone() {
        let all = JudgedScope::AllPlans;
        let named = JudgedScope::NamedPlans;
        let flaky = KnownEntry {
            flaky: true,
            ..entry("p > s > a", "")
        };
        let expired = KnownEntry {
            expires: Some("2026-11-24".into()),
            ..entry("q > s > a", "")
        };
        for (entry, scope, wanted) in [
            (
                entry("p > s > a", ""),
                named,
                Some((0, StaleReason::Passed)),
            ),
            (flaky, all, None),
            (entry("q > s > a", ""), all, None),
            // It did not run.
            (entry("r > s > a", ""), all, None),
            (entry("z > s > a", ""), all, None),
            (entry("", "j2:q"), all, None),
            // A step was left out that might have shown it.
            (entry("", "j2:x"), all, None),
            (entry("", "j2:x"), named, None),
            (expired, named, Some((1, StaleReason::Expired))),
        ] {
            let mut reports = [
                plan("p", StepState::Passed, ""),
                plan("q", StepState::Failed, "j2:q"),
                plan("r", StepState::Skipped, ""),
            ];
            let entries = [entry];
            judge(&entries, (&mut reports, &|_| None), scope, "2026-11-25");
            let found = reports.iter().enumerate().find_map(|(at, report)| {
                let stale = report.known_stale.first()?;
                assert_eq!(report.verdict, Verdict::NeedsUserHelp);
                assert_eq!(report.exit_code, 3);
                Some((at, stale.because))
            });
            assert_eq!(found, wanted, "{entries:?}");
        }

        let mut whole = [plan("p", StepState::Passed, "")];
        judge(
            &[entry("", "j2:x")],
            (&mut whole, &|_| None),
            all,
            "2026-11-25",
        );
        assert_eq!(whole[0].known_stale[0].because, StaleReason::NotSeen);
    }
}
