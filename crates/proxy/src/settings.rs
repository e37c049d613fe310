//! What is meant, as values.

use super::adapter::StoreSchemas;
use jelly_base::model::UpstreamContext;
use jelly_base::text::redact::Redactor;
use jelly_harness::learned::Store;
use jelly_wire::{Direction, Reach, Recorder};
use std::time::Duration;

/// How a relay behaves.
#[derive(Debug, Clone)]
pub struct RelaySettings {
    /// How long a request waits for a server that is starting.
    pub startup_timeout: Duration,
    /// A server that could not be started is tried again at the next request.
    pub retries: bool,
    /// A server that died in use is started again.
    pub restarts: bool,
    /// A server that can't be started is shown as one with one tool.
    pub stands_in: bool,
    /// What a tool call may take without a sign of life.
    pub call_timeout: Option<Duration>,
    /// What it may take at most.
    pub call_max: Option<Duration>,
    /// What is started, as it may be shown.
    pub context: UpstreamContext,
}

impl Default for RelaySettings {
    fn default() -> Self {
        Self {
            startup_timeout: Duration::from_secs(50),
            retries: true,
            restarts: true,
            stands_in: false,
            call_timeout: None,
            call_max: None,
            context: UpstreamContext::default(),
        }
    }
}

/// What stands before which server.
#[derive(Debug, Clone)]
pub struct ProxySettings {
    /// What the server is called in what is told of it.
    pub name: String,
    /// How it is reached: by a process of its own, or by a URL.
    pub reach: Reach,
    pub relay: RelaySettings,
    pub redactor: Redactor,
    pub recorder: Option<Recorder>,
    /// Texts of tools are read as structured content, where they are it.
    pub adapts: bool,
    /// Where it is kept how, with what stands there.
    pub schemas: Option<(Store, StoreSchemas)>,
}

/// Is shown every message that passes between the proxy and the server.
pub trait Tap {
    /// One line of the wire, without its line feed.
    fn passed(&mut self, direction: Direction, line: &[u8]);
}

/// Nobody looks.
impl Tap for () {
    fn passed(&mut self, _direction: Direction, _line: &[u8]) {}
}

/// Writes them down, redacted.
#[derive(Debug)]
pub(crate) struct Recording {
    pub recorder: Recorder,
    pub server: String,
    pub redactor: Redactor,
}

impl Tap for Recording {
    fn passed(&mut self, direction: Direction, line: &[u8]) {
        self.recorder
            .record(&self.server, direction, line, &self.redactor);
    }
}
