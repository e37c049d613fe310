//! The loop: run → classify → repair or retry under budgets → rerun → pass,
//! fail, or stop and ask.
//!
//! [`LoopState`] is the loop as a pure state machine; [`run`] is the thin
//! driver round it, which reaches execution through [`Executor`] and hooks
//! through [`HookRunner`]. Must not know how a plan is executed, nor how a
//! report is shown.

mod alike;
mod apply;
mod ask;
mod assemble;
mod backoff;
mod budget_ledger;
mod bundle;
mod call_flags;
mod contract;
mod decide;
mod earlier;
mod executor;
mod help;
mod help_cases;
mod help_compared;
mod help_excuse;
mod help_problem;
mod hooks;
mod judge;
mod loop_limit;
mod memory;
mod one_side;
mod proofs;
mod proven_code;
mod real_fs;
mod reason;
mod reference_plans;
mod revision;
mod run;
mod run_hook;
mod run_report;
mod seen;
mod settings;
mod standing;
mod undo;
mod verdict;
mod work_tree;

pub use bundle::Bundle;
pub use call_flags::{CallFlag, CallFlags};
pub use contract::PlanReads;
pub use decide::{Action, Decision, Flaky, LoopState};
pub use earlier::{EarlierStep, Ran, earlier_steps};
pub use executor::{Executor, IterationContext};
pub use hooks::{CommandHooks, Hook, HookCall, HookRunner, succeeded};
pub use judge::Judged;
pub use loop_limit::LoopLimit;
pub use memory::Tried;
pub use proofs::Proof;
pub use proven_code::{ProvenCode, proven_code};
pub use real_fs::RealFs;
pub use revision::{Beside, ResultSettings, StoredSnapshots, definitions, step_facts};
pub use run::{Outcome, foundations, run};
pub use seen::{
    Foundations, KnownFailures, Means, Observation, PassedBefore, Policy, Revision, Seen, StepFacts,
};
pub use settings::{LoopSettings, PlanTexts, ReportSink, Surroundings};
pub use standing::Standings;
pub use verdict::{Course, Ending, Taint, conclude};
pub use work_tree::WorkTree;

#[cfg(test)]
mod tests;
