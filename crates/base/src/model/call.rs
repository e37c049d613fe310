//! What `jelly call` prints.
//!
//! Main type: [`CallReport`].

use super::{Diagnosis, RpcError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// One call of a tool, redacted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CallReport {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    /// Of `jelly call`.
    pub exit_code: u8,
    /// As it was named.
    pub server: String,
    /// Its name.
    pub tool: String,
    /// As they were sent.
    pub arguments: Value,
    /// From the call to its end.
    pub duration_ms: u64,
    /// The result as the server sent it, `isError: true` included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The JSON-RPC error that came in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RpcError>,
    /// What is wrong, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Diagnosis>,
}
