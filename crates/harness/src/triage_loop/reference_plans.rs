//! What hooks must not take away from: the plan as it was, kept to be compared
//! and to be shown.

use super::contract::PlanReads;
use super::hooks::Hook;
use jelly_base::text::file_name;
use jelly_base::text::redact::{Redactor, mask_text};
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
    /// Calls that texts were kept of, by the name of the hook.
    calls: BTreeMap<&'static str, u32>,
    /// By file name; not redacted yet, since more secrets may come to be known.
    texts: BTreeMap<String, KeptText>,
}

/// A text from around a hook.
struct KeptText {
    source: PlanSource,
    /// A plan, or a part of one.
    is_plan: bool,
}

impl KeptText {
    fn shown(&self, redactor: &Redactor) -> String {
        match self.is_plan {
            true => shown_plan(&self.source, redactor),
            false => {
                let mut text = self.source.text.to_string();
                mask_text(&mut text);
                redactor.redact(&text).into_owned()
            }
        }
    }
}

impl ReferencePlans {
    pub(super) fn new(plan: Rc<Plan>) -> Self {
        Self {
            first: plan.clone(),
            first_reads: None,
            written: plan,
            calls: BTreeMap::new(),
            texts: BTreeMap::new(),
        }
    }

    /// Keeps the texts around a call of a hook; gives the names that the files
    /// get.
    pub(super) fn keep(
        &mut self,
        hook: Hook,
        before: &PlanSource,
        after: Option<&str>,
    ) -> Vec<String> {
        let calls = self.calls.entry(hook.name()).or_default();
        *calls += 1;
        // Of JSON too: what is masked says so in a comment.
        let name = |when: &str| format!("plan-{when}-{}-{calls}.yaml", hook.name());
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
        let kept = kept.into_iter().map(|(name, source)| {
            let is_plan = true;
            (name, KeptText { source, is_plan })
        });
        self.texts.extend(kept);
        names
    }

    /// Keeps what a file held that the plan reads, as it was before the hook that was
    /// called last; gives the name that it gets.
    pub(super) fn keep_read(&mut self, hook: Hook, file: PlanSource, is_plan: bool) -> String {
        let calls = self.calls.get(hook.name()).copied().unwrap_or(1);
        let own = file.path.file_name().unwrap_or_default();
        let own = own.to_string_lossy().into_owned();
        let begin = format!("before-{}-{calls}", hook.name());
        // As the folder of the report has it.
        let mut name = file_name(&format!("{begin}-{own}"));
        let mut at = 1;
        while self.texts.contains_key(&name) {
            at += 1;
            name = file_name(&format!("{begin}-{at}-{own}"));
        }
        let kept = KeptText {
            source: file,
            is_plan,
        };
        self.texts.insert(name.clone(), kept);
        name
    }

    pub(super) fn kept(&self, redactor: &Redactor) -> Vec<(String, String)> {
        let texts = self.texts.iter();
        texts
            .map(|(name, kept)| (name.clone(), kept.shown(redactor)))
            .collect()
    }

    /// Whether the file of this name holds all that was in the text.
    pub(super) fn is_whole(&self, name: &str, redactor: &Redactor) -> bool {
        let kept = self.texts.get(name);
        kept.is_some_and(|kept| kept.shown(redactor) == *kept.source.text)
    }
}
