//! Where the result goes: stdout, or a file that is replaced as a whole.

use crate::cli::files::temp_file_in;
use crate::cli::out::UntilClosed;
use jelly_base::text::{Disarmer, Notation};
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Bytes that are written at a time.
const BUFFER: usize = 64 << 10;

/// Takes the result; a file appears under its name only when it is whole.
pub struct Target {
    sink: Destination,
    /// None for commands to a CI.
    disarmer: Option<Disarmer>,
    ready: Vec<u8>,
}

enum Destination {
    /// Stdout, or a pipe or a device, which nothing must be put in the place of.
    Stream(BufWriter<UntilClosed<Box<dyn Write>>>),
    File {
        file: BufWriter<NamedTempFile>,
        path: PathBuf,
    },
}

impl Target {
    /// Opens it before the slow work, so that a folder that can't be written
    /// is known at once. Without a notation, what is written is to be obeyed.
    ///
    /// # Errors
    /// The folder can't be written.
    pub fn open(path: Option<&Path>, notation: Option<Notation>) -> io::Result<Self> {
        Ok(Self {
            sink: Destination::open(path)?,
            disarmer: notation.map(Disarmer::new),
            ready: Vec::new(),
        })
    }

    /// Puts what was written in its place.
    ///
    /// # Errors
    /// The rest can't be written, or the file not be put there.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(disarmer) = &mut self.disarmer {
            self.ready.clear();
            disarmer.finish(&mut self.ready);
            self.sink.writer().write_all(&self.ready)?;
        }
        self.sink.finish()
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(disarmer) = &mut self.disarmer else {
            return self.sink.writer().write(bytes);
        };
        self.ready.clear();
        disarmer.push(bytes, &mut self.ready);
        self.sink.writer().write_all(&self.ready)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.writer().flush()
    }
}

impl Destination {
    fn open(path: Option<&Path>) -> io::Result<Self> {
        let stream =
            |out: Box<dyn Write>| Self::Stream(BufWriter::with_capacity(BUFFER, UntilClosed(out)));
        let Some(path) = path else {
            return Ok(stream(Box::new(io::stdout())));
        };
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(meta) if !meta.is_file() => {
                let device = OpenOptions::new().write(true).open(path)?;
                return Ok(stream(Box::new(device)));
            }
            Ok(_) | Err(_) => {}
        }
        // Behind a link, the file that it leads to is the one to be replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            Some(_) | None => Path::new("."),
        };
        fs::create_dir_all(folder)?;
        let file = temp_file_in(folder, ".writing-")?;
        Ok(Self::File {
            file: BufWriter::with_capacity(BUFFER, file),
            path,
        })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Stream(out) => out,
            Self::File { file, .. } => file,
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Stream(mut out) => out.flush(),
            Self::File { file, path } => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.persist(path).map_err(|error| error.error)?;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Target;
    use std::fs;
    use std::io::Write;

    #[test]
    fn a_file_appears_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/out.json");
        let mut target = Target::open(Some(&path), None).unwrap();
        target.write_all(b"half").unwrap();
        assert!(!path.exists());
        target.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"half");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_put_in_the_place_of_a_pipe_or_a_link() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read(pipe).unwrap())
        };
        let mut target = Target::open(Some(&pipe), None).unwrap();
        target.write_all(b"through").unwrap();
        target.finish().unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());

        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        let mut target = Target::open(Some(&link), None).unwrap();
        target.write_all(b"new").unwrap();
        target.finish().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Target::open(Some(folder.path()), None).is_err());
    }
}
