//! What can be typed behind `jelly explain`.

use super::history::HistoryArgs;
use super::rules::RuleFiles;
use super::shared::{Format, ReportsDir};
use clap::Args;

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Fingerprint of a cause or a test, or a prefix of it
    #[arg(
        value_name = "FINGERPRINT",
        required_unless_present = "diff",
        conflicts_with = "diff"
    )]
    pub fingerprint: Option<String>,

    /// Explain why two fingerprints are or are not the same
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub diff: Option<Vec<String>>,

    /// Also search these reports: files, folders or globs of JUnit XML or results.json
    #[arg(long = "in", value_name = "REPORT", num_args = 1..)]
    pub reports: Vec<String>,

    #[command(flatten)]
    pub of_runs: ReportsDir,

    #[command(flatten)]
    pub history: HistoryArgs,

    #[command(flatten)]
    pub own_rules: RuleFiles,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
