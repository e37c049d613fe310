//! How requests end, for who keeps account of them.
//!
//! Main type: [`RequestEnd`].

use jelly_base::model::Rung;
use tokio::time::Instant;

/// The end of a request of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestEnd<'a> {
    pub method: &'a str,
    /// Of a call.
    pub tool: Option<&'a str>,
    /// When it came.
    pub since: Instant,
    pub outcome: RequestOutcome<'a>,
    /// How the output of a tool was read.
    pub rung: Option<Rung>,
}

/// What a request came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome<'a> {
    Answered,
    /// The tool says that it failed.
    ToolError,
    /// The server answered with an error.
    Refused,
    /// jelly answered for the server, for this cause.
    Unavailable {
        root_cause: &'a str,
    },
    /// jelly cancelled it at its limit.
    TimedOut,
    /// The client did not want it any more.
    Cancelled,
}

impl RequestOutcome<'_> {
    /// In a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "ok",
            Self::ToolError => "tool_error",
            Self::Refused => "error",
            Self::Unavailable { .. } => "unavailable",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
        }
    }
}
