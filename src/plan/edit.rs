//! Typed edits of a plan, applied to its text so that only the bytes that
//! change, change.

use super::types::DocPath;
use serde_json::Value;

/// One edit of a plan document.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanEdit {
    /// Replace the scalar at `path`, or insert it as a key of its (existing)
    /// parent map where it is absent.
    Set { path: DocPath, value: Value },
    /// Rename the last key of `path`.
    RenameKey { path: DocPath, to: String },
    /// Take the list item at `path` out.
    Remove { path: DocPath },
}

/// Why an edit can't be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("nothing stands at {0}")]
    NotFound(DocPath),
    #[error("{0} comes from an anchor that others share")]
    Shared(DocPath),
    #[error("{0} is no scalar")]
    NotScalar(DocPath),
}
