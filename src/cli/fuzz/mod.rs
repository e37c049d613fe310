//! `jelly fuzz`: calls that nobody wrote down, and what they show of a server.

mod command;
mod confirm;
mod entry;
mod fed;
mod hunt;
mod live;
mod pairs;
mod probes;

pub use command::fuzz;
