//! From a diagnosis to what a person pastes into a client's configuration to
//! mend it.
//!
//! Main function: [`prescribe`]. The cause stays triage's to name; its advice
//! is kept where it fits, and what it says of plans is said of
//! configurations. A line that begins with `$ ` is a command, one that begins
//! with `"` a member of the entry; what stands in `<…>` is for the person to
//! fill in.

mod arguments;
mod commands;
mod debuggers;
mod entries;
mod installed;
mod launch;
mod modules;
mod node_packages;
mod npm;
mod prescribe;
mod python_versions;
mod pythons;
mod remote;
mod scripts;
mod seen;
mod sight;
mod variables;
mod waiting;
mod words;

pub use prescribe::{RemedyContext, prescribe};
pub use sight::Sight;
