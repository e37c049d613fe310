//! What can be typed behind `jelly tools`.

use super::server::{AskArgs, server_usage};
use super::shared::Format;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

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

#[derive(Debug, Args)]
#[command(
    override_usage = server_usage!("jelly tools lock [OPTIONS]", all),
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
    pub ask: AskArgs,
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
    pub ask: AskArgs,
}

#[derive(Debug, Args)]
#[command(
    override_usage = concat!(
        server_usage!("jelly tools lint [OPTIONS]", all),
        "\n       jelly tools lint [OPTIONS] --recording FILE [--server NAME]"
    ),
    after_help = "\
Tokens are estimated: one for every four bytes of the list of tools.

Exit codes:
  1  a finding of level error, or more tokens than --max-tokens
  2  invalid input
  3  a server could not be started, or did not return a list
  0  otherwise; warnings do not count"
)]
pub struct LintArgs {
    /// Check what a recording of `jelly run --record` or `jelly proxy --record-to` lists, and what
    /// its calls did; starts nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "url", "config", "plan"])]
    pub recording: Option<PathBuf>,

    /// Maximum estimated number of tokens that the lists of tools may take of a model's context
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<usize>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    #[command(flatten)]
    pub ask: AskArgs,
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
