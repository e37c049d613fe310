//! From a plan's text to a [`Plan`].

use super::{Plan, PlanSource};

/// Everything that is wrong with a plan, at once.
#[derive(Debug, Clone)]
pub struct PlanError {
    pub source: PlanSource,
}

/// Reads a plan.
///
/// # Errors
/// All that is wrong with it, in the order of the file.
pub fn load(source: PlanSource) -> Result<Plan, PlanError> {
    Err(PlanError { source })
}
