//! How long clients wait for a server.

/// How long a client waits for a server to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StartupLimit {
    /// Seconds, where nothing else is said; those of the SDKs' requests where
    /// the client's own are not documented.
    pub seconds: u64,
    /// Members of a server that say another, and how many of them are a second.
    pub members: &'static [(&'static str, u64)],
    /// The variable that the client is started with, and that says another in
    /// milliseconds.
    pub variable: Option<&'static str>,
    /// Whether it is known to give up then.
    pub ends: bool,
}

pub(super) const fn limit(seconds: u64, members: &'static [(&'static str, u64)]) -> StartupLimit {
    StartupLimit {
        seconds,
        members,
        variable: None,
        ends: true,
    }
}

impl StartupLimit {
    /// What no client is known to keep to: as long as people wait.
    pub(super) const fn patience(seconds: u64) -> Self {
        Self {
            ends: false,
            ..limit(seconds, &[])
        }
    }

    /// That a variable says another.
    pub(super) const fn or_by(self, variable: &'static str) -> Self {
        Self {
            variable: Some(variable),
            ..self
        }
    }
}
