//! Which way values go, and what a schema allows beside another.

use serde::Deserialize;

/// Which way the values go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From client to server: the new schema has to allow what the old one does.
    Input,
    /// From server to client: the old schema has to allow what the new one does.
    Output,
}

impl Direction {
    /// For what stands behind a `not`.
    #[must_use]
    pub(super) fn flipped(self) -> Self {
        match self {
            Self::Input => Self::Output,
            Self::Output => Self::Input,
        }
    }
}

/// What the new schema allows beside the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    More,
    Less,
    /// Neither can be shown.
    Other,
}
