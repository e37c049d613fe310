//! What can be typed behind `jelly init`.

use super::rules::RuleFiles;
use super::shared::{parse_duration, parse_pair};
use crate::cli::retyped::Retyped;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// How long a start, and a call, may take.
const TIMEOUT: &str = "60s";
const CALL_TIMEOUT: &str = "15s";

#[derive(Debug, Args)]
#[command(
    override_usage = "jelly init [OPTIONS] -- COMMAND [ARGS]...\n       \
                      jelly init [OPTIONS] URL\n       \
                      jelly init [OPTIONS] server.json\n       \
                      jelly init [OPTIONS] --config CONFIG [NAME]...\n       \
                      jelly init [OPTIONS] --plan PLAN [--server NAME]\n       \
                      jelly init [OPTIONS] --from-recording FILE [--server NAME] [-- COMMAND [ARGS]...]",
    after_help = "\
Starts the server, lists what it offers, and calls every tool that declares itself read-only, or
needs no arguments and does not appear to change anything; then runs the generated plan once.
Nothing that may be destructive is called without --call TOOL or --call-all.

Exit codes:
  2  invalid input, a missing value, or the plan already exists
  3  the server could not be started, or its plan does not pass: none is written for it
  0  the plan was written, and it passed"
)]
pub struct InitArgs {
    /// The server's URL or server.json; with --config, names of servers [default: all]
    #[arg(value_name = "URL|FILE|NAME")]
    pub names: Vec<String>,

    /// Command that starts the server, after `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["names", "url", "config"])]
    pub command: Vec<String>,

    /// The server's URL
    #[arg(long, value_name = "URL", conflicts_with_all = ["names", "config"])]
    pub url: Option<String>,

    /// An MCP client's configuration that contains the servers
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<PathBuf>,

    /// A plan that defines the server; a new plan is generated for it
    #[arg(long, value_name = "PLAN", conflicts_with_all = ["names", "url", "config", "command", "from_recording"])]
    pub plan: Option<PathBuf>,

    /// Generate the plan from a recording of `jelly run --record` or `jelly proxy --record-to`; starts nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "names"])]
    pub from_recording: Option<PathBuf>,

    /// Name of the server in the configuration, plan or recording [default: the only one; with
    /// --config, all]
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,

    /// Which package of a server.json to use [default: the first that can be started here]
    #[arg(long, value_enum, value_name = "REGISTRY")]
    pub registry: Option<RegistryChoice>,

    /// Name of the server in the plan [default: the name of its package, or the one it reports]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// File to write the plan to; `-` prints it [default: plans/NAME.yaml]
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Overwrite an existing plan
    #[arg(long)]
    pub force: bool,

    /// Value for an input that the configuration or server.json requires
    #[arg(long = "arg", value_name = "NAME=VALUE", allow_hyphen_values = true, value_parser = parse_pair)]
    pub args: Vec<(String, String)>,

    /// Environment variable for the server; without a value, inherited from jelly's environment
    #[arg(long, short, value_name = "NAME[=VALUE]")]
    pub env: Vec<String>,

    /// HTTP header for a server with a URL
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,

    /// Use the tokens that `jelly login` stored for the URL
    #[arg(long, conflicts_with = "command")]
    pub login: bool,

    /// Also call this tool, even if it may change something; can be repeated
    #[arg(long = "call", value_name = "TOOL", conflicts_with = "from_recording")]
    pub called: Vec<String>,

    /// Call every tool whose arguments can be generated, even destructive ones
    #[arg(long)]
    pub call_all: bool,

    /// Do not run the generated plan before writing it
    #[arg(long)]
    pub no_verify: bool,

    /// Startup timeout for the server
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = TIMEOUT)]
    pub timeout: Duration,

    /// Timeout for a call; slower tools are left out of the plan
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = CALL_TIMEOUT)]
    pub call_timeout: Duration,

    /// Project folder, as for `jelly run` [default: the plan's folder]
    #[arg(long, value_name = "DIR")]
    pub project_dir: Option<PathBuf>,

    #[command(flatten)]
    pub own_rules: RuleFiles,

    /// The whole call, for commands that are printed.
    #[arg(skip)]
    pub retyped: Retyped,
}

/// What is told apart by `--registry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RegistryChoice {
    Npm,
    Pypi,
    Oci,
    Nuget,
    /// A remote server
    Remote,
}
