//! What is started, how it is reached, and within which limits.

use super::answers::Answers;
use super::auth::Authorizer;
use super::local_port::LocalPort;
use super::transcript::Recorder;
use jelly_base::mcp::{Era, Revision};
use jelly_base::text::redact::Redactor;
use jelly_process::CommandSpec;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// By the pipes of a process that is started for it.
    Stdio(CommandSpec),
    /// By a URL.
    Http(Endpoint),
}

impl Reach {
    /// The command to start, if there is one.
    #[must_use]
    pub fn command(&self) -> Option<&CommandSpec> {
        match self {
            Self::Stdio(command) => Some(command),
            Self::Http(endpoint) => endpoint.command.as_ref(),
        }
    }

    /// The same, to be changed.
    pub fn command_mut(&mut self) -> Option<&mut CommandSpec> {
        match self {
            Self::Stdio(command) => Some(command),
            Self::Http(endpoint) => endpoint.command.as_mut(),
        }
    }

    pub(crate) fn is_http(&self) -> bool {
        match self {
            Self::Stdio(_) => false,
            Self::Http(_) => true,
        }
    }
}

/// A server that is reached by a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Endpoint {
    pub url: String,
    /// Sent with every request, over those that the protocol asks for. Their
    /// values are never shown.
    pub headers: Vec<(String, String)>,
    /// What to start first, if that is ours to do.
    pub command: Option<CommandSpec>,
    /// Where nobody may listen before it is started; none where jelly has chosen
    /// the port.
    pub own_port: Option<LocalPort>,
    /// Gets the tokens that the server asks for.
    pub auth: Option<Arc<Authorizer>>,
}

impl From<CommandSpec> for Reach {
    fn from(command: CommandSpec) -> Self {
        Self::Stdio(command)
    }
}

/// What to start, and within which limits.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The server's name in the plan.
    pub server: String,
    pub reach: Reach,
    /// A pinned era is neither probed nor doubted.
    pub era: Option<Era>,
    /// A pinned version is the only one that is asked for and taken; it says
    /// the era too.
    pub version: Option<&'static Revision>,
    /// From the spawn to the last page of the list of tools.
    pub startup_timeout: Duration,
    /// What [`Session::request_timeout`](crate::Session::request_timeout) says;
    /// each request is given its own.
    pub request_timeout: Duration,
    /// For the exit after stdin is closed, and again after SIGTERM.
    pub shutdown_timeout: Duration,
    pub redactor: Redactor,
    /// Hold every message against the specification.
    pub wire_check: bool,
    /// What the client offers, and answers when the server asks. Clones share
    /// their responder, so that it is the same for every session.
    pub answers: Answers,
    pub recorder: Option<Recorder>,
    /// Gets all of stderr, redacted; appended to, since a server may be
    /// started more than once.
    pub stderr_log: Option<PathBuf>,
}

impl Launch {
    /// With DESIGN's default limits, no secrets and no records.
    #[must_use]
    pub fn new(server: impl Into<String>, reach: impl Into<Reach>) -> Self {
        Self {
            server: server.into(),
            reach: reach.into(),
            era: None,
            version: None,
            startup_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(2),
            redactor: Redactor::none(),
            wire_check: false,
            answers: Answers::default(),
            recorder: None,
            stderr_log: None,
        }
    }
}
