//! Where a step runs.

use super::ladder::{LadderInput, ServerLadder};
use super::script::Script;
use super::shared_state::SharedState;
use super::tool_schemas::ToolSchemas;
use jelly_plan::Server;
use jelly_wire::Session;
use std::time::Duration;

/// Where a step runs.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    pub shared: &'a SharedState,
    pub server: &'a Server,
    pub session: &'a Session,
    pub schemas: &'a ToolSchemas,
    pub script: &'a Script,
    pub ladder: &'a ServerLadder,
    /// Nothing unknown is to be sent to the server.
    pub fragile: bool,
    /// The step's request went out before, to a session that was over.
    pub sent_before: bool,
    /// The server is held to every word of the specification.
    pub is_strict: bool,
    /// For all that the step sends.
    pub limit: Duration,
    /// The longest that its request may take, where progress begins the limit anew.
    pub total: Option<Duration>,
    /// What is left of the limit for the first request of the step, where the server
    /// was asked for its tools before it. What jelly does meanwhile is not the server's.
    pub first_limit: Duration,
}

impl StepContext<'_> {
    /// Whether JSON in the text of an answer keeps what its tool declares. In a
    /// session of a revision without `structuredContent` there is no other
    /// place for it; in later ones it is a liberty, which the ladder takes.
    pub(super) fn takes_text_for_structure(&self, ladder_input: LadderInput<'_>) -> bool {
        self.is_before_structure() || ladder_input.adapts && !self.is_strict
    }

    pub(super) fn is_before_structure(&self) -> bool {
        !self.session.version().has_structured_content
    }
}
