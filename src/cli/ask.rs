//! What a person is asked on a terminal.

use super::settings::World;
use crate::process::Terminal;
use crate::text::sanitize;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, BufRead, Write};
use std::thread;
use tokio::sync::oneshot;

/// A question for a value.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub prompt: &'a str,
    /// Of which one is to be picked; any text where there are none.
    pub options: &'a [String],
    /// What an empty line means.
    pub default: Option<&'a str>,
    /// Not to be shown while it is typed.
    pub secret: bool,
}

/// Whether somebody is there to be asked.
pub fn may_ask(world: &World) -> bool {
    world.stdin_is_terminal && world.stderr_is_terminal && !world.in_ci()
}

/// Asks until there is an answer, or the input ends. Dropping the future gives
/// the terminal its echo back.
pub async fn ask(question: &Question<'_>) -> Option<String> {
    // Dropped after the echo is back, which only who is in front may change.
    let _terminal = Terminal::take();
    let _quiet = question.secret.then(Quiet::new).flatten();
    loop {
        let mut prompt = sanitize(question.prompt).into_owned();
        if !question.options.is_empty() {
            let options = sanitize(&question.options.join(", ")).into_owned();
            prompt.push_str(&format!(" ({options})"));
        }
        if let Some(default) = question.default
            && !question.secret
        {
            prompt.push_str(&format!(" [{}]", sanitize(default)));
        }
        let mut err = io::stderr();
        // Where nobody can read the question, nobody answers it.
        write!(err, "{prompt}: ").and_then(|()| err.flush()).ok()?;
        let line = line().await?;
        if question.secret {
            // The line end was not shown either.
            let _ = writeln!(err);
        }
        let line = line.trim_end_matches(['\n', '\r']);
        let answer = match question.default {
            Some(default) if line.is_empty() => default,
            Some(_) | None => line,
        };
        let offered = question.options.is_empty() || question.options.iter().any(|o| o == answer);
        if !answer.is_empty() && offered {
            return Some(answer.to_owned());
        }
    }
}

/// Asks on stdout until an answer is understood; none where the input ends.
///
/// # Errors
/// Nobody can be asked.
pub fn choose<T>(
    question: &str,
    understand: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, String> {
    loop {
        let mut out = io::stdout();
        let asked = write!(out, "{question}").and_then(|()| out.flush());
        asked.map_err(|error| format!("the question can't be shown: {error}"))?;
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        if read.map_err(|error| format!("the answer can't be read: {error}"))? == 0 {
            return Ok(None);
        }
        if let Some(answer) = understand(&line) {
            return Ok(Some(answer));
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
