//! What is wrong with servers at sight, before anything is started.
//!
//! Main functions: [`lint`], for one server, and [`duplicate_names`]. An error
//! is what can't work, a warning what may not work elsewhere, or later. No
//! finding shows a secret's value.

use super::blanks::{Surroundings, blanks, fill_as_client};
use super::clients::{Client, Platform, VariableSyntax};
use super::entry::{Config, Entry, Reached, Spot};
use super::launcher::{assigned, is_for_a_shell, is_python_launcher, name_of, package};
use super::secrets::in_entry;
use jelly_base::model::{Diagnosis, Finding, FindingLevel, Lint};
use jelly_base::text::{capitalised, is_placeholder, one_line, variable_name};
use std::collections::HashMap;

/// Ends of words that are files.
const FILES: &[&str] = &[
    ".py", ".js", ".mjs", ".cjs", ".ts", ".jar", ".sh", ".json", ".yaml", ".yml", ".toml", ".db",
    ".sqlite",
];

/// Commands that are batch files on Windows.
const BATCHES: &[&str] = &["npx", "npm", "pnpm", "pnpx", "yarn"];

/// Rules of remedies that take a command apart.
const SAY_OF_COMMAND: &[&str] = &[
    "doctor/quotes-in-command",
    "doctor/shell-line",
    "doctor/whole-line-in-command",
];

/// How much of a text of the configuration a finding quotes.
const QUOTED: usize = 80;

/// What is wrong with one server; its flaws are among it. In the order of the
/// file, as far as places tell.
#[must_use]
pub fn lint(
    config: &Config,
    entry: &Entry,
    platform: Platform,
    around: &Surroundings<'_>,
) -> Vec<Finding> {
    let mut linter = Linter {
        config,
        found: entry.flaws.clone(),
    };
    linter.blanks(entry, around);
    linter.secrets(entry);
    if let Some(Reached::Command {
        command,
        args,
        env,
        cwd,
        ..
    }) = &entry.reached
    {
        // One that is to be a list is told with all of its words.
        let place = config.at(command.place);
        let is_told = config.client.format().keeps_words_together()
            && entry.flaws.iter().any(|flaw| flaw.at == place);
        if !is_told {
            linter.command(command, platform);
        }
        linter.package(command, args);
        linter.paths(command, args, cwd.as_ref());
        linter.shell_variables(env);
        for (name, spot) in env.iter().filter(|(_, spot)| spot.text.trim().is_empty()) {
            linter.warn(
                Lint::EmptyEnv,
                spot,
                format!("`{}` is set to nothing.", quote(name)),
                "Give it its value, or delete the line; an empty value hides the one that the \
                 environment has.",
            );
        }
    }
    linter.found
}

/// Servers of one client that have the same name in several of its files: its
/// place in `configs` and in their entries, and the finding. That different
/// clients use the same server is as it should be.
#[must_use]
pub fn duplicate_names(configs: &[Config]) -> Vec<(usize, usize, Finding)> {
    let mut first: HashMap<(Client, &str), String> = HashMap::new();
    let mut found = Vec::new();
    for (file, config) in configs.iter().enumerate() {
        for (index, entry) in config.entries.iter().enumerate() {
            if entry.disabled {
                continue;
            }
            let here = config.at(entry.place);
            let Some(other) = first.get(&(config.client, entry.name.as_str())) else {
                first.insert((config.client, &entry.name), here);
                continue;
            };
            found.push((
                file,
                index,
                Finding {
                    lint: Lint::DuplicateName,
                    level: FindingLevel::Warning,
                    at: here,
                    what: format!("`{}` is also defined at {other}.", quote(&entry.name)),
                    fix: "Give one of them another name, or delete it: a client uses only one."
                        .to_owned(),
                },
            ));
        }
    }
    found
}

/// Leaves out the findings that a diagnosis says better, since it knows what
/// came of them.
pub fn without_repeated(findings: &mut Vec<Finding>, diagnosis: &Diagnosis) {
    let rule = &*diagnosis.rule;
    let paths = findings.iter().filter(|f| f.lint == Lint::ShellPath);
    // It speaks of one path.
    let is_only_path = paths.count() == 1;
    findings.retain(|finding| match finding.lint {
        Lint::CommandWithArguments => !SAY_OF_COMMAND.contains(&rule),
        Lint::ShellPath => !(is_only_path && rule == "doctor/shell-path"),
        // Of what does not exist there is no version to name.
        Lint::UnpinnedVersion => diagnosis.root_cause != "package_not_found",
        Lint::Malformed
        | Lint::Unfilled
        | Lint::WindowsNpx
        | Lint::RelativePath
        | Lint::PlainSecret
        | Lint::EmptyEnv
        | Lint::DuplicateName
        | Lint::WrongKey
        | Lint::TypeMismatch
        | Lint::SlowStart => true,
    });
}

struct Linter<'a> {
    config: &'a Config,
    found: Vec<Finding>,
}

impl Linter<'_> {
    fn add(&mut self, lint: Lint, level: FindingLevel, spot: &Spot, what: String, fix: String) {
        self.found.push(Finding {
            lint,
            level,
            at: self.config.at(spot.place),
            what,
            fix,
        });
    }

    fn warn(&mut self, lint: Lint, spot: &Spot, what: String, fix: &str) {
        self.add(lint, FindingLevel::Warning, spot, what, fix.to_owned());
    }

    fn error(&mut self, lint: Lint, spot: &Spot, what: String, fix: String) {
        self.add(lint, FindingLevel::Error, spot, what, fix);
    }

    fn blanks(&mut self, entry: &Entry, around: &Surroundings<'_>) {
        let format = self.config.client.format();
        for spot in entry.spots() {
            if spot.is_literal {
                self.literal(entry, spot);
            }
            for blank in fill_as_client(spot, around).left {
                let what = format!("`{}` has no value.", quote(&format.as_written(&blank)));
                let fix = self.filling(&blank);
                self.error(Lint::Unfilled, spot, what, fix);
            }
            if is_placeholder(&spot.text) {
                let what = format!("`{}` was to be replaced.", quote(&spot.text));
                let fix = "Write the value that is meant.".to_owned();
                self.error(Lint::Unfilled, spot, what, fix);
            }
        }
    }

    /// What looks like a blank, and is none for this client.
    fn literal(&mut self, entry: &Entry, spot: &Spot) {
        let Some(blank) = blanks(&spot.text).next() else {
            return;
        };
        let client = self.config.client.name();
        let what = format!(
            "`{}` reaches the server as it stands: {client} fills no blanks.",
            quote(blank)
        );
        // What the server is given under this name.
        let variable = match &entry.reached {
            Some(Reached::Command { env, .. }) => {
                env.iter().find(|(_, own)| std::ptr::eq(own, spot))
            }
            Some(Reached::Url { .. }) | None => None,
        };
        let fix = match (self.config.client, variable) {
            (Client::Codex, Some((name, _))) => format!(
                "Write the value itself, or take the line away, list `{name}` in `env_vars`, and \
                 set `{name}` where {client} is started.",
                name = quote(name)
            ),
            _ => "Write the value itself, or start the server by a script that sets it.".to_owned(),
        };
        self.warn(Lint::Unfilled, spot, what, &fix);
    }

    /// Values that a shell would fill in, and this client does not.
    fn shell_variables(&mut self, env: &[(String, Spot)]) {
        let format = self.config.client.format();
        let is_filled = matches!(
            format.variables,
            VariableSyntax::Shell | VariableSyntax::Unknown
        );
        let is_name = |name: &str| {
            let rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
            name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(rest)
        };
        for (name, spot) in env.iter().filter(|_| !is_filled) {
            let text = spot.text.as_str();
            let of_windows = || text.strip_prefix('%')?.strip_suffix('%');
            if text
                .strip_prefix('$')
                .or_else(of_windows)
                .is_some_and(is_name)
            {
                let what = format!(
                    "`{}` reaches the server as it stands: {} fills in none that is written so.",
                    quote(text),
                    format.name
                );
                let fix = format!("Write the value of `{}` itself.", quote(name));
                self.warn(Lint::Unfilled, spot, what, &fix);
            }
        }
    }

    fn filling(&self, blank: &str) -> String {
        let inside = blank.trim_start_matches("${").trim_end_matches('}');
        match inside.strip_prefix("input:") {
            Some(id) if self.config.inputs.iter().any(|input| input.id == id) => format!(
                "Set `{}` in the environment of jelly, or call it in a terminal, where it asks.",
                variable_of(id)
            ),
            Some(id) => format!("Add an entry with `\"id\": \"{}\"` to `inputs`.", quote(id)),
            None => format!(
                "Set `{}` in the environment that the client is started from.",
                quote(inside.strip_prefix("env:").unwrap_or(inside))
            ),
        }
    }

    fn secrets(&mut self, entry: &Entry) {
        let instead = self.config.client.format().instead_of_secret();
        for secret in in_entry(entry) {
            let what = format!("{} is here in plain text.", named(&secret.name));
            self.warn(Lint::PlainSecret, secret.spot, what, &instead);
        }
    }

    fn command(&mut self, command: &Spot, platform: Platform) {
        let text = command.text.trim();
        if let Some((first, _)) = text.split_once(char::is_whitespace)
            && !first.contains(['/', '\\'])
        {
            let format = self.config.client.format();
            let plain = || text.split_whitespace().map(str::to_owned).collect();
            let words: Vec<String> = shlex::split(text).unwrap_or_else(plain);
            let (name, args) = match format.keeps_words_together() {
                true => (format.command_name(), format.command_name()),
                false => (format.command_name(), format.members.args),
            };
            let set = assigned(&words);
            let apart = |program: &str| {
                format!(
                    "Write `{}`, and each of the other words as an element of `{args}`.",
                    format.command(&quote(program), ""),
                )
            };
            let (what, fix) = if is_for_a_shell(&words[set.len()..]) {
                let shell = format.command("sh", "\"-c\", \"…\"");
                (
                    format!("`{name}` is a line of a shell, and none reads it."),
                    format!("Have one run it: `{shell}`."),
                )
            } else if set.is_empty() {
                let program = words.first().map_or(first, String::as_str);
                let what = format!("`{name}` holds the arguments of `{}` too.", quote(program));
                (what, apart(program))
            } else {
                let names: Vec<String> = set.iter().map(|set| quote(set)).collect();
                let (env, names) = (format.members.env, names.join("`, `"));
                let then = match words.get(set.len()) {
                    Some(program) => apart(program),
                    None => format!("`{name}` is the program alone."),
                };
                (
                    format!("`{name}` begins with variables, and no shell reads them."),
                    format!("Move `{names}` to `{env}`. {then}"),
                )
            };
            self.error(Lint::CommandWithArguments, command, what, fix);
        }
        let is_batch = BATCHES.contains(&text);
        if platform == Platform::Windows && is_batch {
            let what = format!("`{text}` is a batch file on Windows, which few clients can start.");
            let words = format!("\"/c\", \"{text}\", …");
            let fix = format!(
                "Write `{}`.",
                self.config.client.format().command("cmd", &words)
            );
            self.error(Lint::WindowsNpx, command, what, fix);
        }
    }

    fn package(&mut self, command: &Spot, args: &[Spot]) {
        let words: Vec<&str> = args.iter().map(|arg| &*arg.text).collect();
        let Some(package) = package(&command.text, &words).filter(|package| !package.pinned) else {
            return;
        };
        // A name of npm's, which no launcher of Python finds.
        if package.spec.starts_with('@') && is_python_launcher(package.launcher) {
            return;
        }
        let Some(spot) = args.get(package.index) else {
            return;
        };
        // A scope and a registry's port hold the same marks as a version.
        let last = package.spec.rfind('/').map_or(0, |slash| slash + 1);
        let end = package.spec[last..].find(['@', '=', '<', '>', '~', '!', ' ', ':']);
        let name = end.map_or(package.spec, |end| &package.spec[..last + end]);
        let example = package.example.replacen(
            package
                .example
                .split(['@', '=', ':'])
                .next()
                .unwrap_or_default(),
            &quote(name),
            1,
        );
        let what = format!(
            "`{}` takes whatever version of it is the newest that day.",
            package.launcher
        );
        let fix = format!("Name the version that you have tried: `{example}`.");
        self.warn(Lint::UnpinnedVersion, spot, what, &fix);
    }

    fn paths(&mut self, command: &Spot, args: &[Spot], cwd: Option<&Spot>) {
        let format = self.config.client.format();
        let folder_is_given = format.heeds_folder
            && cwd.is_some_and(|cwd| is_absolute(&cwd.text) || is_blank(&cwd.text))
            || enters_folder(name_of(&command.text), args);
        for spot in std::iter::once(command).chain(args).chain(cwd) {
            let is_cwd = cwd.is_some_and(|cwd| std::ptr::eq(cwd, spot));
            let is_command = std::ptr::eq(command, spot);
            // The value of `--config=./x`.
            let path = match spot.text.split_once('=') {
                Some((flag, value)) if flag.starts_with('-') => value,
                Some(_) | None => &spot.text,
            };
            if path.contains("://") {
                continue;
            }
            if path == "~" || path.starts_with("~/") || path.starts_with("$HOME") {
                let what = format!(
                    "`{}` is for a shell, and none reads it; some servers do so themselves.",
                    quote(path)
                );
                self.warn(Lint::ShellPath, spot, what, "Write the whole path.");
                continue;
            }
            let relative = if is_command {
                path.contains('/') && !is_absolute(path) && !path.contains(char::is_whitespace)
            } else {
                is_cwd && !is_absolute(path) || is_relative_path(path)
            };
            if relative && !is_blank(path) && (is_cwd || !folder_is_given) {
                let besides = match cwd {
                    Some(_) if !format.heeds_folder => {
                        format!(
                            ", and {} was seen not to heed `{}`",
                            format.name, format.members.cwd
                        )
                    }
                    Some(_) | None => String::new(),
                };
                let what = format!(
                    "`{}` depends on the folder in which the client starts the server{besides}.",
                    quote(path)
                );
                let fix = match self.config.client {
                    Client::VsCode | Client::Cursor => {
                        "Write the whole path, or begin it with `${workspaceFolder}/`."
                    }
                    _ => "Write the whole path.",
                };
                self.warn(Lint::RelativePath, spot, what, fix);
            }
        }
    }
}

/// Whether a launcher is told by a whole path in which folder it is to start the program.
fn enters_folder(launcher: &str, args: &[Spot]) -> bool {
    let flags: &[&str] = match launcher {
        "uv" | "poetry" => &["--directory"],
        "npm" => &["--prefix"],
        "pnpm" => &["-C", "--dir"],
        "make" => &["-C", "--directory"],
        _ => return false,
    };
    let texts = args.iter().map(|arg| &*arg.text);
    let pairs = texts.clone().zip(texts.clone().skip(1));
    pairs
        .into_iter()
        .any(|(flag, value)| flags.contains(&flag) && is_absolute(value))
        || texts.into_iter().any(|text| {
            let value = text
                .split_once('=')
                .filter(|(flag, _)| flags.contains(flag));
            value.is_some_and(|(_, value)| is_absolute(value))
        })
}

/// The environment variable that answers VS Code's input of this id: the id in
/// capitals, with `_` for what a variable's name can't hold.
#[must_use]
pub fn variable_of(id: &str) -> String {
    variable_name(id)
}

fn named(name: &str) -> String {
    if name.contains(' ') {
        capitalised(name)
    } else {
        format!("The value of `{}`", quote(name))
    }
}

fn is_blank(text: &str) -> bool {
    text.contains("${")
}

fn is_absolute(path: &str) -> bool {
    let drive = |path: &str| {
        let mut bytes = path.bytes();
        bytes.next().is_some_and(|b| b.is_ascii_alphabetic()) && bytes.next() == Some(b':')
    };
    path.starts_with(['/', '\\']) || drive(path)
}

fn is_relative_path(text: &str) -> bool {
    if text == "." || text == ".." || text.starts_with("./") || text.starts_with("../") {
        return true;
    }
    FILES.iter().any(|end| text.ends_with(end))
        && !is_absolute(text)
        && !text.starts_with(['-', '@'])
        && !text.contains("://")
        && !text.contains(char::is_whitespace)
        && name_of(text).len() > 3
}

fn quote(text: &str) -> String {
    one_line(text, QUOTED)
}

#[cfg(test)]
#[path = "lint_tests.rs"]
mod tests;
