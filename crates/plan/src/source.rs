//! The text of a plan and where it came from.

use super::Variant;
use jelly_base::files::read_up_to;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A place in a plan file. Lines and columns are 1-based; columns count
/// characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Location {
    pub line: usize,
    pub column: usize,
    /// 0 is the plan's own file, the others are those that it includes.
    pub file: u16,
}

impl From<(usize, usize)> for Location {
    fn from((line, column): (usize, usize)) -> Self {
        Self {
            line,
            column,
            file: 0,
        }
    }
}

/// The longest plan that is read, in bytes.
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A plan's text, kept so that errors can quote it and edits can splice it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanSource {
    /// As the user gave it; shown in errors and reports.
    pub path: PathBuf,
    pub text: Arc<str>,
    /// The combination of the plan's matrix that is meant, where it is run in
    /// one.
    pub variant: Option<Arc<Variant>>,
}

/// How a plan is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Yaml,
    Json,
}

/// Why a plan's text could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("{path}: there is no such file")]
    Missing { path: String },
    #[error("{path}: this is a folder, not a plan")]
    Folder { path: String },
    #[error("{path}: can't be read: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("{path}: longer than {} MiB, which no plan is", MAX_BYTES / 1024 / 1024)]
    TooLong { path: String },
    #[error("{path}: not UTF-8 text (line {line}); save it as UTF-8")]
    NotUtf8 { path: String, line: usize },
}

/// Why a plan's file is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplaceError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{path}: it was changed since it was read")]
    Changed { path: String },
    #[error("{path}: can't be written: {reason}")]
    Unwritable { path: String, reason: String },
    #[error("{path}: it is read-only, and stays as it is; `chmod u+w` lets it be written")]
    ReadOnly { path: String },
}

impl PlanSource {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// It is missing, a folder, unreadable, too long or not UTF-8.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let shown = path.display().to_string();
        let unreadable = |error: &std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => ReadError::Missing {
                path: shown.clone(),
            },
            std::io::ErrorKind::IsADirectory => ReadError::Folder {
                path: shown.clone(),
            },
            _ => ReadError::Unreadable {
                path: shown.clone(),
                reason: error.to_string(),
            },
        };
        let bytes = read_up_to(path, MAX_BYTES).map_err(|e| unreadable(&e))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(ReadError::TooLong { path: shown });
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            ReadError::NotUtf8 {
                path: shown,
                line: 1 + good.iter().filter(|byte| **byte == b'\n').count(),
            }
        })?;
        Ok(Self {
            path: path.to_owned(),
            text: text.into(),
            variant: None,
        })
    }

    /// Of the text, in hexadecimal.
    #[must_use]
    pub fn sha256(&self) -> String {
        let digest = Sha256::digest(self.text.as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Puts this text into the file in the place of `before`, whole or not at
    /// all. The file's permissions stay, and a symbolic link to it stays one.
    ///
    /// # Errors
    /// The file holds neither this text nor `before`, is read-only for its owner, or can't
    /// be read or written; then it is as it was.
    pub fn replace(&self, before: &Self) -> Result<(), ReplaceError> {
        let now = Self::read(&self.path)?;
        if now.text == self.text {
            return Ok(());
        }
        if now.text != before.text {
            return Err(ReplaceError::Changed {
                path: self.path.display().to_string(),
            });
        }
        // A file that takes its place needs only a folder that can be written.
        if std::fs::metadata(&self.path).is_ok_and(|file| read_only(&file.permissions())) {
            return Err(ReplaceError::ReadOnly {
                path: self.path.display().to_string(),
            });
        }
        let written = || {
            let file = std::fs::canonicalize(&self.path)?;
            let folder = file.parent().unwrap_or(Path::new("."));
            let mut beside = tempfile::NamedTempFile::new_in(folder)?;
            beside.write_all(self.text.as_bytes())?;
            let permissions = std::fs::metadata(&file)?.permissions();
            beside.as_file().set_permissions(permissions)?;
            beside.as_file().sync_all()?;
            beside.persist(&file).map_err(|error| error.error)?;
            Ok(())
        };
        written().map_err(|error: std::io::Error| ReplaceError::Unwritable {
            path: self.path.display().to_string(),
            reason: error.to_string(),
        })
    }

    /// By the file's extension; everything but `.json` is YAML.
    #[must_use]
    pub fn format(&self) -> Format {
        match self.path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("json") => Format::Json,
            Some(_) | None => Format::Yaml,
        }
    }

    /// `file:line:column`, as errors and reports name a place.
    #[must_use]
    pub fn at(&self, location: Location) -> String {
        format!(
            "{}:{}:{}",
            self.path.display(),
            location.line,
            location.column
        )
    }
}

/// Whether a file is closed to its owner, who may be root.
#[cfg(unix)]
fn read_only(permissions: &std::fs::Permissions) -> bool {
    use std::os::unix::fs::PermissionsExt;
    permissions.mode() & 0o200 == 0
}

#[cfg(not(unix))]
fn read_only(permissions: &std::fs::Permissions) -> bool {
    permissions.readonly()
}

#[cfg(test)]
mod tests {
    use super::{PlanSource, ReadError, ReplaceError};

    #[test]
    fn a_read_only_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        std::fs::write(&file, "a: 1\n").unwrap();
        let mut permissions = std::fs::metadata(&file).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&file, permissions).unwrap();
        let before = PlanSource::read(&file).unwrap();
        let after = PlanSource {
            text: "a: 2\n".into(),
            ..before.clone()
        };
        let refused = after.replace(&before);
        assert!(matches!(refused, Err(ReplaceError::ReadOnly { .. })));
        assert_eq!(PlanSource::read(&file).unwrap(), before);
    }

    #[test]
    fn a_plan_that_cannot_be_had_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        std::fs::write(file("latin.yaml"), b"a: 1\nb: \xe9\n").unwrap();
        assert!(matches!(
            PlanSource::read(&file("none.yaml")),
            Err(ReadError::Missing { .. })
        ));
        assert!(matches!(
            PlanSource::read(folder.path()),
            Err(ReadError::Folder { .. })
        ));
        assert!(matches!(
            PlanSource::read(&file("latin.yaml")),
            Err(ReadError::NotUtf8 { line: 2, .. })
        ));
    }

    #[test]
    fn a_file_is_replaced_only_by_who_knows_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        std::fs::write(&file, "a: 1\n").unwrap();
        let before = PlanSource::read(&file).unwrap();
        let after = PlanSource {
            text: "a: 2\n".into(),
            ..before.clone()
        };
        after.replace(&before).unwrap();
        assert_eq!(PlanSource::read(&file).unwrap(), after);
        after.replace(&before).unwrap();
        let other = PlanSource {
            text: "a: 3\n".into(),
            ..before.clone()
        };
        let again = other.replace(&before);
        assert!(matches!(again, Err(ReplaceError::Changed { .. })));
        let names = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 1, "nothing is left beside it");
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_permissions_and_a_link_its_nature() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (
            folder.path().join("a.yaml"),
            folder.path().join("link.yaml"),
        );
        std::fs::write(&file, "a: 1\n").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
        symlink("a.yaml", &link).unwrap();
        let before = PlanSource::read(&link).unwrap();
        let after = PlanSource {
            text: "a: 2\n".into(),
            ..before.clone()
        };
        after.replace(&before).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "a: 2\n");
        assert!(link.is_symlink());
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }
}
