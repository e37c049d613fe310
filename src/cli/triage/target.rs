//! Where the result goes: stdout, or a file that is replaced as a whole.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Bytes that are written at a time.
const BUFFER: usize = 64 << 10;

/// Takes the result; a file appears under its name only when it is whole.
pub enum Target {
    Stdout(BufWriter<io::Stdout>),
    File {
        file: BufWriter<NamedTempFile>,
        path: PathBuf,
    },
}

impl Target {
    /// Opens it before the slow work, so that a folder that can't be written
    /// is known at once.
    ///
    /// # Errors
    /// The folder can't be written.
    pub fn open(path: Option<&Path>) -> io::Result<Self> {
        let Some(path) = path else {
            return Ok(Self::Stdout(BufWriter::with_capacity(BUFFER, io::stdout())));
        };
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            Some(_) | None => Path::new("."),
        };
        fs::create_dir_all(folder)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".writing-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // For others to read, as far as the umask allows.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder)?;
        Ok(Self::File {
            file: BufWriter::with_capacity(BUFFER, file),
            path: path.to_owned(),
        })
    }

    /// Puts what was written in its place.
    ///
    /// # Errors
    /// The rest can't be written, or the file not be put there.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Stdout(mut out) => out.flush(),
            Self::File { file, path } => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.persist(path).map_err(|error| error.error)?;
                Ok(())
            }
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File { file, .. } => file.flush(),
        }
    }
}
