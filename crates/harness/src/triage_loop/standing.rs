//! What stands at the end of an iteration: the facts that the verdict and the
//! refining of code depend on. Nothing is green by absence.

use super::judge::Judged;
use jelly_base::model::{
    Because, Failure, IterationRecord, Section, ServerReport, ServerState, StepReport, StepState,
};
use std::collections::HashSet;

/// What stands when an iteration is over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standings {
    /// Everything that was selected ran and passed, and something did.
    pub green: bool,
    /// The same but for known failures, of which there is at least one.
    pub known: bool,
    /// All that was selected lacks what it requires, and that was allowed for.
    pub skipped: bool,
    /// Something test-side stands: a failure, a step that could not run, or a
    /// fault that no record explains.
    pub test_side: bool,
    /// The code is to blame, by this iteration or by an earlier proof.
    pub code: bool,
}

/// Reads them off an iteration. `proven` says that something was held against
/// the code, now or earlier, and still is.
pub(super) fn standings(record: &IterationRecord, judged: &[Judged], proven: bool) -> Standings {
    let code = proven || judged.iter().any(Judged::is_code);
    let unexplained =
        any_unexplained(record) || record.servers.iter().any(|s| is_silent_loss(s, record));
    let unable = record.steps.iter().any(could_not_run);
    let looked = record
        .steps
        .iter()
        .any(|s| s.section == Section::Steps && s.state == StepState::Passed);
    let complete = record.steps.iter().all(is_fine);
    let cut = record.deadline_reached || record.interrupted.is_some();
    let green = judged.is_empty() && looked && complete && !unexplained && !cut && !code;
    let only_known = !judged.is_empty() && judged.iter().all(|one| one.known.is_some());
    let else_complete = record.steps.iter().all(|step| match step.state {
        // Nothing but known failures is left to explain it.
        StepState::Failed => true,
        StepState::Passed | StepState::Skipped | StepState::Blocked | StepState::Quarantined => {
            is_fine(step)
        }
    });
    let selected =
        |s: &&StepReport| s.section == Section::Steps && s.because != Some(Because::NotSelected);
    let selected = || record.steps.iter().filter(selected);
    let lacks = |s: &StepReport| matches!(s.because, Some(Because::Requires(_)));
    let skipped = judged.is_empty()
        && !unexplained
        && !cut
        && !code
        && record.steps.iter().all(is_left_out)
        && selected().next().is_some()
        && selected().all(lacks);
    let nothing_said = judged.is_empty() && !green && !skipped && !code;
    Standings {
        green,
        known: only_known && else_complete && !unexplained && !cut && !code,
        skipped,
        test_side: judged.iter().any(Judged::stands_test_side)
            || unexplained
            || unable
            || nothing_said
            || record.deadline_reached,
        code,
    }
}

/// Passed, or left out because somebody said so.
fn is_fine(step: &StepReport) -> bool {
    match step.state {
        StepState::Passed => true,
        StepState::Skipped => step.because.as_ref().is_some_and(Because::is_wanted),
        StepState::Failed | StepState::Blocked | StepState::Quarantined => false,
    }
}

/// Left out because somebody said so.
fn is_left_out(step: &StepReport) -> bool {
    step.state == StepState::Skipped && is_fine(step)
}

/// The plan or the environment kept it from running.
fn could_not_run(step: &StepReport) -> bool {
    match step.state {
        StepState::Blocked | StepState::Quarantined => true,
        StepState::Skipped => matches!(
            step.because,
            None | Some(
                Because::Server(_) | Because::ServerDown(_) | Because::Setup(_) | Because::Plan(_)
            )
        ),
        StepState::Passed | StepState::Failed => false,
    }
}

/// Whether a step failed and no record says why.
fn any_unexplained(record: &IterationRecord) -> bool {
    let of_step: HashSet<&str> = record
        .failures
        .iter()
        .filter_map(|f| f.step.as_deref())
        .collect();
    let of_server: HashSet<&str> = record
        .failures
        .iter()
        .filter(|f| f.step.is_none())
        .filter_map(|f| f.server.as_deref())
        .collect();
    record.steps.iter().any(|step| {
        step.state == StepState::Failed
            && !of_step.contains(step.id.as_str())
            && !of_server.contains(step.server.as_str())
    })
}

/// A server was lost, and no record says why.
fn is_silent_loss(server: &ServerReport, record: &IterationRecord) -> bool {
    let explains = |failure: &Failure| failure.server.as_ref() == Some(&server.name);
    matches!(server.state, ServerState::Failed | ServerState::Died)
        && !record.failures.iter().any(explains)
}
