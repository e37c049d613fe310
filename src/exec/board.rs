//! What the lanes of an iteration share: how each step ended, who waits for
//! whom, and whether all of it is to stop.

use super::clean::Cleaner;
use super::operators::Compiled;
use super::settings::{ExecSettings, ProposeSnapshot};
use crate::model::{Because, Failure, Section, Signal, StepReport, StepState};
use crate::plan::{Plan, Scope, Step};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use tokio::sync::{Notify, watch};

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

/// A failure with its place in the report: servers first, then steps, each in
/// the plan's order.
#[derive(Debug)]
struct Placed {
    place: (usize, usize),
    failure: Failure,
}

pub struct Board {
    pub plan: Rc<Plan>,
    pub selected: BTreeSet<String>,
    quarantined: BTreeSet<String>,
    pub scope: RefCell<Scope>,
    pub compiled: RefCell<Compiled>,
    pub cleaner: Cleaner,
    pub propose: ProposeSnapshot,
    fail_fast: bool,
    stop: watch::Receiver<Option<Stop>>,
    index: HashMap<String, usize>,
    ended: RefCell<Vec<Option<StepReport>>>,
    /// How many steps of set-up, plan and teardown have not ended yet.
    open: [Cell<usize>; 3],
    changed: Notify,
    failures: RefCell<Vec<Placed>>,
    cut: Cell<bool>,
}

impl Board {
    /// With the ids of the steps that are selected, and of those that were
    /// taken out of the run.
    pub fn new(
        plan: Rc<Plan>,
        (selected, quarantined): (BTreeSet<String>, BTreeSet<String>),
        scope: Scope,
        settings: &ExecSettings,
        stop: watch::Receiver<Option<Stop>>,
    ) -> Self {
        let open = [&plan.setup, &plan.steps, &plan.teardown].map(|steps| Cell::new(steps.len()));
        Self {
            index: plan
                .all_steps()
                .enumerate()
                .map(|(i, step)| (step.id.clone(), i))
                .collect(),
            ended: RefCell::new(vec![None; plan.all_steps().count()]),
            open,
            changed: Notify::new(),
            failures: RefCell::default(),
            compiled: RefCell::default(),
            cleaner: Cleaner::new(settings.redactor.clone(), &scope),
            propose: settings.propose_snapshot.clone(),
            scope: RefCell::new(scope),
            cut: Cell::new(false),
            plan,
            selected,
            quarantined,
            fail_fast: settings.fail_fast,
            stop,
        }
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
        *self.stop.borrow()
    }

    /// Resolves when the iteration is to stop.
    pub async fn stop(&self) -> Stop {
        let mut stop = self.stop.clone();
        match stop.wait_for(Option::is_some).await {
            Ok(stop) => stop.unwrap_or(Stop::Deadline),
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
        let ended = self.ended.borrow();
        match step.section {
            Section::Setup => ended[..index].iter().all(Option::is_some),
            Section::Steps => {
                self.open[0].get() == 0
                    && step
                        .needs
                        .iter()
                        .filter_map(|id| self.index.get(id))
                        .all(|&i| ended[i].is_some())
            }
            Section::Teardown => ended[..index].iter().all(Option::is_some),
        }
    }

    /// Why a step that is due is not to be executed, whatever its server.
    pub fn hindrance(&self, step: &Step) -> Option<(StepState, Because)> {
        if !self.selected.contains(&step.id) {
            return Some((StepState::Skipped, Because::NotSelected));
        }
        if let Some(stop) = self.stopped() {
            return Some((StepState::Skipped, stop.because()));
        }
        let ended = self.ended.borrow();
        // Set-up goes one by one, and no further than its first failure.
        let before = match step.section {
            Section::Setup => self.index.get(&step.id).copied().unwrap_or_default(),
            Section::Steps => self.plan.setup.len(),
            Section::Teardown => 0,
        };
        if before > 0 {
            let broken =
                self.plan
                    .setup
                    .iter()
                    .zip(ended.iter())
                    .take(before)
                    .find(|(_, report)| {
                        report.as_ref().is_some_and(|r| {
                            r.state != StepState::Passed && r.because != Some(Because::NotSelected)
                        })
                    });
            if let Some((setup, _)) = broken {
                return Some((StepState::Blocked, Because::Setup(setup.id.clone())));
            }
        }
        for id in &step.needs {
            let passed = self.index.get(id).is_some_and(|&i| {
                ended[i]
                    .as_ref()
                    .is_some_and(|report| report.state == StepState::Passed)
            });
            if !passed {
                return Some((StepState::Skipped, Because::Step(id.clone())));
            }
        }
        if self.cut.get() && step.section != Section::Teardown {
            return Some((StepState::Skipped, Because::FailFast));
        }
        None
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
            && report.because != Some(Because::NotSelected)
            && self.fail_fast
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

    pub fn fail_server(&self, server: usize, failure: Failure) {
        self.failures.borrow_mut().push(Placed {
            place: (0, server),
            failure,
        });
    }

    pub fn fail_step(&self, step: usize, failure: Failure) {
        self.failures.borrow_mut().push(Placed {
            place: (1, step),
            failure,
        });
    }

    /// Steps in the plan's order and failures in the report's.
    pub fn finish(&self) -> (Vec<Option<StepReport>>, Vec<Failure>) {
        let mut failures = self.failures.take();
        failures.sort_by_key(|placed| placed.place);
        (
            self.ended.take(),
            failures.into_iter().map(|placed| placed.failure).collect(),
        )
    }
}
