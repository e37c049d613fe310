//! Mistakes in how a server is launched, which its own words do not tell:
//! words that no shell splits, and files that the system refuses to run.

use super::odd_characters::{blank_at_an_end, plain_blanks};
use super::prescribe::{Doctor, blank};
use super::seen::Seen;
use super::steps::Remedy;
use crate::doctor::launcher::{
    SHELLS, assigned, has_shell_words, is_for_a_shell, without_redirections,
};
use crate::doctor::written::quoted;
use jelly_base::model::Phase;
use jelly_base::text::WordList;
use jelly_base::text::shell_word as word;
use std::path::{Path, PathBuf};

/// Programs that run a line of a shell, here or elsewhere.
pub(super) const RUN_LINES: WordList =
    WordList("cmd cmd.exe docker kubectl podman powershell pwsh ssh wsl wsl.exe");

/// Programs whose first argument is a command of theirs, which has no blank.
pub(super) const WITH_COMMANDS: &[&str] = &[
    "bun", "cargo", "deno", "docker", "dotnet", "git", "go", "kubectl", "npm", "pipx", "pnpm",
    "podman", "uv", "yarn",
];

/// Programs whose first argument is a package.
pub(super) const WITH_PACKAGES: &[&str] = &["bunx", "npx", "pnpx", "uvx"];

/// Why a word with blanks is not what it looks like.
pub(super) const ONE_WORD: &str = "No shell splits it: the program gets it as one word.";

/// What is written once a shell's own part is gone.
const WITHOUT_REDIRECTION: &str = "Leave out the redirections, which only a shell does; write";

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
                .then(|| {
                    let first = self.dashes().or_else(|| self.quotes());
                    let first = first.or_else(|| self.blank_beside_word());
                    first.or_else(|| self.unsplit())
                })
                .flatten()
        };
        self.shell_of_windows()
            .or_else(|| self.odd_character())
            .or_else(|| self.shell_line())
            .or_else(|| self.quoted_command())
            .or_else(|| self.whole_line())
            .or_else(|| self.assignment())
            .or_else(|| self.split_path())
            .or_else(words)
            .or_else(|| self.saved_for_windows())
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
        } else if RUN_LINES.has(program) {
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
                if cd == "cd"
                    && and == "&&"
                    && !has_shell_words(args)
                    && started.format.heeds_folder =>
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
                let steps = self.activated(&words);
                let steps = steps.or_else(|| self.without_redirection(&words));
                remedy.and(steps.unwrap_or_else(|| self.by_shell(&line)))
            }
        };
        Some(Seen::new("doctor/shell-line", "command_not_found", remedy))
    }

    /// A line that puts an environment of Python first in the PATH.
    fn activated(&self, words: &[String]) -> Option<Remedy> {
        let [source, script, and, program, args @ ..] = words else {
            return None;
        };
        let bin = script.strip_suffix("/activate")?;
        let is_activated = matches!(&**source, "source" | ".") && and == "&&";
        if !is_activated || !program.starts_with("python") || has_shell_words(args) {
            return None;
        }
        let python = self.whole(bin).join(program).display().to_string();
        let args: Vec<String> = args.iter().map(|word| self.started.shown(word)).collect();
        Some(Remedy::new().write(
            "Write the Python of that environment itself,",
            self.started.command_and_args(&python, &args),
        ))
    }

    /// A line of which nothing but its redirections is for a shell.
    fn without_redirection(&self, words: &[String]) -> Option<Remedy> {
        let kept = without_redirections(words);
        let is_plain = !is_for_a_shell(&kept) && assigned(&kept).is_empty();
        // A shell was given a part of its line alone.
        if kept.len() == words.len() || !is_plain || SHELLS.contains(&self.started.program()) {
            return None;
        }
        let (program, args) = kept.split_first()?;
        let args: Vec<String> = args.iter().map(|word| self.started.shown(word)).collect();
        let change = self.started.command_and_args(program, &args);
        Some(Remedy::new().write(WITHOUT_REDIRECTION, change))
    }

    fn by_shell(&self, line: &str) -> Remedy {
        // What no other shell has.
        let shell = match line.split_whitespace().any(|word| word == "source") {
            true => "bash",
            false => "sh",
        };
        let args = ["-c".to_owned(), self.started.shown(line)];
        Remedy::new().write(
            "Have a shell run it,",
            self.started.command_and_args(shell, &args),
        )
    }

    /// Quotes round the name of the program.
    fn quoted_command(&self) -> Option<Seen> {
        if self.context.failure.phase == Some(Phase::Handshake) {
            return None;
        }
        let started = self.started;
        let text = started.command.text.trim();
        let plain = plain_signs(text);
        let mut quotes = ['"', '\''].into_iter();
        let inner = quotes.find_map(|quote| plain.strip_prefix(quote)?.strip_suffix(quote))?;
        if inner.trim().is_empty() || inner.contains(['"', '\'']) {
            return None;
        }
        let is_path = inner.contains('\\')
            || inner.starts_with(['/', '~', '.', '$'])
            || self.context.sight.is_there(&self.whole(inner));
        let words = match is_path {
            true => vec![inner.to_owned()],
            false => shlex::split(inner)?,
        };
        let (program, more) = words.split_first()?;
        let change = match more {
            [] => started.command(program),
            _ => {
                let more = more.iter().map(|word| started.shown(word));
                let all: Vec<String> = more.chain(started.words()).collect();
                started.command_and_args(program, &all)
            }
        };
        let shown = started.shown(text);
        let remedy = Remedy::new()
            .what(format!("The quotes in `{shown}` are part of the command."))
            .why("Only a shell takes quotes away, and none reads the command.")
            .write("Write it without them,", change);
        let rule = "doctor/quotes-in-command";
        Some(Seen::new(rule, "command_not_found", remedy))
    }

    /// The whole command line in `command`.
    fn whole_line(&self) -> Option<Seen> {
        let phase = self.context.failure.phase;
        let members = self.split().filter(|_| phase != Some(Phase::Handshake))?;
        let name = self.started.format.command_name();
        let text = &self.started.command.text;
        let (what, how) = match text.trim().contains(char::is_whitespace) {
            true => (
                "holds a whole command line".to_owned(),
                "Write its words apart,",
            ),
            false => (
                format!("has {} before or behind its name", blank_at_an_end(text)),
                "Write it without,",
            ),
        };
        let shown = self.started.shown(text.trim_matches(['\n', '\r']));
        let remedy = Remedy::new()
            .what(format!("`{name}` {what}: `{shown}`."))
            .why("It is taken for the name of a program.")
            .write(how, members);
        let rule = "doctor/whole-line-in-command";
        Some(Seen::new(rule, "command_not_found", remedy))
    }

    /// Quotes that are part of an argument.
    fn quotes(&self) -> Option<Seen> {
        let is_quoted = |text: &str| {
            let plain = plain_signs(text);
            let mut around = ['"', '\''].into_iter().filter(|q| plain.starts_with(*q));
            let is_around = plain.len() > 1 && around.any(|quote| plain.ends_with(quote));
            // Other quotes may be meant, unless they stand round a file or a flag.
            let inside = || plain.trim_matches(['"', '\'']);
            let is_sure = || {
                plain == text
                    || inside().starts_with('-')
                    || self.context.sight.is_there(&self.whole(inside()))
            };
            is_around && !text.contains('{') && is_sure()
        };
        let what = |text: &str| format!("The quotes in `{text}` are part of the argument.");
        let why = "Only a shell takes quotes away, and none reads the arguments.";
        self.split_args("doctor/quotes-in-argument", is_quoted, what, why)
    }

    /// Flags whose dashes a word processor made longer.
    fn dashes(&self) -> Option<Seen> {
        let is_typeset = |text: &str| typeset_flag(text).is_some();
        let what = |text: &str| format!("`{text}` begins with no `-`: its dash is a longer one.");
        let why = "Word processors and chats write such dashes; programs take the word for a name.";
        self.split_args("doctor/typeset-dash", is_typeset, what, why)
    }

    /// The arguments with the words of the wrong ones apart.
    pub(super) fn split_args(
        &self,
        rule: &'static str,
        is_wrong: impl Fn(&str) -> bool,
        what: impl Fn(&str) -> String,
        why: &str,
    ) -> Option<Seen> {
        let started = self.started;
        let wrong = started.args.iter().position(|arg| is_wrong(&arg.text))?;
        let (mut words, mut is_redirected) = (Vec::new(), false);
        for arg in started.args {
            let plain = || plain_blanks(&plain_signs(&arg.text));
            let apart = is_wrong(&arg.text)
                .then(|| shlex::split(&plain()).or_else(|| shlex::split(&arg.text)));
            match apart.flatten() {
                Some(split) => {
                    let kept = without_redirections(&split);
                    is_redirected |= kept.len() < split.len();
                    words.extend(kept.iter().map(|word| started.shown(word)));
                }
                None => words.push(started.shown(&arg.text)),
            }
        }
        let remedy = Remedy::new()
            .what(what(&started.shown(&started.args[wrong].text)))
            .why(why);
        let remedy = if has_shell_words(&words) {
            let texts = started.texts().join(" ");
            remedy.and(self.by_shell(&format!("{} {texts}", started.command.text)))
        } else {
            let how = match is_redirected {
                true => WITHOUT_REDIRECTION,
                false => "Write",
            };
            remedy.write(how, started.args(&words).at(self.at_arg(wrong)))
        };
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
        // UTF-8 allows a zero too, and no text holds one.
        let text = match self.context.sight.head(&file).contains(&0) {
            true => None,
            false => self.context.sight.text(&file),
        };
        let Some(text) = text else {
            return self.other_machine(&file).or_else(|| self.archive(&file));
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
                Remedy::new().say(format!(
                    "Save the file with the line ends of Unix (LF); in git, `{} text eol=lf` in \
                     `.gitattributes` keeps them.",
                    alike(&file)
                )),
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
        if let Some((what, steps)) = no_script(&file, &text) {
            let why = "The system runs programs and scripts, and this is neither.";
            return seen("doctor/no-program", "not_executable", what, why, steps);
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
    fn other_machine(&self, file: &Path) -> Option<Seen> {
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
    /// A program that is packed with others.
    fn archive(&self, file: &Path) -> Option<Seen> {
        let head = self.context.sight.head(file);
        let is_packed = head.starts_with(b"PK\x03\x04") || head.starts_with(&[0x1f, 0x8b]);
        if !is_packed {
            return None;
        }
        let name = self.started.command.text.trim();
        let remedy = match file.extension().and_then(|ending| ending.to_str()) {
            Some("jar") => Remedy::new()
                .what(format!("{} is a program of Java.", file.display()))
                .write(
                    "Have Java run it; write",
                    self.started
                        .command_and_args("java", &self.started.words_after(&["-jar", name])),
                ),
            Some("pyz" | "pyzw" | "pex") => Remedy::new()
                .what(format!("{} is a program of Python.", file.display()))
                .write(
                    "Have Python run it; write",
                    self.started
                        .command_and_args("python3", &self.started.words_after(&[name])),
                ),
            Some("mcpb" | "dxt") => Remedy::new()
                .what(format!("{} is a bundle for clients of MCP.", file.display()))
                .say("Install it in the client; or unpack it, and write what `server.mcp_config` in its `manifest.json` starts."),
            _ => Remedy::new()
                .what(format!("{} is an archive.", file.display()))
                .say("Unpack it, and write the path of the program in it."),
        };
        let remedy = remedy.why("The system runs programs and scripts, and this is neither.");
        Some(Seen::new("doctor/no-program", "not_executable", remedy))
    }
}

/// A text that is no script, and how a program comes in its place.
fn no_script(file: &Path, text: &str) -> Option<(String, Remedy)> {
    let shown = file.display();
    let start: String = text.trim_start().chars().take(200).collect();
    let start = start.to_ascii_lowercase();
    if start.is_empty() {
        let remedy =
            Remedy::new().say("Nothing is in it: write it, or build or download it again.");
        return Some((format!("{shown} is empty."), remedy));
    }
    if start.starts_with("<!doctype html") || start.starts_with("<html") {
        let remedy = Remedy::new().say(
            "Download the program again, by the address of the file itself: this one leads to a \
             page about it, or asks for a login.",
        );
        return Some((format!("{shown} is a web page."), remedy));
    }
    if start.starts_with("version https://git-lfs.github.com/") {
        let folder = file.parent().unwrap_or(Path::new("."));
        let folder = word(&folder.display().to_string());
        let remedy = Remedy::new()
            .say("Fetch what it stands for:")
            .run(format!("cd {folder} && git lfs pull"));
        return Some((format!("{shown} is a pointer of Git LFS."), remedy));
    }
    None
}

/// The files of its kind, as `.gitattributes` has them: by their ending, or by its name.
pub(super) fn alike(file: &Path) -> String {
    let name = || file.file_name().unwrap_or_default().to_string_lossy();
    let pattern = match file.extension() {
        Some(ending) => format!("*.{}", literal(&ending.to_string_lossy())),
        None => literal(&name()),
    };
    // In quotes, a backslash is written twice.
    match pattern.contains(char::is_whitespace) || pattern.starts_with('"') {
        true => format!("\"{}\"", pattern.replace('\\', "\\\\").replace('"', "\\\"")),
        false => pattern,
    }
}

/// A pattern of Git that matches this name alone.
fn literal(name: &str) -> String {
    let mut pattern = String::new();
    for c in name.chars() {
        let is_at_begin = pattern.is_empty() && matches!(c, '!' | '#');
        if is_at_begin || matches!(c, '[' | '*' | '?' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

pub(super) fn several_words(text: &str) -> String {
    if !text.trim().contains(char::is_whitespace) {
        return format!(
            "`{}` has {} before or behind it, which belongs to no name.",
            text.trim(),
            blank_at_an_end(text)
        );
    }
    format!("`{text}` is one argument, and holds several words.")
}

/// The text with plain quotes, and a plain dash at its begin, where word processors put
/// others.
fn plain_signs(text: &str) -> String {
    let text = text.replace(['“', '”', '„', '«', '»'], "\"");
    let text = text.replace(['‘', '’', '‚'], "'");
    match typeset_flag(&text) {
        // Two dashes became one long one, and one dash a short one.
        Some(name) if name.chars().nth(1).is_some() => format!("--{name}"),
        Some(name) => format!("-{name}"),
        None => text,
    }
}

/// The name of a flag that begins with a dash of a word processor.
fn typeset_flag(text: &str) -> Option<&str> {
    let name = text.strip_prefix(['–', '—', '−', '‑', '‐'])?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_=".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    (begins && name.chars().all(is_name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::alike;
    use std::path::Path;

    #[test]
    fn a_file_is_named_as_git_reads_it() {
        for (file, pattern) in [
            ("/a/run.sh", "*.sh"),
            ("/a/run", "run"),
            ("/a/crlf run", "\"crlf run\""),
            ("/a/run[1]", "run\\[1]"),
            ("/a/is it?", "\"is it\\\\?\""),
            ("/a/#run", "\\#run"),
        ] {
            assert_eq!(alike(Path::new(file)), pattern);
        }
    }
}
