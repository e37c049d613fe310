//! What can be typed behind `jelly init`.

use super::rules::RuleFiles;
use super::shared::{parse_duration, parse_pair};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    override_usage = "jelly init [OPTIONS] -- COMMAND [ARGS]...\n       \
                      jelly init [OPTIONS] URL\n       \
                      jelly init [OPTIONS] server.json\n       \
                      jelly init [OPTIONS] --config CONFIG [NAME]...\n       \
                      jelly init [OPTIONS] --from-recording FILE [--server NAME] [-- COMMAND [ARGS]...]",
    after_help = "\
The server is started, asked what it has, and every tool is called that declares itself read-only,
or needs no arguments and does not look as if it changed anything; then the plan is run once more
as it will be kept. Nothing is called that may destroy something, unless --call-all says so.

Exit codes:
  2  invalid input, a missing value, or a plan that is there already
  3  the server could not be started, or its plan does not pass; nothing is written
  0  the plan is written, and it passed"
)]
pub struct InitArgs {
    /// The server's URL or its server.json; with --config, the servers that are meant [default: all]
    #[arg(value_name = "URL|FILE|NAME")]
    pub names: Vec<String>,

    /// The command that starts the server, behind `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["names", "url", "config"])]
    pub command: Vec<String>,

    /// The server's URL
    #[arg(long, value_name = "URL", conflicts_with_all = ["names", "config"])]
    pub url: Option<String>,

    /// A client's configuration that has the servers
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<PathBuf>,

    /// Expects what a recording has, of `jelly run --record` or `jelly proxy --record-to`; starts nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "names"])]
    pub from_recording: Option<PathBuf>,

    /// Which of the recorded servers is meant [default: the only one]
    #[arg(long, value_name = "NAME", requires = "from_recording")]
    pub server: Option<String>,

    /// Which of the packages of a server.json is taken [default: the first that can be started here]
    #[arg(long, value_enum, value_name = "REGISTRY")]
    pub registry: Option<RegistryChoice>,

    /// What the server is called in the plan [default: as its package or it calls itself]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Where the plan goes; `-` prints it [default: plans/NAME.yaml]
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Overwrites a plan that is there already
    #[arg(long)]
    pub force: bool,

    /// A value that the configuration or the server.json leaves open
    #[arg(long = "arg", value_name = "NAME=VALUE", allow_hyphen_values = true, value_parser = parse_pair)]
    pub args: Vec<(String, String)>,

    /// A variable for the server; without a value, the one that the environment has
    #[arg(long, short, value_name = "NAME[=VALUE]")]
    pub env: Vec<String>,

    /// A header for a server that is reached by a URL
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,

    /// Uses what `jelly login` keeps for the URL
    #[arg(long, conflicts_with = "command")]
    pub login: bool,

    /// Calls every tool whose arguments can be filled, whatever it may destroy
    #[arg(long)]
    pub call_all: bool,

    /// Does not run the plan again as it will be kept
    #[arg(long)]
    pub no_verify: bool,

    /// How long the server may take to become ready
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60s")]
    pub timeout: Duration,

    /// How long one call may take for the plan to have it
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "15s")]
    pub call_timeout: Duration,

    /// The project folder, as for `jelly run` [default: the plan's]
    #[arg(long, value_name = "DIR")]
    pub project_dir: Option<PathBuf>,

    #[command(flatten)]
    pub own_rules: RuleFiles,
}

/// What is told apart by `--registry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RegistryChoice {
    Npm,
    Pypi,
    Oci,
    Nuget,
    /// A server that somebody else runs
    Remote,
}
