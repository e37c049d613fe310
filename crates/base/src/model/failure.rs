//! The facts of one thing that went wrong, from a live run or a JUnit file.

use super::label::Label;
use super::limit::OwnLimit;
use super::plan_issue::PlanIssue;
use super::text_difference::TextDifference;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// The first port that jelly chooses for what plans call `${port}`: well above those of known
/// services. The system may choose one below it where it hands out nearly all by itself.
pub const FIRST_CHOSEN_PORT: u16 = 20_000;

/// Where in the life of a server or a step a failure happened.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before any spawn: the plan names what does not exist.
    Config,
    /// The operating system refused to start the command.
    Spawn,
    /// Started, but the era or `initialize` was never settled.
    Handshake,
    /// `tools/list` and the like, before the first step.
    List,
    /// A request of a step, or an uninvited exit between two of them.
    #[default]
    Call,
    /// The answer came, and is not what the plan or its schema says.
    Assert,
    /// Teardown steps, and a server that would not stop.
    Teardown,
}

/// How a process ended. Exactly one of the two is set by jelly itself; a
/// corpus may carry neither.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exit {
    /// Absent where a signal ended it.
    pub code: Option<i32>,
    /// The signal's name, as in `SIGKILL`.
    pub signal: Option<String>,
}

/// What the operating system said when it refused to start a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpawnError {
    /// Its number.
    pub errno: Option<i32>,
    /// The errno's name, as in `ENOENT`.
    pub name: Option<String>,
    /// In words.
    pub text: Option<String>,
}

/// What a client saw at the end of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    SpawnError,
    Eof,
    Timeout,
    /// A JSON-RPC error.
    Error,
    /// A tool result, be it `isError` or not.
    Result,
    Ok,
}

/// A JSON-RPC error object as the peer sent it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcError {
    /// JSON-RPC wants an integer; some servers send none.
    #[serde(default)]
    pub code: Option<i64>,
    /// In words.
    #[serde(default)]
    pub message: String,
    /// What else it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// What an HTTP transport answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HttpFacts {
    /// Of the answer.
    pub status: Option<u16>,
    /// Of the answer, by name.
    pub headers: IndexMap<String, Value>,
    /// Of the answer, cut to a readable length.
    pub body: Option<String>,
    /// The transport's own error, when there was no answer.
    pub error: Option<String>,
    /// That error in words, where `error` is only its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The proxy of the environment that the request went through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// The variable that names that proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_variable: Option<String>,
}

impl HttpFacts {
    /// How long the server asks to be left alone (`Retry-After`, in seconds).
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let (_, value) = self
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("retry-after"))?;
        let seconds = value.as_str()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds))
    }
}

/// The request that failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RequestFacts {
    /// As in `tools/call`.
    pub method: String,
    /// As they were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Value>,
    /// The arguments were seen to meet the input schema that the server lists for
    /// the tool.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fits_schema: bool,
}

/// A tool's answer, cut down to what triage reads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolResult {
    /// The tool says that it failed.
    #[serde(rename = "isError")]
    pub is_error: bool,
    /// All text blocks, joined by newlines.
    pub text: String,
    /// Its output as data.
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
}

/// What of an answer an expectation looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AssertionTarget {
    Text,
    Json,
    Structured,
    Error,
    IsError,
    Duration,
    Stderr,
    /// The tool's own declared `outputSchema`, expected of every result.
    OutputSchema,
    /// The specification of the protocol, expected of every message.
    Wire,
    /// What the server asked of its client.
    Asked,
    /// The notifications that the server sent.
    Notification,
    /// What the server did after the request was cancelled.
    Cancellation,
    /// What the server says of itself as it starts.
    ServerInfo,
    /// What it says that it offers.
    Capabilities,
    /// That it starts, or refuses to.
    Start,
    /// Its exit code.
    Exit,
    /// The status of a plain HTTP answer.
    Status,
    /// A header of it.
    Header,
}

/// What a step wants of its answer, besides the one expectation that did not
/// hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Wanted {
    /// An error: `error`, or `is_error: true`.
    pub error: bool,
    /// The values that the answer is to be, or to hold.
    pub values: Vec<Value>,
}

/// An expectation that did not hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Assertion {
    /// The operator, as in `contains`; `output_schema` for the declared one.
    pub kind: String,
    /// What was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<AssertionTarget>,
    /// The JSONPath or JSON pointer that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The JSON pointer, from there, to the place that breaks a schema; empty
    /// where that is all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// What was expected.
    pub expected: Value,
    /// What came; null where nothing did.
    pub actual: Value,
    /// Nothing stood where it was looked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// jelly itself made what was looked at, out of text that is no output, or
    /// made it without a schema store that it was told to use: what does not
    /// fit says nothing of the server.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub made_by_jelly: bool,
    /// Where both are texts that should be equal, and too long to be read as a
    /// whole: what differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<TextDifference>,
    /// Where the path selects nothing: the nearest path that does, normalized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// `file:line:column` of the expectation in the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Whether it holds can't be told, since jelly did not read or keep all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_limit: Option<OwnLimit>,
}

impl Assertion {
    /// Where the value stands that breaks it, as in `$.a, /b`; absent where
    /// that is all of what was looked at.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        let places = [&self.path, &self.pointer].into_iter().flatten();
        let places: Vec<&str> = places
            .map(String::as_str)
            .filter(|p| !p.is_empty())
            .collect();
        (!places.is_empty()).then(|| places.join(", "))
    }

    /// What was expected and what came are no two values to compare: the
    /// failure's message says it in words.
    #[must_use]
    pub fn is_told_in_words(&self) -> bool {
        self.target == Some(AssertionTarget::Notification)
            || matches!(
                self.kind.as_str(),
                "asked" | "cancelled" | "subscribed" | "refused"
            )
    }

    /// It was not a plan that expected this, but the specification: see
    /// [`AssertionTarget::Wire`].
    #[must_use]
    pub fn is_wire(&self) -> bool {
        self.target == Some(AssertionTarget::Wire)
    }
}

/// Which of the mismatches of a step, in one iteration, a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MismatchPlace {
    /// From 1, in the order of the plan's expectations; what is about
    /// `duration` comes last.
    pub index: u32,
    /// How many mismatches there were. Of very many, only the first are
    /// failures of their own.
    pub of: u32,
}

/// One thing that went wrong. All texts are redacted before they get here.
///
/// One type for live runs, for JUnit files and for failures that other
/// programs send in; every field but the facts at hand is empty. Field names
/// are a contract with other programs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Failure {
    /// Absent for JUnit failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Name of the server in the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Id of the step in the plan; absent when the server itself failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The server is one of the plan's `services`, and no MCP server.
    #[serde(rename = "service", skip_serializing_if = "std::ops::Not::not")]
    pub is_service: bool,

    /// As in `stdio` or `http`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// What was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The command with its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// The folder that it was started in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables of its environment that were set for it.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub env_delta: IndexMap<String, Value>,
    /// Who it ran as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Limits that it ran under, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Value>,
    /// Where it was reached over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,

    /// Why the operating system refused to start it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawn_error: Option<SpawnError>,
    /// What the plan says that can't be meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<PlanIssue>,
    /// What the process wrote there, cut to a readable length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// `stderr` is older than the request, during which nothing was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stderr_is_older: bool,
    /// What the process wrote there, cut to a readable length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// Lines on stdout that are no JSON-RPC message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stdout_noise: Vec<String>,
    /// What the server logged by notifications during the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
    /// The last of them whose level is `error` or above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_logged: Option<String>,
    /// Absent while the process lives, or where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// Whether the process still ran when the failure was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_alive: Option<bool>,
    /// What the client saw at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The limit that ran out, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
    /// The error that the server answered with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpc_error: Option<RpcError>,
    /// What the HTTP transport answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpFacts>,
    /// The request that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestFacts>,
    /// The answer of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result: Option<ToolResult>,
    /// The tools of the server, as it lists them: of many the first, and the
    /// one that was called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_listed: Vec<Value>,
    /// What the server says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Value>,
    /// The expectation that did not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertion: Option<Assertion>,
    /// Present for every expectation of a step that did not hold, be it the
    /// only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<MismatchPlace>,
    /// What the step wants besides; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Wanted>,
    /// A breach of MCP or JSON-RPC that the wire saw, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_breach: Option<String>,
    /// The limit of jelly's own that stood in the way of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_limit: Option<OwnLimit>,
    /// The server said something (stdout or stderr) before time ran out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub showed_life: Option<bool>,
    /// The server had died and was restarted earlier in this iteration.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub after_restart: bool,
    /// A service of the plan had died before it was seen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub after_service_died: bool,
    /// While the step ran, the server asked its client for something to which the plan
    /// has no answer, and jelly refused it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused_question: bool,
    /// What the client says of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Which client's words `message` is; absent for jelly's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_from: Option<String>,
    /// Milliseconds until it was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,

    // JUnit
    /// The writer of the report, as in `pytest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// `failure` or `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// Names of the suites around the case, outermost first, joined by ` > `.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// Class of the case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classname: Option<String>,
    /// Name of the case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Of the failure, mostly an exception's class.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// Of the failure, mostly with a stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What the test printed on stdout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_out: Option<String>,
    /// What the test printed on stderr.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_err: Option<String>,
    /// Where the case stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where the case stands, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What jelly said of it in the report that it wrote itself.
    #[serde(skip)]
    pub label: Option<Label>,
}

impl Failure {
    /// The limit of jelly's own for which nothing can be said, of an answer or
    /// of an expectation. Such a failure is held against nobody.
    #[must_use]
    pub fn beyond(&self) -> Option<OwnLimit> {
        let asserted = self.assertion.as_ref();
        self.own_limit
            .or_else(|| asserted.and_then(|assertion| assertion.own_limit))
    }

    /// A mismatch of an expectation, the one kind that needs a second look
    /// before it is blamed on anybody. A breach of the tool's own declared
    /// output schema, or of the protocol, is a broken contract, not a mismatch.
    #[must_use]
    pub fn is_mismatch(&self) -> bool {
        self.phase == Some(Phase::Assert)
            && self.assertion.as_ref().is_some_and(|a| {
                !matches!(
                    a.target,
                    Some(AssertionTarget::OutputSchema | AssertionTarget::Wire)
                )
            })
    }
}
