//! What hooks must not take away from: the plan as it was, kept to be compared
//! and to be shown.

use super::contract::PlanReads;
use super::hooks::Hook;
use jelly_base::text::redact::Redactor;
use jelly_plan::{Plan, PlanSource, shown_plan};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The plans that hooks are measured by.
pub(super) struct ReferencePlans {
    /// The plan that the run began with.
    pub(super) first: Rc<Plan>,
    /// What that plan read when the first hook was called: nobody else may
    /// change it.
    pub(super) first_reads: Option<PlanReads>,
    /// As its owner, or the last hook, wrote it.
    pub(super) written: Rc<Plan>,
    /// Calls of `fix_tests`.
    calls: u32,
    /// By file name; not redacted yet, since more secrets may come to be known.
    texts: BTreeMap<String, PlanSource>,
}

impl ReferencePlans {
    pub(super) fn new(plan: Rc<Plan>) -> Self {
        Self {
            first: plan.clone(),
            first_reads: None,
            written: plan,
            calls: 0,
            texts: BTreeMap::new(),
        }
    }

    /// Keeps the texts around a call of `fix_tests`; gives the names that the
    /// files get.
    pub(super) fn keep(&mut self, before: &PlanSource, after: Option<&str>) -> Vec<String> {
        self.calls += 1;
        let hook = Hook::FixTests.name();
        // Of JSON too: what is masked says so in a comment.
        let name = |when: &str| format!("plan-{when}-{hook}-{}.yaml", self.calls);
        let mut kept = vec![(name("before"), before.clone())];
        if let Some(after) = after.filter(|after| **after != *before.text) {
            let text = after.into();
            kept.push((
                name("after"),
                PlanSource {
                    text,
                    ..before.clone()
                },
            ));
        }
        let names = kept.iter().map(|(name, _)| name.clone()).collect();
        self.texts.extend(kept);
        names
    }

    pub(super) fn kept(&self, redactor: &Redactor) -> Vec<(String, String)> {
        let texts = self.texts.iter();
        texts
            .map(|(name, source)| (name.clone(), shown_plan(source, redactor)))
            .collect()
    }
}
