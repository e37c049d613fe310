//! A step of advice, as a value.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What begins a command where it is printed.
const PROMPT: &str = "$ ";

/// What a person does with a [`Fix`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum FixKind {
    /// Reads it.
    #[default]
    Text,
    /// Pastes it into a shell.
    Command,
    /// Pastes it into a client's configuration: members of a server's entry.
    Member,
}

/// One step of a fix. Published documents hold the line that is printed, from
/// which an id can't be read back, and a member is read as a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Fix {
    /// By which a better step takes the place of this one; most have none.
    pub id: Option<Arc<str>>,
    pub kind: FixKind,
    /// Of a command, without the `$ ` before it.
    pub text: String,
}

impl Fix {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(FixKind::Text, text)
    }

    #[must_use]
    pub fn command(command: impl Into<String>) -> Self {
        Self::new(FixKind::Command, command)
    }

    #[must_use]
    pub fn member(member: impl Into<String>) -> Self {
        Self::new(FixKind::Member, member)
    }

    fn new(kind: FixKind, text: impl Into<String>) -> Self {
        Self {
            id: None,
            kind,
            text: text.into(),
        }
    }

    #[must_use]
    pub fn is_command(&self) -> bool {
        self.kind == FixKind::Command
    }

    /// The line that is printed.
    #[must_use]
    pub fn line(&self) -> Cow<'_, str> {
        match self.kind {
            FixKind::Command => Cow::Owned(format!("{PROMPT}{}", self.text)),
            FixKind::Text | FixKind::Member => Cow::Borrowed(&self.text),
        }
    }
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line())
    }
}

impl From<&str> for Fix {
    fn from(line: &str) -> Self {
        match line.strip_prefix(PROMPT) {
            Some(command) => Self::command(command),
            None => Self::text(line),
        }
    }
}

impl Serialize for Fix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.line())
    }
}

impl<'de> Deserialize<'de> for Fix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = Cow::<str>::deserialize(deserializer)?;
        Ok(Self::from(&*line))
    }
}

/// It is written as the line that is printed.
impl JsonSchema for Fix {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Fix".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fix, FixKind};

    #[test]
    fn a_step_is_published_as_the_line_that_is_printed() {
        for (fix, line, kind) in [
            (Fix::text("Mend it."), "Mend it.", FixKind::Text),
            (Fix::command("ls -l"), "$ ls -l", FixKind::Command),
            (Fix::member("\"args\": []"), "\"args\": []", FixKind::Text),
        ] {
            let json = serde_json::to_value(&fix).unwrap();
            assert_eq!(json, line);
            let read: Fix = serde_json::from_value(json).unwrap();
            assert_eq!((&*read.text, read.kind), (&*fix.text, kind));
        }
    }
}
