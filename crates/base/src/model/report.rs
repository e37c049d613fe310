//! What a run reports: the contract of `results.json`.

use super::{
    AssertionTarget, Diagnosis, Exit, ExitCode, MismatchPlace, Outcome, Phase, RequestFacts,
    RunCause, ServerReport, Side, StepReport, StepState, Totals, Verdict, json_word,
};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;

/// Version of `results.json`; raised when a field changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// The fields of `results.json` that may differ between two runs of the same
/// plan, seed and server.
pub const VOLATILE_FIELDS: &[&str] = &[
    "run_id",
    "started_at",
    "started_ms",
    "ended_ms",
    "duration_ms",
    "startup_ms",
    "elapsed_ms",
    "backoff_ms",
    "report_dir",
];

/// What an iteration did next.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    RepairMcpPlan,
    Retry,
    Confirm,
    FixTests,
    RefineCode,
    #[default]
    Stop,
}

/// One repair, as proposed and applied.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepairReport {
    /// As in `filesystem_workspace`.
    pub id: String,
    /// Server or step, as in `servers.files` or `steps.write`.
    pub target: String,
    /// Why, in a sentence.
    pub explanation: String,
    /// Unified diff of the plan; empty for a folder that was created.
    pub diff: String,
    /// The same as data, for `jelly apply`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditReport>,
    /// Its failure came back, so it did not help. Set later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ineffective: bool,
}

/// One edit of a plan as a report holds it. A path is made of keys and of
/// indices from 0, as in `["steps", 2, "tool"]`, in the plan before the repair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum EditReport {
    /// A scalar is replaced, or comes to a map or to the end of a list.
    Set {
        /// Keys and indices.
        path: Vec<Value>,
        /// Redacted.
        value: Value,
    },
    /// The last key of the path is renamed.
    RenameKey {
        /// Keys and indices.
        path: Vec<Value>,
        /// The new key.
        to: String,
    },
    /// The item of a list is taken out.
    Remove {
        /// Keys and indices.
        path: Vec<Value>,
    },
}

/// What a change of a plan, or of what it reads, does to what is tested.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PlanChangeKind {
    /// A step or an expectation is there no more.
    Gone,
    /// An expectation is there, and whatever comes meets it.
    HoldsOfAnything,
    /// A step runs only where more has come true.
    FewerConditions,
    /// Another program answers.
    OtherServer,
    /// An expectation compares with something else.
    Operand,
    /// Plan and server have agreed on something else.
    Contract,
}

impl PlanChangeKind {
    /// Less is tested than before, or something else: no repair may do that.
    #[must_use]
    pub fn weakens(self) -> bool {
        match self {
            Self::Gone | Self::HoldsOfAnything | Self::FewerConditions | Self::OtherServer => true,
            Self::Operand | Self::Contract => false,
        }
    }
}

/// One thing that a hook made different in a plan, or in what the plan reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanChange {
    pub kind: PlanChangeKind,
    /// Id of the step that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Name of the server that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What an expectation looks at, as in `text` or `json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<String>,
    /// Where it looks, as in `$.content[0].text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How it compares, as in `equals`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// A clause that says it.
    pub what: String,
}

impl PlanChange {
    #[must_use]
    pub fn new(kind: PlanChangeKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            step: None,
            server: None,
            surface: None,
            path: None,
            operator: None,
            what: what.into(),
        }
    }
}

/// The run of a hook command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookReport {
    /// `fix_tests` or `refine_code`.
    pub hook: String,
    /// The command.
    pub argv: Vec<String>,
    /// How it ended.
    pub exit: Option<Exit>,
    /// Why it was not a success, where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Head and tail, redacted.
    pub stdout: String,
    /// Head and tail, redacted.
    pub stderr: String,
    /// Milliseconds; volatile.
    pub elapsed_ms: u64,
    /// What it made different in the plan and in what the plan reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PlanChange>,
    /// Unified diff of the plan, and of the other files that it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The files beside this report that hold the plan as it was before
    /// `fix_tests`, and after it where it is another one; of `refine_code`
    /// where it changed what the plan is measured by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<String>,
    /// Files of the git work tree that `fix_tests` changed and that the plan
    /// does not read, from the work tree's folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code_changed: Vec<String>,
}

/// The action of an iteration with its reason.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionReport {
    /// What it was.
    pub kind: ActionKind,
    /// A sentence.
    pub reason: String,
    /// Those that were applied, in order.
    pub repairs: Vec<RepairReport>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<HookReport>,
    /// How long the retry waited; volatile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff_ms: Option<u64>,
}

/// What is left of each budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetsReport {
    /// Passes of the loop.
    pub iterations: u32,
    /// Reruns for failures that may pass unchanged.
    pub retries: u32,
    /// Reruns to confirm a mismatch.
    pub confirms: u32,
    /// Repairs of the plan.
    pub mcp_repairs: u32,
    /// Runs of the hook `fix_tests`.
    pub test_fixes: u32,
    /// Runs of the hook `refine_code`.
    pub code_refines: u32,
}

/// Budgets around an action.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BeforeAfter {
    pub before: BudgetsReport,
    pub after: BudgetsReport,
}

/// One failure with its diagnosis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureReport {
    /// Name of the server in the plan.
    pub server: Option<String>,
    /// Absent when the server itself failed.
    pub step: Option<String>,
    pub phase: Phase,
    /// What went wrong, in a sentence.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// How the server was started, as it may be shown; empty where nothing was.
    pub argv: Vec<String>,
    /// The folder that it was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The variables that were set for it, as they may be shown.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub variables: IndexMap<String, String>,
    /// Of a server that is reached over HTTP, without what is secret in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The end of what the server wrote on stderr.
    pub stderr_tail: String,
    /// What a process that is reached over HTTP wrote on its stdout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout_tail: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpc_error: Option<super::RpcError>,
    /// Status, headers and body of the answer, or why there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<super::HttpFacts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestFacts>,
    /// `file:line:column` of the expectation or step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assertion: Option<super::Assertion>,
    /// Which of its step's mismatches this is. Present for every expectation
    /// that did not hold, be it the only one of its step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<MismatchPlace>,
    /// What the client saw: tells a tool that answered `isError` from a
    /// server that did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The text that a tool answered as an error, where it has several lines:
    /// mostly a stack. The message has the begin of it, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// The limit of jelly's own for which nothing can be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_limit: Option<super::OwnLimit>,
    /// The entry of the list of known failures that covers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<super::KnownMark>,
    pub diagnosis: Diagnosis,
}

/// One pass of the loop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IterationReport {
    /// 1-based.
    pub index: u32,
    pub totals: Totals,
    /// In the plan's order.
    pub servers: Vec<ServerReport>,
    /// In the plan's order, not executed ones included.
    pub steps: Vec<StepReport>,
    /// With their diagnoses: of servers first, then of steps. Each mismatch of
    /// a step is an entry of its own. A step that was taken out of the run keeps
    /// what it was taken out for.
    pub failures: Vec<FailureReport>,
    pub action: ActionReport,
    pub budgets: BeforeAfter,
    /// Milliseconds; volatile.
    pub duration_ms: u64,
}

impl IterationReport {
    /// The failures, those of one step together: one, or its mismatches in
    /// their order.
    pub fn failures_by_step(&self) -> impl Iterator<Item = &[FailureReport]> {
        let same_step = |one: &FailureReport, other: &FailureReport| {
            one.step.is_some() && (&one.server, &one.step) == (&other.server, &other.step)
        };
        self.failures.chunk_by(same_step)
    }

    /// The failure that decides what its step is: see [`deciding`].
    #[must_use]
    pub fn deciding_failure_of(&self, step: &str) -> Option<&FailureReport> {
        let of_step = |failure: &&FailureReport| failure.step.as_deref() == Some(step);
        deciding(self.failures.iter().filter(of_step))
    }

    /// How many of the steps that failed did so in known ways only.
    #[must_use]
    pub fn known_steps(&self) -> u64 {
        // Mostly there is no list.
        if self.failures.iter().all(|failure| failure.known.is_none()) {
            return 0;
        }
        let known: HashSet<&str> = self
            .failures_by_step()
            .filter(|failures| all_known(*failures))
            .filter_map(|failures| failures.first()?.step.as_deref())
            .collect();
        let failed = |step: &&StepReport| step.state == StepState::Failed;
        let steps = self.steps.iter().filter(failed);
        steps
            .filter(|step| known.contains(step.id.as_str()))
            .count() as u64
    }
}

/// Whether a list of known failures covers all of these: nothing of them stands.
pub fn all_known<'f>(failures: impl IntoIterator<Item = &'f FailureReport>) -> bool {
    let mut failures = failures.into_iter();
    failures.all(|failure| failure.known.is_some())
}

/// The failure that speaks for a step where only one can: one that is not known;
/// of those, one of the code side; else one that the environment explains; else
/// the first in the order of the plan, where what is about `duration` comes last.
pub fn deciding<'f>(
    failures: impl IntoIterator<Item = &'f FailureReport>,
) -> Option<&'f FailureReport> {
    failures.into_iter().min_by_key(|failure| {
        let diagnosis = &failure.diagnosis;
        let target = failure.assertion.as_ref().and_then(|a| a.target);
        let rank = match diagnosis.side {
            Side::Code => 0,
            Side::Test if !diagnosis.ambiguous => 1,
            Side::Test if target != Some(AssertionTarget::Duration) => 2,
            Side::Test => 3,
        };
        (failure.known.is_some(), rank)
    })
}

/// One problem of a help summary, told as to a colleague.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelpProblem {
    /// Name of the server that it is about.
    pub server: Option<String>,
    /// Id of the step that it is about.
    pub step: Option<String>,
    /// `file:line:column` of what is wrong in the plan, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What it is called where it concerns the run as a whole; absent where a
    /// failure says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<RunCause>,
    /// Of the diagnosis of the failure that it is about; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// What is wrong.
    pub what: String,
    /// Exit status and the telling line, or that there is none.
    pub evidence: String,
    /// What was tried already.
    pub tried: Vec<String>,
    /// Steps in order; a line that starts with `$ ` is a command to paste.
    pub next: Vec<String>,
}

/// What a person should know and do, for a run that is not green.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelpSummary {
    /// The whole of it in a line.
    pub title: String,
    /// One by one.
    pub problems: Vec<HelpProblem>,
}

/// Which plan a report is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReport {
    /// Its own, or the file's without the extension.
    pub name: String,
    /// As the user gave it.
    pub path: String,
    /// Of the file's text as its owner wrote it last, in hexadecimal; absent
    /// where it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The same of the repaired plan, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired_sha256: Option<String>,
}

/// Why a run that is green does not exit 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unaccepted {
    /// The contract between plan and server was changed, and `--accept-repairs`
    /// was not given.
    Contract,
    /// There was a repair or a retry, and `--strict` was given.
    Strict,
}

/// A run of one plan: what `--format json` prints and `results.json` holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunReport {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    /// Of the call; volatile.
    pub run_id: String,
    pub plan: PlanReport,
    pub verdict: Verdict,
    /// What jelly exits with, where this is the only plan.
    pub exit_code: u8,
    /// Why a green run exits 4; absent for any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unaccepted: Option<Unaccepted>,
    /// The loop goes on: this was written after an iteration, and verdict and
    /// exit code are those of a run that ended there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_progress: bool,
    /// A person has to look at it.
    pub needs_user_help: bool,
    /// What a person should know and do; null for a run that is green.
    pub help_summary: Option<HelpSummary>,
    /// Seed of the back-off's jitter.
    pub seed: u64,
    /// RFC 3339; volatile.
    pub started_at: String,
    /// Milliseconds; volatile.
    pub duration_ms: u64,
    /// Where the reports lie, relative to the project folder where possible.
    pub report_dir: Option<String>,
    /// Passes of the loop, in order.
    pub iterations: Vec<IterationReport>,
    /// Whole diff between the user's plan and the repaired one, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair_diff: Option<String>,
    /// The repaired plan was written to the user's file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repairs_written: bool,
    /// The failures of the last iteration that a list of known failures covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<super::KnownFailure>,
    /// Entries of that list that should be taken out, where this plan shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known_stale: Vec<super::StaleEntry>,
    /// What of the servers' lists was exercised; absent where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<super::Coverage>,
    /// What the run could not do for itself, such as a recording that could
    /// not be written, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl RunReport {
    /// Fails a run closed for what is found when it has ended: it is green no more.
    pub fn fail_closed(&mut self, title: &str, problems: impl IntoIterator<Item = HelpProblem>) {
        if self.verdict.is_green() {
            self.verdict = Verdict::NeedsUserHelp;
            self.unaccepted = None;
        }
        self.needs_user_help = true;
        let before = ExitCode::of(self.exit_code).unwrap_or(ExitCode::Internal);
        self.exit_code = ExitCode::strongest([before, ExitCode::NeedsUserHelp]).code();
        let help = self.help_summary.get_or_insert_with(|| HelpSummary {
            title: title.to_owned(),
            problems: Vec::new(),
        });
        help.problems.extend(problems);
    }

    /// The hooks that said they changed something, each once, in order.
    #[must_use]
    pub fn hooks_at_work(&self) -> Vec<&str> {
        let hooks = self
            .iterations
            .iter()
            .filter_map(|i| i.action.hook.as_ref());
        let mut names: Vec<&str> = Vec::new();
        for hook in hooks.filter(|hook| hook.error.is_none() && hook.exit.is_some()) {
            if !names.contains(&hook.hook.as_str()) {
                names.push(&hook.hook);
            }
        }
        names
    }

    /// The repairs in the order in which they were made, but for those that a
    /// later `fix_tests` dropped: after it, the file was the truth.
    #[must_use]
    pub fn lasting_repairs(&self) -> Vec<&RepairReport> {
        let fixed = self.iterations.iter().rposition(|iteration| {
            let action = &iteration.action;
            let hook = action.hook.as_ref();
            action.kind == ActionKind::FixTests && hook.is_some_and(|hook| hook.error.is_none())
        });
        let first = fixed.map_or(0, |at| at + 1);
        let lasting = self.iterations.iter().skip(first);
        lasting.flat_map(|i| &i.action.repairs).collect()
    }
}

impl StepReport {
    /// How a step is named where its section matters, as in `steps.write`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}.{}", json_word(&self.section), self.id)
    }
}
