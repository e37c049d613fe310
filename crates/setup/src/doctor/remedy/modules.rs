//! What mends a server that lacks a package: where it is to be installed.

use super::commands::is_on_pypi;
use super::npm::NpmPackage;
use super::prescribe::{Doctor, found};
use super::python_versions::pip_install;
use super::pythons::Keeper;
use super::steps::{Remedy, put_aside};
use super::uv_tools::from_its_source;
use jelly_base::text::launchers::NODES;
use jelly_base::text::{LazyPattern, package_to_install, pypi_package, shell_word as word};
use std::path::{Path, PathBuf};

/// What rules say of installing a module of Python, and of other languages.
const INSTALLS: &[&str] = &[
    "bundle-install",
    "composer-autoload",
    "find-program",
    "install-for-interpreter",
    "pip-install",
    "show-dependencies",
    "show-php-extensions",
];

/// A library that a program of any language loads.
const SHARED_LIBRARY: &str = "node/shared-library";

impl Doctor<'_> {
    /// Whether Node runs the server, or wrote the stack.
    fn is_nodes(&self) -> bool {
        NODES.has(self.started.program()) || self.importer(&self.whole_story()).is_some()
    }

    pub(super) fn module(&self) -> Remedy {
        static MODULE: [LazyPattern; 1] =
            [LazyPattern::new(r"No module named ['\x22]?(?P<it>[\w.-]+)")];
        // What the system brings along is in no package of npm, unless Node asks for it.
        if self.rule == SHARED_LIBRARY && !self.is_nodes() {
            return Remedy::new();
        }
        if self.rule.starts_with("node/") {
            return match self.node_module() {
                Some(remedy) => remedy.instead_of(&["install-dependencies", "npm-install"]),
                None => Remedy::new(),
            };
        }
        // Some say themselves what is to be installed.
        let remedy = match package_to_install(&self.told) {
            Some(package) => self.python_package(&package, Some(&package)),
            None => {
                let name = found(&MODULE, &self.told);
                name.and_then(|name| self.python_module(&name))
            }
        };
        match remedy {
            Some(remedy) => remedy.instead_of(INSTALLS),
            None => Remedy::new(),
        }
    }

    fn node_module(&self) -> Option<Remedy> {
        static MODULE: [LazyPattern; 1] = [LazyPattern::new(
            r"Cannot find (?:module|package) ['\x22](?P<it>[^'\x22]+)['\x22]",
        )];
        // The files of a container are not this machine's.
        if matches!(self.started.program(), "docker" | "podman") {
            return None;
        }
        let whole = self.whole_story();
        let name = found(&MODULE, &whole);
        let file = self.importer(&whole).or_else(|| self.whole_script())?;
        // Not where a tool that npx has fetched looks for a project's package.
        let installed = file
            .to_str()
            .and_then(|file| file.split_once("/node_modules/"));
        if let Some((folder, _)) = installed.filter(|(folder, _)| folder.contains("/_npx/")) {
            let remedy = Remedy::new().say(
                "Its installation is incomplete; move it away, and it is recreated at the next start:",
            );
            return Some(remedy.run(put_aside(folder)));
        }
        let package = name.as_deref().filter(|name| !name.starts_with(['.', '/']));
        if let Some(remedy) = package.and_then(|package| self.own_package(package, &file)) {
            return Some(remedy);
        }
        let package = package.map(|name| {
            let parts = if name.starts_with('@') { 2 } else { 1 };
            name.split('/').take(parts).collect::<Vec<_>>().join("/")
        });
        let line = match (NpmPackage::project(&file, self.context.sight), package) {
            (Some(project), Some(package)) if !project.lists(&package) => project.add(&package),
            (Some(project), _) => project.line("install"),
            (None, package) => {
                let folder = word(&file.parent()?.display().to_string());
                let package = package.map_or_else(String::new, |p| format!(" {}", word(&p)));
                format!("cd {folder} && npm install{package}")
            }
        };
        let remedy = Remedy::new().say("Install what it needs in the folder that it lies in:");
        Some(remedy.run(line))
    }

    fn python_module(&self, name: &str) -> Option<Remedy> {
        let module = name.split('.').next().unwrap_or(name);
        if self.is_own_module(module) {
            return None;
        }
        let server = module.replace('_', "-");
        let known = pypi_package(name, &self.whole_story());
        let package = known.or_else(|| (is_on_pypi(&server) == Some(true)).then_some(&*server));
        self.python_package(module, package)
    }

    /// Has a package installed for the Python that runs the server; where it is
    /// not known, what the server's project says that it needs.
    fn python_package(&self, module: &str, package: Option<&str>) -> Option<Remedy> {
        let started = self.started;
        let words = started.words();
        let asked = match &words[..] {
            [flag, own, rest @ ..] if flag == "-m" && own.split('.').next() == Some(module) => {
                Some((own, rest))
            }
            _ => None,
        };
        // What somebody registers under a mistyped name is not to be installed.
        if let Some((own, _)) = asked
            && let Some(near) = self.env().and_then(|env| env.module_near(module))
        {
            let what = format!("`{module}` is not installed, and `{near}` is; write");
            let meant = format!("{near}{}", &own[module.len()..]);
            let change = started.with(1, &meant);
            return Some(Remedy::new().write(what, change));
        }
        if started.is_python_launcher() {
            let what = "Have it installed besides; write";
            let words = started.with_flags(&["--with", package?]);
            return Some(Remedy::new().write(what, started.args(&words)));
        }
        let keeper = self.env().and_then(|env| env.keeper());
        let has_pip = !matches!(keeper, Some(Keeper::Plain { has_pip: false, .. }));
        let kept = match keeper {
            Some(Keeper::UvTool(None)) => {
                return Some(Remedy::new().say(from_its_source(&word(package?))));
            }
            Some(Keeper::UvTool(Some(source))) => Some((
                "uv",
                format!("uv tool install --with {} {source}", word(package?)),
            )),
            Some(Keeper::Pipx(tool)) => Some((
                "pipx",
                format!("pipx inject {} {}", word(&tool), word(package?)),
            )),
            Some(Keeper::Cache | Keeper::Plain { .. }) | None => None,
        };
        if let Some((keeper, line)) = kept {
            let what = format!("It was installed by {keeper}; have it get what it needs besides:");
            return Some(Remedy::new().say(what).run(line));
        }
        let python = started.shown(&self.python()?.display().to_string());
        let script = self.whole_script();
        let source = script
            .as_deref()
            .and_then(|script| self.requirements(script));
        let what = source.or_else(|| package.map(word))?;
        let remedy = Remedy::new()
            .say("Install what it needs for the Python that runs it:")
            .run(pip_install(&python, has_pip, &what));
        let Some(package) = package else {
            return Some(remedy);
        };
        if let Some((_, rest)) = asked {
            let mut uvx = vec![package.to_owned()];
            uvx.extend_from_slice(rest);
            let what = "Or have uv fetch and start it; write";
            return Some(remedy.write(what, started.command_and_args("uvx", &uvx)));
        }
        // What the environment of a Python of its own holds, uv would leave behind.
        let is_of_system = !self.started.command.text.contains(['/', '\\']);
        if script.is_some() && is_of_system && self.context.sight.on_path("uv").is_some() {
            let uv = started.words_after(&["run", "--with", package, "python"]);
            let what = "Or have uv install it aside; write";
            return Some(remedy.write(what, started.command_and_args("uv", &uv)));
        }
        Some(remedy)
    }

    /// What says what the project of a script needs.
    fn requirements(&self, script: &Path) -> Option<String> {
        let sight = self.context.sight;
        script.ancestors().skip(1).take(3).find_map(|folder| {
            let list = folder.join("requirements.txt");
            if sight.is_there(&list) {
                return Some(format!("-r {}", word(&list.display().to_string())));
            }
            let project = sight.text(&folder.join("pyproject.toml"))?;
            let is_package = project.lines().any(|line| line.trim() == "[project]");
            is_package.then(|| word(&folder.display().to_string()))
        })
    }

    /// The Python that runs the server, where the entry says which.
    pub(super) fn python(&self) -> Option<PathBuf> {
        let own = Path::new(&self.started.command.text);
        if self.started.program().starts_with("python") {
            return Some(own.to_owned());
        }
        own.parent()
            .map(|folder| folder.join("python"))
            .filter(|python| python.is_absolute() && self.context.sight.is_there(python))
    }
}
