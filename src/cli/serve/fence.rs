//! Which files a client may name: those below the allowed folders, wherever
//! links lead.
//!
//! Main type: [`Fence`].

use super::fault::ToolFault;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The allowed folders.
#[derive(Debug)]
pub struct Fence {
    /// Relative paths are below it.
    cwd: PathBuf,
    /// Absolute, links resolved; at least one.
    allowed: Vec<PathBuf>,
}

/// What a file is to be used as, with the most bytes that it may have.
#[derive(Debug, Clone, Copy)]
pub struct Use {
    pub what: &'static str,
    pub most: u64,
}

impl Fence {
    /// # Errors
    /// A folder that is not there; what completes "the folder … can't be
    /// allowed".
    pub fn new(cwd: &Path, folders: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        let here = [cwd.to_owned()];
        let folders = if folders.is_empty() { &here } else { folders };
        let resolve = |folder: &PathBuf| {
            let real = cwd.join(folder).canonicalize();
            let real = real.and_then(|real| match real.is_dir() {
                true => Ok(real),
                false => Err(io::ErrorKind::NotADirectory.into()),
            });
            real.map_err(|error| (folder.clone(), error))
        };
        Ok(Self {
            cwd: cwd.to_owned(),
            allowed: folders.iter().map(resolve).collect::<Result<_, _>>()?,
        })
    }

    pub fn folders(&self) -> &[PathBuf] {
        &self.allowed
    }

    /// A regular file, links resolved.
    ///
    /// # Errors
    /// It is not there, not allowed, not regular, or too large.
    pub fn file(&self, named: &str, wanted: Use) -> Result<PathBuf, ToolFault> {
        let path = self.place(named)?;
        let meta = fs::metadata(&path).map_err(|error| unreadable(named, &error))?;
        if meta.is_dir() {
            let what = format!("a {} is wanted, and this is a folder", wanted.what);
            return Err(ToolFault::new("not_a_file", what, "name a file").at(named));
        }
        if !meta.is_file() {
            let what = format!(
                "a {} is wanted, and this is a device, pipe or socket",
                wanted.what
            );
            return Err(ToolFault::new("not_a_file", what, "name a regular file").at(named));
        }
        if meta.len() > wanted.most {
            let what = format!(
                "the {} has {} bytes, and more than {} are not read",
                wanted.what,
                meta.len(),
                wanted.most
            );
            let next = "name a smaller file, or use the command line, which has no such limit";
            return Err(ToolFault::new("too_large", what, next).at(named));
        }
        Ok(path)
    }

    /// What a name leads to, links resolved.
    ///
    /// # Errors
    /// It is not there, or not allowed.
    pub fn place(&self, named: &str) -> Result<PathBuf, ToolFault> {
        let lexical = self.lexical(named)?;
        // Said of all that is outside alike, be it there or not.
        if !self.holds(&lexical) && !self.holds(&self.real_cwd(&lexical)) {
            return Err(self.outside(named));
        }
        let real = lexical
            .canonicalize()
            .map_err(|error| unreadable(named, &error))?;
        match self.holds(&real) {
            true => Ok(real),
            false => Err(self.outside(named)),
        }
    }

    /// The path as it is written, absolute.
    fn lexical(&self, named: &str) -> Result<PathBuf, ToolFault> {
        let path = Path::new(named);
        if named.is_empty() || named.contains('\0') {
            let fault = ToolFault::new("bad_path", "this names no file", "name a file");
            return Err(fault.at(format!("{named:?}")));
        }
        if path.components().any(|part| part == Component::ParentDir) {
            let next = "name the file by a path without `..`";
            return Err(ToolFault::new("bad_path", "`..` is not allowed in paths", next).at(named));
        }
        Ok(self.cwd.join(path))
    }

    /// The same below the real working folder, which may be named by a link.
    fn real_cwd(&self, path: &Path) -> PathBuf {
        let rest = path.strip_prefix(&self.cwd).ok();
        let real = rest.and_then(|rest| Some(self.cwd.canonicalize().ok()?.join(rest)));
        real.unwrap_or_else(|| path.to_owned())
    }

    fn holds(&self, path: &Path) -> bool {
        self.allowed.iter().any(|folder| path.starts_with(folder))
    }

    fn outside(&self, named: &str) -> ToolFault {
        let allowed: Vec<String> = self
            .allowed
            .iter()
            .map(|folder| folder.display().to_string())
            .collect();
        let what = "this lies outside of the allowed folders, or a link leads out of them";
        let next = format!(
            "name a file below {}, or start jelly serve with --allow DIR",
            allowed.join(" or ")
        );
        ToolFault::new("not_allowed", what, next).at(named)
    }
}

fn unreadable(named: &str, error: &io::Error) -> ToolFault {
    let next = match error.kind() {
        io::ErrorKind::NotFound => "look whether the path is right; list_runs names reports",
        _ => "see to it that jelly may read it",
    };
    ToolFault::new("unreadable", format!("it can't be read: {error}"), next).at(named)
}

#[cfg(test)]
mod tests {
    use super::{Fence, Use};
    use std::fs;
    use std::os::unix::fs::symlink;

    const PLAN: Use = Use {
        what: "plan",
        most: 10,
    };

    #[test]
    fn only_regular_files_below_the_folders_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join("sub/a.yaml"), "a").unwrap();
        fs::write(root.join("large"), "01234567890").unwrap();
        fs::write(dir.path().join("secret"), "s").unwrap();
        symlink(dir.path().join("secret"), root.join("out")).unwrap();
        symlink(dir.path(), root.join("up")).unwrap();
        symlink(root.join("sub/a.yaml"), root.join("in")).unwrap();
        let sibling = dir.path().join("root-too");
        fs::create_dir(&sibling).unwrap();
        fs::write(sibling.join("a"), "a").unwrap();
        let fence = Fence::new(&root, &[]).unwrap();
        let kind = |named: &str| match fence.file(named, PLAN) {
            Ok(path) => path.file_name().unwrap().to_str().unwrap().to_owned(),
            Err(fault) => fault.json()["error"]["kind"].as_str().unwrap().to_owned(),
        };
        let outside = dir.path().join("secret").display().to_string();
        let beside = sibling.join("a").display().to_string();
        let inside = root.join("sub/a.yaml").display().to_string();
        let cases = [
            ("sub/a.yaml", "a.yaml"),
            ("./sub/a.yaml", "a.yaml"),
            (inside.as_str(), "a.yaml"),
            ("in", "a.yaml"),
            ("out", "not_allowed"),
            ("up/secret", "not_allowed"),
            (outside.as_str(), "not_allowed"),
            (beside.as_str(), "not_allowed"),
            ("/etc/passwd", "not_allowed"),
            ("/no/such/place", "not_allowed"),
            ("/dev/zero", "not_allowed"),
            ("../secret", "bad_path"),
            ("sub/../../secret", "bad_path"),
            ("", "bad_path"),
            ("a\0b", "bad_path"),
            ("sub", "not_a_file"),
            ("none.yaml", "unreadable"),
            ("large", "too_large"),
        ];
        for (named, expected) in cases {
            assert_eq!(kind(named), expected, "{named}");
        }
    }

    #[test]
    fn a_pipe_is_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
        let fence = Fence::new(dir.path(), &[]).unwrap();
        let fault = fence.file("socket", PLAN).unwrap_err();
        assert_eq!(fault.json()["error"]["kind"], "not_a_file");
    }
}
