//! How far the steps of an iteration got, as far as the steps behind them rest
//! on that.

use super::revision::definitions;
use super::seen::{
    Foundations, NEW_SNAPSHOT, Observation, PassedBefore, Seen, StepFacts, needs_proof,
};
use jelly_base::model::{IterationRecord, Outcome, Section, Side, StepReport, StepState};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How far a step got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ran {
    /// It was sent, and answered rightly or wrongly: what its server did then is
    /// the server's own affair.
    Done,
    /// Its server died of it, or at some time that nobody knows; what comes
    /// after finds a fresh one.
    Died,
    /// It was sent, and plan or environment kept it from its end, or nobody
    /// knows what did.
    FailedTestSide,
    /// Left out, blocked, quarantined or cut off.
    NotRun,
}

impl Ran {
    /// What stands behind it finds its server as the plan means it to, or the
    /// server's own fault.
    fn can_be_built_on(self) -> bool {
        match self {
            // A mismatch on a server that was restarted is excused for that.
            Self::Done | Self::Died => true,
            Self::FailedTestSide | Self::NotRun => false,
        }
    }
}

/// A step of an iteration, in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierStep {
    pub id: String,
    pub server: String,
    pub section: Section,
    pub ran: Ran,
}

/// The steps of an iteration, in the plan's order.
#[must_use]
pub fn earlier_steps(record: &IterationRecord, failures: &[Seen]) -> Vec<EarlierStep> {
    let mut ends: BTreeMap<&str, Ran> = BTreeMap::new();
    for seen in failures {
        let Some(step) = seen.failure.step.as_deref() else {
            continue;
        };
        let ran = if seen.failure.outcome == Some(Outcome::Eof) {
            Ran::Died
        } else if seen.diagnosis.side == Side::Test
            && !needs_proof(&seen.failure, &seen.diagnosis)
            // It was answered; what is missing is something to hold that against.
            && seen.diagnosis.root_cause != NEW_SNAPSHOT
        {
            Ran::FailedTestSide
        } else {
            Ran::Done
        };
        let end = ends.entry(step).or_insert(ran);
        *end = ran.max(*end);
    }
    // Who died while no step was under way, nobody can say before which.
    let known: BTreeSet<&str> = record
        .steps
        .iter()
        .filter(|step| ends.get(step.id.as_str()) == Some(&Ran::Died))
        .map(|step| step.server.as_str())
        .collect();
    let restarted: BTreeSet<&str> = record
        .servers
        .iter()
        .filter(|server| server.restarts > 0 && !known.contains(server.name.as_str()))
        .map(|server| server.name.as_str())
        .collect();
    let ran = |step: &StepReport| match step.state {
        StepState::Failed => match ends.get(step.id.as_str()) {
            Some(ran) => *ran,
            // Nobody knows what became of it.
            None => Ran::FailedTestSide,
        },
        StepState::Passed if restarted.contains(step.server.as_str()) => Ran::Died,
        StepState::Passed => Ran::Done,
        StepState::Blocked | StepState::Quarantined | StepState::Skipped => Ran::NotRun,
    };
    record
        .steps
        .iter()
        .map(|step| EarlierStep {
            id: step.id.clone(),
            server: step.server.clone(),
            section: step.section,
            ran: ran(step),
        })
        .collect()
}

/// What the steps of one iteration rested on, worked out when it is first asked
/// for.
pub(super) struct StepDependencies<'a> {
    earlier: EarlierSteps,
    facts: &'a Foundations,
    definitions: OnceCell<BTreeMap<String, u64>>,
}

impl<'a> StepDependencies<'a> {
    pub fn new(observation: &Observation<'a>) -> Self {
        Self {
            earlier: EarlierSteps::new(earlier_steps(observation.record, observation.failures)),
            facts: observation.steps,
            definitions: OnceCell::new(),
        }
    }

    /// What the step rested on, all of it.
    pub fn definition(&self, step: &str) -> Option<u64> {
        let all = || definitions(self.facts, &self.earlier.steps);
        self.definitions.get_or_init(all).get(step).copied()
    }

    /// How far each step of the iteration got.
    pub fn earlier(&self) -> &[EarlierStep] {
        &self.earlier.steps
    }

    /// The step that keeps what was seen of this one from being proof: see
    /// [`EarlierSteps::not_done_before`]. None where it passed before with the very same left
    /// undone.
    pub fn gap_before(&self, step: &str, passed_before: &PassedBefore) -> Option<&EarlierStep> {
        let is_startup = |id: &str| self.facts.get(id).is_some_and(|facts| facts.is_startup);
        let own = self.facts.get(step)?;
        let gap = self.earlier.not_done_before(step, own, is_startup)?;
        let passed = self.definition(step).is_some_and(|d| passed_before.has(d));
        (!passed).then_some(gap)
    }
}

/// The steps of one iteration, and where those are that can't be built on: few,
/// of what may be thousands.
struct EarlierSteps {
    steps: Vec<EarlierStep>,
    places: HashMap<String, usize>,
    gaps: Vec<usize>,
}

impl EarlierSteps {
    fn new(steps: Vec<EarlierStep>) -> Self {
        let with_places = || steps.iter().enumerate();
        let places = with_places().map(|(at, step)| (step.id.clone(), at));
        let gaps = with_places().filter(|(_, step)| !step.ran.can_be_built_on());
        Self {
            places: places.collect(),
            gaps: gaps.map(|(at, _)| at).collect(),
            steps,
        }
    }

    /// The first step that `step` builds on and that did not get far enough: of
    /// its server, of set-up, or a source of its captures. Steps that stand
    /// behind it in the plan are none of its affair. To look at a start changes
    /// nothing, and a start comes before all steps.
    fn not_done_before(
        &self,
        step: &str,
        facts: &StepFacts,
        is_startup: impl Fn(&str) -> bool,
    ) -> Option<&EarlierStep> {
        if facts.is_startup {
            return None;
        }
        let own = *self.places.get(step)?;
        let server = &self.steps[own].server;
        let before = self.gaps.iter().take_while(|at| **at < own);
        before.map(|at| &self.steps[*at]).find(|other| {
            other.section == Section::Setup
                || other.server == *server && !is_startup(&other.id)
                || facts.steps.contains(&other.id)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{EarlierStep, EarlierSteps, Ran};
    use crate::triage_loop::StepFacts;
    use jelly_base::model::Section;
    use std::collections::BTreeSet;

    fn step(id: &str, server: &str, section: Section, ran: Ran) -> EarlierStep {
        EarlierStep {
            id: id.into(),
            server: server.into(),
            section,
            ran,
        }
    }

    #[test]
    fn a_step_builds_on_set_up_its_server_and_its_captures() {
        let facts = StepFacts {
            steps: BTreeSet::from(["it".to_owned(), "source".to_owned()]),
            ..StepFacts::default()
        };
        let of = |id: &str, server: &str, section, ran| {
            let earlier = EarlierSteps::new(vec![
                step(id, server, section, ran),
                step("it", "own", Section::Steps, Ran::Done),
                step("later", "own", Section::Steps, Ran::NotRun),
            ]);
            let is_startup = |id: &str| id.starts_with("startup:");
            let gap = earlier.not_done_before("it", &facts, is_startup);
            gap.map(|step| step.id.clone())
        };
        for ran in [Ran::NotRun, Ran::FailedTestSide] {
            assert_eq!(of("up", "other", Section::Setup, ran), Some("up".into()));
            assert_eq!(of("a", "own", Section::Steps, ran), Some("a".into()));
            let source = of("source", "other", Section::Steps, ran);
            assert_eq!(source, Some("source".into()));
            assert_eq!(of("a", "other", Section::Steps, ran), None);
        }
        assert_eq!(of("up", "own", Section::Setup, Ran::Done), None);
        let startup = of("startup:own", "own", Section::Steps, Ran::NotRun);
        assert_eq!(startup, None);
    }
}
