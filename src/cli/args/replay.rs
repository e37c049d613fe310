//! What can be typed behind `jelly replay`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Reads a recording of `jelly run --record` or `jelly proxy --record-to`. A request matches a recorded
one if method and arguments are equal, ignoring times, IDs, temporary folders and secrets.

Exit codes:
  2  the recording cannot be read, is truncated, or has no such server
  0  the client closed its end")]
pub struct ReplayArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Name of the recorded server [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,

    /// Answer only the recorded requests of one session, each once and in order
    #[arg(long)]
    pub strict: bool,
}
