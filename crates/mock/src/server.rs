//! The core: a state machine from what comes in to what is to be done.
//!
//! The main type is [`Server`]. It does nothing itself: [`Server::start`],
//! [`Server::line`] and [`Server::end_of_input`] return [`Action`]s.

use super::action::Action;
use super::builtins::Outcome;
use super::fault::{Ask, End, Fault, Kind, Moment};
use super::host::Host;
use super::reply::{self, Body};
use super::spec::{Eras, Response, Script, Tool};
use super::state::State;
use super::tools::{self, Tools};
use super::units::Dice;
use super::{emit, protocol};
use jelly_base::mcp::{DISCOVER, Method, code};
use serde_json::{Value, json};
use std::time::Duration;

/// One life of a scripted server.
pub struct Server<H> {
    script: Script,
    /// Those of this start.
    faults: Vec<Fault>,
    host: H,
    dice: Dice,
    state: State,
    tools: Tools,
    /// A legacy client has said `initialize`.
    initialized: bool,
    next_ask: u64,
    /// Requests that wait for an answer of the client, with its id.
    waiting: Vec<(String, Job)>,
}

/// A request on its way to a reply.
#[derive(Debug)]
struct Job {
    id: Value,
    method: String,
    params: Value,
    modern: bool,
    /// Faults that act on it and have not acted yet.
    kinds: Vec<Kind>,
    /// Which call of its tool it is; 0 for other requests.
    nth: u64,
    response: Option<Response>,
    /// What the client answered meanwhile.
    answers: Vec<Value>,
}

impl<H: Host> Server<H> {
    /// A server about to start; `before` is what earlier lives counted.
    #[must_use]
    pub fn new(script: Script, host: H, before: State) -> Self {
        let state = before.next_start(script.persist);
        let mut faults = Vec::new();
        if script
            .faulty_starts
            .is_none_or(|starts| state.starts <= starts)
        {
            faults.extend(script.faults.iter().cloned());
        }
        if let Some(text) = &script.stderr {
            faults.push(at_spawn(Kind::Stderr(text.clone())));
        }
        let index = usize::try_from(state.starts - 1).unwrap_or(usize::MAX);
        let start = script.starts.get(index).or(script.starts.last());
        if let Some(start) = start {
            if let Some(text) = &start.stderr {
                faults.push(at_spawn(Kind::Stderr(text.clone())));
            }
            faults.extend(start.faults.iter().cloned());
            if let Some(code) = start.exit {
                faults.push(at_spawn(Kind::Exit(End::Code(i32::from(code)))));
            }
        }
        let seed = script.seed.unwrap_or_else(|| host.entropy());
        // Every start and, with kept counters, every call throws other dice.
        let mut dice = Dice::new(seed ^ state.starts.rotate_left(32) ^ state.calls);
        dice.roll();
        let tools = Tools::new(&script);
        Self {
            script,
            faults,
            host,
            dice,
            state,
            tools,
            initialized: false,
            next_ask: 0,
            waiting: Vec::new(),
        }
    }

    /// What happens before anything is read.
    pub fn start(&mut self) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.script.state_file.is_some() {
            actions.push(Action::Persist(self.state.clone()));
        }
        let mut pass = self.pass(&Moment::Spawn);
        // The edge stops at the first action that ends the process, so the
        // order of the ends is: missing things first, then faults.
        actions.append(&mut pass.0);
        if let Some(dir) = &self.script.files {
            actions.extend(emit::require_dir(dir, &self.host));
        }
        actions.append(&mut pass.1);
        actions
    }

    /// What happens when stdin ends. The last action ends or hangs.
    pub fn end_of_input(&mut self) -> Vec<Action> {
        let (mut actions, mut end) = self.pass(&Moment::Shutdown);
        actions.append(&mut end);
        let stays = self.faults.iter().any(|f| f.kind == Kind::IgnoreEof);
        actions.push(if stays { Action::Hang } else { Action::Exit(0) });
        actions
    }

    /// What faults do at a moment without a reply: before, and as its end.
    fn pass(&mut self, moment: &Moment) -> (Vec<Action>, Vec<Action>) {
        let kinds = self.kinds_at(moment);
        let mut actions: Vec<Action> = Vec::new();
        for kind in &kinds {
            actions.extend(emit::before(kind, &self.host).unwrap_or_default());
        }
        let mut end = Vec::new();
        let wait = slowness(&kinds);
        if !wait.is_zero() {
            end.push(Action::Pause(wait));
        }
        let host = &self.host;
        let instead = kinds.iter().find_map(|kind| emit::instead(kind, host));
        end.extend(instead.unwrap_or_default());
        (actions, end)
    }

    fn kinds_at(&self, moment: &Moment) -> Vec<Kind> {
        self.faults
            .iter()
            .filter(|fault| fault.at.matches(moment))
            .map(|fault| fault.kind.clone())
            .collect()
    }

    /// What happens when a line comes in.
    pub fn line(&mut self, line: &str) -> Vec<Action> {
        if line.trim().is_empty() {
            return Vec::new();
        }
        let Ok(mut message) = serde_json::from_str::<Value>(line) else {
            return self.plain_error(Value::Null, code::PARSE_ERROR, "Parse error");
        };
        let method = message
            .get("method")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let id = message
            .get_mut("id")
            .map(Value::take)
            .filter(|id| id.is_string() || id.is_number());
        let params = message.get_mut("params").map(Value::take);
        match (method, id) {
            (Some(method), Some(id)) => self.request(id, method, params.unwrap_or_default()),
            (Some(method), None) => self.notification(&method, &params.unwrap_or_default()),
            (None, Some(id)) if is_response(&message) => self.answered(&id, message),
            (None, id) => self.plain_error(
                id.unwrap_or_default(),
                code::INVALID_REQUEST,
                "Invalid Request",
            ),
        }
    }

    fn plain_error(&mut self, id: Value, code: i64, message: &str) -> Vec<Action> {
        let body = Body::error(code, message);
        reply::write(&id, body, &self.kinds_at(&Moment::Other), self.dice.roll())
    }

    fn notification(&mut self, method: &str, params: &Value) -> Vec<Action> {
        match method {
            "notifications/initialized" => {
                let (mut actions, mut end) = self.pass(&Moment::Initialized);
                actions.append(&mut end);
                actions
            }
            "notifications/cancelled" => match params.get("requestId") {
                Some(id) => {
                    self.waiting.retain(|(_, job)| job.id != *id);
                    vec![Action::Cancel(id.to_string())]
                }
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn answered(&mut self, id: &Value, mut message: Value) -> Vec<Action> {
        let place = self
            .waiting
            .iter()
            .position(|(ask, _)| Some(ask.as_str()) == id.as_str());
        let Some(place) = place else {
            return Vec::new();
        };
        let (_, mut job) = self.waiting.remove(place);
        let answer = ["result", "error"]
            .into_iter()
            .find_map(|key| message.get_mut(key).map(Value::take));
        job.answers.push(answer.unwrap_or_default());
        self.proceed(job)
    }

    fn request(&mut self, id: Value, method: String, params: Value) -> Vec<Action> {
        let modern = match self.script.era {
            Eras::Modern => true,
            Eras::Legacy => false,
            Eras::Both => protocol::is_modern(&params) || method == DISCOVER,
        };
        let mut actions = Vec::new();
        let mut job = Job {
            kinds: Vec::new(),
            nth: 0,
            response: None,
            answers: Vec::new(),
            id,
            method,
            params,
            modern,
        };
        let moment = match job.method.as_str() {
            "initialize" => Moment::Initialize,
            "server/discover" => Moment::Discover,
            "tools/call" => self.count_call(&mut job, &mut actions),
            method if method.ends_with("/list") => Moment::List,
            _ => Moment::Other,
        };
        let own = std::mem::take(&mut job.kinds);
        job.kinds = self.kinds_at(&moment);
        job.kinds.extend(own);

        let host = &self.host;
        job.kinds.retain(|kind| match emit::before(kind, host) {
            Some(before) => {
                actions.extend(before);
                false
            }
            None => true,
        });
        actions.extend(self.proceed(job));
        actions
    }

    /// Counts a tool call and chooses its response.
    fn count_call(&mut self, job: &mut Job, actions: &mut Vec<Action>) -> Moment {
        let tool = job.params["name"].as_str().unwrap_or_default().to_owned();
        self.state.calls = self.state.calls.saturating_add(1);
        let nth = self.state.tools.entry(tool.clone()).or_default();
        *nth = nth.saturating_add(1);
        job.nth = *nth;
        if self.script.persist {
            actions.push(Action::Persist(self.state.clone()));
        }
        if let Some(response) = self
            .scripted(&tool)
            .and_then(|scripted| tools::due(scripted, job.nth))
        {
            job.kinds = response.faults.iter().map(|f| f.kind.clone()).collect();
            job.response = Some(response.clone());
        }
        Moment::Call {
            n: self.state.calls,
            tool,
        }
    }

    fn scripted(&self, name: &str) -> Option<&Tool> {
        self.script.tools.iter().find(|tool| tool.name == name)
    }

    /// Asks the client what is still to be asked, then answers.
    fn proceed(&mut self, mut job: Job) -> Vec<Action> {
        let asked = job.kinds.iter().position(|k| matches!(k, Kind::Ask(_)));
        if let Some(place) = asked
            && let Kind::Ask(ask) = job.kinds[place]
        {
            let in_result = job.modern && ask != Ask::Ping;
            if !in_result {
                job.kinds.remove(place);
                self.next_ask += 1;
                let id = format!("mock-{}", self.next_ask);
                let request = emit::request(&id, ask);
                self.waiting.push((id, job));
                return vec![request];
            }
            // A modern server asks in its result, and is asked again.
            if let Some(answer) = job.params.pointer("/inputResponses/mock").cloned() {
                job.kinds.remove(place);
                job.answers.push(answer);
                return self.proceed(job);
            }
            let body = input_required(ask, &job.params);
            return self.finish(&job, Outcome::of(body));
        }

        let host = &self.host;
        let instead = job.kinds.iter().find_map(|kind| emit::instead(kind, host));
        let mut outcome = match instead {
            Some(instead) => Outcome {
                instead: Some(instead),
                ..Outcome::of(Body::Result(Value::Null))
            },
            None => self.perform(&job),
        };
        if let Body::Result(result) = &mut outcome.body {
            for answer in &job.answers {
                reply::add_text(result, format!("client answered: {answer}"));
            }
        }
        self.finish(&job, outcome)
    }

    /// The reply as actions, in its time.
    fn finish(&mut self, job: &Job, outcome: Outcome) -> Vec<Action> {
        let Outcome {
            body,
            before: mut actions,
            instead,
            delay,
        } = outcome;
        let last = match instead {
            Some(instead) => instead,
            None => {
                let body = if job.modern {
                    protocol::modernise(body, &job.method, &self.script)
                } else {
                    body
                };
                let wrong = self.wrong_text(job);
                let secrets = self.secrets(&job.kinds);
                let body = reply::distort(body, &job.kinds, wrong, secrets);
                reply::write(&job.id, body, &job.kinds, self.dice.roll())
            }
        };
        let wait = delay + slowness(&job.kinds);
        let request = job.id.to_string();
        let later = |after: Duration, then: Vec<Action>| Action::Later {
            after,
            request: request.clone(),
            then,
        };
        let progress = progress(job);
        let steps = u32::try_from(progress.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        for (i, note) in (1_u32..).zip(progress) {
            if wait.is_zero() {
                actions.push(note);
            } else {
                actions.push(later(wait / steps * i, vec![note]));
            }
        }
        // A server that hangs does so at once: hanging later is the same.
        if wait.is_zero() || last.contains(&Action::Hang) {
            actions.extend(last);
        } else {
            actions.push(later(wait, last));
        }
        actions
    }
}

fn at_spawn(kind: Kind) -> Fault {
    Fault {
        kind,
        at: super::fault::At::Spawn,
    }
}

fn is_response(message: &Value) -> bool {
    message.get("result").is_some() || message.get("error").is_some()
}

fn slowness(kinds: &[Kind]) -> Duration {
    kinds
        .iter()
        .map(|kind| match kind {
            Kind::Slow(wait) => *wait,
            _other => Duration::ZERO,
        })
        .sum()
}

/// Progress notifications, where the client gave a token to send them under.
fn progress(job: &Job) -> Vec<Action> {
    let Some(token) = job.params.pointer("/_meta/progressToken") else {
        return Vec::new();
    };
    job.kinds
        .iter()
        .filter_map(|kind| match kind {
            Kind::Progress(n) => Some(*n),
            _other => None,
        })
        .flat_map(|n| (1..=n).map(move |i| (i, n)))
        .map(|(i, n)| {
            emit::notification(
                "notifications/progress",
                &json!({"progressToken": token, "progress": i, "total": n}),
            )
        })
        .collect()
}

/// How a modern server asks its client (basic/patterns/mrtr), if the client
/// said it can answer.
fn input_required(ask: Ask, params: &Value) -> Body {
    let (method, request) = emit::ask_request(ask);
    // A ping, which needs none, is never asked this way.
    let capability = Method::find_of_server(method).map(|method| method.capability);
    if let Some(&[capability]) = capability
        && !protocol::client_can(params, capability)
    {
        return Body::Error {
            code: code::MISSING_CAPABILITY,
            message: "Missing required client capability".to_owned(),
            data: Some(json!({"requiredCapabilities": {capability: {}}})),
        };
    }
    Body::Result(json!({
        "resultType": "input_required",
        "inputRequests": {"mock": {"method": method, "params": request}},
        "requestState": "mock-state",
    }))
}

mod perform;
#[cfg(test)]
mod tests;
