//! What can be typed behind `jelly merge`.

use super::coverage::LeastCoverage;
use super::shared::{CiArgs, Format, NamedReports, ReportsDir};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: those of jelly run, as if one call had run all plans; 2 where a
shard is missing, cut, doubled or of another run")]
pub struct MergeArgs {
    /// Folders with the reports of shards: each the folder of a run, or a reports folder that holds one
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
