//! A tiny file server below one directory, for the quick start.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// What a client wants of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRequest<'a> {
    Write {
        path: &'a str,
        content: &'a str,
    },
    Read {
        path: &'a str,
    },
    List,
    /// Removes what this process wrote, and the directory once it is empty.
    CleanUp,
}

/// Serves one request; `written` remembers what this process created.
///
/// # Errors
/// A sentence for the client.
pub fn serve(
    root: &Path,
    request: FileRequest<'_>,
    written: &mut BTreeSet<PathBuf>,
) -> Result<String, String> {
    match request {
        FileRequest::Write { path, content } => {
            let target = below(root, path)?;
            std::fs::write(&target, content).map_err(|e| format!("can't write {path}: {e}"))?;
            written.insert(target);
            Ok(format!(
                "Successfully wrote {} to {path}",
                jelly_base::text::plural(content.len() as u64, "byte")
            ))
        }
        FileRequest::Read { path } => std::fs::read_to_string(below(root, path)?)
            .map_err(|e| format!("can't read {path}: {e}")),
        FileRequest::List => {
            let mut names = std::fs::read_dir(root)
                .and_then(|entries| {
                    entries
                        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                        .collect::<Result<Vec<String>, std::io::Error>>()
                })
                .map_err(|e| format!("can't list {}: {e}", root.display()))?;
            names.sort_unstable();
            Ok(names.join("\n"))
        }
        FileRequest::CleanUp => {
            let mut removed = 0_u64;
            for path in std::mem::take(written) {
                std::fs::remove_file(&path)
                    .map_err(|e| format!("can't remove {}: {e}", path.display()))?;
                removed += 1;
            }
            // Somebody else's files keep the directory; that is no error.
            let kept = std::fs::remove_dir(root).is_err();
            Ok(format!(
                "Removed {}{}",
                jelly_base::text::plural(removed, "file"),
                if kept { "" } else { " and the directory" }
            ))
        }
    }
}

/// The path below the root, be it given relative to it or absolute; never one
/// that leads out of it, by dots or by symbolic links.
fn below(root: &Path, path: &str) -> Result<PathBuf, String> {
    let refused = || format!("path {path} is outside of {}", root.display());
    let given = Path::new(path);
    let relative = if given.is_absolute() {
        let absolute = std::path::absolute(root).map_err(|e| e.to_string())?;
        given
            .strip_prefix(&absolute)
            .map_err(|_| refused())?
            .to_owned()
    } else {
        given.to_owned()
    };
    let plain = relative
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !plain || relative.as_os_str().is_empty() {
        return Err(refused());
    }
    let target = root.join(&relative);
    let real_root = root
        .canonicalize()
        .map_err(|e| format!("can't open {}: {e}", root.display()))?;
    // The nearest part that exists tells where the path really leads.
    let nearest = target
        .ancestors()
        .find_map(|part| part.canonicalize().ok())
        .ok_or_else(refused)?;
    if target.is_symlink() || !nearest.starts_with(&real_root) {
        return Err(refused());
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::{FileRequest, serve};
    use std::collections::BTreeSet;

    #[test]
    fn a_file_is_written_listed_read_and_cleaned_up_with_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("data");
        std::fs::create_dir(&root).unwrap();
        let mut written = BTreeSet::new();
        let mut ask = |request| serve(&root, request, &mut written);
        let absolute = root.join("b.txt").to_string_lossy().into_owned();

        let said = ask(FileRequest::Write {
            path: "a.txt",
            content: "hello",
        });
        assert_eq!(said.unwrap(), "Successfully wrote 5 bytes to a.txt");
        ask(FileRequest::Write {
            path: &absolute,
            content: "x",
        })
        .unwrap();
        assert_eq!(ask(FileRequest::List).unwrap(), "a.txt\nb.txt");
        assert_eq!(ask(FileRequest::Read { path: "a.txt" }).unwrap(), "hello");
        assert_eq!(
            ask(FileRequest::CleanUp).unwrap(),
            "Removed 2 files and the directory"
        );
        assert!(!root.exists());
    }

    #[test]
    fn cleaning_up_leaves_what_others_wrote() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("theirs"), "").unwrap();
        let mut written = BTreeSet::new();
        let said = serve(dir.path(), FileRequest::CleanUp, &mut written).unwrap();
        assert_eq!(said, "Removed 0 files");
        assert!(dir.path().join("theirs").exists());
    }

    #[test]
    fn no_path_leads_out_of_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("data");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(dir.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink(dir.path(), root.join("up")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), root.join("link")).unwrap();
        let mut written = BTreeSet::new();
        for path in ["../secret", "/etc/passwd", "up/secret", "link", "", "."] {
            let said = serve(&root, FileRequest::Read { path }, &mut written);
            assert!(said.is_err(), "{path}: {said:?}");
        }
    }
}
