//! jelly tests MCP servers in CI and triages test failures, and never blames
//! code for a broken environment.
//!
//! The whole program in one line: plan → exec → failures → diagnoses → action
//! → plan′, and every stage is a value that one can print, save and replay.
//!
//! This package holds the commands and the reports; what they stand on are the
//! crates in `crates/`, which `docs/architecture.md` draws.
//!
//! | module | room |
//! | --- | --- |
//! | [`cli`] | what was typed → what is meant → one function per command → exit code |
//! | [`report`] | events and results → bytes; one manager owns the files |

pub mod cli;
pub mod report;

pub use cli::main_impl;
