//! What can be typed behind `jelly list`.

use super::server::{AskArgs, server_usage};
use super::shared::Format;
use clap::Args;

#[derive(Debug, Args)]
#[command(
    override_usage = server_usage!("jelly list [OPTIONS]"),
    after_help = "\
Exit codes:
  2  invalid input
  3  the server could not be started, or did not return a list
  0  otherwise"
)]
pub struct ListServerArgs {
    #[command(flatten)]
    pub ask: AskArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
