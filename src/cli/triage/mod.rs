//! `jelly triage`: test reports → an account → an exit code.

mod args;
mod command;
mod lines;
mod target;

pub use args::TriageArgs;
pub use command::triage;
