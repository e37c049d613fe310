//! What the names in templates stand for.
//!
//! The main type is [`Scope`].

use super::argument_files::ArgumentFiles;
use super::template::{Part, Template, has_reference};
use indexmap::IndexMap;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What names stand for, in one iteration.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The project folder, absolute.
    pub workspace: PathBuf,
    /// A folder of the iteration's own, absolute.
    pub tmp: PathBuf,
    /// The environment that `${env:…}` and `${secret:…}` read.
    pub env: BTreeMap<String, String>,
    /// Variables, already resolved.
    pub vars: IndexMap<String, Value>,
    pub captures: IndexMap<String, Value>,
    /// One free port for each server that asks for one.
    pub ports: BTreeMap<String, u16>,
    /// What the plan sends of files.
    pub files: ArgumentFiles,
    /// Variables that could not be resolved, and why: using one is an error,
    /// having one is not.
    pub broken: IndexMap<String, Unresolved>,
}

/// A name without a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("the environment variable {0} is not set")]
    Env(String),
    #[error("the secret {0} is not set (jelly reads it from the environment variable {0})")]
    Secret(String),
    /// Pipelines give a job that may not see a secret an empty one.
    #[error("the secret {0} is empty (jelly reads it from the environment variable {0})")]
    EmptySecret(String),
    #[error("nothing is called {0} here")]
    Name(String),
    #[error("no port was chosen for the server {0}")]
    Port(String),
    #[error("with its variables filled in, it is longer than {} MiB", MAX_RESOLVED >> 20)]
    TooLong,
    #[error("with its files filled in, it is longer than {} MiB", MAX_WITH_FILES >> 20)]
    FilesTooLong,
    #[error("the plan read no file {0}")]
    File(String),
}

/// Bytes that a value may have when its variables are filled in: variables of
/// variables grow with each step.
pub(super) const MAX_RESOLVED: usize = 16 << 20;
/// The same of what sends files: one of the longest as base64 has room.
pub(super) const MAX_WITH_FILES: usize = 32 << 20;

/// Bytes that are left for what is filled in.
struct BytesLeft {
    values: usize,
    files: usize,
}

impl Scope {
    /// A scope with the plan's variables, resolved in order. A variable whose
    /// value is not known (an environment variable that is not set) is kept
    /// in `broken`, so that only the steps and servers that use it suffer.
    #[must_use]
    pub fn new(
        workspace: PathBuf,
        tmp: PathBuf,
        env: BTreeMap<String, String>,
        ports: BTreeMap<String, u16>,
        vars: &IndexMap<String, Value>,
    ) -> Self {
        let mut scope = Self {
            workspace,
            tmp,
            env,
            ports,
            ..Self::default()
        };
        for (name, value) in vars {
            // A variable belongs to no server; the loader refuses `${port}`
            // without a server's name in it.
            match resolve_json(value, &scope, "") {
                Ok(value) => {
                    scope.vars.insert(name.clone(), value);
                }
                Err(why) => {
                    scope.broken.insert(name.clone(), why);
                }
            }
        }
        scope
    }

    pub(super) fn look_up(&self, part: &Part, server: &str) -> Result<Cow<'_, Value>, Unresolved> {
        let owned = |text: String| Ok(Cow::Owned(Value::String(text)));
        match part {
            Part::Text(text) => owned(text.clone()),
            Part::Workspace => owned(self.workspace.to_string_lossy().into_owned()),
            Part::Tmp => owned(self.tmp.to_string_lossy().into_owned()),
            Part::Env(name) => match self.env.get(name) {
                Some(value) => owned(value.clone()),
                None => Err(Unresolved::Env(name.clone())),
            },
            Part::Secret(name) => match self.env.get(name) {
                Some(value) if value.is_empty() => Err(Unresolved::EmptySecret(name.clone())),
                Some(value) => owned(value.clone()),
                None => Err(Unresolved::Secret(name.clone())),
            },
            Part::Port(named) => {
                let server = named.as_deref().unwrap_or(server);
                match self.ports.get(server) {
                    Some(port) => Ok(Cow::Owned(Value::from(*port))),
                    None => Err(Unresolved::Port(server.to_owned())),
                }
            }
            Part::File(path) | Part::Base64(path) => match self.files.sent(part) {
                Some(text) => owned(text),
                None => Err(Unresolved::File(path.clone())),
            },
            Part::Name(name) => match (
                self.captures.get(name).or_else(|| self.vars.get(name)),
                self.broken.get(name),
            ) {
                (Some(value), _) => Ok(Cow::Borrowed(value)),
                (None, Some(why)) => Err(why.clone()),
                (None, None) => Err(Unresolved::Name(name.clone())),
            },
        }
    }
}

/// Resolves every string of `value` (not the keys). A string that is one
/// `${name}` and nothing else becomes the value itself, with its type.
///
/// A string that is no template stands for itself: the loader has refused
/// those in plans, so it came from elsewhere.
///
/// # Errors
/// The first name without a value, or a value that grows too long.
pub fn resolve_json(value: &Value, scope: &Scope, server: &str) -> Result<Value, Unresolved> {
    let mut left = BytesLeft {
        values: MAX_RESOLVED,
        files: MAX_WITH_FILES,
    };
    resolve_within(value, scope, server, &mut left)
}

/// Takes what is filled in from the bytes that are left.
fn resolve_within(
    value: &Value,
    scope: &Scope,
    server: &str,
    left: &mut BytesLeft,
) -> Result<Value, Unresolved> {
    Ok(match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) if has_reference(text) => match Template::parse(text) {
            Ok(template) => {
                let filled = template.resolve(scope, server)?;
                let (left, over) = match template.sends_file() {
                    true => (&mut left.files, Unresolved::FilesTooLong),
                    false => (&mut left.values, Unresolved::TooLong),
                };
                *left = left.checked_sub(size(&filled)).ok_or(over)?;
                filled
            }
            Err(_) => value.clone(),
        },
        Value::String(text) => Value::String(text.clone()),
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| resolve_within(item, scope, server, left))
                .collect::<Result<_, _>>()?,
        ),
        Value::Object(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, item)| Ok((key.clone(), resolve_within(item, scope, server, left)?)))
                .collect::<Result<_, Unresolved>>()?,
        ),
    })
}

/// About the bytes of a value.
fn size(value: &Value) -> usize {
    const NODE: usize = size_of::<Value>();
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => NODE,
        Value::String(text) => NODE + text.len(),
        Value::Array(items) => NODE + items.iter().map(size).sum::<usize>(),
        Value::Object(entries) => {
            let entry = |(key, item): (&String, &Value)| key.len() + size(item);
            NODE + entries.iter().map(entry).sum::<usize>()
        }
    }
}
