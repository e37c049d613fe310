//! How a step ended, and what is to be thought of its server then.

use jelly_base::model::{Because, Failure, Phase, StepState};
use jelly_plan::Step;
use jelly_wire::HttpEnd;
use std::time::Duration;

/// How a step ended.
pub struct StepEnd {
    pub state: StepState,
    pub because: Option<Because>,
    /// Present if it was executed.
    pub duration: Option<Duration>,
    pub adapter: Option<&'static str>,
    /// One, or its mismatches in their order; without the facts about its
    /// server, which the lane adds.
    pub failures: Vec<Failure>,
}

impl StepEnd {
    pub fn not_run(state: StepState, because: Because) -> Self {
        Self {
            state,
            because: Some(because),
            duration: None,
            adapter: None,
            failures: Vec::new(),
        }
    }

    pub fn failed(failures: Vec<Failure>, duration: Duration) -> Self {
        Self {
            state: StepState::Failed,
            because: None,
            duration: Some(duration),
            adapter: None,
            failures,
        }
    }

    /// The plan can't be run as written here.
    pub fn unfit(failure: Failure) -> Self {
        Self {
            state: StepState::Quarantined,
            because: Some(Because::Plan(failure.message.clone().unwrap_or_default())),
            duration: None,
            adapter: None,
            failures: vec![failure],
        }
    }
}

/// What is to be thought of the server afterwards.
#[derive(Debug, Clone, PartialEq)]
pub enum Aftermath {
    Alive,
    Died,
    /// It died before it read the first byte of the request, so that the
    /// death belongs before the step, and the step was never executed.
    DiedBefore,
    /// It knows the session no more, so that the step was never executed.
    SessionLost(Box<HttpEnd>),
    /// It let a request run into its limit, or broke the protocol.
    Unsure,
}

/// A step that was run.
pub struct StepRun {
    pub end: StepEnd,
    pub aftermath: Aftermath,
    /// What the server wrote on stderr meanwhile; all of it where it wrote
    /// nothing then.
    pub stderr: String,
    /// What a reader should know besides, in sentences.
    pub notes: Vec<String>,
}

/// A failure at this step, without facts about the server.
pub fn at_step(step: &Step, phase: Phase, message: impl Into<String>) -> Failure {
    Failure {
        phase: Some(phase),
        server: Some(step.server.clone()),
        step: Some(step.id.clone()),
        message: Some(message.into()),
        ..Failure::default()
    }
}
