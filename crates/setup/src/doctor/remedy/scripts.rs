//! What mends a server whose script, folder or file is not where its entry
//! says.

use super::prescribe::{Doctor, Remedy, blank, found};
use crate::doctor::clients::quoted;
use crate::doctor::entry::{Reached, Spot};
use crate::doctor::launcher::{FOLDER_FLAGS, name_of};
use jelly_base::text::{close_names, shell_word as word};
use regex::Regex;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Folders above a script that may be its project's.
const LEVELS: usize = 6;

/// Files of a package manager other than npm, and its name.
const LOCKS: &[(&str, &str)] = &[
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
];

/// Names of scripts that make what is started.
const BUILDS: &[&str] = &["build", "compile", "prepare"];

/// A path in the arguments or the environment that leads nowhere.
pub(super) struct Given {
    place: GivenAt,
    /// As the entry gives it, its blanks filled.
    text: String,
    pub(super) whole: PathBuf,
}

enum GivenAt {
    Argument(usize),
    Variable(String),
}

/// The folder that a script belongs to, with its `package.json`.
pub(super) struct Project {
    pub(super) folder: PathBuf,
    package: Value,
    manager: &'static str,
}

impl Project {
    pub(super) fn lists(&self, name: &str) -> bool {
        ["dependencies", "devDependencies", "optionalDependencies"]
            .iter()
            .any(|kind| self.package[kind].get(name).is_some())
    }

    /// A line to paste that runs the package manager in it.
    pub(super) fn line(&self, words: &str) -> String {
        let folder = word(&self.folder.display().to_string());
        format!("$ cd {folder} && {} {words}", self.manager)
    }

    /// What its package manager calls the installing of one more package.
    pub(super) fn adds(&self) -> &'static str {
        if self.manager == "npm" {
            "install"
        } else {
            "add"
        }
    }

    fn build(&self) -> Option<String> {
        let script = BUILDS
            .iter()
            .find(|script| self.package["scripts"].get(script).is_some())?;
        let manager = self.manager;
        Some(self.line(&format!("install && {manager} run {script}")))
    }
}

impl Doctor<'_> {
    pub(super) fn whole(&self, path: &str) -> PathBuf {
        let cwd = self.context.failure.cwd.as_deref().unwrap_or("/");
        if let Some(path) = self.of_home(path) {
            return path;
        }
        // What `.` leads to is the folder itself.
        Path::new(cwd).join(path).components().collect()
    }

    /// What a shell would make of `~/x` and `$HOME/x`.
    fn of_home(&self, path: &str) -> Option<PathBuf> {
        let rest = path.strip_prefix('~').or(path.strip_prefix("$HOME"))?;
        if !rest.is_empty() && !rest.starts_with('/') {
            return None;
        }
        let path = self.context.home?.join(rest.trim_start_matches('/'));
        Some(path.components().collect())
    }

    /// The project that a file belongs to, unless it was installed there.
    pub(super) fn project(&self, file: &Path) -> Option<Project> {
        let sight = self.context.sight;
        let is_installed = |path: &Path| path.iter().any(|part| part == "node_modules");
        let folder = file
            .ancestors()
            .skip(1)
            .take(LEVELS)
            .find(|folder| sight.is_there(&folder.join("package.json")))
            .filter(|folder| !is_installed(folder))?;
        let package = serde_json::from_str(&sight.text(&folder.join("package.json"))?).ok()?;
        let lock = LOCKS
            .iter()
            .find(|(lock, _)| sight.is_there(&folder.join(lock)));
        Some(Project {
            folder: folder.to_owned(),
            package,
            manager: lock.map_or("npm", |(_, manager)| manager),
        })
    }

    /// The path of the entry that leads nowhere: the one that is told of, else
    /// the script, else the only one.
    pub(super) fn missing(&self) -> Option<Given> {
        let whole_story = format!("{}\n{}", self.told, self.stderr);
        let mut all = Vec::new();
        let argv = &self.context.failure.argv;
        for (index, spot) in self.started.args.iter().enumerate() {
            let filled = argv
                .get(index + 1)
                .map_or(spot.text.as_str(), String::as_str);
            all.push((GivenAt::Argument(index), value_of(filled).to_owned()));
        }
        for (name, spot) in self.started.env {
            // A list of folders is none.
            if spot.text.starts_with('/') && spot.text.contains(":/") {
                continue;
            }
            all.push((GivenAt::Variable(name.clone()), spot.text.clone()));
        }
        let script = self.script();
        let is_script = |at: &GivenAt| matches!(at, GivenAt::Argument(i) if Some(*i) == script);
        let mut gone: Vec<Given> = all
            .into_iter()
            .filter(|(at, text)| is_path(text) || is_script(at))
            .map(|(place, text)| {
                let whole = self.whole(&text);
                Given { place, text, whole }
            })
            .filter(|given| {
                let is_shells = self.of_home(&given.text).is_some();
                is_shells || !self.context.sight.is_there(&given.whole)
            })
            .collect();
        // One path may begin like another.
        let told = (0..gone.len())
            .filter(|index| {
                let given = &gone[*index];
                whole_story.contains(&given.text)
                    || whole_story.contains(&*given.whole.to_string_lossy())
            })
            .max_by_key(|index| gone[*index].text.len());
        let index = told
            .or_else(|| gone.iter().position(|given| is_script(&given.place)))
            .or((gone.len() == 1).then_some(0))?;
        Some(gone.swap_remove(index))
    }

    /// Which argument of an interpreter is the script.
    pub(super) fn script(&self) -> Option<usize> {
        let name = name_of(&self.started.command.text);
        let interprets = name.starts_with("python")
            || matches!(name, "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node");
        if !interprets || self.started.args.iter().any(|arg| arg.text == "-m") {
            return None;
        }
        self.started
            .args
            .iter()
            .position(|arg| !arg.text.starts_with('-') && arg.text != "run")
            .filter(|index| self.started.args[*index].text.contains(['.', '/', '\\']))
    }

    /// What is written in place of the path.
    fn instead(&self, given: &Given, text: &str) -> String {
        match &given.place {
            GivenAt::Argument(index) => {
                let mut words = self.started.words();
                match words.get_mut(*index) {
                    // `--config=PATH`, `NAME=PATH`.
                    Some(word) if word.contains(&given.text) => {
                        *word = word.replacen(&given.text, text, 1);
                        self.started.args(&words)
                    }
                    Some(_) | None => self.with(*index, text),
                }
            }
            GivenAt::Variable(name) => self.started.env_with(&[(name.clone(), text.to_owned())]),
        }
    }

    fn at_given(&self, given: &Given) -> String {
        let place = match &given.place {
            GivenAt::Argument(index) => self.started.args.get(*index).map(|arg| arg.place),
            GivenAt::Variable(name) => {
                let mut env = self.started.env.iter();
                env.find(|(other, _)| other == name)
                    .map(|(_, spot)| spot.place)
            }
        };
        self.at(place.unwrap_or(self.context.entry.place))
    }

    /// A path that there is, and that the missing one was probably meant to be.
    fn near(&self, given: &Given) -> Option<PathBuf> {
        let sight = self.context.sight;
        if sight.is_there(&given.whole) {
            // As it is written only a shell finds it.
            return Some(given.whole.clone());
        }
        // From the root down to the first part that is not there.
        let missing = given
            .whole
            .ancestors()
            .take_while(|path| !sight.is_there(path))
            .last()?;
        let folder = missing.parent()?;
        let rest = given.whole.strip_prefix(missing).ok()?;
        let part = missing.file_name()?.to_str()?;
        let names = sight.names(folder);
        let same_kind = |path: &Path| kind_of(path) == kind_of(&given.whole);
        let put = |name: &str| {
            let path = folder.join(name);
            if rest.as_os_str().is_empty() {
                path
            } else {
                path.join(rest)
            }
        };
        close_names(part, names.iter().map(String::as_str))
            .iter()
            .map(|name| put(name))
            .find(|path| sight.is_there(path) && same_kind(path))
    }

    /// What is said of a path that leads nowhere, be it a file or a folder.
    pub(super) fn path(&self) -> Option<Vec<String>> {
        let given = self.missing()?;
        let at = self.at_given(&given);
        let is_script =
            matches!(given.place, GivenAt::Argument(index) if Some(index) == self.script());
        let is_file = is_script || given.whole.extension().is_some();
        let thing = if is_script {
            "script"
        } else if is_file {
            "file"
        } else {
            "folder"
        };
        let mut lines = Vec::new();
        if let Some(near) = self.near(&given) {
            let near = near.display().to_string();
            lines.push(format!(
                "`{near}` is there, and is probably meant; write at {at}:"
            ));
            lines.push(self.instead(&given, &near));
            return Some(lines);
        }
        let build = self.project(&given.whole).and_then(|project| {
            let line = project.build()?;
            Some((project.folder, line))
        });
        if let Some((folder, line)) = build.filter(|_| is_script) {
            let shown = folder.display();
            lines.push(format!("Build the project in {shown}, which makes it:"));
            lines.push(line);
            lines.push(format!("Or write the path of another {thing} at {at}:"));
        } else if self.of_home(&given.text).is_none() && !Path::new(&given.text).is_absolute() {
            let folder = self.context.failure.cwd.as_deref().unwrap_or("/");
            lines.push(format!(
                "It is looked for in {folder}, where the client starts the server; write the \
                 whole path at {at}:"
            ));
        } else {
            lines.push(format!("Name a {thing} that there is, at {at}:"));
        }
        let name = match given.whole.file_name().and_then(|name| name.to_str()) {
            Some(name) if is_file => blank(&format!("path of {name}")),
            Some(_) | None => blank(thing),
        };
        lines.push(self.instead(&given, &name));
        if !is_file && !self.is_projects(&given) {
            let folder = word(&given.whole.display().to_string());
            lines.push("Or create this one:".to_owned());
            lines.push(match self.is_repository(&given) {
                true => format!("$ git init {folder}"),
                false => format!("$ mkdir -p {folder}"),
            });
        }
        Some(lines)
    }

    /// The flag that gives a path.
    fn flag_of<'g>(&'g self, given: &Given) -> &'g str {
        let GivenAt::Argument(index) = given.place else {
            return "";
        };
        let text = |index: usize| &*self.started.args[index].text;
        match text(index).split_once('=') {
            Some((flag, _)) if flag.starts_with('-') => flag,
            Some(_) | None => index.checked_sub(1).map_or("", text),
        }
    }

    /// Whether it is the folder of a project, which is of no use empty.
    fn is_projects(&self, given: &Given) -> bool {
        let manager = name_of(&self.started.command.text);
        let runs = matches!(manager, "uv" | "npm" | "pnpm" | "yarn" | "bun" | "poetry");
        runs && FOLDER_FLAGS.contains(&self.flag_of(given))
    }

    /// Whether the flag that gives the path asks for a repository.
    fn is_repository(&self, given: &Given) -> bool {
        let flag = self.flag_of(given);
        flag.starts_with("--") && flag.contains("repo")
    }

    pub(super) fn folder(&self) -> Remedy {
        if let Some(Reached::Command { cwd: Some(cwd), .. }) = &self.context.entry.reached
            && self.rule.starts_with("process/")
        {
            return self.working_folder(cwd);
        }
        // A file that is to be made there is told of by its folder.
        let is_parent = self.rule.contains("missing-folder-of");
        match self.path().filter(|_| !is_parent) {
            Some(lines) => Remedy::of(lines).instead_of(&["Create it, or", "$ mkdir"]),
            None => Remedy::none(),
        }
    }

    fn working_folder(&self, cwd: &Spot) -> Remedy {
        let whole = PathBuf::from(self.context.failure.cwd.as_deref().unwrap_or_default());
        let given = Given {
            place: GivenAt::Variable("cwd".to_owned()),
            text: cwd.text.clone(),
            whole,
        };
        let near = self.near(&given).map(|near| near.display().to_string());
        let folder = near.unwrap_or_else(|| blank("folder"));
        let at = self.at(cwd.place);
        Remedy::of(vec![
            format!("Name a folder that there is, at {at}:"),
            self.started
                .format
                .member(self.started.format.members.cwd, &quoted(&folder)),
            "Or create this one:".to_owned(),
        ])
        .instead_of(&["Create it, or"])
    }

    pub(super) fn file(&self) -> Remedy {
        if let Some(lines) = self.path() {
            return Remedy::of(lines).instead_of(&["Correct the path", "Build the", "$ ls "]);
        }
        // A file can't be made where its folder is missing, and triage does
        // not see which of them is.
        // A frame of Python names code that is there.
        let path = match Regex::new(r"File \x22[^\x22\n]{1,400}\x22, line \d+") {
            Ok(frame) => {
                let told = frame.replace_all(&self.told, "");
                found(&[r"['\x22](?P<it>/[^'\x22\n]{1,400})['\x22]"], &told)
            }
            Err(_) => None,
        };
        let path = path.as_deref().map(Path::new);
        if let Some(project) = path.and_then(|path| self.project(path))
            && let Some(line) = project.build()
        {
            let shown = project.folder.display();
            return Remedy::of(vec![format!("Build the project in {shown}:"), line])
                .instead_of(&["Build the", "$ ls "]);
        }
        match path.and_then(Path::parent) {
            Some(folder) if !self.context.sight.is_there(folder) => {
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

    /// `uv run` was given a program that its project does not have.
    pub(super) fn program_of_project(&self, index: usize) -> Remedy {
        let flags = ["--directory", "--project"];
        let words = self.started.args;
        let named = words.iter().position(|arg| flags.contains(&&*arg.text));
        let folder = named.and_then(|flag| words.get(flag + 1));
        let folder = self.whole(folder.map_or(".", |folder| &folder.text));
        let file = folder.join("pyproject.toml");
        let text = self.context.sight.text(&file).unwrap_or_default();
        let programs: Vec<&str> = text
            .lines()
            .map(str::trim)
            .skip_while(|line| *line != "[project.scripts]")
            .skip(1)
            .take_while(|line| !line.starts_with('['))
            .filter_map(|line| Some(line.split_once('=')?.0.trim().trim_matches('"')))
            .collect();
        let close = close_names(&words[index].text, programs.iter().copied());
        let program = match (close.first(), &programs[..]) {
            (Some(close), _) => close.clone(),
            (None, [only]) => (*only).to_owned(),
            (None, _) => blank("program or script of the project"),
        };
        let at = self.at(words[index].place);
        let shown = file.display();
        let mut lines = vec![format!(
            "The project has no such program; write one of `[project.scripts]` in {shown}, or \
             the path of a script, at {at}:"
        )];
        lines.push(self.with(index, &program));
        Remedy::of(lines).instead_of(&["Install ", "$ command"])
    }

    /// The whole command line in `command`, taken apart.
    pub(super) fn split(&self) -> Option<String> {
        let text = &self.started.command.text;
        let mut words = split(text)?;
        if words.len() < 2 {
            return None;
        }
        let first = words.remove(0);
        let known = self.context.sight.on_path(&first).is_some()
            || self.context.sight.is_there(&self.whole(&first))
            || super::commands::is_launcher(&first);
        if !known {
            return None;
        }
        let mut all: Vec<String> = words.iter().map(|word| self.started.shown(word)).collect();
        all.extend(self.started.words());
        Some(self.started.command_and_args(&first, &all))
    }
}

/// Words as a shell would read them; none where a quote is left open.
fn split(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (Some(_) | None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// The value of `--config=./x`.
fn value_of(arg: &str) -> &str {
    match arg.split_once('=') {
        Some((flag, value)) if flag.starts_with('-') || is_path(value) => value,
        Some(_) | None => arg,
    }
}

/// Whether a text can only be a path.
fn is_path(text: &str) -> bool {
    let is_rooted = ["/", "./", "../", "~/", "$HOME/"]
        .iter()
        .any(|start| text.starts_with(start));
    matches!(text, "~" | "$HOME") || is_rooted && text.len() > 1 && !text.contains("://")
}

/// Files that are started alike are of one kind.
fn kind_of(path: &Path) -> Option<&str> {
    let ending = path.extension()?.to_str()?;
    Some(if matches!(ending, "mjs" | "cjs") {
        "js"
    } else {
        ending
    })
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_command_line_is_split_as_a_shell_would() {
        for (text, words) in [
            ("npx -y foo", Some(vec!["npx", "-y", "foo"])),
            ("'/a b/c' \"d e\" ''", Some(vec!["/a b/c", "d e", ""])),
            ("npx 'foo", None),
        ] {
            let words = words.map(|words| words.into_iter().map(str::to_owned).collect());
            assert_eq!(split(text), words, "{text}");
        }
    }
}
