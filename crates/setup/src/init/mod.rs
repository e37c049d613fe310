//! What a server lists → a commented plan for it.
//!
//! The main type is [`Draft`]: made of an [`Inventory`], written as text, and
//! told what came of running that text, until all that is left in it passes.
//! Pure: others start the server, run the plan and keep the file.
//!
//! [`Inventory`]: jelly_base::model::Inventory

mod arguments;
mod choice;
mod draft;
mod names;
mod number;
mod observed;
mod parts;
mod pattern;
mod phrase;
mod sample;
mod shape;
#[cfg(test)]
mod tests;
mod text;
mod tool;
mod values;
mod varies;
mod write;

pub use draft::{Called, Draft, Folder, Outcome, Settings};
pub use names::server_name;
pub use observed::{Observation, Observed, described, observed_plan, observed_step, sent_again};
pub use varies::compare_sessions;
