//! What of a run is under way, as its events tell it.

use jelly_base::model::{Event, StepState};
use jelly_base::text::{human_duration, plural};
use std::borrow::Cow;

/// What an event changes in that.
#[derive(Debug, PartialEq, Eq)]
pub enum UnderWay<'e> {
    /// Somebody, mostly a server, does something from now on.
    Does(&'e str, Cow<'e, str>),
    /// It is there, and nothing is wanted of it.
    Rests(&'e str),
    /// It is there no more.
    Gone(&'e str),
    /// Everything is over.
    AllGone,
    Same,
}

impl<'e> UnderWay<'e> {
    #[must_use]
    pub fn after(event: &'e Event) -> Self {
        match event {
            Event::IterationStarted { .. } | Event::IterationFinished { .. } => Self::AllGone,
            Event::ServerStarting { server, .. } => Self::Does(server, "starting".into()),
            Event::ServerRestarting { server } => Self::Does(server, "starting again".into()),
            Event::ServerReady { server, .. } => Self::Rests(server),
            Event::ServerFailed { server, .. } => Self::Gone(server),
            Event::StepStarted { step, server } => Self::Does(server, step.as_str().into()),
            Event::StepFinished { step, .. } => match step.state {
                StepState::Passed | StepState::Failed => Self::Rests(&step.server),
                StepState::Blocked | StepState::Quarantined | StepState::Skipped => Self::Same,
            },
            Event::Triaging { failures } => {
                Self::Does("triage", plural(*failures, "failure").into())
            }
            Event::HookStarted { hook, .. } => Self::Does(hook, "running".into()),
            Event::Waiting { wait, .. } => {
                Self::Does("retry", format!("waiting {}", human_duration(*wait)).into())
            }
            Event::RunStarted { .. }
            | Event::MessageSent { .. }
            | Event::MessageReceived { .. }
            | Event::Noise { .. }
            | Event::WireChecked { .. }
            | Event::Interrupted
            | Event::Warning { .. } => Self::Same,
        }
    }
}
