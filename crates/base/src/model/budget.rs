//! How often an action may still happen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The limits of one run of one plan; defaults as documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// At least 1.
    pub max_iterations: u32,
    pub retries: u32,
    /// Counted per failure; 0 leaves a mismatch ambiguous.
    pub confirms: u32,
    pub mcp_repairs: u32,
    pub test_fixes: u32,
    pub code_refines: u32,
    /// Bounds all of the run, hooks and back-off included.
    pub deadline: Duration,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            max_iterations: 5,
            retries: 2,
            confirms: 1,
            mcp_repairs: 3,
            test_fixes: 2,
            code_refines: 2,
            deadline: Duration::from_secs(15 * 60),
        }
    }
}

/// The budgets that actions draw on.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Track {
    Retries,
    Confirms,
    McpRepairs,
    TestFixes,
    CodeRefines,
}

/// What has been spent of each budget so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    pub iterations: u32,
    pub retries: u32,
    /// Iterations charged for confirming, whatever the number of failures.
    pub confirms: u32,
    pub mcp_repairs: u32,
    pub test_fixes: u32,
    pub code_refines: u32,
}
