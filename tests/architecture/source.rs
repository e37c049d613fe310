//! The packages of the workspace and their files, read once.

use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Ours, and shipped.
pub struct Package {
    pub name: String,
    /// The packages of ours that its code uses; those of its tests don't count.
    pub uses: BTreeSet<String>,
    /// In the order of their paths, without files of tests.
    pub files: Vec<SourceFile>,
}

pub struct SourceFile {
    /// Below the root of the repository, with slashes.
    pub path: String,
    /// The names from the root of its crate down to the module it is.
    pub module: Vec<String>,
    pub text: String,
    /// The text up to its tests, without lines of comments.
    pub code: String,
}

impl Package {
    /// The modules at its root.
    pub fn rooms(&self) -> BTreeSet<&str> {
        let first = self.files.iter().filter_map(|file| file.module.first());
        first.map(String::as_str).collect()
    }
}

impl SourceFile {
    /// The names of the types that it defines outside of its tests.
    pub fn types(&self) -> Vec<String> {
        static ITEM: LazyLock<Regex> = LazyLock::new(|| {
            // A `type` that stands in a trait or an `impl` has no name of its own.
            let item = r"(?m)^(?:\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union)|(?:pub(?:\([^)]*\))? )?type) (\w+)";
            Regex::new(item).unwrap()
        });
        ITEM.captures_iter(&self.code)
            .map(|found| found[1].to_owned())
            .collect()
    }

    /// Lines before its tests.
    pub fn own_lines(&self) -> usize {
        self.text
            .lines()
            .take_while(|line| *line != "mod tests {")
            .count()
    }
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn packages() -> &'static [Package] {
    static PACKAGES: LazyLock<Vec<Package>> = LazyLock::new(read_packages);
    &PACKAGES
}

fn read_packages() -> Vec<Package> {
    let mut folders: Vec<PathBuf> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.push(root().to_owned());
    folders.sort();
    folders.iter().map(|folder| package(folder)).collect()
}

fn package(folder: &Path) -> Package {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let name = Regex::new(r#"(?m)^name = "([\w-]+)"$"#).unwrap();
    let used = Regex::new(r"(?m)^(jelly-[\w-]+)(?:\.workspace| =)").unwrap();
    // What a package uses stands between these two headings.
    let (_, own) = manifest.split_once("\n[dependencies]\n").unwrap();
    let own = own.split("\n[dev-dependencies]\n").next().unwrap();
    let src = folder.join("src");
    Package {
        name: name.captures(&manifest).unwrap()[1].to_owned(),
        uses: used
            .captures_iter(own)
            .map(|found| found[1].to_owned())
            .collect(),
        files: rust_files(&src)
            .iter()
            .filter(|path| !is_test(path.strip_prefix(&src).unwrap()))
            .map(|path| read(path, &src))
            .collect(),
    }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Tests are for the module that they are named after.
fn is_test(path: &Path) -> bool {
    let inside = path.iter().any(|part| part == "tests");
    inside || path.to_str().unwrap().ends_with("tests.rs")
}

fn read(path: &Path, src: &Path) -> SourceFile {
    let text = fs::read_to_string(path).unwrap();
    let mut module: Vec<String> = path
        .strip_prefix(src)
        .unwrap()
        .with_extension("")
        .iter()
        .map(|part| part.to_str().unwrap().to_owned())
        .collect();
    if module
        .last()
        .is_some_and(|last| last == "mod" || last == "lib" || last == "main")
    {
        module.pop();
    }
    let code: Vec<&str> = text
        .lines()
        .take_while(|line| *line != "mod tests {")
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    SourceFile {
        path: path
            .strip_prefix(root())
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/"),
        module,
        code: code.join("\n"),
        text,
    }
}
