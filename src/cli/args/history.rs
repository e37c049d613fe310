//! What can be typed behind `jelly history`, and the flags that name the history everywhere.

use super::fleet::{CauseArgs, ExportFormat, FleetArgs, PageArgs, ScopeArgs};
use super::shared::{Format, parse_duration};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

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

    /// List causes instead of tests; with a text, only those with this root cause or fingerprint prefix
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
    /// List the flakiest tests, by project and branch, with their causes
    Flaky(FleetArgs),

    /// List the causes first seen since an age, a day or a commit
    New(FleetArgs),

    /// Show where a cause was seen, since when, how often and at which commits
    Cause(CauseArgs),

    /// List the tests that take longest
    Slow(FleetArgs),

    /// Write an HTML page that shows what is flaky, new and slow, with charts
    Page(PageArgs),

    /// Print the results in the history, for other programs
    Export(ExportArgs),

    /// Create or upgrade the tables of a database
    Migrate(MigrateArgs),

    /// Upload runs that were kept in files while the history was unreachable
    Push(PushArgs),

    /// Delete runs older than an age from a database
    Prune(PruneArgs),
}

#[derive(Debug, Args)]
pub struct MigrateArgs {
    #[command(flatten)]
    pub history: HistoryArgs,
}

#[derive(Debug, Args)]
pub struct PushArgs {
    /// Reports folders, folders of runs, or files with runs
    #[arg(value_name = "DIR", required = true)]
    pub from: Vec<PathBuf>,

    #[command(flatten)]
    pub history: HistoryArgs,
}

#[derive(Debug, Args)]
pub struct PruneArgs {
    /// Delete runs older than this, for example 90d or 12w
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    pub older_than: Duration,

    #[command(flatten)]
    pub history: HistoryArgs,
}

/// Days and weeks, besides what other durations take.
fn parse_age(text: &str) -> Result<Duration, String> {
    let days = |number: &str, each: u64| {
        let days: u64 = number.parse().ok()?;
        Some(Duration::from_secs(days.checked_mul(each * 86_400)?))
    };
    let age = match (text.strip_suffix('d'), text.strip_suffix('w')) {
        (Some(number), _) => days(number, 1),
        (_, Some(number)) => days(number, 7),
        (None, None) => parse_duration(text).ok(),
    };
    age.ok_or_else(|| format!("`{text}` is not an age; write 90d or 12w"))
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Print how long each plan takes (the median of its last 10 runs) instead of results, for `jelly run --shard-times`
    #[arg(long, conflicts_with_all = ["format", "project", "all_projects", "branch", "since"])]
    pub durations: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: ExportFormat,

    #[command(flatten)]
    pub scope: ScopeArgs,

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
    /// History: a file, or a database such as postgres://USER@HOST/NAME [default: .jelly/history.jsonl if the folder .jelly exists]
    #[arg(long, value_name = "FILE|URL")]
    pub history: Option<PathBuf>,

    /// Neither read nor record a history
    #[arg(long, conflicts_with = "history")]
    pub no_history: bool,
}
