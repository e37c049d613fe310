//! What can be typed behind the questions of `jelly history`.

use super::history::HistoryArgs;
use clap::{Args, ValueEnum};
use jelly_base::text::shell_flag;
use std::path::PathBuf;

/// How an answer is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FleetFormat {
    /// Columns, for a terminal
    #[default]
    Table,
    /// One document
    Json,
    /// A table in Markdown
    Md,
}

/// Which runs are asked about.
#[derive(Debug, Clone, Default, Args)]
pub struct ScopeArgs {
    /// Only this project [default: the current project, if it can be determined]
    #[arg(long, value_name = "NAME", conflicts_with = "all_projects")]
    pub project: Option<String>,

    /// All projects
    #[arg(long)]
    pub all_projects: bool,

    /// Only this branch; write pull/7 for a pull request
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,

    /// Only runs since this age (30d), day (2026-11-01), time or commit
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
}

impl ScopeArgs {
    /// The flags of projects and branches, for another command.
    pub fn words(&self) -> Vec<String> {
        let flag = |name: &str, value: &Option<String>| {
            value.as_ref().map(|value| shell_flag(name, value))
        };
        let all = self.all_projects.then(|| "--all-projects".to_owned());
        let named = [
            flag("--project", &self.project),
            flag("--branch", &self.branch),
        ];
        all.into_iter().chain(named.into_iter().flatten()).collect()
    }
}

#[derive(Debug, Args)]
pub struct FleetArgs {
    #[command(flatten)]
    pub scope: ScopeArgs,

    /// Maximum number of entries; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: FleetFormat,

    #[command(flatten)]
    pub history: HistoryArgs,
}

#[derive(Debug, Args)]
pub struct CauseArgs {
    /// Fingerprint of the cause, or a prefix of it
    #[arg(value_name = "FINGERPRINT")]
    pub fingerprint: String,

    #[command(flatten)]
    pub fleet: FleetArgs,
}

#[derive(Debug, Args)]
pub struct PageArgs {
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,

    #[command(flatten)]
    pub scope: ScopeArgs,

    /// Maximum number of entries of each list
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,

    #[command(flatten)]
    pub history: HistoryArgs,
}

/// How results are exported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One result per line, as JSON
    #[default]
    Jsonl,
    /// Comma-separated values, with a row of headings
    Csv,
}
