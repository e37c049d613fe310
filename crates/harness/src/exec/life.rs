//! What becomes of a server between its steps: deaths noticed, restarts, and
//! the end.
//!
//! Main type: [`Running`].

use super::server_lane::ServerLane;
use super::step_end::{Aftermath, StepEnd, shorten};
use super::subscriptions::Subscriptions;
use super::tool_schemas::ToolSchemas;
use super::wire_check::note_wire_check;
use jelly_base::model::{
    Event, Exit, Failure, Outcome, Phase, ServerReport, ServerState, ToolInfo,
};
use jelly_base::text::{human_duration, plural};
use jelly_plan::Step;
use jelly_process::{How, Mark, Shutdown};
use jelly_wire::{HttpEnd, Launch, ReplyOutcome, Session, describe_exit};
use std::time::Duration;

/// After so many deaths in one iteration a server is not started again.
const MAX_DEATHS: u32 = 3;
/// How long a server may take to show that it is still there.
const PULSE: Duration = Duration::from_millis(250);
/// The same after a call that timed out, when it may be busy.
const PULSE_AFTER_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a server may take to stop when the whole run is being stopped.
pub(super) const HASTY_GRACE: Duration = Duration::from_millis(300);

/// A running server, and what it was before.
pub struct Running {
    /// How it is started again.
    launch: Launch,
    pub report: ServerReport,
    /// Absent while it is down.
    pub session: Option<Session>,
    pub tools: Vec<ToolInfo>,
    pub schemas: ToolSchemas,
    pub subscriptions: Subscriptions,
    /// Up to where its stderr was heard before the next request.
    heard: Mark,
    pub deaths: u32,
    /// It was stopped by us since it no longer answered.
    pub restarts: u32,
    /// It died of the probe for its era once, so nothing unknown is sent.
    pub fragile: bool,
    /// It is not started again.
    down: bool,
}

impl Running {
    pub fn new(session: Session, launch: Launch, report: ServerReport) -> Self {
        let tools = session.tools().to_vec();
        Self {
            launch: Launch {
                era: Some(session.era()),
                ..launch
            },
            report,
            schemas: ToolSchemas::new(&tools),
            tools,
            fragile: session.shy_of_probes(),
            heard: session.stderr().mark(),
            session: Some(session),
            subscriptions: Subscriptions::default(),
            deaths: 0,
            restarts: 0,
            down: false,
        }
    }

    /// What it writes from now on is of no request that it had.
    pub(super) fn listen_anew(&mut self) {
        if let Some(session) = &self.session {
            self.heard = session.stderr().mark();
        }
    }

    fn has_exited(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.exit_watch().has_exited())
    }

    async fn pulse(&self, limit: Duration) -> Pulse {
        let Some(session) = &self.session else {
            return Pulse::Gone;
        };
        let Some(reply) = session.pulse(self.fragile, limit).await else {
            return Pulse::Unknown;
        };
        match reply.outcome {
            // A refusal is a sign of life as good as any.
            ReplyOutcome::Answered(_) | ReplyOutcome::RpcError(_) | ReplyOutcome::Unanswered(_) => {
                Pulse::Beats
            }
            ReplyOutcome::TimedOut(_) if reply.unread => Pulse::Deaf,
            ReplyOutcome::Http(end)
                if end.answered() && !end.session_lost && !end.session_in_doubt =>
            {
                Pulse::Beats
            }
            // Whatever it was, something came.
            ReplyOutcome::Beyond(_) => Pulse::Beats,
            ReplyOutcome::TimedOut(_) | ReplyOutcome::Broken(_) | ReplyOutcome::Http(_) => {
                Pulse::Silent
            }
            ReplyOutcome::Exited(_) => Pulse::Gone,
        }
    }

    /// What is to be thought of the server after a call that ran into its limit and was
    /// given up. One that is merely slow answers a ping. One that goes now has ended with
    /// the call: a tool may have ended the program while a thread that reads kept it. That
    /// is told in the failure of the step, and `stderr` is what was written of it.
    pub(super) async fn after_timeout(&self, end: &mut StepEnd, stderr: &mut String) -> Aftermath {
        let mark = self.session.as_ref().map(|s| s.stderr().mark());
        let pulse = self.pulse(PULSE_AFTER_TIMEOUT).await;
        let (Some(session), Some(mark)) = (&self.session, mark) else {
            return Aftermath::Silent;
        };
        if !self.has_exited() {
            return match pulse {
                Pulse::Beats | Pulse::Unknown => Aftermath::Alive,
                Pulse::Silent | Pulse::Deaf | Pulse::Gone => Aftermath::Silent,
            };
        }
        let exit = session.exit_watch().wait().await;
        session.stderr().settled().await;
        let since = session.stderr().since(mark);
        let said_more = !since.trim().is_empty();
        if said_more && end.failures.iter().any(|f| f.stderr_is_older) {
            stderr.clear();
        }
        stderr.push_str(&since);
        let timed_out = |failure: &&mut Failure| failure.outcome == Some(Outcome::Timeout);
        for failure in end.failures.iter_mut().filter(timed_out) {
            failure.stderr_is_older &= !said_more;
            let how = describe_exit(&exit);
            failure.message = Some(match failure.message.take() {
                Some(message) => format!("{message}, and then the server exited {how}"),
                None => format!("The server exited {how}"),
            });
            failure.exit = Some(exit.clone());
            failure.process_alive = Some(false);
        }
        Aftermath::Died
    }
}

/// What a server that is asked for a sign of life shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pulse {
    Beats,
    /// It read the question and did not answer it.
    Silent,
    /// It did not even read the question.
    Deaf,
    Gone,
    /// There is nothing that it could be asked.
    Unknown,
}

impl ServerLane {
    /// Sees to it that the server can be asked, if there is a way.
    pub(super) async fn make_ready(&self, running: &mut Running) {
        if running.has_exited() {
            self.uninvited_exit(running).await;
        }
        if running.session.is_none() && !running.down && self.shared.stopped().is_none() {
            self.restart(running).await;
        }
    }

    /// After a step.
    pub(super) async fn look_after(&self, aftermath: Aftermath, running: &mut Running) {
        match aftermath {
            Aftermath::Alive => {}
            Aftermath::Died => {
                running.deaths += 1;
                self.bury(running).await;
            }
            // Dealt with before the step ended.
            Aftermath::DiedBefore | Aftermath::SessionLost(_) => {}
            Aftermath::Unsure => match running.pulse(PULSE_AFTER_TIMEOUT).await {
                Pulse::Beats | Pulse::Unknown => {}
                Pulse::Silent | Pulse::Deaf | Pulse::Gone => self.replace(running).await,
            },
            Aftermath::Silent => self.replace(running).await,
        }
    }

    /// Records a death that no request can have caused.
    pub(super) async fn uninvited_exit(&self, running: &mut Running) {
        let Some(session) = &running.session else {
            return;
        };
        let exit = session.exit_watch().wait().await;
        session.stderr().settled().await;
        let since = session.stderr().since(running.heard);
        let is_older = since.trim().is_empty();
        let stderr = if is_older {
            session.stderr().tail()
        } else {
            since
        };
        self.tell_uninvited_exit(exit, running, &stderr, is_older);
        running.deaths += 1;
        self.bury(running).await;
    }

    fn tell_uninvited_exit(&self, exit: Exit, running: &Running, stderr: &str, is_older: bool) {
        let mut failure = self.prepared.facts.failure(Phase::Call, "");
        self.complete(&mut failure, running, stderr);
        failure.message = Some(format!(
            "the server exited {} between two requests, and nobody had asked it to",
            describe_exit(&exit)
        ));
        failure.outcome = Some(Outcome::Eof);
        failure.exit = Some(exit);
        failure.process_alive = Some(false);
        failure.stderr_is_older = is_older;
        self.server_failed(failure);
    }

    /// Records that the server gave up the session before the step, for which
    /// the step is not to blame; the step gets a new one.
    pub(super) async fn session_lost(&self, end: HttpEnd, step: &Step, running: &mut Running) {
        let mut failure = self.prepared.facts.failure(Phase::Call, "");
        let stderr = running.session.as_ref().map(|s| s.stderr().tail());
        self.complete(&mut failure, running, &stderr.unwrap_or_default());
        failure.message = Some(format!(
            "{}: the request of `{}` {}",
            if end.session_lost {
                "the server no longer knows the session"
            } else {
                "the server seems to know the session no longer"
            },
            step.id,
            end.message
        ));
        failure.rpc_error = end.rpc_error;
        failure.http = Some(end.facts);
        self.server_failed(failure);
        running.deaths += 1;
        self.bury(running).await;
    }

    /// Puts a dead server's session away; what it leaves behind is killed.
    async fn bury(&self, running: &mut Running) {
        running.subscriptions.clear();
        let Some(mut session) = running.session.take() else {
            return;
        };
        running.report.state = ServerState::Died;
        running.report.exit = session.exit_watch().now();
        self.tell_unfit(&session, &mut running.report);
        note_evidence(&session, &mut running.report);
        session.shutdown(HASTY_GRACE).await;
        running.report.ended_ms = Some(self.shared.elapsed_ms());
        note_wire_check(&session, &mut running.report);
        if running.deaths >= MAX_DEATHS {
            running.down = true;
            let times = plural(running.deaths, "time");
            running.report.notes.push(if session.has_process() {
                format!("it died {times} in this iteration and is not started again")
            } else {
                format!("it lost its session {times} in this iteration and is given no other")
            });
        }
    }

    /// Of a server that is stuck, so that one hanging call is one failure.
    async fn replace(&self, running: &mut Running) {
        if running.has_exited() {
            return self.uninvited_exit(running).await;
        }
        running.subscriptions.clear();
        if let Some(mut session) = running.session.take() {
            note_evidence(&session, &mut running.report);
            running.report.notes.push(format!(
                "it no longer answered after a call that went wrong, and {}",
                afresh(&session)
            ));
            running.restarts += 1;
            session.shutdown(HASTY_GRACE).await;
            running.report.ended_ms = Some(self.shared.elapsed_ms());
            note_wire_check(&session, &mut running.report);
        }
    }

    async fn restart(&self, running: &mut Running) {
        self.emit(Event::ServerRestarting {
            server: self.server.name.clone(),
        });
        let report = &mut running.report;
        let (state, exit) = (report.state, report.exit.take());
        match self.start(&running.launch, report).await {
            Ok(session) => {
                report.restarts += 1;
                report.ended_ms = None;
                running.tools = session.tools().to_vec();
                running.schemas = running.schemas.followed_by(&running.tools);
                report.state = state;
                running.heard = session.stderr().mark();
                running.session = Some(session);
            }
            Err(_) => {
                running.down = true;
                // It was ready once, which is more than a failed start says.
                report.state = ServerState::Died;
                report
                    .notes
                    .push("it could not be started again".to_owned());
            }
        }
        // Its death stays what the report tells of it.
        if exit.is_some() {
            report.exit = exit;
        }
    }

    /// Stops a server whose steps are done.
    pub(super) async fn stop(&self, running: &mut Running) {
        if self.shared.stopped().is_none() {
            self.look_a_last_time(running).await;
        }
        running.subscriptions.clear();
        let Some(mut session) = running.session.take() else {
            return;
        };
        let mut grace = match self.shared.stopped() {
            Some(_) => HASTY_GRACE.min(self.server.shutdown_timeout),
            None => self.server.shutdown_timeout,
        };
        let stderr = session.stderr();
        self.tell_unfit(&session, &mut running.report);
        note_evidence(&session, &mut running.report);
        let shutdown = tokio::select! {
            biased;
            shutdown = session.shutdown(grace) => shutdown,
            _ = self.shared.stop(), if grace > HASTY_GRACE => {
                // Whoever ends the run does not mean to wait for a server.
                grace = HASTY_GRACE;
                session.shutdown(grace).await
            }
        };
        running.report.ended_ms = Some(self.shared.elapsed_ms());
        note_wire_check(&session, &mut running.report);
        running.report.stderr_tail = shorten(&stderr.tail());
        // Without a process there is nothing that would have to end.
        let Some(shutdown) = shutdown else {
            return;
        };
        if running.report.state == ServerState::Ready {
            running.report.exit.clone_from(&shutdown.exit);
        }
        let by_pipes = self.prepared.facts.url.is_none();
        running
            .report
            .notes
            .extend(unusual_end(&shutdown, grace, by_pipes));
        if shutdown.exit.is_none() {
            running.report.state = ServerState::Died;
            self.server_failed(
                self.prepared
                    .facts
                    .failure(Phase::Teardown, "the server could not be stopped"),
            );
        }
    }

    /// A server that dies of its last answer is as dead as any other. While it
    /// does not read, it may be about to: then it is given the time that it
    /// would have for its shutdown.
    async fn look_a_last_time(&self, running: &mut Running) {
        if running.session.as_ref().is_some_and(|s| !s.has_process()) {
            return;
        }
        if running.pulse(PULSE).await == Pulse::Deaf && !running.has_exited() {
            running.pulse(self.server.shutdown_timeout).await;
        }
        if running.has_exited() {
            self.uninvited_exit(running).await;
        }
    }
}

/// What becomes of a server that is given up and wanted again.
pub(super) fn afresh(session: &Session) -> &'static str {
    if session.has_process() {
        "was started afresh"
    } else {
        "was given a new session"
    }
}

fn note_evidence(session: &Session, report: &mut ServerReport) {
    let (noise, sample) = session.noise();
    report.stdout_noise += noise;
    if report.stdout_noise_sample.is_empty() {
        report.stdout_noise_sample = sample;
    }
    report.stderr_tail = shorten(&session.stderr().tail());
    if let Some(error) = session.stderr().sink_error() {
        report
            .notes
            .push(format!("its stderr log is not complete: {error}"));
    }
    for breach in session.breaches() {
        report.notes.push(format!("the server {breach}"));
    }
    for unread in session.unread() {
        report.notes.push(format!(
            "the server {unread}: a limit of jelly's own, which proves nothing against it"
        ));
    }
}

/// What a reader should know of how a server was stopped.
fn unusual_end(shutdown: &Shutdown, grace: Duration, by_pipes: bool) -> Option<String> {
    let odd_exit = shutdown.exit.as_ref().filter(|exit| exit.code != Some(0));
    let odd_exit = odd_exit.map(describe_exit);
    let grace = human_duration(grace);
    match shutdown.how {
        How::AlreadyExited if !by_pipes => {
            Some(format!("it exited {} before it was told to end", odd_exit?))
        }
        // Nothing but a signal ends a server that does not serve by its pipes.
        How::Graceful | How::Terminated if !by_pipes => None,
        How::Killed if !by_pipes => Some(format!(
            "it did not exit on SIGTERM within {grace}, and was killed"
        )),
        // It was told to end, so this is no failure; yet it may have been about
        // to crash anyway.
        How::Graceful | How::AlreadyExited => {
            Some(format!("it exited {} when its stdin was closed", odd_exit?))
        }
        How::Terminated => Some(format!(
            "it did not exit within {grace} of its stdin being closed, and was stopped by SIGTERM"
        )),
        How::Killed => Some(format!(
            "it neither exited when its stdin was closed nor on SIGTERM within {grace} each, and \
             was killed"
        )),
    }
}
