//! The failures of a run by their causes, each looked up once: there may be
//! thousands.

use super::help_problem::{Case, sightings};
use super::proofs::Proof;
use super::seen::NEW_SNAPSHOT;
use jelly_base::model::{ActionKind, FailureReport, IterationReport, Side, StepState, deciding};
use std::collections::{HashMap, HashSet};

/// What failures of one problem have in common.
type Cause<'a> = (&'a str, Option<&'a str>, Side);

fn cause_of(failure: &FailureReport) -> Cause<'_> {
    let diagnosis = &failure.diagnosis;
    (
        &diagnosis.fingerprint,
        failure.server.as_deref(),
        diagnosis.side,
    )
}

/// How often the failures of each cause were seen, by iteration.
pub(super) struct Sightings<'a>(HashMap<(u32, Cause<'a>), Vec<u32>>);

/// Of all iterations.
pub(super) fn sightings_by_cause(iterations: &[IterationReport]) -> Sightings<'_> {
    let mut all: HashMap<(u32, Cause<'_>), Vec<u32>> = HashMap::new();
    for iteration in iterations {
        for failure in &iteration.failures {
            let seen = all.entry((iteration.index, cause_of(failure))).or_default();
            seen.push(sightings(&failure.diagnosis));
        }
    }
    Sightings(all)
}

impl Sightings<'_> {
    /// How often each failure of a problem was seen.
    pub(super) fn of(&self, case: &Case<'_>) -> Vec<u32> {
        let key = (case.iteration.index, cause_of(case.failure));
        self.0.get(&key).cloned().unwrap_or_default()
    }
}

/// The failures for which an iteration was followed by another: tests by their
/// fingerprints, and steps.
pub(super) struct Again<'a> {
    tests: HashSet<&'a str>,
    steps: HashSet<&'a str>,
}

impl<'a> Again<'a> {
    pub(super) fn of(iteration: &'a IterationReport) -> Self {
        let kind = iteration.action.kind;
        let asks = |failure: &&FailureReport| match kind {
            ActionKind::Retry => failure.diagnosis.retryable == Some(true),
            ActionKind::Confirm => {
                failure.assertion.is_some() && failure.diagnosis.side == Side::Test
            }
            _ => false,
        };
        let asking = || iteration.failures.iter().filter(asks);
        Self {
            tests: asking()
                .map(|failure| failure.diagnosis.test_fingerprint.as_str())
                .collect(),
            steps: asking()
                .filter_map(|failure| failure.step.as_deref())
                .collect(),
        }
    }

    pub(super) fn is_about(&self, case: &Case<'_>) -> bool {
        let of_test = |own: &FailureReport| {
            let test = own.diagnosis.test_fingerprint.as_str();
            self.tests.contains(test)
        };
        let step = case.failure.step.as_deref();
        case.failures().any(of_test) || step.is_some_and(|step| self.steps.contains(step))
    }
}

/// Problems as they are found, with where each stands.
#[derive(Default)]
struct Cases<'a> {
    all: Vec<Case<'a>>,
    by_cause: HashMap<Cause<'a>, usize>,
    steps: HashSet<(usize, &'a str)>,
    /// Steps of the failures that decide.
    known: HashSet<Option<&'a str>>,
}

/// The problems of the last iteration, one for each cause and server; and what
/// earlier ones proved, or took out of the run.
pub(super) fn cases<'a>(
    last: &'a IterationReport,
    before: &'a [IterationReport],
    proofs: &[Proof],
) -> Vec<Case<'a>> {
    let mut cases = Cases::default();
    for failures in last.failures_by_step() {
        cases.add(failures, last);
    }
    let steps = last.steps.iter();
    let quarantined = steps.filter(|step| step.state == StepState::Quarantined);
    let quarantined: HashSet<&str> = quarantined.map(|step| step.id.as_str()).collect();
    for iteration in before.iter().rev() {
        for failures in iteration.failures_by_step() {
            let Some(failure) = deciding(failures) else {
                continue;
            };
            let step = failure.step.as_deref();
            let taken_out =
                step.is_some_and(|step| quarantined.contains(step)) && !cases.known.contains(&step);
            // A crash that did not come back was a crash all the same, and a
            // server that no longer starts takes nothing back.
            let stands = proofs.iter().any(|proof| {
                proof.iteration == iteration.index
                    && proof.step == failure.step
                    && proof.server == failure.server
                    && proof.test_fingerprint == failure.diagnosis.test_fingerprint
            });
            if taken_out || stands {
                cases.add(failures, iteration);
            }
        }
    }
    cases.all
}

impl<'a> Cases<'a> {
    /// Adds the failures of one step: the one that decides is the problem, and the
    /// others stand beside it.
    fn add(&mut self, failures: &'a [FailureReport], iteration: &'a IterationReport) {
        let Some(failure) = deciding(failures) else {
            return;
        };
        let (fingerprint, server, side) = cause_of(failure);
        // Many new snapshots are one thing to do, whatever their names.
        let cause = match failure.diagnosis.root_cause == NEW_SNAPSHOT {
            true => (NEW_SNAPSHOT, server, side),
            false => (fingerprint, server, side),
        };
        let at = *self.by_cause.entry(cause).or_insert(self.all.len());
        if at == self.all.len() {
            self.known.insert(failure.step.as_deref());
            self.all.push(Case {
                failure,
                others: Vec::new(),
                iteration,
                steps: Vec::new(),
            });
        }
        let case = &mut self.all[at];
        if let Some(step) = failure.step.as_deref()
            && self.steps.insert((at, step))
        {
            case.steps.push(step);
        }
        for other in failures {
            let known =
                |known: &FailureReport| known.diagnosis.fingerprint == other.diagnosis.fingerprint;
            if !known(case.failure) && !case.others.iter().any(|other| known(other)) {
                case.others.push(other);
            }
        }
    }
}
