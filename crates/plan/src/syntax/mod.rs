//! A plan's text as a tree that knows where every value and key stands.
//!
//! The main type is [`Node`]. Errors and edits both need exact bytes, which
//! is why a plan is not deserialized straight into its types. Must not know
//! what a plan means.

mod in_comment;
mod in_flow;
mod json;
mod line;
mod node;
mod scalar;
mod second_key;
mod slips;
#[cfg(test)]
mod tests;
mod whole;
mod yaml;

pub(super) use json::parse as parse_json;
pub(super) use node::{Data, Entry, Node, Span, Style, Trouble};
pub(super) use scalar::{Plain, plain};
pub(super) use slips::{one_word, reference_meant};
pub(super) use yaml::parse as parse_yaml;

use super::source::{Format, MAX_BYTES, PlanSource};

/// The deepest nesting that is read.
pub(super) const MAX_DEPTH: usize = 64;

/// Reads `source` in its format. With troubles, there may still be a tree: of
/// all that could be understood.
pub(super) fn parse(source: &PlanSource) -> (Option<Node<'_>>, Vec<Trouble>) {
    if source.text.len() as u64 > MAX_BYTES {
        let megabytes = MAX_BYTES / 1024 / 1024;
        let trouble = Trouble::new(0..0, format!("longer than {megabytes} MiB"));
        return (None, vec![trouble]);
    }
    match source.format() {
        Format::Json => parse_json(&source.text),
        Format::Yaml => parse_yaml(&source.text),
    }
}
