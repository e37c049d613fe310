//! The typed facts of a failure, and the conditions that rules put on them.

use super::clues::{self, Origin, origin};
use super::issue::issue_kind;
use super::live;
use super::statement::{Statement, statement};
use super::told::{breach_of, is_starting};
use crate::model::{AssertionTarget, Failure, Outcome, Phase};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

/// Where a failure was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Source {
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

/// Conditions on typed facts; all that are given must hold. A list holds when
/// any of its entries does.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct When {
    /// Where the failure was seen.
    source: Option<Source>,
    /// Where in the life of a server or a step.
    phase: Vec<Phase>,
    /// What the client saw at the end.
    outcome: Vec<Outcome>,
    /// Kinds of plan issue, as in `unknown_tool`.
    issue: Vec<String>,
    /// Names of the errno at spawn, as in `ENOENT`.
    errno: Vec<String>,
    /// How the process ended.
    ended: Vec<Ending>,
    /// Of the process.
    exit_code: Vec<i32>,
    /// Names of signals, as in `SIGKILL`.
    signal: Vec<String>,
    /// Codes of JSON-RPC, as in -32602.
    rpc_code: Vec<i64>,
    /// Ranges, both ends included.
    http_status: Vec<(u16, u16)>,
    /// The transport's own error, as in `auth_scope`.
    http_error: Vec<String>,
    /// The tool's `isError`.
    is_error: Option<bool>,
    /// The tool said anything at all.
    empty_answer: Option<bool>,
    /// Which promise the answer broke.
    promise: Option<Promise>,
    /// Of the request, as in `tools/call`.
    method: Vec<String>,
    /// A request of a step was under way.
    requested: Option<bool>,
    /// The process ended, or closed its stdout, without being asked to.
    died: Option<bool>,
    /// A time limit ran out.
    timed_out: Option<bool>,
    /// There were lines on stdout that are no message.
    noise: Option<bool>,
    /// Neither stdout nor stderr holds anything.
    silent: Option<bool>,
    /// Nothing on stderr.
    quiet_stderr: Option<bool>,
    /// The server broke the protocol.
    breach: Option<bool>,
    /// The operating system named the working directory, not the command.
    cwd_refused: Option<bool>,
    /// The command is an interpreter without a program to run.
    bare_interpreter: Option<bool>,
    /// The tool's name says that it creates or writes something.
    writes: Option<bool>,
    /// Whether the tool is in the server's own list, where that is known.
    tool_listed: Option<bool>,
    /// The server never became ready.
    starting: Option<bool>,
    /// It was reached over HTTP, not started.
    over_http: Option<bool>,
    /// Classes of the exception that became the answer.
    raised: Vec<String>,
    /// stderr holds a stack trace or a panic.
    traced: Option<bool>,
    /// The code that failed was installed, not written here.
    packaged: Option<bool>,
    /// The stack was opening a file to write to it.
    opened_to_write: Option<bool>,
    /// The stack was starting a program.
    spawned: Option<bool>,
    /// The plan names a host that can't exist, as `x.invalid`.
    reserved_host: Option<bool>,
    /// The endpoint redirects to a page for signing in.
    login_redirect: Option<bool>,
    /// Plain HTTP was spoken to a port of TLS.
    plain_to_tls_port: Option<bool>,
    /// The command is a shell script around the server.
    shell_script: Option<bool>,
    /// An address of the plan or the call is this machine or a bare number, so
    /// that no name has to be resolved.
    numeric_host: Option<bool>,
    /// The path of the URL is the one of event streams, `/sse`.
    sse_path: Option<bool>,
    /// The tool's name says that it lists folders.
    lists: Option<bool>,
    /// An argument of the call looks like a path.
    path_in_arguments: Option<bool>,
    /// Names of report writers, as in `pytest`.
    dialect: Vec<String>,
    /// `failure` or `error`.
    element: Option<String>,
    /// Where the stack says that an exception was raised.
    raised_in: Vec<Origin>,
}

impl When {
    /// Whether there is no condition at all.
    pub(super) fn is_empty(&self) -> bool {
        let Self {
            source,
            phase,
            outcome,
            issue,
            errno,
            ended,
            exit_code,
            signal,
            rpc_code,
            http_status,
            http_error,
            is_error,
            empty_answer,
            promise,
            method,
            requested,
            died,
            timed_out,
            noise,
            silent,
            quiet_stderr,
            breach,
            cwd_refused,
            bare_interpreter,
            writes,
            tool_listed,
            starting,
            over_http,
            raised,
            traced,
            packaged,
            opened_to_write,
            spawned,
            reserved_host,
            login_redirect,
            plain_to_tls_port,
            shell_script,
            numeric_host,
            sse_path,
            lists,
            path_in_arguments,
            dialect,
            element,
            raised_in,
        } = self;
        source.is_none()
            && phase.is_empty()
            && outcome.is_empty()
            && issue.is_empty()
            && errno.is_empty()
            && ended.is_empty()
            && exit_code.is_empty()
            && signal.is_empty()
            && rpc_code.is_empty()
            && http_status.is_empty()
            && http_error.is_empty()
            && promise.is_none()
            && method.is_empty()
            && raised.is_empty()
            && dialect.is_empty()
            && element.is_none()
            && raised_in.is_empty()
            && [
                is_error,
                empty_answer,
                requested,
                died,
                timed_out,
                noise,
                silent,
                quiet_stderr,
                breach,
                cwd_refused,
                bare_interpreter,
                writes,
                tool_listed,
                starting,
                over_http,
                traced,
                packaged,
                opened_to_write,
                spawned,
                reserved_host,
                login_redirect,
                plain_to_tls_port,
                shell_script,
                numeric_host,
                sse_path,
                lists,
                path_in_arguments,
            ]
            .iter()
            .all(|flag| flag.is_none())
    }

    /// Whether the rule is about deaths: what a server wrote before it died
    /// is mostly talk, so only such rules may read it.
    pub(super) fn asks_for_death(&self) -> bool {
        self.died == Some(true)
            || !self.ended.is_empty()
            || !self.exit_code.is_empty()
            || !self.signal.is_empty()
    }

    /// Whether the rule is about time-outs; see [`When::asks_for_death`].
    pub(super) fn asks_for_timeout(&self) -> bool {
        self.timed_out == Some(true) || self.outcome.contains(&Outcome::Timeout)
    }

    pub(super) fn holds(&self, facts: &Facts<'_>) -> bool {
        fn same<T: PartialEq>(wanted: Option<T>, actual: T) -> bool {
            wanted.is_none_or(|wanted| wanted == actual)
        }
        fn any<T: PartialEq>(wanted: &[T], actual: Option<&T>) -> bool {
            wanted.is_empty() || actual.is_some_and(|actual| wanted.contains(actual))
        }
        fn name(wanted: &[String], actual: Option<&str>) -> bool {
            wanted.is_empty() || actual.is_some_and(|actual| wanted.iter().any(|w| w == actual))
        }
        let f = facts.failure;
        let result = f.tool_result.as_ref();
        let exit = f.exit.as_ref();
        same(self.source, facts.source)
            && any(&self.phase, f.phase.as_ref())
            && any(&self.outcome, f.outcome.as_ref())
            && name(&self.issue, f.issue.as_ref().map(issue_kind))
            && name(
                &self.errno,
                f.spawn_error.as_ref().and_then(|e| e.name.as_deref()),
            )
            && any(&self.ended, facts.ended.as_ref())
            && any(&self.exit_code, exit.and_then(|e| e.code.as_ref()))
            && name(&self.signal, exit.and_then(|e| e.signal.as_deref()))
            && any(
                &self.rpc_code,
                f.rpc_error.as_ref().and_then(|e| e.code.as_ref()),
            )
            && (self.http_status.is_empty()
                || facts.http_status.is_some_and(|status| {
                    self.http_status
                        .iter()
                        .any(|(low, high)| (*low..=*high).contains(&status))
                }))
            && name(
                &self.http_error,
                f.http.as_ref().and_then(|h| h.error.as_deref()),
            )
            && self
                .is_error
                .is_none_or(|wanted| result.is_some_and(|r| r.is_error == wanted))
            && self.empty_answer.is_none_or(|wanted| {
                result.is_some_and(|r| {
                    (r.text.trim().is_empty() && r.structured_content.is_none()) == wanted
                })
            })
            && self
                .promise
                .is_none_or(|wanted| facts.promise == Some(wanted))
            && name(&self.method, f.request.as_ref().map(|r| r.method.as_str()))
            && same(self.requested, f.request.is_some())
            && same(self.died, facts.died)
            && same(self.timed_out, facts.timed_out)
            && same(self.noise, !f.stdout_noise.is_empty())
            && same(self.silent, facts.silent)
            && same(self.quiet_stderr, blank(&f.stderr))
            && same(self.breach, breach_of(f).is_some())
            && same(self.cwd_refused, facts.cwd_refused)
            && same(self.bare_interpreter, facts.bare_interpreter)
            && same(self.writes, facts.writes)
            && self
                .tool_listed
                .is_none_or(|wanted| facts.tool_listed == Some(wanted))
            && same(self.starting, facts.starting)
            && same(self.over_http, facts.over_http)
            && name(&self.raised, facts.raised)
            && same(self.traced, facts.traced)
            && same(self.packaged, facts.packaged)
            && same(self.opened_to_write, facts.opened_to_write)
            && same(self.spawned, facts.spawned)
            && same(self.reserved_host, facts.reserved_host)
            && same(self.login_redirect, facts.login_redirect)
            && same(self.plain_to_tls_port, facts.plain_to_tls_port)
            && same(self.shell_script, facts.shell_script)
            && same(self.numeric_host, facts.numeric_host)
            && same(self.sse_path, facts.sse_path)
            && same(self.lists, facts.lists)
            && self
                .path_in_arguments
                .is_none_or(|wanted| facts.path_in_arguments == Some(wanted))
            && (self.dialect.is_empty()
                || f.dialect
                    .as_deref()
                    .is_some_and(|dialect| self.dialect.iter().any(|w| is_dialect(dialect, w))))
            && self
                .element
                .as_deref()
                .is_none_or(|wanted| f.element.as_deref() == Some(wanted))
            && any(&self.raised_in, Some(&facts.raised_in))
    }
}

/// What can be said of a failure without reading its texts for a cause.
pub(super) struct Facts<'a> {
    pub(super) failure: &'a Failure,
    pub(super) source: Source,
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
    cwd_refused: bool,
    bare_interpreter: bool,
    writes: bool,
    tool_listed: Option<bool>,
    over_http: bool,
    raised: Option<&'a str>,
    traced: bool,
    packaged: bool,
    opened_to_write: bool,
    spawned: bool,
    reserved_host: bool,
    login_redirect: bool,
    plain_to_tls_port: bool,
    shell_script: bool,
    numeric_host: bool,
    sse_path: bool,
    lists: bool,
    path_in_arguments: Option<bool>,
    raised_in: Origin,
    statement: OnceCell<Statement>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(failure: &'a Failure) -> Self {
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
        Self {
            failure,
            source: if failure.phase.is_some() {
                Source::Live
            } else {
                Source::Report
            },
            ended,
            http_status: http.and_then(|h| h.status),
            promise: promise_of(failure),
            died: failure.outcome == Some(Outcome::Eof)
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
                && failure.stdout_noise.is_empty(),
            starting: is_starting(failure),
            answered,
            cwd_refused: cwd_refused(failure),
            bare_interpreter: bare_interpreter(&failure.argv),
            writes: tool_name(failure).is_some_and(says_write),
            // An answer that was good or bad as the plan wants it tells nothing
            // by coming from a tool that is not listed: a negative test asks
            // for one on purpose.
            tool_listed: match promise_of(failure) {
                Some(Promise::Expectation) => None,
                Some(Promise::OutputSchema) | None => tool_listed(failure),
            },
            over_http: failure.url.is_some() || http.is_some(),
            raised: live::raised(failure),
            traced: failure
                .stderr
                .as_deref()
                .and_then(clues::trace_line)
                .is_some(),
            packaged: live::packaged(failure),
            opened_to_write: live::opened_to_write(failure),
            spawned: live::spawned(failure),
            reserved_host: live::reserved_host(failure),
            login_redirect: live::login_redirect(failure),
            plain_to_tls_port: live::plain_to_tls_port(failure),
            shell_script: live::shell_script(&failure.argv),
            numeric_host: live::numeric_host(failure),
            sse_path: live::sse_path(failure),
            lists: tool_name(failure).is_some_and(says_list),
            path_in_arguments: live::path_in_arguments(failure),
            raised_in: if failure.phase.is_some() {
                Origin::Unknown
            } else {
                origin(failure)
            },
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

    /// What a report says went wrong.
    pub(super) fn statement(&self) -> &Statement {
        self.statement.get_or_init(|| statement(self.failure))
    }
}

/// Whether a writer is `family` or a variant of it: `phpstan-ci`, `rubocop2`.
pub(super) fn is_dialect(dialect: &str, family: &str) -> bool {
    dialect
        .strip_prefix(family)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn blank(text: &Option<String>) -> bool {
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
            | AssertionTarget::Cancellation,
        )
        | None => Some(Promise::Expectation),
    }
}

/// Some systems report a missing working directory as `ENOENT` of the
/// command; what is quoted in the text tells.
fn cwd_refused(failure: &Failure) -> bool {
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

fn bare_interpreter(argv: &[String]) -> bool {
    let [command] = argv else { return false };
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        name,
        "python"
            | "node"
            | "nodejs"
            | "bun"
            | "deno"
            | "ruby"
            | "irb"
            | "php"
            | "bash"
            | "sh"
            | "zsh"
            | "cat"
            | "lua"
            | "perl"
    )
}

fn says_write(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    [
        "write", "create", "save", "append", "export", "store", "upload", "mkdir", "download",
        "generate", "copy", "add_",
    ]
    .iter()
    .any(|word| tool.contains(word))
}

fn says_list(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    tool == "ls"
        || ["list", "dir", "folder", "tree", "scan", "glob", "walk"]
            .iter()
            .any(|word| tool.contains(word))
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

fn tool_listed(failure: &Failure) -> Option<bool> {
    let request = failure.request.as_ref()?;
    if request.method != "tools/call" || failure.tools_listed.is_empty() {
        return None;
    }
    let name = tool_name(failure)?;
    Some(failure.tools_listed.iter().any(|tool| {
        tool.as_str() == Some(name) || tool.get("name").and_then(|n| n.as_str()) == Some(name)
    }))
}
