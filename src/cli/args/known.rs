//! What can be typed behind `jelly known`, and the flag that names the list.

use super::history::HistoryArgs;
use super::shared::ReportsDir;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Where the list of known failures is.
#[derive(Debug, Clone, Default, Args)]
pub struct KnownFile {
    /// List of known failures [default: known-failures.yaml beside jelly.yaml]
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct KnownArgs {
    #[command(subcommand)]
    pub command: KnownCommand,
}

#[derive(Debug, Subcommand)]
pub enum KnownCommand {
    /// Add a failure from the last run to the list (refused in CI)
    Add(KnownAddArgs),
}

#[derive(Debug, Args)]
pub struct KnownAddArgs {
    /// Fingerprint of the failure's test or cause, or a prefix of it
    #[arg(value_name = "FINGERPRINT")]
    pub fingerprint: String,

    /// Why it is accepted for now
    #[arg(long, value_name = "TEXT")]
    pub reason: String,

    /// Cover the cause in every test, not only where it was seen
    #[arg(long)]
    pub any_test: bool,

    /// Who is responsible for it
    #[arg(long, value_name = "NAME")]
    pub owner: Option<String>,

    /// Last day the entry is valid, for example 2027-01-31
    #[arg(long, value_name = "DATE")]
    pub expires: Option<String>,

    #[command(flatten)]
    pub file: KnownFile,

    /// Look for the failure in these reports of `jelly run`, or JSON of `jelly triage` [default: the last run]
    #[arg(long = "in", value_name = "REPORT")]
    pub reports: Vec<PathBuf>,

    #[command(flatten)]
    pub of_runs: ReportsDir,

    #[command(flatten)]
    pub history: HistoryArgs,
}
