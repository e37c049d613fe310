//! Where a reporter's bytes go, and what a command was called for.

use crate::cli::complain::complain;
use jelly_base::model::ExitCode;
use jelly_base::text::{Disarming, Notation};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// Stdout, as a CI may read it for commands.
pub type Stdout = Disarming<UntilClosed<io::Stdout>>;

/// Stdout for a text in this notation, from the beginning of a line.
pub fn stdout(notation: Notation) -> Stdout {
    Disarming::new(UntilClosed(io::stdout()), notation)
}

/// Stderr likewise, for people.
pub fn stderr() -> Disarming<UntilClosed<io::Stderr>> {
    Disarming::new(UntilClosed(io::stderr()), Notation::Plain)
}

/// Prints what a command was called for, and ends with `code`; what can't be
/// printed is never green.
pub fn say(text: impl AsRef<[u8]>, code: ExitCode) -> ExitCode {
    say_in(Notation::Plain, text, code)
}

/// As [`say`], for a text in this notation.
pub fn say_in(notation: Notation, text: impl AsRef<[u8]>, code: ExitCode) -> ExitCode {
    told(print_in(notation, text), code)
}

/// `code`, unless what was to be printed was not.
pub fn told(printed: io::Result<()>, code: ExitCode) -> ExitCode {
    match printed {
        Ok(()) => code,
        Err(error) => {
            complain(&format!("error: failed to write to stdout: {error}"));
            ExitCode::strongest([code, ExitCode::NeedsUserHelp])
        }
    }
}

/// Prints text for people, all of it. A closed pipe is the reader's wish.
///
/// # Errors
/// Stdout takes no more for another reason, as on a full disk.
pub fn print(text: impl AsRef<[u8]>) -> io::Result<()> {
    print_in(Notation::Plain, text)
}

/// As [`print`], for a text in this notation.
///
/// # Errors
/// As those of [`print`].
pub fn print_in(notation: Notation, text: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = stdout(notation);
    out.write_all(text.as_ref())?;
    out.finish()
}

/// Prints what is meant to be obeyed: jelly's own commands to a CI, scripts for
/// a shell.
///
/// # Errors
/// As those of [`print`].
pub fn print_as_is(text: impl AsRef<[u8]>) -> io::Result<()> {
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
    Now(Rc<RefCell<Stdout>>),
    Later(Rc<RefCell<Vec<u8>>>),
    Nowhere,
}

impl Out {
    pub fn now() -> Self {
        Self::Now(Rc::new(RefCell::new(stdout(Notation::Plain))))
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Now(out) => out.borrow_mut().write(bytes),
            Self::Later(buffer) => {
                buffer.borrow_mut().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            Self::Nowhere => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Now(out) => out.borrow_mut().flush(),
            Self::Later(_) | Self::Nowhere => Ok(()),
        }
    }
}
