//! The part of the driver that calls hooks and takes their effects in.

use super::apply;
use super::bundle;
use super::executor::Executor;
use super::hooks::{Hook, HookCall, HookRunner, shown, succeeded};
use super::revision::StoredSnapshots;
use super::run::{Pass, Run};
use super::verdict::Taint;
use crate::model::{Event, HookReport};
use crate::plan::{Plan, PlanSource};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use tokio::time::Instant;

/// So many steps that lost something are named.
const SHOWN: usize = 10;

/// What a plan expects lies in its file and in its snapshots.
struct Yardstick {
    plan: Option<Vec<u8>>,
    snapshots: StoredSnapshots,
}

impl Yardstick {
    /// What is another one after, in words.
    fn changed_to(&self, after: &Self) -> Option<String> {
        if self.plan != after.plan {
            return Some("the plan file".to_owned());
        }
        let names: BTreeSet<&String> = self
            .snapshots
            .keys()
            .chain(after.snapshots.keys())
            .collect();
        let mut names = names.into_iter();
        let changed = names.find(|name| self.snapshots.get(*name) != after.snapshots.get(*name))?;
        Some(format!("the snapshot `{changed}`"))
    }
}

impl<E: Executor, H: HookRunner> Run<'_, E, H> {
    /// Runs a hook and takes its effect in; says whether the run goes on.
    pub(super) async fn hook(&mut self, hook: Hook, pass: &mut Pass) -> bool {
        self.publish_progress();
        let before = self.yardstick();
        let Some(report) = self.call(hook).await else {
            return false;
        };
        let went_well = succeeded(&report);
        let error = report.error.clone().unwrap_or_else(|| "failed".to_owned());
        if let Some(last) = self.iterations.last_mut() {
            last.action.hook = Some(report);
        }
        if hook == Hook::RefineCode
            && let Some(what) = before.changed_to(&self.yardstick())
        {
            self.course.tainted = Some(Taint::PlanTampered);
            self.amend(&format!("the hook changed {what}, which it must not"));
            self.warn(&format!(
                "the hook refine_code changed {what}: the run stops, since that is what the \
                 code is measured by"
            ));
            return false;
        }
        if !went_well {
            self.amend(&format!("the hook {error}"));
            return self.go_on_without(hook, pass).await;
        }
        self.course.repaired = true;
        let usable = match hook {
            Hook::FixTests => self.reread(),
            Hook::RefineCode => {
                self.state.code_refined();
                true
            }
        };
        self.publish_progress();
        usable && self.in_time()
    }

    /// What the code is measured by, as it is on disk now.
    fn yardstick(&self) -> Yardstick {
        Yardstick {
            plan: std::fs::read(&self.original.path).ok(),
            snapshots: (self.around.stored)(&self.plan),
        }
    }

    /// A hook that changed nothing ends its track and costs no iteration: the
    /// same one may still have something else to try.
    async fn go_on_without(&mut self, hook: Hook, pass: &mut Pass) -> bool {
        pass.before.charge(hook.track());
        pass.before.close(hook.track());
        let (decision, applied) = self.decide(pass);
        let Some(applied) = applied else {
            // The hook may have used up all the time there was.
            self.in_time();
            return false;
        };
        let repairs = self.adopt(applied);
        self.amend(&decision.reason);
        if let Some(last) = self.iterations.last_mut() {
            last.action.kind = decision.action.kind();
            last.action.repairs = repairs;
            last.budgets.after = decision.budgets.after;
        }
        self.publish_progress();
        self.wait(&decision).await
    }

    /// Calls the hook; absent when a signal ended the run meanwhile.
    async fn call(&mut self, hook: Hook) -> Option<HookReport> {
        let argv = match hook {
            Hook::FixTests => self.settings.hooks.fix_tests.as_deref(),
            Hook::RefineCode => self.settings.hooks.refine_code.as_deref(),
        }
        .unwrap_or_default();
        self.emit(Event::HookStarted {
            hook: hook.name().to_owned(),
            argv: shown(argv, &self.settings.redactor),
        });
        let bundle = bundle::bundle(
            hook,
            &self.plan.source.path.display().to_string(),
            self.iterations.last(),
            &self.settings.redactor,
        );
        let now = Instant::now();
        let limit = self
            .settings
            .hook_timeout
            .min(self.deadline.saturating_duration_since(now));
        let call = HookCall {
            hook,
            argv,
            bundle: &bundle,
            until: now + limit,
            limit,
        };
        let signal = tokio::select! {
            biased;
            signal = self.around.executor.interrupted() => signal,
            report = self.around.hooks.run(&call) => return Some(report),
        };
        self.interrupt(signal);
        None
    }

    /// After `fix_tests` the file is the truth: what was repaired in memory is
    /// dropped, and the plan read and checked again.
    fn reread(&mut self) -> bool {
        let plan = PlanSource::read(&self.original.path)
            .map_err(|e| e.to_string())
            .and_then(|source| {
                let variant = self.original.variant.clone();
                let source = PlanSource { variant, ..source };
                apply::load(source, self.settings).map_err(|e| e.to_string())
            });
        match plan {
            Ok(plan) => {
                self.learn_secrets(&plan);
                if let Some(lost) = lost(&self.plan, &plan) {
                    self.warn(&format!("fix_tests took expectations away: {lost}"));
                }
                if self.plan.source.text != self.original.text {
                    self.warn("the plan was read again after fix_tests; the repairs made in memory were dropped");
                }
                self.original = plan.source.clone();
                self.plan = Rc::new(plan);
                self.quarantined.clear();
                self.course.contract_changed = false;
                self.state.plan_replaced(self.course.iterations);
                true
            }
            Err(error) => {
                self.amend("the plan that it left can't be used");
                self.warn(&format!("after fix_tests the plan can't be used: {error}"));
                false
            }
        }
    }

    /// Before anything of the plan is shown. What the hook itself has printed
    /// is kept already.
    fn learn_secrets(&mut self, plan: &Plan) {
        let settings = self.settings;
        settings.redactor.learn(plan.hidden(&settings.env));
        let hook = self
            .iterations
            .last_mut()
            .and_then(|i| i.action.hook.as_mut());
        for text in hook.into_iter().flat_map(|hook| {
            let output = [&mut hook.stdout, &mut hook.stderr];
            output
                .into_iter()
                .chain(&mut hook.error)
                .chain(&mut hook.argv)
        }) {
            if let Cow::Owned(shown) = settings.redactor.redact(text) {
                *text = shown;
            }
        }
    }
}

/// The steps that `after` lacks, and those of which it expects less: whoever
/// wrote it may do that, and whoever reads the report should know.
fn lost(before: &Plan, after: &Plan) -> Option<String> {
    let expected: BTreeMap<&str, usize> = after
        .all_steps()
        .map(|step| (step.id.as_str(), step.expect.predicates().count()))
        .collect();
    let lost: Vec<String> = before
        .all_steps()
        .filter_map(|step| match expected.get(step.id.as_str()) {
            None => Some(format!("step {} is gone", step.id)),
            Some(&left) if left < step.expect.predicates().count() => {
                Some(format!("step {} expects less", step.id))
            }
            Some(_) => None,
        })
        .collect();
    let more = lost.len().saturating_sub(SHOWN);
    match lost.len() {
        0 => None,
        1..=SHOWN => Some(lost.join(", ")),
        _ => Some(format!("{}, and {more} more", lost[..SHOWN].join(", "))),
    }
}
