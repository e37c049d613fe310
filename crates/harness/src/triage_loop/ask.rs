//! What each failure asks for next, and which of the asks is heard.

use super::budget_ledger::BudgetLedger;
use super::judge::{Blame, Judged};
use super::loop_limit::words;
use super::memory::{Memory, is_timeout};
use super::seen::{Policy, Seen};
use crate::repair::{Proposal, RepairId};
use jelly_base::model::{Side, Track};

/// What one failure asks for. In the order of strength: the strongest ask of
/// an iteration's failures is its action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ask {
    Repair,
    Retry,
    Confirm,
    FixTests,
    /// A repair too, but the last resort.
    Quarantine,
    RefineCode,
    Nothing,
}

impl Ask {
    /// The track that it draws on.
    pub(super) fn track(self) -> Option<Track> {
        match self {
            Self::Repair | Self::Quarantine => Some(Track::McpRepairs),
            Self::Retry => Some(Track::Retries),
            Self::Confirm => Some(Track::Confirms),
            Self::FixTests => Some(Track::TestFixes),
            Self::RefineCode => Some(Track::CodeRefines),
            Self::Nothing => None,
        }
    }

    /// What it leads to, as in "… would have been next".
    pub(super) fn next(self) -> &'static str {
        self.track().map_or("nothing", |track| words(track).next)
    }
}

/// The ask of one failure, with the repair that is meant by it.
pub(super) fn ask<'a>(
    seen: &'a Seen,
    judged: &Judged,
    memory: &Memory,
    ledger: &BudgetLedger,
    policy: &Policy,
) -> (Ask, Option<&'a Proposal>) {
    if judged.is_overruled || judged.known.is_some() {
        return (Ask::Nothing, None);
    }
    let test_side = judged.diagnosis.side == Side::Test;
    let applicable = |last_resort: bool| {
        seen.proposals.iter().find(|proposal| {
            test_side
                && ledger.has(Track::McpRepairs)
                && (proposal.id == RepairId::QuarantineStep) == last_resort
                && proposal.changes_something()
                && !memory.is_ineffective(proposal)
        })
    };
    let repair = applicable(false);
    let retry = judged.diagnosis.retryable == Some(true) && ledger.has(Track::Retries);
    let second_timeout = is_timeout(&judged.failure, judged.diagnosis.error_category)
        && memory.timed_out_before(&judged.failure);
    if repair.is_some() && (second_timeout || !retry) {
        return (Ask::Repair, repair);
    }
    if retry {
        return (Ask::Retry, repair);
    }
    if may_confirm(judged, ledger) {
        return (Ask::Confirm, None);
    }
    if test_side && ledger.has(Track::TestFixes) {
        return (Ask::FixTests, None);
    }
    if let Some(quarantine) = applicable(true) {
        return (Ask::Quarantine, Some(quarantine));
    }
    if may_refine(judged, ledger, policy) {
        return (Ask::RefineCode, None);
    }
    (Ask::Nothing, None)
}

/// Seen once, and seeing it again could tell more.
fn may_confirm(judged: &Judged, ledger: &BudgetLedger) -> bool {
    judged.blame == Blame::Open
        && judged.sightings() == 1
        && !judged.is_settled_by_excuse
        && ledger.may_confirm(&judged.diagnosis.test_fingerprint)
}

fn may_refine(judged: &Judged, ledger: &BudgetLedger, policy: &Policy) -> bool {
    judged.is_code()
        && ledger.has(Track::CodeRefines)
        && (policy.trust_plan || !judged.is_doubtful())
}
