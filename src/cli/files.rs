//! Files that are read whole, and may not be huge; files that are written whole.

use jelly_base::files::open_to_read;
use std::io::{self, Read};
use std::path::Path;
use tempfile::NamedTempFile;

/// The text of a file of at most `max` bytes.
///
/// # Errors
/// It can't be read, is longer, no UTF-8 text, or a named pipe or a device, which
/// may never end.
pub fn text_within(path: &Path, max: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = open_to_read(path)?
        .take(max + 1)
        .read_to_string(&mut text)?;
    if read as u64 > max {
        return Err(io::Error::other(format!("it has more than {max} bytes")));
    }
    Ok(text)
}

/// A file that is to take its place in the folder when it is whole, for others
/// to read as far as the umask allows.
///
/// # Errors
/// The folder can't be written.
pub fn temp_file_in(folder: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.prefix(prefix).tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::text_within;
    use std::path::Path;

    #[test]
    fn what_is_too_long_or_never_ends_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        std::fs::write(&file, "four").unwrap();
        assert_eq!(text_within(&file, 4).unwrap(), "four");
        let long = text_within(&file, 3).unwrap_err().to_string();
        assert_eq!(long, "it has more than 3 bytes");
        assert!(text_within(Path::new("/dev/zero"), 3).is_err());
        assert!(text_within(folder.path(), 3).is_err());
    }
}
