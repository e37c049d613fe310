//! What the loop remembers of a run's earlier iterations.

use super::earlier::StepDependencies;
use super::seen::{Observation, PassedBefore, Revision, StepFacts, needs_proof};
use crate::repair::{Proposal, RepairId};
use jelly_base::model::{ErrorCategory, Failure, Outcome, StepState};
use std::collections::{BTreeMap, BTreeSet};

/// A repair that was applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// The iteration that it followed.
    pub iteration: u32,
    pub id: RepairId,
    pub target: String,
    /// The test fingerprints that it was meant to end.
    pub fingerprints: BTreeSet<String>,
    pub steps: BTreeSet<String>,
    pub servers: BTreeSet<String>,
    /// One of its fingerprints came back.
    pub ineffective: bool,
}

/// The mismatches of one step on one revision, by iteration.
pub(super) type Mismatches = Vec<BTreeSet<String>>;

/// When a step failed.
#[derive(Debug, Clone)]
struct Failed {
    iteration: u32,
    /// A step before it that it builds on, and that did not get far enough.
    behind: Option<String>,
}

/// What happened in the iterations before.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    /// The iterations in which a test fingerprint was seen.
    sightings: BTreeMap<String, Vec<u32>>,
    mismatches: BTreeMap<(String, Revision), Mismatches>,
    /// The steps that had a mismatch, whatever it proves.
    wrong: BTreeSet<(String, Revision)>,
    passes: BTreeMap<String, BTreeSet<Revision>>,
    /// [Definitions](super::definitions) of the steps that passed, on whatever
    /// code.
    passed_definitions: BTreeSet<u64>,
    /// The last failure of a step on a revision.
    failed: BTreeMap<(String, Revision), Failed>,
    /// Whose time ran out in the iteration before.
    timed_out: BTreeSet<String>,
    pub(super) tried: Vec<Tried>,
    /// The last iteration that a change of the tests followed.
    tests_fixed: u32,
}

/// Whether a limit of the harness ran out.
pub(super) fn is_timeout(failure: &Failure, category: Option<ErrorCategory>) -> bool {
    failure.outcome == Some(Outcome::Timeout) || category == Some(ErrorCategory::Timeout)
}

/// Whose failure it is, as a key.
fn target(failure: &Failure) -> String {
    format!(
        "{}/{}",
        failure.server.as_deref().unwrap_or_default(),
        failure.step.as_deref().unwrap_or_default()
    )
}

impl Memory {
    /// First iteration and number of the earlier iterations with this test
    /// fingerprint.
    pub(super) fn sighted(&self, fingerprint: &str) -> Option<(u32, u32)> {
        let seen = self.sightings.get(fingerprint)?;
        Some((
            *seen.first()?,
            u32::try_from(seen.len()).unwrap_or(u32::MAX),
        ))
    }

    /// What this step got wrong in earlier iterations on this revision.
    pub(super) fn mismatches(&self, step: &str, revision: Revision) -> &[BTreeSet<String>] {
        self.mismatches
            .get(&(step.to_owned(), revision))
            .map_or(&[], Vec::as_slice)
    }

    /// This very mismatch was seen twice on earlier code and the same plan,
    /// and nothing else of the step: refining has not touched it. Code only
    /// moves on, so another revision is an earlier one.
    pub(super) fn outlived_refining(
        &self,
        step: &str,
        revision: Revision,
        fingerprint: &str,
    ) -> bool {
        self.mismatches.iter().any(|((name, earlier), sightings)| {
            name == step
                && earlier.plan == revision.plan
                && earlier.code != revision.code
                && sightings.len() > 1
                && sightings.iter().all(|seen| seen.contains(fingerprint))
        })
    }

    /// This step had a mismatch on this revision.
    pub(super) fn was_wrong(&self, step: &str, revision: Revision) -> bool {
        self.wrong.contains(&(step.to_owned(), revision))
    }

    pub(super) fn passed_on(&self, step: &str, revision: Revision) -> bool {
        self.passes
            .get(step)
            .is_some_and(|passes| passes.contains(&revision))
    }

    /// A step of this definition passed, on whatever code.
    pub(super) fn passed_as_defined(&self, definition: u64) -> bool {
        self.passed_definitions.contains(&definition)
    }

    pub(super) fn timed_out_before(&self, failure: &Failure) -> bool {
        self.timed_out.contains(&target(failure))
    }

    /// A repair changed how this step, or one that it builds on, reaches its
    /// server.
    pub(super) fn repaired(&self, facts: &StepFacts) -> bool {
        self.tried.iter().any(|tried| tried.concerns(facts))
    }

    pub(super) fn is_ineffective(&self, proposal: &Proposal) -> bool {
        self.tried.iter().any(|tried| {
            tried.ineffective && tried.id == proposal.id && tried.target == proposal.target
        })
    }

    /// Repairs whose fingerprints came back did not help.
    pub(super) fn mark_ineffective(&mut self, observation: &Observation<'_>) {
        for tried in &mut self.tried {
            if observation
                .failures
                .iter()
                .any(|f| tried.fingerprints.contains(&f.diagnosis.test_fingerprint))
            {
                tried.ineffective = true;
            }
        }
    }

    /// No step failed so far.
    pub(super) fn saw_no_failure(&self) -> bool {
        self.failed.is_empty()
    }

    /// Whether it failed on this revision since the last change that concerns
    /// it, or what it was behind; then the iteration which that change followed, 0 without one.
    pub(super) fn flickered(
        &self,
        step: &str,
        facts: &StepFacts,
        revision: Revision,
    ) -> Option<u32> {
        let failed = self.failed.get(&(step.to_owned(), revision))?;
        let behind = failed.behind.as_ref();
        let mended = self
            .tried
            .iter()
            .filter(|tried| {
                tried.concerns(facts) || behind.is_some_and(|step| tried.steps.contains(step))
            })
            .map(|tried| tried.iteration)
            .fold(self.tests_fixed, u32::max);
        (failed.iteration > mended).then_some(mended)
    }

    /// The plan file was written anew: what was edited in memory is gone.
    pub(super) fn plan_replaced(&mut self, iteration: u32) {
        self.tried.clear();
        self.tests_fixed = iteration;
    }

    /// Takes this iteration in.
    pub(super) fn record(
        &mut self,
        observation: &Observation<'_>,
        dependencies: &StepDependencies<'_>,
        passed_before: &PassedBefore,
        code: u32,
    ) {
        self.timed_out.clear();
        let by_environment: BTreeSet<&str> = observation
            .failures
            .iter()
            .filter(|seen| {
                seen.failure.is_mismatch() && !needs_proof(&seen.failure, &seen.diagnosis)
            })
            .filter_map(|seen| seen.failure.step.as_deref())
            .collect();
        let mut mismatched: BTreeMap<(String, Revision), BTreeSet<String>> = BTreeMap::new();
        for seen in observation.failures {
            let fingerprint = &seen.diagnosis.test_fingerprint;
            let sightings = self.sightings.entry(fingerprint.clone()).or_default();
            if sightings.last() != Some(&observation.index) {
                sightings.push(observation.index);
            }
            if is_timeout(&seen.failure, seen.diagnosis.error_category) {
                self.timed_out.insert(target(&seen.failure));
            }
            let Some((step, _, revision)) = observation.revision_of(&seen.failure, code) else {
                continue;
            };
            if seen.failure.is_mismatch() {
                self.wrong.insert((step.to_owned(), revision));
            }
            // What a step saw on a server that had died before, or that lacked
            // what earlier steps do, is no sighting of the server as the plan
            // means it to be; what was not seen is none; and an answer that the
            // environment gave says nothing of the server's next one.
            let sighted = !seen.failure.after_restart
                && !by_environment.contains(step)
                && seen.failure.beyond().is_none()
                && dependencies.gap_before(step, passed_before).is_none();
            if seen.failure.is_mismatch() && sighted {
                mismatched
                    .entry((step.to_owned(), revision))
                    .or_default()
                    .insert(fingerprint.clone());
            }
        }
        for (key, fingerprints) in mismatched {
            self.mismatches.entry(key).or_default().push(fingerprints);
        }
        for step in &observation.record.steps {
            let Some(facts) = observation.steps.get(&step.id) else {
                continue;
            };
            let revision = facts.at(code);
            match step.state {
                StepState::Passed => {
                    self.passes
                        .entry(step.id.clone())
                        .or_default()
                        .insert(revision);
                    self.passed_definitions
                        .extend(dependencies.definition(&step.id));
                }
                StepState::Failed => {
                    let gap = dependencies.gap_before(&step.id, passed_before);
                    let failed = Failed {
                        iteration: observation.index,
                        behind: gap.map(|gap| gap.id.clone()),
                    };
                    self.failed.insert((step.id.clone(), revision), failed);
                }
                StepState::Blocked | StepState::Quarantined | StepState::Skipped => {}
            }
        }
    }
}

impl Tried {
    pub(super) fn new(iteration: u32, proposal: &Proposal, fingerprints: BTreeSet<String>) -> Self {
        Self {
            iteration,
            id: proposal.id,
            target: proposal.target.clone(),
            fingerprints,
            steps: proposal.steps_touched.iter().cloned().collect(),
            servers: proposal.servers_touched.iter().cloned().collect(),
            ineffective: false,
        }
    }

    fn concerns(&self, facts: &StepFacts) -> bool {
        !self.steps.is_disjoint(&facts.steps) || !self.servers.is_disjoint(&facts.servers)
    }
}
