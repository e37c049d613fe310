//! `startup` of a server: how it starts, held against what the plan expects, as a
//! step of its own.
//!
//! A server that could not be started at all is a failure of the server, here as
//! everywhere: nothing was seen of what is expected.

use super::judge::{Findings, Judge, Mismatch};
use super::launch::issue_of;
use super::life::HASTY_GRACE;
use super::outcome::resolve;
use super::request::look_up;
use super::server_lane::ServerLane;
use super::step_end::{StepEnd, at_step, shorten};
use super::unasked::failed_by;
use jelly_base::model::{
    AssertionTarget, Because, Event, Exit, Failure, Outcome, Phase, ServerReport, ServerState,
    StepState, Wanted,
};
use jelly_base::text::human_duration;
use jelly_plan::{Predicate, RefusalExpect, Request, Step};
use jelly_process::Said;
use jelly_wire::{Session, StartFailure};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a line on stderr may come after the server's first answer: many log
/// that they listen only then.
const LINGER: Duration = Duration::from_secs(1);
/// How often it is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// Signals that come from outside as often as from the server itself.
const FROM_OUTSIDE: [&str; 4] = ["SIGKILL", "SIGTERM", "SIGHUP", "SIGINT"];

impl ServerLane {
    /// The place of the step that expects the server to refuse to start.
    pub(super) fn refusal(&self) -> Option<usize> {
        let mut steps = self.steps.iter().copied();
        steps.find(|&index| self.shared.step(index).expects_refusal())
    }

    /// Holds a start that went well against what is expected of it, if anything is.
    pub(super) async fn look_at_start(&self, session: &Session, report: &ServerReport) {
        let mut steps = self.steps.iter().copied();
        let is_startup = |index: &usize| self.shared.step(*index).request == Request::Startup;
        let Some(index) = steps.find(is_startup) else {
            return;
        };
        let step = self.shared.step(index);
        if let Some(end) = self.hindered(step) {
            return self.end(index, end);
        }
        self.emit(Event::StepStarted {
            step: step.id.clone(),
            server: step.server.clone(),
        });
        let mut end = self.seen_start(step, session).await;
        if end.report.duration_ms.is_some() {
            end.report.started_ms = report.started_ms;
        }
        self.end(index, end);
    }

    /// Why the step is not to be looked at, if it is not.
    fn hindered(&self, step: &Step) -> Option<StepEnd> {
        if let Some(end) = self.kept_from(step) {
            return Some(end);
        }
        let unresolved = look_up(step, &self.shared.scope.borrow()).err()?;
        let failure = Failure {
            issue: issue_of(&unresolved),
            ..at_step(step, Phase::Config, unresolved.to_string())
        };
        Some(StepEnd::unfit(step, failure))
    }

    async fn seen_start(&self, step: &Step, session: &Session) -> StepEnd {
        let stderr = session.stderr();
        let until = Instant::now() + LINGER;
        let (findings, said) = loop {
            stderr.caught_up().await;
            let said = stderr.said();
            let findings = self.judge_start(step, Some(session), &said);
            let is_stderr = |m: &Mismatch| m.assertion.target == Some(AssertionTarget::Stderr);
            let may_come = findings.mismatches.iter().any(is_stderr);
            if !may_come || Instant::now() >= until || self.shared.stopped().is_some() {
                break (findings, said);
            }
            sleep(LOOK).await;
        };
        let mut end = self.conclude_start(step, findings, session.startup());
        for failure in &mut end.failures {
            self.complete_start(failure, said.clone());
            failure.process_alive = session.has_process().then_some(true);
            failure.stdout_noise = session.noise().1;
            let info = session.server_info();
            failure.server_info = (!info.is_null()).then(|| info.clone());
        }
        end
    }

    fn judge_start(&self, step: &Step, session: Option<&Session>, said: &Said) -> Findings {
        let shared = &self.shared;
        let resolve = |predicate: &Predicate| resolve(shared, step, predicate);
        let mut judge = Judge::new(&resolve, &shared.compiled, &shared.cleaner);
        judge.ask_stderr(&step.expect.stderr, said);
        if let (Some(startup), Some(session)) = (&step.expect.startup, session) {
            let info = Some(session.server_info()).filter(|info| !info.is_null());
            judge.ask_json(AssertionTarget::ServerInfo, &startup.server_info, info);
            let offered = Some(session.capabilities());
            judge.ask_json(
                AssertionTarget::Capabilities,
                &startup.capabilities,
                offered,
            );
        }
        judge.findings
    }

    /// From what was found to the step's end.
    fn conclude_start(&self, step: &Step, findings: Findings, took: Duration) -> StepEnd {
        let mut failures = match failed_by(&self.shared, step, findings, &Value::Null) {
            Ok(failures) => failures,
            Err(end) => return *end,
        };
        for failure in &mut failures {
            // Nothing was asked that could be answered.
            failure.outcome = Some(Outcome::Ok);
            failure.tool_result = None;
            failure.wanted = Some(self.wanted_of_start(step));
        }
        StepEnd::executed(step, failures, took)
    }

    /// What the step wants of the start: the operands of what must hold, as far as
    /// they can be resolved.
    fn wanted_of_start(&self, step: &Step) -> Wanted {
        let values = step
            .predicates()
            .filter(|predicate| predicate.operator.names_value())
            .filter_map(|predicate| resolve(&self.shared, step, predicate).ok());
        Wanted {
            error: step.expects_refusal(),
            values: values.take(32).collect(),
        }
    }

    fn complete_start(&self, failure: &mut Failure, said: Said) {
        self.prepared.facts.describe(failure);
        failure.stderr = self.server.command().map(|_| said.into_text());
    }

    /// Starts a server that must not start, and sees what it does.
    pub(super) async fn await_refusal(&self, index: usize, report: &mut ServerReport) {
        let step = self.shared.step(index);
        let end = match self.hindered(step) {
            Some(end) => end,
            None => match self.launchable(report) {
                Ok(launch) => {
                    self.emit(Event::StepStarted {
                        step: step.id.clone(),
                        server: step.server.clone(),
                    });
                    match self.try_start(&launch, report).await {
                        Ok(Ok(session)) => self.started_all_the_same(step, session, report).await,
                        Ok(Err(failure)) => self.did_not_start(step, *failure, report),
                        Err(because) => StepEnd::not_run(step, StepState::Skipped, because),
                    }
                }
                Err(because) => StepEnd::not_run(step, StepState::Blocked, because),
            },
        };
        report.ended_ms = report.started_ms.map(|_| self.shared.elapsed_ms());
        let started_ms = report.started_ms;
        let mut end = end;
        if end.report.duration_ms.is_some() {
            end.report.started_ms = started_ms;
        }
        self.end(index, end);
        // The loader lets no other step use it.
        for &other in self.steps.iter().filter(|&&other| other != index) {
            let step = self.shared.step(other);
            let because = Because::Server(self.server.name.clone());
            self.end(other, StepEnd::not_run(step, StepState::Blocked, because));
        }
    }

    async fn started_all_the_same(
        &self,
        step: &Step,
        mut session: Session,
        report: &mut ServerReport,
    ) -> StepEnd {
        self.note_ready(&session, report);
        let took = session.startup();
        let message = format!(
            "expected the server to refuse to start, and it was ready after {}",
            human_duration(took)
        );
        let stderr = session.stderr();
        stderr.caught_up().await;
        let info = session.server_info().clone();
        let grace = match self.shared.stopped() {
            Some(_) => HASTY_GRACE.min(self.server.shutdown_timeout),
            None => self.server.shutdown_timeout,
        };
        let shutdown = session.shutdown(grace).await;
        report.exit = shutdown.and_then(|shutdown| shutdown.exit);
        report.stderr_tail = shorten(&stderr.tail());
        let mut end = self.conclude_start(step, self.did_not_refuse(step, message), took);
        for failure in &mut end.failures {
            self.complete_start(failure, stderr.said());
            failure.process_alive = Some(true);
            failure.server_info = (!info.is_null()).then(|| info.clone());
        }
        end
    }

    fn did_not_start(
        &self,
        step: &Step,
        start: StartFailure,
        report: &mut ServerReport,
    ) -> StepEnd {
        let from_outside = |exit: &Exit| {
            let signal = exit.signal.as_deref();
            signal.is_some_and(|signal| FROM_OUTSIDE.contains(&signal))
        };
        let exit = start.exit.clone();
        // What kept jelly from seeing how it starts is held against nobody, nor is a
        // limit of time: a machine may be slow, and a refusal late.
        let is_unseen = start.spawn_error.is_some()
            || start.timeout.is_some()
            || start.own_limit.is_some()
            || exit.as_ref().is_some_and(from_outside)
            || exit.is_none() && !start.process_alive;
        if is_unseen {
            self.start_failed(start, report);
            let because = Because::Server(self.server.name.clone());
            return StepEnd::not_run(step, StepState::Blocked, because);
        }
        report.state = ServerState::Refused;
        report.exit.clone_from(&exit);
        report.stderr_tail = shorten(&start.stderr);
        report.era = start.era.map(|era| era.to_string());
        report.notes.extend(start.notes.iter().cloned());
        let findings = match &exit {
            Some(exit) => self.judge_exit(step, exit, &start.said),
            None => {
                let how = self.shared.cleaner.quote(&start.message);
                let message =
                    format!("expected the server to exit by itself, and it did not: it {how}");
                self.did_not_refuse(step, message)
            }
        };
        let mut end = self.conclude_start(step, findings, start.elapsed);
        for failure in &mut end.failures {
            self.complete_start(failure, start.said.clone());
            failure.process_alive = Some(exit.is_none());
            failure.exit.clone_from(&exit);
            failure.stdout_noise.clone_from(&start.stdout_noise);
            failure.stdout.clone_from(&start.stdout);
        }
        end
    }

    /// It exited by itself: what of it is not as it was expected.
    fn judge_exit(&self, step: &Step, exit: &Exit, said: &Said) -> Findings {
        let shared = &self.shared;
        let resolve = |predicate: &Predicate| resolve(shared, step, predicate);
        let mut judge = Judge::new(&resolve, &shared.compiled, &shared.cleaner);
        if let Some(RefusalExpect { exit: wanted, at }) = refusal_of(step) {
            let code = exit.code.map(Value::from);
            judge.ask(AssertionTarget::Exit, None, wanted, code.as_ref());
            // A crash is no refusal, whatever is expected of the code.
            if let (Some(signal), true) = (&exit.signal, wanted.is_empty()) {
                let compared = (Value::Bool(true), Value::from(signal.as_str()));
                let message =
                    format!("expected the server to exit by itself, and it died of {signal}");
                let target = AssertionTarget::Start;
                judge.add(Mismatch::new("refused", target, compared, message, *at));
            }
        }
        judge.ask_stderr(&step.expect.stderr, said);
        judge.findings
    }

    fn did_not_refuse(&self, step: &Step, message: String) -> Findings {
        let at = refusal_of(step).map_or(step.at, |refusal| refusal.at);
        let compared = (Value::Bool(true), Value::Bool(false));
        let target = AssertionTarget::Start;
        Findings {
            mismatches: vec![Mismatch::new("refused", target, compared, message, at)],
            ..Findings::default()
        }
    }
}

fn refusal_of(step: &Step) -> Option<&RefusalExpect> {
    step.expect.startup.as_ref()?.refuses.as_ref()
}
