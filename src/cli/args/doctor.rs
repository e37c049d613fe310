//! What can be typed behind `jelly doctor`.

use super::rules::RuleFiles;
use super::shared::parse_duration;
use clap::{Args, ValueEnum};
use jelly_setup::doctor::Platform;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = "\
Configurations are those of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Zed, Cline,
Codex, opencode, Goose, Gemini CLI and Copilot CLI, and any file with `mcpServers`. A VS Code
input is taken from the environment variable that is its id in capitals (`api-key`: API_KEY), else
asked for on a terminal.

Exit codes:
  2  a configuration can't be read, or there is none
  3  something is wrong with a server
  0  otherwise; warnings alone change nothing, unless --strict is given")]
pub struct DoctorArgs {
    /// Configurations to look into [default: those in the clients' usual places]
    #[arg(value_name = "CONFIG")]
    pub configs: Vec<PathBuf>,

    /// Starts nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Warnings are exit code 3 too
    #[arg(long)]
    pub strict: bool,

    /// How the findings are printed
    #[arg(long, value_enum, default_value_t)]
    pub format: DoctorFormat,

    /// The system that the configurations are for; for another one nothing is started [default: this one]
    #[arg(long, value_enum)]
    pub platform: Option<Platform>,

    /// How long a server may take to become ready; most clients wait a minute
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60s")]
    pub timeout: Duration,

    /// Servers starting at the same time
    #[arg(long, short, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,

    #[command(flatten)]
    pub own_rules: RuleFiles,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum DoctorFormat {
    /// A table and lines for people
    #[default]
    Human,
    /// For programs
    Json,
    /// Markdown
    Md,
}
