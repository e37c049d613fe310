//! What can be typed behind `jelly proxy`.

use super::rules::RuleFiles;
use super::run::LadderArgs;
use super::shared::{parse_duration, parse_pair};
use clap::{Args, Subcommand, ValueEnum};
use jelly_mock::Fault;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    override_usage = "jelly proxy [OPTIONS] -- COMMAND [ARGS]...\n       \
                      jelly proxy [OPTIONS] --url URL\n       \
                      jelly proxy [OPTIONS] --config CONFIG --server NAME\n       \
                      jelly proxy [OPTIONS] --plan PLAN --server NAME\n       \
                      jelly proxy wrap FILE [SERVER]...\n       \
                      jelly proxy unwrap FILE [SERVER]...",
    after_help = "\
A client starts this in place of the server. Messages pass unchanged; if the server can't be
started, or dies, the client's requests are answered with the cause and the fix.

Exit codes:
  2  invalid input
  3  stdin is a terminal, and the server can't be started; or the address can't be listened at
  0  the client closed its end"
)]
pub struct ProxyArgs {
    #[command(subcommand)]
    pub action: Option<ProxyAction>,

    /// The command that starts the server, behind `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["config", "plan", "url"])]
    pub command: Vec<String>,

    /// The URL of a server that is there already
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "plan"])]
    pub url: Option<String>,

    /// A header for each request to the URL
    #[arg(long, value_name = "NAME: VALUE", requires = "url")]
    pub header: Vec<String>,

    /// A header whose value the environment has
    #[arg(long, value_name = "NAME=VARIABLE", value_parser = parse_pair, requires = "url")]
    pub header_env: Vec<(String, String)>,

    /// Uses what `jelly login URL` has brought [default: where no Authorization header is given]
    #[arg(long, requires = "url")]
    pub login: bool,

    /// A client's configuration that has the server
    #[arg(
        long,
        value_name = "CONFIG",
        requires = "server",
        conflicts_with = "plan"
    )]
    pub config: Option<PathBuf>,

    /// A plan that has the server
    #[arg(long, value_name = "PLAN", requires = "server")]
    pub plan: Option<PathBuf>,

    /// Which of the servers is meant
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,

    /// What the server is called in messages [default: its program]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// A variable for the server; without a value, the one that the environment has
    #[arg(long, short, value_name = "NAME[=VALUE]")]
    pub env: Vec<String>,

    /// The folder in which the server is started [default: the current one]
    #[arg(long, value_name = "DIR", visible_alias = "project-dir")]
    pub cwd: Option<PathBuf>,

    /// How long a request waits for the server to become ready; the start goes on after that
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "50s")]
    pub startup_timeout: Duration,

    /// Whether a server that could not be started is tried again at the client's next request
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub retry_upstream: RetryUpstream,

    /// How a server that can't be started is shown to the client
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub on_failure: OnFailure,

    /// Does not start a server again that died in use
    #[arg(long)]
    pub no_restart: bool,

    /// How long a tool call may take; progress and a pending question to the user restart the clock
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub tool_call_timeout: Option<Duration>,

    /// How long a tool call may take at most, whatever progress it makes
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "tool_call_timeout")]
    pub tool_call_max: Option<Duration>,

    /// Serves Streamable HTTP at this address, under /mcp, instead of stdin and stdout
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,

    /// The environment variable with the token that each HTTP request has to bring
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub token_env: Option<String>,

    /// How many sessions there may be, each with a server of its own
    #[arg(long, value_name = "N", requires = "listen", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub max_sessions: u16,

    /// A session that nobody has used for so long is ended
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "listen", default_value = "30m")]
    pub session_idle: Duration,

    /// Writes the messages that pass to this file, redacted
    #[arg(long, value_name = "FILE")]
    pub record_to: Option<PathBuf>,

    /// Lets answers go wrong: KIND[@PHASE][=VALUE], as in `error@call:2=-32000:no`; `jelly mock
    /// --list-faults` shows them all
    #[arg(long = "fault", value_name = "FAULT")]
    pub faults: Vec<Fault>,

    /// Chance of faults that happen now and then
    #[arg(long, value_name = "SEED", requires = "faults", default_value_t = 1)]
    pub fault_seed: u64,

    /// Sends a span of each request there, by OTLP over HTTP with JSON
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,

    /// Says that `jelly proxy wrap` wrote this command
    #[arg(long, value_name = "HOW", hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub wrapped: Option<String>,

    #[command(flatten)]
    pub ladder: LadderArgs,

    #[command(flatten)]
    pub own_rules: RuleFiles,
}

#[derive(Debug, Subcommand)]
pub enum ProxyAction {
    /// Puts jelly in front of the servers of a client's configuration
    Wrap(WrapArgs),
    /// Takes jelly out again
    Unwrap(WrapArgs),
}

#[derive(Debug, Args)]
pub struct WrapArgs {
    /// The client's configuration
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Only these servers [default: all]
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,

    /// Only shows what would change
    #[arg(long)]
    pub dry_run: bool,

    /// Changes the file without asking
    #[arg(long, short)]
    pub yes: bool,
}

/// When a server that could not be started is tried again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum RetryUpstream {
    /// At the client's next request, with growing pauses
    #[default]
    Auto,
    Never,
}

/// How a server that can't be started is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OnFailure {
    /// As the error of each request
    #[default]
    Error,
    /// As a server with one tool that says what is wrong
    Tool,
}
