//! What can be typed behind `jelly serve`.

use super::shared::ReportsDir;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Over stdio, it stops all runs and exits when the client closes stdin.

Exit codes:
  0        the client disconnected
  2        invalid usage: a missing folder, or an address that requires a token
  3        the address cannot be bound
  130/143  interrupted")]
pub struct ServeArgs {
    /// Read plans, reports and configurations only below this folder; can be repeated [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub allow: Vec<PathBuf>,

    /// Allow tools to start processes: the servers of plans and configurations
    #[arg(long)]
    pub allow_run: bool,

    /// Allow plans with hooks, which run commands of their own
    #[arg(long, requires = "allow_run")]
    pub allow_hooks: bool,

    /// Serve Streamable HTTP at this address, under /mcp, instead of stdio
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,

    /// Environment variable with the token that each HTTP request must carry
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub token_env: Option<String>,

    #[command(flatten)]
    pub reports: ReportsDir,
}
