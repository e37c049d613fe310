//! What a run is told, and the world it acts in.

use super::call_flags::CallFlags;
use super::contract::PlanReads;
use super::revision::{ResultSettings, StoredSnapshots};
use super::seen::{KnownFailures, Means, PassedBefore};
use crate::repair::FsFacts;
use indexmap::IndexMap;
use jelly_base::model::{Budgets, Diagnosis, EventSink, Failure, RunReport, Warnings};
use jelly_base::text::redact::Redactor;
use jelly_plan::{Hooks, Plan, Scope};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of one run of one plan, all of them resolved.
#[derive(Debug, Clone)]
pub struct LoopSettings {
    pub run_id: String,
    /// RFC 3339, for the report; the loop itself looks at no wall clock.
    pub started_at: String,
    /// As shown in the report.
    pub report_dir: Option<String>,
    /// Where reports go, where that is not the default: what commands to paste
    /// have to say.
    pub reports_dir: Option<String>,
    /// What a command for another run has to repeat.
    pub call_flags: CallFlags,
    /// Absolute.
    pub project_dir: PathBuf,
    /// As resolved from plan, settings and flags; a track without a hook, or
    /// that is switched off below, counts as 0.
    pub budgets: Budgets,
    /// As resolved from plan and flags.
    pub hooks: Hooks,
    /// The limit of one hook's run.
    pub hook_timeout: Duration,
    /// `--no-repair` makes it false.
    pub repair: bool,
    /// `--no-confirm` makes it false.
    pub confirm: bool,
    pub accept_repairs: bool,
    pub strict: bool,
    pub trust_plan: bool,
    pub seed: u64,
    pub redactor: Redactor,
    /// What passed in earlier runs.
    pub passed_before: PassedBefore,
    /// What a list names as known.
    pub known: KnownFailures,
    /// Which plan it is, in every checkout; as of [`Beside`](super::Beside).
    pub plan_identity: String,
    /// What changes how answers come about, or how they are judged.
    pub results: ResultSettings,
    /// What `${env:…}` and `${secret:…}` read.
    pub env: BTreeMap<String, String>,
    /// Variables set from outside; they hold against those of the plan, also
    /// after the plan was edited or read again.
    pub vars: IndexMap<String, Value>,
}

impl LoopSettings {
    /// What the budgets in effect leave out.
    pub(super) fn means(&self) -> Means {
        let has = |hook: &Option<Vec<String>>| hook.as_ref().is_some_and(|argv| !argv.is_empty());
        Means {
            fix_tests: has(&self.hooks.fix_tests),
            refine_code: has(&self.hooks.refine_code),
            no_repair: !self.repair,
            mcp_repairs: self.budgets.mcp_repairs,
            no_confirm: !self.confirm,
            confirms: self.budgets.confirms,
        }
    }

    /// The budgets that can be spent at all.
    #[must_use]
    pub fn effective_budgets(&self) -> Budgets {
        let allowed = |budget: u32, allowed: bool| if allowed { budget } else { 0 };
        let has = |hook: &Option<Vec<String>>| hook.as_ref().is_some_and(|argv| !argv.is_empty());
        let budgets = self.budgets;
        Budgets {
            confirms: allowed(budgets.confirms, self.confirm),
            mcp_repairs: allowed(budgets.mcp_repairs, self.repair),
            test_fixes: allowed(budgets.test_fixes, has(&self.hooks.fix_tests)),
            code_refines: allowed(budgets.code_refines, has(&self.hooks.refine_code)),
            ..budgets
        }
    }

    /// What names mean to repairs: nothing captured, no port chosen yet.
    pub(super) fn scope(&self, plan: &Plan) -> Scope {
        // Of `${tmp}` nobody knows here where it will be; a path below it is
        // no repair's business, so any place will do.
        let tmp = self.project_dir.join(".jelly-tmp");
        let scope = Scope::new(
            self.project_dir.clone(),
            tmp,
            self.env.clone(),
            BTreeMap::new(),
            &plan.vars,
        );
        Scope {
            files: plan.files.clone(),
            ..scope
        }
    }
}

/// Where reports go; says why one could not be written.
pub type ReportSink<'a> = dyn FnMut(&RunReport, PlanTexts<'_>) -> Result<(), String> + 'a;

/// The texts of plans that lie beside a report, redacted.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanTexts<'a> {
    /// The plan where repairs have changed it.
    pub repaired: Option<&'a str>,
    /// By file name, what it was around the hooks that may change it.
    pub kept: &'a [(String, String)],
}

/// What the loop reaches the world through.
pub struct Surroundings<'a, E, H> {
    pub executor: &'a mut E,
    pub hooks: &'a mut H,
    /// Triage.
    pub diagnose: &'a dyn Fn(&Failure) -> Diagnosis,
    pub fs: &'a dyn FsFacts,
    pub events: EventSink,
    /// All in it stand in the reports, whoever warned.
    pub warnings: Warnings,
    /// What is stored now for the snapshots of a plan.
    pub stored: &'a dyn Fn(&Plan) -> StoredSnapshots,
    /// All that a plan reads besides its own file, as it is now.
    pub reads: &'a dyn Fn(&Plan) -> PlanReads,
    /// Gets the report so far after every iteration, and the final one in the
    /// end. A failure to write it is remembered: such a run is never green.
    pub on_iteration: &'a mut ReportSink<'a>,
}
