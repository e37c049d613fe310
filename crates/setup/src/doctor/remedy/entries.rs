//! Members of an entry as they are to be written: its own words, with what is
//! changed.

use crate::doctor::clients::{ClientFormat, quoted};
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
    pub format: &'static ClientFormat,
    redactor: &'a Redactor,
}

impl<'a> Started<'a> {
    pub(super) fn new(
        entry: &'a Entry,
        format: &'static ClientFormat,
        redactor: &'a Redactor,
    ) -> Option<Self> {
        match entry.reached.as_ref()? {
            Reached::Command {
                command, args, env, ..
            } => Some(Self {
                command,
                args,
                env,
                format,
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

    /// The variables, with these values besides.
    pub(super) fn env_with(&self, more: &[(String, String)]) -> String {
        let changed = more.iter().cloned();
        let changed: Vec<_> = changed.map(|(name, value)| (name, Some(value))).collect();
        self.env_changed(&changed)
    }

    /// The variables, with these values, and without those that have none.
    pub(super) fn env_changed(&self, changes: &[(String, Option<String>)]) -> String {
        let is_kept = |name: &String| !changes.iter().any(|(other, _)| other == name);
        let kept = self.env.iter().filter(|(name, _)| is_kept(name));
        let kept = kept.map(|(name, spot)| (name.as_str(), self.value(name, &spot.text)));
        let changed = changes
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), value.clone()?)));
        self.format.member(
            self.format.members.env,
            &self.format.table(kept.chain(changed)),
        )
    }

    /// The arguments: these.
    pub(super) fn args(&self, words: &[String]) -> String {
        match self.format.keeps_words_together() {
            true => self.command_and_args(&self.shown(&self.command.text), words),
            false => self.format.member(self.format.members.args, &list(words)),
        }
    }

    /// The command: this, with the arguments that there are.
    pub(super) fn command(&self, program: &str) -> String {
        match self.format.keeps_words_together() {
            true => self.command_and_args(program, &self.words()),
            false => self
                .format
                .member(self.format.command_name(), &quoted(program)),
        }
    }

    /// Both.
    pub(super) fn command_and_args(&self, program: &str, words: &[String]) -> String {
        let name = self.format.command_name();
        if self.format.keeps_words_together() {
            let all: Vec<String> = std::iter::once(program.to_owned())
                .chain(words.iter().cloned())
                .collect();
            return self.format.member(name, &list(&all));
        }
        self.format.joined(&[
            self.format.member(name, &quoted(program)),
            self.format.member(self.format.members.args, &list(words)),
        ])
    }

    fn value(&self, name: &str, text: &str) -> String {
        if holds_secret(name, text) {
            AS_IT_IS.to_owned()
        } else {
            self.shown(text)
        }
    }
}

/// In brackets, as JSON, TOML and YAML alike have it.
fn list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}
