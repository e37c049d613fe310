//! Where a run comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a run comes from, as far as anybody knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunOrigin {
    /// Such as `acme/shop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// A branch, or a pull request such as `pull/7`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that was checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What all jobs of the run have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_key: Option<String>,
    /// Of the run in the CI, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
    /// From 1; absent where one job did all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<u32>,
    /// Of how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shards: Option<u32>,
}

impl RunOrigin {
    /// Nothing is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a run of this origin may be the same project's.
    #[must_use]
    pub fn may_share_project(&self, other: &Self) -> bool {
        may_equal(self.project.as_deref(), other.project.as_deref())
    }

    /// Whether a run of this origin may be of the same branch.
    #[must_use]
    pub fn may_share_branch(&self, other: &Self) -> bool {
        may_equal(self.branch.as_deref(), other.branch.as_deref())
    }
}

/// What is not known may be anything.
fn may_equal(one: Option<&str>, other: Option<&str>) -> bool {
    one.is_none() || other.is_none() || one == other
}
