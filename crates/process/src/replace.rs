//! A file that is replaced as a whole, with nothing left beside it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Replaces a file as a whole, so that whoever reads finds the old one or the
/// new one, also after a crash. Who calls holds the lock of [`lock_beside`]:
/// the new text stands in `PATH.new` until it takes its place.
///
/// On Linux, where the file system can hold a file without a name, it has one
/// only between two system calls: a writer that is killed leaves nothing but,
/// in that moment, a whole file, which the next writer removes.
///
/// [`lock_beside`]: crate::lock_beside
///
/// # Errors
/// The folder can't be written, or has no room.
pub fn replace_locked(path: &Path, text: &str) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut beside = path.as_os_str().to_os_string();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = write_beside(folder, &beside, path, text).and_then(|()| {
        fs::rename(&beside, path)?;
        // That it has this name now must outlive a crash too; a folder that
        // can't be opened for that is no reason to call the file unwritten.
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_beside(folder: &Path, beside: &Path, path: &Path, text: &str) -> io::Result<()> {
    let permissions = fs::metadata(path).map(|metadata| metadata.permissions());
    let fill = |file: &mut File| {
        if let Ok(permissions) = &permissions {
            file.set_permissions(permissions.clone())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    #[cfg(target_os = "linux")]
    if let Some(mut file) = nameless(folder) {
        fill(&mut file)?;
        if name(&file, beside).is_ok() {
            return Ok(());
        }
        // No /proc, or a file system that does not do it.
    }
    #[cfg(not(target_os = "linux"))]
    let _ = folder;
    fill(
        &mut OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(beside)?,
    )
}

/// A file without a name in this folder; none where it can't have one.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    Some(open(folder, flags, mode).ok()?.into())
}

#[cfg(target_os = "linux")]
fn name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(test)]
mod tests {
    use super::replace_locked;
    use std::fs;

    fn names(folder: &std::path::Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_file_is_replaced_whole_and_what_a_killed_writer_left_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.json");
        replace_locked(&path, "one").unwrap();
        fs::write(
            folder.path().join("store.json.new"),
            "of one that was killed",
        )
        .unwrap();
        replace_locked(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(names(folder.path()), ["store.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn the_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.json");
        fs::write(&path, "one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        replace_locked(&path, "two").unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn what_fails_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.json");
        // A folder in its place can't be replaced by a file.
        fs::create_dir(&path).unwrap();
        replace_locked(&path, "two").unwrap_err();
        assert_eq!(names(folder.path()), ["store.json"]);
    }
}
