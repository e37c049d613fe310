//! What is said where a command can't do what it is for.
//!
//! Main type: [`Refusal`].

use jelly_base::model::ExitCode;
use jelly_base::text::redact::Redactor;
use jelly_base::text::{Notation, disarmed};
use std::fmt::Display;
use std::io::{self, Write};

/// Why a command ends before it has done what it is for.
#[derive(Debug)]
pub struct Refusal {
    code: ExitCode,
    /// As it is printed; nothing where there is nothing to say.
    text: Option<String>,
    /// What is wrong and what would help, where that is said apart.
    parts: Option<(String, String)>,
}

impl Refusal {
    pub fn new(code: ExitCode, text: impl Into<String>) -> Self {
        Self {
            code,
            text: Some(text.into()),
            parts: None,
        }
    }

    /// What is wrong, and what would help where that is said apart.
    pub fn parts(&self) -> Option<(&str, Option<&str>)> {
        match &self.parts {
            Some((what, next)) => Some((what, Some(next))),
            None => Some((self.text.as_deref()?, None)),
        }
    }

    /// What was typed, or what it names, can't be used.
    pub fn invalid(text: impl Into<String>) -> Self {
        Self::new(ExitCode::InvalidInput, text)
    }

    /// The same, with what would help.
    pub fn with_help(what: impl Display, next: impl Display) -> Self {
        Self {
            parts: Some((what.to_string(), next.to_string())),
            ..Self::invalid(format!("error: {what}\nhelp: {next}"))
        }
    }

    /// What was asked for can't be done as things are.
    pub fn needs_help(text: impl Into<String>) -> Self {
        Self::new(ExitCode::NeedsUserHelp, text)
    }

    /// jelly itself is at fault.
    pub fn fault(message: &str) -> Self {
        Self::new(ExitCode::Internal, format!("jelly: {message}"))
    }

    /// With what is secret in it hidden.
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        let clean = |text: String| redactor.redact(&text).into_owned();
        self.text = self.text.map(clean);
        self.parts = self.parts.map(|(what, next)| (clean(what), clean(next)));
        self
    }

    /// Nobody has to be told why, as after a signal.
    pub fn silent(code: ExitCode) -> Self {
        Self {
            code,
            text: None,
            parts: None,
        }
    }

    /// With what else is refused.
    pub fn and(mut self, other: Result<(), Self>) -> Self {
        let other = other.err().and_then(|other| other.text);
        if let (Some(text), Some(other)) = (&mut self.text, other) {
            text.push('\n');
            text.push_str(&other);
            self.parts = None;
        }
        self
    }

    /// Says it; what the command ends with.
    pub fn tell(self) -> ExitCode {
        if let Some(text) = &self.text {
            complain(text);
        }
        self.code
    }
}

/// To stderr; where that is closed there is nobody left to tell.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{}", disarmed(text, Notation::Plain));
}
