//! What can be typed behind `jelly fuzz`.

use super::rules::RuleFiles;
use super::server::{ServerArgs, server_usage};
use super::shared::{Format, parse_duration};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    override_usage = server_usage!("jelly fuzz [OPTIONS]"),
    after_help = "\
Only tools that declare themselves read-only are called, unless --tool or --call-all says otherwise.
Tools really write and delete.

Exit codes:
  1  a confirmed finding
  2  invalid input, or no tool may be called
  3  the server could not be started or restarted, or nothing was tried before the deadline
  0  otherwise; flaky findings and notices do not count"
)]
pub struct FuzzArgs {
    #[command(flatten)]
    pub server: ServerArgs,

    /// Also call this tool, whatever it declares; if no tool is read-only, call only these
    #[arg(long, value_name = "NAME")]
    pub tool: Vec<String>,

    /// Call all tools, including those that write or delete
    #[arg(long)]
    pub call_all: bool,

    /// Allow a URL that is not on this machine
    #[arg(long)]
    pub allow_remote: bool,

    /// Seed for random inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Number of cases to try, not counting calls to probe, confirm and shrink
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_calls: u64,

    /// Skip the first N cases, to continue an earlier run with this seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub skip: u64,

    /// Time limit for the whole run
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "5m")]
    pub deadline: Duration,

    /// Timeout for each call [default: the plan's request_timeout, otherwise 5s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub call_timeout: Option<Duration>,

    /// File for the plan that reproduces the findings [default: reports/fuzz/plan.yaml]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    #[command(flatten)]
    pub own_rules: RuleFiles,
}
