//! `--shard`: the part of the plans that a call runs, and what its result says
//! of it.

mod ci;
mod list;

pub use ci::run as named_run;
pub use list::{ShardCall, project_root, relative_path};
