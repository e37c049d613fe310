//! The part of the driver that calls hooks and takes their effects in.

use super::apply;
use super::bundle;
use super::contract::{PlanReads, bounded};
use super::executor::Executor;
use super::hooks::{Hook, HookCall, HookRunner, shown, succeeded};
use super::run::{Pass, Run};
use super::undo::{LeftByHook, LeftFile, TextBefore};
use super::verdict::Taint;
use super::work_tree::WorkTree;
use jelly_base::model::{Event, HookReport, PlanChange};
use jelly_base::text::redact::mask_text;
use jelly_plan::{Plan, PlanSource, compare, shown_diff};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use tokio::time::Instant;

/// So many changes, or files, are named in a sentence.
const SHOWN: usize = 10;

/// How everything stood before a hook.
struct Before {
    /// The plan's file.
    text: Option<Vec<u8>>,
    reads: PlanReads,
    tree: Option<WorkTree>,
}

/// What there is after it.
struct Now {
    /// The plan's file, where it can be read.
    text: Option<Arc<str>>,
    reads: PlanReads,
}

/// What a hook left of the plan.
struct Left {
    /// The file, where it can be read.
    source: Option<PlanSource>,
    /// The plan in it, or why there is none.
    plan: Result<Plan, String>,
    reads: PlanReads,
}

impl<E: Executor, H: HookRunner> Run<'_, E, H> {
    /// Runs a hook and takes its effect in; says whether the run goes on.
    pub(super) async fn hook(&mut self, hook: Hook, pass: &mut Pass) -> bool {
        self.publish_progress();
        self.after_hook = true;
        let before = self.before(hook).await;
        let Some(report) = self.call(hook).await else {
            return false;
        };
        let went_well = succeeded(&report);
        let error = report.error.clone().unwrap_or_else(|| "failed".to_owned());
        if let Some(last) = self.iterations.last_mut() {
            last.action.hook = Some(report);
        }
        let left = self.left();
        if let Ok(plan) = &left.plan {
            self.learn_secrets(plan);
        } else if let Some(source) = &left.source {
            self.learn_named(&source.text);
        }
        self.show_diff(hook, &before, &left);
        let now = Now {
            text: left.source.as_ref().map(|source| source.text.clone()),
            reads: left.reads.clone(),
        };
        match hook {
            Hook::RefineCode => {
                if self.is_tampered(&before, &left) {
                    self.note_left(hook, &before, &now);
                    return false;
                }
            }
            Hook::FixTests => self.name_code(&before).await,
        }
        if !went_well {
            self.amend(&format!("the hook {error}"));
            if hook == Hook::FixTests {
                let withstands = self.withstands_failed(&before, left);
                self.note_left(hook, &before, &now);
                if !withstands {
                    return false;
                }
            }
            return self.go_on_without(hook, pass).await;
        }
        self.course.repaired = true;
        let usable = match hook {
            Hook::FixTests => {
                let usable = self.reread(&before, left);
                self.note_left(hook, &before, &now);
                usable
            }
            Hook::RefineCode => {
                self.state.code_refined();
                true
            }
        };
        self.publish_progress();
        usable && self.in_time()
    }

    async fn before(&mut self, hook: Hook) -> Before {
        let reads = (self.around.reads)(&self.reference_plans.written);
        self.reference_plans
            .first_reads
            .get_or_insert_with(|| reads.clone());
        Before {
            text: std::fs::read(&self.original.path).ok(),
            reads,
            tree: match hook {
                Hook::FixTests => {
                    let look = self.around.hooks.work_tree();
                    let looked = tokio::time::timeout_at(self.deadline, look).await;
                    looked.ok().flatten()
                }
                Hook::RefineCode => None,
            },
        }
    }

    fn left(&self) -> Left {
        let (source, plan) = match PlanSource::read(&self.original.path) {
            Ok(source) => {
                let variant = self.original.variant.clone();
                let source = PlanSource { variant, ..source };
                let plan = apply::load(source.clone(), self.settings);
                (Some(source), plan.map_err(|error| error.to_string()))
            }
            Err(error) => (None, Err(error.to_string())),
        };
        let reads = (self.around.reads)(match &plan {
            Ok(plan) => plan,
            Err(_) => &self.reference_plans.written,
        });
        Left {
            source,
            plan,
            reads,
        }
    }

    /// Keeps in the report what the hook did to the plan and to what it reads.
    fn show_diff(&mut self, hook: Hook, before: &Before, left: &Left) {
        let mut told = String::new();
        let after = left.source.as_ref().map(|source| source.text.clone());
        let is_other = before.text.as_deref() != after.as_ref().map(|text| text.as_bytes());
        if is_other {
            let now = PlanSource {
                text: after.clone().unwrap_or_default(),
                ..self.original.clone()
            };
            told = shown_diff(&self.original, &now, &self.settings.redactor);
        }
        let mut of_reads = before.reads.diffs(&left.reads);
        mask_text(&mut of_reads);
        told.push_str(&of_reads);
        let told = self.settings.redactor.redact(&told).into_owned();
        // What refines code has nothing to do with the plan; where it has all the
        // same, the plan must not be lost.
        let plans = match hook == Hook::FixTests || is_other {
            true => self
                .reference_plans
                .keep(hook, &self.original, after.as_deref()),
            false => Vec::new(),
        };
        if let Some(report) = self.last_hook() {
            report.diff = (!told.is_empty()).then(|| bounded(&told));
            report.plans = plans;
        }
    }

    /// Notes what lies in the files otherwise than the run measured it, and keeps what
    /// was there: whoever runs the plan again would run the other one.
    fn note_left(&mut self, hook: Hook, before: &Before, now: &Now) {
        let mut files = Vec::new();
        if now.text.as_deref() != Some(&*self.original.text) {
            let kept = self
                .last_hook()
                .and_then(|hook| hook.plans.first().cloned());
            let path = &self.original.path;
            files.push(LeftFile {
                path: path.display().to_string(),
                is_gone: !path.exists(),
                before: match kept {
                    // What is no file is not written over.
                    Some(name) if path.is_file() || !path.exists() => TextBefore::Kept(name),
                    Some(_) | None => TextBefore::Unknown,
                },
            });
        }
        let is_refused = matches!(
            self.course.tainted,
            Some(Taint::PlanTampered | Taint::PlanWeakened)
        );
        if is_refused {
            files.extend(self.left_reads(hook, before, now));
        }
        self.left_by_hook = match files.is_empty() && !is_refused {
            true => LeftByHook::default(),
            false => LeftByHook::of(hook, files),
        };
    }

    /// The same of the files that the plan reads.
    fn left_reads(&mut self, hook: Hook, before: &Before, now: &Now) -> Vec<LeftFile> {
        let mut files = Vec::new();
        for (path, text) in &before.reads.texts {
            // One that the plan no longer reads is looked at itself.
            let after = match now.reads.texts.get(path) {
                Some(after) => after.clone(),
                None => std::fs::read_to_string(path).ok(),
            };
            if *text == after {
                continue;
            }
            let source = text.as_deref().map(|text| PlanSource {
                path: path.into(),
                text: text.into(),
                variant: None,
            });
            let is_plan = self.plan.included.iter();
            let is_plan = is_plan
                .map(|file| &file.path)
                .any(|file| file == Path::new(path));
            let kept = source.map(|s| self.reference_plans.keep_read(hook, s, is_plan));
            files.push(LeftFile {
                path: path.clone(),
                is_gone: after.is_none(),
                before: kept.map_or(TextBefore::Absent, TextBefore::Kept),
            });
        }
        let sent = before.reads.files.iter();
        let changed = sent.filter(|(path, digest)| {
            let now = now.reads.files.get(*path);
            now.is_some_and(|now| now != *digest) && !before.reads.texts.contains_key(*path)
        });
        files.extend(changed.map(|(path, _)| LeftFile {
            path: path.clone(),
            is_gone: false,
            before: TextBefore::Unknown,
        }));
        files
    }

    /// A file that the plan includes and that says something else now.
    fn changed_include(&self) -> Option<String> {
        let is_other = |file: &&PlanSource| {
            PlanSource::read(&file.path).map_or(true, |now| now.text != file.text)
        };
        let changed = self.plan.included.iter().find(is_other)?;
        Some(changed.path.display().to_string())
    }

    /// The code is measured by the plan, so that refining it must leave that as
    /// it is.
    fn is_tampered(&mut self, before: &Before, left: &Left) -> bool {
        let text = std::fs::read(&self.original.path).ok();
        let plan = left.plan.as_ref().unwrap_or(&self.reference_plans.written);
        let changes = before.reads.changes(&left.reads, plan);
        let what = if before.text != text {
            "the plan file".to_owned()
        } else if let Some(file) = self.changed_include() {
            format!("the included file {file}")
        } else if let Some(first) = changes.first() {
            match (first.operator.as_deref(), &first.path) {
                (Some("snapshot"), Some(name)) => format!("the snapshot `{name}`"),
                (_, _) => format!("what the plan is measured by ({})", first.what),
            }
        } else {
            return false;
        };
        if let Some(report) = self.last_hook() {
            report.changes = changes;
        }
        self.course.tainted = Some(Taint::PlanTampered);
        self.amend(&format!("the hook changed {what}, which it must not"));
        self.warn(&format!(
            "the hook refine_code changed {what}: the run stops, since that is what the code is \
             measured by"
        ));
        true
    }

    /// Names the files that `fix_tests` changed and the plan does not read.
    async fn name_code(&mut self, before: &Before) {
        let Some(tree) = &before.tree else {
            return;
        };
        let look = self.around.hooks.changed_since(tree);
        let changed = tokio::time::timeout_at(self.deadline, look).await;
        let changed = changed.unwrap_or_default();
        let of_plan: Vec<PathBuf> = before
            .reads
            .texts
            .keys()
            .map(PathBuf::from)
            .chain([self.original.path.clone()])
            .map(|path| resolved(&path))
            .collect();
        let own: Vec<PathBuf> = before.reads.own.iter().map(|p| resolved(p)).collect();
        let code: Vec<String> = changed
            .iter()
            .filter(|path| {
                let path = resolved(path);
                !of_plan.contains(&path) && !own.iter().any(|own| path.starts_with(own))
            })
            .map(|path| {
                self.settings
                    .redactor
                    .redact(&tree.shown(path))
                    .into_owned()
            })
            .collect();
        if code.is_empty() {
            return;
        }
        self.warn(&format!(
            "the hook fix_tests changed files that are not part of the plan: {}",
            listed(&code)
        ));
        if let Some(report) = self.last_hook() {
            report.code_changed = code;
        }
    }

    /// A hook that failed has changed the plan to no effect; what steps are
    /// held against is read anew each time, so that this counts all the same.
    fn withstands_failed(&mut self, before: &Before, left: Left) -> bool {
        let plan = self.reference_plans.written.clone();
        let reads = (self.around.reads)(&plan);
        let changes = before.reads.changes(&reads, &plan);
        let is_other = before.text.as_deref() != left.source.as_ref().map(|s| s.text.as_bytes());
        if is_other {
            self.warn(
                "the hook fix_tests failed and left another plan in the file; the run goes on \
                 with the plan that it had, and does not read the file again",
            );
            self.amend("it left another plan in the file, which is not run");
        }
        let mut told = changes.clone();
        if is_other && let Ok(other) = &left.plan {
            told.extend(compare(&plan, other, &self.settings.env));
        }
        if let Some(report) = self.last_hook() {
            report.changes = told;
        }
        self.withstands(&changes)
    }

    /// Whether the plan asks all that it did. Says so where it does not.
    fn withstands(&mut self, changes: &[PlanChange]) -> bool {
        let mut weakens: Vec<String> = Vec::new();
        for change in changes.iter().filter(|change| change.kind.weakens()) {
            if !weakens.contains(&change.what) {
                weakens.push(change.what.clone());
            }
        }
        self.course.contract_changed |= changes.iter().any(|change| !change.kind.weakens());
        if weakens.is_empty() {
            return true;
        }
        self.course.tainted = self.course.tainted.or(Some(Taint::PlanWeakened));
        let told = listed(&weakens);
        self.amend(&format!("then less was tested: {told}"));
        self.warn(&format!(
            "the run stops, since the fix_tests hook reduced what is tested: {told}"
        ));
        false
    }

    fn last_hook(&mut self) -> Option<&mut HookReport> {
        self.iterations.last_mut()?.action.hook.as_mut()
    }

    /// A hook that changed nothing ends its track and costs no iteration: the
    /// same one may still have something else to try.
    async fn go_on_without(&mut self, hook: Hook, pass: &mut Pass) -> bool {
        pass.before.charge(hook.track());
        pass.before.close(hook.track());
        let (decision, applied) = self.decide(pass);
        self.keep_loop_limits(&decision);
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
    fn reread(&mut self, before: &Before, left: Left) -> bool {
        let plan = match left.plan {
            Ok(plan) => plan,
            Err(error) => {
                self.amend("the plan that it left can't be used");
                self.warn(&format!("after fix_tests the plan can't be used: {error}"));
                return false;
            }
        };
        let env = &self.settings.env;
        let mut changes = compare(&self.reference_plans.written, &plan, env);
        changes.extend(before.reads.changes(&left.reads, &plan));
        // Of several hooks, one may take back what another one did.
        let mut all = compare(&self.reference_plans.first, &plan, env);
        if let Some(first) = &self.reference_plans.first_reads {
            all.extend(first.changes(&left.reads, &plan));
        }
        if let Some(report) = self.last_hook() {
            report.changes.clone_from(&changes);
        }
        changes.retain(|change| change.kind.weakens());
        changes.extend(all);
        // What was repaired in memory is gone, and with it what that changed.
        self.course.contract_changed = false;
        if !self.withstands(&changes) {
            return false;
        }
        if self.plan.source.text != self.original.text {
            self.warn(
                "the plan was read again after fix_tests; the repairs made in memory were dropped",
            );
        }
        self.original = plan.source.clone();
        self.plan = Rc::new(plan);
        self.reference_plans.written = self.plan.clone();
        self.quarantined.clear();
        self.state.plan_replaced(self.course.iterations);
        true
    }

    /// Before anything of the plan is shown. What the hook itself has printed
    /// is kept already.
    fn learn_secrets(&mut self, plan: &Plan) {
        let settings = self.settings;
        settings.redactor.learn(plan.hidden(&settings.env));
        let literal = plan.literal_secrets.iter();
        settings
            .redactor
            .learn(literal.map(|(name, value)| (name, value)));
        self.clean_hook();
    }

    /// The secrets that a text names which is no plan.
    fn learn_named(&mut self, text: &str) {
        let settings = self.settings;
        let named = text.split("${secret:").skip(1);
        let names: Vec<&str> = named
            .filter_map(|rest| Some(rest.split_once('}')?.0))
            .collect();
        let secrets = settings.env.iter();
        settings
            .redactor
            .learn(secrets.filter(|(name, _)| names.contains(&name.as_str())));
        self.clean_hook();
    }

    fn clean_hook(&mut self) {
        let settings = self.settings;
        let Some(hook) = self.last_hook() else {
            return;
        };
        let output = [&mut hook.stdout, &mut hook.stderr].into_iter();
        for text in output.chain(&mut hook.error).chain(&mut hook.argv) {
            if let Cow::Owned(shown) = settings.redactor.redact(text) {
                *text = shown;
            }
        }
    }
}

/// The first of them, and how many more there are.
fn listed(all: &[String]) -> String {
    let more = all.len().saturating_sub(SHOWN);
    let shown = all[..all.len() - more].join(", ");
    match more {
        0 => shown,
        _ => format!("{shown}, and {more} more"),
    }
}

/// Without links, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if let Ok(path) = absolute.canonicalize() {
        return path;
    }
    match (
        absolute.parent().and_then(|dir| dir.canonicalize().ok()),
        absolute.file_name(),
    ) {
        (Some(folder), Some(name)) => folder.join(name),
        (_, _) => absolute,
    }
}
