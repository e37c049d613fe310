//! `jelly merge`: the results of shards → the result of one call.

mod command;
mod read;

pub use command::merge;
