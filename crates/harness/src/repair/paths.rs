//! Paths in plans and in what servers say about them. Lexical but for the
//! questions of [`Facts::fs`].

use super::types::{Facts, PathKind};
use jelly_base::model::{Failure, PlanIssue};
use std::path::{Component, Path, PathBuf};

/// The path without `.` and `..`, as far as that can be told without looking.
pub(super) fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                // Above the root there is only the root.
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                out.push(component);
            }
        }
    }
    out
}

/// Strictly inside the project, symbolic links resolved first.
pub(super) fn is_inside(path: &Path, facts: &Facts<'_>) -> bool {
    let project = normalise(facts.project_dir);
    let path = normalise(path);
    if path == project || !path.starts_with(&project) {
        return false;
    }
    match (facts.fs.resolve(&path), facts.fs.resolve(&project)) {
        (Some(path), Some(project)) => path != project && path.starts_with(project),
        (None, _) | (_, None) => false,
    }
}

/// Nothing stands there, and a folder could be created: it is inside the
/// project, and what is nearest above it is a folder one can write to.
pub(super) fn can_be_created(path: &Path, facts: &Facts<'_>) -> bool {
    facts.fs.kind(path) == PathKind::Missing
        && is_inside(path, facts)
        && path
            .ancestors()
            .skip(1)
            .map(|above| facts.fs.kind(above))
            .find(|kind| *kind != PathKind::Missing)
            .is_some_and(|kind| kind == PathKind::Dir { writable: true })
}

/// Whether a folder is missed that has to hold a repository of Git: an empty one is none.
pub(super) fn wants_a_repository(said: &[&str]) -> bool {
    said.iter()
        .any(|text| text.to_ascii_lowercase().contains("git repository"))
}

/// All that the failure says, for looking up paths in it.
pub(super) fn texts(failure: &Failure) -> Vec<&str> {
    let mut texts: Vec<&str> = Vec::new();
    if let Some(PlanIssue::MissingDirectory { path }) = &failure.issue {
        texts.push(path);
    }
    texts.extend(failure.stderr.as_deref());
    texts.extend(failure.message.as_deref());
    texts.extend(failure.stdout_noise.iter().map(String::as_str));
    texts.extend(failure.spawn_error.as_ref().and_then(|e| e.text.as_deref()));
    texts.extend(failure.rpc_error.as_ref().map(|e| e.message.as_str()));
    texts.extend(failure.tool_result.as_ref().map(|r| r.text.as_str()));
    texts
}

/// Whether any of the texts names this path.
pub(super) fn names(texts: &[&str], path: &Path) -> bool {
    mentions(texts, path, |after| !continues_name(after))
}

/// Whether any of the texts names this path or something below it.
pub(super) fn names_below(texts: &[&str], path: &Path) -> bool {
    mentions(texts, path, |after| {
        after.starts_with('/') || !continues_name(after)
    })
}

/// Whether any of the texts names something in this folder.
pub(super) fn names_within(texts: &[&str], folder: &Path) -> bool {
    mentions(texts, folder, |after| {
        let inner = after.strip_prefix('/');
        inner.is_some_and(|inner| {
            inner.starts_with(|c: char| c.is_alphanumeric() || "._-".contains(c))
        })
    })
}

fn mentions(texts: &[&str], path: &Path, fits: impl Fn(&str) -> bool) -> bool {
    let Some(path) = path.to_str().filter(|path| path.len() > 1) else {
        return false;
    };
    texts.iter().any(|text| {
        text.match_indices(path).any(|(at, _)| {
            let begins = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '/');
            begins && fits(&text[at + path.len()..])
        })
    })
}

/// The text goes on with a longer name: `/srv/data` is not `/srv/data2`, nor
/// `/srv/data/x`; a full stop or a colon behind it is punctuation.
fn continues_name(after: &str) -> bool {
    let mut chars = after.chars();
    match chars.next() {
        None => false,
        Some('.') => chars.next().is_some_and(char::is_alphanumeric),
        Some('/') => chars
            .next()
            .is_some_and(|c| !c.is_whitespace() && !"'\"`".contains(c)),
        Some(c) => c.is_alphanumeric() || c == '-' || c == '_',
    }
}

#[cfg(test)]
mod tests {
    use super::{names, names_below, normalise};
    use std::path::{Path, PathBuf};

    #[test]
    fn normalises_without_looking() {
        let cases = [("/a/./b/../c", "/a/c"), ("/../a", "/a"), ("/a//b/", "/a/b")];
        for (path, normal) in cases {
            assert_eq!(normalise(Path::new(path)), PathBuf::from(normal));
        }
    }

    #[test]
    fn a_path_is_named_as_a_whole() {
        let path = Path::new("/srv/data");
        for text in [
            "ENOENT: no such file or directory, stat '/srv/data'",
            "Error accessing directory /srv/data: ENOENT",
            "no /srv/data.",
            "/srv/data/",
            "/srv/data",
        ] {
            assert!(names(&[text], path), "{text}");
        }
        for text in [
            "/srv/data2",
            "/srv/data-x",
            "/srv/data.txt",
            "/srv/data/a.txt",
            "/mnt/srv/data",
            "/x/srv/data",
        ] {
            assert!(!names(&[text], path), "{text}");
        }
        assert!(names_below(&["open '/srv/data/a.txt'"], path));
        assert!(!names_below(&["open '/srv/data2/a.txt'"], path));
        assert!(!names(&["/"], Path::new("/")));
    }
}
