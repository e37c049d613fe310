//! The server that is tried out: started, called, started again, within limits.
//!
//! Main type: [`Live`].

use jelly_base::mcp::{Era, ListKind};
use jelly_base::model::{AssertionTarget, Failure, Outcome, Phase};
use jelly_fuzzing::{Answer, FuzzCall, FuzzTotals, Observation, Target, WireSlip};
use jelly_harness::exec::{OpenServer, ToolCall};
use jelly_wire::Launch;
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// Calls that are remembered of one server.
const HISTORY: usize = 60;
/// How long a server may take to stop.
const GRACE: Duration = Duration::from_secs(1);
/// How much later than its answer something may still come of a call.
const LATER: Duration = Duration::from_millis(250);
/// What is kept of what a server wrote on stderr before it died, in bytes.
const STDERR: usize = 2_000;

/// Why nothing more can be tried.
#[derive(Debug)]
pub enum Stop {
    Deadline,
    /// The server does not start.
    NoServer(Box<Failure>),
}

/// See the module.
pub struct Live<'a> {
    launch: Launch,
    targets: &'a [Target],
    /// Of each call.
    pub limit: Duration,
    deadline: Instant,
    server: Option<OpenServer>,
    /// Names of the tools, in order, as this server listed them first.
    listed: Option<Vec<String>>,
    /// How often each breach of the protocol was seen.
    slips: HashMap<(String, String), u64>,
    /// The calls of cases since the server was started.
    pub history: Vec<FuzzCall>,
    pub totals: FuzzTotals,
    /// The longest that a good answer took.
    pub slowest: Duration,
}

impl<'a> Live<'a> {
    pub fn new(launch: Launch, targets: &'a [Target], limit: Duration, deadline: Instant) -> Self {
        Self {
            launch: Launch {
                wire_check: true,
                ..launch
            },
            targets,
            limit,
            deadline,
            server: None,
            listed: None,
            slips: HashMap::new(),
            history: Vec::new(),
            totals: FuzzTotals::default(),
            slowest: Duration::ZERO,
        }
    }

    pub fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    pub fn is_up(&self) -> bool {
        self.server.is_some()
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Ends the server, if there is one.
    pub async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop(GRACE).await;
        }
    }

    /// Forgets a server that is of no more use; what is left of it is killed.
    pub fn discard(&mut self) {
        self.server = None;
    }

    /// A fresh server; what its start broke of the protocol.
    pub async fn fresh(&mut self) -> Result<Vec<WireSlip>, Stop> {
        self.stop().await;
        if self.is_late() {
            return Err(Stop::Deadline);
        }
        let mut server = self.start(None).await?;
        if server.session().was_opened_twice() {
            // What was sent to find out the era counts against nobody.
            server.stop(GRACE).await;
            server = self.start(Some(Era::Modern)).await?;
        }
        self.history.clear();
        self.slips.clear();
        self.listed = None;
        self.server = Some(server);
        Ok(self.new_slips())
    }

    async fn start(&mut self, era: Option<Era>) -> Result<OpenServer, Stop> {
        self.totals.starts += 1;
        let launch = Launch {
            era: era.or(self.launch.era),
            startup_timeout: self.launch.startup_timeout.min(self.left()),
            ..self.launch.clone()
        };
        let started = OpenServer::start(&launch).await;
        started.map_err(|failure| match self.is_late() {
            true => Stop::Deadline,
            false => Stop::NoServer(failure),
        })
    }

    /// Starts one where there is none.
    pub async fn ensure(&mut self) -> Result<bool, Stop> {
        if self.is_up() {
            return Ok(false);
        }
        self.fresh().await.map(|_| true)
    }

    /// One call of a case, and what the server is like afterwards.
    pub async fn observe(
        &mut self,
        tool: usize,
        arguments: &Value,
        limit: Duration,
    ) -> Result<Observation, Stop> {
        let (answer, output) = self.call(tool, arguments, limit).await?;
        self.remember(tool, arguments, &answer);
        let mut seen = Observation {
            output,
            ..Observation::of(answer)
        };
        if !is_over(&seen.answer) {
            self.look_after(&mut seen).await?;
        }
        seen.wire = self.new_slips();
        if is_over(&seen.answer) || seen.afterwards.is_some() {
            self.discard();
        }
        Ok(seen)
    }

    /// As [`Live::observe`], and what comes a little later.
    pub async fn observe_longer(
        &mut self,
        tool: usize,
        arguments: &Value,
        limit: Duration,
    ) -> Result<Observation, Stop> {
        let mut seen = self.observe(tool, arguments, limit).await?;
        if self.is_up() {
            tokio::time::sleep(LATER.min(self.left())).await;
            self.look_after(&mut seen).await?;
            seen.wire.extend(self.new_slips());
            if seen.afterwards.is_some() {
                self.discard();
            }
        }
        Ok(seen)
    }

    fn remember(&mut self, tool: usize, arguments: &Value, answer: &Answer) {
        if self.history.len() == HISTORY {
            self.history.remove(0);
        }
        let name = self.targets.get(tool).map(|it| it.name.as_str());
        let mut call = FuzzCall::new(name.unwrap_or_default(), arguments.clone());
        call.is_refused = answer.is_refusal();
        self.history.push(call);
    }

    /// A call, and how its output breaks its own schema.
    pub async fn call(
        &mut self,
        tool: usize,
        arguments: &Value,
        limit: Duration,
    ) -> Result<(Answer, Option<String>), Stop> {
        let limit = limit.min(self.left());
        let (Some(server), Some(target)) = (&self.server, self.targets.get(tool)) else {
            return Err(Stop::Deadline);
        };
        let schema = target.output_schema.as_ref();
        let call = server.call(&target.name, arguments, schema, limit).await;
        let answer = answer_of(&call);
        if matches!(answer, Answer::Nothing { .. }) && self.is_late() {
            return Err(Stop::Deadline);
        }
        if answer.good().is_some() {
            self.slowest = self.slowest.max(call.elapsed);
        }
        Ok((answer, output_of(&call)))
    }

    /// Two calls at once.
    pub async fn pair(
        &mut self,
        one: (usize, &Value),
        other: (usize, &Value),
    ) -> Result<[Answer; 2], Stop> {
        let limit = self.limit.min(self.left());
        let tools = [one, other].map(|(tool, _)| self.targets.get(tool));
        let (Some(server), [Some(first), Some(second)]) = (&self.server, tools) else {
            return Err(Stop::Deadline);
        };
        let (first, second) = tokio::join!(
            server.call(&first.name, one.1, None, limit),
            server.call(&second.name, other.1, None, limit),
        );
        let answers = [answer_of(&first), answer_of(&second)];
        let is_silent = |answer: &Answer| matches!(answer, Answer::Nothing { .. });
        if answers.iter().any(is_silent) && self.is_late() {
            return Err(Stop::Deadline);
        }
        if answers.iter().any(is_over) {
            self.discard();
        }
        Ok(answers)
    }

    /// Asks for the list of tools: what was written before it has been read then, and a
    /// server that answers it is alive.
    async fn look_after(&mut self, seen: &mut Observation) -> Result<(), Stop> {
        let Some(server) = &self.server else {
            return Ok(());
        };
        let limit = self.limit.min(self.left());
        match server.list(ListKind::Tools, limit).await {
            Ok(Some(tools)) => {
                let name = |tool: &Value| tool.get("name")?.as_str().map(str::to_owned);
                let mut names: Vec<String> = tools.iter().filter_map(name).collect();
                names.sort_unstable();
                let may_change = server.session().tools_changed();
                let before = self.listed.replace(names.clone());
                if let Some(before) = before.filter(|before| !may_change && *before != names) {
                    seen.changed = Some(format!(
                        "listed {} before the call and {} after it, and told nobody",
                        before.len(),
                        names.len()
                    ));
                }
            }
            Ok(None) => {}
            Err(failure) => {
                let after = answer_of_failure(&failure, None, 0);
                let is_silent = matches!(after, Answer::Nothing { .. });
                if is_silent && self.is_late() {
                    return Err(Stop::Deadline);
                }
                seen.afterwards = Some(after).filter(is_over);
            }
        }
        Ok(())
    }

    /// Breaches of the protocol since this was last asked.
    fn new_slips(&mut self) -> Vec<WireSlip> {
        let check = self
            .server
            .as_ref()
            .and_then(|it| it.session().wire_check());
        let mut new = Vec::new();
        for breach in check.iter().flat_map(|check| check.failing()) {
            let key = (breach.rule.clone(), breach.text.clone());
            let known = self.slips.entry(key).or_default();
            if *known < breach.count {
                *known = breach.count;
                new.push(WireSlip {
                    rule: breach.rule.clone(),
                    text: breach.text.clone(),
                });
            }
        }
        new
    }
}

/// Whether a server can't be used after this.
pub fn is_over(answer: &Answer) -> bool {
    matches!(answer, Answer::Died { .. } | Answer::Nothing { .. })
}

/// How the output breaks its own schema; completes "the server …".
fn output_of(call: &ToolCall) -> Option<String> {
    let failure = call.failure.as_deref()?;
    let target = failure.assertion.as_ref()?.target?;
    let told = failure.message.as_deref().unwrap_or_default();
    let told = told.strip_prefix("the result ").unwrap_or(told);
    (target == AssertionTarget::OutputSchema).then(|| format!("gave a result that {told}"))
}

fn answer_of(call: &ToolCall) -> Answer {
    match (&call.failure, &call.result) {
        (None, Some(result)) => Answer::Result(result.clone()),
        (None, None) => Answer::Unjudged("there is no answer".to_owned()),
        (Some(failure), result) => answer_of_failure(failure, result.as_ref(), call.progress),
    }
}

fn answer_of_failure(failure: &Failure, result: Option<&Value>, progress: u64) -> Answer {
    let message = || failure.message.clone().unwrap_or_default();
    if let Some(breach) = &failure.protocol_breach {
        return Answer::Broken(breach.clone());
    }
    if failure.own_limit.is_some() || failure.phase == Some(Phase::Config) {
        return Answer::Unjudged(message());
    }
    if let Some(result) = result {
        return Answer::Result(result.clone());
    }
    if let Some(error) = &failure.rpc_error {
        return Answer::Error {
            code: error.code,
            message: error.message.clone(),
            data: error.data.clone(),
        };
    }
    let stderr = || {
        let all = failure.stderr.as_deref().unwrap_or_default();
        all[all.ceil_char_boundary(all.len().saturating_sub(STDERR))..].to_owned()
    };
    match (failure.outcome, &failure.http) {
        (Some(Outcome::Timeout), _) => Answer::Nothing {
            showed_progress: progress > 0,
        },
        (Some(Outcome::Eof), _) => Answer::Died {
            exit: failure.exit.clone(),
            stderr: stderr(),
        },
        (_, Some(http)) => match http.status {
            Some(status) => Answer::HttpStatus(status),
            None => Answer::Died {
                exit: None,
                stderr: http.text.clone().or(http.error.clone()).unwrap_or_default(),
            },
        },
        (_, None) => Answer::Unjudged(message()),
    }
}
