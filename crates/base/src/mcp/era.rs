//! The two eras of MCP.

use super::method::{DISCOVER, INITIALIZE};
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

impl Era {
    /// The request that opens a connection.
    #[must_use]
    pub fn opening(self) -> &'static str {
        match self {
            Self::Modern => DISCOVER,
            Self::Legacy => INITIALIZE,
        }
    }

    /// The one that is not this.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Modern => Self::Legacy,
            Self::Legacy => Self::Modern,
        }
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
