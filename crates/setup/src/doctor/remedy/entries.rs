//! Members of an entry as they are to be written: its own words, with what is
//! changed.

use crate::doctor::clients::ClientFormat;
use crate::doctor::entry::{Entry, Place, Reached, Spot};
use crate::doctor::launcher::{
    Package, flags_at, is_python_launcher, name_of, package, runtime, up_to_program,
};
use crate::doctor::written::quoted;
use jelly_base::text::redact::{Redactor, holds_secret};
use jelly_base::text::shell_word as word;

/// What stands in place of a value that is not to be shown.
pub const AS_IT_IS: &str = "<as it stands>";

/// Members of an entry as they are to be, and where they are written.
#[derive(Debug)]
pub(super) struct Change {
    pub place: Place,
    pub members: String,
}

impl Change {
    /// The same, written elsewhere.
    pub(super) fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }
}

/// An entry with a command.
#[derive(Clone, Copy)]
pub(super) struct Started<'a> {
    pub command: &'a Spot,
    pub args: &'a [Spot],
    pub env: &'a [(String, Spot)],
    /// Variables whose values its client keeps elsewhere.
    pub kept: &'a [String],
    pub format: &'static ClientFormat,
    pub place: Place,
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
                kept: &entry.kept,
                format,
                place: entry.place,
                redactor,
            }),
            Reached::Url { .. } => None,
        }
    }

    /// What its command is called, without a path.
    pub(super) fn program(&self) -> &'a str {
        name_of(&self.command.text)
    }

    pub(super) fn is_uv(&self) -> bool {
        matches!(self.program(), "uv" | "uvx")
    }

    /// Whether a launcher fetches packages of Python at each start.
    pub(super) fn is_python_launcher(&self) -> bool {
        is_python_launcher(self.program())
    }

    /// The arguments as they are, which may hold secrets.
    pub(super) fn texts(&self) -> Vec<&'a str> {
        self.args.iter().map(|arg| &*arg.text).collect()
    }

    pub(super) fn variable(&self, name: &str) -> Option<&'a Spot> {
        let mut env = self.env.iter();
        env.find(|(own, _)| own == name).map(|(_, spot)| spot)
    }

    /// What follows the first of such flags.
    pub(super) fn value_of(&self, is_flag: impl Fn(&str) -> bool) -> Option<&'a str> {
        let flag = self.args.iter().position(|arg| is_flag(&arg.text))?;
        self.args.get(flag + 1).map(|value| &*value.text)
    }

    /// The package that a launcher fetches.
    pub(super) fn fetched(&self) -> Option<Package<'a>> {
        package(&self.command.text, &self.texts())
    }

    /// Which argument names the Node or the Python that the server runs on.
    pub(super) fn runtime(&self) -> Option<usize> {
        runtime(&self.command.text, &self.texts()).map(|(index, _)| index)
    }

    /// How many of the arguments say what is started.
    pub(super) fn program_end(&self) -> usize {
        up_to_program(&self.command.text, &self.texts()).min(self.args.len())
    }

    /// The arguments with one of them replaced.
    pub(super) fn with(&self, index: usize, text: &str) -> Change {
        let place = self.args.get(index).map_or(self.place, |arg| arg.place);
        self.args(&self.words_with(index, text)).at(place)
    }

    pub(super) fn words_with(&self, index: usize, text: &str) -> Vec<String> {
        let mut words = self.words();
        if let Some(word) = words.get_mut(index) {
            // `--package=NAME`, `--port=3000`.
            *word = match word.split_once('=') {
                Some((flag, _)) if flag.starts_with('-') => format!("{flag}={text}"),
                Some(_) | None => text.to_owned(),
            };
        }
        words
    }

    /// The arguments with others before them.
    pub(super) fn words_after(&self, before: &[&str]) -> Vec<String> {
        let before = before.iter().map(|word| (*word).to_owned());
        before.chain(self.words()).collect()
    }

    /// The arguments with others behind them.
    pub(super) fn words_and(&self, more: &[&str]) -> Vec<String> {
        let more = more.iter().map(|word| (*word).to_owned());
        self.words().into_iter().chain(more).collect()
    }

    /// The arguments with flags of the launcher besides.
    pub(super) fn with_flags(&self, flags: &[&str]) -> Vec<String> {
        let mut words = self.words();
        let at = flags_at(&self.command.text, &self.texts()).min(words.len());
        words.splice(at..at, flags.iter().map(|flag| (*flag).to_owned()));
        words
    }

    /// The command with these arguments, for a shell.
    pub(super) fn line(&self, words: &[String]) -> String {
        let line = std::iter::once(word(&self.shown(&self.command.text)));
        let line: Vec<String> = line.chain(words.iter().map(|arg| word(arg))).collect();
        line.join(" ")
    }

    /// The arguments as they are written, and no secrets.
    pub(super) fn words(&self) -> Vec<String> {
        self.args.iter().map(|arg| self.shown(&arg.text)).collect()
    }

    pub(super) fn shown(&self, text: &str) -> String {
        // Of a server of a plan, what is secret was masked before.
        if self.redactor.redact(text) == text && !text.contains("[secret") {
            text.to_owned()
        } else {
            AS_IT_IS.to_owned()
        }
    }

    /// The variables, with this value besides.
    pub(super) fn env_with(&self, name: &str, value: &str) -> Change {
        self.env_changed(&[(name.to_owned(), Some(value.to_owned()))])
    }

    /// The variables, with these values, and without those that have none.
    pub(super) fn env_changed(&self, changes: &[(String, Option<String>)]) -> Change {
        let is_kept = |name: &String| !changes.iter().any(|(other, _)| other == name);
        let kept = self.env.iter().filter(|(name, _)| is_kept(name));
        let kept = kept.map(|(name, spot)| (name.as_str(), self.value(name, &spot.text)));
        let changed = changes
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), value.clone()?)));
        let table = self.format.table(kept.chain(changed));
        Change {
            place: self.place,
            members: self.format.member(self.format.members.env, &table),
        }
    }

    /// The arguments: these. They are written where the others stand.
    pub(super) fn args(&self, words: &[String]) -> Change {
        let place = self.args.first().map_or(self.place, |arg| arg.place);
        if self.format.keeps_words_together() {
            let own = self.shown(&self.command.text);
            return self.command_and_args(&own, words).at(place);
        }
        let members = self.format.member(self.format.members.args, &list(words));
        Change { place, members }
    }

    /// The command: this, with the arguments that there are.
    pub(super) fn command(&self, program: &str) -> Change {
        if self.format.keeps_words_together() {
            return self.command_and_args(program, &self.words());
        }
        Change {
            place: self.command.place,
            members: self
                .format
                .member(self.format.command_name(), &quoted(program)),
        }
    }

    /// Both.
    pub(super) fn command_and_args(&self, program: &str, words: &[String]) -> Change {
        let name = self.format.command_name();
        let members = if self.format.keeps_words_together() {
            let program = std::iter::once(program.to_owned());
            let all: Vec<String> = program.chain(words.iter().cloned()).collect();
            self.format.member(name, &list(&all))
        } else {
            self.format.joined(&[
                self.format.member(name, &quoted(program)),
                self.format.member(self.format.members.args, &list(words)),
            ])
        };
        Change {
            place: self.command.place,
            members,
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

/// In brackets, as JSON, TOML and YAML alike have it.
fn list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}
