//! Configurations of MCP clients → servers with places, and what is wrong with
//! them at sight.
//!
//! The main types are [`Config`] and its [`Entry`]s, read by [`read()`], and
//! [`lint()`], which makes findings of them. Pure: others find the files
//! ([`CLIENTS`] says where they lie), start the servers and ask triage what
//! their failures mean.

mod blanks;
mod by_hand;
mod candidates;
mod client_of;
mod clients;
mod document;
mod entry;
mod kinds;
mod launcher;
mod lint;
mod members;
mod misplaced;
mod opencode;
mod other_files;
mod read;
mod remedy;
mod secrets;
mod slow_start;
mod splices;
mod startup_limit;
mod unwrap_url;
mod url_members;
mod usual_place;
mod versions;
mod wrap;
mod wrap_url;
mod written;

pub use blanks::{Filled, Piece, Surroundings, fill, fill_as_client, pieces};
pub use by_hand::by_hand;
pub use candidates::{Candidate, Word, stdio_candidates};
pub use client_of::client_of;
pub use clients::{
    Base, CLIENTS, Client, ClientFormat, Platform, Syntax, UsualPlace, usual_places,
};
pub use entry::{Config, Entry, Input, OwnLimit, Place, Reached, Spot};
pub use kinds::only_streamable;
pub use launcher::package_name;
pub use lint::{duplicate_names, lint, variable_of, without_repeated};
pub use read::{ConfigError, MAX_BYTES, read};
pub use remedy::{
    AS_IT_IS, PlanServer, REPLACED_STEPS, RemedyContext, Sight, install_by, look, package_manager,
    prescribe,
};
pub use secrets::secrets_of;
pub use slow_start::slow_start;
pub use wrap::{Rewrapped, Turn, WrapPlace, unwrap, wrap, wrapped_words};
