//! What execution tells reporters while it happens. Reporters never steer.

use super::{ActionKind, IterationReport, StepReport, WireCheck};
use std::time::Duration;

/// Something a reporter may show. All texts are redacted.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    RunStarted {
        plan: String,
        servers: usize,
        steps: usize,
    },
    IterationStarted {
        /// 1-based.
        index: u32,
        steps: usize,
    },
    ServerStarting {
        server: String,
        argv: Vec<String>,
    },
    ServerReady {
        server: String,
        era: String,
        protocol_version: String,
        tools: usize,
        elapsed: Duration,
    },
    /// It never became ready, or died.
    ServerFailed {
        server: String,
        message: String,
    },
    ServerRestarting {
        server: String,
    },
    StepStarted {
        step: String,
        server: String,
    },
    /// What a step asks of its server, in short; only where that is to be told.
    MessageSent {
        step: String,
        server: String,
        text: String,
    },
    /// What came of it, likewise.
    MessageReceived {
        step: String,
        server: String,
        text: String,
        elapsed: Duration,
    },
    /// Also for steps that were not executed.
    StepFinished {
        step: Box<StepReport>,
        /// The failure in a sentence, for a failed step.
        message: Option<String>,
    },
    /// A server prints more than messages on its stdout.
    Noise {
        server: String,
        line: String,
    },
    /// The messages of a server were held against the specification.
    WireChecked {
        server: String,
        check: Box<WireCheck>,
    },
    /// All answers are there, and their failures are looked at.
    Triaging {
        failures: usize,
    },
    /// The iteration was triaged, and this is what comes next.
    IterationFinished {
        /// Without the steps, of which each was told of when it ended.
        report: Box<IterationReport>,
    },
    Waiting {
        reason: ActionKind,
        wait: Duration,
    },
    HookStarted {
        hook: String,
        argv: Vec<String>,
    },
    /// A signal arrived; servers are being stopped.
    Interrupted,
    Warning {
        message: String,
    },
}

/// Where events go. Called on the runtime's thread; must not block.
pub type EventSink = std::rc::Rc<dyn Fn(Event)>;

/// Where warnings go: each is told at once, and kept for the reports. All
/// clones keep the same ones.
#[derive(Clone)]
pub struct Warnings {
    events: EventSink,
    said: std::rc::Rc<std::cell::RefCell<Vec<String>>>,
}

impl Warnings {
    /// That tells them to `events`.
    #[must_use]
    pub fn new(events: EventSink) -> Self {
        Self {
            events,
            said: std::rc::Rc::default(),
        }
    }

    /// Warns, but of the same thing only once.
    pub fn warn(&self, message: String) {
        let mut said = self.said.borrow_mut();
        if !said.contains(&message) {
            said.push(message.clone());
            drop(said);
            (self.events)(Event::Warning { message });
        }
    }

    /// All that was warned of, in order.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        self.said.borrow().clone()
    }
}
