//! The conditions that rules put on the typed facts of a failure.

use super::beside::page_printed;
use super::clues::{self, Origin};
use super::facts::{self, Ending, ErrorAnswer, Facts, FailureSource, Promise, blank, breach};
use super::given;
use super::launcher_usage::{refusing_inside, refusing_launcher};
use super::listening;
use super::live;
use crate::frameworks::is_of_family;
use jelly_base::model::{Failure, Outcome, Phase};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Conditions on typed facts; all that are given must hold. A list holds when
/// any of its entries does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct When {
    /// Where the failure was seen.
    source: Option<FailureSource>,
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
    /// What an answer shows that fails an expectation and is an error as a
    /// whole.
    error_answer: Option<ErrorAnswer>,
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
    /// A limit of jelly's own stood in the way.
    own_limit: Option<bool>,
    /// The refusal is the page of a proxy or gateway, and not the server's.
    proxy_page: Option<bool>,
    /// The operating system named the working directory, not the command.
    cwd_refused: Option<bool>,
    /// The command is an interpreter without a program to run.
    bare_interpreter: Option<bool>,
    /// A shell is given one word to run, and words behind it that it does not
    /// run.
    words_lost: Option<bool>,
    /// The program that starts the server says, in words that none but it has, that it
    /// refuses an argument.
    launcher_refuses: Option<bool>,
    /// The same, where the server itself started that program.
    refuses_inside: Option<bool>,
    /// The command is the address of a server.
    url_command: Option<bool>,
    /// The command asks for a help text or a version.
    asks_help: Option<bool>,
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
    /// A file was being opened to write to it, by the stack or the words.
    opened_to_write: Option<bool>,
    /// A program was being started, by the stack or the words.
    spawned: Option<bool>,
    /// The plan names a host that can't exist, as `x.invalid`.
    reserved_host: Option<bool>,
    /// The endpoint redirects to a page for signing in.
    login_redirect: Option<bool>,
    /// The server redirects to the address that was asked.
    redirects_to_itself: Option<bool>,
    /// The request went through a proxy of the environment.
    proxied: Option<bool>,
    /// The answer may be one of that proxy, and not the server's.
    proxy_may_answer: Option<bool>,
    /// The URL of the server is one of plain HTTP.
    plain_http: Option<bool>,
    /// Plain HTTP was spoken to a port of TLS.
    plain_to_tls_port: Option<bool>,
    /// The command is a shell script around the server.
    shell_script: Option<bool>,
    /// An address of the plan or the call is this machine or a bare number, so
    /// that no name has to be resolved.
    numeric_host: Option<bool>,
    /// The path of the URL is the one of event streams, `/sse`.
    sse_path: Option<bool>,
    /// It is a service beside the servers, to which nothing is said over pipes.
    service: Option<bool>,
    /// A server that is spoken to by pipes says that it listens on a port.
    listens: Option<bool>,
    /// One that is started and reached at a URL says that it listens at another port.
    listens_elsewhere: Option<bool>,
    /// Its arguments or variables switch an HTTP mode on.
    http_mode: Option<bool>,
    /// The tool's name says that it lists folders.
    lists: Option<bool>,
    /// An argument of the call looks like a path.
    path_in_arguments: Option<bool>,
    /// The call was answered too soon to be cancelled by the step.
    answered_too_soon: Option<bool>,
    /// An argument of the call is a statement of SQL, or a part of one.
    sql_in_arguments: Option<bool>,
    /// A tool was called, and without any argument, which can't be the cause
    /// then.
    nothing_sent: Option<bool>,
    /// Whether any revision of MCP knows the method of the request.
    method_known: Option<bool>,
    /// A number of the call's arguments is zero, or something there is divided
    /// by it.
    zero_given: Option<bool>,
    /// Whether a value that the answer refuses stood in the call's arguments.
    value_given: Option<bool>,
    /// Whether an argument of the call is a text in which something is to be parsed.
    text_given: Option<bool>,
    /// Whether the program that a shell did not find stood in the call's arguments.
    program_given: Option<bool>,
    /// The answer names a variable that the server was started with, and none of the call's words.
    variable_named: Option<bool>,
    /// An argument of the call is a page of HTML, or a part of one.
    page_given: Option<bool>,
    /// The tool's own function misses an argument that the call leaves out.
    argument_left_out: Option<bool>,
    /// An argument of the call names an operating system or an architecture.
    platform_given: Option<bool>,
    /// The answer names a value that the server was started with, and none of the call's.
    setting_refused: Option<bool>,
    /// The answer refuses what the server made of the tool's own result.
    own_result_refused: Option<bool>,
    /// The command was started as another user.
    other_user: Option<bool>,
    /// The stack of a report leads through the reading of settings.
    reads_settings: Option<bool>,
    /// What a test printed shows that a request was answered with a page of HTML.
    page_printed: Option<bool>,
    /// The innermost line of the stack of a report belongs to a library.
    raised_by_library: Option<bool>,
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
        *self == Self::default()
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

    /// Whether the rule is about the code of a JSON-RPC error.
    pub(super) fn asks_for_rpc_code(&self) -> bool {
        !self.rpc_code.is_empty()
    }

    /// What must be known of a failure for the conditions to hold: a bit for
    /// each kind of fact, as [`known`] has them. A look at them spares nearly
    /// every rule the look at its conditions.
    pub(super) fn needs(&self) -> u32 {
        bits(|(asks, _)| asks(self))
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
        // Looked up for the few rules that ask.
        let is = |wanted: Option<bool>, fact: fn(&Failure) -> bool| {
            wanted.is_none_or(|wanted| fact(f) == wanted)
        };
        let is_known = |wanted: Option<bool>, fact: fn(&Failure) -> Option<bool>| {
            wanted.is_none_or(|wanted| fact(f) == Some(wanted))
        };
        let result = f.tool_result.as_ref();
        let exit = f.exit.as_ref();
        same(self.source, facts.source)
            && any(&self.phase, f.phase.as_ref())
            && any(&self.outcome, f.outcome.as_ref())
            && name(&self.issue, facts.issue.as_deref())
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
            && self.error_answer.is_none_or(|wanted| {
                facts.error_answer.as_ref().map(|(shows, _)| *shows) == Some(wanted)
            })
            && name(&self.method, f.request.as_ref().map(|r| r.method.as_str()))
            && same(self.requested, f.request.is_some())
            && same(self.died, facts.died)
            && same(self.timed_out, facts.timed_out)
            && same(self.noise, !f.stdout_noise.is_empty())
            && same(self.silent, facts.silent)
            && same(self.quiet_stderr, blank(&f.stderr))
            && same(self.breach, breach(f).is_some())
            && same(self.own_limit, f.beyond().is_some())
            && same(self.proxy_page, facts.proxy_page)
            && is(self.cwd_refused, facts::cwd_refused)
            && is(self.bare_interpreter, facts::bare_interpreter)
            && is(self.words_lost, facts::words_lost)
            && is(self.launcher_refuses, |failure| {
                refusing_launcher(failure).is_some()
            })
            && is(self.refuses_inside, |failure| {
                refusing_inside(failure).is_some()
            })
            && is(self.url_command, facts::url_command)
            && is(self.asks_help, facts::asks_help)
            && is(self.writes, facts::writes)
            && is_known(self.tool_listed, facts::tool_listed)
            && same(self.starting, facts.starting)
            && same(self.over_http, facts.over_http)
            && name(&self.raised, facts.raised)
            && same(self.traced, facts.traced)
            && same(self.packaged, facts.packaged)
            && same(self.opened_to_write, facts.opened_to_write)
            && same(self.spawned, facts.spawned)
            && is(self.reserved_host, live::reserved_host)
            && is(self.login_redirect, live::login_redirect)
            && is(self.redirects_to_itself, live::redirects_to_itself)
            && is(self.proxied, live::proxied)
            && is(self.proxy_may_answer, live::proxy_may_answer)
            && is(self.plain_http, live::plain_http)
            && is(self.plain_to_tls_port, live::plain_to_tls_port)
            && is(self.shell_script, live::shell_script)
            && is(self.numeric_host, live::numeric_host)
            && is(self.setting_refused, given::setting_refused)
            && is(self.variable_named, given::variable_named)
            && is(self.page_given, given::page_given)
            && is(self.platform_given, given::platform_given)
            && is(self.argument_left_out, given::argument_left_out)
            && is(self.sse_path, live::sse_path)
            && same(self.service, facts.failure.is_service)
            && same(self.listens, facts.listens)
            && is(self.listens_elsewhere, listening::listens_elsewhere)
            && same(self.http_mode, facts.http_mode)
            && is(self.lists, facts::lists)
            && is_known(self.path_in_arguments, live::path_in_arguments)
            && is(self.answered_too_soon, live::answered_too_soon)
            && is_known(self.sql_in_arguments, live::sql_in_arguments)
            && is(self.nothing_sent, live::nothing_sent)
            && is_known(self.method_known, live::method_known)
            && is_known(self.zero_given, live::zero_given)
            && is_known(self.value_given, given::value_given)
            && is_known(self.text_given, given::text_given)
            && is_known(self.program_given, given::program_given)
            && is(self.own_result_refused, given::own_result_refused)
            && same(self.other_user, f.user.is_some())
            && self
                .reads_settings
                .is_none_or(|wanted| facts.reads_settings() == wanted)
            && is(self.page_printed, page_printed)
            && is(self.raised_by_library, clues::raised_by_library)
            && (self.dialect.is_empty()
                || f.dialect
                    .as_deref()
                    .is_some_and(|dialect| self.dialect.iter().any(|w| is_of_family(dialect, w))))
            && self
                .element
                .as_deref()
                .is_none_or(|wanted| f.element.as_deref() == Some(wanted))
            && (self.raised_in.is_empty() || self.raised_in.contains(&facts.raised_in()))
    }
}

/// What is known of a failure, as [`When::needs`] asks for it.
pub(super) fn known(facts: &Facts<'_>) -> u32 {
    bits(|(_, is_known)| is_known(facts))
}

/// A kind of fact: whether conditions need one, and whether one is known.
type FactKind = (fn(&When) -> bool, fn(&Facts<'_>) -> bool);

const KINDS: [FactKind; 29] = [
    (
        |w| w.source == Some(FailureSource::Live),
        |f| f.source == FailureSource::Live,
    ),
    (
        |w| w.source == Some(FailureSource::Report),
        |f| f.source == FailureSource::Report,
    ),
    (|w| !w.phase.is_empty(), |f| f.failure.phase.is_some()),
    (|w| !w.outcome.is_empty(), |f| f.failure.outcome.is_some()),
    (|w| !w.issue.is_empty(), |f| f.failure.issue.is_some()),
    (|w| !w.errno.is_empty(), |f| f.failure.spawn_error.is_some()),
    (|w| !w.ended.is_empty(), |f| f.ended.is_some()),
    (
        |w| !w.exit_code.is_empty() || !w.signal.is_empty(),
        |f| f.failure.exit.is_some(),
    ),
    (
        |w| !w.rpc_code.is_empty(),
        |f| f.failure.rpc_error.is_some(),
    ),
    (|w| !w.http_status.is_empty(), |f| f.http_status.is_some()),
    (|w| !w.http_error.is_empty(), |f| f.failure.http.is_some()),
    (
        |w| w.is_error.is_some() || w.empty_answer.is_some(),
        |f| f.failure.tool_result.is_some(),
    ),
    (|w| w.promise.is_some(), |f| f.promise.is_some()),
    (
        |w| !w.method.is_empty() || w.requested == Some(true),
        |f| f.failure.request.is_some(),
    ),
    (|w| w.died == Some(true), |f| f.died),
    (|w| w.timed_out == Some(true), |f| f.timed_out),
    (
        |w| w.noise == Some(true),
        |f| !f.failure.stdout_noise.is_empty(),
    ),
    (|w| w.starting == Some(true), |f| f.starting),
    (|w| w.breach == Some(true), |f| breach(f.failure).is_some()),
    (
        |w| w.own_limit == Some(true),
        |f| f.failure.beyond().is_some(),
    ),
    (|w| w.proxy_page == Some(true), |f| f.proxy_page),
    (|w| w.over_http == Some(true), |f| f.over_http),
    (|w| !w.raised.is_empty(), |f| f.raised.is_some()),
    (|w| w.traced == Some(true), |f| f.traced),
    (|w| w.packaged == Some(true), |f| f.packaged),
    (|w| w.opened_to_write == Some(true), |f| f.opened_to_write),
    (|w| w.spawned == Some(true), |f| f.spawned),
    (|w| !w.dialect.is_empty(), |f| f.failure.dialect.is_some()),
    (|w| w.element.is_some(), |f| f.failure.element.is_some()),
];

/// A bit for each kind of which `is` holds.
fn bits(is: impl Fn(&FactKind) -> bool) -> u32 {
    let numbered = KINDS.iter().enumerate();
    numbered.fold(0, |bits, (at, kind)| bits | u32::from(is(kind)) << at)
}

#[cfg(test)]
mod tests {
    use super::known;
    use crate::engine::facts::Facts;
    use crate::engine::{Engine, Example};

    #[test]
    fn no_rule_that_holds_needs_what_is_not_known() {
        let engine = Engine::builtin();
        let mut held = 0;
        for example in engine.rules().flat_map(|rule| rule.examples()) {
            let Example::Failure(failure) = example else {
                continue;
            };
            let facts = Facts::new(failure);
            for rule in engine.rules().filter(|rule| rule.when.holds(&facts)) {
                let missing = rule.when.needs() & !known(&facts);
                assert_eq!(missing, 0, "{}: {missing:b}", rule.id);
                held += 1;
            }
        }
        assert!(held > 1_000, "{held}");
    }
}
