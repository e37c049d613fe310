//! One cause after the other, and what mends it.

use super::commands::{elsewhere, launchers_like, packages_like};
use super::entries::Started;
use super::npm::package_name;
use super::sight::Sight;
use super::{remote, words};
use crate::doctor::candidates::Candidate;
use crate::doctor::clients::is_member;
use crate::doctor::entry::{Config, Entry, Place};
use crate::doctor::launcher::{Package, flags_at, name_of, package, up_to_program};
use jelly_base::model::{Diagnosis, Failure, Phase};
use jelly_base::text::redact::Redactor;
use jelly_base::text::shell_word as word;
use regex::Regex;
use std::path::Path;

/// Of stderr, this much of the end is looked at.
const LOOKED_AT: usize = 64 * 1024;

/// What is known beside the diagnosis.
#[derive(Clone, Copy)]
pub struct RemedyContext<'a> {
    pub config: &'a Config,
    pub entry: &'a Entry,
    pub failure: &'a Failure,
    pub redactor: &'a Redactor,
    pub home: Option<&'a Path>,
    pub sight: &'a dyn Sight,
    /// With what it answered over stdio when that was tried.
    pub proven: Option<&'a Candidate>,
    /// Whether that was tried at all.
    pub tried: bool,
}

/// Makes the advice one for a client's configuration: what to write where
/// first.
pub fn prescribe(diagnosis: &mut Diagnosis, context: &RemedyContext<'_>) {
    words::of_configurations(&mut diagnosis.advice);
    let Some(started) = Started::new(
        context.entry,
        context.config.client.format(),
        context.redactor,
    ) else {
        remote::prescribe(diagnosis, context);
        return;
    };
    let stderr = context.failure.stderr.as_deref().unwrap_or_default();
    let stderr = &stderr[stderr.ceil_char_boundary(stderr.len().saturating_sub(LOOKED_AT))..];
    let evidence = diagnosis.evidence.as_ref().map_or("", |e| e.text.as_str());
    let doctor = Doctor {
        context,
        started,
        told: format!("{evidence}\n{}", diagnosis.advice.what),
        stderr,
        rule: diagnosis.rule.clone(),
    };
    if let Some(seen) = doctor.seen(&diagnosis.root_cause) {
        seen.into(diagnosis);
        let shown = |line: &mut String| *line = context.redactor.redact(line).into_owned();
        let advice = &mut diagnosis.advice;
        advice.fix.iter_mut().for_each(shown);
        [&mut advice.what, &mut advice.why]
            .into_iter()
            .for_each(shown);
        return;
    }
    if diagnosis.root_cause == "startup_timeout"
        && let Some(last) = doctor.last_words()
    {
        diagnosis.advice.why = format!("It ran and was not ready. Its last words: {last}");
    }
    let fix = &mut diagnosis.advice.fix;
    let Remedy {
        lines,
        instead_of,
        why,
    } = match &*diagnosis.root_cause {
        "command_not_found" => doctor.command(),
        "package_not_found" => doctor.package(),
        "missing_argument" => doctor.argument(),
        "missing_directory" => doctor.folder(),
        "missing_file" => doctor.file(),
        "missing_env_var" => doctor.variable(),
        "invalid_config" => doctor.settings(),
        "missing_module" => doctor.module(),
        "invalid_argument" => doctor.refused(),
        "not_executable" => doctor.executable(),
        "runtime_version_mismatch" => doctor.runtime(),
        "port_in_use" => doctor.port(),
        "dependency_version_mismatch" if doctor.is_pythons() => doctor.python_dependency(),
        "dependency_version_mismatch" => doctor.node_dependency(),
        "stdout_pollution" => doctor.noise(),
        "transport_mismatch" => doctor.transport(),
        "waits_for_input" => doctor.person(),
        // The command that shows why is told apart.
        "startup_timeout" => doctor.silence(),
        _ => Remedy::none(),
    };
    if let Some(why) = why {
        diagnosis.advice.why = context.redactor.redact(&why).into_owned();
    }
    fix.retain(|line| !instead_of.iter().any(|start| line.starts_with(start)));
    let shown = |line: &String| context.redactor.redact(line).into_owned();
    fix.splice(0..0, lines.iter().map(shown));
    if let Some(node) = doctor.node() {
        // Not that of the shell that it is pasted into.
        let own = format!("$ {} --version", word(&node.display().to_string()));
        for line in fix.iter_mut().filter(|line| *line == "$ node --version") {
            line.clone_from(&own);
        }
    }
    // What announces a command that could not be filled in announces nothing.
    let pasted = |line: &str| line.starts_with("$ ") || is_member(line);
    let announces: Vec<bool> = (0..fix.len())
        .map(|at| fix[at].ends_with(':') && !fix.get(at + 1).is_some_and(|next| pasted(next)))
        .collect();
    let mut announces = announces.into_iter();
    fix.retain(|line| !announces.next().unwrap_or(false) || line.starts_with("To its author"));
    // The usage is the server's, and not that of what is given to it.
    for line in fix
        .iter_mut()
        .filter(|line| line.starts_with("$ ") && line.ends_with(" --help"))
    {
        *line = doctor.usage();
    }
}

/// Lines to say first, and how those begin that they stand in place of.
pub(super) struct Remedy {
    pub(super) lines: Vec<String>,
    instead_of: &'static [&'static str],
    /// Said in place of what the rule says.
    why: Option<String>,
}

impl Remedy {
    pub(super) fn none() -> Self {
        Self::of(Vec::new())
    }

    pub(super) fn of(lines: Vec<String>) -> Self {
        Self {
            lines,
            instead_of: &[],
            why: None,
        }
    }

    pub(super) fn because(self, why: Option<String>) -> Self {
        Self { why, ..self }
    }

    pub(super) fn instead_of(self, starts: &'static [&'static str]) -> Self {
        Self {
            instead_of: starts,
            ..self
        }
    }
}

pub(super) struct Doctor<'a> {
    pub(super) context: &'a RemedyContext<'a>,
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

pub(super) fn blank(name: &str) -> String {
    format!("<{}>", name.trim_matches(['<', '>', ' ']))
}

impl Doctor<'_> {
    pub(super) fn at(&self, place: Place) -> String {
        self.context.config.at(place)
    }

    /// Where the arguments stand, or would.
    pub(super) fn at_args(&self) -> String {
        let first = self.started.args.first();
        self.at(first.map_or(self.context.entry.place, |arg| arg.place))
    }

    pub(super) fn fetched(&self) -> Option<Package<'_>> {
        let words: Vec<&str> = self.started.args.iter().map(|arg| &*arg.text).collect();
        package(&self.started.command.text, &words)
    }

    /// The arguments with one of them replaced.
    pub(super) fn with(&self, index: usize, text: &str) -> String {
        self.started.args(&self.words_with(index, text))
    }

    /// The same with another package, which npx is allowed to install.
    fn with_package(&self, index: usize, text: &str) -> String {
        let mut words = self.words_with(index, text);
        let is_npx = name_of(&self.started.command.text) == "npx";
        if is_npx && !words.iter().any(|word| matches!(&**word, "-y" | "--yes")) {
            words.insert(0, "-y".to_owned());
        }
        self.started.args(&words)
    }

    fn words_with(&self, index: usize, text: &str) -> Vec<String> {
        let mut words = self.started.words();
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
    pub(super) fn before(&self, words: &[&str]) -> Vec<String> {
        let before = words.iter().map(|word| (*word).to_owned());
        before.chain(self.started.words()).collect()
    }

    /// The arguments with flags of the launcher besides.
    pub(super) fn with_flags(&self, flags: &[&str]) -> Vec<String> {
        let mut words = self.started.words();
        let texts: Vec<&str> = self.started.args.iter().map(|arg| &*arg.text).collect();
        let at = flags_at(&self.started.command.text, &texts).min(words.len());
        words.splice(at..at, flags.iter().map(|flag| (*flag).to_owned()));
        words
    }

    /// How many of the arguments say what is started.
    pub(super) fn program_end(&self) -> usize {
        let texts: Vec<&str> = self.started.args.iter().map(|arg| &*arg.text).collect();
        up_to_program(&self.started.command.text, &texts).min(texts.len())
    }

    /// What prints how the server is used.
    pub(super) fn usage(&self) -> String {
        let end = self.program_end();
        let shown = std::iter::once(self.started.shown(&self.started.command.text));
        let words: Vec<String> = shown
            .chain(self.started.words().into_iter().take(end))
            .map(|arg| word(&arg))
            .collect();
        format!("$ {} --help", words.join(" "))
    }

    fn command(&self) -> Remedy {
        // What a server that runs looks for is not the entry's command.
        let phase = self.context.failure.phase;
        if !matches!(phase, Some(Phase::Config | Phase::Spawn)) {
            return self.upstream();
        }
        let name = self.started.command.text.trim();
        let at = self.at(self.started.command.place);
        if let Some(members) = self.split() {
            let mut lines = vec![format!(
                "`{}` holds a whole command line; write its words apart, at {at}:",
                self.started.format.command_name()
            )];
            lines.push(members);
            return Remedy::of(lines).instead_of(&["Install `", "If it is", "$ command"]);
        }
        let is_there = self.context.sight.is_there(&self.whole(name));
        if name.contains('/') && is_there {
            return self.without_interpreter(name, &at);
        }
        if name.contains(['/', '\\']) {
            return self.nothing_there(name, &at);
        }
        let sight = self.context.sight;
        if let Some(path) = self.started.env.iter().find(|(name, _)| name == "PATH") {
            let found = sight.on_path(name);
            let full = found.map_or_else(
                || blank(&format!("full path of {name}")),
                |path| path.display().to_string(),
            );
            let at = self.at(path.1.place);
            return Remedy::of(vec![
                format!(
                    "The PATH of the entry, at {at}, replaces the whole PATH, and `{name}` lies in \
                     none of its folders; delete it there, or write:"
                ),
                self.started.command(&full),
            ])
            .instead_of(&["Install `", "`", "If it is", "$ command"]);
        }
        let meant = launchers_like(name);
        let is_here = |command: &&&str| sight.on_path(command).is_some();
        if let Some(meant) = meant.iter().find(is_here) {
            return Remedy::of(vec![
                format!("`{name}` is probably `{meant}`, mistyped; write at {at}:"),
                self.started.command(meant),
            ])
            .instead_of(&["Install `", "If it is", "$ command"]);
        }
        let is_file = |path: &Path| sight.is_there(path) && !sight.is_folder(path);
        if let Some(path) = elsewhere(name, self.context.home, &is_file) {
            let path = path.display().to_string();
            return Remedy::of(vec![
                format!("It is installed, in a folder that the PATH does not name; write at {at}:"),
                self.started.command(&path),
            ])
            .instead_of(&["Install `", "`", "If it is", "$ command"]);
        }
        if let Some(meant) = meant.first() {
            return Remedy::of(vec![
                format!(
                    "`{name}` is probably `{meant}`, mistyped; that is not installed here \
                     either: install it, and write at {at}:"
                ),
                self.started.command(meant),
            ])
            .instead_of(&["Install `", "If it is"]);
        }
        let mut lines = self.fetching(name, &at);
        lines.push(format!("Install it, or write its full path at {at}:"));
        lines.push(
            self.started
                .command(&blank(&format!("full path of {name}"))),
        );
        Remedy::of(lines).instead_of(&["Install `"])
    }

    /// What is there, and can't be executed.
    fn executable(&self) -> Remedy {
        let name = &self.started.command.text;
        if !self.context.sight.is_folder(&self.whole(name)) {
            return Remedy::none();
        }
        let at = self.at(self.started.command.place);
        let program = format!("{}/{}", name.trim_end_matches('/'), blank("program"));
        Remedy::of(vec![
            format!("It is a folder; write the program in it that is meant, at {at}:"),
            self.started.command(&program),
        ])
        .instead_of(&["Make it", "$ chmod"])
    }

    /// A program that the server starts: its path is often a word of the entry.
    fn upstream(&self) -> Remedy {
        let Some(name) = found(&[r"can't be found: (?P<it>\S+?)\.(?:\s|$)"], &self.told) else {
            return Remedy::none();
        };
        let given = self.started.args.iter().position(|arg| arg.text == name);
        let is_uv = name_of(&self.started.command.text) == "uv";
        if let Some(index) = given.filter(|_| is_uv) {
            return self.program_of_project(index);
        }
        if let (Some(index), Some(fetched)) = (given, self.fetched()) {
            // What npx looks for is a program of the package that it fetched.
            let at = self.at(self.started.args[index].place);
            return Remedy::of(vec![
                format!("The package has no program `{name}`; write one that it has, at {at}:"),
                self.with(index, &blank("name of its program")),
                format!("$ npm view {} bin", word(fetched.spec)),
            ])
            .instead_of(&["Install ", "$ command"]);
        }
        let variable = self.started.env.iter().find(|(_, spot)| spot.text == name);
        let path = blank(&format!("full path of {name}"));
        let (at, member) = match (given, variable) {
            (Some(index), _) => (self.started.args[index].place, self.with(index, &path)),
            (None, Some((key, spot))) => {
                (spot.place, self.started.env_with(&[(key.clone(), path)]))
            }
            (None, None) => return Remedy::none().instead_of(&["Install the program"]),
        };
        let at = self.at(at);
        Remedy::of(vec![
            format!("Install `{name}`, or write the path where it lies, at {at}:"),
            member,
        ])
        .instead_of(&["Install "])
    }

    /// The package is there, and one that it asks for is not.
    fn lacking_dependency(&self, fetched: &Package<'_>, at: &str) -> Option<Vec<String>> {
        let lacking = found(
            &[
                r"No matching version found for (?P<it>@?[\w./-]+)@",
                r"404\s+'(?P<it>@?[\w./-]+)@[^'\n]*' is not in this registry",
            ],
            self.stderr,
        )?;
        let own = package_name(fetched.spec);
        if fetched.launcher != "npx" || lacking == own {
            return None;
        }
        Some(vec![
            format!(
                "`{own}` is there, and asks for `{lacking}`, which is not to be had; take another \
                 version of it, and write at {at}:"
            ),
            self.with_package(fetched.index, &format!("{own}@{}", blank("version"))),
            format!("$ npm view {} time", word(own)),
        ])
    }

    fn package(&self) -> Remedy {
        let Some(fetched) = self.fetched() else {
            return Remedy::none();
        };
        let at = self.at(self.started.args[fetched.index].place);
        let is_python = matches!(fetched.launcher, "uvx" | "uv" | "pipx");
        let has_none = self.stderr.contains("does not provide any executables");
        if self.rule.ends_with("executable") && !has_none {
            let args_of = self.started.args;
            // The program that was named apart is the one that is not there.
            let before = fetched.index.checked_sub(1).map(|at| &*args_of[at].text);
            let apart = matches!(before, Some("--from" | "--package" | "-p" | "--spec"));
            let own = (fetched.index + 1 + usize::from(apart)).min(args_of.len());
            let rest = self.started.words().split_off(own);
            let listed = found(
                &[r"executables are available:\s+- (?P<it>[^\s(]+)"],
                self.stderr,
            );
            let program = listed.unwrap_or_else(|| blank("name of its program"));
            let spec = fetched.spec.to_owned();
            let mut words: Vec<String> = if is_python {
                vec!["--from".to_owned(), spec, program]
            } else {
                let package = format!("--package={spec}");
                vec!["-y".to_owned(), package, "--".to_owned(), program]
            };
            words.extend(rest);
            let mut lines = vec![
                format!("Write the program of the package besides, at {at}:"),
                self.started.args(&words),
            ];
            if !is_python {
                lines.push(
                    "These are its programs; if there are none, it is no server's:".to_owned(),
                );
                lines.push(format!("$ npm view {} bin", word(fetched.spec)));
            }
            return Remedy::of(lines).instead_of(&["If the program", "Look for the name"]);
        }
        if let Some(lines) = self.lacking_dependency(&fetched, &at) {
            return Remedy::of(lines).instead_of(&["Check the name", "$ npm view"]);
        }
        let unpinned = fetched
            .spec
            .char_indices()
            .skip(1)
            .find(|(_, c)| matches!(c, '@' | '='))
            .map_or(fetched.spec, |(end, _)| &fetched.spec[..end]);
        let meant = packages_like(unpinned, is_python);
        if !meant.is_empty() {
            let lines = meant.iter().flat_map(|meant| {
                let what = format!("`{unpinned}` is probably `{meant}`, mistyped; write at {at}:");
                [what, self.with_package(fetched.index, meant)]
            });
            return Remedy::of(lines.collect());
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
                self.with_package(fetched.index, &text),
                list,
            ]);
        }
        Remedy::of(vec![
            format!("Write the right name, from the server's own documentation, at {at}:"),
            self.with_package(fetched.index, "<name of the package>"),
        ])
        .instead_of(&["$ npm view", "$ pip index"])
    }
}
