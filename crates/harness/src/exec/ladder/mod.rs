//! The schema ladder: a structured output for every good answer of a tool, by
//! the first rung that holds.
//!
//! The main function is [`climb`]. Pure, and it judges nothing: whether the
//! server keeps its contract is said by `output`, whatever rung was used.

mod climb;
mod json_text;
mod server;
mod wrap;

pub use climb::{LadderInput, climb, own_structure};
pub use json_text::json_text;
pub use server::{Overrides, ServerLadder};
