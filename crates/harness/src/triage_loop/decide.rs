//! The loop as a pure state machine: what an iteration showed goes in, what
//! happens next comes out. No I/O, no clock, no chance but a seed.
//!
//! [`LoopState::decide`] is the whole of it. It leaves the state alone and
//! returns the next one, so that the driver can drop a proposal that can't be
//! applied after all and ask again.

use super::ask::{Ask, ask};
use super::backoff;
use super::budget_ledger::BudgetLedger;
use super::earlier::StepDependencies;
use super::judge::{Judged, Known, judge};
use super::loop_limit::LoopLimit;
use super::memory::{Memory, Tried};
use super::one_side;
use super::proofs::{Proof, Proofs};
use super::reason;
use super::seen::{Observation, Policy};
use super::standing::{Standings, standings};
use crate::repair::Proposal;
use jelly_base::model::{
    ActionKind, BeforeAfter, BudgetsReport, Side, Spent, StepReport, StepState, Track,
};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::time::Duration;

/// What happens after an iteration.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Never empty, and no two of one kind for one target.
    RepairMcpPlan(Vec<Proposal>),
    Retry,
    Confirm,
    FixTests,
    RefineCode,
    Stop,
}

impl Action {
    #[must_use]
    pub fn kind(&self) -> ActionKind {
        match self {
            Self::RepairMcpPlan(_) => ActionKind::RepairMcpPlan,
            Self::Retry => ActionKind::Retry,
            Self::Confirm => ActionKind::Confirm,
            Self::FixTests => ActionKind::FixTests,
            Self::RefineCode => ActionKind::RefineCode,
            Self::Stop => ActionKind::Stop,
        }
    }
}

/// A step that passed after failing, with nothing changed in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaky {
    pub step: String,
    /// Failures up to this iteration had another cause, which was mended.
    pub mended: u32,
}

/// An iteration as judged, and what comes next.
#[derive(Debug, Clone)]
pub struct Decision {
    /// In the order of the iteration's failures.
    pub judged: Vec<Judged>,
    pub action: Action,
    /// A sentence.
    pub reason: String,
    /// The tracks that the action serves, each charged once.
    pub charged: Vec<Track>,
    /// How long to wait first; present exactly when a retry is served.
    pub backoff: Option<Duration>,
    pub budgets: BeforeAfter,
    /// Steps that passed after failing on the same plan and code.
    pub flaky_steps: Vec<Flaky>,
    pub standings: Standings,
    /// What keeps each failure from its next step, where the loop stops.
    pub loop_limits: Vec<Option<LoopLimit>>,
}

/// The longest pause that a server asked for which may pass by itself.
fn pause_asked_for(judged: &[Judged]) -> Option<Duration> {
    let retryable = judged
        .iter()
        .filter(|judged| judged.diagnosis.retryable == Some(true));
    retryable
        .filter_map(|judged| judged.failure.http.as_ref()?.retry_after())
        .max()
}

/// What the loop knows between two iterations.
#[derive(Debug, Clone)]
pub struct LoopState {
    policy: Policy,
    ledger: BudgetLedger,
    memory: Memory,
    code_revision: u32,
    /// What was held against the code, and still is.
    proofs: Proofs,
}

impl LoopState {
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self {
            ledger: BudgetLedger::new(policy.budgets),
            policy,
            memory: Memory::default(),
            code_revision: 0,
            proofs: Proofs::default(),
        }
    }

    /// Judges an iteration and says what comes next, with the state after it.
    #[must_use]
    pub fn decide(&self, observation: &Observation<'_>) -> (Decision, Self) {
        let mut next = self.clone();
        next.memory.mark_ineffective(observation);
        let dependencies = StepDependencies::new(observation);
        let proven_code = OnceCell::new();
        let mut judged: Vec<Judged> = observation
            .failures
            .iter()
            .map(|seen| {
                let known = Known {
                    observation,
                    dependencies: &dependencies,
                    memory: &next.memory,
                    code_revision: self.code_revision,
                    policy: &self.policy,
                    proven_code: &proven_code,
                };
                judge(seen, &known)
            })
            .collect();
        one_side::settle(&mut judged);
        let flaky_steps = self.flaky_steps(observation);
        next.proofs.take_in(
            observation.index,
            observation.record,
            &judged,
            self.code_revision,
        );
        next.ledger.iterated(observation.index);
        let before = next.ledger.report();
        let standings = standings(observation.record, &judged, !next.proofs.all().is_empty());
        let decision = Decision {
            flaky_steps,
            ..next.choose(observation, judged, standings, before)
        };
        // Of a run that passes at once nobody asks what it remembers.
        if decision.action != Action::Stop || !observation.failures.is_empty() {
            let passed_before = &self.policy.passed_before;
            next.memory.record(
                observation,
                &dependencies,
                passed_before,
                self.code_revision,
            );
        }
        (decision, next)
    }

    #[must_use]
    pub fn budgets(&self) -> BudgetsReport {
        self.ledger.report()
    }

    #[must_use]
    pub fn spent(&self) -> Spent {
        self.ledger.spent()
    }

    /// The repairs of this run so far.
    #[must_use]
    pub fn tried(&self) -> &[Tried] {
        &self.memory.tried
    }

    /// The hook of this track did not say that something changed: the track
    /// ends, whatever is left of its budget.
    pub fn close(&mut self, track: Track) {
        self.ledger.close(track);
    }

    /// A hook's run was charged though the decision is made anew without it.
    pub fn charge(&mut self, track: Track) {
        self.ledger.charge(track);
    }

    /// The code was changed: what was seen before proves nothing of it. What was
    /// held against the code stands until it is seen to be well.
    pub fn code_refined(&mut self) {
        self.code_revision = self.code_revision.saturating_add(1);
    }

    /// What was held against the code, and still is.
    #[must_use]
    pub fn proofs(&self) -> &[Proof] {
        self.proofs.all()
    }

    /// After this iteration, the plan was written anew by its owner.
    pub fn plan_replaced(&mut self, iteration: u32) {
        self.memory.plan_replaced(iteration);
    }

    fn flaky_steps(&self, observation: &Observation<'_>) -> Vec<Flaky> {
        if self.memory.saw_no_failure() {
            return Vec::new();
        }
        let flaky = |step: &StepReport| {
            let facts = observation.steps.get(&step.id)?;
            let revision = facts.at(self.code_revision);
            let mended = self.memory.flickered(&step.id, facts, revision)?;
            Some(Flaky {
                step: step.id.clone(),
                mended,
            })
        };
        observation
            .record
            .steps
            .iter()
            .filter(|step| step.state == StepState::Passed)
            .filter_map(flaky)
            .collect()
    }

    /// Lets the failures ask, hears the strongest and charges what it serves.
    fn choose(
        &mut self,
        observation: &Observation<'_>,
        mut judged: Vec<Judged>,
        standings: Standings,
        before: BudgetsReport,
    ) -> Decision {
        let mut asks = Vec::with_capacity(judged.len());
        for (seen, judged) in observation.failures.iter().zip(&mut judged) {
            let (ask, proposal) = ask(seen, judged, &self.memory, &self.ledger, &self.policy);
            judged.diagnosis.repair = proposal.map(|p| p.id.name().to_owned());
            asks.push((ask, proposal));
        }
        let strongest = self.hear(&asks, &judged, &standings);
        let (loop_limits, loop_limit) =
            self.loop_limits(observation, &judged, &standings, strongest);
        let stop = reason::to_stop(
            observation,
            &self.policy,
            &judged,
            &standings,
            (strongest, loop_limit),
        );
        let action = match strongest {
            _ if stop.is_some() => Action::Stop,
            Ask::Repair | Ask::Quarantine => {
                Action::RepairMcpPlan(self.take_repairs(observation, &asks, strongest))
            }
            Ask::Retry => Action::Retry,
            Ask::Confirm => Action::Confirm,
            Ask::FixTests => Action::FixTests,
            Ask::RefineCode => Action::RefineCode,
            Ask::Nothing => Action::Stop,
        };
        let charged = match &action {
            Action::Stop => Vec::new(),
            _ => self.charge_for(strongest, &asks, &judged),
        };
        let (seed, nth) = (self.policy.seed, self.spent().retries);
        Decision {
            backoff: backoff::due(&charged, seed, nth, pause_asked_for(&judged)),
            budgets: BeforeAfter {
                before,
                after: self.budgets(),
            },
            flaky_steps: Vec::new(),
            standings,
            loop_limits: match stop {
                Some(_) => loop_limits,
                None => Vec::new(),
            },
            reason: stop.unwrap_or_else(|| reason::to_go_on(&action, &judged, &asks)),
            judged,
            action,
            charged,
        }
    }

    /// What each failure, and what the strongest of them, would need to go on:
    /// iterations where they ask for something, else the budget without which
    /// they don't.
    fn loop_limits(
        &self,
        observation: &Observation<'_>,
        judged: &[Judged],
        standings: &Standings,
        strongest: Ask,
    ) -> (Vec<Option<LoopLimit>>, Option<LoopLimit>) {
        if strongest != Ask::Nothing {
            let loop_limit = if observation.time_left {
                LoopLimit::Iterations {
                    of: self.policy.budgets.max_iterations,
                    next: strongest.next(),
                }
            } else {
                LoopLimit::Deadline(self.policy.budgets.deadline)
            };
            let failures = observation.failures.iter().zip(judged);
            // It is no advice for what would not be tried again anyway.
            let limits = failures.map(|(seen, judged)| {
                let own = ask(seen, judged, &self.memory, &self.ledger, &self.policy).0;
                (own != Ask::Nothing).then_some(loop_limit)
            });
            return (limits.collect(), Some(loop_limit));
        }
        let endless = self.ledger.without_end(self.policy.means);
        let asks: Vec<(Ask, Option<&Proposal>)> = observation
            .failures
            .iter()
            .zip(judged)
            .map(|(seen, judged)| ask(seen, judged, &self.memory, &endless, &self.policy))
            .collect();
        let next = self.hear(&asks, judged, standings);
        let reached = |ask: Ask| LoopLimit::reached_by(ask, &self.policy);
        let loop_limits = asks.iter().map(|(ask, _)| match ask {
            // Not while anything else is in doubt.
            Ask::RefineCode if next != Ask::RefineCode => None,
            ask => reached(*ask),
        });
        (loop_limits.collect(), reached(next))
    }

    /// The strongest ask. The code is refined only when nothing else is left
    /// to doubt: no failure of the tests, no expectation that never held.
    fn hear(
        &self,
        asks: &[(Ask, Option<&Proposal>)],
        judged: &[Judged],
        standings: &Standings,
    ) -> Ask {
        let strongest = asks.iter().map(|(ask, _)| *ask).min();
        let doubtful = !self.policy.trust_plan && judged.iter().any(Judged::is_doubtful);
        // That somebody knew of it makes nothing of the tests whole.
        let known = |one: &Judged| one.known.is_some() && one.diagnosis.side == Side::Test;
        let test_side = standings.test_side || judged.iter().any(known);
        match strongest {
            None => Ask::Nothing,
            Some(Ask::RefineCode) if test_side || doubtful => Ask::Nothing,
            Some(ask) => ask,
        }
    }

    /// The repairs that failures ask for, each once, remembered as tried.
    fn take_repairs(
        &mut self,
        observation: &Observation<'_>,
        asks: &[(Ask, Option<&Proposal>)],
        wanted: Ask,
    ) -> Vec<Proposal> {
        let mut taken: Vec<Proposal> = Vec::new();
        for (ask, proposal) in asks {
            let Some(proposal) = proposal.filter(|_| *ask == wanted) else {
                continue;
            };
            let known = |p: &Proposal| p.id == proposal.id && p.target == proposal.target;
            if taken.iter().any(known) {
                continue;
            }
            let fingerprints: BTreeSet<String> = asks
                .iter()
                .zip(observation.failures)
                .filter(|((ask, other), _)| *ask == wanted && other.is_some_and(known))
                .map(|(_, seen)| seen.diagnosis.test_fingerprint.clone())
                .collect();
            self.memory
                .tried
                .push(Tried::new(observation.index, proposal, fingerprints));
            taken.push(proposal.clone());
        }
        taken
    }

    /// Charges once every track that an action serves: a rerun is a rerun,
    /// whatever it was for.
    fn charge_for(
        &mut self,
        strongest: Ask,
        asks: &[(Ask, Option<&Proposal>)],
        judged: &[Judged],
    ) -> Vec<Track> {
        let served: BTreeSet<Track> = asks
            .iter()
            // Those who ask for no more than another run get it by any action
            // that runs the plan again; nothing weaker is chosen while they ask.
            .filter(|(ask, _)| *ask == strongest || matches!(ask, Ask::Retry | Ask::Confirm))
            .filter_map(|(ask, _)| ask.track())
            .collect();
        for track in &served {
            self.ledger.charge(*track);
        }
        let mut confirmed = BTreeSet::new();
        for ((ask, _), judged) in asks.iter().zip(judged) {
            let fingerprint = judged.diagnosis.test_fingerprint.as_str();
            if *ask == Ask::Confirm && confirmed.insert(fingerprint) {
                self.ledger.charge_confirm(fingerprint);
            }
        }
        served.into_iter().collect()
    }
}
