//! What happens while it happens, for `jelly run -v`: on stderr, so that stdout
//! stays what it is in every format.
//!
//! Main type: [`Verbose`].

use super::refusal::complain;
use jelly_base::model::{Event, StepState};
use jelly_base::text::{human_duration, one_line, plural, shell_command};
use std::time::Instant;

/// Columns of what is quoted.
const QUOTED: usize = 300;

/// Tells the events of one plan.
#[derive(Debug)]
pub struct Verbose {
    began: Instant,
    /// The plan, where there are several.
    plan: Option<String>,
}

impl Verbose {
    pub fn new(plan: Option<String>) -> Self {
        Self {
            began: Instant::now(),
            plan,
        }
    }

    /// Says what an event tells; the texts of events are redacted.
    pub fn tell(&self, event: &Event) {
        let Some((who, said)) = told(event) else {
            return;
        };
        let plan = self.plan.as_ref();
        let plan = plan.map_or_else(String::new, |plan| format!("{}: ", one_line(plan, QUOTED)));
        let seconds = self.began.elapsed().as_secs_f64();
        complain(&format!(
            "[{seconds:8.3}s] {plan}{}: {}",
            one_line(&who, QUOTED),
            one_line(&said, 2 * QUOTED)
        ));
    }
}

/// Whom an event is about, and what happened; nothing of what others say.
fn told(event: &Event) -> Option<(String, String)> {
    let of_step = |server: &str, step: &str| format!("{server}/{step}");
    Some(match event {
        Event::IterationStarted { index, steps } => (
            "run".to_owned(),
            format!("iteration {index}, {}", plural(*steps as u64, "step")),
        ),
        Event::ServerStarting { server, argv } => {
            (server.clone(), format!("start {}", shell_command(argv)))
        }
        Event::ServerReady {
            server,
            era,
            protocol_version,
            tools,
            elapsed,
        } => {
            let took = human_duration(*elapsed);
            let said = format!(
                "ready in {took} ({era} {protocol_version}, {})",
                plural(*tools as u64, "tool")
            );
            (server.clone(), said)
        }
        Event::ServerFailed { server, message } => (server.clone(), format!("failed: {message}")),
        Event::ServerRestarting { server } => (server.clone(), "start again".to_owned()),
        Event::MessageSent { step, server, text } => (of_step(server, step), format!("-> {text}")),
        Event::MessageReceived {
            step,
            server,
            text,
            elapsed,
        } => {
            let took = human_duration(*elapsed);
            (of_step(server, step), format!("<- ({took}) {text}"))
        }
        Event::StepFinished { step, message } => {
            let end = match step.state {
                StepState::Passed => "passed",
                StepState::Failed => "failed",
                StepState::Blocked => "blocked",
                StepState::Quarantined => "quarantined",
                StepState::Skipped => "skipped",
            };
            let said = match message {
                Some(message) => format!("{end}: {message}"),
                None => end.to_owned(),
            };
            (of_step(&step.server, &step.id), said)
        }
        Event::Noise { server, line } => (server.clone(), format!("printed on stdout: {line}")),
        Event::Waiting { wait, .. } => {
            let said = format!("wait {} before the next iteration", human_duration(*wait));
            ("run".to_owned(), said)
        }
        Event::HookStarted { hook, argv } => (hook.clone(), format!("run {}", shell_command(argv))),
        Event::Interrupted => ("run".to_owned(), "interrupted".to_owned()),
        // The first and the last words of a run, and what every format says.
        Event::RunStarted { .. }
        | Event::StepStarted { .. }
        | Event::WireChecked { .. }
        | Event::Triaging { .. }
        | Event::IterationFinished { .. }
        | Event::Warning { .. } => return None,
    })
}
