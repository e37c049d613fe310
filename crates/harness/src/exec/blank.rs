//! Reports of what has not happened yet, to be filled in as it does.

use jelly_base::model::{ServerReport, StepReport, StepState};
use jelly_plan::Step;

/// A step that was not executed.
pub fn step_report(step: &Step, state: StepState) -> StepReport {
    StepReport {
        id: step.id.clone(),
        name: step.name.clone(),
        section: step.section,
        server: step.server.clone(),
        state,
        ..StepReport::default()
    }
}

/// A server that was not started.
pub fn server_report(name: &str) -> ServerReport {
    ServerReport {
        name: name.to_owned(),
        ..ServerReport::default()
    }
}
