//! Opening files that somebody named: nothing there keeps jelly waiting.
//!
//! To open a named pipe waits for whoever opens its other end, and to read one, or a
//! device, for whoever writes: that may be nobody. What a shell hands over, as
//! `/dev/stdin` or the `/dev/fd/63` of a `<(…)`, has somebody at its other end.

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path};

/// Opens a file to read it.
///
/// # Errors
/// It can't be opened, or is a named pipe or a device.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    let file = open_named(path, OpenOptions::new().read(true))?;
    if is_device(path, &file.metadata()?) {
        return Err(io::Error::other("it is a device, and no file"));
    }
    Ok(file)
}

/// What a file holds, up to one byte more than `max`.
///
/// # Errors
/// It can't be read, or is a named pipe or a device.
pub fn read_up_to(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_to_read(path)?;
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file with these options; a device may be written to.
///
/// # Errors
/// It can't be opened, or is a named pipe.
pub fn open_named(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Looked at before, since whoever waits for a reader would take the opening for one.
    if let Ok(there) = path.metadata() {
        refuse_named_pipe(path, &there)?;
    }
    let no_wait = OFlags::NONBLOCK;
    let file = options
        .custom_flags(no_wait.bits().cast_signed())
        .open(path)?;
    // Another one may lie there by now.
    refuse_named_pipe(path, &file.metadata()?)?;
    let flags = fcntl_getfl(&file)?;
    fcntl_setfl(&file, flags.difference(no_wait))?;
    Ok(file)
}

/// Begins a file anew, or writes to what stands there and is none.
///
/// # Errors
/// It can't be opened, or is a named pipe.
pub fn create_named(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    open_named(path, options.write(true).create(true).truncate(true))
}

/// # Errors
/// What lies there is a named pipe, which nobody need ever open at its other end.
pub fn refuse_named_pipe(path: &Path, there: &Metadata) -> io::Result<()> {
    if there.file_type().is_fifo() && !is_handed_over(path) {
        return Err(io::Error::other("it is a named pipe, and no file"));
    }
    Ok(())
}

/// Whether it may be read for ever. `/dev/null` stands for an empty file.
fn is_device(path: &Path, there: &Metadata) -> bool {
    let kind = there.file_type();
    let is_null = || {
        Path::new("/dev/null")
            .metadata()
            .is_ok_and(|null| null.rdev() == there.rdev())
    };
    (kind.is_char_device() || kind.is_block_device()) && !is_handed_over(path) && !is_null()
}

/// Whether a path leads to what is open in this process already.
fn is_handed_over(path: &Path) -> bool {
    let names: Vec<&str> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    path.is_absolute()
        && matches!(
            names.as_slice(),
            ["dev", "stdin" | "stdout" | "stderr"] | ["dev", "fd", _] | ["proc", _, "fd", _]
        )
}

#[cfg(test)]
mod tests {
    use super::{is_handed_over, open_named, open_to_read, read_up_to};
    use std::fs::OpenOptions;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    #[test]
    fn what_could_keep_its_reader_or_writer_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (file, pipe) = (folder.path().join("file"), folder.path().join("pipe"));
        std::fs::write(&file, "four").unwrap();
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert_eq!(read_up_to(&file, 2).unwrap(), b"fou");
        let refused = |error: std::io::Result<_>| error.unwrap_err().to_string();
        let named = "it is a named pipe, and no file";
        assert_eq!(refused(open_to_read(&pipe)), named);
        for options in [
            OpenOptions::new().write(true),
            OpenOptions::new().append(true).create(true),
        ] {
            assert_eq!(refused(open_named(&pipe, options)), named);
        }
        assert!(refused(open_to_read(Path::new("/dev/zero"))).contains("device"));
        assert_eq!(read_up_to(Path::new("/dev/null"), 9).unwrap(), b"");
        let null = open_named(Path::new("/dev/null"), OpenOptions::new().write(true));
        assert!(null.is_ok());
    }

    #[test]
    fn what_a_shell_hands_over_is_read_to_its_end() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        rustix::io::write(&write, b"over").unwrap();
        let path = format!("/dev/fd/{}", read.as_raw_fd());
        let reader = std::thread::spawn(move || read_up_to(Path::new(&path), 9).unwrap());
        // It waits for what is still to come.
        rustix::io::write(&write, b"more").unwrap();
        drop(write);
        assert_eq!(reader.join().unwrap(), b"overmore");
        for path in ["/dev/fd/3", "/proc/12/fd/3", "/dev/stdin"] {
            assert!(is_handed_over(Path::new(path)), "{path}");
        }
        for path in ["dev/fd/3", "/dev/fd", "/tmp/dev/stdin", "/dev/null"] {
            assert!(!is_handed_over(Path::new(path)), "{path}");
        }
    }
}
