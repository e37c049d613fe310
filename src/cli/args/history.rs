//! What can be typed behind `jelly history`, and the flags that name the history everywhere.

use super::shared::Format;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(subcommand)]
    pub command: Option<HistoryCommand>,

    /// Sort order
    #[arg(long, value_enum, default_value_t)]
    pub by: HistoryOrder,

    /// Maximum number of entries; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,

    /// Only tests whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub test: Option<String>,

    /// List causes instead of tests; with a text, only those with that root cause or beginning of a fingerprint
    #[arg(long, value_name = "TEXT", num_args = 0..=1, default_missing_value = "")]
    pub cause: Option<String>,

    #[command(flatten)]
    pub history: HistoryArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

#[derive(Debug, Subcommand)]
pub enum HistoryCommand {
    /// Print what the history holds, for other programs
    Export(ExportArgs),
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// How long each plan takes, for `jelly run --shard-times`: the median of its last 10 runs
    #[arg(long, required = true)]
    pub durations: bool,

    #[command(flatten)]
    pub history: HistoryArgs,
}

/// An order of the list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum HistoryOrder {
    /// Number of runs that failed
    #[default]
    Failures,
    /// Flakiest first
    Flaky,
    /// Most recent first
    LastSeen,
}

#[derive(Debug, Clone, Default, Args)]
pub struct HistoryArgs {
    /// History file [default: .jelly/history.jsonl if the folder .jelly exists]
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,

    /// Neither read nor record a history
    #[arg(long, conflicts_with = "history")]
    pub no_history: bool,
}
