//! Several words in one argument of an entry, which no shell splits.

use super::launch_mistakes::{
    ONE_WORD, RUN_LINES, SHELLS, WITH_COMMANDS, WITH_PACKAGES, several_words,
};
use super::prescribe::Doctor;
use super::seen::Seen;
use super::steps::Remedy;
use crate::doctor::launcher::assigned;
use std::path::Path;

impl Doctor<'_> {
    /// Several words in one argument.
    pub(super) fn unsplit(&self) -> Option<Seen> {
        let is_flag = |word: &str| {
            let name = word.split('=').next().unwrap_or_default();
            let name = name.trim_start_matches('-');
            word.starts_with('-')
                && name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
        };
        let program = self.started.program();
        if SHELLS.contains(&program) {
            return self.unsplit_line();
        }
        let is_command = |text: &str, first: &str, rest: &str| {
            let mut args = self.started.args.iter();
            let is_first = args.next().is_some_and(|arg| arg.text == text);
            let is_name = first.starts_with(|c: char| c.is_ascii_lowercase())
                && first
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
            let of_package = || WITH_PACKAGES.contains(&program) && rest.split(' ').any(is_flag);
            let is_file = Path::new(text).extension().is_some() && !rest.split(' ').any(is_flag);
            is_first && is_name && !is_file && (WITH_COMMANDS.contains(&program) || of_package())
        };
        let runs_lines = RUN_LINES.has(program);
        let sight = self.context.sight;
        let is_unsplit = |text: &str| {
            let Some((first, rest)) = text.split_once(' ') else {
                return false;
            };
            // Names of files have blanks, too.
            if sight.is_there(&self.whole(text)) {
                return false;
            }
            if is_command(text, first, rest) || runs_lines {
                return is_command(text, first, rest);
            }
            // Code for an interpreter is one word.
            if matches!(first, "-c" | "-e" | "-p" | "--eval") || text.contains('\n') {
                return false;
            }
            // What `env` takes for one variable with blanks in its value.
            if program == "env" && !assigned(&[first]).is_empty() {
                return sight
                    .on_path(rest.split(' ').next().unwrap_or_default())
                    .is_some();
            }
            // A module of Python has no blank in its name, and neither has a package of npm.
            let is_module = || {
                let args = self.started.args.iter().map(|arg| arg.text.as_str());
                let mut before = "";
                let mut args = args.skip_while(|arg| {
                    let is_option = is_flag(arg) || matches!(before, "-X" | "-W");
                    before = arg;
                    is_option && *arg != "-m"
                });
                let is_first = args.next() == Some("-m") && args.next() == Some(text);
                is_first && program.starts_with("python")
            };
            let is_scoped = first.starts_with('@') && first.contains('/');
            if is_scoped && WITH_PACKAGES.contains(&program) || is_module() {
                return true;
            }
            let is_file = || sight.is_there(&self.whole(first));
            let has_flag = || rest.split(' ').any(is_flag) && !text.contains(['"', '\'', '{']);
            is_flag(first) || (first.contains(['.', '/', '@']) && (is_file() || has_flag()))
        };
        self.split_args(
            "doctor/words-not-split",
            is_unsplit,
            several_words,
            ONE_WORD,
        )
    }

    /// `-c` and the line behind it in one argument of a shell.
    fn unsplit_line(&self) -> Option<Seen> {
        let started = self.started;
        let is_c = |flag: &str| {
            let letters = flag.strip_prefix('-').unwrap_or_default();
            letters.ends_with('c') && letters.chars().all(|c| c.is_ascii_lowercase())
        };
        let holds_both = |text: &str| text.split_once(' ').is_some_and(|(flag, _)| is_c(flag));
        let index = started.args.iter().position(|arg| holds_both(&arg.text))?;
        // What follows its line are the line's own arguments.
        if started.args[..index].iter().any(|arg| is_c(&arg.text)) {
            return None;
        }
        let text = &started.args[index].text;
        let (flag, line) = text.split_once(' ')?;
        let mut words = started.words();
        words.splice(index..=index, [flag.to_owned(), started.shown(line.trim())]);
        let remedy = Remedy::new()
            .what(several_words(&started.shown(text)))
            .why(ONE_WORD)
            .write("Write", started.args(&words).at(self.at_arg(index)));
        let rule = "doctor/words-not-split";
        Some(Seen::new(rule, "invalid_argument", remedy))
    }
}
