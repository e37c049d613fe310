//! What a server lists of itself.

use serde_json::Value;

/// The lists of one server, as it sent them: nothing is redacted, and an item
/// may be anything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inventory {
    /// `name`, `version`, and what else it tells; null where it tells nothing.
    pub server_info: Value,
    /// `modern` or `legacy`.
    pub era: String,
    /// As on the wire, such as `2025-11-25`.
    pub protocol_version: String,
    /// An object, as the server sent it.
    pub capabilities: Value,
    pub instructions: Option<String>,
    /// Absent where the server says it has none, or did not list them.
    pub tools: Option<Vec<Value>>,
    pub resources: Option<Vec<Value>>,
    pub resource_templates: Option<Vec<Value>>,
    pub prompts: Option<Vec<Value>>,
}
