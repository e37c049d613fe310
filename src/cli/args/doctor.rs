//! What can be typed behind `jelly doctor`.

use super::rules::RuleFiles;
use super::shared::parse_duration;
use clap::{Args, ValueEnum};
use jelly_setup::doctor::Platform;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = "\
Reads the configurations of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Zed, Cline,
Codex, opencode, Goose, Gemini CLI and Copilot CLI, and any file with `mcpServers`. The value of a
VS Code input is taken from the environment variable named after its ID (`api-key` reads API_KEY),
or asked for on a terminal.

Exit codes:
  2  a configuration cannot be read, or there is none
  3  something is wrong with a server
  0  otherwise; warnings count only with --strict")]
pub struct DoctorArgs {
    /// Configuration files to check [default: those in the clients' usual places]
    #[arg(value_name = "CONFIG")]
    pub configs: Vec<PathBuf>,

    /// Check without starting anything
    #[arg(long)]
    pub dry_run: bool,

    /// Also exit with 3 on warnings
    #[arg(long)]
    pub strict: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: DoctorFormat,

    /// Platform the configurations are for; nothing is started for another platform [default: this one]
    #[arg(long, value_enum)]
    pub platform: Option<Platform>,

    /// Startup timeout for a server; most clients wait a minute
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60s")]
    pub timeout: Duration,

    /// Number of servers started in parallel
    #[arg(long, short, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,

    #[command(flatten)]
    pub own_rules: RuleFiles,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum DoctorFormat {
    /// A table and human-readable text
    #[default]
    Human,
    /// JSON
    Json,
    /// Markdown
    Md,
}
