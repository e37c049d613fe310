//! A plan as its JSON Schema describes it, for editors.
//!
//! The main function is [`plan_schema`]. The loader reads a tree and not these types,
//! since it says what is wrong in its own words and at its place; a test holds
//! the keys of both against each other, and another one what they refuse.

mod document;
mod operators;
mod package;
mod parts;
mod server;
mod step;
#[cfg(test)]
mod tests;

pub use document::plan_schema;
