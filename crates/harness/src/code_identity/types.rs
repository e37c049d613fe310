//! What is proved of the code of servers.

use std::collections::BTreeMap;
use std::fmt;

/// What proves which code a server runs: equal for equal code, on every machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CodeIdentity {
    /// Its files are those of this commit, with a clean work tree round them.
    Commit(String),
    /// One exact version that was published, as in `npm a@1.2.3`, or an image by
    /// its digest.
    Published(String),
}

impl fmt::Display for CodeIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Commit(commit) => write!(f, "commit {commit}"),
            Self::Published(version) => f.write_str(version),
        }
    }
}

/// By server, what is proved of its code; nothing of those that are not in it.
pub type ServerCode = BTreeMap<String, CodeIdentity>;
