//! The text of a plan and where it came from.

use std::path::PathBuf;
use std::sync::Arc;

/// A plan's text, kept so that errors can quote it and edits can splice it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanSource {
    /// As the user gave it; shown in errors and reports.
    pub path: PathBuf,
    pub text: Arc<str>,
}
