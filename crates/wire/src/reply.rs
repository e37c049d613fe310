//! What comes of a request, and of a start that failed.
//!
//! Main types: [`Reply`] and [`StartFailure`]: facts, for others to judge.

use super::exchange::ReplyOutcome;
use jelly_base::model::{
    Era, Exit, HttpFacts, Outcome, OwnLimit, Phase, RequestFacts, RpcError, SpawnError,
};
use jelly_process::Said;
use serde_json::Value;
use std::time::Duration;

/// The end of one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub outcome: ReplyOutcome,
    /// From the call to the answer, or to giving up.
    pub elapsed: Duration,
    /// Breaches of the protocol that were first seen during this request, be
    /// there an answer or not; fragments that complete "the server …".
    pub breaches: Vec<String>,
    /// There is no answer, and the server did not take one byte of the
    /// request from its stdin: it can't have ended because of it.
    pub unread: bool,
}

/// A server that did not become ready. It is stopped already. All texts are
/// redacted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct StartFailure {
    /// `Spawn`, `Handshake` or `List`.
    pub phase: Phase,
    pub outcome: Outcome,
    /// A sentence's end, as in `exited during startup with code 1, …`.
    pub message: String,
    pub spawn_error: Option<SpawnError>,
    pub exit: Option<Exit>,
    /// Whether it lived when the failure was concluded.
    pub process_alive: bool,
    /// Head and tail.
    pub stderr: String,
    /// The same, with the place where something of it was not kept.
    pub said: Said,
    /// The same of a process that is reached over HTTP, where stdout is not
    /// the wire.
    pub stdout: Option<String>,
    /// The first and the last lines on stdout that are no message, and the
    /// begin of one that was never ended.
    pub stdout_noise: Vec<String>,
    pub noise_count: u64,
    /// What it logged by notifications, the newest last.
    pub logs: Vec<String>,
    /// What was waited for, or refused.
    pub request: Option<RequestFacts>,
    pub rpc_error: Option<RpcError>,
    /// What the exchange over HTTP came to, if that is what failed.
    pub http: Option<HttpFacts>,
    /// The server does not speak what it is held to.
    pub unspoken: bool,
    /// The breach that ended the start, or the first one that was seen before
    /// time ran out; a fragment that completes "the server …".
    pub protocol_breach: Option<String>,
    /// The limit of jelly's own that stood in the way of what was waited for.
    pub own_limit: Option<OwnLimit>,
    /// The limit, if it ran out.
    pub timeout: Option<Duration>,
    /// The server said something before time ran out, be it on stderr.
    pub showed_life: bool,
    /// The era as far as it was found out or pinned.
    pub era: Option<Era>,
    /// Name and version, if the server got so far as to say them.
    pub server_info: Option<Value>,
    pub elapsed: Duration,
    /// What a reader should know besides, in sentences.
    pub notes: Vec<String>,
}

impl StartFailure {
    /// One of which nothing else is known.
    #[must_use]
    pub fn of(phase: Phase, outcome: Outcome) -> Self {
        Self {
            phase,
            outcome,
            message: String::new(),
            spawn_error: None,
            exit: None,
            process_alive: false,
            stderr: String::new(),
            said: Said::default(),
            stdout: None,
            stdout_noise: Vec::new(),
            noise_count: 0,
            logs: Vec::new(),
            request: None,
            rpc_error: None,
            http: None,
            unspoken: false,
            protocol_breach: None,
            own_limit: None,
            timeout: None,
            showed_life: false,
            era: None,
            server_info: None,
            elapsed: Duration::ZERO,
            notes: Vec::new(),
        }
    }
}

/// `with code 1`, `by SIGKILL`: how a process ended, after "exited" or
/// "killed".
#[must_use]
pub fn describe_exit(exit: &Exit) -> String {
    match (exit.code, &exit.signal) {
        (_, Some(signal)) => format!("by {signal}"),
        (Some(code), None) => format!("with code {code}"),
        (None, None) => "with an unknown status".to_owned(),
    }
}
