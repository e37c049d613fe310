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
    /// Shows each proposal beside what is stored, and asks on a terminal what to do with it
    Review(SnapshotChoice),
    /// Stores what the answers say
    Accept(SnapshotChoice),
    /// Throws the proposals away; what is stored stays
    Reject(SnapshotChoice),
}

#[derive(Debug, Args)]
pub struct SnapshotChoice {
    /// Snapshots by name [default: all of the report]
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
