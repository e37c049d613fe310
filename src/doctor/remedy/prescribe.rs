//! One cause after the other, and what mends it.

use super::commands::{elsewhere, launcher_like, package_like};
use super::entries::{Started, args, command};
use super::words;
use crate::doctor::entry::{Config, Entry, Place};
use crate::doctor::launcher::{Package, name_of, package};
use crate::model::{Diagnosis, Failure};
use crate::text::redact::Redactor;
use crate::text::shell_word as word;
use regex::Regex;
use std::path::Path;

/// Of stderr, this much of the end is looked at.
const LOOKED_AT: usize = 64 * 1024;

/// Variables that one fix names.
const NAMES: usize = 6;

/// What is known beside the diagnosis.
#[derive(Clone, Copy)]
pub struct Bedside<'a> {
    pub config: &'a Config,
    pub entry: &'a Entry,
    pub failure: &'a Failure,
    pub redactor: &'a Redactor,
    pub home: Option<&'a Path>,
    /// Whether a file or folder exists.
    pub is_there: &'a dyn Fn(&Path) -> bool,
}

/// Makes the advice one for a client's configuration: what to write where
/// first.
pub fn prescribe(diagnosis: &mut Diagnosis, bedside: &Bedside<'_>) {
    words::of_configurations(&mut diagnosis.advice);
    let Some(started) = Started::of(bedside.entry, bedside.redactor) else {
        return;
    };
    let stderr = bedside.failure.stderr.as_deref().unwrap_or_default();
    let stderr = &stderr[stderr.ceil_char_boundary(stderr.len().saturating_sub(LOOKED_AT))..];
    let evidence = diagnosis.evidence.as_ref().map_or("", |e| e.text.as_str());
    let doctor = Doctor {
        bedside,
        started,
        told: format!("{evidence}\n{}", diagnosis.advice.what),
        stderr,
        rule: diagnosis.rule.clone(),
    };
    let fix = &mut diagnosis.advice.fix;
    let Remedy { lines, instead_of } = match &*diagnosis.root_cause {
        "command_not_found" => doctor.command(),
        "package_not_found" => doctor.package(),
        "missing_argument" => doctor.argument(),
        "missing_directory" => doctor.folder(),
        "missing_file" => doctor.file(),
        "missing_env_var" => doctor.variable(),
        "missing_module" => doctor.module(),
        "runtime_version_mismatch" => doctor.runtime(),
        "port_in_use" => doctor.port(),
        "dependency_version_mismatch" => doctor.dependency(),
        "stdout_pollution" => doctor.noise(),
        "transport_mismatch" => doctor.transport(),
        // The command that shows why is told apart.
        "startup_timeout" => Remedy::none().instead_of(&["Start it by hand", "$ "]),
        _ => Remedy::none(),
    };
    fix.retain(|line| !instead_of.iter().any(|start| line.starts_with(start)));
    fix.splice(0..0, lines);
}

/// Lines to say first, and how those begin that they stand in place of.
pub(super) struct Remedy {
    lines: Vec<String>,
    instead_of: &'static [&'static str],
}

impl Remedy {
    pub(super) fn none() -> Self {
        Self::of(Vec::new())
    }

    pub(super) fn of(lines: Vec<String>) -> Self {
        Self {
            lines,
            instead_of: &[],
        }
    }

    pub(super) fn instead_of(self, starts: &'static [&'static str]) -> Self {
        Self {
            instead_of: starts,
            ..self
        }
    }
}

pub(super) struct Doctor<'a> {
    pub(super) bedside: &'a Bedside<'a>,
    pub(super) started: Started<'a>,
    /// Evidence and diagnosis.
    pub(super) told: String,
    pub(super) stderr: &'a str,
    pub(super) rule: String,
}

/// The first group `it` of the first pattern that a text matches.
pub(super) fn found(patterns: &[&str], text: &str) -> Option<String> {
    patterns.iter().find_map(|pattern| {
        let found = Regex::new(pattern).ok()?.captures(text)?;
        Some(found.name("it")?.as_str().to_owned())
    })
}

fn blank(name: &str) -> String {
    format!("<{}>", name.trim_matches(['<', '>', ' ']))
}

impl Doctor<'_> {
    pub(super) fn at(&self, place: Place) -> String {
        self.bedside.config.at(place)
    }

    /// Where the arguments stand, or would.
    pub(super) fn at_args(&self) -> String {
        let first = self.started.args.first();
        self.at(first.map_or(self.bedside.entry.place, |arg| arg.place))
    }

    pub(super) fn fetched(&self) -> Option<Package<'_>> {
        let words: Vec<&str> = self.started.args.iter().map(|arg| &*arg.text).collect();
        let found = package(&self.started.command.text, &words)?;
        let arg = self.started.args.get(found.index)?;
        Some(Package {
            launcher: name_of(&self.started.command.text),
            spec: arg
                .text
                .strip_prefix("--package=")
                .or_else(|| arg.text.strip_prefix("--from="))
                .unwrap_or(&arg.text),
            index: found.index,
            pinned: found.pinned,
            example: found.example,
        })
    }

    /// The arguments with one of them replaced.
    pub(super) fn with(&self, index: usize, text: &str) -> String {
        let mut words = self.started.words();
        if let Some(word) = words.get_mut(index) {
            // `--package=NAME`, `--port=3000`.
            *word = match word.split_once('=') {
                Some((flag, _)) if flag.starts_with('-') => format!("{flag}={text}"),
                Some(_) | None => text.to_owned(),
            };
        }
        args(&words)
    }

    /// The arguments with others before them.
    pub(super) fn after(&self, before: &[&str]) -> Vec<String> {
        let before = before.iter().map(|word| (*word).to_owned());
        before.chain(self.started.words()).collect()
    }

    fn command(&self) -> Remedy {
        // What the server itself looks for is no word of the entry.
        if self.rule.contains("-text") || self.rule.contains("program-of") {
            return Remedy::none();
        }
        let name = self.started.command.text.trim();
        let at = self.at(self.started.command.place);
        if name.contains(['/', '\\']) {
            return Remedy::of(vec![
                format!("Nothing is at that path; write the one where the program lies, at {at}:"),
                command(&blank("path of the program")),
            ])
            .instead_of(&["Install `"]);
        }
        if let Some(meant) = launcher_like(name) {
            return Remedy::of(vec![
                format!("`{name}` is probably `{meant}`, mistyped; write at {at}:"),
                command(meant),
            ])
            .instead_of(&["Install `"]);
        }
        if let Some(path) = elsewhere(name, self.bedside.home, self.bedside.is_there) {
            let path = path.display().to_string();
            return Remedy::of(vec![
                format!("It is installed, in a folder that the PATH does not name; write at {at}:"),
                command(&path),
            ])
            .instead_of(&["Install `", "`", "If it is", "$ command"]);
        }
        Remedy::of(vec![
            format!("Install it, or write its full path at {at}:"),
            command(&blank(&format!("full path of {name}"))),
        ])
        .instead_of(&["Install `"])
    }

    fn package(&self) -> Remedy {
        let Some(fetched) = self.fetched() else {
            return Remedy::none();
        };
        let at = self.at(self.started.args[fetched.index].place);
        let is_python = matches!(fetched.launcher, "uvx" | "uv" | "pipx");
        if self.rule.ends_with("executable") {
            let rest = self.started.words().split_off(fetched.index + 1);
            let mut words: Vec<String> = if is_python {
                let name = blank("name of the package");
                vec!["--from".to_owned(), name, blank("name of its program")]
            } else {
                let name = format!("--package={}", blank("name of the package"));
                let program = blank("name of its program");
                vec!["-y".to_owned(), name, "--".to_owned(), program]
            };
            words.extend(rest);
            return Remedy::of(vec![
                format!("Write the server's package, and the program in it, at {at}:"),
                args(&words),
            ]);
        }
        let unpinned = fetched
            .spec
            .char_indices()
            .skip(1)
            .find(|(_, c)| matches!(c, '@' | '='))
            .map_or(fetched.spec, |(end, _)| &fetched.spec[..end]);
        if let Some(meant) = package_like(unpinned) {
            return Remedy::of(vec![
                format!("`{unpinned}` is probably `{meant}`, mistyped; write at {at}:"),
                self.with(fetched.index, meant),
            ]);
        }
        let is_version = unpinned != fetched.spec
            && found(
                &[r"(?P<it>(?i:no matching version|there is no version))"],
                self.stderr,
            )
            .is_some();
        if is_version {
            let joint = if is_python { "==" } else { "@" };
            let text = format!("{unpinned}{joint}<version>");
            let list = if is_python {
                format!("$ pip index versions {}", word(unpinned))
            } else {
                format!("$ npm view {} versions", word(unpinned))
            };
            return Remedy::of(vec![
                format!("There is no such version; choose one that there is, and write at {at}:"),
                self.with(fetched.index, &text),
                list,
            ]);
        }
        Remedy::of(vec![
            format!("Write the right name, from the server's own documentation, at {at}:"),
            self.with(fetched.index, "<name of the package>"),
        ])
        .instead_of(&["$ npm view", "$ pip index"])
    }

    fn argument(&self) -> Remedy {
        // In square brackets too, since something is missing.
        let usage = [
            r"(?i)usage:[^\n]*?(?P<it><[^<>\n]{1,60}>)",
            r"(?i)usage:[^\n]*?\[(?P<it>[a-z][a-z-]{2,40})\]",
        ];
        let said = [
            r"(?i)arguments are required: (?P<it>[\w-]+)",
            r"(?i)\b(?P<it>--[a-z][\w-]+) (?:is|are) required\b",
            r"(?i)\b(?:provide|specify|pass|supply|give) (?:an? |the )?(?P<it>[\w -]{3,40}?) (?:as|via|by|in|on|with)\b",
            r"(?i)\bno (?P<it>[\w -]{3,40}?) (?:was |were )?(?:provided|specified|given)\b",
        ];
        let what = found(&said[..2], &self.told)
            .or_else(|| found(&usage, self.stderr))
            .or_else(|| found(&said[2..], &self.told));
        let mut words = self.started.words();
        match &what {
            Some(flag) if flag.starts_with("--") => {
                words.push(flag.clone());
                words.push(blank(flag.trim_start_matches('-')));
            }
            Some(what) => words.push(blank(what)),
            None => words.push(blank("argument")),
        }
        let lines = vec![format!("Write at {}:", self.at_args()), args(&words)];
        if what.is_some() {
            Remedy::of(lines).instead_of(&["Add it to", "Give it a directory", "$ "])
        } else {
            Remedy::of(lines).instead_of(&["Add it to"])
        }
    }

    fn folder(&self) -> Remedy {
        fn path(arg: &str) -> &str {
            arg.rsplit('=').next().unwrap_or(arg)
        }
        let named = |arg: &str| {
            let path = path(arg);
            path.len() > 1 && path.contains(['/', '\\', '~', '$']) && self.told.contains(path)
        };
        let given = self.started.args;
        let Some(index) = given.iter().position(|arg| named(&arg.text)) else {
            return Remedy::none();
        };
        let mut words = self.started.words();
        words[index] = words[index].replace(path(&given[index].text), "<folder>");
        let at = self.at(given[index].place);
        Remedy::of(vec![
            format!("Name a folder that there is, at {at}:"),
            args(&words),
            "Or create this one:".to_owned(),
        ])
        .instead_of(&["Create it, or"])
    }

    /// A file can't be made where its folder is missing, and triage does not
    /// see which of them is.
    fn file(&self) -> Remedy {
        let path = found(&[r"['\x22](?P<it>/[^'\x22\n]{1,400})['\x22]"], &self.told);
        let folder = path.as_deref().and_then(|path| Path::new(path).parent());
        match folder {
            Some(folder) if !(self.bedside.is_there)(folder) => {
                let shown = folder.display();
                Remedy::of(vec![
                    format!("The folder {shown} does not exist: create it, or name another one."),
                    format!("$ mkdir -p {}", word(&shown.to_string())),
                ])
                .instead_of(&["$ ls "])
            }
            Some(_) | None => Remedy::none(),
        }
    }

    fn variable(&self) -> Remedy {
        let mut names: Vec<String> = Vec::new();
        if let Ok(pattern) = Regex::new(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]\b") {
            for name in pattern.find_iter(&self.told).map(|found| found.as_str()) {
                if !names.iter().any(|known| known == name) && names.len() < NAMES {
                    names.push(name.to_owned());
                }
            }
        }
        if names.is_empty() {
            names.push("<NAME>".to_owned());
        }
        let values: Vec<(String, String)> = names
            .into_iter()
            .map(|name| {
                let value = format!("<value of {}>", name.trim_matches(['<', '>']));
                (name, value)
            })
            .collect();
        let at = self.at(self.bedside.entry.place);
        Remedy::of(vec![
            format!("Write in the entry at {at}:"),
            self.started.env_with(&values),
        ])
        .instead_of(&["Set ", "Write credentials"])
    }

    fn module(&self) -> Remedy {
        let name = found(&[r"No module named ['\x22]?(?P<it>[\w.-]+)"], &self.told);
        match (name, name_of(&self.started.command.text)) {
            (Some(name), "uvx") => Remedy::of(vec![
                format!("Have it installed besides; write at {}:", self.at_args()),
                args(&self.after(&["--with", &name])),
            ])
            .instead_of(&["$ "]),
            (_, _) => Remedy::none(),
        }
    }
}
