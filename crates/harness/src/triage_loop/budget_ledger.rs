//! The budgets of a run and what was spent of each: nobody pays for another.

use super::seen::Means;
use jelly_base::model::{Budgets, BudgetsReport, Spent, Track};
use std::collections::{BTreeMap, BTreeSet};

/// What may still be spent.
#[derive(Debug, Clone)]
pub(super) struct BudgetLedger {
    budgets: Budgets,
    spent: Spent,
    /// Confirmations by test fingerprint.
    confirmed: BTreeMap<String, u32>,
    /// Tracks that ended before their budget did.
    closed: BTreeSet<Track>,
}

impl BudgetLedger {
    pub(super) fn new(budgets: Budgets) -> Self {
        Self {
            budgets,
            spent: Spent::default(),
            confirmed: BTreeMap::new(),
            closed: BTreeSet::new(),
        }
    }

    /// The same as if every budget had no end, but for the tracks that ended
    /// before theirs did, and those that no budget would open.
    pub(super) fn without_end(&self, means: Means) -> Self {
        let open = |there: bool| if there { u32::MAX } else { 0 };
        let Budgets {
            max_iterations,
            retries: _,
            confirms: _,
            mcp_repairs: _,
            test_fixes: _,
            code_refines: _,
            deadline,
        } = self.budgets;
        Self {
            budgets: Budgets {
                max_iterations,
                retries: u32::MAX,
                confirms: u32::MAX,
                mcp_repairs: u32::MAX,
                test_fixes: open(means.fix_tests),
                code_refines: open(means.refine_code),
                deadline,
            },
            spent: Spent::default(),
            confirmed: BTreeMap::new(),
            closed: self.closed.clone(),
        }
    }

    pub(super) fn spent(&self) -> Spent {
        self.spent
    }

    /// Whether the track may be used once more. For confirming, ask
    /// [`BudgetLedger::may_confirm`], since that is counted per failure.
    pub(super) fn has(&self, track: Track) -> bool {
        !self.closed.contains(&track) && self.left(track) > 0
    }

    pub(super) fn may_confirm(&self, fingerprint: &str) -> bool {
        self.confirmed.get(fingerprint).copied().unwrap_or(0) < self.budgets.confirms
    }

    pub(super) fn charge_confirm(&mut self, fingerprint: &str) {
        let spent = self.confirmed.entry(fingerprint.to_owned()).or_default();
        *spent = spent.saturating_add(1);
    }

    pub(super) fn charge(&mut self, track: Track) {
        let spent = spent(&mut self.spent, track);
        *spent = spent.saturating_add(1);
    }

    pub(super) fn iterated(&mut self, index: u32) {
        self.spent.iterations = index;
    }

    pub(super) fn close(&mut self, track: Track) {
        self.closed.insert(track);
    }

    fn left(&self, track: Track) -> u32 {
        let mut so_far = self.spent;
        let spent = match track {
            // Of the failure that was confirmed most often.
            Track::Confirms => self.confirmed.values().copied().max().unwrap_or(0),
            track => *spent(&mut so_far, track),
        };
        allowed(&self.budgets, track).saturating_sub(spent)
    }

    /// What is left of each budget. Confirming is counted per failure, so its
    /// figure is that of the failure that was confirmed most often.
    pub(super) fn report(&self) -> BudgetsReport {
        BudgetsReport {
            iterations: self
                .budgets
                .max_iterations
                .saturating_sub(self.spent.iterations),
            retries: self.left(Track::Retries),
            confirms: self.left(Track::Confirms),
            mcp_repairs: self.left(Track::McpRepairs),
            test_fixes: self.left(Track::TestFixes),
            code_refines: self.left(Track::CodeRefines),
        }
    }
}

/// The budget of a track.
pub(super) fn allowed(budgets: &Budgets, track: Track) -> u32 {
    match track {
        Track::Retries => budgets.retries,
        Track::Confirms => budgets.confirms,
        Track::McpRepairs => budgets.mcp_repairs,
        Track::TestFixes => budgets.test_fixes,
        Track::CodeRefines => budgets.code_refines,
    }
}

fn spent(spent: &mut Spent, track: Track) -> &mut u32 {
    match track {
        Track::Retries => &mut spent.retries,
        Track::Confirms => &mut spent.confirms,
        Track::McpRepairs => &mut spent.mcp_repairs,
        Track::TestFixes => &mut spent.test_fixes,
        Track::CodeRefines => &mut spent.code_refines,
    }
}
