//! Where a reporter's bytes go, and what a command was called for.

use crate::cli::complain::complain;
use jelly_base::model::ExitCode;
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// Prints what a command was called for, and ends with `code`; what can't be
/// printed is never green.
pub fn say(text: impl AsRef<[u8]>, code: ExitCode) -> ExitCode {
    match print(text) {
        Ok(()) => code,
        Err(error) => {
            complain(&format!("error: failed to write to stdout: {error}"));
            ExitCode::strongest([code, ExitCode::NeedsUserHelp])
        }
    }
}

/// Prints it, all of it. A closed pipe is the reader's wish.
///
/// # Errors
/// Stdout takes no more for another reason, as on a full disk.
pub fn print(text: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = UntilClosed(io::stdout());
    out.write_all(text.as_ref()).and_then(|()| out.flush())
}

/// Writes on after the reader has closed its end: whoever reads no further has
/// seen enough, and that changes nothing about how a command ends. Any other
/// error is one.
#[derive(Debug)]
pub struct UntilClosed<W>(pub W);

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// Where a reporter writes: at once for one plan, later for several.
#[derive(Clone)]
pub enum Out {
    Now,
    Later(Rc<RefCell<Vec<u8>>>),
    Nowhere,
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Now => UntilClosed(io::stdout()).write(bytes),
            Self::Later(buffer) => {
                buffer.borrow_mut().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            Self::Nowhere => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Now => UntilClosed(io::stdout()).flush(),
            Self::Later(_) | Self::Nowhere => Ok(()),
        }
    }
}
