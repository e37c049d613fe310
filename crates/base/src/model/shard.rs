//! Which part of a list of plans a call ran, and what its result has to say so
//! that those of all parts can be put together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// One part of so many, as in `3/10`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    /// From 1.
    index: u32,
    total: u32,
}

impl Shard {
    /// None unless the index is one of `1..=total`.
    #[must_use]
    pub fn new(index: u32, total: u32) -> Option<Self> {
        (1..=total)
            .contains(&index)
            .then_some(Self { index, total })
    }

    /// From 1.
    #[must_use]
    pub fn index(self) -> u32 {
        self.index
    }

    #[must_use]
    pub fn total(self) -> u32 {
        self.total
    }
}

impl Display for Shard {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.total)
    }
}

/// What a result says of the shard that it is of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShardRecord {
    /// The same for all shards and attempts of one run.
    pub run_key: String,
    /// Which time this shard was run; not always from 1, and rising.
    pub attempt: u64,
    /// From 1.
    pub index: u32,
    /// Shards of the run.
    pub total: u32,
    /// Whether green is green only at first sight and as written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// Of what decides which steps run and how: filters, variables, the lock;
    /// empty where an earlier version wrote it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flags_sha256: String,
    /// Of the file of durations by which plans were assigned; absent where
    /// they were assigned by hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_sha256: Option<String>,
    /// Of the file of known failures; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_sha256: Option<String>,
    /// The entries of that file, for which `jelly merge` judges whether they
    /// still hold; none where `--only` or `--skip` left something out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<super::KnownEntry>,
    /// Of the list of plans, whatever its order.
    pub plans_sha256: String,
    /// All plans of the run, in the order in which they were named.
    pub plans: Vec<ShardPlan>,
    /// Paths of this shard's plans in which `--only` and `--skip` leave no
    /// step, once for each run that is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl ShardRecord {
    /// The key of a run that nobody named: every run of the same plans has it.
    #[must_use]
    pub fn key_of_plans(plans_sha256: &str) -> String {
        format!("plans/{plans_sha256}")
    }

    /// Whether the key is that of one run, by `--run-key` or the CI.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.run_key != Self::key_of_plans(&self.plans_sha256)
    }

    /// None where it counts what can't be.
    #[must_use]
    pub fn shard(&self) -> Option<Shard> {
        Shard::new(self.index, self.total)
    }
}

/// One plan of the whole list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShardPlan {
    /// Relative to the project, with `/` between folders.
    pub path: String,
    /// The path as the user gave it.
    pub named: String,
    /// The shard that runs it, from 1.
    pub shard: u32,
    /// How often it is run: once for each combination of its matrix.
    pub runs: u32,
    /// Of the file; null where it could not be read.
    pub sha256: Option<String>,
}

/// A shard that a merged result counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergedShard {
    /// From 1.
    pub index: u32,
    /// The attempt that counts.
    pub attempt: u64,
    /// Of its call.
    pub run_id: String,
    /// Where its result was read.
    pub folder: String,
    /// What its own call ended with.
    pub exit_code: u8,
    /// Plans that it ran.
    pub plans: u32,
    /// Earlier attempts, which do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<SupersededAttempt>,
}

/// An earlier attempt of a shard.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SupersededAttempt {
    /// Lower than the one that counts.
    pub attempt: u64,
    /// Where its result was read.
    pub folder: String,
    /// What its call ended with; null where it did not end.
    pub exit_code: Option<u8>,
}
