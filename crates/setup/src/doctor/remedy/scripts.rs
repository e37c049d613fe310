//! What mends a server whose script, folder or file is not where its entry
//! says.

use super::entries::Change;
use super::npm::NpmPackage;
use super::prescribe::{Doctor, blank, found};
use super::programs::UPSTREAM;
use super::seen::Seen;
use super::steps::Remedy;
use super::unsplit::is_path_with_flags;
use crate::doctor::clients::Client;
use crate::doctor::entry::{Reached, Spot};
use crate::doctor::launcher::{assigned, is_folder_flag};
use crate::doctor::written::quoted;
use jelly_base::model::Phase;
use jelly_base::text::launchers::{NODES, NeededThere, VALUED_FLAGS, needed_there};
use jelly_base::text::redact::holds_secret;
use jelly_base::text::{LazyPattern, close_names, shell_word as word};
use std::path::{Path, PathBuf};

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

    /// The path of the entry that leads nowhere: the one that is told of, else
    /// the script, else the only one.
    fn missing(&self) -> Option<Given> {
        let sight = self.context.sight;
        let story = self.whole_story();
        let script = self.script();
        let is_script = |at: &GivenAt| matches!(at, GivenAt::Argument(i) if Some(*i) == script);
        let argv = &self.context.failure.argv;
        let arguments = self.started.args.iter().enumerate().map(|(index, spot)| {
            let filled = argv.get(index + 1).unwrap_or(&spot.text);
            (GivenAt::Argument(index), value_of(filled).to_owned())
        });
        let variables = self.started.env.iter();
        let variables = variables
            // A list of folders is none.
            .filter(|(_, spot)| !(spot.text.starts_with('/') && spot.text.contains(":/")))
            .map(|(name, spot)| (GivenAt::Variable(name.clone()), spot.text.clone()));
        let mut gone: Vec<Given> = arguments
            .chain(variables)
            .filter(|(at, text)| is_path(text) || is_script(at))
            .map(|(place, text)| {
                let whole = self.whole(&text);
                Given { place, text, whole }
            })
            .filter(|given| self.of_home(&given.text).is_some() || !sight.is_there(&given.whole))
            .collect();
        let is_told = |given: &Given| {
            story.contains(&given.text) || story.contains(&*given.whole.to_string_lossy())
        };
        // One path may begin like another.
        let told = (0..gone.len())
            .filter(|index| is_told(&gone[*index]))
            .max_by_key(|index| gone[*index].text.len());
        let index = told
            .or_else(|| gone.iter().position(|given| is_script(&given.place)))
            .or((gone.len() == 1).then_some(0))?;
        Some(gone.swap_remove(index))
    }

    /// Which argument of an interpreter is the script.
    pub(super) fn script(&self) -> Option<usize> {
        let name = self.started.program();
        let interprets = name.starts_with("python") || NODES.has(name);
        if !interprets || self.started.args.iter().any(|arg| arg.text == "-m") {
            return None;
        }
        let args = &self.started.args;
        let is_value = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| args.get(before));
            before.is_some_and(|before| VALUED_FLAGS.has(&before.text))
        };
        args.iter()
            .enumerate()
            .position(|(at, arg)| !arg.text.starts_with('-') && arg.text != "run" && !is_value(at))
            .filter(|index| args[*index].text.contains(['.', '/', '\\']))
    }

    /// The path of that script.
    pub(super) fn whole_script(&self) -> Option<PathBuf> {
        let index = self.script()?;
        Some(self.whole(&self.started.args[index].text))
    }

    /// What is written in place of the path.
    fn instead(&self, given: &Given, text: &str) -> Change {
        match &given.place {
            GivenAt::Argument(index) => {
                let change = self.started.with(*index, text);
                let mut words = self.started.words();
                match words.get_mut(*index) {
                    // `--config=PATH`, `NAME=PATH`.
                    Some(word) if word.contains(&given.text) => {
                        *word = word.replacen(&given.text, text, 1);
                        self.started.args(&words).at(change.place)
                    }
                    Some(_) | None => change,
                }
            }
            GivenAt::Variable(name) => {
                let spot = self.started.variable(name);
                let place = spot.map_or(self.context.entry.place, |spot| spot.place);
                self.started.env_with(name, text).at(place)
            }
        }
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
        let put = |name: &str| match rest.as_os_str().is_empty() {
            true => folder.join(name),
            false => folder.join(name).join(rest),
        };
        close_names(part, names.iter().map(String::as_str))
            .iter()
            .map(|name| put(name))
            .find(|path| sight.is_there(path) && same_kind(path))
    }

    /// What is said of a path that leads nowhere, be it a file or a folder.
    pub(super) fn path(&self) -> Option<Remedy> {
        let given = self.missing()?;
        if let Some(near) = self.near(&given) {
            let near = near.display().to_string();
            let what = format!("`{near}` is there, and is probably meant; write");
            return Some(Remedy::new().write(what, self.instead(&given, &near)));
        }
        let is_script =
            matches!(given.place, GivenAt::Argument(index) if Some(index) == self.script());
        let is_file = is_script || given.whole.extension().is_some();
        let thing = match (is_script, is_file) {
            (true, _) => "script",
            (false, true) => "file",
            (false, false) => "folder",
        };
        let name = match given.whole.file_name().and_then(|name| name.to_str()) {
            Some(name) if is_file => blank(&format!("path of {name}")),
            Some(_) | None => blank(thing),
        };
        let is_whole = self.of_home(&given.text).is_some() || Path::new(&given.text).is_absolute();
        let build = self
            .build(&given.whole)
            .filter(|_| is_script && may_be_built(&given.whole));
        let (remedy, what) = match build {
            Some((folder, line)) => (
                Remedy::new()
                    .say(format!("Build the project in {folder}, which makes it:"))
                    .run(line),
                format!("Or write the path of another {thing}"),
            ),
            None if is_whole => (Remedy::new(), format!("Name an existing {thing},")),
            None => {
                let folder = self.context.failure.cwd.as_deref().unwrap_or("/");
                let what = match self.context.config.client {
                    Client::Plan | Client::JsonPlan => {
                        format!("It is looked for in {folder}; write the right path")
                    }
                    _ => format!(
                        "It was looked for in {folder}; a client may start the server elsewhere, so write \
                         the whole path"
                    ),
                };
                (Remedy::new(), what)
            }
        };
        let remedy = remedy.write(what, self.instead(&given, &name));
        if is_file || self.is_projects(&given) {
            return Some(remedy);
        }
        let folder = word(&given.whole.display().to_string());
        let remedy = remedy.say("Or create this one:");
        Some(match self.is_repository(&given) {
            true => remedy.run(format!("git init {folder}")),
            false => remedy.run(format!("mkdir -p {folder}")),
        })
    }

    /// A path as only a shell understands it.
    pub(super) fn shell_path(&self, root_cause: &str) -> Option<Seen> {
        let failure = self.context.failure;
        let root_cause = match (failure.phase, root_cause) {
            (Some(Phase::Config | Phase::Spawn), "command_not_found") => "command_not_found",
            (Some(Phase::Handshake), "missing_file") => "missing_file",
            (Some(Phase::Handshake), "missing_directory") => "missing_directory",
            _ => return None,
        };
        let (text, remedy) = if root_cause == "command_not_found" {
            let text = self.started.command.text.trim();
            let whole = self.of_home(text)?;
            let path = match self.context.sight.is_there(&whole) {
                true => whole.display().to_string(),
                false => blank("path of the program"),
            };
            let change = self.started.command(&path);
            let remedy = Remedy::new().write("Write the whole path,", change);
            (text.to_owned(), remedy)
        } else {
            let given = self.missing()?;
            self.of_home(&given.text)?;
            if !self.whole_story().contains(&given.text) {
                return None;
            }
            (given.text, self.path()?)
        };
        let remedy = remedy
            .what(format!(
                "`{}` is for a shell, and none reads it.",
                self.started.shown(&text)
            ))
            .why("Only a shell writes the home folder in place of `~` and `$HOME`.");
        Some(Seen::new("doctor/shell-path", root_cause, remedy))
    }

    /// What builds the project that a file belongs to, and its folder.
    fn build(&self, file: &Path) -> Option<(String, String)> {
        let project = NpmPackage::project(file, self.context.sight)?;
        let line = project.build()?;
        Some((project.folder.display().to_string(), line))
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
        let runs = matches!(
            self.started.program(),
            "uv" | "npm" | "pnpm" | "yarn" | "bun" | "poetry"
        );
        runs && is_folder_flag(self.flag_of(given))
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
            Some(remedy) => remedy.instead_of(&["create-directory", "make-directory"]),
            None => Remedy::new(),
        }
    }

    fn working_folder(&self, cwd: &Spot) -> Remedy {
        let whole = PathBuf::from(self.context.failure.cwd.as_deref().unwrap_or_default());
        let given = Given {
            place: GivenAt::Variable("cwd".to_owned()),
            text: cwd.text.clone(),
            whole,
        };
        let format = self.started.format;
        if !format.heeds_folder {
            return Remedy::new().instead_of_all().say(format!(
                "Take `{}` out at {}: {} was seen not to heed it, and to start the server in a \
                 folder of its own.",
                format.members.cwd,
                self.at(cwd.place),
                format.name
            ));
        }
        let args: Vec<&str> = self
            .started
            .args
            .iter()
            .map(|arg| arg.text.as_str())
            .collect();
        let needed = needed_there(&self.started.command.text, &args);
        let holds = |folder: &PathBuf| match needed {
            Some(NeededThere::File(file)) => self.context.sight.is_there(&folder.join(file)),
            // Whose project it is, its manifest would have to tell.
            Some(NeededThere::ProjectOf(_)) => false,
            None => true,
        };
        let near = self.near(&given).filter(holds);
        let folder = near.map_or_else(|| blank("folder"), |near| near.display().to_string());
        let change = Change {
            place: cwd.place,
            members: format.member(format.members.cwd, &quoted(&folder)),
        };
        match needed {
            Some(NeededThere::File(file)) => Remedy::new()
                .write(format!("Name the folder that `{file}` is in,"), change)
                .instead_of(&["create-directory", "make-directory"]),
            Some(NeededThere::ProjectOf(runner)) => Remedy::new()
                .write(
                    format!("Name the folder of the project that `{runner}` runs,"),
                    change,
                )
                .instead_of(&["create-directory", "make-directory"]),
            None => Remedy::new()
                .write("Name an existing folder,", change)
                .say("Or create this one:")
                .instead_of(&["create-directory"]),
        }
    }

    pub(super) fn file(&self) -> Remedy {
        static FRAME: LazyPattern = LazyPattern::new(r"File \x22[^\x22\n]{1,400}\x22, line \d+");
        static PATH: [LazyPattern; 1] = [LazyPattern::new(
            r"['\x22](?P<it>/[^'\x22\n]{1,400})['\x22]",
        )];
        if let Some(remedy) = self.path() {
            return remedy.instead_of(&["correct-file-path", "build-project", "list-file"]);
        }
        // A file can't be made where its folder is missing, and triage does
        // not see which of them is.
        // A frame of Python names code that is there.
        let path = found(&PATH, &FRAME.replace_all(&self.told, ""));
        let path = path.as_deref().map(Path::new);
        if let Some((folder, line)) = path.and_then(|path| self.build(path)) {
            return Remedy::new()
                .say(format!("Build the project in {folder}:"))
                .run(line)
                .instead_of(&["build-project", "list-file"]);
        }
        match path.and_then(Path::parent) {
            Some(folder) if !self.context.sight.is_there(folder) => {
                let folder = folder.display().to_string();
                Remedy::new()
                    .say(format!(
                        "The folder {folder} does not exist: create it, or name a different one."
                    ))
                    .run(format!("mkdir -p {}", word(&folder)))
                    .instead_of(&["list-file"])
            }
            Some(_) | None => Remedy::new(),
        }
    }

    /// `uv run` was given a program that its project does not have.
    pub(super) fn program_of_project(&self, index: usize) -> Remedy {
        let started = self.started;
        let folder = started.value_of(|it| matches!(it, "--directory" | "--project"));
        let file = self.whole(folder.unwrap_or(".")).join("pyproject.toml");
        let text = self.context.sight.text(&file).unwrap_or_default();
        let project = toml_edit::Document::parse(text).ok();
        let programs = project.as_ref().and_then(|project| {
            project
                .as_table()
                .get("project")?
                .get("scripts")?
                .as_table_like()
        });
        let programs: Vec<&str> = programs
            .into_iter()
            .flat_map(|programs| programs.iter().map(|(name, _)| name))
            .collect();
        let close = close_names(&started.args[index].text, programs.iter().copied());
        let program = match (close.first(), &programs[..]) {
            (Some(close), _) => close.clone(),
            (None, [only]) => (*only).to_owned(),
            (None, _) => blank("program or script of the project"),
        };
        let what = format!(
            "The project has no such program; write one of `[project.scripts]` in {}, or the \
             path of a script,",
            file.display()
        );
        Remedy::new()
            .write(what, started.with(index, &program))
            .instead_of(UPSTREAM)
    }

    /// The whole command line in `command`, taken apart.
    pub(super) fn split(&self) -> Option<Change> {
        let words = shlex::split(&self.started.command.text)?;
        // Variables stand before a program in a shell, and in a member of their own here.
        let variables = assigned(&words).len();
        let [first, rest @ ..] = &words[variables..] else {
            return None;
        };
        let sight = self.context.sight;
        let is_known = || {
            sight.on_path(first).is_some()
                || sight.is_there(&self.whole(first))
                || super::commands::is_launcher(first)
                // A plan names this very program so, wherever it lies.
                || first == "jelly"
                || is_path_with_flags(&words[variables..])
        };
        let text = &self.started.command.text;
        let blanks = text.trim() != text;
        if rest.is_empty() && variables == 0 && !blanks || !is_known() {
            return None;
        }
        let rest = rest.iter().map(|word| self.started.shown(word));
        let all: Vec<String> = rest.chain(self.started.words()).collect();
        let change = self.started.command_and_args(first, &all);
        if variables == 0 {
            return Some(change);
        }
        let format = self.started.format;
        let pairs = words[..variables]
            .iter()
            .filter_map(|word| word.split_once('='));
        let set: Vec<(String, Option<String>)> = pairs
            .map(|(name, value)| {
                let shown = match holds_secret(name, value) {
                    true => blank(&format!("value of {name}")),
                    false => self.started.shown(value),
                };
                (name.to_owned(), Some(shown))
            })
            .collect();
        let env = self.started.env_changed(&set).members;
        Some(Change {
            members: format.joined(&[change.members, env]),
            ..change
        })
    }
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
    Some(match ending {
        "mjs" | "cjs" => "js",
        _ => ending,
    })
}
/// Whether a build may make this file: JavaScript, and none that people write.
fn may_be_built(script: &Path) -> bool {
    let is_written = script.components().any(|part| part.as_os_str() == "src");
    let end = script.extension().and_then(|end| end.to_str());
    !is_written && matches!(end, None | Some("js" | "mjs" | "cjs"))
}
