//! Members of an entry as they are to be written: its own words, with what is
//! changed.

use crate::doctor::entry::{Entry, Reached, Spot};
use jelly_base::text::redact::{Redactor, holds_secret};

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
        let changed = more.iter().cloned();
        let changed: Vec<_> = changed.map(|(name, value)| (name, Some(value))).collect();
        self.env_changed(&changed)
    }

    /// `"env": {…}`, with these values, and without those that have none.
    pub(super) fn env_changed(&self, changes: &[(String, Option<String>)]) -> String {
        let is_kept = |name: &String| !changes.iter().any(|(other, _)| other == name);
        let members: Vec<String> = self
            .env
            .iter()
            .filter(|(name, _)| is_kept(name))
            .map(|(name, spot)| (name, self.value(name, &spot.text)))
            .chain(
                changes
                    .iter()
                    .filter_map(|(name, value)| Some((name, value.clone()?))),
            )
            .map(|(name, value)| format!("{}: {}", quoted(name), quoted(&value)))
            .collect();
        match members.is_empty() {
            true => "\"env\": {}".to_owned(),
            false => format!("\"env\": {{ {} }}", members.join(", ")),
        }
    }

    fn value(&self, name: &str, text: &str) -> String {
        if holds_secret(name, text) {
            AS_IT_IS.to_owned()
        } else {
            self.shown(text)
        }
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
