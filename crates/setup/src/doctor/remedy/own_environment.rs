//! A server of Python that needs another version than its neighbours: it gets
//! an environment of its own, since a version changed in place would break them.

use super::prescribe::Doctor;
use super::python_versions::{Wanted, pip_install};
use super::pythons::{Keeper, normal};
use super::steps::Remedy;
use crate::doctor::entry::Reached;
use crate::doctor::versions::python_least;
use jelly_base::text::shell_word as word;
use std::path::{Path, PathBuf};

impl Doctor<'_> {
    /// What gives the server an environment of its own; nothing where it has one,
    /// or where its launcher makes one.
    pub(super) fn in_own_environment(&self, wanted: &Wanted) -> Option<Remedy> {
        if self.started.is_python_launcher() || self.started.is_uv() {
            return None;
        }
        let env = self.env()?;
        let Some(Keeper::Plain { python, .. }) = env.keeper() else {
            return None;
        };
        // A later version breaks fewer than an earlier one, and is what its
        // neighbours are to have in the end.
        let installed = env.dist(&wanted.package).and_then(|dist| dist.version);
        let least = python_least(&wanted.spec[wanted.package.len()..]);
        if let (Some(installed), Some(least)) = (installed, least)
            && least >= installed
        {
            return None;
        }
        let own = wanted.asker.as_deref().map(normal);
        let mut packages = wanted.others.iter();
        let package = packages.find(|other| Some(normal(other)) != own);
        let entry = self.neighbour(&python);
        let (package, neighbour) = (package.map(String::as_str), entry);
        let why = match (package, neighbour) {
            (None, None) => return None,
            (Some(package), None) => format!(
                "`{package}`, which is installed there too, needs the {} that is there.",
                wanted.package
            ),
            (None, Some(entry)) => format!(
                "The server `{entry}` runs on the same Python, and may need the {} that is there.",
                wanted.package
            ),
            (Some(package), Some(entry)) => format!(
                "The server `{entry}` runs on the same Python, and `{package}`, which is \
                 installed there too, needs the {} that is there.",
                wanted.package
            ),
        };
        let why = match &wanted.why {
            Some(own) => format!("{own} {why}"),
            None => why,
        };
        let folder = self.untaken(self.own_folder(env.root()?));
        let bin = folder.join("bin");
        // A program that a package brought is brought again by it.
        let program = self.started.program();
        let (program, brought) = match program.starts_with("python") {
            true => ("python", self.started.value_of(|it| it == "-m").is_some()),
            false => (program, true),
        };
        let package = wanted.asker.as_deref().filter(|_| brought);
        let package = package.map_or_else(String::new, |name| format!(" {}", word(name)));
        let shown = |path: PathBuf| self.started.shown(&path.display().to_string());
        let new_python = shown(bin.join("python"));
        let what = format!("{}{package}", word(&wanted.spec));
        Some(
            Remedy::new()
                .why(why)
                .say("Give the server an environment of its own, with the version that it needs:")
                .run(format!(
                    "{} -m venv {}",
                    word(&shown(python)),
                    word(&shown(folder.clone()))
                ))
                .run(pip_install(&new_python, true, &what))
                .write(
                    "Install there what else it imports, and write",
                    self.started.command(&shown(bin.join(program))),
                ),
        )
    }

    /// Another server of the file that runs in the environment of this Python.
    fn neighbour(&self, python: &Path) -> Option<&str> {
        let bin = python.parent()?;
        let sight = self.context.sight;
        let is_venv = sight.is_there(&bin.with_file_name("pyvenv.cfg"));
        let runs_there = |command: &str| {
            let path = sight.on_path(command);
            let path = path.unwrap_or_else(|| self.whole(command));
            let name = path.file_name().and_then(|name| name.to_str());
            let is_python = name.is_some_and(|name| name.starts_with("python"));
            path.parent() == Some(bin) && (is_venv || is_python)
        };
        let (own, entries) = (&self.context.entry.name, &self.context.config.entries);
        let mut others = entries.iter().filter(|it| it.name != *own && !it.disabled);
        let found = others.find(|other| match &other.reached {
            Some(Reached::Command { command, .. }) => runs_there(&command.text),
            Some(Reached::Url { .. }) | None => false,
        })?;
        Some(&found.name)
    }

    /// The folder, or the next one of its name that is not there: what is there is
    /// somebody's.
    fn untaken(&self, folder: PathBuf) -> PathBuf {
        let numbered = (2..100).map(|n| PathBuf::from(format!("{}-{n}", folder.display())));
        let mut all = std::iter::once(folder.clone()).chain(numbered);
        let is_free = |path: &PathBuf| !self.context.sight.is_there(path);
        all.find(is_free).unwrap_or(folder)
    }

    /// Where the environment is made: beside the one that there is, else beside
    /// the script, else in the home folder.
    fn own_folder(&self, root: &Path) -> PathBuf {
        let name = self.context.entry.name.chars();
        let name: String = name
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        if self.context.sight.is_there(&root.join("pyvenv.cfg")) {
            let own = root
                .file_name()
                .map_or("venv", |own| own.to_str().unwrap_or("venv"));
            return root.with_file_name(format!("{own}-{name}"));
        }
        let script = self.whole_script();
        match (script.as_deref().and_then(Path::parent), self.context.home) {
            (Some(folder), _) => folder.join(format!(".venv-{name}")),
            (None, Some(home)) => home.join(".venvs").join(name),
            (None, None) => PathBuf::from(format!("<folder>/{name}")),
        }
    }
}
