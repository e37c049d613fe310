//! `${…}` in plans: parsed once, resolved when the value is due.
//!
//! The main type is [`Template`]. Must not know which names there are.

use super::scope::{MAX_RESOLVED, MAX_WITH_FILES, Scope, Unresolved};
use serde_json::Value;
use std::borrow::Cow;

/// A string with `${…}` in it. `$${` is a literal `${`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// As written.
    pub raw: String,
    pub parts: Vec<Part>,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Workspace,
    Tmp,
    Env(String),
    Secret(String),
    /// The server's own port, or the named server's.
    Port(Option<String>),
    /// The text of a file of the project.
    File(String),
    /// The bytes of one, as base64.
    Base64(String),
    /// A variable or a capture.
    Name(String),
}

/// Why a string is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("`${{` is never closed by `}}`")]
    Unclosed { reference: String },
    #[error("`{reference}` names nothing")]
    Empty { reference: String },
    #[error("`{reference}` is no reference: nothing is called `{prefix}:`")]
    UnknownPrefix { reference: String, prefix: String },
    #[error("`{name}` can't be a name")]
    BadName { reference: String, name: String },
}

impl TemplateError {
    /// The piece of the string that is wrong, `${` included.
    #[must_use]
    pub fn reference(&self) -> &str {
        match self {
            Self::Unclosed { reference }
            | Self::Empty { reference }
            | Self::UnknownPrefix { reference, .. }
            | Self::BadName { reference, .. } => reference,
        }
    }
}

/// The names that a plan can't give to a variable or a capture.
pub const RESERVED: [&str; 3] = ["workspace", "tmp", "port"];

/// The prefixes of references.
pub const PREFIXES: [&str; 5] = ["env", "secret", "port", "file", "base64"];

/// Whether a variable or a capture can be called so: letters, digits and
/// `_`, `-`, `.`, beginning with a letter or `_`.
#[must_use]
pub fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

impl Part {
    fn parse(reference: &str, inner: &str) -> Result<Self, TemplateError> {
        let reference = || reference.to_owned();
        let Some((prefix, name)) = inner.split_once(':') else {
            return match inner {
                "" => Err(TemplateError::Empty {
                    reference: reference(),
                }),
                "workspace" => Ok(Self::Workspace),
                "tmp" => Ok(Self::Tmp),
                "port" => Ok(Self::Port(None)),
                name if is_name(name) => Ok(Self::Name(name.to_owned())),
                name => Err(TemplateError::BadName {
                    reference: reference(),
                    name: name.to_owned(),
                }),
            };
        };
        if !PREFIXES.contains(&prefix) {
            return Err(TemplateError::UnknownPrefix {
                reference: reference(),
                prefix: prefix.to_owned(),
            });
        }
        if name.is_empty() {
            return Err(TemplateError::Empty {
                reference: reference(),
            });
        }
        let is_file = matches!(prefix, "file" | "base64");
        // Names of environment variables and servers are not jelly's to
        // choose; only what no system allows is refused.
        if name.contains('\0') || !is_file && name.contains('=') || name.trim() != name {
            return Err(TemplateError::BadName {
                reference: reference(),
                name: name.to_owned(),
            });
        }
        let name = name.to_owned();
        Ok(match prefix {
            "env" => Self::Env(name),
            "secret" => Self::Secret(name),
            "file" => Self::File(name),
            "base64" => Self::Base64(name),
            _ => Self::Port(Some(name)),
        })
    }

    /// As a plan writes it.
    #[must_use]
    pub fn reference(&self) -> String {
        match self {
            Self::Text(text) => text.replace("${", "$${"),
            Self::Workspace => "${workspace}".into(),
            Self::Tmp => "${tmp}".into(),
            Self::Env(name) => format!("${{env:{name}}}"),
            Self::Secret(name) => format!("${{secret:{name}}}"),
            Self::Port(None) => "${port}".into(),
            Self::Port(Some(server)) => format!("${{port:{server}}}"),
            Self::File(path) => format!("${{file:{path}}}"),
            Self::Base64(path) => format!("${{base64:{path}}}"),
            Self::Name(name) => format!("${{{name}}}"),
        }
    }

    /// The variable or the capture that stands here.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The environment variable that stands here, secret or not.
    #[must_use]
    pub fn variable(&self) -> Option<&str> {
        match self {
            Self::Env(name) | Self::Secret(name) => Some(name),
            // None left out: a value that is read may have to be hidden.
            Self::Text(_)
            | Self::Workspace
            | Self::Tmp
            | Self::Port(_)
            | Self::File(_)
            | Self::Base64(_)
            | Self::Name(_) => None,
        }
    }

    /// The server whose port stands here; `${port}` is that of `own`.
    #[must_use]
    pub fn port<'p>(&'p self, own: Option<&'p str>) -> Option<&'p str> {
        match self {
            Self::Port(named) => named.as_deref().or(own),
            _ => None,
        }
    }
}

/// Whether `text` could hold a reference or an escape: what it costs to find
/// out that most strings hold none.
#[must_use]
pub fn has_reference(text: &str) -> bool {
    text.contains("${")
}

impl Template {
    /// Reads the references in `raw`.
    ///
    /// # Errors
    /// The first reference that is none.
    pub fn parse(raw: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = raw;
        while let Some(at) = rest.find("${") {
            if rest[..at].ends_with('$') {
                text.push_str(&rest[..at - 1]);
                text.push_str("${");
                rest = &rest[at + 2..];
                continue;
            }
            text.push_str(&rest[..at]);
            let reference = &rest[at..];
            let Some(end) = reference.find('}') else {
                return Err(TemplateError::Unclosed {
                    reference: reference.to_owned(),
                });
            };
            let part = Part::parse(&reference[..=end], &reference[2..end])?;
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            parts.push(part);
            rest = &reference[end + 1..];
        }
        text.push_str(rest);
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Self {
            raw: raw.to_owned(),
            parts,
        })
    }

    /// A template that is this text and nothing else.
    #[must_use]
    pub fn literal(text: &str) -> Self {
        let part = Part::Text(text.to_owned());
        Self {
            raw: part.reference(),
            parts: if text.is_empty() { vec![] } else { vec![part] },
        }
    }

    /// Whether a file stands in it.
    pub(super) fn sends_file(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| matches!(part, Part::File(_) | Part::Base64(_)))
    }

    /// Whether the value is known before any scope is.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// The value: a template that is one reference and nothing else keeps the
    /// type of what it stands for, everything else is a string.
    ///
    /// # Errors
    /// The first name without a value.
    pub fn resolve(&self, scope: &Scope, server: &str) -> Result<Value, Unresolved> {
        match self.parts.as_slice() {
            [part] => scope.look_up(part, server).map(Cow::into_owned),
            _ => self.resolve_str(scope, server).map(Value::String),
        }
    }

    /// The value as text; what is no string is written as compact JSON.
    ///
    /// # Errors
    /// The first name without a value, or a text that grows too long.
    pub fn resolve_str(&self, scope: &Scope, server: &str) -> Result<String, Unresolved> {
        let mut text = String::with_capacity(self.raw.len());
        for part in &self.parts {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Workspace
                | Part::Tmp
                | Part::Env(_)
                | Part::Secret(_)
                | Part::Port(_)
                | Part::File(_)
                | Part::Base64(_)
                | Part::Name(_) => match scope.look_up(part, server)?.as_ref() {
                    Value::String(value) => text.push_str(value),
                    other => text.push_str(&other.to_string()),
                },
            }
            match self.sends_file() {
                true if text.len() > MAX_WITH_FILES => return Err(Unresolved::FilesTooLong),
                false if text.len() > MAX_RESOLVED => return Err(Unresolved::TooLong),
                true | false => {}
            }
        }
        Ok(text)
    }
}

/// Calls `see` with every reference in the strings of `value`.
pub fn each_reference(value: &Value, see: &mut dyn FnMut(&Part)) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) if has_reference(text) => {
            if let Ok(template) = Template::parse(text) {
                template.parts.iter().for_each(see);
            }
        }
        Value::String(_) => {}
        Value::Array(items) => items.iter().for_each(|item| each_reference(item, see)),
        Value::Object(entries) => entries.values().for_each(|item| each_reference(item, see)),
    }
}

#[cfg(test)]
mod tests;
