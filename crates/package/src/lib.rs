//! The MCP registry's `server.json`: its packages, what they take, and how
//! they are launched.
//!
//! Three steps, each a pure function: [`read`] makes a [`ServerJson`] of a
//! text, [`Package::inputs`] lists what a person may fill, and [`resolve`]
//! makes a [`Launch`] of a package and of what is given, or says everything
//! that is in the way at once. Must not know plans, the environment or
//! processes.

mod cleaning;
mod exact;
mod fields;
mod given;
mod inputs;
mod launch;
mod launchers;
mod problem;
mod read;
mod reader;
mod resolve;
mod spec;
#[cfg(test)]
mod tests;
mod trouble;
mod types;
mod values;
mod write;

pub use exact::exact_version;
pub use given::{Given, Values};
pub use inputs::{AskedInput, named_key};
pub use launch::{Launch, Origin, Piece};
pub use problem::{JsonProblem, Level, Place, Problem};
pub use read::{ReadError, read};
pub use reader::{Source, package};
pub use resolve::{Resolved, resolve};
pub use trouble::{GivenAt, Lack, Trouble, Warning};
pub use trouble::{env_name, is_of_the_system};
pub use types::{
    Argument, ArgumentKind, EnvironmentVariable, Format, Input, InputKind, Package, Registry,
    Remote, ServerJson, Transport, Variable,
};
