//! `http`: a step that asks for what stands beside the endpoint of a server, by plain
//! HTTP and no message of MCP.
//!
//! Where nothing else is asked of a server that jelly does not start, no session is
//! opened: what stands there may tell how to get one.

use super::bound::copied;
use super::failed_reply::FailedReply;
use super::judge::{Findings, Judge, Mismatch};
use super::launch::issue_of;
use super::life::Running;
use super::outcome::{captured, mismatched, resolve};
use super::polling::{self, PollEnd, WrongAnswers};
use super::request::look_up;
use super::server_lane::ServerLane;
use super::step_end::{Aftermath, StepEnd, at_step};
use super::unasked::failed_by;
use jelly_base::model::{
    AssertionTarget, Event, Exit, Failure, Phase, RequestFacts, ServerReport, ServerState,
    StepState, ToolResult, Wanted,
};
use jelly_base::text::read_json;
use jelly_base::text::redact::holds_secret;
use jelly_plan::{HttpCall, Predicate, Request, Step, Template, Unresolved, Until};
use jelly_process::ExitWatch;
use jelly_wire::{Endpoint, HttpEnd, PlainAnswer, PlainHttp, PlainRequest, Reach};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// What is noted of a server that was asked by plain HTTP alone.
const NO_SESSION: &str = "only plain HTTP was asked of it, so that no session was opened";

/// How long a server whose connection broke may take to show that it died.
const DYING: Duration = Duration::from_millis(250);

/// Statuses of what stands before a server, or of one that can't right now.
const OF_SURROUNDINGS: [u64; 7] = [407, 408, 425, 429, 502, 503, 504];

/// Headers whose values are nobody's business.
const SECRET: [&str; 4] = [
    "set-cookie",
    "cookie",
    "authorization",
    "proxy-authorization",
];

/// How an exchange ended.
enum Came {
    Answer(Box<PlainAnswer>),
    Lost(Box<HttpEnd>),
    TimedOut,
    Exited(Exit),
}

/// The last exchange of a step, and how the step's waiting ended with it.
struct LastExchange {
    came: Came,
    took: Duration,
    end: PollEnd,
}

/// What of an exchange makes it the same as another one: headers tell the time.
fn same_of(came: &Came) -> Result<(u16, Vec<u8>), String> {
    match came {
        Came::Answer(answer) => Ok((answer.status, answer.body.clone())),
        Came::Lost(end) => Err(end.message.clone()),
        Came::TimedOut | Came::Exited(_) => Err(String::new()),
    }
}

impl ServerLane {
    /// Whether nothing is asked of a server that is there already but plain HTTP.
    pub(super) fn needs_no_session(&self) -> bool {
        let mut wanted = self
            .steps
            .iter()
            .map(|&index| self.shared.step(index))
            .filter(|step| self.shared.is_wanted(step))
            .peekable();
        self.server.command().is_none()
            && self.settings.locked.is_none()
            && !self.checks_wire()
            && wanted.peek().is_some()
            && wanted.all(|step| matches!(step.request, Request::Http(_)))
    }

    /// Runs the steps of such a server.
    pub(super) async fn run_without_session(&self, report: &mut ServerReport) {
        let because = match self.launchable(report) {
            Ok(_) => {
                report.state = ServerState::Ready;
                report.started_ms = Some(self.shared.elapsed_ms());
                report.notes.push(NO_SESSION.to_owned());
                None
            }
            Err(because) => Some(because),
        };
        for &index in &self.steps {
            self.shared.turn(index).await;
            let step = self.shared.step(index);
            let end = match (self.kept_from(step), &because) {
                (Some(end), _) => end,
                (None, Some(because)) => {
                    StepEnd::not_run(step, StepState::Blocked, because.clone())
                }
                (None, None) => self.ask_beside(step, None).await.0,
            };
            self.end(index, end);
        }
        report.ended_ms = report.started_ms.map(|_| self.shared.elapsed_ms());
    }

    /// Runs a step of a server that has a session.
    pub(super) async fn run_beside(&self, index: usize, step: &Step, running: &mut Running) {
        self.make_ready(running).await;
        let Some(session) = running.session.as_ref() else {
            return self.end(index, self.without_server(step));
        };
        let mark = session.stderr().mark();
        let exit = session.has_process().then(|| session.exit_watch());
        let (mut end, aftermath) = self.ask_beside(step, exit).await;
        let stderr = session.stderr();
        stderr.caught_up().await;
        let since = stderr.since(mark);
        for failure in &mut end.failures {
            self.complete(failure, running, &since);
            failure.stderr_is_older = since.trim().is_empty();
        }
        self.end(index, end);
        self.look_after(aftermath, running).await;
    }

    async fn ask_beside(&self, step: &Step, exit: Option<ExitWatch>) -> (StepEnd, Aftermath) {
        let started_ms = self.shared.elapsed_ms();
        let begun = Instant::now();
        self.emit(Event::StepStarted {
            step: step.id.clone(),
            server: step.server.clone(),
        });
        let request = match self.plain_request(step) {
            Ok(Some(request)) => request,
            Ok(None) => return (self.without_request(step), Aftermath::Alive),
            Err(unresolved) => {
                let failure = Failure {
                    issue: issue_of(&unresolved),
                    ..at_step(step, Phase::Config, unresolved.to_string())
                };
                return (StepEnd::unfit(step, failure), Aftermath::Alive);
            }
        };
        let limit = step.limit(&self.server);
        let waiting = step
            .until
            .as_ref()
            .map(|until| (polling::waiting(step, until), until.as_ref()));
        let asked = tokio::select! {
            asked = self.ask(waiting.as_ref(), &request, exit, limit) => asked,
            stop = self.shared.stop_of(step.section) => {
                let end = StepEnd::not_run(step, StepState::Skipped, stop.because());
                return (end, Aftermath::Alive);
            }
        };
        let LastExchange { came, took, end } = asked;
        // What is judged is whether the answer came, or what the last one was.
        let judged = match (end, &waiting) {
            (PollEnd::Awaited, _) | (_, None) => step,
            (_, Some((waiting, _))) => waiting,
        };
        let aftermath = match &came {
            Came::Answer(_) | Came::Lost(_) | Came::TimedOut => Aftermath::Alive,
            Came::Exited(_) => Aftermath::Died,
        };
        let failed = FailedReply {
            shown: shown(&request),
            facts: at_step(step, Phase::Call, ""),
        };
        let failures = match came {
            Came::Answer(answer) => match self.answered(judged, &request, &answer, took) {
                Ok(failures) => failures,
                Err(end) => return (*end, aftermath),
            },
            Came::Lost(end) => vec![lost(step, &request, *end)],
            Came::TimedOut => vec![Failure {
                process_alive: self.server.command().map(|_| true),
                ..failed.timed_out(limit, "")
            }],
            Came::Exited(exit) => vec![failed.exited(exit)],
        };
        let mut executed = StepEnd::executed(step, failures, took);
        if let (PollEnd::StillChanging, Some((_, until))) = (end, &waiting) {
            let request = (&*shown(&request), self.facts_of(step, &request));
            executed = polling::still_changing(step, request, until, executed);
        }
        let mut end = executed.after(begun.elapsed());
        end.report.started_ms = Some(started_ms);
        for failure in &mut end.failures {
            self.prepared.facts.describe(failure);
            failure.elapsed_ms = u64::try_from(took.as_millis()).ok();
            failure.request = Some(self.facts_of(step, &request));
        }
        (end, aftermath)
    }

    fn facts_of(&self, step: &Step, request: &PlainRequest) -> RequestFacts {
        RequestFacts {
            method: shown(request),
            params: (!step.args.is_null()).then(|| step.args.clone()),
            ..RequestFacts::default()
        }
    }

    /// Sends the request, again and again where the step waits for an answer. One that
    /// can't be reached yet is waited for like one that gives another answer.
    async fn ask(
        &self,
        waiting: Option<&(Step, &Until)>,
        request: &PlainRequest,
        exit: Option<ExitWatch>,
        limit: Duration,
    ) -> LastExchange {
        let mut wrong = waiting.map(|(_, until)| WrongAnswers::new(until));
        loop {
            let begun = Instant::now();
            let came = self.exchange(request, exit.clone(), limit).await;
            let took = begun.elapsed();
            let (Some((step, until)), Some(wrong)) = (waiting, &mut wrong) else {
                let end = PollEnd::Awaited;
                return LastExchange { came, took, end };
            };
            let is_awaited = match &came {
                Came::Answer(answer) => self.is_awaited(step, answer),
                Came::Lost(end) => end.own_limit.is_none().then_some(false),
                Came::TimedOut | Came::Exited(_) => None,
            };
            if let Some(end) = wrong.end(is_awaited, || same_of(&came)) {
                return LastExchange { came, took, end };
            }
            sleep(until.every).await;
        }
    }

    /// Whether an answer is the one that `step`, which waits, expects; none where that
    /// can't be judged.
    fn is_awaited(&self, step: &Step, answer: &PlainAnswer) -> Option<bool> {
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let body = read_json(&text);
        let findings = self.judge_answer(step, answer, (&text, body.as_ref()), Duration::ZERO);
        findings.bad.is_none().then(|| findings.is_clean())
    }

    /// There is no endpoint for it to stand beside, as after a repair of the plan.
    fn without_request(&self, step: &Step) -> StepEnd {
        let message = format!(
            "the server `{}` has no URL to ask by HTTP",
            self.server.name
        );
        StepEnd::unfit(step, at_step(step, Phase::Config, message))
    }

    fn endpoint(&self) -> Option<&Endpoint> {
        match self.prepared.reach.as_ref().ok()? {
            Reach::Http(endpoint) => Some(endpoint),
            Reach::Stdio(_) => None,
        }
    }

    /// The request with values in the place of names.
    fn plain_request(&self, step: &Step) -> Result<Option<PlainRequest>, Unresolved> {
        let (Request::Http(call), Some(_)) = (&step.request, self.endpoint()) else {
            return Ok(None);
        };
        let scope = self.shared.scope.borrow();
        look_up(step, &scope)?;
        let text = |text: &str| match Template::parse(text) {
            Ok(template) => template.resolve_str(&scope, &step.server),
            // The loader has parsed it already.
            Err(_) => Ok(text.to_owned()),
        };
        let HttpCall {
            method,
            path,
            headers,
        } = call;
        let body = jelly_plan::resolve_json(&step.args, &scope, &step.server)?;
        let mut sent = Vec::new();
        for (name, value) in headers {
            sent.push((name.clone(), text(value)?));
        }
        Ok(Some(PlainRequest {
            method: method.clone(),
            path: text(path)?,
            headers: sent,
            body: match body {
                Value::Null => None,
                Value::String(text) => Some(("text/plain; charset=utf-8", text.into_bytes())),
                other => Some(("application/json", other.to_string().into_bytes())),
            },
            bare: step.bare,
        }))
    }

    async fn exchange(
        &self,
        request: &PlainRequest,
        exit: Option<ExitWatch>,
        limit: Duration,
    ) -> Came {
        let endpoint = self.endpoint().cloned().unwrap_or_default();
        let http = match PlainHttp::new(&endpoint, &self.settings.redactor) {
            Ok(http) => http,
            Err(end) => return Came::Lost(end),
        };
        let gone = async {
            match &exit {
                Some(exit) => exit.wait().await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(gone);
        let came = tokio::select! {
            biased;
            came = timeout(limit, http.send(request)) => came,
            exit = &mut gone => return Came::Exited(exit),
        };
        match came {
            Ok(Ok(answer)) => Came::Answer(Box::new(answer)),
            // A server that dies closes its connections first.
            Ok(Err(end)) => match timeout(DYING, gone).await {
                Ok(exit) if end.facts.status.is_none() => Came::Exited(exit),
                Ok(_) | Err(_) => Came::Lost(end),
            },
            Err(_) => Came::TimedOut,
        }
    }

    /// What is wrong with an answer; captures are taken where nothing is.
    fn answered(
        &self,
        step: &Step,
        request: &PlainRequest,
        answer: &PlainAnswer,
        took: Duration,
    ) -> Result<Vec<Failure>, Box<StepEnd>> {
        // Before any of it can be shown.
        let secret = answer
            .headers
            .iter()
            .filter(|(name, value)| SECRET.contains(&name.as_str()) || holds_secret(name, value));
        let secret = secret.map(|(name, value)| (name.as_str(), value.as_str()));
        self.settings.redactor.learn(secret);
        if let Some(failure) = self.refused(step, request, answer) {
            return Ok(vec![failure]);
        }
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let body = read_json(&text);
        let findings = self.judge_answer(step, answer, (&text, body.as_ref()), took);
        let body = body.unwrap_or_default();
        let failures = failed_by(&self.shared, step, findings, &body)?;
        let mut failures = match failures.is_empty() {
            false => failures,
            true => match captured(&self.shared, step, &body) {
                Ok(values) => {
                    self.shared.scope.borrow_mut().captures.extend(values);
                    Vec::new()
                }
                Err(missing) => mismatched(&self.shared, step, &body, missing),
            },
        };
        for failure in &mut failures {
            failure.http = Some(answer.facts.clone());
            failure.tool_result = Some(ToolResult {
                is_error: false,
                text: answer.facts.body.clone().unwrap_or_default(),
                structured_content: None,
            });
            failure.wanted = Some(self.wanted_of_answer(step, answer));
        }
        Ok(failures)
    }

    /// A status that is of what stands before the server, or asks for something else,
    /// where nobody asked for it.
    fn refused(
        &self,
        step: &Step,
        request: &PlainRequest,
        answer: &PlainAnswer,
    ) -> Option<Failure> {
        let status = u64::from(answer.status);
        let wanted = step.expect.http.as_ref().map(|http| &http.status);
        let is_refused = match wanted.filter(|wanted| !wanted.is_empty()) {
            None => {
                (300..400).contains(&status)
                    || [401, 403].contains(&status)
                    || OF_SURROUNDINGS.contains(&status)
            }
            Some(_) => OF_SURROUNDINGS.contains(&status) && !self.status_holds(step, answer.status),
        };
        is_refused.then(|| {
            let mut end = answer.refused();
            if (300..400).contains(&status) {
                end.message.push_str(
                    "; `http` follows no redirect, and `expect: { status: … }` may expect one",
                );
            }
            lost(step, request, end)
        })
    }

    fn status_holds(&self, step: &Step, status: u16) -> bool {
        let resolve = |predicate: &Predicate| resolve(&self.shared, step, predicate);
        let mut judge = Judge::new(&resolve, &self.shared.compiled, &self.shared.cleaner);
        let wanted = step.expect.http.iter().flat_map(|http| &http.status);
        let wanted: Vec<Predicate> = wanted.cloned().collect();
        let status = Value::from(status);
        judge.ask(AssertionTarget::Status, None, &wanted, Some(&status));
        judge.findings.is_clean()
    }

    fn judge_answer(
        &self,
        step: &Step,
        answer: &PlainAnswer,
        (text, body): (&str, Option<&Value>),
        took: Duration,
    ) -> Findings {
        let resolve = |predicate: &Predicate| resolve(&self.shared, step, predicate);
        let mut judge = Judge::new(&resolve, &self.shared.compiled, &self.shared.cleaner);
        let expect = &step.expect;
        if let Some(http) = &expect.http {
            let status = Value::from(answer.status);
            judge.ask(AssertionTarget::Status, None, &http.status, Some(&status));
            for header in &http.headers {
                let value = answer.header(&header.name).map(Value::from);
                let name = Some(header.name.as_str());
                judge.ask(
                    AssertionTarget::Header,
                    name,
                    &header.predicates,
                    value.as_ref(),
                );
            }
        }
        let asks = expect
            .http
            .as_ref()
            .is_some_and(|http| !http.status.is_empty());
        if !asks && !(200..300).contains(&answer.status) {
            let status = Value::from(answer.status);
            let message = format!("expected an HTTP status of a success, got {status}");
            let (target, compared) = (AssertionTarget::Status, (Value::from("2xx"), status));
            judge.add(Mismatch::new("success", target, compared, message, step.at));
        }
        if answer.goes_on {
            judge.ask_stream(&expect.text, text);
        }
        let text = Value::from(text);
        if !answer.goes_on {
            judge.ask(AssertionTarget::Text, None, &expect.text, Some(&text));
        }
        let before = judge.findings.mismatches.len();
        judge.ask_json(AssertionTarget::Json, &expect.json, body);
        if body.is_none() {
            let shown = self.shared.cleaner.quote_value(&text);
            for mismatch in &mut judge.findings.mismatches[before..] {
                let told = format!("; the body is no JSON: {shown}");
                mismatch.message.push_str(&told);
                // Nothing of it was found in this.
                mismatch.assertion.actual = copied(&text, &self.shared.cleaner);
            }
        }
        let millis = Value::from(took.as_secs_f64() * 1000.0);
        let target = AssertionTarget::Duration;
        judge.ask(target, None, &expect.duration, Some(&millis));
        judge.findings
    }

    /// What the step wants of its answer, as far as it can be resolved.
    fn wanted_of_answer(&self, step: &Step, answer: &PlainAnswer) -> Wanted {
        let values = step
            .predicates()
            .filter(|predicate| predicate.operator.names_value())
            .filter_map(|predicate| resolve(&self.shared, step, predicate).ok());
        Wanted {
            error: answer.status >= 400 && self.status_holds(step, answer.status),
            values: values.take(32).collect(),
        }
    }
}

/// As a message calls it.
fn shown(request: &PlainRequest) -> String {
    format!("{} {}", request.method, request.path)
}

/// The exchange brought no good answer, told as of any exchange over HTTP.
fn lost(step: &Step, request: &PlainRequest, end: HttpEnd) -> Failure {
    let HttpEnd {
        facts,
        message,
        rpc_error,
        breach,
        own_limit,
        session_lost: _,
        session_in_doubt: _,
    } = end;
    Failure {
        http: Some(facts),
        rpc_error,
        protocol_breach: breach,
        own_limit,
        ..at_step(step, Phase::Call, format!("{} {message}", shown(request)))
    }
}
