//! What `jelly list` prints.
//!
//! Main type: [`ServerListing`].

use super::{Inventory, SCHEMA_VERSION};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What a server lists of itself, redacted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ServerListing {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    /// As it was named.
    pub server: String,
    /// `modern` or `legacy`.
    pub era: String,
    /// The revision that was agreed on.
    pub protocol_version: String,
    /// As the server says it: `name`, `version`, and what else it tells; null
    /// where it says nothing.
    pub server_info: Value,
    /// As the server declares them.
    pub capabilities: Value,
    /// What the server tells models to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// As listed; absent where the server says it has none. So are the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Value>>,
    /// As listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Vec<Value>>,
    /// As listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<Value>>,
    /// As listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_templates: Option<Vec<Value>>,
}

impl ServerListing {
    /// Of the server with this name; nothing is redacted yet.
    #[must_use]
    pub fn of(server: &str, inventory: Inventory) -> Self {
        let Inventory {
            server_info,
            era,
            protocol_version,
            capabilities,
            instructions,
            tools,
            resources,
            resource_templates,
            prompts,
        } = inventory;
        Self {
            schema_version: SCHEMA_VERSION,
            server: server.to_owned(),
            era,
            protocol_version,
            server_info,
            capabilities,
            instructions,
            tools,
            prompts,
            resources,
            resource_templates,
        }
    }
}
