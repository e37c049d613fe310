//! `jelly proxy`: stands before a server, and says why it can't be used where
//! it can't.

mod wrap;

use super::refusal::Refusal;
use super::settings::World;
use crate::cli::args::{ProxyAction, ProxyArgs};
use jelly_base::model::ExitCode;

/// Changes a client's configuration so that servers are reached through jelly.
pub fn change(action: &ProxyAction, world: &World) -> Result<ExitCode, Refusal> {
    match action {
        ProxyAction::Wrap(args) => wrap::wrap(args, world),
        ProxyAction::Unwrap(args) => wrap::unwrap(args, world),
    }
}

/// Stands before a server.
pub fn proxy(args: &ProxyArgs, world: &World) -> Result<ExitCode, Refusal> {
    let _ = (args, world);
    Err(Refusal::fault("`jelly proxy` is not built yet"))
}
