//! Typed edits of a plan, applied to its text so that only the bytes that
//! change, change: comments, order and quoting of everything else stay.
//!
//! The main type is [`PlanEdit`], the main function [`apply`]. Must not know
//! why a plan is edited.

mod apply;
mod diff;
mod emit;
mod report;
mod splice;
#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "witness"))]
pub mod witness;

pub use apply::apply;
pub use diff::diff;
pub use emit::{yaml_flow, yaml_key};

use super::DocPath;
use serde_json::Value;

/// One edit of a plan document.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanEdit {
    /// Replace the scalar at `path`, or insert it as a key of its (existing)
    /// parent map where it is absent; an index one past the last item of a
    /// list appends to it, and so do those that follow.
    Set { path: DocPath, value: Value },
    /// Rename the last key of `path`.
    RenameKey { path: DocPath, to: String },
    /// Take the list item at `path` out.
    Remove { path: DocPath },
}

impl PlanEdit {
    /// What is edited.
    #[must_use]
    pub fn path(&self) -> &DocPath {
        match self {
            Self::Set { path, .. } | Self::RenameKey { path, .. } | Self::Remove { path } => path,
        }
    }
}

/// Why an edit can't be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("nothing stands at {0}")]
    NotFound(DocPath),
    /// Where the line of the anchor's value is, from 1.
    #[error(
        "{0} is shared through an anchor (line {1}), and an edit there would change the others too"
    )]
    Shared(DocPath, usize),
    #[error("{0} is no scalar")]
    NotScalar(DocPath),
    #[error("{0} is no item of a list")]
    NotItem(DocPath),
    #[error("{0} exists already")]
    Taken(DocPath),
    #[error("two edits meet at {0}")]
    Conflict(DocPath),
    /// The text is written in a way that the edit can't keep.
    #[error("the way the plan is written leaves no room for this edit")]
    Unfaithful,
    #[error("the plan can't be read")]
    Unreadable,
}
