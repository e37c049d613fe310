//! The vocabulary of envelopes: what their keys stand for.

use crate::engine::tables::{built, table};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::LazyLock;

/// `tables/envelopes.yaml`, all in lower case.
#[derive(Deserialize)]
struct EnvelopeWords {
    roles: HashMap<Role, Vec<String>>,
    /// How names of keys begin that list what may be chosen.
    choices: Vec<String>,
    bad_status: Vec<String>,
    error_parts: Vec<String>,
    no_error: Vec<String>,
    speaking: Vec<String>,
    finding: Vec<String>,
}

static WORDS: LazyLock<EnvelopeWords> = LazyLock::new(|| table(built!("envelopes")));

/// By key, what it stands for.
static ROLES: LazyLock<HashMap<&str, Role>> = LazyLock::new(|| {
    let roles = WORDS.roles.iter();
    roles
        .flat_map(|(role, keys)| keys.iter().map(|key| (key.as_str(), *role)))
        .collect()
});

/// What a key stands for, by its name in lower case without `_` and `-`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    /// The error itself.
    Error,
    /// False where it failed.
    Success,
    /// True where it failed.
    Failure,
    /// A word or a number for how it went.
    Status,
    /// A number or word for the error.
    Code,
    /// What kind of object this is.
    Kind,
    /// Sentences.
    Words,
    /// Frames.
    Stack,
    Stdout,
    Stderr,
    Exit,
    /// Where the result stands.
    Wrap,
    /// What belongs to errors and says nothing of them.
    Beside,
    /// What data has and an error has not.
    Entity,
    Other,
}

/// What a key stands for.
pub(super) fn role(key: &str) -> Role {
    let key: String = key
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let names_choices = || WORDS.choices.iter().any(|word| key.starts_with(word));
    match ROLES.get(key.as_str()) {
        Some(role) => *role,
        None if names_choices() => Role::Beside,
        None => Role::Other,
    }
}

/// Words for a status that went wrong, of services and of gRPC.
pub(super) fn is_bad(word: &str) -> bool {
    WORDS.bad_status.iter().any(|bad| bad == word)
}

/// Whether an object speaks under a key. What things are called and described
/// by says nothing of an answer.
pub(super) fn is_speaking(key: &str) -> bool {
    let mut known = WORDS.speaking.iter();
    known.any(|name| key.eq_ignore_ascii_case(name))
}

/// Whether an object is a finding in a file, which is the result of who looked
/// for it.
pub(super) fn is_finding(map: &Map<String, Value>) -> bool {
    let known = WORDS.finding.iter();
    known.filter(|key| map.contains_key(*key)).count() > 1
}

/// A status of HTTP that tells an error, in words.
pub(super) fn http_status(number: i64) -> Option<String> {
    (400..600)
        .contains(&number)
        .then(|| format!("status {number}"))
}

/// A code or a class that is an error's.
pub(super) fn names_error(word: &str) -> bool {
    let word = word.trim();
    let lower = word.to_ascii_lowercase();
    if word.is_empty() || word.contains(' ') || word.contains("://") && !lower.contains("error") {
        return false;
    }
    let is_errno = word.len() > 4
        && word.starts_with('E')
        && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    is_errno || WORDS.error_parts.iter().any(|part| lower.contains(part))
}

/// What a value says that no error has.
pub(super) fn is_none(said: &str) -> bool {
    let said = said.trim_end_matches('.').to_ascii_lowercase();
    WORDS.no_error.contains(&said)
}
