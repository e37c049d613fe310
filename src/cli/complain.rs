//! What is said where a command can't do what it is for.

use jelly_base::model::ExitCode;
use jelly_base::text::{Notation, disarmed};
use std::io::{self, Write};

/// Says that jelly itself is at fault.
pub fn fault(message: &str) -> ExitCode {
    complain(&format!("jelly: {message}"));
    ExitCode::Internal
}

/// To stderr; where that is closed there is nobody left to tell.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{}", disarmed(text, Notation::Plain));
}
