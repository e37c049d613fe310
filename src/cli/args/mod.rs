//! What can be typed. Nothing here is resolved yet, see `settings`; and nothing
//! here knows of the commands, which all know their arguments.

mod apply;
mod check;
mod config;
mod doctor;
mod explain;
mod history;
mod init;
mod login;
mod proxy;
mod replay;
pub mod rules;
mod run;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod shared;
mod snapshot;
pub mod triage;

pub use apply::ApplyArgs;
pub use check::CheckArgs;
pub use config::{ConfigArgs, ConfigFormat};
pub use doctor::{DoctorArgs, DoctorFormat};
pub use explain::ExplainArgs;
pub use history::{HistoryArgs, HistoryOrder, ListArgs};
pub use init::{InitArgs, RegistryChoice};
pub use login::LoginArgs;
pub use proxy::{OnFailure, ProxyAction, ProxyArgs, RetryUpstream, WrapArgs};
pub use replay::ReplayArgs;
pub use rules::{RuleFiles, RulesArgs};
pub use run::{BudgetArgs, FlagRepeat, LadderArgs, RUN_FLAGS, RunArgs, RunFormat};
pub use schema::SchemaArgs;
#[cfg(feature = "serve")]
pub use serve::ServeArgs;
pub use shared::{Argv, ColorChoice, Format, NamedReport};
pub use snapshot::{SnapshotArgs, SnapshotCommand};
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

    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,

    /// The profile of jelly.yaml to use [env: JELLY_PROFILE] [default: ci where CI is set, else local]
    #[arg(long, global = true, value_name = "NAME")]
    pub profile: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Executes test plans in the triage loop
    Run(Box<RunArgs>),
    /// Validates plans; nothing is started
    Check(CheckArgs),
    /// Takes the repairs of an earlier run over into the plan's file
    Apply(ApplyArgs),
    /// Shows the settings, and where each value came from
    Config(ConfigArgs),
    /// Says what is wrong with each server of a client's configuration, and how to mend it
    Doctor(Box<DoctorArgs>),
    /// What a fingerprint stands for, and why two are or are not the same
    Explain(ExplainArgs),
    /// The tests and causes that give the most trouble
    History(ListArgs),
    /// Makes a plan from a live server's own tools and schemas
    Init(Box<InitArgs>),
    /// Says of the failures in test reports whom they concern, why, and what to run again
    Triage(Box<TriageArgs>),
    /// Lists, shows, tries and explains the rules of triage
    Rules(RulesArgs),
    /// Logs a person in to a server that wants tokens, for runs to use
    Login(LoginArgs),
    /// An MCP server for coding agents: runs, triage and doctor as tools
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// A scriptable MCP server over stdio that fails on demand
    Mock(Box<MockArgs>),
    /// Stands before a server, and tells the client why it can't be used where it can't
    Proxy(Box<ProxyArgs>),
    /// Serves a recording over stdio, as the server that was recorded
    Replay(ReplayArgs),
    /// Reviews what answers say where their snapshots say otherwise
    Snapshot(SnapshotArgs),
    /// Prints the JSON Schemas of plans and of every output
    Schema(SchemaArgs),
    /// Prints the completions for a shell
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
