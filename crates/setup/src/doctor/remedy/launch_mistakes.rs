//! Mistakes in how a server is launched, which its own words do not tell:
//! words that no shell splits, and files that the system refuses to run.

use super::prescribe::{Doctor, blank};
use super::seen::Seen;
use super::steps::Remedy;
use crate::doctor::clients::quoted;
use crate::doctor::launcher::{assigned, has_shell_words, is_for_a_shell};
use jelly_base::model::Phase;
use std::path::PathBuf;

/// Programs that run a line of a shell, here or elsewhere.
const RUN_LINES: &[&str] = &[
    "cmd",
    "cmd.exe",
    "docker",
    "kubectl",
    "podman",
    "powershell",
    "pwsh",
    "ssh",
    "wsl",
    "wsl.exe",
];

const SHELLS: &[&str] = &["bash", "dash", "sh", "zsh"];

/// Machines by their number in a program's head.
const MACHINES: &[(u8, &str)] = &[
    (0x03, "x86 of 32 bits"),
    (0x28, "ARM of 32 bits"),
    (0x3e, "x86-64"),
    (0xb7, "ARM64"),
    (0xf3, "RISC-V"),
];

impl Doctor<'_> {
    /// What is wrong with the launch itself.
    pub(super) fn launch_mistake(&self) -> Option<Seen> {
        let phase = self.context.failure.phase;
        if !matches!(phase, Some(Phase::Config | Phase::Spawn | Phase::Handshake)) {
            return None;
        }
        // What was not started at all got no argument.
        let started = phase == Some(Phase::Handshake);
        let words = || {
            started
                .then(|| self.quotes().or_else(|| self.unsplit()))
                .flatten()
        };
        self.shell_line()
            .or_else(|| self.whole_line())
            .or_else(words)
            .or_else(|| self.refused_file())
    }

    /// A line that only a shell can run.
    fn shell_line(&self) -> Option<Seen> {
        let started = self.started;
        let program = started.program();
        let texts = started.texts();
        let own = started.command.text.trim();
        let line = if SHELLS.contains(&program) {
            // A shell without `-c` takes the line for the name of a script.
            let has_c = texts
                .iter()
                .any(|text| text.starts_with('-') && text.contains('c'));
            let line = texts.iter().find(|text| !text.starts_with('-'))?;
            let is_line = line.contains(' ') && !self.context.sight.is_there(&self.whole(line));
            (!has_c && is_line).then(|| (*line).to_owned())
        } else if RUN_LINES.contains(&program) {
            None
        } else {
            let words = shlex::split(own).unwrap_or_default();
            let more = texts.iter().map(|text| (*text).to_owned());
            let all: Vec<String> = words.into_iter().chain(more).collect();
            is_for_a_shell(&all).then(|| {
                let rest = texts.iter().map(|text| format!(" {text}"));
                format!("{own}{}", rest.collect::<String>())
            })
        }?;
        let words = shlex::split(&line)?;
        let remedy = Remedy::new()
            .what(format!("`{}` is a line of a shell.", started.shown(&line)))
            .why("No shell reads it: the program is started with its words as they stand.");
        let shown: Vec<String> = words.iter().map(|word| started.shown(word)).collect();
        let remedy = match &shown[..] {
            [cd, folder, and, command, args @ ..]
                if cd == "cd" && and == "&&" && !has_shell_words(args) =>
            {
                let format = started.format;
                let change = started.command_and_args(command, args);
                let members = [
                    format.member(format.members.cwd, &quoted(folder)),
                    change.members,
                ];
                let what = format!(
                    "Write the folder and the command apart, at {}:",
                    self.at(started.command.place)
                );
                remedy.say(what).paste(format.joined(&members))
            }
            _ => {
                let args = ["-c".to_owned(), started.shown(&line)];
                remedy.write(
                    "Have a shell run it,",
                    started.command_and_args("sh", &args),
                )
            }
        };
        Some(Seen::new("doctor/shell-line", "command_not_found", remedy))
    }

    /// The whole command line in `command`.
    fn whole_line(&self) -> Option<Seen> {
        let phase = self.context.failure.phase;
        let members = self.split().filter(|_| phase != Some(Phase::Handshake))?;
        let name = self.started.format.command_name();
        let text = &self.started.command.text;
        let (what, how) = match text.trim().contains(char::is_whitespace) {
            true => ("holds a whole command line", "write its words apart,"),
            false => ("has a blank before or behind its name", "write it without,"),
        };
        let remedy = Remedy::new()
            .what(format!("`{name}` {what}: `{}`.", self.started.shown(text)))
            .why("It is taken for the name of a program.")
            .write(format!("`{name}` {what}; {how}"), members);
        let rule = "doctor/whole-line-in-command";
        Some(Seen::new(rule, "command_not_found", remedy))
    }

    /// Quotes that are part of an argument.
    fn quotes(&self) -> Option<Seen> {
        let is_quoted = |text: &str| {
            let around = ['"', '\''].into_iter();
            let mut around = around.filter(|q| text.len() > 1 && text.starts_with(*q));
            around.any(|quote| text.ends_with(quote)) && !text.contains('{')
        };
        let what = |text: &str| format!("The quotes in `{text}` are part of the argument.");
        let why = "Only a shell takes quotes away, and none reads the arguments.";
        self.split_args("doctor/quotes-in-argument", is_quoted, what, why)
    }

    /// Several words in one argument.
    fn unsplit(&self) -> Option<Seen> {
        let is_flag = |word: &str| {
            let name = word.trim_start_matches('-');
            word.starts_with('-')
                && name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
        };
        if RUN_LINES.contains(&self.started.program()) || SHELLS.contains(&self.started.program()) {
            return None;
        }
        let sight = self.context.sight;
        let is_unsplit = |text: &str| {
            let Some((first, rest)) = text.split_once(' ') else {
                return false;
            };
            // Code for an interpreter is one word.
            if matches!(first, "-c" | "-e" | "-p" | "--eval") || text.contains('\n') {
                return false;
            }
            // What `env` takes for one variable with blanks in its value.
            if self.started.program() == "env" && !assigned(&[first]).is_empty() {
                return sight
                    .on_path(rest.split(' ').next().unwrap_or_default())
                    .is_some();
            }
            let is_file =
                || sight.is_there(&self.whole(first)) && !sight.is_there(&self.whole(text));
            let has_flag = || rest.split(' ').any(is_flag) && !text.contains(['"', '\'', '{']);
            is_flag(first) || (first.contains(['.', '/', '@']) && (is_file() || has_flag()))
        };
        let what = |text: &str| format!("`{text}` is one argument, and holds several words.");
        let why = "No shell splits it: the program gets it as one word.";
        self.split_args("doctor/words-not-split", is_unsplit, what, why)
    }

    /// The arguments with the words of the wrong ones apart.
    fn split_args(
        &self,
        rule: &'static str,
        is_wrong: impl Fn(&str) -> bool,
        what: impl Fn(&str) -> String,
        why: &str,
    ) -> Option<Seen> {
        let started = self.started;
        let wrong = started.args.iter().position(|arg| is_wrong(&arg.text))?;
        let mut words = Vec::new();
        for arg in started.args {
            match is_wrong(&arg.text)
                .then(|| shlex::split(&arg.text))
                .flatten()
            {
                Some(split) => words.extend(split.iter().map(|word| started.shown(word))),
                None => words.push(started.shown(&arg.text)),
            }
        }
        let remedy = Remedy::new()
            .what(what(&started.shown(&started.args[wrong].text)))
            .why(why)
            .write("Write", started.args(&words).at(self.at_arg(wrong)));
        Some(Seen::new(rule, "invalid_argument", remedy))
    }

    /// A file that is there, and that the system does not run.
    fn refused_file(&self) -> Option<Seen> {
        let failure = self.context.failure;
        let code = failure.exit.as_ref().and_then(|exit| exit.code);
        if failure.spawn_error.is_none() && !matches!(code, Some(126 | 127)) {
            return None;
        }
        let name = self.started.command.text.trim();
        let file: PathBuf = match name.contains('/') {
            true => self.whole(name),
            false => self.context.sight.on_path(name)?,
        };
        let place = format!("{}:1", file.display());
        let seen = |rule, cause, what: String, why: &str, steps: Remedy| {
            Some(Seen::new(rule, cause, steps.what(what).why(why)))
        };
        let Some(text) = self.context.sight.text(&file) else {
            return self.other_machine(&file);
        };
        let first = text.split('\n').next().unwrap_or_default();
        if first.starts_with("\u{feff}#!") {
            return seen(
                "doctor/byte-order-mark",
                "not_executable",
                format!("A byte order mark stands before `#!` at {place}."),
                "The system reads `#!` only where the file begins with it.",
                Remedy::new().say("Save the file as UTF-8 without a byte order mark (BOM)."),
            );
        }
        if first.starts_with("#!") && first.ends_with('\r') {
            return seen(
                "doctor/windows-line-ends",
                "command_not_found",
                format!("The first line ends as lines of Windows do, at {place}."),
                "The system takes the carriage return for a part of the interpreter's name.",
                Remedy::new().say(
                    "Save the file with the line ends of Unix (LF); in git, \
                     `*.sh text eol=lf` in `.gitattributes` keeps them.",
                ),
            );
        }
        if let Some(rest) = first.strip_prefix("#!") {
            let words: Vec<&str> = rest.split_whitespace().collect();
            let [env, program, args @ ..] = &words[..] else {
                return None;
            };
            if !env.ends_with("/env") || program.starts_with('-') || args.is_empty() {
                return None;
            }
            let line = format!("#!{env} -S {program} {}", args.join(" "));
            return seen(
                "doctor/env-takes-one-word",
                "command_not_found",
                format!("`{}` at {place} names no program.", first.trim()),
                "The system gives all that follows `env` to it as one word.",
                Remedy::new().say(format!("Write `{line}` there.")),
            );
        }
        let is_refused = failure.spawn_error.as_ref().and_then(|e| e.name.as_deref());
        if is_refused != Some("ENOEXEC") {
            return None;
        }
        let interpreter = match file.extension().and_then(|ending| ending.to_str()) {
            Some("py") => "python3".to_owned(),
            Some("js" | "mjs" | "cjs") => "node".to_owned(),
            Some("sh") => "sh".to_owned(),
            Some("rb") => "ruby".to_owned(),
            Some(_) | None => blank("its interpreter"),
        };
        let words = self.started.words_after(&[name]);
        let steps = Remedy::new().write(
            "Have it run by what reads it; write",
            self.started.command_and_args(&interpreter, &words),
        );
        seen(
            "doctor/no-interpreter-line",
            "not_executable",
            format!("No `#!` names an interpreter at {place}."),
            "It is a text, and the system does not know what reads it.",
            steps,
        )
    }

    /// A program for another system or machine.
    fn other_machine(&self, file: &std::path::Path) -> Option<Seen> {
        let head = self.context.sight.head(file);
        let machine = |number: u8| MACHINES.iter().find(|(known, _)| *known == number);
        let is_for = match &head[..] {
            [0x7f, b'E', b'L', b'F', ..] => {
                let own = match std::env::consts::ARCH {
                    "x86_64" => 0x3e,
                    "aarch64" => 0xb7,
                    _ => return None,
                };
                let number = *head.get(18)?;
                let (_, name) = machine(number).filter(|_| number != own)?;
                format!("machines with {name}")
            }
            [b'M', b'Z', ..] => "Windows".to_owned(),
            [0xcf, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => "macOS".to_owned(),
            _ => return None,
        };
        let remedy = Remedy::new()
            .what(format!("{} is a program for {is_for}.", file.display()))
            .why(format!(
                "This machine runs {} on {}.",
                std::env::consts::OS,
                std::env::consts::ARCH
            ))
            .say("Install the build of the server that is for this machine, or build it here.");
        let rule = "doctor/other-architecture";
        Some(Seen::new(rule, "not_executable", remedy))
    }
}
