//! Where the result goes: stdout, or a file that is replaced as a whole.

use super::files::temp_file_in;
use super::out::UntilClosed;
use jelly_base::files::{open_named, refuse_named_pipe};
use jelly_base::text::{Disarmer, Notation};
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Bytes that are written at a time.
const BUFFER: usize = 64 << 10;

/// Where a file is to be, links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    /// A pipe or a device, which nothing must be put in the place of.
    is_device: bool,
}

impl Place {
    /// Finds it, and makes its folder where that is missing.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn find(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(meta) if !meta.is_file() => {
                refuse_named_pipe(path, &meta)?;
                return Ok(Self::of(path));
            }
            Ok(_) | Err(_) => {}
        }
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            fs::create_dir_all(folder)?;
        }
        let place = Self::of(path);
        temp_file_in(place.folder(), ".writing-")?;
        Ok(place)
    }

    /// The place of a file that is there or not.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let is_device = fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
        // Behind a link, the file that it leads to is the one to be replaced.
        let path = path.canonicalize().unwrap_or_else(|_| {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok();
            let in_folder = folder.and_then(|folder| Some(folder.join(path.file_name()?)));
            in_folder.unwrap_or_else(|| path.to_owned())
        });
        Self { path, is_device }
    }

    /// Whether both are one file, by whatever name.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let id = |place: &Self| {
            let meta = fs::metadata(&place.path).ok()?;
            Some((meta.dev(), meta.ino()))
        };
        self.path == other.path || id(self).is_some_and(|own| Some(own) == id(other))
    }

    /// Takes away what lies there.
    ///
    /// # Errors
    /// It can't be removed.
    pub fn clear(&self) -> io::Result<()> {
        if self.is_device {
            return Ok(());
        }
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn folder(&self) -> &Path {
        let folder = self.path.parent();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new("."))
    }
}

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

    /// Opens a place that was found before.
    ///
    /// # Errors
    /// It can't be written there any more.
    pub fn at(place: &Place, notation: Option<Notation>) -> io::Result<Self> {
        Ok(Self {
            sink: Destination::at(place)?,
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
        match path {
            None => Ok(Self::stream(Box::new(io::stdout()))),
            Some(path) => Self::at(&Place::find(path)?),
        }
    }

    fn stream(out: Box<dyn Write>) -> Self {
        Self::Stream(BufWriter::with_capacity(BUFFER, UntilClosed(out)))
    }

    fn at(place: &Place) -> io::Result<Self> {
        if place.is_device {
            let device = open_named(&place.path, OpenOptions::new().write(true))?;
            return Ok(Self::stream(Box::new(device)));
        }
        let file = temp_file_in(place.folder(), ".writing-")?;
        Ok(Self::File {
            file: BufWriter::with_capacity(BUFFER, file),
            path: place.path.clone(),
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
        use std::io::Read;
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        // Nobody reads it, and nobody waits for that.
        assert!(Target::open(Some(&pipe), None).is_err());

        // As a shell hands it over.
        let (mut reader, writer) = std::io::pipe().unwrap();
        let over = format!("/dev/fd/{}", writer.as_raw_fd());
        let mut target = Target::open(Some(over.as_ref()), None).unwrap();
        target.write_all(b"through").unwrap();
        target.finish().unwrap();
        drop(writer);
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        assert_eq!(read, "through");

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
