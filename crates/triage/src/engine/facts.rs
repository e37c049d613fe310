//! The typed facts of a failure.

use super::clues::{self, Origin, origin};
use super::doing;
use super::listening;
use super::live::{self, FACT_WORDS};
use super::proxies::is_proxy_page;
use super::statement::{Statement, statement};
use jelly_base::model::{AssertionTarget, Failure, Outcome, Phase, PlanIssue};
use jelly_base::text::lines;
use memchr::memmem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

/// So often a line stands that a server says again and again.
const OFTEN: usize = 3;

/// Where a failure was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Source")]
pub(super) enum FailureSource {
    /// By a client of the server.
    Live,
    /// In a JUnit report.
    Report,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ending {
    /// Exit code 0.
    Zero,
    /// Another exit code.
    Failure,
    /// A signal.
    Signal,
}

/// Which promise an answer broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Promise {
    /// What the plan expects.
    Expectation,
    /// What the tool itself declares.
    OutputSchema,
}

/// What an answer shows that is an error as a whole, and nothing of the
/// server's surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ErrorAnswer {
    /// That the server failed inside.
    Internal,
    /// Neither.
    Other,
}

/// What can be said of a failure without reading its texts for a cause.
pub(super) struct Facts<'a> {
    pub(super) failure: &'a Failure,
    pub(super) source: FailureSource,
    /// The kind of a plan's issue, as in `unknown_tool`.
    pub(super) issue: Option<String>,
    pub(super) ended: Option<Ending>,
    pub(super) http_status: Option<u16>,
    pub(super) promise: Option<Promise>,
    pub(super) died: bool,
    pub(super) timed_out: bool,
    pub(super) silent: bool,
    /// It never became ready: never the code's fault, whatever is said.
    pub(super) starting: bool,
    /// There is an answer of the server to read.
    pub(super) answered: bool,
    pub(super) over_http: bool,
    /// What the server said again and again while a call waited for its answer.
    pub(super) said_again: Option<&'a str>,
    /// The same of what it logged by notifications.
    pub(super) logged_again: Option<&'a str>,
    pub(super) raised: Option<&'a str>,
    pub(super) traced: bool,
    pub(super) packaged: bool,
    pub(super) opened_to_write: bool,
    pub(super) spawned: bool,
    pub(super) proxy_page: bool,
    pub(super) listens: bool,
    pub(super) http_mode: bool,
    /// What the answer shows that is an error as a whole, and says then; for
    /// the engine to find out.
    pub(super) error_answer: Option<(ErrorAnswer, String)>,
    raised_in: OnceCell<Origin>,
    statement: OnceCell<Statement>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(failure: &'a Failure) -> Self {
        let ended = failure
            .exit
            .as_ref()
            .and_then(|exit| match (&exit.signal, exit.code) {
                (Some(_), _) => Some(Ending::Signal),
                (None, Some(0)) => Some(Ending::Zero),
                (None, Some(_)) => Some(Ending::Failure),
                (None, None) => None,
            });
        let answered = failure.rpc_error.is_some() || failure.tool_result.is_some();
        let http = failure.http.as_ref();
        let waited =
            failure.outcome == Some(Outcome::Timeout) && failure.phase == Some(Phase::Call);
        let said_again = failure
            .stderr
            .as_deref()
            .filter(|_| waited && !failure.stderr_is_older);
        let logs = failure.logs.iter().map(String::as_str);
        Self {
            failure,
            said_again: said_again.and_then(|said| clues::repeated(lines(said), OFTEN)),
            // What went on to something else is no reason to hang.
            logged_again: clues::repeated(logs.filter(|_| waited), OFTEN)
                .filter(|line| failure.logs.last().is_some_and(|last| last.trim() == *line)),
            source: if failure.phase.is_some() {
                FailureSource::Live
            } else {
                FailureSource::Report
            },
            issue: failure.issue.as_ref().map(issue_kind),
            ended,
            http_status: http.and_then(|h| h.status),
            promise: promise_of(failure),
            died: failure.outcome == Some(Outcome::Eof)
                // Of a server that is reached over HTTP, the answer ends with it.
                || (failure.outcome == Some(Outcome::Error)
                    && !answered
                    && http.is_some_and(|http| {
                        http.status.is_some_and(|status| (200..300).contains(&status))
                            && blank(&http.body)
                    })
                    && matches!(ended, Some(Ending::Failure | Ending::Signal)))
                || (failure.outcome.is_none()
                    && !answered
                    && matches!(ended, Some(Ending::Failure | Ending::Signal))),
            timed_out: failure.outcome == Some(Outcome::Timeout)
                || (failure.outcome.is_none()
                    && !answered
                    && (failure.timeout_s.is_some()
                        || http.is_some_and(|h| {
                            h.status.is_none()
                                && h.error.as_deref().is_some_and(|e| e.contains("Timeout"))
                        }))),
            silent: blank(&failure.stderr)
                && blank(&failure.stdout)
                && failure.stdout_noise.is_empty()
                && failure.logs.is_empty(),
            starting: is_starting(failure),
            answered,
            over_http: failure.url.is_some() || http.is_some(),
            raised: live::raised(failure),
            traced: failure
                .stderr
                .as_deref()
                .and_then(clues::trace_line)
                .is_some(),
            packaged: live::packaged(failure),
            opened_to_write: doing::opened_to_write(failure),
            spawned: doing::spawned(failure),
            proxy_page: is_proxy_page(failure),
            listens: listening::listens(failure),
            http_mode: live::http_mode(failure),
            error_answer: None,
            raised_in: OnceCell::new(),
            statement: OnceCell::new(),
        }
    }

    /// A server of jelly's own did not listen before its time ran out. What
    /// the attempts to reach it came to meanwhile is a symptom of that, and
    /// says nothing about another service.
    pub(super) fn kept_waiting(&self) -> bool {
        let f = self.failure;
        self.starting
            && f.outcome == Some(Outcome::Timeout)
            && !f.argv.is_empty()
            && f.http.as_ref().is_some_and(|http| http.status.is_none())
    }

    /// Where the stack of a report says that an exception was raised. Few
    /// rules ask, and the whole stack may have to be read for it.
    pub(super) fn raised_in(&self) -> Origin {
        *self.raised_in.get_or_init(|| match self.source {
            FailureSource::Live => Origin::Unknown,
            FailureSource::Report => origin(self.failure),
        })
    }

    /// Whether the stack of a report leads through the reading of settings:
    /// through pydantic's package for them, or a class that inherits from it.
    pub(super) fn reads_settings(&self) -> bool {
        let said = [&self.failure.text, &self.failure.message];
        said.into_iter().flatten().any(|said| {
            ["pydantic_settings", "BaseSettings"]
                .iter()
                .any(|mark| memmem::find(said.as_bytes(), mark.as_bytes()).is_some())
        })
    }

    /// What a report says went wrong.
    pub(super) fn statement(&self) -> &Statement {
        self.statement.get_or_init(|| statement(self.failure))
    }
}

pub(super) fn blank(text: &Option<String>) -> bool {
    text.as_deref().is_none_or(|text| text.trim().is_empty())
}

fn promise_of(failure: &Failure) -> Option<Promise> {
    let assertion = failure.assertion.as_ref()?;
    if failure.phase != Some(Phase::Assert) {
        return None;
    }
    match assertion.target {
        Some(AssertionTarget::OutputSchema) => Some(Promise::OutputSchema),
        // The breach says it.
        Some(AssertionTarget::Wire) => None,
        None if assertion.kind == "output_schema" => Some(Promise::OutputSchema),
        // An unexpected `isError` is the tool's own statement, to be read as
        // such, and no comparison of values.
        Some(AssertionTarget::IsError)
            if failure.tool_result.as_ref().is_some_and(|r| r.is_error)
                && assertion.expected != serde_json::Value::Bool(true) =>
        {
            None
        }
        Some(
            AssertionTarget::Text
            | AssertionTarget::Json
            | AssertionTarget::Structured
            | AssertionTarget::Error
            | AssertionTarget::IsError
            | AssertionTarget::Duration
            | AssertionTarget::Stderr
            | AssertionTarget::Asked
            | AssertionTarget::Notification
            | AssertionTarget::Cancellation
            | AssertionTarget::ServerInfo
            | AssertionTarget::Capabilities
            | AssertionTarget::Start
            | AssertionTarget::Exit
            | AssertionTarget::Status
            | AssertionTarget::Header,
        )
        | None => Some(Promise::Expectation),
    }
}

/// The kind of an issue, as the data contract writes it.
fn issue_kind(issue: &PlanIssue) -> String {
    let value = serde_json::to_value(issue).unwrap_or_default();
    value["issue"].as_str().unwrap_or_default().to_owned()
}

/// Some systems report a missing working directory as `ENOENT` of the
/// command; what is quoted in the text tells.
pub(super) fn cwd_refused(failure: &Failure) -> bool {
    let (Some(cwd), Some(error)) = (&failure.cwd, &failure.spawn_error) else {
        return false;
    };
    failure.argv.first() != Some(cwd)
        && error.text.as_deref().is_some_and(|text| {
            text.contains(&format!("'{cwd}'"))
                || text.contains(&format!("\"{cwd}\""))
                || text.contains(&format!("`{cwd}`"))
        })
}

/// Whether the command is an interpreter without a program to run.
pub(super) fn bare_interpreter(failure: &Failure) -> bool {
    let [command] = failure.argv.as_slice() else {
        return false;
    };
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    FACT_WORDS.interpreters.iter().any(|known| known == name)
}

/// Whether a shell is given one word to run and words behind it, which it takes
/// for `$0` and `$1`: `bash -c node server.js` starts `node` alone.
pub(super) fn words_lost(failure: &Failure) -> bool {
    const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "ash"];
    let is_switch = |arg: &String| {
        let letters = arg.strip_prefix('-').unwrap_or_default();
        letters.ends_with('c') && letters.bytes().all(|b| b.is_ascii_alphabetic())
    };
    let Some((shell, args)) = failure.argv.split_first() else {
        return false;
    };
    let shell = shell.rsplit(['/', '\\']).next().unwrap_or(shell);
    let at = args.iter().position(is_switch);
    let line = at.and_then(|at| args.get(at + 1..));
    SHELLS.contains(&shell)
        && line.is_some_and(|line| {
            line.len() > 1 && !line[0].contains(|c: char| c.is_whitespace() || "$;&|".contains(c))
        })
}

/// Whether the command is an address, which is for `url`.
pub(super) fn url_command(failure: &Failure) -> bool {
    let command = match &failure.issue {
        Some(PlanIssue::CommandNotFound { command, .. }) => Some(command),
        Some(_) => None,
        None => failure.argv.first(),
    };
    command.is_some_and(|command| {
        ["http://", "https://", "ws://", "wss://"]
            .iter()
            .any(|scheme| command.trim().starts_with(scheme))
    })
}

/// Whether the command asks for a help text or a version, and not for a server.
pub(super) fn asks_help(failure: &Failure) -> bool {
    let asks = |arg: &String| {
        matches!(
            arg.as_str(),
            "-h" | "--help" | "-help" | "-?" | "/?" | "help" | "-V" | "--version" | "version"
        )
    };
    failure.argv.iter().skip(1).any(asks)
}

/// Whether the tool's name says that it creates or writes something.
pub(super) fn writes(failure: &Failure) -> bool {
    tool_name(failure).is_some_and(|tool| {
        let tool = tool.to_ascii_lowercase();
        let mut words = FACT_WORDS.writing_tools.iter();
        words.any(|word| tool.contains(word))
    })
}

/// Whether the tool's name says that it lists folders.
pub(super) fn lists(failure: &Failure) -> bool {
    tool_name(failure).is_some_and(|tool| {
        let tool = tool.to_ascii_lowercase();
        let mut words = FACT_WORDS.listing_tools.iter();
        tool == "ls" || words.any(|word| tool.contains(word))
    })
}

fn tool_name(failure: &Failure) -> Option<&str> {
    failure
        .request
        .as_ref()?
        .params
        .as_ref()?
        .get("name")?
        .as_str()
}

/// Whether the tool is in the server's own list, where that is known. An answer
/// that was good or bad as the plan wants it tells nothing by coming from a tool
/// that is not listed: a negative test asks for one on purpose.
pub(super) fn tool_listed(failure: &Failure) -> Option<bool> {
    if promise_of(failure) == Some(Promise::Expectation) {
        return None;
    }
    let request = failure.request.as_ref()?;
    if request.method != "tools/call" || failure.tools_listed.is_empty() {
        return None;
    }
    let name = tool_name(failure)?;
    Some(failure.tools_listed.iter().any(|tool| {
        tool.as_str() == Some(name) || tool.get("name").and_then(|n| n.as_str()) == Some(name)
    }))
}

/// Start-up ends when the first step may run. jelly's own words for a server
/// that answered `initialize` and then went away are "exited during startup";
/// a JUnit file has a case `(start NAME)` for a server.
fn is_starting(failure: &Failure) -> bool {
    match failure.phase {
        Some(Phase::Config | Phase::Spawn | Phase::Handshake) => true,
        // A stack says that the server was at work on its lists.
        Some(Phase::List) => {
            let message = failure.message.as_deref();
            let stderr = failure.stderr.as_deref();
            message.is_some_and(|m| m.contains("exited during startup"))
                && stderr.and_then(clues::trace_line).is_none()
        }
        Some(Phase::Call | Phase::Assert | Phase::Teardown) => false,
        None => {
            failure
                .name
                .as_deref()
                .is_some_and(|n| n.starts_with("(start "))
                || failure
                    .message
                    .as_deref()
                    .is_some_and(|m| m.contains("exited during startup"))
        }
    }
}

/// The breach of the protocol in a failure, with its field. A JUnit
/// file has a case `(wire NAME)` for what jelly's wire check found.
pub(super) fn breach(failure: &Failure) -> Option<(&'static str, &str)> {
    if let Some(breach) = &failure.protocol_breach {
        return Some(("protocol_breach", breach));
    }
    let name = failure.name.as_deref()?;
    let found = failure.phase.is_none() && name.starts_with("(wire ");
    let message = failure.message.as_deref().filter(|_| found)?;
    Some(("message", message))
}
