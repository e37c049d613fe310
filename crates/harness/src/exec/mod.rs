//! One plan, executed once: supervises servers, runs steps, judges
//! expectations, emits events, returns an [`IterationRecord`].
//!
//! Must know nothing of rules, repairs, the loop or reports: it gathers facts
//! and leaves it to others to say what they mean.
//!
//! [`IterationRecord`]: jelly_base::model::IterationRecord

mod against_lists;
mod asked;
mod at_once;
mod auth;
mod beside_endpoint;
mod bound;
mod checkup;
mod clean;
mod covered;
mod covered_lists;
mod declared;
mod failed_reply;
mod free_ports;
mod issue;
mod judge;
mod kept_stderr;
mod kept_text;
mod ladder;
mod launch;
mod left_out;
mod life;
mod line_watch;
mod locked;
mod logs;
mod misfit;
mod nearest;
mod notifications;
mod open_server;
mod operators;
mod outcome;
mod output;
mod outsider;
mod package_wait;
mod phrase;
mod pin_proof;
mod plain;
mod polling;
mod request;
mod run;
mod script;
mod select;
mod selected;
mod sending;
mod server_lane;
mod services;
mod settings;
mod shared_state;
mod snapshots;
mod startup;
mod step;
mod step_context;
mod step_end;
mod subscriptions;
mod told_messages;
mod tool_schemas;
mod two_paths;
mod unasked;
mod unread;
mod volatile;
mod wire_check;

pub use against_lists::ServerLists;
pub use checkup::{CheckupSettings, Examined, ReadyServer, examine, preflight, take_stock};
pub use declared::Declared;
pub use free_ports::choose_ports;
pub use ladder::{LadderInput, Overrides, climb};
pub use launch::{command_of, reach_of};
pub use open_server::{OpenServer, ToolCall, redact_inventory};
pub use outsider::Outsider;
pub use run::{Executed, Iteration, Unfinished, execute};
pub use select::{NoSuchFilter, Selection};
pub use settings::{ExecSettings, Locked, ProposeSnapshot, StderrLog};
pub use snapshots::{
    digest as snapshot_digest, digest_of as digest_of_snapshot, same as is_snapshot,
    unnamed_snapshots,
};
pub use volatile::settled;
