//! The types that flow between the rooms of the house: failures, diagnoses,
//! budgets, events, what an iteration recorded and what a run reports.
//!
//! Everything here is plain data that can be printed, saved and replayed. The
//! module must not know how a failure was observed (`wire`, `exec`, `junit`),
//! nor what is done about it (`triage`, `repair`, `harness`).

mod budget;
mod call;
mod call_summary;
mod causes;
mod coverage;
mod diagnosis;
mod doctor;
mod event;
mod exit;
mod failure;
mod failure_texts;
mod failures;
mod fix;
mod inventory;
mod known;
mod label;
mod limit;
mod listing;
mod masked;
mod matrix;
mod offers;
mod outage;
mod plan_issue;
mod proxy;
mod record;
mod report;
mod report_labels;
mod rules;
mod run_cause;
mod rung;
mod schema;
mod shard;
mod template;
mod text_difference;
mod triage;
mod wire;

pub use crate::mcp::Era;
pub use budget::{Budgets, Spent, Track};
pub use call::CallReport;
pub use call_summary::{CallSummary, RunCluster};
pub use causes::{
    CauseKey, by_cause, compares, is_unexplained, problems_by_cause, reported_by_cause,
};
pub use coverage::{Coverage, CoverageItem, CoverageKind, CoverageTotal};
pub use diagnosis::{
    Advice, Diagnosis, ErrorCategory, Evidence, Repeated, SharedAdvice, Side, Standing, Suspect,
};
pub use doctor::{
    Checkup, CheckupCounts, CheckupState, ConfigProblem, ConfigSummary, DoctorReport, Finding,
    FindingLevel, Lint,
};
pub use event::{Event, EventSink, Warnings};
pub use exit::{ExitCode, Interrupt, Signal, Verdict};
pub use failure::{
    Assertion, AssertionTarget, Exit, FIRST_CHOSEN_PORT, Failure, HttpFacts, MismatchPlace,
    Outcome, Phase, RequestFacts, RpcError, SpawnError, ToolResult, Wanted,
};
pub use failure_texts::for_each_json_text;
pub use failures::{FailureView, Failures, KnownAdvice};
pub use fix::{Fix, FixKind};
pub use inventory::Inventory;
pub use known::{KnownEntry, KnownFailure, KnownMark, StaleEntry, StaleReason};
pub use label::{Label, RUN_REPORT, TRIAGE_REPORT};
pub use limit::OwnLimit;
pub use listing::ServerListing;
pub use masked::mask_for;
pub use matrix::{
    Difference, DifferenceKind, MatrixCell, MatrixRepair, MatrixReport, MatrixServer, MatrixStep,
    MatrixVariant, StepAnswers,
};
pub use offers::{Names, Offers, Unlisted};
pub use outage::{Outage, outage};
pub use plan_issue::PlanIssue;
pub use proxy::{
    TROUBLE_MESSAGE_CHARS, TROUBLE_META, TROUBLE_TOOL, UPSTREAM_ERROR_CODE, UpstreamContext,
    UpstreamErrorType, UpstreamTrouble, is_own_proxy,
};
pub use record::{
    Because, IterationRecord, Section, ServerReport, ServerState, StepReport, StepState, ToolInfo,
    Totals,
};
pub use report::{
    ActionKind, ActionReport, BeforeAfter, BudgetsReport, EditReport, FailureReport, HelpProblem,
    HelpSummary, HookReport, IterationReport, PlanChange, PlanChangeKind, PlanReport, RepairReport,
    RunReport, SCHEMA_VERSION, Unaccepted, VOLATILE_FIELDS, all_known, deciding,
};
pub use report_labels::ReportLabels;
pub use rules::{
    Asked, CauseInfo, Explanation, MatchInfo, Matched, ProvarBucket, RuleInfo, TextInfo, VetoInfo,
    WithheldInfo,
};
pub use run_cause::RunCause;
pub use rung::{OutputSeen, Rung};
pub use schema::{NeverNull, json_word};
pub use shard::{MergedShard, Shard, ShardPlan, ShardRecord, SupersededAttempt};
pub use template::Template;
pub use text_difference::TextDifference;
pub use triage::{
    Cluster, ElementCounts, FailureHistory, FailureStatus, FailureTexts, FixedTest, Health,
    HealthState, RanAt, Recurrence, ReportSummary, RetryPlan, TriageReport, TriagedFailure,
    UnmarkedReruns,
};
pub use wire::{WireBreach, WireCheck, WireLevel};
