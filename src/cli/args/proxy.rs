//! What can be typed behind `jelly proxy`.

use super::rules::RuleFiles;
use super::run::LadderArgs;
use super::server::ServerSource;
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
A client starts this in place of the server. Messages pass unchanged; if the server cannot be
started, or dies, the client's requests are answered with the cause and the fix.

Exit codes:
  2  invalid input
  3  stdin is a terminal, and the server cannot be started; or the address cannot be bound
  0  the client closed its end"
)]
pub struct ProxyArgs {
    #[command(subcommand)]
    pub action: Option<ProxyAction>,

    #[command(flatten)]
    pub source: ServerSource,

    /// Header whose value is read from an environment variable
    #[arg(long, value_name = "NAME=VARIABLE", value_parser = parse_pair)]
    pub header_env: Vec<(String, String)>,

    /// Environment variable with a token, for `Authorization: Bearer`
    #[arg(long, value_name = "VARIABLE")]
    pub bearer_env: Option<String>,

    /// Name of the server in messages [default: its program]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Working directory of the server [default: the project folder]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,

    /// How long a request waits for the server to start; startup continues after that
    #[arg(long, visible_alias = "timeout", value_name = "TIME", value_parser = parse_duration, default_value = "50s")]
    pub startup_timeout: Duration,

    /// Whether to restart a server that failed to start at the client's next request
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub retry_upstream: RetryUpstream,

    /// How a server that cannot be started appears to the client
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub on_failure: OnFailure,

    /// Do not restart a server that died while in use
    #[arg(long)]
    pub no_restart: bool,

    /// Timeout for a tool call; progress restarts it, as does the answer to a question to the user, during which it does not run
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub tool_call_timeout: Option<Duration>,

    /// Maximum duration of a tool call, regardless of progress
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "tool_call_timeout")]
    pub tool_call_max: Option<Duration>,

    /// Serve Streamable HTTP at this address, under /mcp, instead of stdin and stdout
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,

    /// Environment variable with the token that each HTTP request must carry
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub token_env: Option<String>,

    /// Maximum number of sessions, each with its own server process
    #[arg(long, value_name = "N", requires = "listen", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub max_sessions: u16,

    /// End a session that has been idle for this long
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "listen", default_value = "30m")]
    pub session_idle: Duration,

    /// Record the messages to this file, redacted
    #[arg(long, value_name = "FILE")]
    pub record_to: Option<PathBuf>,

    /// Reject a server whose lists break the lock written by `jelly tools lock`; changed texts only
    /// cause a warning
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    /// Inject a fault into answers: KIND[@PHASE][=VALUE], for example `error@call:2=-32000:no`; can be
    /// repeated; `jelly mock --list-faults` lists them all
    #[arg(long = "fault", value_name = "FAULT")]
    pub faults: Vec<Fault>,

    /// Seed for faults that occur at random
    #[arg(long, value_name = "SEED", requires = "faults", default_value_t = 1)]
    pub fault_seed: u64,

    /// Send a span for each request to this URL, as OTLP over HTTP with JSON
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
    /// Put jelly in front of the servers of a client's configuration
    Wrap(WrapArgs),
    /// Remove jelly from a client's configuration
    Unwrap(WrapArgs),
}

#[derive(Debug, Args)]
pub struct WrapArgs {
    /// The client's configuration file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Only these servers [default: all]
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,

    /// Show what would change, and write nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Change the file without asking
    #[arg(long, short)]
    pub yes: bool,
}

/// When a server that could not be started is tried again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum RetryUpstream {
    /// At the client's next request, with increasing delays
    #[default]
    Auto,
    Never,
}

/// How a server that can't be started is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OnFailure {
    /// Each request gets an error
    #[default]
    Error,
    /// A stand-in server with one tool that reports what is wrong
    Tool,
}
