//! Verdict and exit code of a run, computed here and nowhere else.

use super::standing::Standings;
use jelly_base::model::{ExitCode, Signal, Verdict};
use std::time::Duration;

/// How a run went, seen from its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Course {
    /// Iterations that were executed.
    pub iterations: u32,
    pub interrupted: Option<Signal>,
    /// A repair was applied, or a hook changed the tests or the code.
    pub repaired: bool,
    /// A repair changed the contract between plan and server.
    pub contract_changed: bool,
    pub accept_repairs: bool,
    /// Green is green only at first sight and as written.
    pub strict: bool,
    /// The run can't vouch for its result: a report could not be written, or
    /// the plan was changed behind its back.
    pub tainted: Option<Taint>,
    /// The deadline, where it ended the run.
    pub out_of_time: Option<Duration>,
}

/// Why a run can't vouch for its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taint {
    /// A result that can't be written is a failure, but no acquittal.
    ReportUnwritable,
    /// The hook that refines code changed the plan: whatever was found, it was
    /// found by a plan that is no more.
    PlanTampered,
    /// The hook that fixes tests left less to test. What was found before it
    /// stands.
    PlanWeakened,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    pub verdict: Verdict,
    pub exit_code: ExitCode,
    pub needs_user_help: bool,
}

/// The ending of a run whose last iteration left these standings.
#[must_use]
pub fn conclude(last: Standings, course: &Course) -> Ending {
    let ending = |verdict, exit_code, needs_user_help| Ending {
        verdict,
        exit_code,
        needs_user_help,
    };
    let help = ending(Verdict::NeedsUserHelp, ExitCode::NeedsUserHelp, true);
    if let Some(signal) = course.interrupted {
        return ending(Verdict::Interrupted, ExitCode::Interrupted(signal), false);
    }
    if course.tainted == Some(Taint::PlanTampered) {
        return help;
    }
    if last.code {
        let help_besides = last.test_side || course.tainted.is_some();
        return ending(Verdict::CodeFailure, ExitCode::CodeFailure, help_besides);
    }
    if last.skipped && course.tainted.is_none() {
        return ending(Verdict::Skipped, ExitCode::Passed, false);
    }
    if course.tainted.is_some() || !(last.green || last.known) {
        return help;
    }
    let verdict = if last.known {
        Verdict::PassedWithKnown
    } else if course.repaired {
        Verdict::PassedAfterRepair
    } else if course.iterations > 1 {
        Verdict::PassedAfterRetry
    } else {
        Verdict::Passed
    };
    let unaccepted = course.contract_changed && !course.accept_repairs;
    let exit_code = if unaccepted || (course.strict && verdict != Verdict::Passed) {
        ExitCode::UnacceptedChange
    } else {
        ExitCode::Passed
    };
    ending(verdict, exit_code, false)
}
