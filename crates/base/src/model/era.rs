//! The two eras of MCP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How client and server agree on what they speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// 2026-07-28 and later: no handshake, metadata in every request.
    Modern,
    /// 2024-11-05 to 2025-11-25: `initialize`.
    Legacy,
}

/// The published revisions of the protocol, newest first, and their eras.
pub const REVISIONS: [(&str, Era); 5] = [
    ("2026-07-28", Era::Modern),
    ("2025-11-25", Era::Legacy),
    ("2025-06-18", Era::Legacy),
    ("2025-03-26", Era::Legacy),
    ("2024-11-05", Era::Legacy),
];

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
