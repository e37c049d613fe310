//! `jelly rules`, and where the rules of a call come from.

mod command;
mod source;
mod trial;

pub use command::rules;
pub use source::{Rules, find_rules, open_rules, project_file, text_of};
