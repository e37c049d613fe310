//! What a person is asked on a terminal.

use super::out::{stderr, stdout};
use super::settings::World;
use jelly_base::text::{Notation, one_line, sanitize};
use jelly_package::Input;
use jelly_process::Terminal;
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
        if question.is_numbered() {
            for (at, option) in question.options.iter().enumerate() {
                prompt.push_str(&format!("\n  {}  {}", at + 1, sanitize(option)));
            }
            prompt.push_str("\nnumber");
        } else if !question.options.is_empty() {
            let options = sanitize(&question.options.join(", ")).into_owned();
            prompt.push_str(&format!(" ({options})"));
        }
        if let Some(default) = question.default
            && !question.secret
        {
            prompt.push_str(&format!(" [{}]", sanitize(default)));
        }
        let mut err = stderr();
        // Where nobody can read the question, nobody answers it.
        write!(err, "{prompt}: ").and_then(|()| err.flush()).ok()?;
        let line = line().await?;
        if question.secret {
            // The line end was not shown either.
            let _ = writeln!(err);
        }
        match question.understand(line.trim_end_matches(['\n', '\r'])) {
            Ok(answer) => return Some(answer.to_owned()),
            Err(why) => writeln!(err, "{why}").ok()?,
        }
    }
}

impl<'a> Question<'a> {
    /// For an input of a package, which people know by its description.
    pub fn of_input(name: &'a str, input: &'a Input, secret: bool) -> Self {
        Self {
            prompt: input.description.as_deref().unwrap_or(name),
            options: &input.choices,
            default: input.default.as_deref(),
            secret,
        }
    }

    /// Nobody types several words to pick one of a list.
    fn is_numbered(&self) -> bool {
        self.options.iter().any(|option| option.contains(' '))
    }

    /// What a line means, or why it means nothing.
    fn understand(&self, line: &'a str) -> Result<&'a str, String> {
        let answer = match self.default {
            Some(default) if line.is_empty() => default,
            Some(_) | None => line,
        };
        if answer.is_empty() {
            return Err("it is needed: there is no default".to_owned());
        }
        if self.options.is_empty() {
            return Ok(answer);
        }
        if let Some(option) = self.options.iter().find(|option| *option == answer.trim()) {
            return Ok(option);
        }
        let number = answer.trim().parse::<usize>().ok();
        let numbered = number.filter(|_| self.is_numbered());
        let picked = numbered.and_then(|n| self.options.get(n.checked_sub(1)?));
        picked.map(String::as_str).ok_or_else(|| match self.secret {
            true => "that is not one of them".to_owned(),
            false => format!("`{}` is not one of them", one_line(answer, 80)),
        })
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
        let mut out = stdout(Notation::Plain);
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

/// What a line means that answers a question of yes and no.
pub fn yes_or_no(line: &str) -> Option<bool> {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Question;

    #[test]
    fn an_answer_is_one_of_the_options_or_the_number_of_one() {
        let options = ["npm one".to_owned(), "remote two".to_owned()];
        let question = Question {
            prompt: "Which?",
            options: &options,
            default: Some("npm one"),
            secret: false,
        };
        for (line, wanted) in [
            ("", Ok("npm one")),
            ("remote two", Ok("remote two")),
            (" 2 ", Ok("remote two")),
            ("0", Err("`0` is not one of them")),
            ("3", Err("`3` is not one of them")),
            ("two", Err("`two` is not one of them")),
        ] {
            let wanted = wanted.map_err(str::to_owned);
            assert_eq!(question.understand(line), wanted, "{line}");
        }
        let words = ["2".to_owned(), "one".to_owned()];
        let plain = Question {
            options: &words,
            default: None,
            ..question
        };
        assert_eq!(plain.understand("2"), Ok("2"));
        assert!(plain.understand("1").is_err() && plain.understand("").is_err());
    }
}
