//! What can be typed behind `jelly check`.

use super::rules::RuleFiles;
use super::shared::Format;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
--live holds the names, arguments, prompts and URIs of steps against what their servers list. No
tool is called, and steps that expect an error are left alone.

Exit codes:
  2  a plan has a problem, or there is none
  3  --live: a server could not be started, or a list did not come
  0  otherwise")]
pub struct CheckArgs {
    /// Plans to validate [default: plans/*.{yaml,yml,json}]
    #[arg(value_name = "PLAN")]
    pub plans: Vec<PathBuf>,

    /// Project folder, in which all that a plan includes must lie [default: the plan's folder]
    #[arg(long, value_name = "DIR")]
    pub project_dir: Option<PathBuf>,

    /// Start the servers, and check what the steps name against what these list; calls nothing
    #[arg(long)]
    pub live: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    #[command(flatten)]
    pub own_rules: RuleFiles,
}
