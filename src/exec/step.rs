//! One step against a running server: resolved, checked, sent, judged.

use super::board::Board;
use super::judge::{Judgement, Mismatch, Observed, judge};
use super::launch::issue_of;
use super::operators::OperandError;
use super::preflight::ToolBook;
use crate::model::{
    Assertion, AssertionTarget, Because, Failure, Outcome, Phase, PlanIssue, RequestFacts,
    StepState, ToolResult,
};
use crate::plan::{ListKind, Location, Predicate, Request, Step, Template, Unresolved};
use crate::text::{human_duration, one_line, plural, truncate};
use crate::wire::{self, Life, Reply, ReplyOutcome, Session, describe_exit};
use serde_json::{Map, Value};
use std::time::Duration;

/// How much of a text a message quotes.
const QUOTED: usize = 300;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aftermath {
    Alive,
    Died,
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
}

/// The request a step makes.
struct Ready {
    method: &'static str,
    custom: Option<String>,
    params: Value,
    list: Option<ListKind>,
    /// For the tool's schemas.
    tool: Option<String>,
    args: Value,
}

impl Ready {
    fn method(&self) -> &str {
        self.custom.as_deref().unwrap_or(self.method)
    }

    fn facts(&self) -> RequestFacts {
        RequestFacts {
            method: self.method().to_owned(),
            params: (!self.params.is_null()).then(|| self.params.clone()),
        }
    }

    /// As a message calls it.
    fn shown(&self) -> String {
        match &self.tool {
            Some(tool) => format!("tools/call `{tool}`"),
            None => self.method().to_owned(),
        }
    }
}

/// Runs one step. Dropping the future cancels its request.
pub async fn run(
    board: &Board,
    session: &Session,
    book: &ToolBook,
    step: &Step,
    limit: Duration,
) -> Ran {
    let alive = |end| Ran {
        end,
        aftermath: Aftermath::Alive,
        stderr: session.stderr().tail(),
    };
    let ready = match prepare(board, step) {
        Ok(ready) => ready,
        Err(failure) => return alive(StepEnd::unfit(*failure)),
    };
    if !step.expects_error()
        && session.declares_tools()
        && let Some(tool) = &ready.tool
        && let Some(issue) = book.issue(tool, &ready.args)
    {
        let mut failure = at_step(step, Phase::Config, describe(&issue));
        failure.issue = Some(issue);
        failure.request = Some(ready.facts());
        return alive(StepEnd::unfit(failure));
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
    let (end, aftermath) = conclude(board, session, book, step, &ready, reply, mark, limit).await;
    let since = session.stderr().since(mark);
    Ran {
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

/// Puts values in the place of names.
fn prepare(board: &Board, step: &Step) -> Result<Ready, Box<Failure>> {
    let scope = board.scope.borrow();
    let unresolved = |unresolved: Unresolved| {
        let mut failure = at_step(step, Phase::Config, unresolved.to_string());
        failure.issue = issue_of(&unresolved);
        Box::new(failure)
    };
    let args = crate::plan::resolve_json(&step.args, &scope, &step.server).map_err(unresolved)?;
    let arguments = if args.is_null() {
        Value::Object(Map::new())
    } else {
        args
    };
    let object = |entries: [(&str, Value); 1]| {
        Value::Object(
            entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        )
    };
    let plain = |method, params, list| Ready {
        method,
        custom: None,
        params,
        list,
        tool: None,
        args: Value::Null,
    };
    Ok(match &step.request {
        Request::Tool(name) => {
            let mut params = object([("name", Value::from(name.as_str()))]);
            params["arguments"] = arguments.clone();
            Ready {
                tool: Some(name.clone()),
                args: arguments,
                ..plain("tools/call", params, None)
            }
        }
        Request::List(kind) => {
            let method = match kind {
                ListKind::Tools => "tools/list",
                ListKind::Resources => "resources/list",
                ListKind::ResourceTemplates => "resources/templates/list",
                ListKind::Prompts => "prompts/list",
            };
            plain(method, arguments, Some(*kind))
        }
        Request::Read(uri) => {
            let uri = match Template::parse(uri) {
                Ok(template) => template
                    .resolve_str(&scope, &step.server)
                    .map_err(unresolved)?,
                // The loader has parsed it already.
                Err(_) => uri.clone(),
            };
            plain("resources/read", object([("uri", Value::from(uri))]), None)
        }
        Request::Prompt(name) => {
            let mut params = object([("name", Value::from(name.as_str()))]);
            params["arguments"] = arguments;
            plain("prompts/get", params, None)
        }
        Request::Method(method) => Ready {
            custom: Some(method.clone()),
            ..plain("", arguments, None)
        },
    })
}

#[expect(clippy::too_many_arguments, reason = "one place where all of it meets")]
async fn conclude(
    board: &Board,
    session: &Session,
    book: &ToolBook,
    step: &Step,
    ready: &Ready,
    reply: Reply,
    mark: crate::process::Mark,
    limit: Duration,
) -> (StepEnd, Aftermath) {
    let elapsed = reply.elapsed;
    let fail = |mut failure: Failure| {
        failure.request = Some(ready.facts());
        failure.elapsed_ms = Some(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
        StepEnd::failed(failure, elapsed)
    };
    match reply.outcome {
        ReplyOutcome::Exited(exit) => {
            let mut failure = at_step(
                step,
                Phase::Call,
                format!(
                    "the server exited {} during {}",
                    describe_exit(&exit),
                    ready.shown()
                ),
            );
            failure.outcome = Some(Outcome::Eof);
            failure.exit = Some(exit);
            failure.process_alive = Some(false);
            (fail(failure), Aftermath::Died)
        }
        ReplyOutcome::TimedOut(life) => {
            (fail(timed_out(step, ready, limit, life)), Aftermath::Unsure)
        }
        ReplyOutcome::Broken(breach) => {
            let mut failure = at_step(
                step,
                Phase::Call,
                format!("the server {breach}, in answer to {}", ready.shown()),
            );
            failure.process_alive = Some(true);
            failure.protocol_breach = Some(breach);
            (fail(failure), Aftermath::Unsure)
        }
        ReplyOutcome::RpcError(error) => {
            let judgement = judged(board, session, step, Err(&error), elapsed, mark, None).await;
            let end = match judgement {
                Judgement::RpcError => {
                    let mut failure = at_step(
                        step,
                        Phase::Call,
                        format!(
                            "{} was answered with the JSON-RPC error {}: {}",
                            ready.shown(),
                            error
                                .code
                                .map_or_else(|| "without a code".to_owned(), |c| c.to_string()),
                            one_line(&error.message, QUOTED)
                        ),
                    );
                    failure.outcome = Some(Outcome::Error);
                    failure.rpc_error = Some(error);
                    fail(failure)
                }
                other => settled(board, step, &Value::Null, other, elapsed, fail),
            };
            (end, Aftermath::Alive)
        }
        ReplyOutcome::Answered(result) => {
            if let Some(breach) = malformed(step, &result) {
                let mut failure = at_step(
                    step,
                    Phase::Call,
                    format!("the server {breach}, in answer to {}", ready.shown()),
                );
                failure.outcome = Some(Outcome::Ok);
                failure.protocol_breach = Some(breach);
                return (fail(failure), Aftermath::Alive);
            }
            let schema = ready
                .tool
                .as_deref()
                .and_then(|tool| book.output_schema(tool));
            let judgement = judged(board, session, step, Ok(&result), elapsed, mark, schema).await;
            (
                settled(board, step, &result, judgement, elapsed, fail),
                Aftermath::Alive,
            )
        }
    }
}

fn timed_out(step: &Step, ready: &Ready, limit: Duration, life: Life) -> Failure {
    let signs = if life.any() {
        ", though the server showed signs of life"
    } else if life.unread {
        ", and the server did not even read the request"
    } else {
        ""
    };
    let mut failure = at_step(
        step,
        Phase::Call,
        format!(
            "{} was not answered within {}{signs}",
            ready.shown(),
            human_duration(limit)
        ),
    );
    failure.outcome = Some(Outcome::Timeout);
    failure.timeout_s = Some(limit.as_secs_f64());
    failure.process_alive = Some(true);
    failure.showed_life = Some(life.any());
    failure
}

/// What is wrong with the shape of a result, whatever is expected of it; a
/// fragment that completes "the server …".
fn malformed(step: &Step, result: &Value) -> Option<String> {
    if !result.is_object() {
        return Some(format!(
            "sent {} where a result object belongs",
            crate::text::json_type(result)
        ));
    }
    if result.get("resultType").and_then(Value::as_str) == Some("input_required") {
        return Some("asked for input that the plan does not provide".to_owned());
    }
    if !matches!(step.request, Request::Tool(_)) {
        return None;
    }
    match result.get("content") {
        Some(Value::Array(_)) => None,
        // Results of 2024-10-07 are still about.
        None if result.get("toolResult").is_some() => None,
        None if result.get("structuredContent").is_some() => None,
        Some(other) => Some(format!(
            "sent a tool result whose `content` is {} instead of a list",
            crate::text::json_type(other)
        )),
        None => Some("sent a tool result without `content`".to_owned()),
    }
}

/// Judges an answer; where stderr is asked about, it catches up first.
async fn judged(
    board: &Board,
    session: &Session,
    step: &Step,
    answer: Result<&Value, &crate::model::RpcError>,
    elapsed: Duration,
    mark: crate::process::Mark,
    schema: Option<&super::output::Declared>,
) -> Judgement {
    let stderr = if step.expect.stderr.is_empty() {
        String::new()
    } else {
        session.stderr().caught_up().await;
        session.stderr().since(mark)
    };
    let observed = Observed {
        answer,
        duration: elapsed,
        stderr: &stderr,
        output_schema: schema,
    };
    let resolve = |predicate: &Predicate| {
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
fn settled(
    board: &Board,
    step: &Step,
    result: &Value,
    judgement: Judgement,
    elapsed: Duration,
    fail: impl Fn(Failure) -> StepEnd,
) -> StepEnd {
    match judgement {
        Judgement::Passed { adapter } => match capture(board, step, result) {
            Ok(()) => StepEnd {
                state: StepState::Passed,
                because: None,
                duration: Some(elapsed),
                adapter,
                failure: None,
            },
            Err(mismatch) => fail(mismatched(board, step, result, vec![*mismatch])),
        },
        Judgement::Mismatched {
            mismatches,
            adapter,
        } => {
            let mut end = fail(mismatched(board, step, result, mismatches));
            end.adapter = adapter;
            end
        }
        Judgement::ToolError { text } => {
            let quoted = one_line(&text, QUOTED);
            let mut failure = at_step(
                step,
                Phase::Call,
                if quoted.is_empty() {
                    "the tool answered with isError: true and no text".to_owned()
                } else {
                    format!("the tool answered with an error: {quoted}")
                },
            );
            failure.outcome = Some(Outcome::Result);
            failure.tool_result = Some(tool_result(result));
            fail(failure)
        }
        Judgement::RpcError => fail(at_step(step, Phase::Call, "answered with an error")),
        Judgement::BadOperand { error, at } => {
            let mut failure = at_step(
                step,
                Phase::Config,
                format!("an expectation can't be held against the answer: {error}"),
            );
            if let OperandError::Unresolved(unresolved) = &error {
                failure.issue = issue_of(unresolved);
            }
            failure.assertion = None;
            failure.file = Some(board.plan.source.path.display().to_string());
            failure.line = Some(at.line as u64);
            StepEnd::unfit(failure)
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
                        truncate(&result.to_string(), QUOTED)
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

/// What can't be meant, in a sentence.
fn describe(issue: &PlanIssue) -> String {
    let did_you_mean = |candidates: &[String]| match candidates {
        [] => String::new(),
        [one] => format!("; did you mean `{one}`?"),
        many => format!("; did you mean one of `{}`?", many.join("`, `")),
    };
    match issue {
        PlanIssue::UnknownTool { name, candidates } => {
            format!(
                "the server lists no tool `{name}`{}",
                did_you_mean(candidates)
            )
        }
        PlanIssue::UnknownArgument {
            tool,
            name,
            candidates,
        } => format!(
            "the tool `{tool}` knows no argument `{name}`{}",
            did_you_mean(candidates)
        ),
        PlanIssue::MissingArgument { tool, name } => {
            format!("the tool `{tool}` requires the argument `{name}`")
        }
        PlanIssue::ArgumentType {
            tool,
            pointer,
            expected,
            actual,
        } => format!(
            "the tool `{tool}` takes {} at {pointer}, and the plan gives {actual}",
            expected.join(" or ")
        ),
        PlanIssue::InvalidArgument {
            tool,
            pointer,
            reason,
        } => {
            let place = if pointer.is_empty() {
                String::new()
            } else {
                format!(" at {pointer}")
            };
            format!("the tool `{tool}` refuses these arguments{place}: {reason}")
        }
        PlanIssue::UnknownServer { name, candidates } => format!(
            "the plan defines no server `{name}`{}",
            did_you_mean(candidates)
        ),
        PlanIssue::CommandNotFound { command } => format!("the command `{command}` was not found"),
        PlanIssue::NotExecutable { path } => format!("`{path}` can't be executed"),
        PlanIssue::MissingDirectory { path } => format!("the folder `{path}` does not exist"),
        PlanIssue::MissingVariable { name, .. } => format!("`{name}` is not set"),
        PlanIssue::CaptureFailed { name, path } => {
            format!("nothing stands at {path} to be kept as `{name}`")
        }
    }
}

/// A step of a server that the plan does not define.
pub fn unknown_server(step: &Step, servers: impl Iterator<Item = String>) -> StepEnd {
    let names: Vec<String> = servers.collect();
    let issue = PlanIssue::UnknownServer {
        name: step.server.clone(),
        candidates: crate::text::close_names(&step.server, names.iter().map(String::as_str)),
    };
    let mut failure = at_step(step, Phase::Config, describe(&issue));
    failure.issue = Some(issue);
    StepEnd::unfit(failure)
}
