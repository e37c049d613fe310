//! One step against a running server: resolved, checked, sent, judged.

use super::board::Board;
use super::issue::describe;
use super::judge::{Judgement, Mismatch, Observed, SnapshotProposal, judge};
use super::launch::issue_of;
use super::operators::OperandError;
use super::output::{Declared, malformed};
use super::preflight::ToolBook;
use super::request::{Ready, prepare};
use super::snapshots;
use crate::model::{
    Assertion, AssertionTarget, Because, Exit, Failure, Outcome, Phase, PlanIssue, RpcError,
    StepState, ToolResult,
};
use crate::plan::{ListKind, Location, Operator, Predicate, Step};
use crate::process::Mark;
use crate::text::{human_duration, plural};
use crate::wire::{self, HttpEnd, Life, Reply, ReplyOutcome, Session, describe_exit};
use serde_json::Value;
use std::time::Duration;

/// How a step ended.
pub struct StepEnd {
    pub state: StepState,
    pub because: Option<Because>,
    /// Present if it was executed.
    pub duration: Option<Duration>,
    pub adapter: Option<&'static str>,
    /// Without the facts about its server, which the lane adds.
    pub failure: Option<Box<Failure>>,
}

impl StepEnd {
    pub fn not_run(state: StepState, because: Because) -> Self {
        Self {
            state,
            because: Some(because),
            duration: None,
            adapter: None,
            failure: None,
        }
    }

    fn failed(failure: Failure, duration: Duration) -> Self {
        Self {
            state: StepState::Failed,
            because: None,
            duration: Some(duration),
            adapter: None,
            failure: Some(Box::new(failure)),
        }
    }

    /// The plan can't be run as written here.
    pub fn unfit(failure: Failure) -> Self {
        Self {
            state: StepState::Quarantined,
            because: Some(Because::Plan(failure.message.clone().unwrap_or_default())),
            duration: None,
            adapter: None,
            failure: Some(Box::new(failure)),
        }
    }
}

/// What is to be thought of the server afterwards.
#[derive(Debug, Clone, PartialEq)]
pub enum Aftermath {
    Alive,
    Died,
    /// It died before it read the first byte of the request, so that the
    /// death belongs before the step, and the step was never executed.
    DiedBefore,
    /// It knows the session no more, so that the step was never executed.
    SessionLost(Box<HttpEnd>),
    /// It let a request run into its limit, or broke the protocol.
    Unsure,
}

/// A step that was run.
pub struct Ran {
    pub end: StepEnd,
    pub aftermath: Aftermath,
    /// What the server wrote on stderr meanwhile; all of it where it wrote
    /// nothing then.
    pub stderr: String,
    /// What of the answer could not be judged, in a sentence.
    pub unjudged: Option<String>,
}

/// Runs one step. Dropping the future cancels its request.
pub async fn run(
    board: &Board,
    session: &Session,
    book: &ToolBook,
    step: &Step,
    limit: Duration,
) -> Ran {
    // What the server wrote has nothing to do with a plan that can't be meant.
    let unfit = |failure| Ran {
        end: StepEnd::unfit(failure),
        aftermath: Aftermath::Alive,
        stderr: String::new(),
        unjudged: None,
    };
    let ready = match prepare(board, step) {
        Ok(ready) => ready,
        Err(failure) => return unfit(*failure),
    };
    if !step.expects_error()
        && session.declares_tools()
        && let Some(tool) = &ready.tool
        && let Some(mut issue) = book.issue(tool, ready.args())
    {
        if let PlanIssue::InvalidArgument { reason, .. } = &mut issue {
            *reason = board.cleaner.quote(reason);
        }
        let mut failure = at_step(step, Phase::Config, describe(&issue));
        failure.issue = Some(issue);
        failure.request = Some(ready.facts());
        return unfit(failure);
    }

    let mark = session.stderr().mark();
    let reply = match ready.list {
        Some(kind) => {
            session
                .list(wire_kind(kind), ready.params.clone(), limit)
                .await
        }
        None => {
            session
                .request(ready.method(), ready.params.clone(), limit)
                .await
        }
    };
    board.keep_answer(step, &reply.outcome);
    let asked = Asked {
        board,
        session,
        step,
        ready: &ready,
        schema: ready
            .tool
            .as_deref()
            .and_then(|tool| book.output_schema(tool)),
        elapsed: reply.elapsed,
        limit,
        mark,
    };
    let (end, aftermath) = asked.conclude(reply).await;
    let since = session.stderr().since(mark);
    let unjudged = asked.schema.and_then(Declared::unjudged);
    Ran {
        unjudged: unjudged.map(|why| {
            format!(
                "the output of {} was not held against its output schema: {why}",
                ready.shown()
            )
        }),
        stderr: if since.trim().is_empty() && end.failure.is_some() {
            session.stderr().tail()
        } else {
            since
        },
        end,
        aftermath,
    }
}

fn wire_kind(kind: ListKind) -> wire::ListKind {
    match kind {
        ListKind::Tools => wire::ListKind::Tools,
        ListKind::Resources => wire::ListKind::Resources,
        ListKind::ResourceTemplates => wire::ListKind::ResourceTemplates,
        ListKind::Prompts => wire::ListKind::Prompts,
    }
}

/// A failure at this step, without facts about the server.
pub fn at_step(step: &Step, phase: Phase, message: impl Into<String>) -> Failure {
    Failure {
        phase: Some(phase),
        server: Some(step.server.clone()),
        step: Some(step.id.clone()),
        message: Some(message.into()),
        ..Failure::default()
    }
}

/// A step whose request has come to its end.
struct Asked<'a> {
    board: &'a Board,
    session: &'a Session,
    step: &'a Step,
    ready: &'a Ready,
    /// The tool's declared output schema.
    schema: Option<&'a Declared>,
    elapsed: Duration,
    limit: Duration,
    /// Where the server's stderr stood before.
    mark: Mark,
}

impl Asked<'_> {
    async fn conclude(&self, reply: Reply) -> (StepEnd, Aftermath) {
        match reply.outcome {
            ReplyOutcome::Exited(exit) => {
                let aftermath = if reply.unread {
                    Aftermath::DiedBefore
                } else {
                    Aftermath::Died
                };
                (self.fail(self.exited(exit)), aftermath)
            }
            ReplyOutcome::TimedOut(life) => (self.fail(self.timed_out(life)), Aftermath::Unsure),
            ReplyOutcome::Broken(breach) => {
                let mut failure = self.breached(breach);
                failure.process_alive = self.lives();
                (self.fail(failure), Aftermath::Unsure)
            }
            ReplyOutcome::Unanswered(why) => {
                let unanswered = self.unanswered(&why);
                (self.fail(unanswered), Aftermath::Alive)
            }
            ReplyOutcome::Http(end) => self.over_http(end).await,
            ReplyOutcome::RpcError(error) => {
                let end = match self.judged(Err(&error)).await {
                    Judgement::RpcError => self.fail(self.refused(error)),
                    other => self.settled(&Value::Null, other),
                };
                (end, Aftermath::Alive)
            }
            ReplyOutcome::Answered(result) => {
                let end = match malformed(&self.step.request, &result) {
                    Some(breach) => {
                        let mut failure = self.breached(breach);
                        failure.outcome = Some(Outcome::Ok);
                        self.fail(failure)
                    }
                    None => self.settled(&result, self.judged(Ok(&result)).await),
                };
                (end, Aftermath::Alive)
            }
        }
    }

    /// The exchange brought no good answer. A JSON-RPC error in a refusal is
    /// an answer all the same.
    async fn over_http(&self, end: Box<HttpEnd>) -> (StepEnd, Aftermath) {
        if end.session_lost {
            let message = format!("{} {}", self.ready.shown(), end.message);
            let failure = at_step(self.step, Phase::Call, message);
            return (self.fail(failure), Aftermath::SessionLost(end));
        }
        let aftermath = if end.answered() && end.breach.is_none() {
            Aftermath::Alive
        } else {
            Aftermath::Unsure
        };
        let HttpEnd {
            facts,
            message,
            rpc_error,
            breach,
            session_lost: _,
        } = *end;
        if let Some(error) = rpc_error {
            let mut end = match self.judged(Err(&error)).await {
                Judgement::RpcError => self.fail(self.refused(error)),
                other => self.settled(&Value::Null, other),
            };
            if let Some(failure) = &mut end.failure {
                failure.http = Some(facts);
            }
            return (end, aftermath);
        }
        let message = match &breach {
            Some(breach) => format!("the server {breach}, in answer to {}", self.ready.shown()),
            None => format!("{} {message}", self.ready.shown()),
        };
        let failure = Failure {
            process_alive: self.lives(),
            protocol_breach: breach,
            http: Some(facts),
            ..at_step(self.step, Phase::Call, message)
        };
        (self.fail(failure), aftermath)
    }

    /// That the server's process lives, where there is one.
    fn lives(&self) -> Option<bool> {
        self.session.has_process().then_some(true)
    }

    fn fail(&self, mut failure: Failure) -> StepEnd {
        failure.request = Some(self.ready.facts());
        failure.elapsed_ms = Some(u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX));
        StepEnd::failed(failure, self.elapsed)
    }

    fn exited(&self, exit: Exit) -> Failure {
        let message = format!(
            "the server exited {} during {}",
            describe_exit(&exit),
            self.ready.shown()
        );
        Failure {
            outcome: Some(Outcome::Eof),
            exit: Some(exit),
            process_alive: Some(false),
            ..at_step(self.step, Phase::Call, message)
        }
    }

    fn timed_out(&self, life: Life) -> Failure {
        let signs = if life.any() {
            ", though the server showed signs of life"
        } else if life.unread {
            ", and the server did not even read the request"
        } else {
            ""
        };
        let message = format!(
            "{} was not answered within {}{signs}",
            self.ready.shown(),
            human_duration(self.limit)
        );
        Failure {
            outcome: Some(Outcome::Timeout),
            timeout_s: Some(self.limit.as_secs_f64()),
            process_alive: self.lives(),
            showed_life: Some(life.any()),
            ..at_step(self.step, Phase::Call, message)
        }
    }

    /// `breach` completes "the server …".
    fn breached(&self, breach: String) -> Failure {
        let message = format!("the server {breach}, in answer to {}", self.ready.shown());
        Failure {
            protocol_breach: Some(breach),
            ..at_step(self.step, Phase::Call, message)
        }
    }

    /// The server asks for what the plan has no answer to; `why` completes
    /// "the server …".
    fn unanswered(&self, why: &str) -> Failure {
        let why = self.board.cleaner.quote(why);
        let message = format!("the server {why}, in answer to {}", self.ready.shown());
        Failure {
            outcome: Some(Outcome::Result),
            assertion: Some(Assertion {
                kind: "answered".to_owned(),
                target: Some(AssertionTarget::Asked),
                path: None,
                expected: Value::from("an answer in the plan"),
                actual: Value::from(why),
                at: Some(self.board.plan.source.at(self.step.at)),
            }),
            ..at_step(self.step, Phase::Assert, message)
        }
    }

    fn refused(&self, error: RpcError) -> Failure {
        let code = error
            .code
            .map_or_else(|| "without a code".to_owned(), |code| code.to_string());
        let message = format!(
            "{} was answered with the JSON-RPC error {code}: {}",
            self.ready.shown(),
            self.board.cleaner.quote(&error.message)
        );
        Failure {
            outcome: Some(Outcome::Error),
            rpc_error: Some(error),
            ..at_step(self.step, Phase::Call, message)
        }
    }

    /// Judges an answer; where stderr is asked about, it catches up first.
    async fn judged(&self, answer: Result<&Value, &RpcError>) -> Judgement {
        let Self { board, step, .. } = self;
        let stderr = if step.expect.stderr.is_empty() {
            String::new()
        } else {
            self.session.stderr().caught_up().await;
            self.session.stderr().since(self.mark)
        };
        let observed = Observed {
            answer,
            duration: self.elapsed,
            stderr: &stderr,
            output_schema: self.schema,
            cleaner: &board.cleaner,
        };
        let resolve = |predicate: &Predicate| {
            if predicate.operator == Operator::Snapshot {
                let name = predicate.operand.as_str().unwrap_or_default();
                return snapshots::stored(&board.plan.source.path, name).map(Value::from);
            }
            let scope = board.scope.borrow();
            crate::plan::resolve_json(&predicate.operand, &scope, &step.server)
                .map_err(OperandError::from)
        };
        judge(
            &step.expect,
            &observed,
            &resolve,
            &mut board.compiled.borrow_mut(),
        )
    }

    /// From a judgement to the step's end; captures are taken on the way.
    fn settled(&self, result: &Value, judgement: Judgement) -> StepEnd {
        let Self { board, step, .. } = self;
        match judgement {
            Judgement::Passed { adapter } => match capture(board, step, result) {
                Ok(()) => StepEnd {
                    state: StepState::Passed,
                    because: None,
                    duration: Some(self.elapsed),
                    adapter,
                    failure: None,
                },
                Err(mismatch) => self.fail(mismatched(board, step, result, vec![*mismatch])),
            },
            Judgement::Mismatched {
                mismatches,
                adapter,
                proposals,
            } => {
                let mut failure = mismatched(board, step, result, mismatches);
                self.propose(&mut failure, &proposals);
                StepEnd {
                    adapter,
                    ..self.fail(failure)
                }
            }
            Judgement::ToolError { text } => {
                let quoted = board.cleaner.quote(&text);
                let message = if quoted.is_empty() {
                    "the tool answered with isError: true and no text".to_owned()
                } else {
                    format!("the tool answered with an error: {quoted}")
                };
                self.fail(Failure {
                    outcome: Some(Outcome::Result),
                    tool_result: Some(tool_result(result)),
                    ..at_step(step, Phase::Call, message)
                })
            }
            // Only an error that came is judged to be one that was not wanted.
            Judgement::RpcError => self.fail(at_step(step, Phase::Call, "answered with an error")),
            Judgement::BadOperand {
                error,
                at,
                proposals,
            } => {
                let message = format!("an expectation can't be held against the answer: {error}");
                let mut failure = at_step(step, Phase::Config, message);
                if let OperandError::Unresolved(unresolved) = &error {
                    failure.issue = issue_of(unresolved);
                }
                failure.file = Some(board.plan.source.path.display().to_string());
                failure.line = Some(at.line as u64);
                self.propose(&mut failure, &proposals);
                StepEnd::unfit(failure)
            }
        }
    }

    /// Keeps the texts that would have to be stored, for a person to review,
    /// and says where they are and where they would belong.
    fn propose(&self, failure: &mut Failure, proposals: &[SnapshotProposal]) {
        let mut said = String::new();
        for proposal in proposals {
            let name = &proposal.name;
            let stored = snapshots::path_of(&self.board.plan.source.path, name);
            said.push_str(&match (self.board.propose)(name, &proposal.text) {
                Ok(shown) => format!(
                    "; the actual text is in {shown} of the report: where it is right, copy it \
                     to {}",
                    stored.display()
                ),
                Err(why) => format!("; the actual text could not be kept: failed to {why}"),
            });
        }
        if let Some(message) = &mut failure.message {
            message.push_str(&said);
        }
    }
}

fn tool_result(result: &Value) -> ToolResult {
    ToolResult {
        is_error: super::output::is_error(result),
        text: super::output::text_of(result),
        structured_content: result.get("structuredContent").cloned(),
    }
}

/// A failed expectation; the first one speaks for all of them.
fn mismatched(board: &Board, step: &Step, result: &Value, mismatches: Vec<Mismatch>) -> Failure {
    let others = mismatches.len().saturating_sub(1);
    let mut failure = at_step(step, Phase::Assert, "");
    failure.outcome = Some(Outcome::Result);
    failure.tool_result = Some(tool_result(result));
    if let Some(first) = mismatches.into_iter().next() {
        let mut message = first.message;
        if others > 0 {
            message.push_str(&format!(" (and {} more)", plural(others, "mismatch")));
        }
        failure.message = Some(message);
        let at = if first.at == Location::default() {
            step.at
        } else {
            first.at
        };
        failure.assertion = Some(Assertion {
            at: Some(board.plan.source.at(at)),
            ..first.assertion
        });
    }
    failure
}

/// Keeps what the plan wants kept, all of it or nothing.
fn capture(board: &Board, step: &Step, result: &Value) -> Result<(), Box<Mismatch>> {
    let mut captured = Vec::new();
    for (name, capture) in &step.capture {
        let nodes = capture.path.query(result).all();
        let value = match nodes.as_slice() {
            [] => {
                return Err(Box::new(Mismatch {
                    message: format!(
                        "nothing stands at {} to be kept as `{name}`, in {}",
                        capture.raw,
                        board.cleaner.quote_value(result)
                    ),
                    assertion: Assertion {
                        kind: "capture".to_owned(),
                        target: Some(AssertionTarget::Json),
                        path: Some(capture.raw.clone()),
                        expected: Value::Bool(true),
                        actual: Value::Null,
                        at: None,
                    },
                    at: capture.at,
                }));
            }
            [one] => (*one).clone(),
            many => Value::Array(many.iter().map(|value| (*value).clone()).collect()),
        };
        captured.push((name.clone(), value));
    }
    board.scope.borrow_mut().captures.extend(captured);
    Ok(())
}
