//! A stage for whole runs: a scripted executor, scripted hooks, a plan in a
//! folder of its own, and all that happened written down.

use super::support::diagnosis;
use crate::triage_loop::{
    CallFlags, Executor, Hook, HookCall, HookRunner, IterationContext, KnownFailures, LoopSettings,
    Outcome, PassedBefore, PlanReads, PlanTexts, RealFs, ResultSettings, StoredSnapshots,
    Surroundings, run,
};
use indexmap::IndexMap;
use jelly_base::model::{
    Budgets, Event, EventSink, Exit, Failure, HookReport, IterationRecord, RunReport, Side, Signal,
    Warnings,
};
use jelly_base::text::redact::Redactor;
use jelly_plan::{Hooks, Plan, PlanSource};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

type Play<'s> = dyn FnMut(&Plan, &IterationContext<'_>) -> IterationRecord + 's;

/// Plays the iterations of a script; the last one again where it ends.
pub(super) struct Script<'s> {
    /// Makes the record of an iteration from the plan as repaired by then.
    pub(super) play: Box<Play<'s>>,
    /// A signal comes while the loop waits or a hook runs.
    pub(super) signal: Option<Signal>,
    /// One that came while it does not wait.
    pub(super) at_work: Rc<Cell<Option<Signal>>>,
    pub(super) executed: Vec<Executed>,
}

/// What an iteration was executed with.
pub(super) struct Executed {
    pub(super) plan: Plan,
    pub(super) quarantined: BTreeSet<String>,
    pub(super) new_ports_for: BTreeSet<String>,
}

impl<'s> Script<'s> {
    pub(super) fn new(
        play: impl FnMut(&Plan, &IterationContext<'_>) -> IterationRecord + 's,
    ) -> Self {
        Self {
            play: Box::new(play),
            signal: None,
            at_work: Rc::default(),
            executed: Vec::new(),
        }
    }
}

impl Executor for Script<'_> {
    async fn execute(
        &mut self,
        plan: &Rc<Plan>,
        context: &IterationContext<'_>,
    ) -> IterationRecord {
        self.executed.push(Executed {
            plan: Plan::clone(plan),
            quarantined: context.quarantined.clone(),
            new_ports_for: context.new_ports_for.clone(),
        });
        (self.play)(plan, context)
    }

    async fn rest(&mut self) -> Option<IterationRecord> {
        None
    }

    fn signal(&self) -> Option<Signal> {
        self.at_work.get()
    }

    async fn interrupted(&mut self) -> Signal {
        match self.signal {
            Some(signal) => signal,
            None => std::future::pending().await,
        }
    }
}

/// Hooks whose ends are scripted by number of call.
pub(super) struct ScriptedHooks<'s> {
    /// Whether the hook says that something changed.
    pub(super) end: Box<dyn FnMut(Hook, usize) -> bool + 's>,
    pub(super) calls: Vec<(Hook, serde_json::Value)>,
}

impl<'s> ScriptedHooks<'s> {
    pub(super) fn new(end: impl FnMut(Hook, usize) -> bool + 's) -> Self {
        Self {
            end: Box::new(end),
            calls: Vec::new(),
        }
    }
}

impl HookRunner for ScriptedHooks<'_> {
    async fn run(&mut self, call: &HookCall<'_>) -> HookReport {
        let bundle = serde_json::from_slice(call.bundle).unwrap();
        self.calls.push((call.hook, bundle));
        let changed = (self.end)(call.hook, self.calls.len());
        HookReport {
            hook: call.hook.name().into(),
            argv: call.argv.to_vec(),
            exit: Some(Exit {
                code: Some(i32::from(!changed)),
                signal: None,
            }),
            error: (!changed).then(|| "ended with exit code 1".to_owned()),
            elapsed_ms: 1,
            ..HookReport::default()
        }
    }
}

/// A project folder with a plan in it.
pub(super) struct Stage {
    pub(super) dir: PathBuf,
    pub(super) settings: LoopSettings,
    /// Every report that was handed out.
    pub(super) reports: Vec<RunReport>,
    pub(super) repaired: Vec<Option<String>>,
    /// The plans that lay beside the last report.
    pub(super) kept: Vec<(String, String)>,
    /// What the plan reads besides its snapshots.
    pub(super) reads: PlanReads,
    /// Writing reports fails.
    pub(super) disk_full: bool,
    pub(super) events: Rc<RefCell<Vec<Event>>>,
}

pub(super) fn settings(dir: &Path) -> LoopSettings {
    LoopSettings {
        run_id: "run".into(),
        started_at: "2026-01-01T00:00:00Z".into(),
        report_dir: None,
        reports_dir: None,
        call_flags: CallFlags::default(),
        project_dir: dir.to_owned(),
        budgets: Budgets::default(),
        hooks: Hooks::default(),
        hook_timeout: Duration::from_secs(60),
        repair: true,
        confirm: true,
        accept_repairs: false,
        strict: false,
        trust_plan: false,
        seed: 7,
        redactor: Redactor::none(),
        passed_before: PassedBefore::default(),
        known: KnownFailures::default(),
        plan_identity: "plan.yaml".into(),
        results: ResultSettings::default(),
        env: BTreeMap::new(),
        vars: IndexMap::new(),
    }
}

pub(super) fn both_hooks() -> Hooks {
    Hooks {
        refine_code: Some(vec!["./refine".into()]),
        fix_tests: Some(vec!["./fix".into()]),
    }
}

/// The texts themselves, which tell two of them apart as well as digests.
pub(super) fn stored(plan: &Plan) -> StoredSnapshots {
    let folder = plan.source.path.with_file_name("snapshots");
    let text = |name: &String| std::fs::read_to_string(folder.join(name)).ok();
    let names = plan.snapshot_names();
    names
        .into_iter()
        .map(|name| (name.clone(), text(&name)))
        .collect()
}

impl Stage {
    /// The folder must exist; the plan is written into it.
    pub(super) fn new(dir: &Path, plan: &str) -> Self {
        let dir = dir.canonicalize().unwrap();
        std::fs::write(dir.join("plan.yaml"), plan).unwrap();
        Self {
            settings: settings(&dir),
            dir,
            reports: Vec::new(),
            repaired: Vec::new(),
            kept: Vec::new(),
            reads: PlanReads::default(),
            disk_full: false,
            events: Rc::default(),
        }
    }

    pub(super) fn plan_path(&self) -> PathBuf {
        self.dir.join("plan.yaml")
    }

    /// Runs it with time that does not pass by itself.
    pub(super) fn run(
        &mut self,
        script: &mut Script<'_>,
        hooks: &mut ScriptedHooks<'_>,
        diagnose: &dyn Fn(&Failure) -> jelly_base::model::Diagnosis,
    ) -> Outcome {
        let source = PlanSource::read(&self.plan_path()).unwrap();
        let plan = jelly_plan::load_with(source, &self.settings.vars).unwrap();
        let events = self.events.clone();
        let (reports, repaired, disk_full) =
            (&mut self.reports, &mut self.repaired, self.disk_full);
        let (kept, others) = (&mut self.kept, self.reads.clone());
        let events: EventSink = Rc::new(move |event| events.borrow_mut().push(event));
        let surroundings = Surroundings {
            executor: script,
            hooks,
            diagnose,
            fs: &RealFs,
            warnings: Warnings::new(events.clone()),
            events,
            stored: &stored,
            reads: &|plan| {
                let mut reads = others.clone();
                reads.snapshots = stored(plan);
                reads.selected = plan.all_steps().map(|step| step.id.clone()).collect();
                reads
            },
            on_iteration: &mut |report: &RunReport, texts: PlanTexts<'_>| {
                reports.push(report.clone());
                repaired.push(texts.repaired.map(str::to_owned));
                *kept = texts.kept.to_vec();
                if disk_full {
                    Err("no space left on device".to_owned())
                } else {
                    Ok(())
                }
            },
        };
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap()
            .block_on(run(plan, &self.settings, surroundings))
    }
}

/// Reads the diagnosis off a failure's message, as in `test missing_file`,
/// `code crashed_during_call` or `retry connection_refused`.
pub(super) fn by_message(failure: &Failure) -> jelly_base::model::Diagnosis {
    let message = failure.message.as_deref().unwrap_or_default();
    let mut words = message.split(' ');
    let side = words.next().unwrap_or_default();
    let cause = words.next().unwrap_or_default();
    let owner = failure
        .step
        .as_deref()
        .or(failure.server.as_deref())
        .unwrap_or_default();
    let mut diagnosis = diagnosis(
        if side == "code" {
            Side::Code
        } else {
            Side::Test
        },
        cause,
        owner,
    );
    diagnosis.retryable = Some(side == "retry");
    diagnosis.test_fingerprint = format!("{}@{owner}", message.replace(' ', "-"));
    diagnosis
}
