//! The part of the driver that calls hooks and takes their effects in.

use super::apply;
use super::bundle;
use super::executor::Executor;
use super::hooks::{Hook, HookCall, HookRunner, succeeded};
use super::run::{Pass, Run};
use super::verdict::Taint;
use crate::model::{Event, HookReport};
use crate::plan::PlanSource;
use std::rc::Rc;
use tokio::time::Instant;

const TAMPERED: &str = "the hook refine_code changed the plan file: the run stops, since the plan is what the code is measured by";

impl<E: Executor, H: HookRunner> Run<'_, E, H> {
    /// Runs a hook and takes its effect in; says whether the run goes on.
    pub(super) async fn hook(&mut self, hook: Hook, pass: &mut Pass) -> bool {
        self.publish_progress();
        let on_disk = |run: &Self| std::fs::read(&run.original.path).ok();
        let before = on_disk(self);
        let Some(report) = self.call(hook).await else {
            return false;
        };
        let went_well = succeeded(&report);
        let error = report.error.clone().unwrap_or_else(|| "failed".to_owned());
        if let Some(last) = self.iterations.last_mut() {
            last.action.hook = Some(report);
        }
        if hook == Hook::RefineCode && before != on_disk(self) {
            self.course.tainted = Some(Taint::PlanTampered);
            self.amend("the hook changed the plan, which it must not");
            self.warn(TAMPERED);
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
            argv: argv
                .iter()
                .map(|arg| self.settings.redactor.redact(arg).into_owned())
                .collect(),
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
}
