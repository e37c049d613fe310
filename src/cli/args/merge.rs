//! What can be typed behind `jelly merge`.

use super::coverage::LeastCoverage;
use super::shared::{CiArgs, Format, NamedReports, ReportsDir};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: those of jelly run, as if one call had run all plans; 2 if a shard is
missing, truncated, duplicated, or belongs to another run")]
pub struct MergeArgs {
    /// Report folders of the shards: each a run's folder, or a reports folder that contains one run
    #[arg(value_name = "DIR", required = true)]
    pub dirs: Vec<PathBuf>,

    #[command(flatten)]
    pub reports: ReportsDir,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    #[command(flatten)]
    pub named_reports: NamedReports,

    #[command(flatten)]
    pub least: LeastCoverage,

    #[command(flatten)]
    pub ci: CiArgs,

    /// Print only the verdict and the help summary
    #[arg(long, short)]
    pub quiet: bool,
}
