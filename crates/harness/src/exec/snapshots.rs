//! Stored texts that answers are held against.
//!
//! They lie beside the plan, in `snapshots/<plan>/<name>.snap`, and are never
//! written here: what an answer says instead is proposed elsewhere, for a
//! person to review.

use super::operators::OperandError;
use jelly_base::files::read_up_to;
use jelly_plan::{Plan, snapshot_path};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// So many entries of a folder are looked at.
const MAX_ENTRIES: usize = 10_000;

/// The files beside a plan that would be its snapshots, and that none of its
/// steps names any more.
#[must_use]
pub fn unnamed_snapshots(plan: &Plan) -> Vec<PathBuf> {
    let named = plan.snapshot_names();
    let folder = snapshot_path(&plan.source.path, "x");
    let entries = folder.parent().and_then(|folder| fs::read_dir(folder).ok());
    let entries = entries.into_iter().flatten().take(MAX_ENTRIES).flatten();
    let mut unnamed: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "snap"))
        .filter(|path| {
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            stem.is_none_or(|stem| !named.contains(stem))
        })
        .collect();
    unnamed.sort();
    unnamed
}

/// The stored text.
///
/// # Errors
/// There is none, or it can't be read.
pub fn stored(plan: &Path, name: &str) -> Result<String, OperandError> {
    let path = snapshot_path(plan, name);
    let read = read_up_to(&path, u64::MAX).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
    });
    read.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => OperandError::NoSnapshot {
            name: name.to_owned(),
            path,
        },
        _ => OperandError::Snapshot {
            name: name.to_owned(),
            why: format!("{} can't be read: {error}", path.display()),
        },
    })
}

/// Of what is stored there, in hexadecimal; none where nothing is.
///
/// # Errors
/// It can't be read.
pub fn digest(path: &Path) -> io::Result<Option<String>> {
    match read_up_to(path, u64::MAX) {
        Ok(bytes) => Ok(Some(digest_of(&bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Of a file with this content, in hexadecimal.
#[must_use]
pub fn digest_of(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

/// A value as it is stored: a text as it is, anything else as indented JSON.
#[must_use]
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // A JSON value in memory can always be written.
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// What of a stored text is held against `text`: all but the line feed at the
/// end of the file.
#[must_use]
pub fn compared<'s>(stored: &'s str, text: &str) -> &'s str {
    match stored.strip_suffix('\n') {
        Some(shorter) if stored != text => shorter,
        Some(_) | None => stored,
    }
}

/// Whether the stored text is this one. A file ends with a line feed, by
/// custom and by most editors, which is no part of the text.
#[must_use]
pub fn same(stored: &str, text: &str) -> bool {
    stored == text || stored.strip_suffix('\n') == Some(text)
}

#[cfg(test)]
mod tests {
    use super::{compared, same, stored, text_of};
    use crate::exec::operators::OperandError;
    use jelly_plan::snapshot_path;
    use serde_json::json;

    #[test]
    fn the_line_feed_at_the_end_of_a_file_is_no_part_of_the_text() {
        assert!(same("a\n", "a") && same("a", "a") && same("a\n\n", "a\n"));
        assert!(!same("a", "a\n") && !same("a\n\n", "a") && !same("", "a"));
        assert_eq!(compared("a\n", "b"), "a");
        assert_eq!(compared("a\n\n", "b\n"), "a\n");
    }

    #[test]
    fn a_text_is_stored_as_it_is_and_structure_indented() {
        assert_eq!(text_of(&json!("a \"b\"")), "a \"b\"");
        assert_eq!(text_of(&json!({"a": 1})), "{\n  \"a\": 1\n}");
    }

    #[test]
    fn a_missing_snapshot_says_where_it_is_expected() {
        let folder = tempfile::tempdir().unwrap();
        let plan = folder.path().join("p.yaml");
        let Err(OperandError::NoSnapshot { name, path }) = stored(&plan, "n") else {
            panic!("there is none");
        };
        assert_eq!(name, "n");
        assert_eq!(path, snapshot_path(&plan, "n"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "hello\n").unwrap();
        assert_eq!(stored(&plan, "n").unwrap(), "hello\n");
    }
}
