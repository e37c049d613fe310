//! Members of an entry as they are to be written: its own words, with what is
//! changed.

use crate::doctor::entry::{Entry, Reached, Spot};
use crate::text::redact::{Redactor, holds_secret};

/// What stands in place of a value that is not to be shown.
pub(super) const AS_IT_IS: &str = "<as it stands>";

/// An entry with a command.
#[derive(Clone, Copy)]
pub(super) struct Started<'a> {
    pub command: &'a Spot,
    pub args: &'a [Spot],
    pub env: &'a [(String, Spot)],
    redactor: &'a Redactor,
}

impl<'a> Started<'a> {
    pub(super) fn of(entry: &'a Entry, redactor: &'a Redactor) -> Option<Self> {
        match entry.reached.as_ref()? {
            Reached::Command {
                command, args, env, ..
            } => Some(Self {
                command,
                args,
                env,
                redactor,
            }),
            Reached::Url { .. } => None,
        }
    }

    /// The arguments as they are written, and no secrets.
    pub(super) fn words(&self) -> Vec<String> {
        self.args.iter().map(|arg| self.shown(&arg.text)).collect()
    }

    pub(super) fn shown(&self, text: &str) -> String {
        if self.redactor.redact(text) == text {
            text.to_owned()
        } else {
            AS_IT_IS.to_owned()
        }
    }

    /// `"env": {…}`, with these values besides.
    pub(super) fn env_with(&self, more: &[(String, String)]) -> String {
        let is_new = |name: &String| !more.iter().any(|(other, _)| other == name);
        let kept = self
            .env
            .iter()
            .filter(|(name, _)| is_new(name))
            .map(|(name, spot)| (name.clone(), self.value(name, &spot.text)));
        env_of(kept.chain(more.iter().cloned()))
    }

    /// `"env": {…}`, with these variables naming stdio, or left out.
    pub(super) fn env_in_stdio(&self, variables: &[(&str, bool)]) -> String {
        env_of(self.env.iter().filter_map(|(name, spot)| {
            let found = variables.iter().find(|(other, _)| other == name);
            match found {
                Some((_, false)) => None,
                Some((_, true)) => Some((name.clone(), "stdio".to_owned())),
                None => Some((name.clone(), self.value(name, &spot.text))),
            }
        }))
    }

    fn value(&self, name: &str, text: &str) -> String {
        if holds_secret(name, text) {
            AS_IT_IS.to_owned()
        } else {
            self.shown(text)
        }
    }
}

fn env_of(variables: impl Iterator<Item = (String, String)>) -> String {
    let members: Vec<String> = variables
        .map(|(name, value)| format!("{}: {}", quoted(&name), quoted(&value)))
        .collect();
    match members.is_empty() {
        true => "\"env\": {}".to_owned(),
        false => format!("\"env\": {{ {} }}", members.join(", ")),
    }
}

/// `"args": […]`.
pub(super) fn args(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("\"args\": [{}]", words.join(", "))
}

/// `"command": "…"`.
pub(super) fn command(text: &str) -> String {
    format!("\"command\": {}", quoted(text))
}

/// Both in one line.
pub(super) fn command_and_args(text: &str, words: &[String]) -> String {
    format!("{}, {}", command(text), args(words))
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
