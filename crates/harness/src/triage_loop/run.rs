//! The driver round the decision: it executes, waits, runs hooks, applies
//! repairs and hands out reports. What happens next is not its business.

use super::apply::{self, Inapplicable};
use super::assemble;
use super::decide::{Action, Decision, LoopState};
use super::earlier::{Ran, earlier_steps};
use super::executor::{Executor, IterationContext};
use super::hooks::{Hook, HookRunner};
use super::loop_limit::LoopLimit;
use super::reference_plans::ReferencePlans;
use super::revision::{Beside, StoredSnapshots, step_facts};
use super::seen::{Foundations, Observation, Policy, Seen};
use super::settings::{LoopSettings, Surroundings};
use super::standing::Standings;
use super::undo::LeftByHook;
use super::verdict::{Course, Ending};
use crate::code_identity::ServerCode;
use crate::repair::{Facts, Proposal, RepairId, propose};
use jelly_base::model::{
    ActionKind, Event, IterationRecord, IterationReport, RepairReport, RunReport, Signal,
};
use jelly_plan::{Plan, PlanSource};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// How a run of one plan ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub report: RunReport,
    /// The plan's text as its owner wrote it last.
    pub original: PlanSource,
    /// With the repairs that were applied; equal to the user's without any.
    pub final_plan: Rc<Plan>,
    pub ending: Ending,
    /// What the steps of the last iteration rested on, which the history
    /// compares: each by itself …
    pub steps: Rc<Foundations>,
    /// … and how far each of them got.
    pub ran: Vec<Ran>,
    /// What is proved of the code that its servers ran.
    pub code: ServerCode,
}

/// Runs a plan in the loop until it passes, fails, or needs help.
pub async fn run<'a, E: Executor, H: HookRunner>(
    plan: Plan,
    settings: &'a LoopSettings,
    surroundings: Surroundings<'a, E, H>,
) -> Outcome {
    let mut run = Run::new(plan, settings, surroundings);
    run.emit(Event::RunStarted {
        plan: run.plan.name.clone(),
        servers: run.plan.servers.len(),
        steps: run.plan.all_steps().count(),
    });
    while run.iterate().await {}
    run.finish()
}

/// What the steps of a plan rest on, with these snapshots stored for it.
#[must_use]
pub fn foundations(
    plan: &Rc<Plan>,
    settings: &LoopSettings,
    snapshots: StoredSnapshots,
) -> Foundations {
    let (plan, identity) = (plan.clone(), settings.plan_identity.clone());
    let (env, given) = (
        settings.env.clone(),
        settings.vars.keys().cloned().collect(),
    );
    let (workspace, results) = (settings.project_dir.clone(), settings.results.clone());
    Foundations::new(move || {
        let beside = Beside {
            snapshots: &snapshots,
            plan: &identity,
            env: &env,
            given: &given,
            workspace: &workspace,
            settings: &results,
        };
        step_facts(&plan, beside)
    })
}

/// A run in progress.
pub(super) struct Run<'a, E, H> {
    pub(super) settings: &'a LoopSettings,
    pub(super) around: Surroundings<'a, E, H>,
    pub(super) started: Instant,
    pub(super) deadline: Instant,
    /// As repaired so far.
    pub(super) plan: Rc<Plan>,
    /// As its owner wrote it last.
    pub(super) original: PlanSource,
    /// What hooks must not take away from.
    pub(super) reference_plans: ReferencePlans,
    pub(super) state: LoopState,
    pub(super) iterations: Vec<IterationReport>,
    pub(super) attempts: BTreeMap<String, u32>,
    pub(super) quarantined: BTreeSet<String>,
    pub(super) new_ports_for: BTreeSet<String>,
    pub(super) course: Course,
    pub(super) last: Standings,
    /// What the steps of the last iteration rested on.
    pub(super) steps: Rc<Foundations>,
    pub(super) ran: Vec<Ran>,
    pub(super) code: ServerCode,
    /// A hook ran since the last iteration.
    pub(super) after_hook: bool,
    /// What the last hook left that was not taken over.
    pub(super) left_by_hook: LeftByHook,
    pub(super) passed_over: Vec<PassedOver>,
    /// By test fingerprint, what keeps the failures of the last iteration from
    /// their next step.
    pub(super) loop_limits: BTreeMap<String, LoopLimit>,
    /// Failures that a signal left no time for.
    pub(super) left_out: usize,
}

impl<'a, E: Executor, H: HookRunner> Run<'a, E, H> {
    fn new(plan: Plan, settings: &'a LoopSettings, around: Surroundings<'a, E, H>) -> Self {
        let started = Instant::now();
        let plan = Rc::new(plan);
        let policy = Policy {
            budgets: settings.effective_budgets(),
            trust_plan: settings.trust_plan,
            passed_before: settings.passed_before.clone(),
            known: settings.known.clone(),
            seed: settings.seed,
            means: settings.means(),
        };
        Self {
            // An absurdly far deadline is none that could be missed.
            deadline: started
                .checked_add(settings.budgets.deadline)
                .unwrap_or_else(|| started + FAR),
            started,
            original: plan.source.clone(),
            reference_plans: ReferencePlans::new(plan.clone()),
            plan,
            state: LoopState::new(policy),
            iterations: Vec::new(),
            attempts: BTreeMap::new(),
            quarantined: BTreeSet::new(),
            new_ports_for: BTreeSet::new(),
            course: Course {
                accept_repairs: settings.accept_repairs,
                strict: settings.strict,
                ..Course::default()
            },
            last: Standings::default(),
            steps: Rc::default(),
            ran: Vec::new(),
            code: ServerCode::new(),
            after_hook: false,
            left_by_hook: LeftByHook::default(),
            passed_over: Vec::new(),
            loop_limits: BTreeMap::new(),
            left_out: 0,
            settings,
            around,
        }
    }

    pub(super) fn emit(&self, event: Event) {
        (self.around.events)(event);
    }

    /// One pass of the loop; says whether there is another.
    async fn iterate(&mut self) -> bool {
        self.course.iterations = self.course.iterations.saturating_add(1);
        let index = self.course.iterations;
        let began = Instant::now();
        let context = IterationContext {
            index,
            deadline: self.deadline,
            quarantined: &self.quarantined,
            new_ports_for: &self.new_ports_for,
            after_hook: std::mem::take(&mut self.after_hook),
        };
        // Before it runs, since it is what the answers are held against.
        let snapshots = (self.around.stored)(&self.plan);
        self.steps = Rc::new(foundations(&self.plan, self.settings, snapshots));
        let mut record = self.around.executor.execute(&self.plan, &context).await;
        self.new_ports_for.clear();
        self.code = self.around.executor.code();
        self.course.interrupted = record.interrupted;
        if record.unfinished {
            self.publish_unfinished(record.clone(), began);
            record = self.around.executor.rest().await.unwrap_or(record);
        }

        let mut pass = Pass {
            seen: self.look(&record),
            before: self.state.clone(),
            record,
        };
        self.left_out = pass.cut_to_what_was_seen();
        if let Some(signal) = self.heard() {
            self.course.interrupted = Some(signal);
            pass.record.interrupted = Some(signal);
            self.emit(Event::Interrupted);
        }
        let earlier = earlier_steps(&pass.record, &pass.seen);
        self.ran = earlier.into_iter().map(|step| step.ran).collect();
        let (decision, applied) = self.decide(&mut pass);
        assemble::mark_flaky(&mut self.iterations, &decision.flaky_steps);
        let mut report = assemble::iteration(
            index,
            &pass.record,
            &decision,
            &self.plan,
            &mut self.attempts,
            millis(began.elapsed()),
        );
        assemble::keep_taken_out(&mut report, &self.quarantined, &self.iterations);
        self.last = decision.standings;
        self.keep_loop_limits(&decision);
        if let Some(applied) = applied {
            report.action.repairs = self.adopt(applied);
        }
        report.action.backoff_ms = decision.backoff.map(millis);
        let steps = std::mem::take(&mut report.steps);
        self.emit(Event::IterationFinished {
            report: Box::new(report.clone()),
        });
        self.iterations.push(IterationReport { steps, ..report });
        if let Some(signal) = self.heard() {
            // While it was decided.
            self.interrupt(signal);
            return false;
        }
        match &decision.action {
            Action::Stop => {
                let out_of_time = Instant::now() >= self.deadline;
                if out_of_time && !decision.standings.green {
                    self.course.out_of_time = Some(self.settings.budgets.deadline);
                }
                false
            }
            Action::RepairMcpPlan(_) | Action::Retry | Action::Confirm => {
                self.publish_progress();
                self.wait(&decision).await
            }
            Action::FixTests => self.hook(Hook::FixTests, &mut pass).await,
            Action::RefineCode => self.hook(Hook::RefineCode, &mut pass).await,
        }
    }

    pub(super) fn keep_loop_limits(&mut self, decision: &Decision) {
        let loop_limits = decision.judged.iter().zip(&decision.loop_limits);
        self.loop_limits = loop_limits
            .filter_map(|(judged, loop_limit)| {
                Some((judged.diagnosis.test_fingerprint.clone(), (*loop_limit)?))
            })
            .collect();
    }

    /// Diagnoses each failure and finds what could mend it.
    pub(super) fn look(&mut self, record: &IterationRecord) -> Vec<Seen> {
        let scope = self.settings.scope(&self.plan);
        let plan = Rc::clone(&self.plan);
        // Whoever looks at none has nothing to look them up for.
        let steps = match record.failures.is_empty() {
            true => HashMap::new(),
            false => plan.steps_by_id(),
        };
        let facts = Facts {
            project_dir: &self.settings.project_dir,
            scope: &scope,
            steps: &steps,
            tools: &record.tools,
            fs: self.around.fs,
        };
        let repairs_allowed = self.settings.effective_budgets().mcp_repairs > 0;
        if !record.failures.is_empty() {
            let failures = record.failures.len();
            self.emit(Event::Triaging { failures });
        }
        let mut seen = Vec::with_capacity(record.failures.len());
        for failure in &record.failures {
            if seen.len() >= WITH_A_SIGNAL && self.around.executor.signal().is_some() {
                break;
            }
            let diagnosis = (self.around.diagnose)(failure);
            let mut proposals = Vec::new();
            for proposal in propose(&plan, failure, &diagnosis, &facts) {
                match self.sense(&proposal) {
                    Ok(()) => proposals.push(proposal),
                    // Nobody misses what would do nothing, nor what comes
                    // after a repair that fits.
                    Err(Some(why)) if proposals.is_empty() && repairs_allowed => {
                        self.pass_over(&proposal, &why);
                    }
                    Err(_) => {}
                }
            }
            seen.push(Seen {
                failure: failure.clone(),
                diagnosis,
                proposals,
            });
        }
        seen
    }

    /// Whether a repair would change something; why it can't, where it would
    /// if the plan were written otherwise.
    fn sense(&self, proposal: &Proposal) -> Result<(), Option<Inapplicable>> {
        let mut quarantines = proposal.quarantine.iter();
        match apply::edited(&self.plan, proposal, self.settings) {
            Ok(_) if quarantines.all(|id| !self.quarantined.contains(id)) => Ok(()),
            Ok(_) | Err(Inapplicable::NoChange) => Err(None),
            Err(why) => Err(Some(why)),
        }
    }

    /// Says once why repairs of a kind are not made.
    fn pass_over(&mut self, proposal: &Proposal, why: &Inapplicable) {
        let passed = PassedOver {
            id: proposal.id,
            target: proposal.target.clone(),
            why: why.to_string(),
        };
        if self.passed_over.contains(&passed) {
            return;
        }
        if !self.passed_over.iter().any(|known| known.is_like(&passed)) {
            let sentence = passed.sentence();
            let message = self.settings.redactor.redact(&sentence).into_owned();
            self.emit(Event::Warning { message });
        }
        self.passed_over.push(passed);
    }

    /// Decides, and applies the repairs that were decided on. A repair that
    /// can't be applied after all is taken back, and the question asked again.
    pub(super) fn decide(&mut self, pass: &mut Pass) -> (Decision, Option<Applied>) {
        loop {
            let observation = Observation {
                index: self.course.iterations,
                record: &pass.record,
                failures: &pass.seen,
                steps: &self.steps,
                code: &self.code,
                time_left: Instant::now() < self.deadline,
            };
            let (decision, next) = pass.before.decide(&observation);
            let (applied, refused) = match &decision.action {
                Action::RepairMcpPlan(proposals) => {
                    let (applied, refused) = self.try_repairs(proposals);
                    (Some(applied), refused)
                }
                _ => (None, Vec::new()),
            };
            if refused.is_empty() {
                self.mark_ineffective(&next);
                self.state = next;
                return (decision, applied);
            }
            // Each round takes at least one proposal away, so this ends.
            for seen in &mut pass.seen {
                seen.proposals.retain(|p| !refused.contains(p));
            }
        }
    }

    /// Applies proposals one after the other, to a copy of the plan.
    fn try_repairs(&mut self, proposals: &[Proposal]) -> (Applied, Vec<Proposal>) {
        let mut applied = Applied {
            plan: Plan::clone(&self.plan),
            reports: Vec::new(),
            proposals: Vec::new(),
        };
        let mut refused = Vec::new();
        for proposal in proposals {
            let result = apply::apply(&applied.plan, proposal, self.settings, self.around.fs);
            match result {
                Ok((plan, report)) => {
                    applied.plan = plan;
                    applied.reports.push(report);
                    applied.proposals.push(proposal.clone());
                }
                Err(why) => {
                    // Of a step with cases, the first has done it for all of them.
                    let is_done =
                        |other: &Proposal| other.id == proposal.id && other.edits == proposal.edits;
                    if !applied.proposals.iter().any(is_done) {
                        self.pass_over(proposal, &why);
                    }
                    refused.push(proposal.clone());
                }
            }
        }
        (applied, refused)
    }

    /// Makes applied repairs part of the run.
    pub(super) fn adopt(&mut self, applied: Applied) -> Vec<RepairReport> {
        self.plan = Rc::new(applied.plan);
        for proposal in applied.proposals {
            self.course.repaired = true;
            self.course.contract_changed |= proposal.contract;
            self.quarantined.extend(proposal.quarantine);
            self.new_ports_for.extend(proposal.new_ports_for);
        }
        applied.reports
    }

    /// Carries over to the reports which repairs did not help.
    fn mark_ineffective(&mut self, next: &LoopState) {
        for tried in next.tried().iter().filter(|tried| tried.ineffective) {
            for report in self
                .iterations
                .iter_mut()
                .filter(|i| i.index == tried.iteration)
                .flat_map(|i| &mut i.action.repairs)
            {
                if report.id == tried.id.name() && report.target == tried.target {
                    report.ineffective = true;
                }
            }
        }
    }

    /// Waits as long as the retry says; says whether the run goes on.
    pub(super) async fn wait(&mut self, decision: &Decision) -> bool {
        if let Some(backoff) = decision.backoff {
            // A server may ask for a pause beyond all clocks.
            if backoff >= self.deadline.saturating_duration_since(Instant::now()) {
                // Nothing would come of the wait.
                self.amend("then the deadline would have come first");
                self.course.out_of_time = Some(self.settings.budgets.deadline);
                return false;
            }
            self.emit(Event::Waiting {
                reason: ActionKind::Retry,
                wait: backoff,
            });
            let until = Instant::now() + backoff;
            let interrupted = tokio::select! {
                // In order, since a choice by chance would be seen in reports.
                biased;
                signal = self.around.executor.interrupted() => Some(signal),
                () = tokio::time::sleep_until(until) => None,
            };
            if let Some(signal) = interrupted {
                self.interrupt(signal);
                return false;
            }
        }
        self.in_time()
    }

    /// Whether there is time for another iteration; says so where there isn't.
    pub(super) fn in_time(&mut self) -> bool {
        if Instant::now() < self.deadline {
            return true;
        }
        self.amend("then the deadline was reached");
        self.course.out_of_time = Some(self.settings.budgets.deadline);
        false
    }

    /// A signal that came while nothing was waited for, and was not taken note of.
    pub(super) fn heard(&self) -> Option<Signal> {
        let signal = self.around.executor.signal();
        signal.filter(|_| self.course.interrupted.is_none())
    }

    pub(super) fn interrupt(&mut self, signal: Signal) {
        self.course.interrupted = Some(signal);
        self.emit(Event::Interrupted);
        self.amend("then a signal ended the run");
    }

    /// Adds to the reason of the last iteration's action what came of it.
    pub(super) fn amend(&mut self, what: &str) {
        if let Some(last) = self.iterations.last_mut() {
            last.action.reason = format!("{}; {what}", last.action.reason);
        }
    }

    pub(super) fn warn(&mut self, message: &str) {
        let message = self.settings.redactor.redact(message).into_owned();
        self.around.warnings.warn(message);
    }
}

/// So many failures of an iteration are looked at and reported after a signal, which
/// leaves two seconds for all of it.
pub(super) const WITH_A_SIGNAL: usize = 200;

/// One iteration's material, kept for as long as it may be decided on anew.
pub(super) struct Pass {
    /// The state before it.
    pub(super) before: LoopState,
    pub(super) record: IterationRecord,
    pub(super) seen: Vec<Seen>,
}

impl Pass {
    /// Leaves out the failures that nobody has looked at; how many they were. Their
    /// steps have failed all the same.
    pub(super) fn cut_to_what_was_seen(&mut self) -> usize {
        let left_out = self.record.failures.len() - self.seen.len();
        self.record.failures.truncate(self.seen.len());
        left_out
    }
}

/// A repair that would help, and can't be made as the plan is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PassedOver {
    /// As of the [`Proposal`].
    pub(super) id: RepairId,
    pub(super) target: String,
    /// What could not be done.
    pub(super) why: String,
}

impl PassedOver {
    /// For the same reason, at another place of the plan.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.id == other.id && self.why == other.why
    }

    pub(super) fn sentence(&self) -> String {
        let Self { id, target, why } = self;
        format!("the repair {id} of {target} was passed over: failed to {why}")
    }
}

/// Repairs that were applied to a copy of the plan.
pub(super) struct Applied {
    plan: Plan,
    reports: Vec<RepairReport>,
    proposals: Vec<Proposal>,
}

/// More than any run takes, and little enough to be added to a clock.
const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
