//! What can be typed behind `jelly serve`.

use super::shared::ReportsDir;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Over stdio it ends when the client closes its stdin; runs are stopped then, and nothing is left.

Exit codes:
  0        the client has gone
  2        invalid usage: a folder that is not there, an address that needs a token
  3        the address can't be listened at
  130/143  interrupted")]
pub struct ServeArgs {
    /// Plans, reports and configurations are read below this folder only; repeatable [default: the working folder]
    #[arg(long, value_name = "DIR")]
    pub allow: Vec<PathBuf>,

    /// Lets tools start processes: the servers of plans, and those of configurations
    #[arg(long)]
    pub allow_run: bool,

    /// Lets plans with hooks run, which are commands of their own
    #[arg(long, requires = "allow_run")]
    pub allow_hooks: bool,

    /// Serves Streamable HTTP at this address, under /mcp, instead of stdio
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,

    /// The environment variable with the token that each HTTP request has to bring
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub token_env: Option<String>,

    #[command(flatten)]
    pub reports: ReportsDir,
}
