//! How long an answer is waited for.
//!
//! Main type: [`Patience`].

use std::time::Duration;

/// How long an answer is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    pub limit: Duration,
    /// Each progress notification begins the limit anew, and this is the most that
    /// it may come to in all.
    pub total: Option<Duration>,
}

impl From<Duration> for Patience {
    fn from(limit: Duration) -> Self {
        Self { limit, total: None }
    }
}

impl Patience {
    /// The longest that it may take.
    pub(super) fn at_most(self) -> Duration {
        self.total.unwrap_or(self.limit)
    }

    pub(super) fn asking(self, bare: bool) -> Asking {
        Asking {
            bare,
            extends: self.total.map(|_| self.limit),
        }
    }
}

/// How a request goes out, and is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asking {
    /// As it is, with nothing added.
    pub bare: bool,
    /// So long from each progress on, where that counts.
    pub extends: Option<Duration>,
}
