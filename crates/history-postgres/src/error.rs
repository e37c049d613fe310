//! What a database answers, in words.

use jelly_base::text::redact::Redactor;
use jelly_base::text::{one_line, sanitize};
use jelly_triage::history::HistoryError;
use std::error::Error;
use std::time::Duration;
use thiserror::Error;
use tokio_postgres::error::SqlState;

/// Longer words of a server are cut when they are shown.
const SAID_MAX: usize = 300;
/// And until then, so that no secret is cut in two before it is looked for.
const KEPT_MAX: usize = 64 * SAID_MAX;

/// Why a database was not used. Each completes a sentence that names it.
#[derive(Debug, Clone, Error)]
pub enum DatabaseError {
    #[error("{0}")]
    Unreachable(String),

    #[error("{0}; the password comes from PGPASSWORD or a password file")]
    WrongPassword(String),

    #[error("{0}; docs/history.md lists what a role has to be granted")]
    NotPermitted(String),

    #[error("it did not answer within {} s", .0.as_secs_f64())]
    TooSlow(Duration),

    #[error("it took {} s in all, and is not asked any more", .0.as_secs())]
    Tiresome(Duration),

    #[error("a signal came while it was waited for")]
    Interrupted,

    #[error(
        "it holds no tables of jelly; `jelly history migrate` with the same --history makes them"
    )]
    NotMigrated,

    #[error(
        "its tables are of version {found}, which only versions of jelly can use that know \
         version {oldest} or later; this one knows {known}: install a later jelly"
    )]
    Newer { found: i32, oldest: i32, known: i32 },

    #[error(
        "its tables are of version {found}, and this jelly writes version {known}; \
         `jelly history migrate` with the same --history brings them up to date"
    )]
    Older { found: i32, known: i32 },

    #[error("{0}")]
    Refused(String),

    #[error("{0}")]
    Odd(String),
}

impl DatabaseError {
    /// Whether the next question would end alike.
    pub(crate) fn is_lasting(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::WrongPassword(_)
            | Self::TooSlow(_)
            | Self::Tiresome(_)
            | Self::Interrupted
            | Self::NotMigrated
            | Self::Newer { .. }
            | Self::Older { .. } => true,
            Self::NotPermitted(_) | Self::Refused(_) | Self::Odd(_) => false,
        }
    }

    /// As it may be shown: without the password, in whatever form a server that was
    /// told it says it again, and no longer than a person reads.
    pub(crate) fn shown(self, password: Option<&[u8]>) -> Self {
        let password = password.map(String::from_utf8_lossy);
        let redactor = Redactor::new(password.map(|password| ("PGPASSWORD", password)));
        let shown = |said: String| redactor.cut(&said, SAID_MAX);
        match self {
            Self::Unreachable(said) => Self::Unreachable(shown(said)),
            Self::WrongPassword(said) => Self::WrongPassword(shown(said)),
            Self::NotPermitted(said) => Self::NotPermitted(shown(said)),
            Self::Refused(said) => Self::Refused(shown(said)),
            Self::Odd(said) => Self::Odd(shown(said)),
            Self::TooSlow(_)
            | Self::Tiresome(_)
            | Self::Interrupted
            | Self::NotMigrated
            | Self::Newer { .. }
            | Self::Older { .. } => self,
        }
    }

    pub(crate) fn in_history(self, task: &'static str, name: &str) -> HistoryError {
        HistoryError::Store {
            task,
            name: name.to_owned(),
            why: self.to_string(),
        }
    }
}

/// Of a connection that did not come about.
pub(crate) fn unconnected(error: &tokio_postgres::Error) -> DatabaseError {
    match error.as_db_error().map(|said| said.code()) {
        Some(code) if *code == SqlState::INVALID_PASSWORD => {
            DatabaseError::WrongPassword(said_of(error))
        }
        Some(_) => DatabaseError::Unreachable(said_of(error)),
        None => DatabaseError::Unreachable(format!("no connection: {}", said_of(error))),
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        let said = said_of(&error);
        let Some(code) = error.code() else {
            return Self::Unreachable(format!("the connection was lost: {said}"));
        };
        if *code == SqlState::INSUFFICIENT_PRIVILEGE {
            return Self::NotPermitted(said);
        }
        if [
            SqlState::UNDEFINED_TABLE,
            SqlState::INVALID_SCHEMA_NAME,
            SqlState::UNDEFINED_FUNCTION,
        ]
        .contains(code)
        {
            return Self::NotMigrated;
        }
        // The server is going away: of class 57P.
        if code.code().starts_with("57P") {
            return Self::Unreachable(said);
        }
        Self::Refused(said)
    }
}

/// An error with its causes, in one line; what a server says is not to be trusted.
fn said_of(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return sanitize(&one_line(said.message(), KEPT_MAX)).into_owned();
    }
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let text = next.to_string();
        if !said.contains(&text) {
            said.push_str(": ");
            said.push_str(&text);
        }
        cause = next.source();
    }
    sanitize(&one_line(&said, KEPT_MAX)).into_owned()
}
