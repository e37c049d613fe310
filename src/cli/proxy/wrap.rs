//! `jelly proxy wrap` and `unwrap`: servers of a client's configuration, and
//! jelly in front of them.

use crate::cli::args::WrapArgs;
use crate::cli::refusal::Refusal;
use crate::cli::settings::World;
use jelly_base::model::ExitCode;

/// Puts jelly in front of servers.
pub fn wrap(_args: &WrapArgs, _world: &World) -> Result<ExitCode, Refusal> {
    Err(Refusal::fault("`jelly proxy wrap` is not built yet"))
}

/// Takes it out again.
pub fn unwrap(_args: &WrapArgs, _world: &World) -> Result<ExitCode, Refusal> {
    Err(Refusal::fault("`jelly proxy unwrap` is not built yet"))
}
