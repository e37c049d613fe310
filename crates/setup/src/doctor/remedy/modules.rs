//! What mends a server that lacks a package: where it is to be installed.

use super::prescribe::{Doctor, Remedy, found};
use super::python_versions::pip_install;
use super::pythons::Keeper;
use crate::doctor::launcher::name_of;
use jelly_base::text::shell_word as word;
use std::path::{Path, PathBuf};

/// Modules of Python whose packages have other names on PyPI.
const ON_PYPI: &[(&str, &str)] = &[
    ("Crypto", "pycryptodome"),
    ("MySQLdb", "mysqlclient"),
    ("PIL", "pillow"),
    ("attr", "attrs"),
    ("bs4", "beautifulsoup4"),
    ("cv2", "opencv-python-headless"),
    ("dateutil", "python-dateutil"),
    ("dns", "dnspython"),
    ("docx", "python-docx"),
    ("dotenv", "python-dotenv"),
    ("fitz", "pymupdf"),
    ("git", "GitPython"),
    ("jwt", "PyJWT"),
    ("magic", "python-magic"),
    ("pptx", "python-pptx"),
    ("psycopg2", "psycopg2-binary"),
    ("serial", "pyserial"),
    ("sklearn", "scikit-learn"),
    ("yaml", "pyyaml"),
];

impl Doctor<'_> {
    pub(super) fn module(&self) -> Remedy {
        if self.rule.starts_with("node/") {
            return self.node_module();
        }
        // Some say themselves what is to be installed.
        let said = found(
            &[
                r"(?i)\b(?:pip3?|pipx|uv pip) install (?:-U |--upgrade )?[`'\x22]?(?P<it>[A-Za-z][\w.-]*(?:\[[\w,-]+\])?)",
            ],
            &self.told,
        );
        if let Some(package) = said {
            return self.python_package(&package, &package);
        }
        let name = found(&[r"No module named ['\x22]?(?P<it>[\w.-]+)"], &self.told);
        name.map_or_else(Remedy::none, |name| self.python_module(&name))
    }

    fn node_module(&self) -> Remedy {
        let whole = format!("{}\n{}", self.told, self.stderr);
        let name = found(
            &[r"Cannot find (?:module|package) ['\x22](?P<it>[^'\x22]+)['\x22]"],
            &whole,
        );
        let importer = self.importer(&whole);
        let script = self
            .script()
            .map(|index| self.whole(&self.started.args[index].text));
        let file = importer.or(script);
        // Not where a tool that npx has fetched looks for a project's package.
        let unfinished = file.as_ref().and_then(|file| {
            let (folder, _) = file.to_str()?.split_once("/node_modules/")?;
            folder.contains("/_npx/").then(|| folder.to_owned())
        });
        if let Some(folder) = unfinished {
            return Remedy::of(vec![
                "Its installation is not whole; delete it, and it is made anew at the next start:"
                    .to_owned(),
                format!("$ rm -r {}", word(&folder)),
            ])
            .instead_of(&["Install the", "$ npm install"]);
        }
        let Some(file) = file else {
            return Remedy::none();
        };
        let package = name.as_deref().filter(|name| !name.starts_with(['.', '/']));
        let package = package.map(|name| {
            let parts = if name.starts_with('@') { 2 } else { 1 };
            name.split('/').take(parts).collect::<Vec<_>>().join("/")
        });
        let line = match (self.project(&file), package) {
            (Some(project), Some(package)) if !project.lists(&package) => {
                let adds = if project.line("").contains("&& npm") {
                    "install"
                } else {
                    "add"
                };
                project.line(&format!("{adds} {}", word(&package)))
            }
            (Some(project), _) => project.line("install"),
            (None, package) => {
                let Some(folder) = file.parent() else {
                    return Remedy::none();
                };
                let folder = word(&folder.display().to_string());
                let package = package.map_or_else(String::new, |p| format!(" {}", word(&p)));
                format!("$ cd {folder} && npm install{package}")
            }
        };
        Remedy::of(vec![
            "Install what it needs in the folder that it lies in:".to_owned(),
            line,
        ])
        .instead_of(&["Install the", "$ npm install"])
    }

    fn python_module(&self, name: &str) -> Remedy {
        let module = name.split('.').next().unwrap_or(name);
        let on_pypi = ON_PYPI.iter().find(|(known, _)| *known == module);
        let package = on_pypi.map_or_else(|| module.replace('_', "-"), |(_, p)| (*p).to_owned());
        self.python_package(module, &package)
    }

    /// Has a package installed for the Python that runs the server.
    fn python_package(&self, module: &str, package: &str) -> Remedy {
        let own = name_of(&self.started.command.text);
        if matches!(own, "uvx" | "uv" | "pipx") {
            let lines = vec![
                format!("Have it installed besides; write at {}:", self.at_args()),
                self.started.args(&self.with_flags(&["--with", package])),
            ];
            return Remedy::of(lines).instead_of(&["Install it into", "$ "]);
        }
        let keeper = self.env().and_then(|env| env.keeper());
        let kept = match &keeper {
            Some(Keeper::UvTool(tool)) => Some((
                "uv",
                format!(
                    "$ uv tool install --force --with {} {}",
                    word(package),
                    word(tool)
                ),
            )),
            Some(Keeper::Pipx(tool)) => Some((
                "pipx",
                format!("$ pipx inject {} {}", word(tool), word(package)),
            )),
            Some(Keeper::Cache | Keeper::Plain { .. }) | None => None,
        };
        if let Some((keeper, line)) = kept {
            let what = format!("It was installed by {keeper}; have it get what it needs besides:");
            return Remedy::of(vec![what, line]).instead_of(&["Install it into", "$ "]);
        }
        let Some(python) = self.python() else {
            return Remedy::none();
        };
        let has_pip = !matches!(keeper, Some(Keeper::Plain { has_pip: false, .. }));
        let python = self.started.shown(&python.display().to_string());
        let script = self
            .script()
            .map(|index| self.whole(&self.started.args[index].text));
        let source = script
            .as_deref()
            .and_then(|script| self.requirements(script));
        let what = source.unwrap_or_else(|| word(package));
        let mut lines = vec![
            "Install what it needs for the Python that runs it:".to_owned(),
            pip_install(&python, has_pip, &what),
        ];
        let words = self.started.words();
        let at = self.at(self.started.command.place);
        if let [flag, own, rest @ ..] = &words[..]
            && flag == "-m"
            && own.split('.').next() == Some(module)
        {
            let mut uvx = vec![package.to_owned()];
            uvx.extend_from_slice(rest);
            lines.push(format!("Or have uv fetch and start it; write at {at}:"));
            lines.push(self.started.command_and_args("uvx", &uvx));
        } else if script.is_some() && self.context.sight.on_path("uv").is_some() {
            let mut uv: Vec<String> = ["run", "--with", package, "python"]
                .map(str::to_owned)
                .into();
            uv.extend(words);
            lines.push(format!("Or have uv install it aside; write at {at}:"));
            lines.push(self.started.command_and_args("uv", &uv));
        }
        Remedy::of(lines).instead_of(&["Install it into", "$ "])
    }

    /// What says what the project of a script needs.
    fn requirements(&self, script: &Path) -> Option<String> {
        let sight = self.context.sight;
        script.ancestors().skip(1).take(3).find_map(|folder| {
            let list = folder.join("requirements.txt");
            if sight.is_there(&list) {
                return Some(format!("-r {}", word(&list.display().to_string())));
            }
            let project = folder.join("pyproject.toml");
            let is_package = sight
                .text(&project)
                .is_some_and(|text| text.lines().any(|line| line.trim() == "[project]"));
            is_package.then(|| word(&folder.display().to_string()))
        })
    }

    /// The Python that runs the server, where the entry says which.
    pub(super) fn python(&self) -> Option<PathBuf> {
        let own = Path::new(&self.started.command.text);
        if name_of(&self.started.command.text).starts_with("python") {
            return Some(own.to_owned());
        }
        own.parent()
            .map(|folder| folder.join("python"))
            .filter(|python| python.is_absolute() && self.context.sight.is_there(python))
    }
}
