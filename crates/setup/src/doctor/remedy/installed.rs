//! What mends commands that were installed by a package manager, and are gone
//! or broken.

use super::commands::is_on_pypi;
use super::entries::Change;
use super::prescribe::{Doctor, blank};
use super::steps::Remedy;
use super::uv_tools;
use jelly_base::text::WordList;
use jelly_base::text::shell_word as word;
use std::path::{Path, PathBuf};

/// What `python -m venv` and its likes put into a folder.
const OF_AN_ENVIRONMENT: WordList =
    WordList(".gitignore .lock CACHEDIR.TAG bin include lib lib64 man pyvenv.cfg share");

/// And packages into its folder `share`.
const SHARED: WordList =
    WordList("applications bash-completion doc fish icons jupyter locale man zsh");

/// And into its folder `bin`, without the version behind some names.
const PROGRAMS: WordList = WordList(
    "Activate.ps1 __pycache__ activate activate.bat activate.csh activate.fish activate.nu \
     activate.ps1 activate.xsh activate_this.py deactivate.bat deactivate.nu easy_install \
     easy_install- pip pydoc.bat pypy python pythonw wheel wheel- 𝜋thon",
);

const NO_ENVIRONMENT: &str = "The virtual environment of the project is not there; make it, and \
                              install into it what the server needs:";

const LOST_PYTHON: &str =
    "The virtual environment of the project has lost its Python, as when that was replaced;";

impl Doctor<'_> {
    /// Has a launcher fetch the server that is not installed.
    pub(super) fn fetching(&self, name: &str) -> Remedy {
        let started = self.started;
        match is_on_pypi(name) {
            Some(true) => Remedy::new()
                .write(
                    "It is a server of PyPI; have uv fetch it,",
                    started.command_and_args("uvx", &started.words_after(&[name])),
                )
                .say("Or install it:")
                .run(format!("uv tool install {name}")),
            Some(false) => Remedy::new().write(
                "It is a server of npm; have npx fetch it,",
                started.command_and_args("npx", &started.words_after(&["-y", name])),
            ),
            None => Remedy::new(),
        }
    }

    /// A program that is there, and the interpreter of its first line is not:
    /// its environment has lost its Python.
    pub(super) fn without_interpreter(&self, name: &str) -> Remedy {
        let file = self.whole(name);
        let interpreter = self.interpreter_of(&file);
        let mut is_of_uv = false;
        let again = interpreter.as_deref().and_then(|interpreter| {
            let root = interpreter.parent()?.parent()?;
            let tool = word(root.file_name()?.to_str()?);
            let is_kept = |receipt: &str, folders: &str| {
                self.context.sight.is_there(&root.join(receipt)) || holds(root, folders)
            };
            if is_kept("uv-receipt.toml", "uv/tools") {
                is_of_uv = true;
                let source = uv_tools::source(self.context.sight, root)?;
                return Some(format!("uv tool install --force {source}"));
            }
            if is_kept("pipx_metadata.json", "pipx/venvs") {
                return Some(pipx_again(&tool));
            }
            let is_python = interpreter.file_name()?.to_str()?.starts_with("python");
            // Nothing else may be moved away: `/usr/bin/python3.9` lies in no
            // environment, another's is none of the entry's business, and people
            // make environments in folders that hold their work.
            let is_own = self.is_own_environment(root)
                && (file.starts_with(root) || file.parent() == root.parent());
            let folder = word(&root.display().to_string());
            let package = blank(&format!("package of {}", file.file_name()?.to_string_lossy()));
            (is_python && is_own).then(|| {
                let aside = self.moved_aside(root);
                format!("{aside} && python3 -m venv {folder} && {folder}/bin/python -m pip install {package}")
            })
        });
        let shown = interpreter.map_or_else(
            || "the program that its first line names".to_owned(),
            |path| format!("`{}`, which its first line names,", path.display()),
        );
        let remedy = match again {
            Some(again) => Remedy::new()
                .say(format!(
                    "It is there, and {shown} is not, as when a Python was replaced; install it \
                     again:"
                ))
                .run(again),
            None if is_of_uv => Remedy::new().say(format!(
                "It is there, and {shown} is not. uv installed it; install it again by `uv tool \
                 install --force` from the source that it came from, which may be another than \
                 the package of its name."
            )),
            None => match self.environment_around(&file) {
                Some((root, made)) if self.context.sight.is_there(&root) => Remedy::new().say(format!(
                    "{LOST_PYTHON} move what else lies in its folder away, make it again (`{made}`), \
                     and install into it what the server needs."
                )),
                Some((_, made)) => Remedy::new().say(NO_ENVIRONMENT).run(made),
                None => Remedy::new(),
            },
        };
        let what = format!(
            "It is there, and {shown} is not; write a program that reads it at {}, and this \
             path as its first argument:",
            self.at(self.started.command.place)
        );
        let words = self.started.words_after(&[name]);
        let interpreter = blank("path of the interpreter");
        remedy
            .say(what)
            .paste(self.started.command_and_args(&interpreter, &words).members)
            .instead_of(&["install-program", "start-by-interpreter"])
    }

    /// Whether a folder is a virtual environment and nothing else, and lies where its path
    /// says: what a link leads to may be others'.
    fn is_own_environment(&self, root: &Path) -> bool {
        let sight = self.context.sight;
        let real = |path: &Path| sight.real(path);
        let in_place = root.parent().and_then(real).zip(root.file_name());
        let in_place = in_place.map(|(parent, name)| parent.join(name));
        let names = sight.names(root);
        in_place.is_some()
            && in_place == real(root)
            && names.iter().any(|name| name == "pyvenv.cfg")
            && names.iter().all(|name| OF_AN_ENVIRONMENT.has(name))
            && sight
                .names(&root.join("share"))
                .iter()
                .all(|name| SHARED.has(name))
            && !self.is_used_inside(root)
            && self.has_installed_programs_only(root)
    }

    /// The command that gives a folder a name that is free: what somebody may have put into it
    /// is not lost.
    fn moved_aside(&self, folder: &Path) -> String {
        const TRIED: usize = 100;
        let name = folder.display().to_string();
        let is_free = |name: &String| !self.context.sight.is_there(Path::new(name));
        let others = (2..TRIED).map(|number| format!("{name}.old{number}"));
        let mut free = std::iter::once(format!("{name}.old")).chain(others);
        let other = free.find(is_free).unwrap_or_else(|| format!("{name}.old"));
        format!("mv {} {}", word(&name), word(&other))
    }

    /// Whether nothing is in the folder `bin` of an environment but what made it, or a package,
    /// has put there.
    fn has_installed_programs_only(&self, root: &Path) -> bool {
        let sight = self.context.sight;
        let is_made = |name: &String| {
            let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            PROGRAMS.has(name) || PROGRAMS.has(bare)
        };
        let programs = sight.names(&root.join("bin")).into_iter();
        let others: Vec<String> = programs.filter(|name| !is_made(name)).collect();
        if others.is_empty() {
            return true;
        }
        let lib = root.join("lib");
        let pythons = sight.names(&lib).into_iter();
        let folders = pythons.map(|python| lib.join(python).join("site-packages"));
        let records: Vec<String> = folders
            .flat_map(|folder| {
                let names = sight.names(&folder).into_iter();
                let packages = names.filter(|name| name.ends_with(".dist-info"));
                packages
                    .filter_map(|name| sight.text(&folder.join(name).join("RECORD")))
                    .collect::<Vec<_>>()
            })
            .collect();
        // `../../../bin/srv,sha256=…,203`; what a package has inside lies elsewhere.
        let is_recorded = |name: &String| {
            let path = format!("../../../bin/{name}");
            let mut lines = records.iter().flat_map(|record| record.lines());
            lines.any(|line| line.split(',').next() == Some(path.as_str()))
        };
        others.iter().all(is_recorded)
    }

    /// Whether an argument or a variable of the entry names something in this folder.
    fn is_used_inside(&self, root: &Path) -> bool {
        let root = root.to_string_lossy();
        let started = self.started;
        let args = started.args.iter();
        let env = started.env.iter().map(|(_, spot)| spot);
        args.chain(env).any(|spot| spot.text.contains(&*root))
    }

    /// The program that the first line of a script names.
    fn interpreter_of(&self, script: &Path) -> Option<PathBuf> {
        let text = self.context.sight.text(script)?;
        let line = text.lines().next()?.strip_prefix("#!")?.trim();
        let first = line.split_whitespace().next()?;
        (!first.ends_with("/env")).then(|| PathBuf::from(first))
    }

    /// Nothing is at the path of the command.
    pub(super) fn nothing_there(&self, name: &str) -> Remedy {
        let what = "Nothing is at that path; write the one where the program lies,";
        self.lost_program(name).unwrap_or_else(|| {
            let program = blank("path of the program");
            let remedy = Remedy::new().write(what, self.started.command(&program));
            remedy.instead_of(&["install-program"])
        })
    }

    /// What there was at the path of the command, or what is meant by it, where that shows.
    pub(super) fn lost_program(&self, name: &str) -> Option<Remedy> {
        if name.starts_with("http://") || name.starts_with("https://") {
            let started = self.started;
            let members = started.format.reached_at(&started.shown(name), false);
            let place = started.command.place;
            let why = match started.format.takes_urls {
                true => "A server that is reached over HTTP is not started.".to_owned(),
                false => format!("{} takes no address from this file.", started.format.name),
            };
            let remedy = Remedy::new()
                .why(why)
                .what(format!(
                    "`{}` is an address, and no program.",
                    started.shown(name)
                ))
                .write(
                    format!("Write in place of `{}`", started.format.command_name()),
                    Change { place, members },
                )
                .instead_of_all();
            return Some(remedy);
        }
        let file = self.whole(name);
        let own = file.file_name().map(|own| own.to_string_lossy());
        let own = own.as_deref().unwrap_or_default();
        let folders = [".local/bin", "uv/tools", "pipx"];
        let mut remedy = Remedy::new();
        if !own.is_empty() && folders.iter().any(|folder| holds(&file, folder)) {
            // A package may be called otherwise than its program, and another one like it.
            remedy = remedy
                .say("If uv or pipx installed it, have that install its package again; these say which that is:")
                .run("uv tool list".to_owned())
                .run("pipx list".to_owned());
        }
        let sight = self.context.sight;
        let folder = file.parent().and_then(Path::parent);
        let folder = folder.filter(|folder| sight.is_there(folder));
        let is_environment = |folder: &Path| sight.is_there(&folder.join("pyvenv.cfg"));
        let python = folder.and_then(|folder| {
            let names = ["bin/python", "bin/python3", "Scripts/python.exe"].into_iter();
            names
                .map(|name| folder.join(name))
                .find(|path| sight.is_there(path))
        });
        let made = self.environment_of(&file, own);
        let made = made.filter(|_| folder.is_none_or(is_environment));
        if let Some(made) = made {
            // Any other Python lacks what the project needs.
            remedy = match (folder, python) {
                (None, _) => remedy
                    .say(NO_ENVIRONMENT)
                    .run(made),
                (Some(_), Some(python)) => remedy.write(
                    "Its environment has another Python; write",
                    self.started.command(&python.display().to_string()),
                ),
                (Some(folder), None) if self.is_own_environment(folder) => remedy
                    .say(format!("{LOST_PYTHON} move it aside, make it again, and install into it what the server needs:"))
                    .run(match made.contains("-m venv ") {
                        true => format!("{} && {made}", self.moved_aside(folder)),
                        false => made,
                    }),
                (Some(_), None) => remedy.say(format!(
                    "{LOST_PYTHON} move what else lies in its folder away, and make it again (`{made}`)."
                )),
            };
        } else if let Some(near) = self.context.sight.on_path(own) {
            remedy = remedy.write(
                "It lies elsewhere; write",
                self.started.command(&near.display().to_string()),
            );
        }
        // The name is there, and what it leads to is not.
        let names = file.parent().map(|folder| self.context.sight.names(folder));
        let is_link = names.is_some_and(|names| names.iter().any(|name| name == own));
        if remedy.is_empty() && !is_link {
            return None;
        }
        let what = match is_link {
            true => {
                "What is at that path is a link that leads nowhere; write the path of a program,"
            }
            false => "Nothing is at that path; write the one where the program lies,",
        };
        let program = blank("path of the program");
        let remedy = remedy.write(what, self.started.command(&program));
        Some(remedy.instead_of(&["install-program"]))
    }

    /// The virtual environment of a script's own project whose Python its first line names, and
    /// how it is made.
    fn environment_around(&self, script: &Path) -> Option<(PathBuf, String)> {
        let interpreter = self.interpreter_of(script)?;
        let own = interpreter.file_name()?.to_str()?;
        let made = self.environment_of(&interpreter, own)?;
        let root = interpreter.parent()?.parent()?;
        script
            .starts_with(root.parent()?)
            .then(|| (root.to_owned(), made))
    }

    /// How the virtual environment is made whose Python a path names.
    fn environment_of(&self, file: &Path, own: &str) -> Option<String> {
        let folder = file.parent()?.parent()?;
        let name = folder.file_name()?.to_str()?;
        if !own.starts_with("python") || !ENVIRONMENTS.contains(&name) {
            return None;
        }
        let project = folder.parent()?;
        let is_there = |name: &str| self.context.sight.is_there(&project.join(name));
        let shown = |path: &Path| word(&path.display().to_string());
        if is_there("uv.lock") {
            return Some(format!("cd {} && uv sync", shown(project)));
        }
        let made = format!("python3 -m venv {}", shown(folder));
        let install = format!("{}/bin/python -m pip install", shown(folder));
        let requirements = "requirements.txt";
        Some(if is_there(requirements) {
            let file = shown(&project.join(requirements));
            format!("{made} && {install} -r {file}")
        } else if is_there("pyproject.toml") {
            format!("{made} && {install} -e {}", shown(project))
        } else {
            made
        })
    }
}

/// Folders of virtual environments, as they are mostly called.
const ENVIRONMENTS: &[&str] = &[".env", ".venv", "env", "venv"];

fn pipx_again(tool: &str) -> String {
    format!("pipx reinstall {tool}")
}

/// Whether a path goes through these folders.
fn holds(path: &Path, folders: &str) -> bool {
    path.to_string_lossy().contains(&format!("/{folders}"))
}
