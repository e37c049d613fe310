//! What can be typed behind `jelly check`.

use super::rules::RuleFiles;
use super::shared::{Format, parse_var};
use clap::Args;
use serde_json::Value;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
--live checks the names, arguments, prompts and URIs of steps against the servers' lists. No tool
is called; steps that expect an error are skipped.

Exit codes:
  2  a plan has a problem, or there is none
  3  --live: a server could not be started, or did not return a list
  0  otherwise")]
pub struct CheckArgs {
    /// Plans to validate [default: plans/*.{yaml,yml,json}]
    #[arg(value_name = "PLAN")]
    pub plans: Vec<PathBuf>,

    /// Project folder; everything a plan includes must be inside it [default: the plan's folder]
    #[arg(long, value_name = "DIR")]
    pub project_dir: Option<PathBuf>,

    /// Set a variable of the plan; the value may be JSON
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = parse_var)]
    pub vars: Vec<(String, Value)>,

    /// Start the servers, and check what the steps name against their lists; calls nothing
    #[arg(long)]
    pub live: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    #[command(flatten)]
    pub own_rules: RuleFiles,
}
