//! Reports of what has not happened yet, to be filled in as it does.

use jelly_base::model::{ServerReport, ServerState, StepReport, StepState};
use jelly_plan::Step;

/// A step that was not executed.
pub fn step_report(step: &Step, state: StepState) -> StepReport {
    StepReport {
        id: step.id.clone(),
        name: step.name.clone(),
        section: step.section,
        server: step.server.clone(),
        state,
        because: None,
        attempts: 0,
        duration_ms: None,
        adapter: None,
        error_category: None,
        retryable: None,
        flaky: false,
    }
}

/// A server that was not started.
pub fn server_report(name: &str) -> ServerReport {
    ServerReport {
        name: name.to_owned(),
        state: ServerState::NotStarted,
        era: None,
        protocol_version: None,
        startup_ms: None,
        exit: None,
        stderr_tail: String::new(),
        server_info: None,
        offers: None,
        stdout_noise: 0,
        stdout_noise_sample: Vec::new(),
        restarts: 0,
        wire_check: None,
        notes: Vec::new(),
    }
}
