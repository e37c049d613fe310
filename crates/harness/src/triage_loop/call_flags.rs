//! What commands that are printed repeat of the call, and the one place where
//! a command that runs the plan again is put together.

use jelly_base::text::{shell_flag, shell_path, shell_word};

/// What selects the steps that are run.
const ONLY: &str = "--only";

/// A flag with its value, as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFlag {
    /// As in `--var`.
    pub name: String,
    pub value: Option<String>,
}

impl CallFlag {
    #[must_use]
    pub fn bare(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            value: None,
        }
    }

    #[must_use]
    pub fn with(name: &str, value: &str) -> Self {
        Self {
            name: name.to_owned(),
            value: Some(value.to_owned()),
        }
    }

    /// That selects nothing but what has this name.
    pub(super) fn only(name: &str) -> Self {
        Self::with(ONLY, name)
    }

    /// Of its words: `--retries 2`.
    #[cfg(test)]
    pub(super) fn read(words: &str) -> Self {
        match words.split_once(' ') {
            Some((name, value)) => Self::with(name, value),
            None => Self::bare(words),
        }
    }

    /// As words of a shell.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.value {
            Some(value) => shell_flag(&self.name, value),
            None => self.name.clone(),
        }
    }
}

/// What a command for another run has to repeat of this call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFlags {
    /// Without these another thing would be run, or elsewhere, or judged
    /// otherwise.
    pub kept: Vec<CallFlag>,
    /// What makes sense only of all that this call selected.
    pub whole: Vec<CallFlag>,
    /// By subcommand, what other commands of jelly take of them.
    pub elsewhere: Vec<(String, Vec<CallFlag>)>,
    /// Where it was called.
    pub folder: String,
    /// The file that holds the plan, where that came from stdin; or a blank to fill in, where
    /// none of jelly's holds it whole.
    pub plan_copy: Option<String>,
}

impl CallFlags {
    /// Whether a flag was typed.
    pub(super) fn has(&self, name: &str) -> bool {
        self.kept.iter().any(|flag| flag.name == name)
    }

    /// The command that runs the plan again as it was called, with these flags
    /// in the place of those of the same names, and without another one.
    pub(super) fn run_again(&self, plan: &str, more: &[CallFlag], without: Option<&str>) -> String {
        let replaces = |flag: &&CallFlag| {
            more.iter().any(|more| more.name == flag.name) || without == Some(flag.name.as_str())
        };
        let narrows = more.iter().any(|flag| flag.name == ONLY);
        let whole = self.whole.iter().filter(|_| !narrows);
        let typed = self.kept.iter().chain(whole);
        let typed = typed.filter(|flag| !replaces(flag));
        let mut command = format!("$ jelly run {}", shell_path(plan));
        for flag in typed.chain(more) {
            command.push(' ');
            command.push_str(&flag.words());
        }
        if let Some(copy) = &self.plan_copy {
            command.push_str(&from_file(copy));
        }
        command
    }

    /// Adds to another command of jelly what it takes of the flags of this call.
    pub fn extend(&self, command: &mut String) {
        let call = command.strip_prefix("$ ").unwrap_or(command);
        let Some(sub) = call
            .strip_prefix("jelly ")
            .and_then(|c| c.split(' ').next())
        else {
            return;
        };
        // Every command takes what is listed under no name.
        let rows = self.elsewhere.iter();
        let rows = rows.filter(|(command, _)| command.is_empty() || command == sub);
        let flags = rows.flat_map(|(_, flags)| flags);
        let new: Vec<String> = flags
            .filter(|flag| {
                let names = |word: &str| word.split('=').next() == Some(flag.name.as_str());
                !call.split(' ').any(names)
            })
            .map(|flag| format!(" {}", flag.words()))
            .collect();
        // What is read from stdin comes last.
        let stdin = self.plan_copy.as_deref().map(from_file);
        let at = stdin.and_then(|stdin| Some(command.strip_suffix(&stdin)?.len()));
        command.insert_str(at.unwrap_or(command.len()), &new.concat());
    }
}

/// What gives a command a file in place of its stdin.
fn from_file(copy: &str) -> String {
    format!(" < {}", shell_word(copy))
}

#[cfg(test)]
mod tests {
    use super::{CallFlag, CallFlags};

    fn typed() -> CallFlags {
        CallFlags {
            kept: ["--only tag:smoke", "--skip wipe", "--retries 0"]
                .map(CallFlag::read)
                .to_vec(),
            whole: vec![CallFlag::read("--min-coverage 80")],
            elsewhere: vec![
                (
                    "check".to_owned(),
                    vec![CallFlag::read("--project-dir sub")],
                ),
                (String::new(), vec![CallFlag::read("--profile ci")]),
            ],
            plan_copy: Some("r/plan.yaml".to_owned()),
            ..CallFlags::default()
        }
    }

    #[test]
    fn a_rerun_keeps_what_was_typed_and_replaces_what_it_says_itself() {
        let flags = CallFlags {
            plan_copy: None,
            ..typed()
        };
        assert_eq!(
            flags.run_again("p.yaml", &[], None),
            "$ jelly run p.yaml --only tag:smoke --skip wipe --retries 0 --min-coverage 80"
        );
        let more = [CallFlag::only("-g 1"), CallFlag::read("--retries 1")];
        assert_eq!(
            flags.run_again("p.yaml", &more, None),
            "$ jelly run p.yaml --skip wipe '--only=-g 1' --retries 1"
        );
        assert_eq!(
            flags.run_again("-q $x.yaml", &[], Some("--skip")),
            "$ jelly run './-q $x.yaml' --only tag:smoke --retries 0 --min-coverage 80"
        );
    }

    #[test]
    fn another_command_of_jelly_gets_what_it_takes() {
        let extended = |command: &str| {
            let mut command = command.to_owned();
            typed().extend(&mut command);
            command
        };
        assert_eq!(
            extended("$ jelly check --live - < r/plan.yaml"),
            "$ jelly check --live - --project-dir sub --profile ci < r/plan.yaml"
        );
        assert_eq!(
            extended("jelly snapshot accept a --profile x"),
            "jelly snapshot accept a --profile x"
        );
        assert_eq!(extended("$ npm install"), "$ npm install");
    }
}
