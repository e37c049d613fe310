//! What to run again, in the words of the framework that ran it.
//!
//! The main function is [`plan`]. `framework` names a test as the command line
//! of its framework does, by what the files in `frameworks/` say; `origins` keeps
//! tests of different projects apart; `recipe` makes commands of the names.

mod framework;
mod origins;
mod plan;
mod recipe;
mod target;

pub use plan::{Hint, Hints, plan};

#[cfg(test)]
mod tests;
