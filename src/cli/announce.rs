//! What a run says of itself to the program that started it, while it runs:
//! JSON Lines on stderr, among what people are told.
//!
//! Main type: [`Announcement`].

use jelly_base::model::{Event, StepState};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// One line. Each is an object with one key that nothing else begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Announcement {
    #[serde(rename = "jelly:run")]
    Run { run_id: String },
    #[serde(rename = "jelly:iteration")]
    Iteration { index: u32, steps: usize },
    #[serde(rename = "jelly:step")]
    Step { step: String, state: StepState },
}

impl Announcement {
    /// What there is to announce of an event.
    pub fn of(event: &Event) -> Option<Self> {
        match event {
            Event::IterationStarted { index, steps } => Some(Self::Iteration {
                index: *index,
                steps: *steps,
            }),
            Event::StepFinished { step, .. } => Some(Self::Step {
                step: step.id.clone(),
                state: step.state,
            }),
            Event::RunStarted { .. }
            | Event::ServerStarting { .. }
            | Event::ServerReady { .. }
            | Event::ServerFailed { .. }
            | Event::ServerRestarting { .. }
            | Event::StepStarted { .. }
            | Event::MessageSent { .. }
            | Event::MessageReceived { .. }
            | Event::Noise { .. }
            | Event::WireChecked { .. }
            | Event::Triaging { .. }
            | Event::IterationFinished { .. }
            | Event::Waiting { .. }
            | Event::HookStarted { .. }
            | Event::Interrupted
            | Event::Warning { .. } => None,
        }
    }

    /// Says it; whoever started the run may have gone.
    pub fn announce(&self) {
        if let Ok(line) = serde_json::to_string(self) {
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    /// Reads a line of a run's stderr.
    #[cfg(feature = "serve")]
    pub fn read(line: &str) -> Option<Self> {
        let is_one = line.starts_with("{\"jelly:");
        is_one.then(|| serde_json::from_str(line).ok()).flatten()
    }
}
