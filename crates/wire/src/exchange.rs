//! What passes between a [`super::Peer`] and whoever asks through it.

use jelly_base::mcp::Revision;
use jelly_base::model::{Exit, HttpFacts, OwnLimit, RpcError};
use serde_json::Value;

/// How a request ended. Values are as the server sent them, not redacted.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyOutcome {
    /// The result, whatever it is; null too.
    Answered(Value),
    RpcError(RpcError),
    /// The limit ran out; the server was told.
    TimedOut(Life),
    /// The process ended before it answered. What it had written before was
    /// read, and of a [`crate::Reply`] its stderr has settled.
    Exited(Exit),
    /// A breach of the protocol, so that no answer can come; a redacted
    /// fragment that completes "the server …".
    Broken(String),
    /// A modern server asked for input that the client has offered and has not
    /// got; a fragment that completes "the server …". The request is not made
    /// again.
    Unanswered(String),
    /// An answer may have come, and jelly went no further for a limit of its
    /// own.
    Beyond(Beyond),
    /// The exchange over HTTP brought no good answer. The server may be there
    /// for the next.
    Http(Box<HttpEnd>),
}

/// What was not read, for a limit of jelly's own: a breach of nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beyond {
    pub limit: OwnLimit,
    /// Completes "the server …", redacted.
    pub text: String,
}

/// An exchange over HTTP that brought no good answer to its request. All texts
/// are redacted, but for the error's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HttpEnd {
    pub facts: HttpFacts,
    /// Completes "the request …", as in `was answered with HTTP 404 Not Found`.
    pub message: String,
    /// The JSON-RPC error that the refusal carries, not redacted.
    pub rpc_error: Option<RpcError>,
    /// What of it breaks the protocol; a fragment that completes "the server
    /// …".
    pub breach: Option<String>,
    /// It is a limit of jelly's own that stands in the way.
    pub own_limit: Option<OwnLimit>,
    /// The server has said that the session is no more, so that the request
    /// was not executed.
    pub session_lost: bool,
    /// The refusal speaks of a session, and does not surely say that. The
    /// request may have been executed.
    pub session_in_doubt: bool,
}

impl HttpEnd {
    /// Whether something that speaks HTTP answered at all. A proxy that makes no tunnel
    /// answers in nobody's place: nothing was sent to the server.
    #[must_use]
    pub fn answered(&self) -> bool {
        self.facts.status.is_some() && self.facts.error.as_deref() != Some("proxy_refused")
    }

    /// Whether the connection went before an answer had come whole, as it does where the
    /// server's process ends: a stream of events has its head, and a status, by then.
    #[must_use]
    pub fn connection_went(&self) -> bool {
        let error = self.facts.error.as_deref();
        !self.answered() || matches!(error, Some("closed" | "connection_reset"))
    }
}

/// Why a connection takes no more requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Exited(Exit),
    /// The stream is gone, or of no use, and the process is not; a fragment
    /// as of a breach.
    Closed(String),
}

impl End {
    pub(super) fn answer(&self) -> ReplyOutcome {
        match self {
            Self::Exited(exit) => ReplyOutcome::Exited(exit.clone()),
            Self::Closed(why) => ReplyOutcome::Broken(why.clone()),
        }
    }
}

/// A request as it is to be sent.
#[derive(Debug)]
pub struct Outgoing<'a> {
    pub method: &'a str,
    /// Null for none.
    pub params: Value,
    /// What the request is dressed for; none to send it as it is.
    pub version: Option<&'static Revision>,
    /// Ask for progress notifications.
    pub progress: bool,
    /// The probe for the era: blame for an answer that names nobody goes to
    /// it first, since old servers stumble over it.
    pub probe: bool,
}

/// Signs of life during a request that was given up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Life {
    /// Progress notifications for it.
    pub progress: u64,
    /// Messages of any kind.
    pub messages: u64,
    /// Lines of noise on stdout.
    pub noise: u64,
    /// Bytes on stderr.
    pub stderr_bytes: u64,
    /// The server did not even take the request from its stdin.
    pub unread: bool,
}

impl Life {
    /// Whether the server did anything at all.
    #[must_use]
    pub fn any(&self) -> bool {
        self.progress + self.messages + self.noise + self.stderr_bytes > 0
    }
}
