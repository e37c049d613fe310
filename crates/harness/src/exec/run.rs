//! One iteration: fresh servers, a fresh `${tmp}`, every lane side by side.

use super::free_ports::choose_ports;
use super::issue::unknown_server;
use super::ladder::ServerLadder;
use super::launch::prepare;
use super::left_out::tell_missing;
use super::script::Script;
use super::server_lane::{LaneEnd, ServerLane};
use super::services::ServiceTask;
use super::settings::ExecSettings;
use super::shared_state::{SharedState, Stop, Stopping};
use super::step_end::{StepEnd, step_report};
use jelly_base::model::{
    Because, Event, Failure, Interrupt, IterationRecord, Phase, ServerReport, StepReport, StepState,
};
use jelly_plan::{Plan, Scope};
use jelly_process::Scratch;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tokio::time::{Instant, sleep};

/// What teardown may take after a signal.
const TEARDOWN_TAKES: Duration = Duration::from_secs(5);

/// After a signal, an iteration that takes longer to end is told of before.
const SOON: Duration = Duration::from_secs(1);

/// What one iteration is told besides its plan.
#[derive(Debug, Clone)]
pub struct Iteration<'a> {
    /// 1-based.
    pub index: u32,
    pub deadline: Instant,
    /// Ids of the steps that are taken out of the run, visibly.
    pub quarantined: &'a BTreeSet<String>,
    /// Ports of an earlier iteration that are not to be chosen again.
    pub ports_in_use: &'a BTreeMap<String, u16>,
}

/// What an iteration leaves behind.
pub struct Executed {
    pub record: IterationRecord,
    /// What is still done, where the record is unfinished.
    pub rest: Option<Unfinished>,
    /// The names as they stood at the end, for repairs to resolve with. Its
    /// `${tmp}` is gone.
    pub scope: Scope,
}

/// An iteration that a signal ended, and that is not over yet: steps of
/// teardown may run, and servers end.
pub struct Unfinished {
    shared: Rc<SharedState>,
    lanes: Lanes,
    /// Tells the lanes when teardown has taken too long.
    watchdog: AbortHandle,
    /// Gone with the iteration.
    _tmp: Scratch,
}

impl Unfinished {
    /// Waits for its end.
    pub async fn end(mut self) -> IterationRecord {
        self.lanes.end().await;
        self.watchdog.abort();
        let mut record = record(&self.shared, self.shared.finish(), self.lanes.ended);
        self.shared.cleaner.record(&mut record);
        record
    }
}

/// Executes the plan once. Must run where tasks may be local, as inside a
/// [`tokio::runtime::LocalRuntime`].
///
/// It never fails: what goes wrong is in the record.
pub async fn execute(
    plan: &Rc<Plan>,
    settings: &Rc<ExecSettings>,
    iteration: &Iteration<'_>,
) -> Executed {
    let selected = settings.selection.select(plan);
    (settings.events)(Event::IterationStarted {
        index: iteration.index,
        steps: selected.len(),
    });
    let tmp = match Scratch::new() {
        Ok(tmp) => tmp,
        Err(error) => return without_tmp(plan, &error),
    };
    let mut vars = plan.vars.clone();
    vars.extend(settings.vars.clone());
    let mut scope = Scope::new(
        settings.project_dir.clone(),
        tmp.path().to_owned(),
        settings.env.clone(),
        choose_ports(plan, iteration.ports_in_use),
        &vars,
    );
    scope.files = plan.files.clone();

    let (stop_sender, stop) = watch::channel(Stopping::default());
    let shared = Rc::new(SharedState::new(
        plan.clone(),
        (selected, iteration.quarantined.clone()),
        scope,
        settings,
        stop,
    ));
    let watchdog = tokio::task::spawn_local(watch_for_stop(
        stop_sender,
        settings.clone(),
        iteration.deadline,
    ));

    if iteration.index == 1 {
        tell_missing(shared.all_left_out(), settings);
    }
    end_homeless_steps(&shared, settings);
    let mut lanes = start_lanes(&shared, settings);
    let scope = |shared: &SharedState| shared.scope.borrow().clone();
    let unfinished = |lanes| Unfinished {
        shared: shared.clone(),
        lanes,
        watchdog: watchdog.abort_handle(),
        _tmp: tmp,
    };
    tokio::select! {
        biased;
        () = lanes.end() => Executed {
            record: unfinished(lanes).end().await,
            scope: scope(&shared),
            rest: None,
        },
        () = soon_after_signal(&shared) => {
            let ended = lanes.ended.clone();
            let mut record = IterationRecord {
                unfinished: true,
                ..record(&shared, shared.so_far(), ended)
            };
            shared.cleaner.record(&mut record);
            Executed { record, scope: scope(&shared), rest: Some(unfinished(lanes)) }
        }
    }
}

/// Resolves when a signal came and the iteration should have ended by now.
async fn soon_after_signal(shared: &SharedState) {
    match shared.stop().await {
        Stop::Interrupted(_) => sleep(SOON).await,
        Stop::Deadline => std::future::pending().await,
    }
}

/// Servers' lives, by their places in the plan.
struct Lanes {
    running: JoinSet<(usize, LaneEnd)>,
    ended: BTreeMap<usize, LaneEnd>,
    services: JoinSet<(usize, LaneEnd)>,
    /// Tells the services that no server needs them any more.
    over: watch::Sender<bool>,
}

impl Lanes {
    /// Waits for all of them. May be dropped and called again.
    async fn end(&mut self) {
        while let Some(joined) = self.running.join_next().await {
            self.keep(joined);
        }
        self.over.send_replace(true);
        while let Some(joined) = self.services.join_next().await {
            self.keep(joined);
        }
    }

    fn keep(&mut self, joined: Result<(usize, LaneEnd), JoinError>) {
        match joined {
            Ok((place, end)) => {
                self.ended.insert(place, end);
            }
            // A fault of ours must not look like a result. Nobody aborts a
            // lane, so there is no other error.
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => std::panic::panic_any(error.to_string()),
            },
        }
    }
}

/// Every server's life side by side.
fn start_lanes(shared: &Rc<SharedState>, settings: &Rc<ExecSettings>) -> Lanes {
    let mut lanes = JoinSet::new();
    for (place, server) in shared.plan.servers.values().enumerate() {
        let steps: Vec<usize> = shared
            .plan
            .all_steps()
            .enumerate()
            .filter(|(_, step)| step.server == server.name)
            .map(|(index, _)| index)
            .collect();
        let prepared = prepare(server, &shared.scope.borrow(), settings);
        let lane = ServerLane {
            shared: shared.clone(),
            settings: settings.clone(),
            place,
            ladder: ServerLadder::new(
                settings.adapt && server.adapt,
                settings.overrides.get(&server.name),
                settings.store_unread,
            ),
            server: server.clone(),
            script: Script::new(prepared.answers.clone()),
            prepared,
            steps,
        };
        lanes.spawn_local(async move { (place, lane.run().await) });
    }
    let over = watch::Sender::new(false);
    Lanes {
        running: lanes,
        ended: BTreeMap::new(),
        services: start_services(shared, settings, &over),
        over,
    }
}

/// The processes beside the servers that what runs needs.
fn start_services(
    shared: &Rc<SharedState>,
    settings: &Rc<ExecSettings>,
    over: &watch::Sender<bool>,
) -> JoinSet<(usize, LaneEnd)> {
    let mut tasks = JoinSet::new();
    let due = shared.plan.due_services(|step| shared.is_wanted(step));
    shared.services.send_modify(|state| state.open = due.len());
    let first = shared.plan.servers.len();
    for (index, service) in shared.plan.services.values().enumerate() {
        if !due.contains(service.server.name.as_str()) {
            continue;
        }
        let task = ServiceTask {
            shared: shared.clone(),
            settings: settings.clone(),
            place: first + index,
            over: over.subscribe(),
        };
        let service = service.clone();
        tasks.spawn_local(async move {
            let place = task.place;
            let (report, tools) = (task.run(service).await, None);
            (place, LaneEnd { report, tools })
        });
    }
    tasks
}

fn not_started(name: &str) -> ServerReport {
    ServerReport {
        name: name.to_owned(),
        ..ServerReport::default()
    }
}

/// What all of them leave behind.
fn record(
    shared: &SharedState,
    (steps, failures): (Vec<Option<StepReport>>, Vec<Failure>),
    mut ends: BTreeMap<usize, LaneEnd>,
) -> IterationRecord {
    let stopped = shared.stopped();
    let (answers, outputs) = shared.take_kept();
    let mut record = IterationRecord {
        failures,
        answers,
        outputs,
        coverage: shared
            .coverage
            .as_ref()
            .map_or_else(Vec::new, |it| it.items(|text| shared.cleaner.quote(text))),
        interrupted: match stopped {
            Some(Stop::Interrupted(signal)) => Some(signal),
            Some(Stop::Deadline) | None => None,
        },
        deadline_reached: stopped == Some(Stop::Deadline),
        ..IterationRecord::default()
    };
    for (step, report) in shared.plan.all_steps().zip(steps) {
        record.steps.push(report.unwrap_or_else(|| match stopped {
            Some(stop) => StepEnd::not_run(step, StepState::Skipped, stop.because()).report,
            // Every lane ends every step; one that did not would be a fault
            // of ours, and must not be green.
            None => step_report(step, StepState::Blocked),
        }));
    }
    for (place, server) in shared.plan.servers.values().enumerate() {
        let end = ends.remove(&place);
        if let Some(tools) = end.as_ref().and_then(|end| end.tools.clone()) {
            record.tools.push((server.name.clone(), tools));
        }
        let report = end.map_or_else(|| not_started(&server.name), |end| end.report);
        record.servers.push(report);
    }
    // Behind the servers stand the services, where they were started.
    record
        .servers
        .extend(ends.into_values().map(|end| end.report));
    record
}

/// Steps whose server the plan does not define belong to no lane.
fn end_homeless_steps(shared: &Rc<SharedState>, settings: &Rc<ExecSettings>) {
    for (index, step) in shared.plan.all_steps().enumerate() {
        if shared.plan.servers.contains_key(&step.server) {
            continue;
        }
        let left_out = shared.left_out(step);
        let end = if let Some(because) = left_out {
            StepEnd::not_run(step, StepState::Skipped, because)
        } else if let Some(reason) = shared.quarantined(step) {
            StepEnd::not_run(step, StepState::Quarantined, Because::Plan(reason))
        } else {
            unknown_server(step, shared.plan.servers.keys().cloned())
        };
        end.keep(index, shared, settings);
    }
}

async fn watch_for_stop(
    sender: watch::Sender<Stopping>,
    settings: Rc<ExecSettings>,
    deadline: Instant,
) {
    let mut interrupt = settings.interrupt.clone();
    let mut until = async |wanted: fn(&Interrupt) -> bool| {
        let came = interrupt.wait_for(|came| came.as_ref().is_some_and(wanted));
        match came.await {
            Ok(came) => came.map(|came| came.signal),
            Err(_) => std::future::pending().await,
        }
    };
    let why = tokio::select! {
        signal = until(|_| true) => {
            (settings.events)(Event::Interrupted);
            signal.map(Stop::Interrupted)
        }
        () = tokio::time::sleep_until(deadline) => Some(Stop::Deadline),
    };
    let tell = |teardown| {
        sender.send_replace(Stopping { why, teardown });
    };
    if let Some(Stop::Interrupted(_)) = why {
        tell(false);
        tokio::select! {
            _ = until(|came| came.insists) => {}
            () = sleep(TEARDOWN_TAKES) => {}
        }
    }
    tell(true);
    // Dropping the sender would end the waiters' channel.
    std::future::pending::<()>().await;
}

/// Nothing can be executed, for one reason that concerns no server alone.
fn without_tmp(plan: &Plan, error: &std::io::Error) -> Executed {
    let reason = format!(
        "no temporary folder could be made in {} (TMPDIR): {error}",
        std::env::temp_dir().display()
    );
    let quarantined = |step| {
        let because = Because::Plan(reason.clone());
        StepEnd::not_run(step, StepState::Quarantined, because).report
    };
    Executed {
        record: IterationRecord {
            servers: plan.servers.keys().map(|name| not_started(name)).collect(),
            steps: plan.all_steps().map(quarantined).collect(),
            failures: vec![Failure {
                phase: Some(Phase::Config),
                message: Some(reason.clone()),
                ..Failure::default()
            }],
            ..IterationRecord::default()
        },
        rest: None,
        scope: Scope::default(),
    }
}
