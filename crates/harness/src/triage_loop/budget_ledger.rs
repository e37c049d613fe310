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
        let spent = match track {
            Track::Retries => &mut self.spent.retries,
            Track::Confirms => &mut self.spent.confirms,
            Track::McpRepairs => &mut self.spent.mcp_repairs,
            Track::TestFixes => &mut self.spent.test_fixes,
            Track::CodeRefines => &mut self.spent.code_refines,
        };
        *spent = spent.saturating_add(1);
    }

    pub(super) fn iterated(&mut self, index: u32) {
        self.spent.iterations = index;
    }

    pub(super) fn close(&mut self, track: Track) {
        self.closed.insert(track);
    }

    fn left(&self, track: Track) -> u32 {
        match track {
            Track::Retries => self.budgets.retries.saturating_sub(self.spent.retries),
            // Of the failure that was confirmed most often.
            Track::Confirms => {
                let most = self.confirmed.values().copied().max().unwrap_or(0);
                self.budgets.confirms.saturating_sub(most)
            }
            Track::McpRepairs => self
                .budgets
                .mcp_repairs
                .saturating_sub(self.spent.mcp_repairs),
            Track::TestFixes => self
                .budgets
                .test_fixes
                .saturating_sub(self.spent.test_fixes),
            Track::CodeRefines => self
                .budgets
                .code_refines
                .saturating_sub(self.spent.code_refines),
        }
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
