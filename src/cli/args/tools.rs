//! What can be typed behind `jelly tools`.

use super::rules::RuleFiles;
use super::server::ServerArgs;
use super::shared::{Format, parse_duration};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Where a lock lies unless somebody says otherwise.
pub const LOCK: &str = "jelly.lock";

#[derive(Debug, Args)]
pub struct ToolsArgs {
    #[command(subcommand)]
    pub command: ToolsCommand,
}

#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// Write what servers list to a lock file
    Lock(LockArgs),
    /// Compare what servers list with what they listed before
    Diff(DiffArgs),
    /// Check servers' lists for problems that trip up clients and models
    Lint(LintArgs),
}

/// How the lists of servers are read.
#[derive(Debug, Args)]
pub struct ReadingArgs {
    #[command(flatten)]
    pub server: ServerArgs,

    /// Timeout for each list
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "30s")]
    pub call_timeout: Duration,

    #[command(flatten)]
    pub own_rules: RuleFiles,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "jelly tools lock [OPTIONS] -- COMMAND [ARGS]...\n       \
                      jelly tools lock [OPTIONS] --url URL\n       \
                      jelly tools lock [OPTIONS] --config CONFIG --server NAME\n       \
                      jelly tools lock [OPTIONS] --plan PLAN [--server NAME]",
    after_help = "\
With a plan and no --server, the lock contains exactly the plan's servers. Otherwise the one server
is added to the lock, or replaced in it.

Exit codes:
  2  invalid input, or the file is not a lock
  3  a server could not be started, or did not return a list
  0  otherwise"
)]
pub struct LockArgs {
    /// File to write the lock to; `-` prints it
    #[arg(long, short, value_name = "FILE", default_value = LOCK)]
    pub output: PathBuf,

    /// Name of the server in the lock [default: its name in the file, or the one it reports]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    #[command(flatten)]
    pub reading: ReadingArgs,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "jelly tools diff [OPTIONS] OLD NEW\n       \
                      jelly tools diff [OPTIONS] OLD -- COMMAND [ARGS]...\n       \
                      jelly tools diff [OPTIONS] OLD --plan PLAN [--server NAME]",
    after_help = "\
Exit codes:
  1  a change that --fail-on names
  2  invalid input
  3  a server could not be started, or did not return a list
  0  otherwise"
)]
pub struct DiffArgs {
    /// A lock, a recording (.jsonl), a plan (.yaml), or a URL
    #[arg(value_name = "OLD")]
    pub old: String,

    /// The same; without it, the server named by the options
    #[arg(value_name = "NEW", conflicts_with_all = ["command", "url", "config", "plan"])]
    pub new: Option<String>,

    /// Which changes exit with code 1
    #[arg(long, value_enum, value_name = "KIND", default_value_t)]
    pub fail_on: FailOn,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: DiffFormat,

    #[command(flatten)]
    pub reading: ReadingArgs,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "jelly tools lint [OPTIONS] -- COMMAND [ARGS]...\n       \
                      jelly tools lint [OPTIONS] --url URL\n       \
                      jelly tools lint [OPTIONS] --config CONFIG --server NAME\n       \
                      jelly tools lint [OPTIONS] --plan PLAN [--server NAME]",
    after_help = "\
Tokens are estimated: one for every four bytes of the list of tools.

Exit codes:
  1  a finding of level error, or more tokens than --max-tokens
  2  invalid input
  3  a server could not be started, or did not return a list
  0  otherwise; warnings do not count"
)]
pub struct LintArgs {
    /// Maximum estimated number of tokens that the lists of tools may take of a model's context
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<usize>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// Which changes of a contract fail a pipeline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    #[default]
    Breaking,
    /// Breaking changes and changed texts
    Text,
    Never,
}

/// How changes are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// Human-readable text
    #[default]
    Human,
    /// JSON
    Json,
    /// Markdown
    Md,
}
