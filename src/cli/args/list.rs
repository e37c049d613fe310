//! What can be typed behind `jelly list`.

use super::rules::RuleFiles;
use super::server::ServerArgs;
use super::shared::{Format, parse_duration};
use clap::Args;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    override_usage = "jelly list [OPTIONS] -- COMMAND [ARGS]...\n       \
                      jelly list [OPTIONS] --url URL\n       \
                      jelly list [OPTIONS] --config CONFIG --server NAME\n       \
                      jelly list [OPTIONS] --plan PLAN --server NAME",
    after_help = "\
Exit codes:
  2  invalid input
  3  the server could not be started, or did not return a list
  0  otherwise"
)]
pub struct ListServerArgs {
    #[command(flatten)]
    pub server: ServerArgs,

    /// Timeout for each list
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "30s")]
    pub call_timeout: Duration,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    #[command(flatten)]
    pub own_rules: RuleFiles,
}
