//! Modules of Python that are the server's own: what is missing in them, or where they lie, no
//! package of PyPI brings; one of that name is a stranger's.

use super::prescribe::{Doctor, found};
use super::pythons::{Frame, frames, module_of};
use super::seen::Seen;
use super::sight::Sight;
use super::steps::Remedy;
use jelly_base::text::{LazyPattern, close_names, is_known_module};
use std::path::{Path, PathBuf};

/// Folders above a script that may be its project's.
const LEVELS: usize = 4;

/// What marks the root of a project.
const ROOTS: &[&str] = &["pyproject.toml", "setup.py", "setup.cfg", ".git"];

/// What Python says of a part that a module does not have.
static PART: LazyPattern = LazyPattern::new(
    r"(?m)(?:ModuleNotFoundError: No module named ['\x22]|(?:python|pypy)[\d.]*: No module named )(?P<it>\w+(?:\.\w+)+)['\x22]?(?:(?P<file>; )|\W|$)",
);
static NAME: LazyPattern = LazyPattern::new(
    r"ImportError: cannot import name ['\x22](?P<name>\w+)['\x22] from ['\x22](?P<it>[\w.]+)['\x22] \((?P<file>/[^)\n]+)\)",
);

/// How Python reaches a module that is the server's own.
enum OwnModule {
    /// It lies where Python looks.
    Found(PathBuf),
    /// It was installed from a folder or a repository, which its metadata names.
    From(String),
}

impl Doctor<'_> {
    /// Something that an own module of the server does not have.
    pub(super) fn own_part(&self, root_cause: &str) -> Option<Seen> {
        if !self.is_pythons_program() {
            return None;
        }
        self.own_module_missing()
            .or_else(|| self.own_name_missing())
            .or_else(|| self.off_the_path())
            .or_else(|| {
                let is_blamed = root_cause == "dependency_version_mismatch";
                is_blamed.then(|| self.own_interface()).flatten()
            })
    }

    /// Whether a module is one of the server's own, so that nothing is to be installed for it.
    pub(super) fn is_own_module(&self, module: &str) -> bool {
        self.own_module(module).is_some() || self.lying_elsewhere(module).is_some()
    }

    /// What runs a container has files that nobody sees here.
    fn is_pythons_program(&self) -> bool {
        !matches!(self.started.program(), "docker" | "podman" | "ssh" | "wsl")
    }

    fn own_module(&self, module: &str) -> Option<OwnModule> {
        let sight = self.context.sight;
        let env = self.env();
        let is_installed = env.as_ref().is_some_and(|env| env.has(module));
        let searched = self.searched();
        let mut looked = searched.iter();
        let found = looked.find_map(|folder| module_in(folder, module, is_installed, sight));
        if let Some(path) = found {
            return Some(OwnModule::Found(path));
        }
        // Code that ran shows where the module lies; a project may be called as one of its
        // packages is.
        let of_frame = |frame: &Frame| {
            let file = Some(&*frame.file).filter(|file| module_of(file).is_none())?;
            let mut above = file.ancestors().skip(1).take(LEVELS * 2);
            let is_it = |path: &&Path| path.file_name().is_some_and(|name| name == module);
            above.find(is_it).map(Path::to_owned)
        };
        let is_sure = env.is_some() && !is_installed;
        let of_frames = || frames(self.stderr).iter().rev().find_map(of_frame);
        if let Some(path) = is_sure.then(of_frames).flatten() {
            return Some(OwnModule::Found(path));
        }
        let source = env?.source_of(module)?;
        Some(OwnModule::From(source))
    }

    /// Where Python looks for modules before it looks at what is installed.
    fn searched(&self) -> Vec<PathBuf> {
        let started = self.started;
        let is_python = started.program().starts_with("python")
            || started.program().starts_with("pypy")
            || started.is_uv();
        let mut folders = Vec::new();
        let flags = ["--directory"];
        let folder = started.value_of(|it| flags.contains(&it)).unwrap_or(".");
        match self.script_of_python() {
            Some(script) => folders.extend(script.parent().map(Path::to_owned)),
            None if is_python => folders.push(self.whole(folder)),
            None => {}
        }
        if let Some(path) = started.variable("PYTHONPATH") {
            let parts = path.text.split(':').filter(|part| !part.is_empty());
            folders.extend(parts.map(|part| self.whole(part)));
        }
        folders
    }

    /// The script, be it that of an interpreter or of `uv run`.
    fn script_of_python(&self) -> Option<PathBuf> {
        self.whole_script().or_else(|| {
            let mut args = self.started.args.iter();
            let script = args.find(|arg| self.started.is_uv() && arg.text.ends_with(".py"))?;
            let folder = self.started.value_of(|it| it == "--directory");
            Some(self.whole(folder.unwrap_or(".")).join(&script.text))
        })
    }

    /// The folder of the project with such a module, where Python does not look for it.
    fn lying_elsewhere(&self, module: &str) -> Option<PathBuf> {
        let sight = self.context.sight;
        if is_known_module(module) || self.env().is_some_and(|env| env.has(module)) {
            return None;
        }
        let script = self.script_of_python();
        let begin = script.unwrap_or_else(|| self.whole("."));
        let of_config = self
            .context
            .config
            .path
            .parent()
            .map(|it| self.whole_of(it));
        let mut roots: Vec<PathBuf> = Vec::new();
        for folder in begin.ancestors().take(LEVELS) {
            roots.push(folder.to_owned());
            // What lies above a project is another's.
            if ROOTS.iter().any(|file| sight.is_there(&folder.join(file))) {
                break;
            }
        }
        roots.extend(of_config);
        // What the project asks for is not its own.
        let is_asked_for = roots.iter().any(|root| {
            let files = [
                "requirements.txt",
                "pyproject.toml",
                "setup.py",
                "setup.cfg",
            ];
            let mut texts = files.iter().filter_map(|file| sight.text(&root.join(file)));
            texts.any(|text| asks_for(&text, module))
        });
        let mut folders = roots
            .into_iter()
            .filter(|root| root.parent().is_some() && Some(&**root) != self.context.home)
            .flat_map(|root| [root.join("src"), root]);
        // A folder without `__init__.py` may hold anything, unless it holds what is imported.
        let imports = format!("{module}.");
        let holds_part = |folder: &Path| {
            let path = folder.join(module);
            let mut parts = self.stderr.split(&*imports).skip(1);
            sight.is_folder(&path)
                && parts.any(|rest| {
                    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                    let part = &rest[..end.unwrap_or(rest.len())];
                    !part.is_empty() && sight.is_there(&path.join(format!("{part}.py")))
                })
        };
        folders.find(|folder| {
            module_in(folder, module, true, sight).is_some() || !is_asked_for && holds_part(folder)
        })
    }

    fn whole_of(&self, folder: &Path) -> PathBuf {
        match folder.is_absolute() {
            true => folder.to_owned(),
            false => self.whole(&folder.display().to_string()),
        }
    }

    /// The innermost place in code that is the server's own.
    fn own_place(&self) -> Option<String> {
        let frames = frames(self.stderr);
        let is_own = |frame: &&Frame| module_of(&frame.file).is_none();
        let frame = frames.iter().rev().find(is_own)?;
        Some(format!("{}:{}", frame.file.display(), frame.number))
    }

    /// `srv.util` is missing, and `srv` is the server's own.
    fn own_module_missing(&self) -> Option<Seen> {
        let found = PART.captures_iter(self.stderr).last()?;
        // A module that is a file has none below it.
        if found.name("file").is_some() {
            return None;
        }
        let name = found.name("it")?.as_str();
        let (above, part) = name.rsplit_once('.')?;
        let (top, below) = above.split_once('.').unwrap_or((above, ""));
        let reached = self.own_module(top)?;
        let place = self.own_place();
        let at = place.map_or_else(String::new, |place| format!(" at {place}"));
        let remedy = Remedy::new().what(format!("There is no module {name}."));
        let remedy = match reached {
            OwnModule::From(source) => remedy
                .why(format!(
                    "`{top}` was installed from {source}, and has no `{part}` there."
                ))
                .say(format!(
                    "Correct the import{at}; or add `{part}` where `{top}` comes from, and install it \
                     from there again."
                )),
            OwnModule::Found(folder) => {
                let below = below.split('.').filter(|it| !it.is_empty());
                let folder = below.fold(folder, |folder, part| folder.join(part));
                let names = self.context.sight.names(&folder);
                let modules = names.iter().map(|name| stem(name));
                let modules = modules.filter(|name| !name.starts_with(['.', '_']));
                let near = close_names(part, modules).into_iter().find(|it| it != part);
                let remedy = remedy.why(format!(
                    "`{top}` is the server's own: Python found it in {}, and `{part}` is not \
                     there.",
                    folder.display()
                ));
                let given = self.started.args.iter().position(|arg| arg.text == name);
                match (near, given) {
                    (Some(near), Some(index)) => remedy.write(
                        format!("`{near}` is there, and is probably meant; write"),
                        self.started.with(index, &format!("{above}.{near}")),
                    ),
                    (Some(near), None) => remedy.say(format!(
                        "`{near}` is there, and is probably meant: correct the import{at}."
                    )),
                    (None, Some(index)) => remedy.write(
                        "Name a module that is there,",
                        self.started.with(index, &format!("{above}.<module>")),
                    ),
                    (None, None) => remedy.say(format!(
                        "Correct the import{at}; or add {}, or have it made, where a build makes it.",
                        folder.join(format!("{part}.py")).display()
                    )),
                }
            }
        };
        Some(Seen::of_own_code(
            "doctor/own-module-missing",
            "missing_module",
            remedy,
        ))
    }

    /// An own file does not have the name that is imported from it.
    fn own_name_missing(&self) -> Option<Seen> {
        let found = NAME.captures_iter(self.stderr).last()?;
        let (name, module) = (&found["name"], &found["it"]);
        let file = Path::new(&found["file"]);
        let top = module.split('.').next()?;
        // What stands before a module of this name is told apart.
        if module_of(file).is_some() || is_known_module(top) || self.own_module(top).is_none() {
            return None;
        }
        let place = self.own_place();
        let at = place.map_or_else(String::new, |place| format!(" at {place}"));
        let remedy = Remedy::new()
            .what(format!("{} has no `{name}`.", file.display()))
            .why("It is the server's own: no version of a package brings the name.")
            .say(format!("Correct the import{at}, or define `{name}` there."));
        Some(Seen::of_own_code(
            "doctor/own-name-missing",
            "crashed_during_startup",
            remedy,
        ))
    }

    /// A module of the project that lies where Python does not look.
    fn off_the_path(&self) -> Option<Seen> {
        static MODULE: [LazyPattern; 1] = [LazyPattern::new(
            r"(?m)(?:ModuleNotFoundError: No module named ['\x22](?P<it>\w+)['\x22]\)?|(?:python|pypy)[\d.]*: No module named (?P<own>\w+))\s*$",
        )];
        let [pattern] = &MODULE;
        let found = pattern.captures_iter(self.stderr).last()?;
        let module = found.name("it").or_else(|| found.name("own"))?.as_str();
        let folder = self.lying_elsewhere(module)?;
        let shown = self.started.shown(&folder.display().to_string());
        let path = match self.started.variable("PYTHONPATH") {
            Some(spot) => format!("{shown}:{}", spot.text),
            None => shown.clone(),
        };
        let remedy = Remedy::new()
            .what(format!("Python does not look where `{module}` lies."))
            .why(format!(
                "It is the project's own, in {shown}; Python looks in the folder of the script, or \
                 with `-m` in the one that it is started in."
            ))
            .write(
                "Have it look there, too; write",
                self.started.env_with("PYTHONPATH", &path),
            );
        Some(Seen::new(
            "doctor/module-off-the-path",
            "missing_module",
            remedy,
        ))
    }

    /// Own code calls own code as that can't be called.
    fn own_interface(&self) -> Option<Seen> {
        static SAID: [LazyPattern; 1] = [LazyPattern::new(
            r"(?m)^(?P<it>(?:AttributeError|TypeError): [^\n]{1,200})$",
        )];
        let said = found(&SAID, self.stderr)?;
        let module = self.module_in_quarrel()?;
        let OwnModule::Found(folder) = self.own_module(&module)? else {
            return None;
        };
        let place = self.own_place()?;
        let remedy = Remedy::new()
            .what(format!(
                "The server's own `{module}` is not used as it is: {said}"
            ))
            .why(format!(
                "`{module}` lies in {}: no version of a package brings another one.",
                folder.display()
            ))
            .say(format!("Correct it there, or where it is used: {place}"));
        Some(Seen::of_own_code(
            "doctor/own-interface",
            "crashed_during_startup",
            remedy,
        ))
    }
}

/// The path of a module in a folder that Python looks in; a folder without an `__init__.py`
/// gives way to one that is installed.
fn module_in(
    folder: &Path,
    module: &str,
    is_installed: bool,
    sight: &dyn Sight,
) -> Option<PathBuf> {
    let file = folder.join(format!("{module}.py"));
    if sight.is_there(&file) {
        return Some(file);
    }
    let path = folder.join(module);
    if !sight.is_folder(&path) {
        return None;
    }
    let is_regular = sight.is_there(&path.join("__init__.py"));
    let has_code = || {
        let mut names = sight.names(&path).into_iter();
        !is_installed && names.any(|name| name.ends_with(".py"))
    };
    (is_regular || has_code()).then_some(path)
}

/// Whether a file of requirements, or the dependencies of a project, have a package of this name.
fn asks_for(text: &str, module: &str) -> bool {
    let names = [module.to_owned(), module.replace('_', "-")];
    let is_about = |word: &str| {
        let word = word.trim();
        names.iter().any(|name| {
            let head = word.get(..name.len());
            let is_it = head.is_some_and(|head| head.eq_ignore_ascii_case(name));
            let after = || word[name.len()..].trim_start().chars().next();
            is_it && after().is_none_or(|after| "=<>~!@[;".contains(after))
        })
    };
    let is_list = |line: &str| line.contains("dependencies") || line.contains("install_requires");
    let has_lists = text.lines().any(is_list);
    // A file of requirements is one list.
    let mut within = !has_lists && !text.lines().any(|line| line.starts_with(['[', ' ', '\t']));
    text.lines().any(|line| {
        if is_list(line) {
            within = true;
        } else if line.starts_with('[') || line.starts_with(']') {
            within = false;
        }
        within && line.split(['"', '\'', '[', ',']).any(is_about)
    })
}

/// The module that a file is.
fn stem(file: &str) -> &str {
    file.split('.').next().unwrap_or(file)
}
