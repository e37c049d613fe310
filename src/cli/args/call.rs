//! What can be typed behind `jelly call`.

use super::rules::RuleFiles;
use super::server::ServerArgs;
use super::shared::{Format, parse_duration};
use clap::Args;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    override_usage = "jelly call [OPTIONS] TOOL [ARG=VALUE]... -- COMMAND [ARGS]...\n       \
                      jelly call [OPTIONS] TOOL [ARG=VALUE]... --url URL\n       \
                      jelly call [OPTIONS] TOOL [ARG=VALUE]... --config CONFIG --server NAME\n       \
                      jelly call [OPTIONS] TOOL [ARG=VALUE]... --plan PLAN --server NAME",
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
    pub server: ServerArgs,

    /// Timeout for the call
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "30s")]
    pub call_timeout: Duration,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    #[command(flatten)]
    pub own_rules: RuleFiles,
}
