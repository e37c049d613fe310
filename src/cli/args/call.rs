//! What can be typed behind `jelly call`.

use super::server::{AskArgs, server_usage};
use super::shared::Format;
use clap::Args;

#[derive(Debug, Args)]
#[command(
    override_usage = server_usage!("jelly call [OPTIONS] TOOL [ARG=VALUE]..."),
    after_help = "\
Values are converted according to the tool's input schema: ARG=5 is a number if the tool expects
one, a string otherwise. ARG:=JSON passes a value as JSON, ARG=@FILE the text of a file. Repeat an
ARG to pass a list, if the tool expects one.

Exit codes:
  1  the server died during the call, or its answer breaks the tool's own contract
  2  invalid input: an unknown tool, or a value that does not fit
  3  the tool returned an error or timed out, or the server could not be started
  0  otherwise; with --as-step, also for an error that a step can expect"
)]
pub struct CallArgs {
    /// The tool to call
    #[arg(value_name = "TOOL")]
    pub tool: String,

    /// Arguments of the tool
    #[arg(value_name = "ARG=VALUE")]
    pub arguments: Vec<String>,

    /// Print the call as a step of a plan that expects this answer
    #[arg(long, conflicts_with = "format")]
    pub as_step: bool,

    #[command(flatten)]
    pub ask: AskArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
