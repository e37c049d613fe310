//! What can be typed behind `jelly check`.

use super::shared::Format;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Plans to validate [default: plans/*.{yaml,yml,json}]
    #[arg(value_name = "PLAN")]
    pub plans: Vec<PathBuf>,

    /// Project folder, in which all that a plan includes must lie [default: the plan's folder]
    #[arg(long, value_name = "DIR")]
    pub project_dir: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
