//! One server in one iteration: started, its steps run in order, stopped. What
//! is done when it dies or falls silent is in `life`.

use super::ladder::ServerLadder;
use super::launch::Prepared;
use super::left_out::lack;
use super::life::Running;
use super::pin_proof::speaks_without_pin;
use super::script::Script;
use super::services;
use super::settings::ExecSettings;
use super::shared_state::SharedState;
use super::step;
use super::step_context::StepContext;
use super::step_end::{Aftermath, StepEnd, at_step, shorten};
use super::tool_schemas::ToolSchemas;
use jelly_base::mcp::{ListKind, Method, Revision};
use jelly_base::model::{
    Because, Event, Failure, Names, Offers, Outcome, Phase, PlanIssue, RequestFacts, ServerReport,
    ServerState, StepState, ToolInfo,
};
use jelly_plan::{Request, Server, Step};
use jelly_wire::{Answers, Launch, Reach, ReplyOutcome, Session, StartFailure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a server may take to say what it offers instead.
const LOOK_UP: Duration = Duration::from_secs(2);

/// How many of a server's tools each failure names, besides its own.
const TOLD_TOOLS: usize = 50;

/// What is noted of a server that is there already.
const NOT_OURS: &str = "jelly did not start it: each iteration has a new session with it, and \
                        finds it as the one before left it";

/// One server with its steps.
pub struct ServerLane {
    pub shared: Rc<SharedState>,
    pub settings: Rc<ExecSettings>,
    /// The place of the server in the plan.
    pub place: usize,
    pub server: Server,
    pub prepared: Prepared,
    /// What its client answers, and what it was asked.
    pub script: Script,
    /// How its outputs are read.
    pub ladder: ServerLadder,
    /// The places of its steps in the plan.
    pub steps: Vec<usize>,
}

/// What a lane leaves behind.
#[derive(Clone)]
pub struct LaneEnd {
    pub report: ServerReport,
    /// Absent if the server never listed them.
    pub tools: Option<Vec<ToolInfo>>,
}

impl ServerLane {
    /// Lives the server's life. Never fails: what goes wrong is in the shared state
    /// and in the report.
    pub async fn run(self) -> LaneEnd {
        let mut report = ServerReport {
            name: self.server.name.clone(),
            at: Some(self.shared.plan.at(self.server.at)),
            ..ServerReport::default()
        };
        let because = tokio::select! {
            because = services::hindered(&self.shared.services) => because,
            stop = self.shared.stop() => Some(stop.because()),
        };
        if let Some(because) = because {
            self.end_all(&because).await;
            let tools = None;
            return LaneEnd { report, tools };
        }
        if let Some(index) = self.refusal() {
            self.await_refusal(index, &mut report).await;
            let tools = None;
            return LaneEnd { report, tools };
        }
        if self.needs_no_session() {
            self.run_without_session(&mut report).await;
            let tools = None;
            return LaneEnd { report, tools };
        }
        match self.open(&mut report).await {
            Ok((session, launch)) => self.run_steps(session, launch, report).await,
            Err(because) => {
                report.ended_ms = report.started_ms.map(|_| self.shared.elapsed_ms());
                self.end_all(&because).await;
                let tools = None;
                LaneEnd { report, tools }
            }
        }
    }

    /// Starts the server if a step wants it, or says why its steps can't run.
    async fn open(&self, report: &mut ServerReport) -> Result<(Session, Launch), Because> {
        let mut steps = self.steps.iter().map(|&index| self.shared.step(index));
        if !steps.any(|step| self.shared.is_wanted(step)) {
            return Err(Because::NotSelected);
        }
        let launch = self.launchable(report)?;
        let session = self.start(&launch, report).await?;
        let session = self.fit_for_check(session, &launch, report).await?;
        Ok((session, launch))
    }

    /// How the server is started, or that it can't be.
    pub(super) fn launchable(&self, report: &mut ServerReport) -> Result<Launch, Because> {
        report.notes.extend(self.prepared.notes.iter().cloned());
        match &self.prepared.reach {
            Ok(reach) => Ok(self.launch(reach.clone())),
            Err(failures) => {
                report.state = ServerState::Failed;
                for failure in failures {
                    self.server_failed(failure.clone());
                }
                Err(Because::Server(self.server.name.clone()))
            }
        }
    }

    /// Runs the steps in their order, and stops the server.
    async fn run_steps(
        &self,
        session: Session,
        launch: Launch,
        mut report: ServerReport,
    ) -> LaneEnd {
        self.look_at_start(&session, &report).await;
        self.hold_to_lock(&session, &mut report).await;
        self.list_for_coverage(&session).await;
        let aftermath = self.ask_declared_lists(&session, &mut report).await;
        let mut running = Running::new(session, launch, report);
        self.look_after(aftermath, &mut running).await;
        for &index in &self.steps {
            let step = self.shared.step(index);
            if step.request != Request::Startup {
                self.shared.turn(index).await;
                self.run_step(index, step, &mut running).await;
            }
        }
        self.stop(&mut running).await;
        self.conclude_wire_check(&running.report);
        LaneEnd {
            report: running.report,
            tools: Some(running.tools),
        }
    }

    fn launch(&self, reach: Reach) -> Launch {
        Launch {
            era: self.server.era,
            version: self.server.protocol.as_deref().and_then(Revision::find),
            startup_timeout: self.server.startup_timeout,
            request_timeout: self.server.request_timeout,
            shutdown_timeout: self.server.shutdown_timeout,
            wire_check: self.checks_wire(),
            redactor: self.settings.redactor.clone(),
            recorder: self.settings.recorder.clone(),
            stderr_log: (self.settings.stderr_log)(&self.server.name),
            answers: self.answers(),
            ..Launch::new(&self.server.name, reach)
        }
    }

    /// What the client offers: what the plan declares, or what it has answers
    /// to, be it in one step alone.
    fn answers(&self) -> Answers {
        let of_steps = self
            .steps
            .iter()
            .flat_map(|&i| &self.shared.step(i).answers);
        let methods: BTreeSet<&str> = self
            .server
            .answers
            .iter()
            .chain(of_steps)
            .map(|answer| answer.method.as_str())
            .collect();
        let answers = Answers::default().by(methods, self.script.clone());
        match &self.server.capabilities {
            Some(capabilities) => answers.declaring(capabilities.clone()),
            None => answers,
        }
    }

    pub(super) fn emit(&self, event: Event) {
        (self.settings.events)(event);
    }

    pub(super) fn server_failed(&self, failure: Failure) {
        let message = failure.message.as_deref().unwrap_or_default();
        self.emit(Event::ServerFailed {
            server: self.server.name.clone(),
            message: self.shared.cleaner.told(message),
        });
        self.shared.fail_server(self.place, failure);
    }

    /// Starts the server, if nothing stops the run meanwhile.
    pub(super) async fn try_start(
        &self,
        launch: &Launch,
        report: &mut ServerReport,
    ) -> Result<Result<Session, Box<StartFailure>>, Because> {
        self.emit(Event::ServerStarting {
            server: self.server.name.clone(),
            argv: match &self.prepared.facts.argv[..] {
                [] => self.prepared.facts.url.iter().cloned().collect(),
                argv => argv.to_vec(),
            },
        });
        tokio::select! {
            started = async {
                // The permit ends with the start: a running server costs
                // little, a starting one a processor. The semaphore is never
                // closed, so there is always a permit in the end.
                let _permit = self.settings.starts.acquire().await;
                report.started_ms.get_or_insert_with(|| self.shared.elapsed_ms());
                self.start_in_time(launch, report).await
            } => Ok(started),
            stop = self.shared.stop() => {
                report.state = ServerState::Failed;
                report.notes.push("stopped before it was ready".to_owned());
                Err(stop.because())
            }
        }
    }

    /// Starts the server, or says why its steps can't run.
    pub(super) async fn start(
        &self,
        launch: &Launch,
        report: &mut ServerReport,
    ) -> Result<Session, Because> {
        match self.try_start(launch, report).await? {
            Ok(session) => {
                self.note_ready(&session, report);
                Ok(session)
            }
            Err(mut failure) => {
                let proof = tokio::select! {
                    proof = speaks_without_pin(launch, &failure) => proof,
                    _ = self.shared.stop() => None,
                };
                if let Some(speaks) = proof {
                    failure.unspoken = true;
                    failure.message = format!("{}; {speaks}", failure.message);
                }
                self.start_failed(*failure, report);
                Err(Because::Server(self.server.name.clone()))
            }
        }
    }

    pub(super) fn note_ready(&self, session: &Session, report: &mut ServerReport) {
        report.state = ServerState::Ready;
        report.era = Some(session.era().to_string());
        report.protocol_version = Some(session.protocol_version().to_owned());
        report.startup_ms = Some(millis(session.startup()));
        let info = session.server_info();
        report.server_info = (!info.is_null()).then(|| info.clone());
        let mut offers = Offers::declared(session.capabilities());
        let tools = session.tools().iter().map(|tool| name_of(&tool.name));
        offers.tools = session.declares_tools().then(|| Names::of(tools));
        report.offers = Some(offers);
        report.notes.extend(session.notes().iter().cloned());
        if !session.has_process() && !report.notes.iter().any(|note| note == NOT_OURS) {
            report.notes.push(NOT_OURS.to_owned());
        }
        self.tell_unfit(session, report);
        self.emit(Event::ServerReady {
            server: self.server.name.clone(),
            era: session.era().to_string(),
            protocol_version: session.protocol_version().to_owned(),
            tools: session.tools().len(),
            elapsed: session.startup(),
        });
    }

    pub(super) fn start_failed(&self, failure: StartFailure, report: &mut ServerReport) {
        report.state = ServerState::Failed;
        report.exit.clone_from(&failure.exit);
        report.stderr_tail = shorten(&failure.stderr);
        report.stdout_noise = failure.noise_count;
        report.stdout_noise_sample.clone_from(&failure.stdout_noise);
        report.era = failure.era.map(|era| era.to_string());
        report.notes.extend(failure.notes.iter().cloned());
        let started = self.server.command().is_some();
        let unspoken = failure.unspoken;
        let mut failure = self.prepared.facts.start_failure(failure, started);
        failure.issue = unspoken.then(|| self.pin_not_spoken());
        self.server_failed(failure);
    }

    fn pin_not_spoken(&self) -> PlanIssue {
        let pin = match (&self.server.protocol, self.server.era) {
            (Some(protocol), _) => format!("protocol: {protocol}"),
            (None, Some(era)) => format!("era: {era}"),
            (None, None) => String::new(),
        };
        let plan = &self.shared.plan;
        let of_matrix = plan.matrix.as_ref().and_then(|matrix| matrix.protocol_at);
        let own = self.server.pinned_at;
        PlanIssue::PinNotSpoken {
            pin,
            at: plan.at(own.or(of_matrix).unwrap_or(self.server.at)),
            of_matrix: own.is_none() && of_matrix.is_some(),
        }
    }

    /// What jelly forgives and clients of the official SDKs do not is said once,
    /// and loudly enough: such a server works here and nowhere else.
    pub(super) fn tell_unfit(&self, session: &Session, report: &mut ServerReport) {
        let Some(unfit) = session.unfit().filter(|_| !self.checks_wire()) else {
            return;
        };
        let note = format!(
            "the server {unfit}: clients of the official SDKs refuse such a message, and \
             `--wire-check` takes it for a failure"
        );
        if report.notes.contains(&note) {
            return;
        }
        self.emit(Event::Warning {
            message: format!("{}: {}", self.server.name, self.shared.cleaner.told(&note)),
        });
        report.notes.push(note);
    }

    /// Ends every step of a server that never became ready.
    async fn end_all(&self, because: &Because) {
        for &index in &self.steps {
            self.shared.turn(index).await;
            let step = self.shared.step(index);
            let (state, because) = self.shared.hindrance(step).unwrap_or_else(|| {
                let state = match because {
                    Because::Server(_) => StepState::Blocked,
                    _ => StepState::Skipped,
                };
                (state, because.clone())
            });
            self.end(index, StepEnd::not_run(step, state, because));
        }
    }

    pub(super) fn end(&self, index: usize, end: StepEnd) {
        end.keep(index, &self.shared, &self.settings);
    }

    /// Why a step that is due is not to be run, if it is not.
    pub(super) fn kept_from(&self, step: &Step) -> Option<StepEnd> {
        if let Some((state, because)) = self.shared.hindrance(step) {
            return Some(StepEnd::not_run(step, state, because));
        }
        if let Some(reason) = self.shared.quarantined(step) {
            let because = Because::Plan(reason);
            return Some(StepEnd::not_run(step, StepState::Quarantined, because));
        }
        let (message, issue) = lack(step, &self.settings)?;
        let failure = Failure {
            issue,
            ..at_step(step, Phase::Config, message)
        };
        Some(StepEnd::unfit(step, failure))
    }

    async fn run_step(&self, index: usize, step: &Step, running: &mut Running) {
        if let Some(end) = self.kept_from(step) {
            return self.end(index, end);
        }
        if let Request::Http(_) = step.request {
            return self.run_beside(index, step, running).await;
        }
        let mut announced = false;
        let mut sent_before = false;
        // A server that dies before it reads the request is started again and
        // asked again; it is given up after a few deaths, so this ends.
        loop {
            self.make_ready(running).await;
            let Some(session) = running.session.as_ref() else {
                return self.end(index, self.without_server(step));
            };
            if !std::mem::replace(&mut announced, true) {
                self.emit(Event::StepStarted {
                    step: step.id.clone(),
                    server: step.server.clone(),
                });
            }
            let limit = step.limit(&self.server);
            let (schemas, tools) = (&mut running.schemas, &mut running.tools);
            let subscriptions = &mut running.subscriptions;
            let fragile = running.fragile;
            let started_ms = self.shared.elapsed_ms();
            let ran = tokio::select! {
                ran = async {
                    // Most of the time is for the step itself.
                    let waited = refresh(session, step, schemas, tools, limit / 2).await;
                    let context = StepContext {
                        shared: &self.shared,
                        server: &self.server,
                        session,
                        schemas,
                        script: &self.script,
                        ladder: &self.ladder,
                        fragile,
                        sent_before,
                        is_strict: self.checks_wire(),
                        limit,
                        total: step.total_limit(&self.server),
                        first_limit: limit.saturating_sub(waited),
                    };
                    step::run(&context, subscriptions, step).await
                } => ran,
                stop = self.shared.stop_of(step.section) => {
                    let end = StepEnd::not_run(step, StepState::Skipped, stop.because());
                    return self.end(index, end);
                }
            };
            match ran.aftermath {
                Aftermath::DiedBefore => {
                    self.uninvited_exit(running).await;
                    continue;
                }
                Aftermath::SessionLost(end) => {
                    self.session_lost(*end, step, running).await;
                    sent_before = true;
                    continue;
                }
                Aftermath::Alive | Aftermath::Died | Aftermath::Silent | Aftermath::Unsure => {}
            }
            for note in ran.notes {
                if running.report.notes.contains(&note) {
                    continue;
                }
                self.emit(Event::Warning {
                    message: format!("{}: {}", self.server.name, self.shared.cleaner.told(&note)),
                });
                running.report.notes.push(note);
            }
            let (mut end, mut stderr, mut aftermath) = (ran.end, ran.stderr, ran.aftermath);
            if aftermath == Aftermath::Unsure && end.timed_out() {
                aftermath = running.after_timeout(&mut end, &mut stderr).await;
            }
            end.report.started_ms = end.report.duration_ms.map(|_| started_ms);
            for failure in &mut end.failures {
                self.complete(failure, running, &stderr);
                if let Aftermath::Alive = aftermath {
                    self.look_up(failure, running).await;
                }
            }
            self.end(index, end);
            running.listen_anew();
            return self.look_after(aftermath, running).await;
        }
    }

    /// Why a step can't run while its server is down.
    pub(super) fn without_server(&self, step: &Step) -> StepEnd {
        let (state, because) = match self.shared.stopped() {
            Some(stop) => (StepState::Skipped, stop.because()),
            None => (
                StepState::Blocked,
                Because::ServerDown(self.server.name.clone()),
            ),
        };
        StepEnd::not_run(step, state, because)
    }

    /// Asks for the list that what was refused should stand in, once: whoever
    /// reads of it wants to know what there is instead.
    async fn look_up(&self, failure: &Failure, running: &mut Running) {
        let (Some(session), Some(offers)) = (&running.session, &mut running.report.offers) else {
            return;
        };
        let request = failure.request.as_ref();
        let method = request.and_then(|request| Method::find(&request.method));
        let (kind, known) = match method.and_then(|method| method.subject) {
            Some(kind @ ListKind::Prompts) => (kind, &mut offers.prompts),
            Some(kind @ ListKind::Resources) => (kind, &mut offers.resources),
            Some(ListKind::Tools | ListKind::ResourceTemplates) | None => return,
        };
        let declared = session.capabilities().get(kind.key()).is_some();
        if failure.outcome != Some(Outcome::Error) || known.is_some() || !declared {
            return;
        }
        let limit = LOOK_UP.min(self.server.request_timeout);
        let reply = tokio::select! {
            reply = session.list(kind, Value::Null, limit) => reply,
            _ = self.shared.stop() => return,
        };
        if let ReplyOutcome::Answered(list) = reply.outcome {
            *known = Some(names_in(&list, kind));
        }
    }

    /// What every failure of a step says of its server.
    pub(super) fn complete(&self, failure: &mut Failure, running: &Running, stderr: &str) {
        self.prepared.facts.describe(failure);
        // Where an error was wanted, what differs from it is the failure.
        if failure.assertion.is_none() {
            let error = failure.rpc_error.as_ref();
            failure.label = error.and_then(|error| self.prepared.facts.label(error));
        }
        failure.stderr = self.server.command().map(|_| stderr.to_owned());
        if let Some(session) = &running.session {
            failure.stdout = session.stdout_tail();
            failure.stdout_noise = session.noise().1;
            let info = session.server_info();
            failure.server_info = (!info.is_null()).then(|| info.clone());
        }
        failure.tools_listed = told_tools(running.schemas.names(), failure.request.as_ref());
        failure.after_restart = running.deaths + running.restarts > 0;
    }
}

/// The names in a list.
fn names_in(list: &Value, kind: ListKind) -> Names {
    let items = list.get(kind.key()).and_then(Value::as_array);
    let items = items.into_iter().flatten();
    Names::of(items.filter_map(|item| Some(name_of(item.get(kind.name_key())?.as_str()?))))
}

/// No longer than anybody reads.
fn name_of(name: &str) -> &str {
    const MAX: usize = 200;
    &name[..name.floor_char_boundary(MAX)]
}

/// What a failure tells of the server's tools: some, and the one that it is
/// about if it is among them. All of them, in each of many failures, would be
/// more than a report can bear.
fn told_tools<'n>(
    mut names: impl Iterator<Item = &'n String>,
    request: Option<&RequestFacts>,
) -> Vec<Value> {
    let asked = request.and_then(|request| request.params.as_ref()?.get("name")?.as_str());
    let mut told: Vec<&String> = names.by_ref().take(TOLD_TOOLS).collect();
    told.extend(names.find(|name| Some(name.as_str()) == asked));
    told.into_iter()
        .map(|name| Value::from(name.as_str()))
        .collect()
}

/// Takes a new list of tools in, where the server said that there is one: a
/// tool that came later is as good as any. How long the server was waited for.
async fn refresh(
    session: &Session,
    step: &Step,
    schemas: &mut ToolSchemas,
    tools: &mut Vec<ToolInfo>,
    limit: Duration,
) -> Duration {
    if !matches!(step.request, Request::Tool(_)) || !session.tools_changed() {
        return Duration::ZERO;
    }
    let begun = Instant::now();
    // Without a new list the old one stands, and what is wrong with the
    // server shows in the step itself.
    if let Ok(now) = session.tools_now(limit).await {
        *schemas = schemas.followed_by(&now);
        *tools = now;
    }
    begun.elapsed()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{TOLD_TOOLS, told_tools};
    use jelly_base::model::RequestFacts;
    use serde_json::json;

    #[test]
    fn of_many_tools_a_failure_names_some_and_its_own() {
        let names: Vec<String> = (0..5000).map(|n| format!("t{n}")).collect();
        let request = |tool: &str| RequestFacts {
            params: Some(json!({"name": tool})),
            ..RequestFacts::default()
        };
        let told = told_tools(names.iter(), Some(&request("t4000")));
        assert_eq!(told.len(), TOLD_TOOLS + 1);
        assert_eq!(told[TOLD_TOOLS], "t4000");
        assert_eq!(
            told_tools(names.iter(), Some(&request("none"))).len(),
            TOLD_TOOLS
        );
        assert_eq!(
            told_tools(names.iter(), Some(&request("t3"))).len(),
            TOLD_TOOLS
        );
        assert_eq!(told_tools(names[..3].iter(), None), ["t0", "t1", "t2"]);
    }
}
