//! How a server is named, in every command that needs one.

use super::rules::RuleFiles;
use super::shared::parse_duration;
use crate::cli::retyped::Retyped;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// A server that is named by a URL, or stands under its name in a file.
#[derive(Debug, Clone, Default, Args)]
pub struct ServerPlace {
    /// URL of a running server, or of the one that COMMAND starts
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "plan"])]
    pub url: Option<String>,

    /// An MCP client's configuration that contains the server
    #[arg(long, value_name = "CONFIG", conflicts_with = "plan")]
    pub config: Option<PathBuf>,

    /// A plan that defines the server
    #[arg(long, value_name = "PLAN")]
    pub plan: Option<PathBuf>,

    /// Name of the server in the file [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,

    /// Project folder: the server's working directory, and `${workspace}` in plans [default: the
    /// current folder, or that of the file]
    #[arg(long, value_name = "DIR")]
    pub project_dir: Option<PathBuf>,
}

/// The same, or a command, with what it is given.
///
/// Flattened into a command's arguments; [`crate::cli::named_server`] makes of it
/// what is started.
#[derive(Debug, Clone, Default, Args)]
pub struct ServerSource {
    /// Command that starts the server, after `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["config", "plan"])]
    pub command: Vec<String>,

    #[command(flatten)]
    pub place: ServerPlace,

    /// Environment variable for the server; without a value, inherited from jelly's environment
    #[arg(long, short, value_name = "NAME[=VALUE]")]
    pub env: Vec<String>,

    /// HTTP header for a server with a URL
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,

    /// Use the token that `jelly login` stored for the URL [default: if no Authorization header
    /// is given]
    #[arg(long)]
    pub login: bool,

    /// The whole call, for commands that are printed.
    #[arg(skip)]
    pub retyped: Retyped,
}

/// The same with the time that the server may take to start.
#[derive(Debug, Clone, Args)]
pub struct ServerArgs {
    #[command(flatten)]
    pub source: ServerSource,

    /// Startup timeout for the server
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60s")]
    pub timeout: Duration,
}

/// The same for a command that asks it something: how long each answer may take, and by
/// which rules what goes wrong is told.
#[derive(Debug, Args)]
pub struct AskArgs {
    #[command(flatten)]
    pub server: ServerArgs,

    /// Timeout for each request to the server
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "30s")]
    pub call_timeout: Duration,

    #[command(flatten)]
    pub own_rules: RuleFiles,
}

/// The usage of a command that takes a server. With `all`, a plan without `--server` means
/// all of its servers.
macro_rules! server_usage {
    ($call:literal) => {
        crate::cli::args::server::server_usage!(@ $call, " --server NAME")
    };
    ($call:literal, all) => {
        crate::cli::args::server::server_usage!(@ $call, " [--server NAME]")
    };
    (@ $call:literal, $server:literal) => {
        concat!(
            $call, " -- COMMAND [ARGS]...\n       ",
            $call, " --url URL\n       ",
            $call, " --config CONFIG --server NAME\n       ",
            $call, " --plan PLAN", $server
        )
    };
}
pub(super) use server_usage;
