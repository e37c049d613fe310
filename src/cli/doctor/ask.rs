//! What VS Code would ask its user for: taken from the environment, asked on a
//! terminal, or left at its default.

use super::super::settings::World;
use crate::doctor::{Config, Input, Surroundings, fill, variable_of};
use crate::text::redact::Redactor;
use crate::text::sanitize;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::thread;
use tokio::sync::oneshot;

/// The values of all inputs that servers use, by id; those that nobody gave
/// are left out. Passwords are known to the redactor.
pub async fn answers(
    configs: &[Config],
    dry_run: bool,
    world: &World,
    redactor: &Redactor,
) -> BTreeMap<String, String> {
    let may_ask = world.stdin_is_terminal && world.stderr_is_terminal && !world.in_ci() && !dry_run;
    let mut answers = BTreeMap::new();
    for config in configs {
        for input in config.inputs.iter().filter(|input| is_used(config, input)) {
            if answers.contains_key(&input.id) {
                continue;
            }
            let told = world.env.get(&variable_of(&input.id)).cloned();
            let answer = match told.filter(|value| !value.is_empty()) {
                Some(value) => Some(value),
                None if may_ask => ask(input).await,
                None => input.default.clone().filter(|value| !value.is_empty()),
            };
            if let Some(answer) = answer {
                if input.password {
                    redactor.learn([(&input.id, &answer)]);
                }
                answers.insert(input.id.clone(), answer);
            }
        }
    }
    answers
}

fn is_used(config: &Config, input: &Input) -> bool {
    let blank = format!("${{input:{}}}", input.id);
    // A blank is only one where it is read as such.
    let nothing = BTreeMap::new();
    let around = Surroundings {
        env: &nothing,
        inputs: &nothing,
        project: &config.path,
        home: None,
    };
    config
        .entries
        .iter()
        .filter(|entry| !entry.disabled)
        .flat_map(|entry| entry.spots())
        .any(|spot| fill(&spot.text, &around).left.contains(&blank))
}

/// Asks until there is an answer, or the input ends. Dropping the future gives
/// the terminal its echo back.
async fn ask(input: &Input) -> Option<String> {
    let _quiet = input.password.then(Quiet::new).flatten();
    loop {
        let mut prompt = sanitize(input.description.as_deref().unwrap_or(&input.id)).into_owned();
        if !input.options.is_empty() {
            let options = sanitize(&input.options.join(", ")).into_owned();
            prompt.push_str(&format!(" ({options})"));
        }
        if let Some(default) = &input.default
            && !input.password
        {
            prompt.push_str(&format!(" [{}]", sanitize(default)));
        }
        let mut err = io::stderr();
        // Where nobody can read the question, nobody answers it.
        write!(err, "{prompt}: ").and_then(|()| err.flush()).ok()?;
        let line = line().await?;
        if input.password {
            // The line end was not shown either.
            let _ = writeln!(err);
        }
        let line = line.trim_end_matches(['\n', '\r']);
        let answer = match &input.default {
            Some(default) if line.is_empty() => default,
            Some(_) | None => line,
        };
        let offered = input.options.is_empty() || input.options.iter().any(|o| o == answer);
        if !answer.is_empty() && offered {
            return Some(answer.to_owned());
        }
    }
}

/// A line of stdin; read by a thread that nobody waits for when jelly is told
/// to stop meanwhile.
async fn line() -> Option<String> {
    let (tell, told) = oneshot::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        // Nobody listens any more after a signal.
        let _ = tell.send(read.ok().filter(|bytes| *bytes > 0).map(|_| line));
    });
    told.await.ok().flatten()
}

/// A terminal that does not show what is typed, as long as this lives.
struct Quiet(Termios);

impl Quiet {
    fn new() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &quiet).ok()?;
        Some(Self(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // A terminal that is gone shows nothing anyway.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}
