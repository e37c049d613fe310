//! What is meant, as values.

use super::account::RequestEnd;
use super::adapter::StoreSchemas;
use super::pass_on::PassOn;
use super::spans::SpanTap;
use super::trouble::Trouble;
use jelly_base::model::{Rung, UpstreamContext};
use jelly_base::text::redact::Redactor;
use jelly_base::text::sanitize;
use jelly_harness::learned::Store;
use jelly_mock::Injector;
use jelly_wire::{Direction, Reach, Recorder};
use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

/// What waits to be written to one side before the other is read on.
pub(crate) const FULL: usize = 4 * 1024 * 1024;

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
    /// What is to go wrong with answers.
    pub faults: Option<Injector>,
    /// A client of the modern era may ask without a probe: then the server is
    /// asked for its era first.
    pub asks_era: bool,
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
            faults: None,
            asks_era: false,
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
    /// Why the server is not to be used: it is never started, and this is what
    /// clients are answered.
    pub refused: Option<Trouble>,
    pub redactor: Redactor,
    pub recorder: Option<Recorder>,
    /// Where a span of each request goes.
    pub otlp: Option<String>,
    /// Texts of tools are read as structured content, where they are it.
    pub adapts: bool,
    /// Where it is kept how, with what stands there.
    pub schemas: Option<(Store, StoreSchemas)>,
}

/// Is shown every message that passes between the proxy and the server.
pub trait Tap {
    /// One line of the wire, without its line feed.
    fn passed(&mut self, direction: Direction, line: &[u8]);

    /// A request of the client has come to its end.
    fn ended(&mut self, _end: &RequestEnd<'_>) {}
}

/// Nobody looks.
impl Tap for () {
    fn passed(&mut self, _direction: Direction, _line: &[u8]) {}
}

/// Tools of which it is known how their outputs were read last.
const RUNGS: usize = 10_000;

/// All who look: a recording, spans and the log.
pub(crate) struct Onlookers {
    pub recording: Option<Recording>,
    pub spans: Option<SpanTap>,
    pub log: PassOn,
    pub redactor: Redactor,
    /// How the outputs of each tool were read last.
    pub rungs: HashMap<String, Rung>,
}

/// Messages are written down, redacted.
#[derive(Debug)]
pub(crate) struct Recording {
    pub recorder: Recorder,
    pub server: String,
    pub redactor: Redactor,
}

impl Tap for Onlookers {
    fn passed(&mut self, direction: Direction, line: &[u8]) {
        if let Some(recording) = &mut self.recording {
            recording
                .recorder
                .record(&recording.server, direction, line, &recording.redactor);
            if let Some(warning) = recording.recorder.new_warning() {
                let _ = writeln!(self.log, "jelly proxy: warning: {warning}");
            }
        }
    }

    fn ended(&mut self, end: &RequestEnd<'_>) {
        if let Some(spans) = &self.spans {
            spans.note(end);
        }
        let (Some(tool), Some(rung)) = (end.tool, end.rung) else {
            return;
        };
        if self.rungs.get(tool) == Some(&rung) || self.rungs.len() >= RUNGS {
            return;
        }
        let was = self.rungs.insert(tool.to_owned(), rung);
        // Structured content is nothing to speak of, unless it was something else.
        if was.is_some() || rung != Rung::Structured {
            let tool = self.redactor.redact(tool);
            let _ = writeln!(
                self.log,
                "jelly proxy: outputs of `{}` are read by {} now",
                sanitize(&tool),
                rung.name()
            );
        }
    }
}
