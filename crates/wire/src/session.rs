//! A server that is ready: requests, lists, and the shutdown.
//!
//! Main type: [`Session`].

use super::check::Checker;
use super::connection::{Connection, deadline_after};
use super::era::Greeting;
use super::exchange::{Beyond, Outgoing, ReplyOutcome};
use super::listing::{list_all, read_tools};
use super::observed::Observed;
use super::patience::{Asking, Patience};
use super::peer::Peer;
use super::reply::Reply;
use super::rounds::{NoRound, ResultType, next_round, result_type};
use jelly_base::mcp::{Era, ListKind, Method, Revision, code};
use jelly_base::model::{OwnLimit, ToolInfo, WireCheck};
use jelly_process::{ExitWatch, Process, Shutdown, StderrHandle};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// So often a modern server may ask for more before it answers, beside as often
/// as its client has answers for.
const MAX_ROUND_TRIPS: usize = 10;

/// A connection to one server, from ready to shutdown.
///
/// Requests may overlap. Dropping it kills the server's whole tree at once;
/// [`Session::shutdown`] is the polite way.
pub struct Session {
    /// Absent where jelly did not start the server.
    pub(super) process: Option<Process>,
    /// Of a process that is reached over HTTP.
    pub(super) stdout: Option<StderrHandle>,
    pub(super) connection: Connection,
    pub(super) version: &'static Revision,
    pub(super) greeting: Greeting,
    pub(super) tools: Vec<ToolInfo>,
    /// A list that was read in passing differs from what the owner knows.
    pub(super) stale_tools: AtomicBool,
    pub(super) startup: Duration,
    pub(super) notes: Vec<String>,
    pub(super) request_timeout: Duration,
    pub(super) shutdown_timeout: Duration,
    pub(super) shy_of_probes: bool,
    pub(super) by_pipes: bool,
}

impl Session {
    /// What both sides speak.
    #[must_use]
    pub fn version(&self) -> &'static Revision {
        self.version
    }

    #[must_use]
    pub fn era(&self) -> Era {
        self.version.era
    }

    /// As on the wire, such as `2025-11-25`.
    #[must_use]
    pub fn protocol_version(&self) -> &'static str {
        self.version.name
    }

    /// Name and version as the server gives them, not redacted; null where
    /// it gives none.
    #[must_use]
    pub fn server_info(&self) -> &Value {
        &self.greeting.server_info
    }

    /// An object, as the server sent it.
    #[must_use]
    pub fn capabilities(&self) -> &Value {
        &self.greeting.capabilities
    }

    #[must_use]
    pub fn instructions(&self) -> Option<&str> {
        self.greeting.instructions.as_deref()
    }

    /// Whether the server says that it has tools. One that does not was not
    /// asked for its list.
    #[must_use]
    pub fn declares_tools(&self) -> bool {
        self.greeting.capabilities.get("tools").is_some()
    }

    /// The tools as listed at the start, in the server's order.
    #[must_use]
    pub fn tools(&self) -> &[ToolInfo] {
        &self.tools
    }

    /// Whether a client must leave this tool alone, since its `x-mcp-header`
    /// annotations are against the rules (2026-07-28, Streamable HTTP, "Schema
    /// Extension"). A harness may call it all the same.
    #[must_use]
    pub fn refuses_tool(&self, name: &str) -> bool {
        self.connection.refuses(name)
    }

    /// From the spawn to the last page of the list of tools.
    #[must_use]
    pub fn startup(&self) -> Duration {
        self.startup
    }

    /// What a reader should know of the start, in sentences.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Its first process died of a request that it did not know, or fell
    /// silent over it: nothing unknown should be sent to it again.
    #[must_use]
    pub fn shy_of_probes(&self) -> bool {
        self.shy_of_probes
    }

    /// The launch's limit for a request that has none of its own.
    #[must_use]
    pub fn request_timeout(&self) -> Duration {
        self.request_timeout
    }

    /// Whether the server is a process of ours.
    #[must_use]
    pub fn has_process(&self) -> bool {
        self.process.is_some()
    }

    /// The exit of the server's process; never, where there is none.
    #[must_use]
    pub fn exit_watch(&self) -> ExitWatch {
        let process = self.process.as_ref();
        process.map_or_else(ExitWatch::never, Process::exit_watch)
    }

    /// Nothing, where there is no process.
    #[must_use]
    pub fn stderr(&self) -> StderrHandle {
        let process = self.process.as_ref();
        process.map_or_else(StderrHandle::none, Process::stderr)
    }

    /// Head and tail of what a process that is reached over HTTP wrote on its
    /// stdout.
    #[must_use]
    pub fn stdout_tail(&self) -> Option<String> {
        self.stdout.as_ref().map(StderrHandle::tail)
    }

    /// Everything seen beside answers, up to now.
    #[must_use]
    pub fn observed(&self) -> Observed {
        self.connection.look(|peer| peer.observed().clone())
    }

    /// How many lines on stdout were no message, and the first of them.
    #[must_use]
    pub fn noise(&self) -> (u64, Vec<String>) {
        self.connection.look(|peer| {
            let seen = peer.observed();
            (seen.noise, seen.noise_sample.clone())
        })
    }

    /// Whether messages are held against the specification, and what was sent
    /// to find the era out makes the connection unfit for that: see
    /// [`Checker::was_opened_twice`].
    #[must_use]
    pub fn was_opened_twice(&self) -> bool {
        let twice = |peer: &Peer| peer.checker().is_some_and(Checker::was_opened_twice);
        self.connection.look(twice)
    }

    /// What came of holding its messages against the specification; none
    /// where that was not asked for.
    #[must_use]
    pub fn wire_check(&self) -> Option<WireCheck> {
        let found = |peer: &Peer| Some(peer.checker()?.found().clone());
        self.connection.look(found)
    }

    /// Breaches of the protocol so far, each once, redacted; fragments that
    /// complete "the server …".
    #[must_use]
    pub fn breaches(&self) -> Vec<String> {
        self.connection
            .look(|peer| peer.observed().breaches.clone())
    }

    /// What of the server jelly did not read, for limits of its own; fragments
    /// that complete "the server …".
    #[must_use]
    pub fn unread(&self) -> Vec<String> {
        let unread = |peer: &Peer| {
            let all = peer.observed().unread.iter();
            all.map(|beyond| beyond.text.clone()).collect()
        };
        self.connection.look(unread)
    }

    /// The first breach for which clients of the official SDKs throw a message
    /// of the server away; a fragment that completes "the server …".
    #[must_use]
    pub fn unfit(&self) -> Option<String> {
        self.connection.look(|peer| peer.observed().unfit.clone())
    }

    /// Sends one request and waits for its end, no longer than `limit`,
    /// whatever the server does meanwhile.
    ///
    /// Null `params` are left out. `tools/call` asks for progress, and so does what
    /// is waited for as long as there is progress. Dropping the future cancels the
    /// request.
    pub async fn request(
        &self,
        method: &str,
        params: Value,
        patience: impl Into<Patience>,
    ) -> Reply {
        let patience = patience.into();
        self.timed(
            async |deadline| {
                self.ask(method, params, patience.asking(false), deadline)
                    .await
            },
            patience.at_most(),
        )
        .await
    }

    /// The same with the params as they are: nothing is added to them, not even
    /// what the protocol requires.
    pub async fn request_bare(
        &self,
        method: &str,
        params: Value,
        patience: impl Into<Patience>,
    ) -> Reply {
        let patience = patience.into();
        self.timed(
            async |deadline| {
                self.ask(method, params, patience.asking(true), deadline)
                    .await
            },
            patience.at_most(),
        )
        .await
    }

    /// Asks for a list with all its pages. The answer is the first page's
    /// result with the items of all pages; a list that is malformed is
    /// `Broken`.
    pub async fn list(&self, kind: ListKind, params: Value, limit: Duration) -> Reply {
        let list =
            async |deadline| list_all(&self.connection, self.version, kind, params, deadline).await;
        self.timed(list, limit).await
    }

    /// Whether it showed since the last list of tools that there is a new one.
    #[must_use]
    pub fn tools_changed(&self) -> bool {
        self.stale_tools.load(Ordering::Relaxed)
            || self.connection.look(|peer| peer.observed().tools_changed)
    }

    /// The tools as they are now, or how asking for them ended.
    ///
    /// # Errors
    /// The list did not come in time, or was none.
    pub async fn tools_now(&self, limit: Duration) -> Result<Vec<ToolInfo>, ReplyOutcome> {
        self.connection.with_peer(Peer::forget_tools_changed);
        self.stale_tools.store(false, Ordering::Relaxed);
        let reply = self.list(ListKind::Tools, Value::Null, limit).await;
        match reply.outcome {
            ReplyOutcome::Answered(mut result) => {
                let (tools, _) = read_tools(&mut result).map_err(|why| self.broken(&why))?;
                self.connection.learn(&tools);
                Ok(tools)
            }
            other => Err(other),
        }
    }

    /// Sends a notification; there is nothing to wait for.
    pub fn notify(&self, method: &str, params: Value) {
        self.connection
            .with_peer(|peer| peer.notify(method, params));
    }

    /// Closes stdin, waits; SIGTERM to the group, waits; SIGKILL. Over HTTP,
    /// ends the session in place of closing stdin. Waits no longer than
    /// `at_most` each time, nor than the launch allows. None where there is no
    /// process to end. Who drops the future half way may call again, to go on
    /// with less patience.
    pub async fn shutdown(&mut self, at_most: Duration) -> Option<Shutdown> {
        let grace = self.shutdown_timeout.min(at_most);
        self.connection.close();
        if self.by_pipes {
            let process = self.process.as_mut()?;
            return Some(process.shutdown(grace).await);
        }
        // A server that does not even say goodbye is no news.
        let _ = timeout(grace, self.connection.closed()).await;
        Some(self.process.as_mut()?.terminate(grace).await)
    }

    pub(super) async fn timed(
        &self,
        ask: impl AsyncFnOnce(Instant) -> ReplyOutcome,
        limit: Duration,
    ) -> Reply {
        let stderr = self.stderr();
        let stderr_before = stderr.bytes();
        let (breaches_before, queued_before) = self
            .connection
            .look(|p| (p.observed().breaches.len(), p.bytes_queued()));
        let started = Instant::now();
        let deadline = deadline_after(started, limit);
        let mut outcome = ask(deadline).await;
        let elapsed = started.elapsed();
        let unread = match &mut outcome {
            ReplyOutcome::TimedOut(life) => {
                stderr.caught_up().await;
                life.stderr_bytes = stderr.bytes().saturating_sub(stderr_before);
                life.unread |= self.never_read_beyond(queued_before);
                life.unread
            }
            ReplyOutcome::Exited(_) => {
                stderr.settled().await;
                self.never_read_beyond(queued_before)
            }
            ReplyOutcome::Answered(_)
            | ReplyOutcome::RpcError(_)
            | ReplyOutcome::Broken(_)
            | ReplyOutcome::Unanswered(_)
            | ReplyOutcome::Beyond(_)
            | ReplyOutcome::Http(_) => false,
        };
        let breaches = self.connection.look(|peer| {
            let all = &peer.observed().breaches;
            all.get(breaches_before..).unwrap_or_default().to_vec()
        });
        Reply {
            outcome,
            elapsed,
            breaches,
            unread,
        }
    }

    /// Whether the server took no byte from its stdin after the first `sent`
    /// ones. False where the system can't tell.
    fn never_read_beyond(&self, sent: u64) -> bool {
        if !self.by_pipes {
            return false;
        }
        let written = self.connection.look(Peer::bytes_written);
        self.process
            .as_ref()
            .and_then(Process::unread_stdin_bytes)
            .is_some_and(|unread| written.saturating_sub(unread as u64) <= sent)
    }

    async fn ask(
        &self,
        method: &str,
        params: Value,
        Asking { bare, extends }: Asking,
        deadline: Instant,
    ) -> ReplyOutcome {
        // Only a modern server may ask back, so only then a copy is needed.
        let original = match self.version.era {
            Era::Modern if Method::find(method).is_some_and(|m| m.may_ask_back) => {
                Some(params.clone())
            }
            Era::Modern | Era::Legacy => None,
        };
        let mut params = params;
        let mut may_look_again =
            method == "tools/call" && self.connection.look(Peer::has_streams) && original.is_some();
        let prepared = self.connection.look(|peer| peer.answers().prepared());
        let most = MAX_ROUND_TRIPS.saturating_add(prepared);
        for _ in 0..most {
            let again = may_look_again.then(|| params.clone());
            let request = Outgoing {
                method,
                params,
                version: (!bare).then_some(self.version),
                progress: !bare && (method == "tools/call" || extends.is_some()),
                probe: false,
            };
            let left = deadline.saturating_duration_since(Instant::now());
            let sent = self.connection.send(request);
            let outcome = match extends {
                Some(limit) => sent.answer_while_progress(limit, left).await,
                None => sent.answer_within(left).await,
            };
            if let Some(again) = again
                && says_header_mismatch(&outcome)
            {
                may_look_again = false;
                if self.headers_have_changed(deadline).await {
                    params = again;
                    continue;
                }
            }
            let result = match (outcome, self.version.era) {
                (ReplyOutcome::Answered(result), Era::Modern) => result,
                (other, Era::Modern | Era::Legacy) => return other,
            };
            match result_type(&result) {
                ResultType::Complete { flaw } => {
                    if let Some(flaw) = flaw {
                        let text = format!("answered `{method}` {flaw}");
                        self.connection.with_peer(|peer| peer.breach(&text));
                    }
                    return ReplyOutcome::Answered(result);
                }
                ResultType::Unknown(name) => {
                    return self.broken(&format!(
                        "answered `{method}` with the unknown resultType {name}"
                    ));
                }
                ResultType::InputRequired => {}
            }
            let Some(original) = &original else {
                return self.broken(&format!(
                    "asks for input on `{method}`, where the specification allows none"
                ));
            };
            let answers = self.connection.look(|peer| peer.answers().clone());
            params = match next_round(original, &result, &answers, self.version) {
                Ok(params) => params,
                Err(NoRound::Breach(why)) => {
                    return self.broken(&format!("{why} on `{method}`"));
                }
                Err(NoRound::Unanswered(why)) => return ReplyOutcome::Unanswered(why),
            };
        }
        // The specification knows no such limit.
        ReplyOutcome::Beyond(Beyond {
            limit: OwnLimit::Rounds,
            text: format!(
                "asked for input {most} times on `{method}`, and jelly goes no further: its limit \
                 is {MAX_ROUND_TRIPS} more than the step has answers"
            ),
        })
    }

    /// Asks for the tools once more, and whether other arguments travel as
    /// headers since the last time.
    async fn headers_have_changed(&self, deadline: Instant) -> bool {
        let (kind, params) = (ListKind::Tools, Value::Null);
        let listed = list_all(&self.connection, self.version, kind, params, deadline).await;
        let ReplyOutcome::Answered(mut result) = listed else {
            return false;
        };
        let tools = read_tools(&mut result);
        let changed = tools.is_ok_and(|(tools, _)| self.connection.learn(&tools));
        if changed {
            // Whoever keeps the list should read it again.
            self.stale_tools.store(true, Ordering::Relaxed);
        }
        changed
    }

    pub(super) fn broken(&self, text: &str) -> ReplyOutcome {
        ReplyOutcome::Broken(self.connection.with_peer(|peer| peer.breach(text)))
    }
}

/// Whether the server says that the headers do not fit the message, for which
/// clients should look at the tool's schema again (2026-07-28, Streamable HTTP,
/// "Client Behavior").
fn says_header_mismatch(outcome: &ReplyOutcome) -> bool {
    let error = match outcome {
        ReplyOutcome::RpcError(error) => Some(error),
        ReplyOutcome::Http(end) => end.rpc_error.as_ref(),
        ReplyOutcome::Answered(_)
        | ReplyOutcome::TimedOut(_)
        | ReplyOutcome::Exited(_)
        | ReplyOutcome::Broken(_)
        | ReplyOutcome::Beyond(_)
        | ReplyOutcome::Unanswered(_) => None,
    };
    error.is_some_and(|error| error.code == Some(code::HEADER_MISMATCH))
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
