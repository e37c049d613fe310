//! What may be written over: the one rule for all files that a call writes
//! under a name that a person chose. A file that is there and that jelly did
//! not write stays as it is.

use super::refusal::Refusal;
use super::target::Place;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Of a longer file only so much is looked at.
const LOOKED_AT: u64 = 64 << 20;

/// What else a call reads or writes: what it is, and where.
pub type Taken<'p> = (&'static str, &'p Path);

/// Why `path` can't be written, in words that follow a colon: the call needs
/// what is there, or somebody else wrote it. `is_own` tells what jelly writes
/// there; an empty file is as good as none.
pub fn kept_file(
    path: &Path,
    taken: &[Taken<'_>],
    kind: &str,
    is_own: impl FnOnce(&str) -> bool,
) -> Option<String> {
    let place = Place::of(path);
    let read = taken.iter().find(|(_, path)| place.is(&Place::of(path)));
    if let Some((what, path)) = read {
        return Some(format!("{} is {what} of this call", path.display()));
    }
    match look(path) {
        Ok(text) if text.trim().is_empty() || is_own(&text) => None,
        Ok(_) => Some(format!(
            "the file exists and is not {kind} that jelly wrote, so it is kept; delete it if it \
             may be replaced"
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(format!("the file exists and can't be read: {error}")),
    }
}

/// The same as what ends the call; for `-o`.
///
/// # Errors
/// The file is kept.
pub fn refuse_kept(
    path: &Path,
    taken: &[Taken<'_>],
    kind: &str,
    is_own: impl FnOnce(&str) -> bool,
) -> Result<(), Refusal> {
    match kept_file(path, taken, kind, is_own) {
        None => Ok(()),
        Some(why) => Err(Refusal::invalid(format!(
            "error: --output {}: {why}\nhelp: name another file",
            path.display()
        ))),
    }
}

fn look(path: &Path) -> io::Result<String> {
    let meta = path.metadata()?;
    // Nothing is put in the place of a pipe or a device, and a folder is told
    // as one.
    if !meta.is_file() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LOOKED_AT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::kept_file;
    use std::fs;

    #[test]
    fn only_what_jelly_wrote_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let kept = |taken: &[super::Taken<'_>]| {
            kept_file(&file, taken, "a report", |text| text.starts_with("own"))
        };
        assert_eq!(kept(&[]), None, "there is none");
        for (text, is_kept) in [("", false), ("\n", false), ("own 1", false), ("mine", true)] {
            fs::write(&file, text).unwrap();
            assert_eq!(kept(&[]).is_some(), is_kept, "{text:?}");
        }
        fs::write(&file, b"\xff\xfe").unwrap();
        assert!(kept(&[]).is_some(), "bytes of any kind");
        fs::write(&file, "own").unwrap();
        let why = kept(&[("a plan", &file)]).unwrap();
        assert!(why.ends_with("is a plan of this call"), "{why}");
    }
}
