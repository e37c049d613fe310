//! Fields of a JSON object, under any of the names that they have had.

use super::problem::below;
use serde_json::{Map, Value};

/// The names of what changed its name, beside its two casings.
const ALIASES: [(&str, &[&str]); 3] = [
    // `registry` is what plans write, the others are of May 2025.
    ("registryType", &["registry", "registry_name"]),
    ("identifier", &["name"]),
    ("type", &["transport_type"]),
];

/// An object with the place where it stands.
#[derive(Clone, Copy)]
pub(super) struct Fields<'v> {
    pub map: &'v Map<String, Value>,
    pub pointer: &'v str,
}

/// The value of a field, with the name it was found under.
pub(super) struct Found<'v> {
    pub value: &'v Value,
    pub pointer: String,
}

impl<'v> Fields<'v> {
    /// The field, called as since 2025-09-16. `null` is nothing.
    pub fn get(self, name: &str) -> Option<Found<'v>> {
        names(name).into_iter().find_map(|name| {
            let value = self.map.get(&name).filter(|value| !value.is_null())?;
            Some(Found {
                value,
                pointer: below(self.pointer, &name),
            })
        })
    }

    /// The keys that are none of `known`, nor another name of one of these.
    pub fn unknown<'k>(self, known: &'k [&'k str]) -> impl Iterator<Item = &'v str> + 'k
    where
        'v: 'k,
    {
        let all: Vec<String> = known.iter().flat_map(|name| names(name)).collect();
        self.map
            .keys()
            .map(String::as_str)
            .filter(move |key| !all.iter().any(|known| known == key))
    }
}

/// All names of a field, the newest first.
fn names(name: &str) -> Vec<String> {
    let snake = snake(name);
    let mut names = vec![name.to_owned()];
    if snake != name {
        names.push(snake);
    }
    if let Some((_, others)) = ALIASES.iter().find(|(known, _)| *known == name) {
        names.extend(others.iter().map(|name| (*name).to_owned()));
    }
    names
}

/// `registryBaseUrl` as of 2025-07-09: `registry_base_url`.
pub(super) fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        // `fileSha256` was `file_sha256`.
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
