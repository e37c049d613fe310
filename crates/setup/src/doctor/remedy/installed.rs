//! What mends commands that were installed by a package manager, and are gone
//! or broken.

use super::commands::is_on_pypi;
use super::prescribe::{Doctor, Remedy, blank};
use jelly_base::text::shell_word as word;
use std::path::{Path, PathBuf};

impl Doctor<'_> {
    /// Has a launcher fetch the server that is not installed.
    pub(super) fn fetching(&self, name: &str, at: &str) -> Vec<String> {
        let rest = self.started.words();
        let uvx = |lines: &mut Vec<String>| {
            let words = [vec![name.to_owned()], rest.clone()].concat();
            lines.push(self.started.command_and_args("uvx", &words));
        };
        let npx = |lines: &mut Vec<String>| {
            let words = [vec!["-y".to_owned(), name.to_owned()], rest.clone()].concat();
            lines.push(self.started.command_and_args("npx", &words));
        };
        let mut lines = Vec::new();
        match is_on_pypi(name) {
            Some(true) => {
                lines.push(format!(
                    "It is a server of PyPI; have uv fetch it, at {at}:"
                ));
                uvx(&mut lines);
                lines.push("Or install it:".to_owned());
                lines.push(format!("$ uv tool install {name}"));
            }
            Some(false) => {
                lines.push(format!(
                    "It is a server of npm; have npx fetch it, at {at}:"
                ));
                npx(&mut lines);
            }
            None => {}
        }
        lines
    }

    /// A program that is there, and the interpreter of its first line is not:
    /// its environment has lost its Python.
    pub(super) fn without_interpreter(&self, name: &str, at: &str) -> Remedy {
        let file = self.whole(name);
        let interpreter = self.interpreter_of(&file);
        let program = file
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let again = interpreter.as_deref().and_then(|interpreter| {
            let root = interpreter.parent()?.parent()?;
            let tool = root.file_name()?.to_str()?;
            let sight = self.context.sight;
            if sight.is_there(&root.join("uv-receipt.toml")) || holds(root, "uv/tools") {
                return Some(format!("$ uv tool install --force {}", word(tool)));
            }
            if sight.is_there(&root.join("pipx_metadata.json")) || holds(root, "pipx/venvs") {
                return Some(format!("$ pipx reinstall {}", word(tool)));
            }
            let is_python = interpreter.file_name()?.to_str()?.starts_with("python");
            let folder = word(&root.display().to_string());
            let package = blank(&format!("package of {}", program.as_deref()?));
            is_python.then(|| {
                format!("$ python3 -m venv --clear {folder} && {folder}/bin/python -m pip install {package}")
            })
        });
        let shown = interpreter.map_or_else(
            || "the program that its first line names".to_owned(),
            |path| format!("`{}`, which its first line names,", path.display()),
        );
        let mut lines = Vec::new();
        if let Some(again) = again {
            lines.push(format!(
                "It is there, and {shown} is not, as when a Python was replaced; install it again:"
            ));
            lines.push(again);
        }
        lines.push(format!(
            "It is there, and {shown} is not; write a program that reads it at {at}, and this \
             path as its first argument:"
        ));
        lines.push(
            self.started
                .command_and_args(&blank("path of the interpreter"), &self.before(&[name])),
        );
        Remedy::of(lines).instead_of(&["Install `"])
    }

    /// The program that the first line of a script names.
    fn interpreter_of(&self, script: &Path) -> Option<PathBuf> {
        let text = self.context.sight.text(script)?;
        let line = text.lines().next()?.strip_prefix("#!")?.trim();
        let first = line.split_whitespace().next()?;
        (!first.ends_with("/env")).then(|| PathBuf::from(first))
    }

    /// Nothing is at the path of the command.
    pub(super) fn nothing_there(&self, name: &str, at: &str) -> Remedy {
        let file = self.whole(name);
        let own = file
            .file_name()
            .map(|own| own.to_string_lossy().into_owned());
        let is_tools =
            holds(&file, ".local/bin") || holds(&file, "uv/tools") || holds(&file, "pipx");
        let mut lines = Vec::new();
        if let (true, Some(own)) = (is_tools, &own) {
            lines.push("If uv installed it, have it installed again:".to_owned());
            lines.push(format!("$ uv tool install --force {}", word(own)));
            lines.push("If pipx did:".to_owned());
            lines.push(format!("$ pipx reinstall {}", word(own)));
        }
        if let Some(near) = self
            .context
            .sight
            .on_path(own.as_deref().unwrap_or_default())
        {
            lines.push(format!("It lies elsewhere; write at {at}:"));
            lines.push(self.started.command(&near.display().to_string()));
        }
        lines.push(format!(
            "Nothing is at that path; write the one where the program lies, at {at}:"
        ));
        lines.push(self.started.command(&blank("path of the program")));
        Remedy::of(lines).instead_of(&["Install `"])
    }
}

/// Whether a path goes through these folders.
fn holds(path: &Path, folders: &str) -> bool {
    path.to_string_lossy().contains(&format!("/{folders}"))
}
