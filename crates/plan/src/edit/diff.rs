//! Unified diffs.

use crate::PlanSource;
use std::path::{Component, Path};

/// A unified diff that `patch -p1` and `git apply` accept; empty where
/// nothing changed.
#[must_use]
pub fn diff(before: &PlanSource, after: &PlanSource) -> String {
    if before.text == after.text {
        return String::new();
    }
    similar::TextDiff::from_lines(before.text.as_ref(), after.text.as_ref())
        .unified_diff()
        .context_radius(3)
        .header(
            &format!("a/{}", name(&before.path)),
            &format!("b/{}", name(&after.path)),
        )
        .to_string()
}

/// The path without what `-p1` could not follow. A name with a space in it
/// is ended by a tab, as git does.
fn name(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .filter_map(|component| match component {
            Component::Normal(part) => Some(part.to_string_lossy()),
            Component::ParentDir => Some("..".into()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect();
    let mut name = parts.join("/");
    if name.contains(' ') {
        name.push('\t');
    }
    name
}
