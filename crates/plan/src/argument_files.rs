//! The files that a plan sends as arguments: read once with the plan, so that
//! what was looked at is what is sent, and shown by path and size alone.
//!
//! Main type: [`ArgumentFiles`].

use super::template::{Part, Template, has_reference};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest file, in bytes.
const MAX_FILE: u64 = 16 << 20;
/// All of them together.
const MAX_ALL: u64 = 64 << 20;

/// What is sent of files, by their paths as the plan has them.
#[derive(Debug, Clone, Default)]
pub struct ArgumentFiles(Arc<BTreeMap<String, Content>>);

#[derive(Debug, PartialEq, Eq)]
struct Content {
    bytes: Vec<u8>,
    /// Of the bytes, in hexadecimal.
    sha256: String,
}

/// Why a file can't be sent: what is wrong, and what would help.
pub(crate) type FileRefusal = (String, &'static str);

impl ArgumentFiles {
    /// The bytes of a file as they are sent; none where the plan did not read it.
    pub(crate) fn sent(&self, part: &Part) -> Option<String> {
        match part {
            Part::File(path) => {
                let bytes = &self.0.get(path)?.bytes;
                Some(String::from_utf8_lossy(bytes).into_owned())
            }
            Part::Base64(path) => Some(STANDARD.encode(&self.0.get(path)?.bytes)),
            _ => None,
        }
    }

    /// Paths with the digests of what is in them.
    pub fn digests(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.0.iter();
        all.map(|(path, content)| (path.as_str(), content.sha256.as_str()))
    }

    /// The digest of one of them.
    #[must_use]
    pub fn digest(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(|content| content.sha256.as_str())
    }

    /// What is read as text, for who looks for secrets in it.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let all = self.0.values();
        all.filter_map(|content| std::str::from_utf8(&content.bytes).ok())
    }

    /// `value` with path and size in the place of each file; nothing where it
    /// sends none.
    #[must_use]
    pub fn shown(&self, value: &Value) -> Option<Value> {
        sends_file(value).then(|| self.with_sizes(value))
    }

    fn with_sizes(&self, value: &Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) => match Template::parse(text) {
                Ok(template) if has_reference(text) => {
                    let parts = template.parts.iter().map(|part| self.with_size(part));
                    Value::String(parts.collect())
                }
                Ok(_) | Err(_) => value.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.with_sizes(item)).collect(),
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, item)| (key.clone(), self.with_sizes(item)))
                    .collect(),
            ),
        }
    }

    fn with_size(&self, part: &Part) -> String {
        let path = match part {
            Part::File(path) | Part::Base64(path) => path,
            _ => return part.reference(),
        };
        let bytes = self.0.get(path).map_or(0, |content| content.bytes.len());
        let shown = format!("{} ({bytes} bytes)", part.reference());
        Part::Text(shown).reference()
    }
}

/// Whether a file stands anywhere in it.
fn sends_file(value: &Value) -> bool {
    let mut found = false;
    super::template::each_reference(value, &mut |part| {
        found |= matches!(part, Part::File(_) | Part::Base64(_));
    });
    found
}

/// Reads files of one project.
#[derive(Debug, Default)]
pub(crate) struct FileReader {
    /// With its links resolved.
    project: Option<PathBuf>,
    read: BTreeMap<String, Content>,
    bytes: u64,
}

impl FileReader {
    pub(crate) fn of(project: &Path) -> Self {
        let project = match project.as_os_str().is_empty() {
            true => Path::new("."),
            false => project,
        };
        Self {
            project: fs::canonicalize(project).ok(),
            ..Self::default()
        }
    }

    pub(crate) fn into_files(self) -> ArgumentFiles {
        ArgumentFiles(Arc::new(self.read))
    }

    /// Whether a file lies at a path in the project, or at an absolute one.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        let folder = self.project.as_deref().unwrap_or(Path::new(""));
        folder.join(path).is_file()
    }

    /// Reads what a reference names.
    pub(crate) fn read(&mut self, path: &str, as_text: bool) -> Result<(), FileRefusal> {
        if !self.read.contains_key(path) {
            let bytes = self.bytes_of(path)?;
            let sha256 = Sha256::digest(&bytes);
            let sha256 = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
            self.bytes += bytes.len() as u64;
            self.read.insert(path.to_owned(), Content { bytes, sha256 });
        }
        let content = self.read.get(path);
        if as_text && content.is_some_and(|content| std::str::from_utf8(&content.bytes).is_err()) {
            return Err((
                format!("`{path}` is not UTF-8 text"),
                "`${base64:PATH}` sends bytes of any kind",
            ));
        }
        Ok(())
    }

    fn bytes_of(&self, path: &str) -> Result<Vec<u8>, FileRefusal> {
        let from_project = "the path begins at the project folder";
        let Some(project) = &self.project else {
            return Err(("there is no project folder".to_owned(), from_project));
        };
        let unreadable = |error: std::io::Error| {
            let message = format!("`{path}` can't be read: {error}");
            (message, from_project)
        };
        let place = fs::canonicalize(project.join(path)).map_err(unreadable)?;
        if !place.starts_with(project) {
            return Err((
                format!("`{path}` lies outside of the project"),
                "move it into the project, or say which folder that is: `--project-dir DIR`",
            ));
        }
        let metadata = fs::metadata(&place).map_err(unreadable)?;
        if !metadata.is_file() {
            return Err((
                format!("`{path}` is no regular file"),
                "name a file; what a pipe or a device holds differs from run to run",
            ));
        }
        let too_long = || {
            let message = format!("`{path}` is longer than {} MiB", MAX_FILE >> 20);
            (
                message,
                "let the server read what is that long, by its path",
            )
        };
        if metadata.len() > MAX_FILE {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        let file = File::open(&place).map_err(unreadable)?;
        file.take(MAX_FILE + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(too_long());
        }
        if self.bytes + bytes.len() as u64 > MAX_ALL {
            let message = format!(
                "the files of one plan are longer than {} MiB",
                MAX_ALL >> 20
            );
            return Err((message, "make several plans of it"));
        }
        Ok(bytes)
    }
}
