//! What can be typed behind `jelly replay`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
The recording is one of `jelly run --record` or `jelly proxy --record-to`. A request is the recorded
one when its method and arguments are equal, but for times, ids, temporary folders and secrets.

Exit codes:
  2  the recording can't be read, is cut, or has no such server
  0  the client closed its end")]
pub struct ReplayArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Which of the recorded servers is meant [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,

    /// Answers only the recorded requests of one session, each once, in their order
    #[arg(long)]
    pub strict: bool,
}
