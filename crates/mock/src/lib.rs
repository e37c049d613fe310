//! `jelly mock`: a scriptable MCP server over stdio that fails on demand.
//!
//! It serves the quick start, jelly's own tests, and people who test clients.
//! The core ([`Server`]) is a state machine from lines to [`Action`]s; the
//! edge ([`run`]) reads stdin and carries the actions out. It must know
//! nothing of plans or runs: to the rest of jelly it is one more server.

mod action;
mod args;
mod builtins;
mod catalogue;
mod content;
mod emit;
mod fault;
mod files;
mod host;
mod inject;
mod interpolate;
mod protocol;
mod reply;
mod run;
mod script;
mod server;
mod spec;
mod stacks;
mod state;
mod tools;
mod units;
mod values;

pub use action::{Action, Pieces};
pub use args::MockArgs;
pub use catalogue::{CATALOGUE, Entry as FaultEntry, table as fault_table};
pub use fault::{At, Fault, FaultError, Kind};
pub use host::Host;
pub use inject::{Injector, injected};
pub use run::run;
pub use script::{ScriptError, load as load_script, parse as parse_script};
pub use server::Server;
pub use spec::Script;
pub use state::State;
