//! How a step ended, and what is to be thought of its server then.

use super::settings::ExecSettings;
use super::shared_state::SharedState;
use jelly_base::model::{Because, Failure, Outcome, Phase, Rung, StepReport, StepState};
use jelly_base::text::truncate_middle;
use jelly_plan::Step;
use jelly_wire::HttpEnd;
use std::time::Duration;

/// How a step ended.
pub struct StepEnd {
    pub report: StepReport,
    /// One, or its mismatches in their order; without the facts about its
    /// server, which the lane adds.
    pub failures: Vec<Failure>,
}

impl StepEnd {
    pub fn not_run(step: &Step, state: StepState, because: Because) -> Self {
        let report = StepReport {
            because: Some(because),
            ..step_report(step, state)
        };
        Self {
            report,
            failures: Vec::new(),
        }
    }

    /// Passed where nothing failed.
    pub fn executed(step: &Step, failures: Vec<Failure>, duration: Duration) -> Self {
        let state = match failures.is_empty() {
            true => StepState::Passed,
            false => StepState::Failed,
        };
        let report = StepReport {
            attempts: 1,
            ..step_report(step, state)
        };
        Self { report, failures }.after(duration)
    }

    /// Whether no answer came within the limit.
    pub fn timed_out(&self) -> bool {
        let timed_out = |failure: &Failure| failure.outcome == Some(Outcome::Timeout);
        self.failures.iter().any(timed_out)
    }

    /// It took so long, all in all.
    pub fn after(mut self, duration: Duration) -> Self {
        if self.report.attempts > 0 {
            self.report.duration_ms = Some(fine_millis(duration));
        }
        self
    }

    /// The plan can't be run as written here.
    pub fn unfit(step: &Step, failure: Failure) -> Self {
        let because = Because::Plan(failure.message.clone().unwrap_or_default());
        Self {
            failures: vec![failure],
            ..Self::not_run(step, StepState::Quarantined, because)
        }
    }

    /// By this rung of the schema ladder an output was read.
    pub fn adapted_by(mut self, rung: Option<Rung>) -> Self {
        self.report.adapter = rung.map(|rung| rung.name().to_owned());
        self
    }

    /// Says how the step at this place ended, and keeps it.
    pub fn keep(self, index: usize, shared: &SharedState, settings: &ExecSettings) {
        settings.tell_end(&shared.cleaner, &self.report, &self.failures);
        for failure in self.failures {
            shared.fail_step(index, failure);
        }
        shared.end(index, self.report);
    }
}

/// How much of a server's stderr a report shows.
const REPORTED_STDERR: usize = 8 * 1024;

/// What a server wrote on stderr, as a report shows it.
pub fn shorten(stderr: &str) -> String {
    truncate_middle(stderr, REPORTED_STDERR).into_owned()
}

/// Milliseconds, to a microsecond.
pub fn fine_millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1000.0
}

/// A step of which nothing is known but its state.
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
    /// It let a request run into its limit, and gave no sign of life when it was asked
    /// for one.
    Silent,
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
