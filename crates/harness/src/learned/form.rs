//! The form of the file, described for editors and other programs.

use schemars::JsonSchema;
use serde_json::Value;
use std::collections::BTreeMap;

/// What is known of tools' outputs, and the schemas that a person sets for
/// them. Keys that stand nowhere here may be added at every level; jelly keeps
/// them.
#[derive(Debug, JsonSchema)]
pub struct StoreFile {
    /// Of the form of the file. A later one is left alone.
    #[schemars(range(max = 1))]
    pub schema_version: Option<u64>,
    /// By their names in the plan.
    pub servers: Option<BTreeMap<String, StoredServer>>,
}

/// What is known of one server.
#[derive(Debug, JsonSchema)]
pub struct StoredServer {
    /// By their real names.
    pub tools: Option<BTreeMap<String, StoredTool>>,
}

/// What is known of one tool's outputs.
#[derive(Debug, JsonSchema)]
pub struct StoredTool {
    /// What stands for the tool's outputs: what its server declares, the
    /// generic schema, or any other that a person sets.
    #[schemars(rename = "outputSchema", extend("type" = ["object", "boolean"]))]
    pub schema: Option<Value>,
    /// What its server declared last.
    #[schemars(rename = "declaredOutputSchema")]
    pub declared: Option<Value>,
    /// Whether `outputSchema` is a person's, where that can't be seen from it.
    #[schemars(rename = "override")]
    pub is_override: Option<bool>,
    /// The rung of the last output; `pass_through` is `structured`.
    #[schemars(extend("enum" = ["pass_through", "json_text", "declared", "generic"]))]
    pub last_adapter: Option<String>,
    /// How often in a row it was `generic`.
    #[schemars(rename = "consecutive_generic_count")]
    pub generic_count: Option<u64>,
    /// When anything of this tool last changed (RFC 3339).
    pub updated_at: Option<String>,
}
