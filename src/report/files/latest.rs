//! `reports/latest`, which leads to the newest run.

use super::{ReportError, file_name};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

const LATEST: &str = "latest";

/// Points `reports/latest` at the run: a relative link, or a file with the
/// folder's name where links are impossible.
pub(super) fn point_at(reports: &Path, run: &Path) -> Result<(), ReportError> {
    let latest = reports.join(LATEST);
    let Some(target) = run.file_name() else {
        return Ok(());
    };
    // A link, and the file that stands for one, are ours to replace; what else
    // is there is a person's.
    let free = match fs::symlink_metadata(&latest) {
        Err(_) => true,
        Ok(meta) if meta.is_symlink() => {
            if fs::read_link(&latest).is_ok_and(|old| old.as_os_str() == target) {
                return Ok(());
            }
            true
        }
        Ok(meta) if meta.is_file() => is_pointer(reports, &latest),
        Ok(_) => false,
    };
    if !free {
        return Err(ReportError::LatestTaken { path: latest });
    }
    let result = link_latest(reports, &latest, Path::new(target)).or_else(|_| {
        let text = format!("{}\n", Path::new(target).display());
        let mut file = tempfile::NamedTempFile::new_in(reports)?;
        file.write_all(text.as_bytes())?;
        file.persist(&latest).map_err(|error| error.error)?;
        Ok(())
    });
    result.map_err(|source: io::Error| ReportError::Write {
        path: latest,
        source,
    })
}

/// A file that holds the name of a run's folder and nothing else.
fn is_pointer(reports: &Path, latest: &Path) -> bool {
    fs::metadata(latest).is_ok_and(|meta| meta.len() < 256)
        && fs::read_to_string(latest).is_ok_and(|text| {
            let name = text.trim_end();
            name == file_name(name) && reports.join(name).is_dir()
        })
}

#[cfg(unix)]
fn link_latest(reports: &Path, latest: &Path, target: &Path) -> io::Result<()> {
    // Renaming over the old link is atomic; making a link there is not.
    let beside = reports.join(format!(".{LATEST}-{}", target.display()));
    let _ = fs::remove_file(&beside);
    std::os::unix::fs::symlink(target, &beside)?;
    fs::rename(&beside, latest).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

#[cfg(not(unix))]
fn link_latest(_: &Path, _: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
