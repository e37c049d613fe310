//! What can be typed. Nothing here is resolved yet, see `settings`; and nothing
//! here knows of the commands, which all know their arguments.

mod apply;
mod call;
mod check;
mod config;
mod coverage;
mod doctor;
mod explain;
mod fleet;
mod fuzz;
mod history;
mod init;
mod known;
mod list;
mod login;
mod merge;
mod proxy;
mod replay;
pub mod rules;
mod run;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod server;
mod shard;
mod shared;
mod snapshot;
mod tools;
pub mod triage;

pub use apply::ApplyArgs;
pub use call::CallArgs;
pub use check::CheckArgs;
pub use config::{ConfigArgs, ConfigFormat};
pub use coverage::{CoverageArgs, MinCoverage};
pub use doctor::{DoctorArgs, DoctorFormat};
pub use explain::ExplainArgs;
pub use fleet::{CauseArgs, ExportFormat, FleetArgs, FleetFormat, PageArgs, ScopeArgs};
pub use fuzz::FuzzArgs;
pub use history::{
    ExportArgs, HistoryArgs, HistoryCommand, HistoryOrder, ListArgs, MigrateArgs, PruneArgs,
    PushArgs,
};
pub use init::{InitArgs, RegistryChoice};
pub use known::{KnownAddArgs, KnownArgs, KnownCommand, KnownFile};
pub use list::ListServerArgs;
pub use login::LoginArgs;
pub use merge::MergeArgs;
pub use proxy::{OnFailure, ProxyAction, ProxyArgs, RetryUpstream, WrapArgs};
pub use replay::ReplayArgs;
pub use rules::{RuleFiles, RulesArgs};
pub use run::{BudgetArgs, FlagRepeat, LadderArgs, RUN_FLAGS, RunArgs, RunFormat};
pub use schema::SchemaArgs;
#[cfg(feature = "serve")]
pub use serve::ServeArgs;
pub use server::{AskArgs, ServerPlace, ServerSource};
pub use shard::{ShardArgs, ShardChoice};
pub use shared::REPORTS;
pub use shared::{Argv, CiChoice, ColorChoice, Format, NamedReport};
pub use snapshot::{SnapshotArgs, SnapshotCommand};
pub use tools::{DiffArgs, DiffFormat, FailOn, LintArgs, LockArgs, ToolsArgs, ToolsCommand};
pub use triage::TriageArgs;

use clap::{Parser, Subcommand};
use jelly_mock::MockArgs;

/// Tests MCP servers in CI and triages failures, and never blames code for a
/// broken environment.
#[derive(Debug, Parser)]
#[command(
    name = "jelly",
    version,
    propagate_version = true,
    max_term_width = 100
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// When to color the output
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,

    /// The profile of jelly.yaml to use [env: JELLY_PROFILE] [default: ci where CI is set, else local; none without a jelly.yaml]
    #[arg(long, global = true, value_name = "NAME")]
    pub profile: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run test plans against MCP servers
    Run(Box<RunArgs>),
    /// Merge the results of shards into the result of one run
    Merge(MergeArgs),
    /// Validate plans without starting anything, or against their running servers with --live
    Check(CheckArgs),
    /// Apply the repairs of an earlier run to the plan file
    Apply(ApplyArgs),
    /// Show the settings, and where each value came from
    Config(ConfigArgs),
    /// Diagnose the servers in an MCP client's configuration
    Doctor(Box<DoctorArgs>),
    /// Explain a fingerprint, or why two differ
    Explain(ExplainArgs),
    /// List the tests and causes that fail most
    History(ListArgs),
    /// Generate a plan from a live server's tools and schemas
    Init(Box<InitArgs>),
    /// Maintain the list of known failures
    Known(KnownArgs),
    /// Triage test reports: who has to act, why, and what to rerun
    Triage(Box<TriageArgs>),
    /// List, show, test and explain triage rules
    Rules(RulesArgs),
    /// Lock, compare and lint what servers list
    Tools(Box<ToolsArgs>),
    /// Call one tool of a server
    Call(Box<CallArgs>),
    /// List the tools, prompts and resources of a server
    List(Box<ListServerArgs>),
    /// Fuzz a server's tools with inputs generated from their schemas
    Fuzz(Box<FuzzArgs>),
    /// Log in to a server that requires OAuth tokens
    Login(LoginArgs),
    /// Serve run, triage and doctor as MCP tools for coding agents
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// Run a scriptable MCP server that fails on demand
    Mock(Box<MockArgs>),
    /// Run a server behind a proxy that reports why it fails
    Proxy(Box<ProxyArgs>),
    /// Serve a recording as the server that was recorded
    Replay(ReplayArgs),
    /// Review, accept or reject changed snapshots
    Snapshot(SnapshotArgs),
    /// Print the JSON Schemas of plans and outputs
    Schema(SchemaArgs),
    /// Print shell completions
    Completions { shell: clap_complete::Shell },
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
    }
}
