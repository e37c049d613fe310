//! How long clients wait for a server.

/// How long a client waits for a server to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StartupLimit {
    /// Seconds, where nothing else is said; those of the SDKs' requests where
    /// the client's own are not documented.
    pub seconds: u64,
    /// Members of a server that say another, and how many of them are a second.
    pub members: &'static [(&'static str, u64)],
}

pub(super) const fn limit(seconds: u64, members: &'static [(&'static str, u64)]) -> StartupLimit {
    StartupLimit { seconds, members }
}
