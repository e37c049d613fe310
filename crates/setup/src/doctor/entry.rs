//! What a configuration says, with places.

use super::clients::Client;
use jelly_base::model::Finding;
use std::fmt;
use std::path::PathBuf;

/// Line and column, 1-based; columns count characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

/// A limit that a server's entry sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnLimit {
    pub millis: u64,
    pub place: Place,
}

/// A text, and where it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spot {
    pub text: String,
    pub place: Place,
    /// Its client fills no blanks in it: a server gets it as it is written.
    pub is_literal: bool,
}

impl AsRef<str> for Spot {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// As it was named or found.
    pub path: PathBuf,
    pub client: Client,
    pub entries: Vec<Entry>,
    /// What VS Code asks its user for.
    pub inputs: Vec<Input>,
    /// Whether one of the keys was there that servers stand under; a file
    /// without may be of the client all the same.
    pub has_servers_key: bool,
}

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub place: Place,
    pub disabled: bool,
    /// A part of the client, or of an extension of it, which nobody else can start.
    pub is_built_in: bool,
    /// Absent where the entry does not say it, which is a flaw then.
    pub reached: Option<Reached>,
    /// Where its `type` says that it is reached by the transport of old, a stream
    /// of events that a GET opens.
    pub says_sse: Option<Place>,
    /// How long the client is to wait for it, where the entry says it.
    pub own_limit: Option<OwnLimit>,
    /// What of it can't be meant.
    pub flaws: Vec<Finding>,
    /// Variables whose values its client keeps where jelly does not read them.
    pub kept: Vec<String>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reached {
    Command {
        command: Spot,
        args: Vec<Spot>,
        env: Vec<(String, Spot)>,
        cwd: Option<Spot>,
        /// A file of `NAME=value` lines.
        env_file: Option<Spot>,
    },
    Url {
        url: Spot,
        headers: Vec<(String, Spot)>,
    },
}

/// A value that VS Code asks its user for, once, and keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Input {
    pub id: String,
    pub description: Option<String>,
    pub default: Option<String>,
    /// Not to be shown while it is typed, nor afterwards.
    pub password: bool,
    /// Of which one is to be picked; any text where there are none.
    pub options: Vec<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Config {
    /// `file:line:column`.
    #[must_use]
    pub fn at(&self, place: Place) -> String {
        format!("{}:{place}", self.path.display())
    }
}

impl Entry {
    /// All texts in which blanks may stand.
    pub fn spots(&self) -> impl Iterator<Item = &Spot> {
        let (mut one, mut lists) = (Vec::new(), Vec::new());
        match &self.reached {
            Some(Reached::Command {
                command,
                args,
                env,
                cwd,
                env_file,
            }) => {
                one.push(command);
                one.extend(args);
                one.extend(cwd);
                one.extend(env_file);
                lists.extend(env);
            }
            Some(Reached::Url { url, headers }) => {
                one.push(url);
                lists.extend(headers);
            }
            None => {}
        }
        one.into_iter()
            .chain(lists.into_iter().map(|(_, spot)| spot))
    }
}
