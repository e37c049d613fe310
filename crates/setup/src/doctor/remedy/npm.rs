//! Packages of npm as they lie in folders, by their `package.json`.

use super::sight::Sight;
use crate::doctor::versions::Version;
use jelly_base::model::Fix;
use jelly_base::text::shell_word as word;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Folders above a file that are searched.
pub(super) const LEVELS: usize = 24;

/// Folders above a script that may be its project's.
const PROJECT_LEVELS: usize = 6;

/// Files of a package manager other than npm, and its name.
const LOCKS: &[(&str, &str)] = &[
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
];

/// Names of scripts that make what is started.
const BUILDS: &[&str] = &["build", "compile", "prepare"];

/// A folder with a `package.json`.
pub(super) struct NpmPackage {
    pub(super) folder: PathBuf,
    pub(super) json: Value,
    manager: &'static str,
}

/// The package manager that a folder names: by `packageManager` of its `package.json`, as Corepack
/// reads it, or by its lock.
fn manager_of(folder: &Path, sight: &dyn Sight) -> Option<&'static str> {
    let named = || -> Option<&'static str> {
        let text = sight.text(&folder.join("package.json"))?;
        let json: Value = serde_json::from_str(&text).ok()?;
        let named = json["packageManager"].as_str()?;
        let name = named.split('@').next().unwrap_or(named);
        ["npm", "pnpm", "yarn", "bun"]
            .into_iter()
            .find(|known| *known == name)
    };
    let mut locks = LOCKS.iter();
    let lock = locks.find(|(lock, _)| sight.is_there(&folder.join(lock)));
    named().or(lock.map(|(_, manager)| *manager))
}

/// The package manager of the project that a folder belongs to; in a workspace, its root says it.
#[must_use]
pub fn package_manager(folder: &Path, sight: &dyn Sight) -> Option<&'static str> {
    let above = folder.ancestors().take(LEVELS);
    above
        .into_iter()
        .find_map(|folder| manager_of(folder, sight))
}

/// What the rules advise without a look at the machine, with the project's own package manager.
pub fn install_by(manager: &str, fix: &mut [Fix]) {
    for step in fix.iter_mut().filter(|step| step.is_command()) {
        if step.text == "npm install" {
            step.text = format!("{manager} install");
        }
    }
}

impl NpmPackage {
    pub(super) fn at(folder: &Path, sight: &dyn Sight) -> Option<Self> {
        let text = sight.text(&folder.join("package.json"))?;
        Some(Self {
            folder: folder.to_owned(),
            json: serde_json::from_str(&text).ok()?,
            manager: "npm",
        })
    }

    /// The project that a file belongs to, unless it was installed there.
    pub(super) fn project(file: &Path, sight: &dyn Sight) -> Option<Self> {
        let mut folders = file.ancestors().skip(1).take(PROJECT_LEVELS);
        let folder = folders.find(|folder| sight.is_there(&folder.join("package.json")))?;
        let package = Self::at(folder, sight).filter(|_| !is_installed(folder))?;
        let manager = file
            .parent()
            .and_then(|folder| package_manager(folder, sight));
        Some(Self {
            manager: manager.unwrap_or("npm"),
            ..package
        })
    }

    /// A line to paste that runs its package manager in it.
    pub(super) fn line(&self, words: &str) -> String {
        let folder = word(&self.folder.display().to_string());
        format!("cd {folder} && {} {words}", self.manager)
    }

    /// A line to paste that installs one more package.
    pub(super) fn add(&self, spec: &str) -> String {
        let adds = match self.manager {
            "npm" => "install",
            _ => "add",
        };
        self.line(&format!("{adds} {}", word(spec)))
    }

    /// A line to paste that makes what is started.
    pub(super) fn build(&self) -> Option<String> {
        let mut scripts = BUILDS.iter();
        let script = scripts.find(|script| self.json["scripts"].get(script).is_some())?;
        let manager = self.manager;
        Some(self.line(&format!("install && {manager} run {script}")))
    }

    pub(super) fn lists(&self, name: &str) -> bool {
        ["dependencies", "devDependencies", "optionalDependencies"]
            .iter()
            .any(|kind| self.json[kind].get(name).is_some())
    }

    /// The package that a file belongs to.
    pub(super) fn of(file: &Path, sight: &dyn Sight) -> Option<Self> {
        let mut folders = file.ancestors().skip(1).take(LEVELS);
        // A bare `{"type": "module"}` below `dist` is no package.
        folders.find_map(|folder| {
            Self::at(folder, sight).filter(|package| {
                package.json.get("name").is_some()
                    || package.json.get("dependencies").is_some()
                    || !is_installed(folder)
            })
        })
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.json["name"].as_str()
    }

    pub(super) fn version(&self) -> Option<Version> {
        Version::of(self.json["version"].as_str()?)
    }

    /// The range in which it asks for another one.
    pub(super) fn asks_for(&self, package: &str) -> Option<&str> {
        [
            "dependencies",
            "peerDependencies",
            "optionalDependencies",
            "devDependencies",
        ]
        .iter()
        .find_map(|kind| self.json[kind].get(package)?.as_str())
    }

    /// Its programs, as files in its folder.
    pub(super) fn programs(&self) -> Vec<PathBuf> {
        let bin = match &self.json["bin"] {
            Value::String(one) => vec![one.as_str()],
            Value::Object(several) => several.values().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let main = self.json["main"].as_str();
        let all = bin.into_iter().chain(main);
        all.map(|file| self.folder.join(file.trim_start_matches("./")))
            .collect()
    }

    /// The name of its only program, or of the one that is called as it is.
    pub(super) fn program(&self) -> Option<String> {
        let own = self.name()?.rsplit('/').next()?;
        match &self.json["bin"] {
            Value::String(_) => Some(own.to_owned()),
            Value::Object(several) if several.contains_key(own) => Some(own.to_owned()),
            Value::Object(several) if several.len() == 1 => several.keys().next().cloned(),
            _ => None,
        }
    }
}

pub(super) fn is_installed(path: &Path) -> bool {
    path.iter().any(|part| part == "node_modules")
}

/// The folder and the name of the installed package that a path leads into,
/// and what of the path follows.
pub(super) fn installed_at(path: &Path) -> Option<(PathBuf, String, PathBuf)> {
    let parts: Vec<_> = path.iter().collect();
    let last = parts.iter().rposition(|part| *part == "node_modules")?;
    let first = parts.get(last + 1)?.to_str()?;
    let length = if first.starts_with('@') { 2 } else { 1 };
    let own = parts.get(last + 1..last + 1 + length)?;
    let names: Vec<&str> = own.iter().filter_map(|part| part.to_str()).collect();
    let folder: PathBuf = parts[..last + 1 + length].iter().collect();
    let rest = parts[last + 1 + length..].iter().collect();
    Some((folder, names.join("/"), rest))
}

/// A package's name at the begin of what is imported: `@a/b/c.js`.
pub(super) fn package_in(specifier: &str) -> Option<String> {
    let is_path = specifier.starts_with(['.', '/', '#']) || specifier.contains(':');
    if is_path || specifier.is_empty() {
        return None;
    }
    let length = if specifier.starts_with('@') { 2 } else { 1 };
    let parts: Vec<&str> = specifier.split('/').take(length).collect();
    (parts.len() == length).then(|| parts.join("/"))
}

/// A package's name without its version.
pub(super) fn package_name(spec: &str) -> &str {
    let version = spec.char_indices().skip(1).find(|(_, c)| *c == '@');
    version.map_or(spec, |(at, _)| &spec[..at])
}

#[cfg(test)]
mod tests {
    use super::{installed_at, package_in, package_name};
    use std::path::{Path, PathBuf};

    #[test]
    fn packages_are_read_from_paths_and_imports() {
        let path = Path::new("/p/node_modules/a/node_modules/@s/b/dist/x.js");
        let folder = PathBuf::from("/p/node_modules/a/node_modules/@s/b");
        let found = installed_at(path).unwrap();
        assert_eq!(
            found,
            (folder, "@s/b".to_owned(), PathBuf::from("dist/x.js"))
        );
        assert_eq!(installed_at(Path::new("/p/dist/x.js")), None);
        assert_eq!(package_in("@s/b/types.js").as_deref(), Some("@s/b"));
        assert_eq!(package_in("zod/v4").as_deref(), Some("zod"));
        for other in ["./x.js", "/x", "node:fs", "#own", "@s"] {
            assert_eq!(package_in(other), None, "{other}");
        }
        assert_eq!(package_name("@s/b@^1"), "@s/b");
    }
}
