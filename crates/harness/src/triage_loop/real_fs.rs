//! The file system as repairs ask about it.

use crate::repair::{FsFacts, PathKind};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// So much of a file is searched, in bytes.
const MAX_READ: u64 = 16 << 20;

/// The machine's own file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealFs;

impl FsFacts for RealFs {
    fn kind(&self, path: &Path) -> PathKind {
        match std::fs::metadata(path) {
            Err(_) => PathKind::Missing,
            Ok(meta) if meta.is_dir() => PathKind::Dir {
                writable: is_writable(path),
            },
            Ok(_) => PathKind::File,
        }
    }

    fn mentions(&self, path: &Path, texts: &[&str]) -> bool {
        mentions(path, texts)
    }

    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        // Climb to what exists, resolve that, and put the rest back; a rest
        // with `..` in it can't be told without what it leads through.
        let mut rest: Vec<OsString> = Vec::new();
        let mut base = path.to_path_buf();
        loop {
            match std::fs::canonicalize(&base) {
                Ok(real) => {
                    let mut resolved = real;
                    resolved.extend(rest.iter().rev());
                    return Some(resolved);
                }
                // A link that leads nowhere is there, and yet can't be
                // resolved: whoever created its target would leave the folder.
                Err(_) if base.symlink_metadata().is_ok() => return None,
                Err(_) => match base.components().next_back()? {
                    Component::Normal(name) => {
                        rest.push(name.to_owned());
                        if !base.pop() {
                            return None;
                        }
                    }
                    _ => return None,
                },
            }
        }
    }
}

/// Whether the file holds one of the texts, in its first bytes at least; more
/// than those are taken to hold anything.
fn mentions(path: &Path, texts: &[&str]) -> bool {
    // What is no file may never end.
    if !path.is_file() {
        return false;
    }
    let Ok(file) = std::fs::File::open(path) else {
        return false;
    };
    let mut bytes = Vec::new();
    let read = file.take(MAX_READ + 1).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    read.is_err()
        || bytes.len() as u64 > MAX_READ
        || texts.iter().any(|wanted| text.contains(wanted))
}

#[cfg(unix)]
fn is_writable(path: &Path) -> bool {
    rustix::fs::access(
        path,
        rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK,
    )
    .is_ok()
}

#[cfg(not(unix))]
fn is_writable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| !meta.permissions().readonly())
}

#[cfg(test)]
mod tests {
    use super::RealFs;
    use crate::repair::{FsFacts, PathKind};

    #[test]
    fn tells_files_folders_and_nothing_apart() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), "x").unwrap();
        assert_eq!(RealFs.kind(dir.path()), PathKind::Dir { writable: true });
        assert_eq!(RealFs.kind(&dir.path().join("f")), PathKind::File);
        assert_eq!(RealFs.kind(&dir.path().join("no")), PathKind::Missing);
    }

    #[test]
    fn what_a_file_mentions_is_searched_for() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "in /srv/data/a").unwrap();
        assert!(RealFs.mentions(&file, &["/x", "/srv/data"]));
        assert!(!RealFs.mentions(&file, &["/srv/other"]));
        assert!(!RealFs.mentions(&dir.path().join("no"), &["/srv"]));
    }

    #[test]
    fn resolves_links_above_what_does_not_exist_yet() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("there")).unwrap();
        std::os::unix::fs::symlink(real.join("there"), real.join("link")).unwrap();
        assert_eq!(
            RealFs.resolve(&real.join("link/a/b")),
            Some(real.join("there/a/b"))
        );
    }

    #[test]
    fn a_link_that_leads_nowhere_has_no_place() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", dir.path().join("link")).unwrap();
        assert_eq!(RealFs.resolve(&dir.path().join("link/a")), None);
    }
}
