//! `jelly tools`: what servers promise, kept in a lock, compared, checked.

mod diff;
mod held;
mod lint;
mod lock;
mod promised;
mod recorded;

pub use held::hold_to_lock;
pub use promised::{MAX_LOCK, read_lock};

use super::refusal::Refusal;
use super::settings::World;
use crate::cli::args::{ToolsArgs, ToolsCommand};
use jelly_base::model::ExitCode;

/// Does one of them.
pub fn tools(args: &ToolsArgs, world: &World) -> Result<ExitCode, Refusal> {
    match &args.command {
        ToolsCommand::Lock(args) => lock::lock(args, world),
        ToolsCommand::Diff(args) => diff::diff(args, world),
        ToolsCommand::Lint(args) => lint::lint_servers(args, world),
    }
}
