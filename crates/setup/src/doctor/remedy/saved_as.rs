//! Scripts that were saved as Windows saves texts: with its line ends, or in UTF-16. What reads
//! them takes the extra bytes for letters.

use super::launch_mistakes::alike;
use super::prescribe::Doctor;
use super::seen::Seen;
use super::steps::Remedy;
use crate::doctor::launcher::{SHELLS, name_of};
use jelly_base::model::{Outcome, Phase};
use jelly_base::text::launchers::{INTERPRETERS, SCRIPT_ENDINGS};
use std::path::{Path, PathBuf};

/// What a file in UTF-16 begins with; the last two have no mark, and a `#!`.
const UTF_16: &[&[u8]] = &[b"\xff\xfe", b"\xfe\xff", b"#\0!\0", b"\0#\0!"];

/// The same, where it is UTF-32.
const UTF_32: &[u8] = b"\xff\xfe\0\0";

impl Doctor<'_> {
    /// A script whose bytes nobody reads as they are meant.
    pub(super) fn saved_for_windows(&self) -> Option<Seen> {
        if self.context.failure.outcome == Some(Outcome::Timeout) {
            return None;
        }
        let sight = self.context.sight;
        // These read UTF-16.
        if ["perl", "powershell", "pwsh"].contains(&self.started.program()) {
            return None;
        }
        let files: Vec<PathBuf> = self.own_scripts();
        let wide = files.iter().find(|file| {
            let head = sight.head(file);
            UTF_16.iter().any(|begin| head.starts_with(begin)) && !head.starts_with(UTF_32)
        });
        if let Some(file) = wide {
            let remedy = Remedy::new()
                .what(format!("{} is saved in UTF-16.", file.display()))
                .why("Interpreters and the system read UTF-8; each second byte of it is a zero.")
                .say(
                    "Save the file as UTF-8 without a byte order mark (BOM), and with the line ends \
                     of Unix (LF); what Windows PowerShell writes by `>` is UTF-16.",
                );
            return Some(Seen::new("doctor/utf-16", "not_executable", remedy));
        }
        if self.context.failure.phase != Some(Phase::Handshake) {
            return None;
        }
        // The carriage return shows in what the shell does not find or understand.
        let shows = [
            "\r",
            "$'",
            "not found",
            "No such file",
            "syntax error",
            "bad interpreter",
            "invalid option",
            "unexpected",
            "Illegal option",
        ];
        if !shows.iter().any(|it| self.stderr.contains(it)) {
            return None;
        }
        let (file, line) = files.iter().find_map(|file| {
            let text = sight.text(file)?;
            let is_read = self.is_shells(file, &text);
            let line = broken_line(&text).filter(|_| is_read)?;
            Some((file, line))
        })?;
        let remedy = Remedy::new()
            .what(format!(
                "Lines end as those of Windows do, from {}:{line} on.",
                file.display()
            ))
            .why("A shell takes the carriage return for a letter of the last word of each line.")
            .say(format!(
                "Save the file with the line ends of Unix (LF); in git, `{} text eol=lf` in \
                 `.gitattributes` keeps them.",
                alike(file)
            ));
        Some(Seen::new(
            "doctor/windows-line-ends",
            "not_executable",
            remedy,
        ))
    }

    /// The files that the entry has run: its program, and what an interpreter or the line of a
    /// shell is given.
    fn own_scripts(&self) -> Vec<PathBuf> {
        let started = self.started;
        let program = started.program();
        let mut words: Vec<String> = vec![started.command.text.trim().to_owned()];
        if SHELLS.contains(&program) {
            let texts = started.texts().into_iter();
            words.extend(texts.flat_map(executed));
        } else if let Some(script) = self.script() {
            words.push(started.args[script].text.clone());
        } else if INTERPRETERS.has(program) {
            let given = started.args.iter().find(|arg| !arg.text.starts_with('-'));
            words.extend(given.map(|arg| arg.text.clone()));
        }
        let is_script = |word: &String| {
            let ending = Path::new(word).extension().and_then(|it| it.to_str());
            ending.is_none_or(|ending| SCRIPT_ENDINGS.has(ending)) && !word.starts_with('-')
        };
        let is_named = |word: &String| word.contains(['/', '.']) || SHELLS.contains(&program);
        let files = words
            .iter()
            .filter(|word| is_script(word) && is_named(word));
        let files = files.map(|word| self.whole(word));
        let sight = self.context.sight;
        files
            .filter(|file| sight.is_there(file) && !sight.is_folder(file))
            .collect()
    }

    /// Whether a shell reads this file.
    fn is_shells(&self, file: &Path, text: &str) -> bool {
        let first = text.lines().next().unwrap_or_default();
        let named = first.strip_prefix("#!");
        if let Some(line) = named {
            let mut words = line.split_whitespace().map(name_of);
            let program = words.next();
            let program = program
                .filter(|name| *name != "env")
                .or_else(|| words.next());
            return program.is_some_and(|name| SHELLS.contains(&name));
        }
        let ending = file.extension().and_then(|ending| ending.to_str());
        let is_given = SHELLS.contains(&self.started.program());
        matches!(ending, Some("sh" | "bash" | "zsh")) || is_given && ending.is_none()
    }
}

/// The words of a shell's line that are run: the first of each command, and the file that another
/// shell is given.
fn executed(line: &str) -> Vec<String> {
    const BEFORE: [&str; 14] = [
        "&&", "||", ";", "|", "!", "then", "do", "exec", "env", "sudo", "time", "nohup", "source",
        ".",
    ];
    let words = shlex::split(line).unwrap_or_default();
    let is_run = |at: usize| {
        let before = at.checked_sub(1).map(|at| words[at].as_str());
        before.is_none_or(|word| {
            BEFORE.contains(&word) || word.ends_with(';') || SHELLS.contains(&name_of(word))
        })
    };
    let run = words.iter().enumerate().filter(|(at, _)| is_run(*at));
    run.map(|(_, word)| word.clone()).collect()
}

/// The first line that a shell reads with a carriage return at its end.
fn broken_line(text: &str) -> Option<usize> {
    let mut lines = text.split('\n');
    let is_broken = |line: &str| line.ends_with('\r') && !line.starts_with('#');
    lines.position(is_broken).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::broken_line;

    #[test]
    fn a_comment_breaks_nothing() {
        assert_eq!(broken_line("#!/bin/sh\nset -e\r\n"), Some(2));
        assert_eq!(broken_line("# x\r\nset -e\n"), None);
        assert_eq!(broken_line("set -e\n"), None);
    }
}
