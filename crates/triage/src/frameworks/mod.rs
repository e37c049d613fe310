//! What is known of each test framework, from the files of this folder: one
//! for a framework, or for what several share of a language. The build script
//! puts them together; `build/frameworks.rs` says what may stand in them.

/// How each selects a test, in the order in which they are asked.
pub(crate) const RERUN: &str = include_str!(concat!(env!("OUT_DIR"), "/rerun.json"));

/// By framework, tests with the commands that run them again.
#[cfg(test)]
pub(crate) const RERUN_EXAMPLES: &str =
    include_str!(concat!(env!("OUT_DIR"), "/rerun-examples.json"));
