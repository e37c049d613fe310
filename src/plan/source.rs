//! The text of a plan and where it came from.

use super::Location;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest plan that is read, in bytes.
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A plan's text, kept so that errors can quote it and edits can splice it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanSource {
    /// As the user gave it; shown in errors and reports.
    pub path: PathBuf,
    pub text: Arc<str>,
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
        let file = std::fs::File::open(path).map_err(|e| unreadable(&e))?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| unreadable(&e))?;
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

#[cfg(test)]
mod tests {
    use super::{PlanSource, ReadError};

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
}
