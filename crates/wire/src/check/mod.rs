//! Whether what a server sends is what the specification of its revision
//! allows.
//!
//! Main type: [`Checker`]. It sees each line of the server and what it was
//! asked, and says where the server departs from the specification, with the
//! JSON pointer and the section. What a revision knows is data (`revisions/`);
//! what can't be said as a shape is a [`Rule`].
//!
//! Pure: no input or output, no clock. It must not know what a breach means
//! for a run. Input is hostile: depth is bounded by the shapes and by the JSON
//! parser, memory by limits that each have a name.

mod answers;
mod asks;
mod checker;
mod duplicates;
mod fit;
mod load;
mod notices;
mod rules;
mod specification;
mod strings;

pub use checker::Checker;
pub use rules::{RULES, Rule};

#[cfg(test)]
mod tests;
