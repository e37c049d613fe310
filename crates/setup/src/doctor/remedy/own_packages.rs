//! Packages of Node that are the project's own: its workspaces, itself, and what only its
//! compiler knows by a name. What npm has under that name is a stranger's.

use super::npm::{LEVELS, NpmPackage, package_in};
use super::prescribe::Doctor;
use super::sight::Sight;
use super::steps::Remedy;
use crate::doctor::clients::Syntax;
use crate::doctor::document::{Node, parse};
use std::path::{Path, PathBuf};

/// Endings of code that Node or a compiler for it reads.
const ENDINGS: &[&str] = &["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"];

/// What a compiler replaces, and Node does not.
const FOR_THE_COMPILER: &str = "Node knows no `paths` and no `baseUrl` of `tsconfig.json`: have \
                                the build replace them, or write the import with a path that \
                                begins with `./` or `../`.";

impl Doctor<'_> {
    /// What mends an import of what is the project's own, from this file; nothing where it may
    /// be a package of npm.
    pub(super) fn own_package(&self, specifier: &str, file: &Path) -> Option<Remedy> {
        let remedy = self.own_package_by(specifier, file)?;
        let name = package_in(specifier).unwrap_or_else(|| specifier.to_owned());
        Some(
            remedy.what(format!("Node finds no package `{name}`.")).why(
                "It is the project's own name for something, and none that npm could install.",
            ),
        )
    }

    fn own_package_by(&self, specifier: &str, file: &Path) -> Option<Remedy> {
        let sight = self.context.sight;
        let is_alias = specifier.starts_with("@/") || specifier.starts_with('~');
        if is_alias {
            return Some(Remedy::new().say(FOR_THE_COMPILER));
        }
        let project = NpmPackage::project(file, sight)?;
        let package = package_in(specifier).unwrap_or_else(|| specifier.to_owned());
        // A root may list what its workspaces use.
        let mut above = project.folder.ancestors().take(LEVELS);
        if above.any(|folder| NpmPackage::at(folder, sight).is_some_and(|it| it.lists(&package))) {
            return None;
        }
        if project.name() == Some(&*package) {
            return Some(Remedy::new().say(format!(
                "`{package}` is the project itself: Node finds it by that name where its \
                 `package.json` has `exports`; write the import with a path, or add them there: {}",
                project.folder.join("package.json").display()
            )));
        }
        if let Some((root, own)) = workspace_of(&package, &project.folder, sight) {
            let line = root.line("install");
            return Some(
                Remedy::new()
                    .say(format!(
                        "It is the project's own, in {}; have the workspaces linked:",
                        own.display()
                    ))
                    .run(line),
            );
        }
        let has_names = |file: &str| {
            let text = sight.text(&project.folder.join(file));
            text.is_some_and(|text| text.contains("\"paths\"") || text.contains("\"baseUrl\""))
        };
        // What lies just where the import says is the project's, whatever replaces it.
        let source = sight.text(file).unwrap_or_default();
        let lies_there = imports_of(&source, &package).any(|import| {
            let folders = [project.folder.clone(), project.folder.join("src")];
            folders.iter().any(|folder| {
                let whole = folder.join(import);
                let base = folder.join(import.trim_end_matches(".js"));
                let base = base.display();
                let mut files = ENDINGS
                    .iter()
                    .flat_map(|end| [format!("{base}.{end}"), format!("{base}/index.{end}")]);
                let is_file = |path: &Path| sight.is_there(path) && !sight.is_folder(path);
                is_file(&whole) || files.any(|file| is_file(Path::new(&file)))
            })
        });
        if !lies_there && !has_names("tsconfig.json") && !has_names("jsconfig.json") {
            return None;
        }
        let own = code_of(&package, &project.folder, sight);
        let own = own.or_else(|| lies_there.then(|| project.folder.join(&package)))?;
        let what = format!("{} is the project's own. {FOR_THE_COMPILER}", own.display());
        Some(Remedy::new().say(what))
    }
}

/// What a source imports by this name, or by paths that begin with it: `src/util` of `src`.
fn imports_of<'t>(source: &'t str, package: &'t str) -> impl Iterator<Item = &'t str> {
    let quoted = source.split(['\'', '"', '`']);
    quoted.filter(move |text| {
        let rest = text.strip_prefix(package);
        rest.is_some_and(|rest| {
            let is_path = rest.is_empty() || rest.starts_with('/');
            is_path && !rest.contains(char::is_whitespace)
        })
    })
}

/// The file or folder with code in a project that an import without a path may mean.
fn code_of(package: &str, project: &Path, sight: &dyn Sight) -> Option<PathBuf> {
    let first = package.split('/').next()?;
    let is_code = |name: &str| {
        ENDINGS
            .iter()
            .any(|ending| name.ends_with(&format!(".{ending}")))
    };
    [project.to_owned(), project.join("src")]
        .into_iter()
        .find_map(|folder| {
            let own = folder.join(first);
            let holds_code = || sight.names(&own).iter().any(|name| is_code(name));
            if sight.is_folder(&own) && holds_code() {
                return Some(own);
            }
            let mut files = ENDINGS
                .iter()
                .map(|it| folder.join(format!("{first}.{it}")));
            files.find(|file| sight.is_there(file))
        })
}

/// The root whose workspaces hold a package of this name, and the folder of that.
fn workspace_of(package: &str, project: &Path, sight: &dyn Sight) -> Option<(NpmPackage, PathBuf)> {
    project.ancestors().take(LEVELS).find_map(|folder| {
        let patterns = workspaces(folder, sight);
        let mut folders = patterns.iter().flat_map(|pattern| {
            match pattern.trim_end_matches('/').split_once("/*") {
                Some((above, _)) => {
                    let above = folder.join(above.trim_start_matches("./"));
                    let names = sight.names(&above).into_iter();
                    names.map(|name| above.join(name)).collect()
                }
                None => vec![folder.join(pattern)],
            }
        });
        let is_it = |own: &PathBuf| {
            let found = NpmPackage::at(own, sight);
            found.is_some_and(|found| found.name() == Some(package))
        };
        let own = folders.find(is_it)?;
        // The root of a project is what its own files belong to.
        let root = NpmPackage::project(&folder.join("package.json"), sight)?;
        Some((root, own))
    })
}

/// The patterns of the folders that are workspaces of this one.
fn workspaces(folder: &Path, sight: &dyn Sight) -> Vec<String> {
    if let Some(text) = sight.text(&folder.join("pnpm-workspace.yaml")) {
        return of_pnpm(&text);
    }
    let Some(root) = NpmPackage::at(folder, sight) else {
        return Vec::new();
    };
    let listed = &root.json["workspaces"];
    let listed = listed.as_array().or_else(|| listed["packages"].as_array());
    let patterns = listed.into_iter().flatten().filter_map(|it| it.as_str());
    patterns.map(str::to_owned).collect()
}

/// The patterns that a `pnpm-workspace.yaml` lists; none where it can't be read.
fn of_pnpm(text: &str) -> Vec<String> {
    let Ok(Some(root)) = parse(text, Syntax::Yaml) else {
        return Vec::new();
    };
    let listed = root.member("packages").map_or(&[][..], Node::elements);
    listed
        .iter()
        .filter_map(|it| it.text().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::of_pnpm;

    #[test]
    fn the_workspaces_of_pnpm_are_read_however_they_are_written() {
        for text in [
            "packages:\n  - 'apps/*' # what is served\n  - libs/util\nonlyBuiltDependencies:\n  - esbuild\n",
            "packages: [apps/*, \"libs/util\"]\ncatalog:\n  zod: ^4.0.0\n",
        ] {
            assert_eq!(of_pnpm(text), ["apps/*", "libs/util"], "{text}");
        }
        assert!(of_pnpm("onlyBuiltDependencies:\n  - esbuild\n").is_empty());
        assert!(of_pnpm("packages: [").is_empty());
    }
}
