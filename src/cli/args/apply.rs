//! What can be typed behind `jelly apply`.

use super::shared::ReportsDir;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// Report of a run: its folder or its results.json [default: the last run]
    #[arg(value_name = "REPORT")]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub reports: ReportsDir,

    /// Show the change without writing anything
    #[arg(long)]
    pub dry_run: bool,

    /// Write without asking, wherever the report comes from
    #[arg(long, short, conflicts_with = "dry_run")]
    pub yes: bool,
}
