//! The life of one server in one iteration: started, its steps run in order,
//! restarted when it died, stopped.

use super::board::Board;
use super::launch::Prepared;
use super::preflight::ToolBook;
use super::settings::ExecSettings;
use super::step::{self, StepEnd};
use crate::model::{
    Because, Era, Event, Failure, Outcome, Phase, ServerReport, ServerState, StepReport, StepState,
    ToolInfo,
};
use crate::plan::{Server, Step};
use crate::process::How;
use crate::text::{human_duration, plural, truncate_middle};
use crate::wire::{self, Launch, ReplyOutcome, Session, StartFailure, describe_exit};
use serde_json::Value;
use std::rc::Rc;
use std::time::Duration;

/// After so many deaths in one iteration a server is not started again.
const MAX_DEATHS: u32 = 3;
/// How long a server may take to show that it is still there.
const PULSE: Duration = Duration::from_millis(250);
/// The same after a call that timed out, when it may be busy.
const PULSE_AFTER_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a server may take to stop when the whole run is being stopped.
const HASTY_GRACE: Duration = Duration::from_millis(300);
/// How much of a server's stderr a report shows.
const REPORTED_STDERR: usize = 8 * 1024;

/// One server with its steps.
pub struct Lane {
    pub board: Rc<Board>,
    pub settings: Rc<ExecSettings>,
    /// The place of the server in the plan.
    pub place: usize,
    pub server: Server,
    pub prepared: Prepared,
    /// The places of its steps in the plan.
    pub steps: Vec<usize>,
}

/// What a lane leaves behind.
pub struct LaneEnd {
    pub report: ServerReport,
    /// Absent if the server never listed them.
    pub tools: Option<Vec<ToolInfo>>,
}

/// A running server, and what it was before.
struct Running {
    session: Option<Session>,
    book: ToolBook,
    deaths: u32,
    /// It was stopped by us since it no longer answered.
    restarts: u32,
    era: Era,
    /// It died of the probe for its era once, so nothing unknown is sent.
    fragile: bool,
    down: Option<String>,
}

impl Lane {
    /// Lives the server's life. Never fails: what goes wrong is on the board
    /// and in the report.
    pub async fn run(self) -> LaneEnd {
        let mut report = self.blank_report();
        let wanted = self
            .steps
            .iter()
            .any(|&i| self.board.selected.contains(&self.board.step(i).id));
        if !wanted {
            self.end_all(&Because::NotSelected).await;
            return LaneEnd {
                report,
                tools: None,
            };
        }
        let launch = match &self.prepared.command {
            Ok(command) => self.launch(command.clone()),
            Err(failures) => {
                report.state = ServerState::Failed;
                for failure in failures {
                    self.server_failed(failure.clone());
                }
                self.end_all(&Because::Server(self.server.name.clone()))
                    .await;
                return LaneEnd {
                    report,
                    tools: None,
                };
            }
        };
        let session = match self.start(&launch, &mut report).await {
            Ok(session) => session,
            Err(because) => {
                self.end_all(&because).await;
                return LaneEnd {
                    report,
                    tools: None,
                };
            }
        };
        let tools = session.tools().to_vec();
        let mut running = Running {
            book: ToolBook::new(&tools),
            era: session.era(),
            fragile: session.shy_of_probes(),
            session: Some(session),
            deaths: 0,
            restarts: 0,
            down: None,
        };
        for &index in &self.steps {
            self.board.turn(index).await;
            let step = self.board.step(index);
            self.run_step(index, step, &launch, &mut running, &mut report)
                .await;
        }
        self.stop(running, &mut report).await;
        LaneEnd {
            report,
            tools: Some(tools),
        }
    }

    fn blank_report(&self) -> ServerReport {
        ServerReport {
            name: self.server.name.clone(),
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

    fn launch(&self, command: crate::process::CommandSpec) -> Launch {
        Launch {
            era: self.server.era,
            startup_timeout: self.server.startup_timeout,
            request_timeout: self.server.request_timeout,
            shutdown_timeout: self.server.shutdown_timeout,
            redactor: self.settings.redactor.clone(),
            recorder: self.settings.recorder.clone(),
            stderr_log: (self.settings.stderr_log)(&self.server.name),
            ..Launch::new(&self.server.name, command)
        }
    }

    fn emit(&self, event: Event) {
        (self.settings.events)(event);
    }

    /// What of a failure an event may say.
    fn shown(&self, failure: &Failure) -> Option<String> {
        let message = failure.message.as_deref()?;
        Some(self.settings.redactor.redact(message).into_owned())
    }

    fn server_failed(&self, failure: Failure) {
        self.emit(Event::ServerFailed {
            server: self.server.name.clone(),
            message: self.shown(&failure).unwrap_or_default(),
        });
        self.board.fail_server(self.place, failure);
    }

    /// Starts the server, or says why its steps can't run.
    async fn start(&self, launch: &Launch, report: &mut ServerReport) -> Result<Session, Because> {
        self.emit(Event::ServerStarting {
            server: self.server.name.clone(),
            argv: self.prepared.facts.argv.clone(),
        });
        let started = tokio::select! {
            started = async {
                // The permit ends with the start: a running server costs
                // little, a starting one a processor. The semaphore is never
                // closed, so there is always a permit in the end.
                let _permit = self.settings.starts.acquire().await;
                wire::start(launch).await
            } => started,
            stop = self.board.stop() => {
                report.state = ServerState::Failed;
                report.notes.push("stopped before it was ready".to_owned());
                return Err(stop.because());
            }
        };
        match started {
            Ok(session) => {
                report.state = ServerState::Ready;
                report.era = Some(session.era().to_string());
                report.protocol_version = Some(session.protocol_version().to_owned());
                report.startup_ms = Some(millis(session.startup()));
                let info = session.server_info();
                report.server_info = (!info.is_null()).then(|| info.clone());
                report.notes.extend(session.notes().iter().cloned());
                self.emit(Event::ServerReady {
                    server: self.server.name.clone(),
                    era: session.era().to_string(),
                    protocol_version: session.protocol_version().to_owned(),
                    tools: session.tools().len(),
                    elapsed: session.startup(),
                });
                Ok(session)
            }
            Err(failure) => {
                report.state = ServerState::Failed;
                report.exit.clone_from(&failure.exit);
                report.stderr_tail = shorten(&failure.stderr);
                report.stdout_noise = failure.noise_count;
                report.stdout_noise_sample.clone_from(&failure.stdout_noise);
                report.era = failure.era.map(|era| era.to_string());
                report.notes.extend(failure.notes.iter().cloned());
                self.server_failed(self.start_failure(*failure));
                Err(Because::Server(self.server.name.clone()))
            }
        }
    }

    fn start_failure(&self, start: StartFailure) -> Failure {
        let mut failure = self.prepared.facts.failure(start.phase, start.message);
        failure.outcome = Some(start.outcome);
        failure.spawn_error = start.spawn_error;
        failure.exit = start.exit;
        failure.process_alive = Some(start.process_alive);
        failure.stderr = Some(start.stderr);
        failure.stdout_noise = start.stdout_noise;
        failure.request = start.request;
        failure.rpc_error = start.rpc_error;
        failure.protocol_breach = start.protocol_breach;
        failure.timeout_s = start.timeout.map(|limit| limit.as_secs_f64());
        failure.showed_life = Some(start.showed_life);
        failure.server_info = start.server_info;
        failure.elapsed_ms = Some(millis(start.elapsed));
        failure
    }

    /// Ends every step of a server that never became ready.
    async fn end_all(&self, because: &Because) {
        for &index in &self.steps {
            self.board.turn(index).await;
            let step = self.board.step(index);
            let (state, because) = self.board.hindrance(step).unwrap_or_else(|| {
                let state = match because {
                    Because::Server(_) => StepState::Blocked,
                    Because::NotSelected
                    | Because::FailFast
                    | Because::Deadline
                    | Because::Interrupted
                    | Because::Step(_)
                    | Because::Setup(_)
                    | Because::Plan(_) => StepState::Skipped,
                };
                (state, because.clone())
            });
            self.end(index, step, StepEnd::not_run(state, because));
        }
    }

    fn end(&self, index: usize, step: &Step, end: StepEnd) {
        let report = StepReport {
            id: step.id.clone(),
            name: step.name.clone(),
            section: step.section,
            server: step.server.clone(),
            state: end.state,
            because: end.because,
            attempts: u32::from(end.duration.is_some()),
            duration_ms: end
                .duration
                .map(|d| (d.as_secs_f64() * 1e6).round() / 1000.0),
            adapter: end.adapter.map(str::to_owned),
            error_category: None,
            retryable: None,
            flaky: false,
        };
        self.emit(Event::StepFinished {
            message: end.failure.as_ref().and_then(|f| self.shown(f)),
            step: Box::new(report.clone()),
        });
        if let Some(failure) = end.failure {
            self.board.fail_step(index, *failure);
        }
        self.board.end(index, report);
    }

    async fn run_step(
        &self,
        index: usize,
        step: &Step,
        launch: &Launch,
        running: &mut Running,
        report: &mut ServerReport,
    ) {
        if let Some((state, because)) = self.board.hindrance(step) {
            return self.end(index, step, StepEnd::not_run(state, because));
        }
        if let Some(reason) = self.board.quarantined(step) {
            let end = StepEnd::not_run(StepState::Quarantined, Because::Plan(reason));
            return self.end(index, step, end);
        }
        self.look_for_death(running, report).await;
        if running.session.is_none() && running.down.is_none() {
            self.restart(launch, running, report).await;
        }
        let Some(session) = running.session.as_ref() else {
            let because = match self.board.stopped() {
                Some(stop) => StepEnd::not_run(StepState::Skipped, stop.because()),
                None => StepEnd::not_run(
                    StepState::Blocked,
                    Because::Server(self.server.name.clone()),
                ),
            };
            return self.end(index, step, because);
        };
        self.emit(Event::StepStarted {
            step: step.id.clone(),
            server: step.server.clone(),
        });
        let limit = step.timeout.unwrap_or(self.server.request_timeout);
        let ran = tokio::select! {
            ran = step::run(&self.board, session, &running.book, step, limit) => ran,
            stop = self.board.stop() => {
                let end = StepEnd::not_run(StepState::Skipped, stop.because());
                return self.end(index, step, end);
            }
        };
        let mut end = ran.end;
        if let Some(failure) = &mut end.failure {
            self.complete(failure, session, running, &ran.stderr);
        }
        self.end(index, step, end);
        match ran.aftermath {
            step::Aftermath::Alive => {}
            step::Aftermath::Died => {
                running.deaths += 1;
                self.bury(running, report).await;
            }
            step::Aftermath::Unsure => self.check_pulse_or_replace(running, report).await,
        }
    }

    /// What every failure of a step says of its server.
    fn complete(&self, failure: &mut Failure, session: &Session, running: &Running, stderr: &str) {
        let facts = &self.prepared.facts;
        let known = facts.failure(Phase::Call, "");
        failure.server = known.server;
        failure.transport = known.transport;
        failure.command = known.command;
        failure.argv = known.argv;
        failure.cwd = known.cwd;
        failure.env_delta = known.env_delta;
        failure.url = known.url;
        failure.stderr = Some(stderr.to_owned());
        failure.stdout_noise = session.noise().1;
        failure.server_info = Some(session.server_info().clone()).filter(|info| !info.is_null());
        failure.tools_listed = running
            .book
            .names()
            .iter()
            .map(|name| Value::from(name.as_str()))
            .collect();
        failure.after_restart = running.deaths + running.restarts > 0;
    }

    /// Notices a server that went away between two steps.
    async fn look_for_death(&self, running: &mut Running, report: &mut ServerReport) {
        let exited = running
            .session
            .as_ref()
            .is_some_and(|session| session.exit_watch().has_exited());
        if exited {
            self.uninvited_exit(running, report).await;
        }
    }

    async fn uninvited_exit(&self, running: &mut Running, report: &mut ServerReport) {
        let Some(session) = &running.session else {
            return;
        };
        let exit = session.exit_watch().wait().await;
        session.stderr().settled().await;
        let mut failure = self.prepared.facts.failure(
            Phase::Call,
            format!(
                "the server exited {} between two requests, and nobody had asked it to",
                describe_exit(&exit)
            ),
        );
        failure.outcome = Some(Outcome::Eof);
        failure.exit = Some(exit);
        failure.process_alive = Some(false);
        let stderr = session.stderr().tail();
        self.complete(&mut failure, session, running, &stderr);
        self.server_failed(failure);
        running.deaths += 1;
        self.bury(running, report).await;
    }

    /// Puts a dead server's session away; what it leaves behind is killed.
    async fn bury(&self, running: &mut Running, report: &mut ServerReport) {
        let Some(session) = running.session.take() else {
            return;
        };
        report.state = ServerState::Died;
        report.exit = session.exit_watch().now();
        self.note_evidence(&session, report);
        session.shutdown(HASTY_GRACE).await;
        if running.deaths >= MAX_DEATHS {
            running.down = Some(format!(
                "it died {} in this iteration and is not started again",
                plural(running.deaths, "time")
            ));
            report.notes.extend(running.down.clone());
        }
    }

    /// After a time-out: a server that is merely slow answers a ping, one
    /// that is stuck is replaced, so that one hanging call is one failure.
    async fn check_pulse_or_replace(&self, running: &mut Running, report: &mut ServerReport) {
        if running.fragile || self.has_pulse(running, PULSE_AFTER_TIMEOUT).await {
            return;
        }
        let exited = running
            .session
            .as_ref()
            .is_some_and(|session| session.exit_watch().has_exited());
        if exited {
            return self.uninvited_exit(running, report).await;
        }
        if let Some(session) = running.session.take() {
            self.note_evidence(&session, report);
            report.notes.push(
                "it no longer answered after a call that timed out, and was started afresh"
                    .to_owned(),
            );
            running.restarts += 1;
            session.shutdown(HASTY_GRACE).await;
        }
    }

    async fn has_pulse(&self, running: &Running, limit: Duration) -> bool {
        let Some(session) = &running.session else {
            return true;
        };
        let method = match running.era {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        };
        match session.request(method, Value::Null, limit).await.outcome {
            // A refusal is a sign of life as good as any.
            ReplyOutcome::Answered(_) | ReplyOutcome::RpcError(_) => true,
            ReplyOutcome::TimedOut(_) | ReplyOutcome::Exited(_) | ReplyOutcome::Broken(_) => false,
        }
    }

    async fn restart(&self, launch: &Launch, running: &mut Running, report: &mut ServerReport) {
        self.emit(Event::ServerRestarting {
            server: self.server.name.clone(),
        });
        let launch = Launch {
            era: Some(running.era),
            ..launch.clone()
        };
        let (state, exit) = (report.state, report.exit.take());
        match self.start(&launch, report).await {
            Ok(session) => {
                // Its death stays what the report tells of it.
                report.state = state;
                report.exit = exit;
                report.restarts += 1;
                running.session = Some(session);
            }
            Err(_) => running.down = Some("it could not be started again".to_owned()),
        }
    }

    fn note_evidence(&self, session: &Session, report: &mut ServerReport) {
        let (noise, sample) = session.noise();
        report.stdout_noise += noise;
        if report.stdout_noise_sample.is_empty() {
            report.stdout_noise_sample = sample;
        }
        report.stderr_tail = shorten(&session.stderr().tail());
        for breach in session.breaches() {
            report.notes.push(format!("the server {breach}"));
        }
    }

    /// Stops a server whose steps are done.
    async fn stop(&self, mut running: Running, report: &mut ServerReport) {
        // A server that dies of its last answer is as dead as any other.
        if self.board.stopped().is_none() && running.session.is_some() {
            if !running.fragile {
                self.has_pulse(&running, PULSE).await;
            }
            self.look_for_death(&mut running, report).await;
        }
        let Some(session) = running.session.take() else {
            return;
        };
        let grace = match self.board.stopped() {
            Some(_) => HASTY_GRACE.min(self.server.shutdown_timeout),
            None => self.server.shutdown_timeout,
        };
        let stderr = session.stderr();
        self.note_evidence(&session, report);
        let shutdown = session.shutdown(grace).await;
        report.stderr_tail = shorten(&stderr.tail());
        if report.state == ServerState::Ready {
            report.exit.clone_from(&shutdown.exit);
        }
        match shutdown.how {
            How::Graceful | How::AlreadyExited => {}
            How::Terminated => report.notes.push(format!(
                "it did not exit within {} of its stdin being closed, and was stopped by SIGTERM",
                human_duration(grace)
            )),
            How::Killed => report.notes.push(format!(
                "it neither exited when its stdin was closed nor on SIGTERM within {} each, and \
                 was killed",
                human_duration(grace)
            )),
        }
        if shutdown.exit.is_none() {
            report.state = ServerState::Died;
            self.server_failed(
                self.prepared
                    .facts
                    .failure(Phase::Teardown, "the server could not be stopped"),
            );
        }
    }
}

fn shorten(stderr: &str) -> String {
    truncate_middle(stderr, REPORTED_STDERR).into_owned()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
