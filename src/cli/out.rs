//! Where a reporter's bytes go, and what a command was called for.

use super::refusal::Refusal;
use jelly_base::model::ExitCode;
use jelly_base::text::{Disarming, Notation};
use serde::Serialize;
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
pub fn say(text: impl AsRef<[u8]>, code: ExitCode) -> Result<ExitCode, Refusal> {
    unless_unsaid(print(text), code)
}

/// As [`say`], for a value as JSON.
pub fn say_json(value: &impl Serialize, code: ExitCode) -> Result<ExitCode, Refusal> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::from);
    let printed = text.and_then(|text| print_in(Notation::Json, text + "\n"));
    unless_unsaid(printed, code)
}

/// `code`, unless what was to be printed was not.
pub fn unless_unsaid(printed: io::Result<()>, code: ExitCode) -> Result<ExitCode, Refusal> {
    printed.map(|()| code).map_err(|error| {
        Refusal::new(
            ExitCode::strongest([code, ExitCode::NeedsUserHelp]),
            format!("error: failed to write to stdout: {error}"),
        )
    })
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
