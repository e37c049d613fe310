//! What a hook gets to read: the triage bundle.

use super::hooks::Hook;
use crate::model::{IterationReport, SCHEMA_VERSION};
use crate::text::redact::Redactor;
use serde_json::json;

/// JSON, redacted, with a newline at its end: which plan, what its last
/// iteration showed, each failure with its diagnosis, and the budgets left.
pub(super) fn bundle(
    hook: Hook,
    plan: &str,
    iteration: Option<&IterationReport>,
    redactor: &Redactor,
) -> Vec<u8> {
    let mut value = json!({
        "schema_version": SCHEMA_VERSION,
        "hook": hook.name(),
        "plan": plan,
        "failures": iteration.map(|i| &i.failures),
        "budgets": iteration.map(|i| i.budgets),
        "iteration": iteration,
    });
    redactor.redact_json(&mut value);
    let mut bytes = value.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}
