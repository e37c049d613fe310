//! Addresses of files beside a page.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

/// From where a page leads to other files. An address is always relative, so
/// that a folder can be moved, uploaded and served as a whole.
#[derive(Debug, Clone)]
pub struct PageLinks {
    /// The folder that relative paths of the report start from.
    cwd: PathBuf,
    /// The folder of the page.
    folder: PathBuf,
}

impl PageLinks {
    /// For a page at `file`, with paths as they are meant in `cwd`, which is
    /// absolute.
    #[must_use]
    pub fn new(cwd: &Path, file: &Path) -> Self {
        let file = normal(&cwd.join(file));
        Self {
            cwd: cwd.to_owned(),
            folder: file.parent().unwrap_or(&file).to_owned(),
        }
    }

    /// The address of a file; none where its path is longer than any can be.
    #[must_use]
    pub fn to(&self, path: impl AsRef<Path>) -> Option<String> {
        /// What Linux takes, the longest of all.
        const LONGEST: usize = 4096;
        if path.as_ref().as_os_str().len() > LONGEST {
            return None;
        }
        let target = normal(&self.cwd.join(path));
        let shared = self
            .folder
            .components()
            .zip(target.components())
            .take_while(|(one, other)| one == other)
            .count();
        let mut address = String::from(".");
        for _ in self.folder.components().skip(shared) {
            address.push_str("/..");
        }
        for part in target.components().skip(shared) {
            address.push('/');
            encode(&part.as_os_str().to_string_lossy(), &mut address);
        }
        Some(address)
    }
}

/// Without `.` and `..`, as it is written: no link is followed.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// One part of a path, of which nothing can be taken for an address's syntax.
fn encode(part: &str, out: &mut String) {
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String can't fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PageLinks;
    use std::path::Path;

    #[test]
    fn an_address_is_relative_and_has_no_scheme() {
        let links = |file| PageLinks::new(Path::new("/w"), Path::new(file));
        for (page, path, address) in [
            (
                "out.html",
                "reports/r1/results.json",
                "./reports/r1/results.json",
            ),
            (
                "reports/r1/a.html",
                "reports/r1/results.json",
                "./results.json",
            ),
            (
                "site/a.html",
                "reports/r 1/x.log",
                "./../reports/r%201/x.log",
            ),
            ("/tmp/a.html", "x.xml", "./../w/x.xml"),
            ("./b/../a.html", "c/../x.xml", "./x.xml"),
            (
                "a.html",
                "javascript:alert(1)",
                "./javascript%3Aalert%281%29",
            ),
            ("a.html", "a\"b<c>#?&.xml", "./a%22b%3Cc%3E%23%3F%26.xml"),
        ] {
            assert_eq!(
                links(page).to(path).as_deref(),
                Some(address),
                "{page} {path}"
            );
        }
    }
}
