//! What one iteration of a plan recorded.

use super::{ErrorCategory, Exit, Failure, Offers, OutputSeen, Signal, StepAnswers, WireCheck};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a step ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    Passed,
    Failed,
    /// Its server was not ready when it was due, or its set-up failed.
    Blocked,
    /// The plan can't be run as written at this step.
    Quarantined,
    #[default]
    Skipped,
}

/// Why a step did not run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// Left out by `--only` or `--skip`.
    NotSelected,
    /// Its `if` does not hold, or that of a step that it needs.
    If,
    /// It, or a step that it needs, requires this, which is not there, and
    /// `--skip-missing` allows for that.
    Requires(String),
    FailFast,
    Deadline,
    Interrupted,
    /// It captures from this step or needs it, and that did not pass.
    Step(String),
    /// This server was not ready.
    Server(String),
    /// This server was ready, went down, and is not up again in this iteration.
    ServerDown(String),
    /// This set-up step did not pass.
    Setup(String),
    /// The plan can't be run as written; the reason in a sentence.
    Plan(String),
}

impl Because {
    /// Somebody said so beforehand, so that a run without the step can be green.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        match self {
            Self::NotSelected | Self::If | Self::Requires(_) => true,
            Self::FailFast
            | Self::Deadline
            | Self::Interrupted
            | Self::Step(_)
            | Self::Server(_)
            | Self::ServerDown(_)
            | Self::Setup(_)
            | Self::Plan(_) => false,
        }
    }
}

/// Which list of the plan a step stands in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    Setup,
    #[default]
    Steps,
    Teardown,
}

/// How far a server came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// No selected step uses it.
    #[default]
    NotStarted,
    /// Ready, and stopped in order when its steps were done.
    Ready,
    /// Never became ready.
    Failed,
    /// Exited before it was ready, as the plan wants it to.
    Refused,
    /// Became ready and died, or would not stop.
    Died,
}

/// One server in one iteration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerReport {
    /// In the plan.
    pub name: String,
    /// It is one of the plan's `services`, and no MCP server.
    #[serde(
        default,
        rename = "service",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub is_service: bool,
    /// `file:line:column` of it in the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    pub state: ServerState,
    /// `modern` or `legacy`.
    pub era: Option<String>,
    /// The revision that was agreed on.
    pub protocol_version: Option<String>,
    /// From spawn to the last list; volatile.
    pub startup_ms: Option<u64>,
    /// From the beginning of the iteration to its first start; absent where
    /// nothing was started; volatile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<f64>,
    /// From the beginning of the iteration to its end, or to the moment when its
    /// start was given up; volatile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<f64>,
    /// How its process ended.
    pub exit: Option<Exit>,
    /// The end of what it wrote on stderr.
    pub stderr_tail: String,
    /// Name and version as the server gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Value>,
    /// Absent where it never became ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offers: Option<Offers>,
    /// How many lines on stdout were no JSON-RPC message.
    #[serde(default)]
    pub stdout_noise: u64,
    /// The first few of those lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stdout_noise_sample: Vec<String>,
    /// How often it was started again after a death in this iteration.
    #[serde(default)]
    pub restarts: u32,
    /// What came of holding its messages against the specification; absent
    /// where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire_check: Option<WireCheck>,
    /// What a reader should know and no failure says, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One step in one iteration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepReport {
    /// Unique in the plan.
    pub id: String,
    /// What people call it.
    pub name: String,
    pub section: Section,
    /// Name of the server.
    pub server: String,
    pub state: StepState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<Because>,
    /// Executions of this step in this run so far, this iteration included.
    pub attempts: u32,
    /// From the beginning of the iteration to the request; absent when the step
    /// was not executed; volatile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<f64>,
    /// Volatile; absent when the step was not executed.
    pub duration_ms: Option<f64>,
    /// The rung of the schema ladder; absent unless an output was looked at.
    pub adapter: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_category: Option<ErrorCategory>,
    /// Whether it may pass unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// Passed after failing earlier in this run on the same plan and code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flaky: bool,
}

/// The counts of an iteration; the five states add up to `total`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// The sum of the others.
    pub total: u32,
    /// All that was expected held.
    pub passed: u32,
    /// Something did not.
    pub failed: u32,
    /// Its server was not ready, or its set-up failed.
    pub blocked: u32,
    /// The plan can't be run as written there.
    pub quarantined: u32,
    /// Not executed for another reason.
    pub skipped: u32,
}

impl Totals {
    /// Counts others too.
    pub fn add(&mut self, other: Self) {
        let Self {
            total,
            passed,
            failed,
            blocked,
            quarantined,
            skipped,
        } = other;
        self.total += total;
        self.passed += passed;
        self.failed += failed;
        self.blocked += blocked;
        self.quarantined += quarantined;
        self.skipped += skipped;
    }

    #[must_use]
    pub fn of(steps: &[StepReport]) -> Self {
        let mut totals = Self::default();
        for step in steps {
            totals.total += 1;
            match step.state {
                StepState::Passed => totals.passed += 1,
                StepState::Failed => totals.failed += 1,
                StepState::Blocked => totals.blocked += 1,
                StepState::Quarantined => totals.quarantined += 1,
                StepState::Skipped => totals.skipped += 1,
            }
        }
        totals
    }
}

/// A tool as its server lists it: what repairs need to know.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    pub name: String,
    pub input_schema: Option<Value>,
    pub output_schema: Option<Value>,
    /// Its annotations say that calling it twice does what calling it once
    /// does: `readOnlyHint` or `idempotentHint`.
    pub repeatable: bool,
}

/// What `exec` hands to the loop: one plan, executed once.
///
/// All texts are redacted. Servers and steps stand in the plan's order,
/// failures in the order of servers first, then of steps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IterationRecord {
    pub servers: Vec<ServerReport>,
    /// `attempts` is 1 for an executed step here; the loop adds them up.
    pub steps: Vec<StepReport>,
    pub failures: Vec<Failure>,
    /// Only where that was asked for.
    pub answers: StepAnswers,
    /// By which rungs outputs of tools were read, for the schema store; of
    /// each tool in the order of its calls. Only where that was asked for.
    pub outputs: Vec<OutputSeen>,
    /// What the servers list, and what of it was exercised. Only where that was asked
    /// for.
    pub coverage: Vec<super::CoverageItem>,
    /// By server, for the repairs; absent for a server that never listed.
    pub tools: Vec<(String, Vec<ToolInfo>)>,
    /// A signal ended the iteration early.
    pub interrupted: Option<Signal>,
    /// The run's deadline ended the iteration early.
    pub deadline_reached: bool,
    /// After a signal, teardown or the end of a server takes its time: what
    /// is known so far.
    pub unfinished: bool,
}

#[cfg(test)]
mod tests {
    use super::{StepReport, StepState, Totals};

    #[test]
    fn totals_add_up_over_every_state() {
        let states = [
            StepState::Passed,
            StepState::Failed,
            StepState::Blocked,
            StepState::Quarantined,
            StepState::Skipped,
        ];
        let steps: Vec<StepReport> = states
            .into_iter()
            .map(|state| StepReport {
                state,
                ..StepReport::default()
            })
            .collect();
        let t = Totals::of(&steps);
        assert_eq!((t.total, t.passed, t.failed), (5, 1, 1));
        assert_eq!(
            t.passed + t.failed + t.blocked + t.quarantined + t.skipped,
            t.total
        );
    }
}
