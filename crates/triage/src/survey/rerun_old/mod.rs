//! What to run again, in the words of the framework that ran it.
//!
//! The main function is [`plan`]. One file a family of frameworks says how a
//! test is named on its command line; `recipe` makes commands of the names, and
//! `shell` makes them safe to paste.

mod framework;
mod jvm;
mod native;
mod node;
mod others;
mod pattern;
mod plan;
mod python;
mod recipe;
mod target;

mod diff;
#[cfg(test)]
mod tests;
