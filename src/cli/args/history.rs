//! What can be typed behind `jelly history`, and the flags that name the history everywhere.

use super::shared::Format;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ListArgs {
    /// What the worst are worst in
    #[arg(long, value_enum, default_value_t)]
    pub by: HistoryOrder,

    /// How many to list; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,

    /// Only tests whose name holds this
    #[arg(long, value_name = "TEXT")]
    pub test: Option<String>,

    /// Causes instead of tests; with a text, only those whose fingerprint begins with it, or whose root cause it is
    #[arg(long, value_name = "TEXT", num_args = 0..=1, default_missing_value = "")]
    pub cause: Option<String>,

    #[command(flatten)]
    pub history: HistoryArgs,

    /// How the list is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// An order of the list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum HistoryOrder {
    /// Runs in which it failed
    #[default]
    Failures,
    /// How much it comes and goes
    Flaky,
    /// The latest first
    LastSeen,
}

#[derive(Debug, Clone, Default, Args)]
pub struct HistoryArgs {
    /// Remembers results in this file [default: .jelly/history.jsonl where the folder .jelly is]
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,

    /// Neither reads nor records a history
    #[arg(long, conflicts_with = "history")]
    pub no_history: bool,
}
