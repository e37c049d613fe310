//! Words of an entry that stand apart and belong together, or belong elsewhere:
//! a path with a space in two words, a variable where the program is to be, and the shell of
//! another system before it.

use super::entries::AS_IT_IS;
use super::prescribe::{Doctor, blank};
use super::seen::Seen;
use super::steps::Remedy;
use crate::doctor::launcher::assigned;
use jelly_base::model::Phase;
use jelly_base::text::redact::holds_secret;

/// In how many words one path is looked for.
const WORDS: usize = 6;

impl Doctor<'_> {
    /// `cmd /c` before the program, which only Windows has.
    pub(super) fn shell_of_windows(&self) -> Option<Seen> {
        let started = self.started;
        let program = started.program().to_ascii_lowercase();
        let words = started.words();
        let [flag, program_of_all, args @ ..] = &words[..] else {
            return None;
        };
        let is_shell = matches!(program.as_str(), "cmd" | "cmd.exe");
        // Where it is found, it is no mistake.
        if self.context.failure.phase == Some(Phase::Handshake)
            || !is_shell
            || !flag.eq_ignore_ascii_case("/c")
        {
            return None;
        }
        let remedy = Remedy::new()
            .what(format!(
                "`{program} {flag}` is how Windows starts a program, and this is another system."
            ))
            .why("Other systems need no shell before a launcher, and have no such one.")
            .write(
                "Leave it out on this system,",
                started.command_and_args(program_of_all, args),
            );
        Some(Seen::new(
            "doctor/shell-of-windows",
            "command_not_found",
            remedy,
        ))
    }

    /// A variable, as a shell sets it, in place of the program.
    pub(super) fn assignment(&self) -> Option<Seen> {
        let started = self.started;
        let own = started.command.text.trim();
        if self.context.failure.phase == Some(Phase::Handshake) || own.contains(char::is_whitespace)
        {
            return None;
        }
        let all: Vec<&str> = std::iter::once(own).chain(started.texts()).collect();
        let count = assigned(&all).len();
        let set = all[..count].iter().filter_map(|word| {
            let (name, value) = word.split_once('=')?;
            let value = match holds_secret(name, value) {
                true => AS_IT_IS.to_owned(),
                false => started.shown(value),
            };
            Some((name.to_owned(), Some(value)))
        });
        let set: Vec<(String, Option<String>)> = set.collect();
        let (first, _) = set.first()?;
        let (format, words) = (started.format, started.words());
        let (program, args) = match words.get(count - 1..) {
            Some([program, args @ ..]) => (program.clone(), args),
            _ => (blank("program"), &[][..]),
        };
        let members = [
            started.command_and_args(&program, args).members,
            started.env_changed(&set).members,
        ];
        let what = format!(
            "Write the program as `{}`, and the variable in `{}`, at {}:",
            format.command_name(),
            format.members.env,
            self.at(started.command.place)
        );
        let remedy = Remedy::new()
            .what(format!("`{first}=…` sets a variable, and is no program."))
            .why("Only a shell sets variables so, and none reads the command.")
            .say(what)
            .paste(format.joined(&members));
        Some(Seen::new("doctor/assignment", "command_not_found", remedy))
    }

    /// A path with a space that stands in several words.
    pub(super) fn split_path(&self) -> Option<Seen> {
        let (started, sight) = (self.started, self.context.sight);
        let own = started.command.text.as_str();
        let all: Vec<&str> = std::iter::once(own).chain(started.texts()).collect();
        let is_there = |text: &str| sight.is_there(&self.whole(text));
        let starts: Vec<usize> = (0..all.len())
            .filter(|&at| all[at].contains('/') && !all[at].starts_with('-') && !is_there(all[at]))
            .collect();
        let (from, to, path) = starts.into_iter().find_map(|from| {
            let ends = from + 1..all.len().min(from + WORDS);
            let joined = ends.map(|to| (from, to, all[from..=to].join(" ")));
            joined.into_iter().find(|(_, _, path)| is_there(path))
        })?;
        let mut words: Vec<String> = std::iter::once(own.to_owned())
            .chain(started.words())
            .collect();
        words.splice(from..=to, [started.shown(&path)]);
        let change = match from {
            0 => started.command_and_args(&words[0], &words[1..]),
            _ => started.args(&words[1..]).at(self.at_arg(from - 1)),
        };
        let remedy = Remedy::new()
            .what(format!(
                "The path `{}` has a space, and stands here in {} words.",
                started.shown(&path),
                to - from + 1
            ))
            .why("Each element is one word, spaces and all; no shell joins or splits them.")
            .write("Write it as one,", change);
        let root_cause = match from {
            0 => "command_not_found",
            _ => "missing_file",
        };
        Some(Seen::new("doctor/path-split", root_cause, remedy))
    }
}
