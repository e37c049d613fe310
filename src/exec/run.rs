//! One iteration: fresh servers, a fresh `${tmp}`, every lane side by side.

use super::board::{Board, Stop};
use super::lane::{Lane, LaneEnd};
use super::launch::prepare;
use super::output::prepare_schemas;
use super::settings::ExecSettings;
use super::step::{StepEnd, unknown_server};
use crate::model::{
    Because, Event, Failure, IterationRecord, Phase, ServerReport, ServerState, StepReport,
    StepState,
};
use crate::plan::{Plan, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::rc::Rc;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

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
    /// The names as they stood at the end, for repairs to resolve with. Its
    /// `${tmp}` is gone.
    pub scope: Scope,
}

/// Executes the plan once. Must run inside a [`tokio::task::LocalSet`].
///
/// It never fails: what goes wrong is in the record.
pub async fn execute(
    plan: &Rc<Plan>,
    settings: &Rc<ExecSettings>,
    iteration: &Iteration<'_>,
) -> Executed {
    let selected = settings.selection.select(plan).unwrap_or_default();
    (settings.events)(Event::IterationStarted {
        index: iteration.index,
        steps: selected.len(),
    });
    let tmp = match tempfile::Builder::new().prefix("jelly-").tempdir() {
        Ok(tmp) => tmp,
        Err(error) => return without_tmp(plan, &error),
    };
    let mut vars = plan.vars.clone();
    vars.extend(settings.vars.clone());
    let scope = Scope::new(
        settings.project_dir.clone(),
        tmp.path().to_owned(),
        settings.env.clone(),
        choose_ports(plan, iteration.ports_in_use),
        &vars,
    );

    let (stop_sender, stop) = watch::channel(None);
    let board = Rc::new(Board::new(
        plan.clone(),
        selected,
        iteration.quarantined.clone(),
        scope,
        settings.fail_fast,
        stop,
    ));
    let watchdog = tokio::task::spawn_local(watch_for_stop(
        stop_sender,
        settings.clone(),
        iteration.deadline,
    ));

    end_homeless_steps(&board, settings);
    let mut lanes = JoinSet::new();
    for (place, server) in plan.servers.values().enumerate() {
        let steps: Vec<usize> = plan
            .all_steps()
            .enumerate()
            .filter(|(_, step)| step.server == server.name)
            .map(|(index, _)| index)
            .collect();
        let prepared = prepare(
            server,
            &board.scope.borrow(),
            &settings.project_dir,
            settings.jelly.as_deref(),
            &settings.redactor,
        );
        let lane = Lane {
            board: board.clone(),
            settings: settings.clone(),
            place,
            server: server.clone(),
            prepared,
            steps,
        };
        lanes.spawn_local(async move { (place, lane.run().await) });
    }
    let schemas = tokio::task::spawn_local(async {
        // By then the servers are started and asked; what they take to answer
        // is time that would only be waited.
        tokio::task::yield_now().await;
        prepare_schemas();
    });
    let mut ends: BTreeMap<usize, LaneEnd> = BTreeMap::new();
    while let Some(joined) = lanes.join_next().await {
        match joined {
            Ok((place, end)) => {
                ends.insert(place, end);
            }
            // A fault of ours must not look like a result.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => {}
        }
    }
    watchdog.abort();
    schemas.abort();
    let stopped = board.stopped();
    let (steps, failures) = board.finish();
    let mut record = IterationRecord {
        failures,
        interrupted: match stopped {
            Some(Stop::Interrupted(signal)) => Some(signal),
            Some(Stop::Deadline) | None => None,
        },
        deadline_reached: stopped == Some(Stop::Deadline),
        ..IterationRecord::default()
    };
    for (step, report) in plan.all_steps().zip(steps) {
        record.steps.push(report.unwrap_or_else(|| {
            // Every lane ends every step; one that did not would be a fault
            // of ours, and must not be green.
            blank_step(step, StepState::Blocked)
        }));
    }
    for (server, end) in plan.servers.values().zip(ends.into_values()) {
        if let Some(tools) = end.tools {
            record.tools.push((server.name.clone(), tools));
        }
        record.servers.push(end.report);
    }
    let scope = board.scope.borrow().clone();
    tidy(&mut record, &scope, settings);
    Executed { record, scope }
}

/// Steps whose server the plan does not define belong to no lane.
fn end_homeless_steps(board: &Rc<Board>, settings: &Rc<ExecSettings>) {
    for (index, step) in board.plan.all_steps().enumerate() {
        if board.plan.servers.contains_key(&step.server) {
            continue;
        }
        let end = if !board.selected.contains(&step.id) {
            StepEnd::not_run(StepState::Skipped, Because::NotSelected)
        } else if let Some(reason) = board.quarantined(step) {
            StepEnd::not_run(StepState::Quarantined, Because::Plan(reason))
        } else {
            unknown_server(step, board.plan.servers.keys().cloned())
        };
        let mut report = blank_step(step, end.state);
        report.because = end.because;
        (settings.events)(Event::StepFinished {
            message: end.failure.as_ref().and_then(|failure| {
                let message = failure.message.as_deref()?;
                Some(settings.redactor.redact(message).into_owned())
            }),
            step: Box::new(report.clone()),
        });
        if let Some(failure) = end.failure {
            board.fail_step(index, *failure);
        }
        board.end(index, report);
    }
}

async fn watch_for_stop(
    sender: watch::Sender<Option<Stop>>,
    settings: Rc<ExecSettings>,
    deadline: Instant,
) {
    let mut interrupt = settings.interrupt.clone();
    let stop = tokio::select! {
        signal = async {
            match interrupt.wait_for(Option::is_some).await {
                Ok(signal) => *signal,
                Err(_) => std::future::pending().await,
            }
        } => {
            (settings.events)(Event::Interrupted);
            signal.map_or(Stop::Deadline, Stop::Interrupted)
        }
        () = tokio::time::sleep_until(deadline) => Stop::Deadline,
    };
    // The board holds the receiver until the iteration is over.
    let _ = sender.send(Some(stop));
    // Dropping the sender would end the waiters' channel.
    std::future::pending::<()>().await;
}

/// A free port for every server that asks for one. The port is free when it
/// is chosen; that it stays free until the server takes it can't be promised.
fn choose_ports(plan: &Plan, taken: &BTreeMap<String, u16>) -> BTreeMap<String, u16> {
    let mut held = Vec::new();
    let mut ports = BTreeMap::new();
    for server in plan.ports() {
        for _ in 0..16 {
            let Ok(listener) = TcpListener::bind(("127.0.0.1", 0)) else {
                break;
            };
            let Ok(address) = listener.local_addr() else {
                break;
            };
            // Held until all are chosen, so that no two are the same.
            held.push(listener);
            if taken.get(&server) != Some(&address.port()) {
                ports.insert(server.clone(), address.port());
                break;
            }
        }
    }
    ports
}

fn blank_step(step: &crate::plan::Step, state: StepState) -> StepReport {
    StepReport {
        id: step.id.clone(),
        name: step.name.clone(),
        section: step.section,
        server: step.server.clone(),
        state,
        because: None,
        attempts: 0,
        duration_ms: None,
        adapter: None,
        error_category: None,
        retryable: None,
        flaky: false,
    }
}

fn blank_server(name: &str) -> ServerReport {
    ServerReport {
        name: name.to_owned(),
        state: ServerState::NotStarted,
        era: None,
        protocol_version: None,
        startup_ms: None,
        exit: None,
        stderr_tail: String::new(),
        server_info: None,
        stdout_noise: 0,
        stdout_noise_sample: Vec::new(),
        restarts: 0,
        notes: Vec::new(),
    }
}

/// Nothing can be executed, for one reason that concerns no server alone.
fn nothing_executed(plan: &Plan, failure: Failure) -> IterationRecord {
    let reason = failure.message.clone().unwrap_or_default();
    IterationRecord {
        servers: plan.servers.keys().map(|name| blank_server(name)).collect(),
        steps: plan
            .all_steps()
            .map(|step| StepReport {
                because: Some(Because::Plan(reason.clone())),
                ..blank_step(step, StepState::Quarantined)
            })
            .collect(),
        failures: vec![failure],
        ..IterationRecord::default()
    }
}

fn without_tmp(plan: &Plan, error: &std::io::Error) -> Executed {
    let failure = Failure {
        phase: Some(Phase::Config),
        message: Some(format!("no temporary folder could be made: {error}")),
        ..Failure::default()
    };
    Executed {
        record: nothing_executed(plan, failure),
        scope: Scope::default(),
    }
}

/// Takes secrets out of everything, and puts names in the place of what only
/// this iteration has: its `${tmp}` and its ports. So two runs of the same
/// plan read the same, and have the same fingerprints.
fn tidy(record: &mut IterationRecord, scope: &Scope, settings: &ExecSettings) {
    let tmp = scope.tmp.display().to_string();
    let mut names: Vec<(String, String)> = vec![(tmp, "${tmp}".to_owned())];
    names.extend(
        scope
            .ports
            .values()
            .map(|port| (format!("127.0.0.1:{port}"), "127.0.0.1:${port}".to_owned())),
    );
    let clean = |text: &mut String| {
        if let std::borrow::Cow::Owned(redacted) = settings.redactor.redact(text) {
            *text = redacted;
        }
        for (value, name) in &names {
            if text.contains(value.as_str()) {
                *text = text.replace(value.as_str(), name);
            }
        }
        for port in scope.ports.values() {
            if *text == port.to_string() {
                *text = "${port}".to_owned();
            }
        }
    };
    for failure in &mut record.failures {
        // One walk over the failure as data reaches every text in it, those
        // of fields that are added later too.
        if let Ok(mut value) = serde_json::to_value(&*failure) {
            each_text(&mut value, &clean);
            if let Ok(cleaned) = serde_json::from_value(value) {
                *failure = cleaned;
            }
        }
    }
    for server in &mut record.servers {
        clean(&mut server.stderr_tail);
        server.notes.iter_mut().for_each(clean);
        server.stdout_noise_sample.iter_mut().for_each(clean);
        if let Some(info) = &mut server.server_info {
            each_text(info, &clean);
        }
    }
    for step in &mut record.steps {
        if let Some(Because::Plan(reason)) = &mut step.because {
            clean(reason);
        }
    }
}

fn each_text(value: &mut serde_json::Value, clean: &impl Fn(&mut String)) {
    match value {
        serde_json::Value::String(text) => clean(text),
        serde_json::Value::Array(items) => items.iter_mut().for_each(|v| each_text(v, clean)),
        serde_json::Value::Object(map) => {
            let keys_change = map.keys().any(|key| {
                let mut cleaned = key.clone();
                clean(&mut cleaned);
                cleaned != *key
            });
            if keys_change {
                *map = std::mem::take(map)
                    .into_iter()
                    .map(|(mut key, value)| {
                        clean(&mut key);
                        (key, value)
                    })
                    .collect();
            }
            map.values_mut().for_each(|v| each_text(v, clean));
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}
