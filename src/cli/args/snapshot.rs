//! What can be typed behind `jelly snapshot`.

use super::shared::ReportsDir;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct SnapshotArgs {
    #[command(subcommand)]
    pub command: SnapshotCommand,
}

#[derive(Debug, Subcommand)]
pub enum SnapshotCommand {
    /// Show each proposal next to the stored snapshot, and ask what to do with it on a terminal
    Review(SnapshotChoice),
    /// Store the new answers
    Accept(SnapshotChoice),
    /// Discard the proposals; stored snapshots are kept
    Reject(SnapshotChoice),
}

#[derive(Debug, Args)]
pub struct SnapshotChoice {
    /// Snapshots by name [default: all in the report]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// Only those of this plan: its path, or its file's name without the extension
    #[arg(long, value_name = "PLAN")]
    pub plan: Option<PathBuf>,

    /// The folder of a run [default: that of the last run]
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub reports: ReportsDir,
}
