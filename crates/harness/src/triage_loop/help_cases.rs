//! The failures of a run by their causes, each looked up once: there may be
//! thousands.

use super::help_problem::{Case, sightings};
use super::proofs::Proof;
use super::seen::NEW_SNAPSHOT;
use jelly_base::model::{
    ActionKind, Because, FailureReport, IterationReport, Side, StepReport, StepState, deciding,
};
use jelly_plan::{Plan, Step};
use std::collections::{HashMap, HashSet};

/// What is asked of a run for each of its problems.
pub(super) struct Lookup<'a> {
    pub iterations: &'a [IterationReport],
    pub steps: HashMap<&'a str, &'a Step>,
    /// One for each iteration.
    pub again: Vec<Again<'a>>,
    blocked: Vec<Blocked<'a>>,
    /// Steps that passed in the last iteration.
    passed: HashSet<&'a str>,
}

impl<'a> Lookup<'a> {
    pub(super) fn of(iterations: &'a [IterationReport], plan: &'a Plan) -> Self {
        let last = iterations.last();
        let steps = last.iter().flat_map(|last| &last.steps);
        let passed = steps.filter(|step| step.state == StepState::Passed);
        Self {
            iterations,
            steps: plan.steps_by_id(),
            again: iterations.iter().map(Again::of).collect(),
            blocked: iterations.iter().map(Blocked::of).collect(),
            passed: passed.map(|step| step.id.as_str()).collect(),
        }
    }

    pub(super) fn passed_last(&self, step: &str) -> bool {
        self.passed.contains(step)
    }

    /// How many steps could not run because of this problem.
    pub(super) fn blocked_by(&self, case: &Case<'_>) -> u64 {
        let index = case.iteration.index;
        let mut all = self.iterations.iter().zip(&self.blocked);
        let of_iteration = all.find(|(iteration, _)| iteration.index == index);
        of_iteration.map_or(0, |(_, blocked)| blocked.by(case))
    }
}

/// How many steps of an iteration could not run, by what each waited for in the
/// end: through the steps that it waited for itself.
#[derive(Default)]
struct Blocked<'a> {
    by_step: HashMap<&'a str, u64>,
    by_server: HashMap<&'a str, u64>,
}

impl<'a> Blocked<'a> {
    fn of(iteration: &'a IterationReport) -> Self {
        let mut blocked = Self::default();
        let totals = iteration.totals;
        if totals.blocked + totals.skipped == 0 {
            return blocked;
        }
        let steps: HashMap<&str, &StepReport> = iteration
            .steps
            .iter()
            .map(|step| (step.id.as_str(), step))
            .collect();
        for step in iteration.steps.iter().filter(|step| waits(step)) {
            blocked.add(step, &steps);
        }
        blocked
    }

    fn add(&mut self, step: &'a StepReport, steps: &HashMap<&str, &'a StepReport>) {
        let mut at = step;
        // No chain is longer than there are steps.
        for _ in 0..steps.len() {
            let earlier = match &at.because {
                Some(Because::Server(name) | Because::ServerDown(name)) => {
                    return count(&mut self.by_server, name);
                }
                None => return count(&mut self.by_server, &at.server),
                Some(Because::Setup(id) | Because::Step(id)) => id,
                Some(_) => return,
            };
            match steps.get(earlier.as_str()) {
                Some(waiting) if waits(waiting) => at = waiting,
                Some(_) | None => return count(&mut self.by_step, earlier),
            }
        }
    }

    fn by(&self, case: &Case<'_>) -> u64 {
        let of = |counts: &HashMap<&str, u64>, name: &str| counts.get(name).copied().unwrap_or(0);
        match (&case.steps[..], &case.failure.server) {
            ([], Some(server)) => of(&self.by_server, server),
            (steps, _) => steps.iter().map(|step| of(&self.by_step, step)).sum(),
        }
    }
}

fn waits(step: &StepReport) -> bool {
    matches!(step.state, StepState::Blocked | StepState::Skipped)
}

fn count<'a>(counts: &mut HashMap<&'a str, u64>, name: &'a str) {
    *counts.entry(name).or_default() += 1;
}

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
        for failure in iteration.failures.iter().filter(|one| one.known.is_none()) {
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
        let standing = || iteration.failures.iter().filter(|one| one.known.is_none());
        let asking = || standing().filter(asks);
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
/// earlier ones proved, or took out of the run. What is known is no problem.
pub(super) fn cases<'a>(
    last: &'a IterationReport,
    before: &'a [IterationReport],
    proofs: &[Proof],
) -> Vec<Case<'a>> {
    let mut cases = Cases::default();
    let steps = last.steps.iter();
    let quarantined = steps.filter(|step| step.state == StepState::Quarantined);
    let quarantined: HashSet<&str> = quarantined.map(|step| step.id.as_str()).collect();
    // What a step was taken out for is told as of the iteration that saw it.
    let is_kept = |failures: &[FailureReport], before: Option<&IterationReport>| {
        let one = failures
            .first()
            .and_then(|one| Some((one, before?, one.step.as_deref()?)));
        one.is_some_and(|(one, before, step)| {
            quarantined.contains(step) && before.failures.contains(one)
        })
    };
    for failures in last.failures_by_step() {
        if !is_kept(failures, before.last()) {
            cases.add(failures, last);
        }
    }
    for (at, iteration) in before.iter().enumerate().rev() {
        let earlier = at.checked_sub(1).and_then(|at| before.get(at));
        for failures in iteration.failures_by_step() {
            let Some(failure) = deciding(failures).filter(|_| !is_kept(failures, earlier)) else {
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
        let standing = || failures.iter().filter(|one| one.known.is_none());
        let Some(failure) = deciding(standing()) else {
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
        for other in standing() {
            let known =
                |known: &FailureReport| known.diagnosis.fingerprint == other.diagnosis.fingerprint;
            if !known(case.failure) && !case.others.iter().any(|other| known(other)) {
                case.others.push(other);
            }
        }
    }
}
