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
    /// The iteration was triaged, and this is what comes next.
    IterationFinished {
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
