//! What the lanes of an iteration share: how each step ended, who waits for
//! whom, and whether all of it is to stop.

use super::bound::copied_answer;
use super::clean::Cleaner;
use super::covered::CoverageRecord;
use super::left_out::left_out;
use super::operators::Compiled;
use super::services::ServicesState;
use super::settings::{ExecSettings, ProposeSnapshot};
use super::step_end::fine_millis;
use jelly_base::model::{
    Because, EventSink, Failure, OutputSeen, RpcError, Section, Signal, StepAnswers, StepReport,
    StepState,
};
use jelly_plan::{Plan, Request, Scope, Step};
use jelly_process::ExitWatch;
use jelly_wire::ReplyOutcome;
use serde_json::{Map, Value, json};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// Why an iteration ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Deadline,
    Interrupted(Signal),
}

impl Stop {
    pub fn because(self) -> Because {
        match self {
            Self::Deadline => Because::Deadline,
            Self::Interrupted(_) => Because::Interrupted,
        }
    }
}

/// How far an iteration is being stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stopping {
    pub why: Option<Stop>,
    /// Steps of teardown too; before, they still may run.
    pub teardown: bool,
}

impl Stopping {
    /// Why a step of this section is not to run, or to run no longer.
    fn stops(self, section: Section) -> Option<Stop> {
        let goes_on = section == Section::Teardown && !self.teardown;
        self.why.filter(|_| !goes_on)
    }
}

/// A failure with its place in the report: servers first, then steps, each in
/// the plan's order.
type PlacedFailure = ((usize, usize), Failure);

pub struct SharedState {
    /// When the iteration began.
    began: Instant,
    pub plan: Rc<Plan>,
    pub selected: BTreeSet<String>,
    quarantined: BTreeSet<String>,
    /// Steps that a condition of the plan leaves out.
    left_out: BTreeMap<String, Because>,
    pub scope: RefCell<Scope>,
    pub compiled: RefCell<Compiled>,
    pub cleaner: Cleaner,
    pub propose: ProposeSnapshot,
    /// Where each request and each answer is told, if anywhere.
    pub messages: Option<EventSink>,
    fail_fast: bool,
    /// Their failures are no reason to stop.
    known_steps: BTreeSet<String>,
    stopping: watch::Receiver<Stopping>,
    index: HashMap<String, usize>,
    ended: RefCell<Vec<Option<StepReport>>>,
    /// Steps that lack nothing but a snapshot that is stored.
    held_for_now: RefCell<BTreeSet<String>>,
    /// How many steps of set-up, plan and teardown have not ended yet.
    open: [Cell<usize>; 3],
    changed: Notify,
    failures: RefCell<Vec<PlacedFailure>>,
    /// How far the services are.
    pub services: watch::Sender<ServicesState>,
    /// Of those that are ready.
    watched: RefCell<Vec<(String, ExitWatch)>>,
    /// Kept only where somebody wants to compare them.
    answers: Option<RefCell<StepAnswers>>,
    /// Likewise.
    outputs: Option<RefCell<Vec<OutputSeen>>>,
    /// Likewise.
    pub coverage: Option<CoverageRecord>,
    cut: Cell<bool>,
}

impl SharedState {
    /// With the ids of the steps that are selected, and of those that were
    /// taken out of the run.
    pub fn new(
        plan: Rc<Plan>,
        (selected, quarantined): (BTreeSet<String>, BTreeSet<String>),
        scope: Scope,
        settings: &ExecSettings,
        stopping: watch::Receiver<Stopping>,
    ) -> Self {
        let open = [&plan.setup, &plan.steps, &plan.teardown].map(|steps| Cell::new(steps.len()));
        let left_out = left_out(&plan, &selected, &scope, settings);
        Self {
            began: Instant::now(),
            left_out,
            index: plan
                .all_steps()
                .enumerate()
                .map(|(i, step)| (step.id.clone(), i))
                .collect(),
            held_for_now: RefCell::default(),
            ended: RefCell::new(vec![None; plan.all_steps().count()]),
            open,
            changed: Notify::new(),
            failures: RefCell::default(),
            services: watch::Sender::new(ServicesState {
                open: plan.services.len(),
                failed: None,
            }),
            watched: RefCell::default(),
            answers: settings.keep_answers.then(RefCell::default),
            outputs: settings.keep_outputs.then(RefCell::default),
            coverage: settings.coverage.then(CoverageRecord::default),
            compiled: RefCell::default(),
            cleaner: Cleaner::new(settings.redactor.clone(), &scope),
            messages: settings.tells_messages.then(|| settings.events.clone()),
            propose: settings.propose_snapshot.clone(),
            scope: RefCell::new(scope),
            cut: Cell::new(false),
            plan,
            selected,
            quarantined,
            fail_fast: settings.fail_fast,
            known_steps: settings.known_steps.clone(),
            stopping,
        }
    }

    /// Milliseconds since the iteration began.
    pub fn elapsed_ms(&self) -> f64 {
        fine_millis(self.began.elapsed())
    }

    /// The step at a place of [`Plan::all_steps`].
    pub fn step(&self, index: usize) -> &Step {
        let Plan {
            setup,
            steps,
            teardown,
            ..
        } = &*self.plan;
        if index < setup.len() {
            return &setup[index];
        }
        let index = index - setup.len();
        steps
            .get(index)
            .unwrap_or_else(|| &teardown[index - steps.len()])
    }

    pub fn stopped(&self) -> Option<Stop> {
        self.stopping.borrow().why
    }

    /// Resolves when the iteration is to stop.
    pub async fn stop(&self) -> Stop {
        self.stop_of(Section::Steps).await
    }

    /// Resolves when a step of this section is to stop.
    pub async fn stop_of(&self, section: Section) -> Stop {
        let mut stopping = self.stopping.clone();
        match stopping.wait_for(|now| now.stops(section).is_some()).await {
            Ok(stopping) => stopping.why.unwrap_or(Stop::Deadline),
            // The sender lives as long as the iteration.
            Err(_) => std::future::pending().await,
        }
    }

    /// Waits until everything has ended that this step comes after: set-up
    /// and teardown go one by one, steps wait for all of set-up and for what
    /// they capture from.
    pub async fn turn(&self, index: usize) {
        loop {
            let changed = self.changed.notified();
            if self.is_due(index) {
                return;
            }
            changed.await;
        }
    }

    fn is_due(&self, index: usize) -> bool {
        let step = self.step(index);
        // Servers start beside set-up.
        if step.request == Request::Startup {
            return true;
        }
        let ended = self.ended.borrow();
        match step.section {
            Section::Setup | Section::Teardown => ended[..index].iter().all(Option::is_some),
            Section::Steps => {
                self.open[0].get() == 0
                    && step
                        .needs
                        .iter()
                        .filter_map(|id| self.index.get(id))
                        .all(|&i| ended[i].is_some())
            }
        }
    }

    /// Why a step that is due is not to be executed, whatever its server.
    pub fn hindrance(&self, step: &Step) -> Option<(StepState, Because)> {
        if let Some(because) = self.left_out(step) {
            return Some((StepState::Skipped, because));
        }
        if let Some(stop) = self.stopping.borrow().stops(step.section) {
            return Some((StepState::Skipped, stop.because()));
        }
        let ended = self.ended.borrow();
        // Set-up goes one by one, and no further than its first failure.
        let before = match step.section {
            _ if step.request == Request::Startup => 0,
            Section::Setup => self.index.get(&step.id).copied().unwrap_or_default(),
            Section::Steps => self.plan.setup.len(),
            Section::Teardown => 0,
        };
        let broken = ended.iter().take(before).flatten().find(|report| {
            report.state != StepState::Passed
                && !self.held_for_now.borrow().contains(&report.id)
                && !report.because.as_ref().is_some_and(Because::is_wanted)
        });
        if let Some(setup) = broken {
            return Some((StepState::Blocked, Because::Setup(setup.id.clone())));
        }
        let passed = |id: &&String| {
            let report = self.index.get(*id).and_then(|&index| ended[index].as_ref());
            report.is_some_and(|report| report.state == StepState::Passed)
                || self.held_for_now.borrow().contains(*id)
        };
        if let Some(id) = step.needs.iter().find(|id| !passed(id)) {
            return Some((StepState::Skipped, Because::Step(id.clone())));
        }
        if self.cut.get() && step.section != Section::Teardown {
            return Some((StepState::Skipped, Because::FailFast));
        }
        None
    }

    /// What a step captured holds, though its snapshot is yet to be stored.
    pub fn hold_for_now(&self, id: &str) {
        self.held_for_now.borrow_mut().insert(id.to_owned());
    }

    pub fn all_left_out(&self) -> &BTreeMap<String, Because> {
        &self.left_out
    }

    /// Why a step is not to run, whatever comes.
    pub fn left_out(&self, step: &Step) -> Option<Because> {
        if !self.selected.contains(&step.id) {
            return Some(Because::NotSelected);
        }
        self.left_out.get(&step.id).cloned()
    }

    /// Whether it is to run, as far as the plan and the selection say.
    pub fn is_wanted(&self, step: &Step) -> bool {
        self.selected.contains(&step.id) && !self.left_out.contains_key(&step.id)
    }

    /// Why a step is out of the run though nothing hinders it.
    pub fn quarantined(&self, step: &Step) -> Option<String> {
        self.quarantined
            .contains(&step.id)
            .then(|| "taken out of the run by the repair quarantine_step".to_owned())
    }

    /// Records how a step ended.
    pub fn end(&self, index: usize, report: StepReport) {
        if report.state != StepState::Passed
            && !report.because.as_ref().is_some_and(Because::is_wanted)
            && self.fail_fast
            && !self.known_steps.contains(&self.step(index).id)
        {
            self.cut.set(true);
        }
        let section = self.step(index).section as usize;
        let before = self.ended.borrow_mut()[index].replace(report);
        if before.is_none() {
            let open = &self.open[section];
            open.set(open.get().saturating_sub(1));
        }
        self.changed.notify_waiters();
    }

    pub fn fail_server(&self, server: usize, mut failure: Failure) {
        self.note_services(&mut failure);
        self.failures.borrow_mut().push(((0, server), failure));
    }

    /// From now on, a service that exits has died.
    pub fn watch_service(&self, name: &str, exit: ExitWatch) {
        self.watched.borrow_mut().push((name.to_owned(), exit));
    }

    /// What comes after the death of a service proves nothing.
    fn note_services(&self, failure: &mut Failure) {
        let watched = self.watched.borrow();
        let others = watched
            .iter()
            .filter(|(name, _)| failure.server.as_ref() != Some(name));
        let mut dead = others.filter(|(_, exit)| exit.has_exited());
        failure.after_service_died = dead.next().is_some();
    }

    /// Several failures of one step stay in the order in which they come here.
    pub fn fail_step(&self, step: usize, mut failure: Failure) {
        self.note_services(&mut failure);
        self.failures.borrow_mut().push(((1, step), failure));
    }

    /// Keeps what a step was answered, if that is wanted.
    pub fn keep_answer(&self, step: &Step, outcome: &ReplyOutcome) {
        let Some(answers) = &self.answers else {
            return;
        };
        let error = |error: &RpcError| {
            let (code, message) = (error.code, &error.message);
            json!({ "error": { "code": code, "message": message } })
        };
        let answer = match outcome {
            ReplyOutcome::Answered(result) => {
                let mut answer = Map::new();
                answer.insert("result".to_owned(), copied_answer(result, &self.cleaner));
                Value::Object(answer)
            }
            ReplyOutcome::RpcError(refusal) => error(refusal),
            ReplyOutcome::Http(end) => match &end.rpc_error {
                Some(refusal) => error(refusal),
                None => return,
            },
            _ => return,
        };
        answers.borrow_mut().insert(step.id.clone(), answer);
    }

    /// Keeps by which rung an output was read, if that is wanted.
    pub fn keep_output(&self, seen: impl FnOnce() -> Option<OutputSeen>) {
        if let Some(outputs) = &self.outputs {
            outputs.borrow_mut().extend(seen());
        }
    }

    /// What was kept, of answers and of outputs.
    pub fn take_kept(&self) -> (StepAnswers, Vec<OutputSeen>) {
        let answers = self.answers.as_ref().map(RefCell::take);
        let outputs = self.outputs.as_ref().map(RefCell::take);
        (answers.unwrap_or_default(), outputs.unwrap_or_default())
    }

    /// Steps in the plan's order and failures in the report's.
    pub fn finish(&self) -> (Vec<Option<StepReport>>, Vec<Failure>) {
        (self.ended.take(), in_order(self.failures.take()))
    }

    /// The same of an iteration that goes on.
    pub fn so_far(&self) -> (Vec<Option<StepReport>>, Vec<Failure>) {
        let failures = self.failures.borrow().clone();
        (self.ended.borrow().clone(), in_order(failures))
    }
}

fn in_order(mut failures: Vec<PlacedFailure>) -> Vec<Failure> {
    failures.sort_by_key(|(place, _)| *place);
    failures.into_iter().map(|(_, failure)| failure).collect()
}

#[cfg(test)]
mod tests {
    use super::{SharedState, Stop, Stopping};
    use crate::exec::step_end::step_report;
    use crate::exec::{ExecSettings, Selection};
    use jelly_base::model::{Because, Signal, StepState};
    use jelly_base::text::redact::Redactor;
    use jelly_plan::{PlanSource, Scope, load};
    use std::rc::Rc;
    use std::sync::Arc;
    use tokio::sync::{Semaphore, watch};

    const PLAN: &str = "version: 1
servers: { m: { command: x } }
setup:
  - { id: up1, server: m, tool: t }
  - { id: up2, server: m, tool: t }
steps:
  - { id: make, server: m, tool: t, capture: { it: $.content } }
  - { id: use, server: m, tool: t, args: { a: '${it}' } }
  - { id: other, server: m, tool: t }
teardown:
  - { id: down, server: m, tool: t }
";

    fn state(fail_fast: bool) -> SharedState {
        stopping_state(fail_fast, Stopping::default())
    }

    fn stopping_state(fail_fast: bool, stopping: Stopping) -> SharedState {
        let source = PlanSource {
            path: "p.yaml".into(),
            text: PLAN.into(),
            variant: None,
        };
        let plan = load(source).unwrap();
        let (_, interrupt) = watch::channel(None);
        let settings = ExecSettings {
            project_dir: "/".into(),
            jelly: None,
            env: std::collections::BTreeMap::new(),
            vars: indexmap::IndexMap::new(),
            selection: Selection::default(),
            keep_answers: false,
            adapt: true,
            overrides: Rc::default(),
            store_unread: false,
            keep_outputs: false,
            coverage: false,
            fail_fast,
            known_steps: ["use".to_owned()].into(),
            skip_missing: false,
            wire_check: false,
            starts: Arc::new(Semaphore::new(1)),
            interrupt,
            events: Rc::new(|_| {}),
            tells_messages: false,
            logins: None,
            redactor: Redactor::none(),
            recorder: None,
            stderr_log: Rc::new(|_| None),
            propose_snapshot: Rc::new(|_, _| Err("keep it".to_owned())),
            locked: None,
        };
        let selected = settings.selection.select(&plan);
        let (_, stop) = watch::channel(stopping);
        let steps = (selected, std::collections::BTreeSet::new());
        SharedState::new(Rc::new(plan), steps, Scope::default(), &settings, stop)
    }

    impl SharedState {
        fn at(&self, id: &str) -> usize {
            self.index[id]
        }

        fn ends(&self, id: &str, state: StepState) {
            let index = self.at(id);
            self.end(index, step_report(self.step(index), state));
        }

        fn hinders(&self, id: &str) -> Option<(StepState, Because)> {
            self.hindrance(self.step(self.at(id)))
        }
    }

    #[test]
    fn set_up_stops_at_its_first_failure_and_teardown_runs_all_the_same() {
        let shared = state(false);
        shared.ends("up1", StepState::Failed);
        let blocked = Some((StepState::Blocked, Because::Setup("up1".into())));
        assert_eq!(shared.hinders("up1"), None);
        assert_eq!(shared.hinders("up2"), blocked);
        assert_eq!(shared.hinders("other"), blocked);
        assert_eq!(shared.hinders("down"), None);
    }

    #[test]
    fn a_step_waits_for_set_up_and_for_what_it_captures_from() {
        let shared = state(false);
        assert!(shared.is_due(shared.at("up1")) && !shared.is_due(shared.at("up2")));
        shared.ends("up1", StepState::Passed);
        assert!(!shared.is_due(shared.at("other")));
        shared.ends("up2", StepState::Passed);
        assert!(shared.is_due(shared.at("other")) && !shared.is_due(shared.at("use")));
        shared.ends("make", StepState::Failed);
        assert!(shared.is_due(shared.at("use")));
        let lost = (StepState::Skipped, Because::Step("make".into()));
        assert_eq!(shared.hinders("use"), Some(lost));
        shared.ends("use", StepState::Skipped);
        assert!(!shared.is_due(shared.at("down")));
        shared.ends("other", StepState::Passed);
        assert!(shared.is_due(shared.at("down")));
    }

    #[test]
    fn a_signal_leaves_teardown_its_time_and_a_second_one_does_not() {
        let interrupted = Some((StepState::Skipped, Because::Interrupted));
        for teardown in [false, true] {
            let why = Some(Stop::Interrupted(Signal::Int));
            let shared = stopping_state(false, Stopping { why, teardown });
            assert_eq!(shared.hinders("up1"), interrupted);
            assert_eq!(shared.hinders("other"), interrupted);
            assert_eq!(
                shared.hinders("down"),
                interrupted.clone().filter(|_| teardown)
            );
        }
    }

    #[test]
    fn fail_fast_cuts_what_comes_after_a_failure_but_for_teardown() {
        let shared = state(true);
        shared.ends("up1", StepState::Passed);
        shared.ends("up2", StepState::Passed);
        shared.ends("make", StepState::Passed);
        assert_eq!(shared.hinders("use"), None);
        shared.ends("use", StepState::Failed);
        assert_eq!(shared.hinders("other"), None, "that one is known");
        shared.ends("other", StepState::Failed);
        let cut = (StepState::Skipped, Because::FailFast);
        assert_eq!(shared.hinders("use"), Some(cut));
        assert_eq!(shared.hinders("down"), None);
    }
}
