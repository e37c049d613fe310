//! The list of known failures: found and read, applied to runs and triages,
//! judged, added to.

mod add;
mod judge;
mod list;

pub use judge::{JudgedScope, judge, said_of};
pub use list::{KnownList, day_of, known_file, open_known};

use super::args::{KnownArgs, KnownCommand};
use super::refusal::Refusal;
use super::settings::World;
use jelly_base::model::ExitCode;

/// `jelly known`.
///
/// # Errors
/// What was asked for can't be done.
pub fn known(args: &KnownArgs, world: &World) -> Result<ExitCode, Refusal> {
    match &args.command {
        KnownCommand::Add(args) => add::add(args, world),
    }
}
