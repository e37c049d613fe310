//! What can be typed behind `jelly check`.

use super::shared::Format;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Plans to validate [default: plans/*.{yaml,yml,json}]
    #[arg(value_name = "PLAN")]
    pub plans: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
