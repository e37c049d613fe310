//! A command with its arguments, each with where it comes from.

/// Where a word comes from: a value in `package_args`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// As it is written there.
    pub key: String,
    /// Of its list.
    pub index: Option<usize>,
}

/// One word of a command line, or the value of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    /// The definition says that it must not be shown.
    pub is_secret: bool,
    /// It is the value of a flag, so nothing can be read from it.
    pub of_flag: bool,
    /// Absent for what comes from the definition.
    pub from: Option<Origin>,
}

impl Piece {
    pub(super) fn fixed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_secret: false,
            of_flag: false,
            from: None,
        }
    }
}

/// How a package is started: argv only, never through a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub command: String,
    pub args: Vec<Piece>,
    /// Beside what is inherited.
    pub env: Vec<(String, Piece)>,
    /// What to call values that must not be shown, and these: parts of words
    /// and variables that are inherited too.
    pub secrets: Vec<(String, String)>,
    /// Where the started server is reached, if not by its pipes.
    pub url: Option<String>,
}
