//! Which exit code an account comes to: the one place that decides it.

use jelly_base::model::{
    ExitCode, FailureStatus, FailureView, Failures, Health, HealthState, ReportSummary, Side,
    Verdict,
};

/// What makes a call fail, besides reports that can't be relied on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FailOn {
    /// Every failure.
    #[default]
    Any,
    /// Failures of the code under test.
    Code,
    /// Failures that neither the baseline nor the history knows.
    New,
    /// No failure.
    Never,
}

/// The exit code, and what it says of the run. A report that can't be relied
/// on, and a run that executed nothing, are exit code 2 whatever else is
/// found, and whatever is asked for.
#[must_use]
pub(super) fn exit(
    reports: &[ReportSummary],
    failures: &Failures,
    health: &Health,
    fail_on: FailOn,
    strict: bool,
) -> (ExitCode, Verdict) {
    let empty = reports.iter().any(ReportSummary::is_hollow);
    let unhealthy = match health.state {
        HealthState::Unreadable | HealthState::NothingExecuted => true,
        HealthState::Sound | HealthState::OneCause => empty,
    };
    let stands = |failure: &FailureView<'_>| failure.status != FailureStatus::Flaky;
    let code = |failure: &FailureView<'_>| stands(failure) && failure.kind.side == Side::Code;
    let verdict = if unhealthy {
        Verdict::InvalidInput
    } else if failures.iter().any(|failure| code(&failure)) {
        Verdict::CodeFailure
    } else if failures.iter().any(|failure| stands(&failure)) || health.failed > 0 {
        Verdict::NeedsUserHelp
    } else if health.flaky > 0 {
        Verdict::PassedAfterRetry
    } else {
        Verdict::Passed
    };
    if unhealthy {
        return (ExitCode::InvalidInput, verdict);
    }
    let counts = |failure: &FailureView<'_>| match fail_on {
        FailOn::Any => strict || stands(failure),
        FailOn::Code => code(failure),
        FailOn::New => failure.pre_existing != Some(true) && (strict || stands(failure)),
        FailOn::Never => false,
    };
    let counted = || failures.iter().filter(|failure| counts(failure));
    let exit = if counted().any(|failure| code(&failure)) {
        ExitCode::CodeFailure
    } else if counted().next().is_some() || (fail_on == FailOn::Any && health.failed > 0) {
        ExitCode::NeedsUserHelp
    } else {
        ExitCode::Passed
    };
    (exit, verdict)
}
