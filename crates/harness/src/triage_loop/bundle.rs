//! What a hook gets to read: the triage bundle.

use super::hooks::Hook;
use jelly_base::model::{BeforeAfter, FailureReport, IterationReport, SCHEMA_VERSION};
use jelly_base::text::redact::Redactor;
use schemars::JsonSchema;
use serde::Serialize;

/// What a hook reads on its stdin.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Bundle<'a> {
    /// Raised when a field changes its meaning.
    schema_version: u32,
    /// `fix_tests` or `refine_code`.
    hook: &'a str,
    /// Path of the plan.
    plan: &'a str,
    /// The failures of the last iteration, each with its diagnosis.
    failures: Option<&'a [FailureReport]>,
    /// What is left of each budget.
    budgets: Option<BeforeAfter>,
    /// All of the last iteration.
    iteration: Option<&'a IterationReport>,
}

/// JSON, redacted, with a newline at its end: which plan, what its last
/// iteration showed, each failure with its diagnosis, and the budgets left.
pub(super) fn bundle(
    hook: Hook,
    plan: &str,
    iteration: Option<&IterationReport>,
    redactor: &Redactor,
) -> Vec<u8> {
    let bundle = Bundle {
        schema_version: SCHEMA_VERSION,
        hook: hook.name(),
        plan,
        failures: iteration.map(|i| i.failures.as_slice()),
        budgets: iteration.map(|i| i.budgets),
        iteration,
    };
    let mut value = serde_json::json!(bundle);
    redactor.redact_json(&mut value);
    let mut bytes = value.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}
