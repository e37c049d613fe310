//! What is hidden of keys: what was to be a value became one.

use super::{HEADERS, Search, spelled_out};
use crate::syntax::{Data, Entry};
use jelly_base::text::redact::{
    Found, looks_secret, secrets_by_form, secrets_in_text, secrets_in_variable,
};

impl<'t> Search<'t> {
    /// Hides what is secret in the keys of a map: what was to be a value is one where the sign
    /// or the blank before it is missing. `name` is that of the map, and `all` says that it is
    /// one of headers, or below one.
    pub(super) fn keys(&mut self, entries: &[Entry<'t>], name: &str, all: bool) {
        let is_below = looks_secret(name) || all && !name.eq_ignore_ascii_case(HEADERS);
        let mut after_secret = false;
        for entry in entries {
            let is_alone = is_alone(entry);
            let before = &self.text[..entry.key_span.start as usize];
            // What follows the comma in `TOKEN: hunter,2`.
            let is_rest = after_secret && before.ends_with(',');
            let spelled = match name_and_rest(&entry.key) {
                _ if is_alone && (is_below || is_rest) => spelled_out(&entry.key),
                Some((_, value)) if all => spelled_out(value),
                Some(_) | None => Vec::new(),
            };
            let found = secrets_in_key(&entry.key, is_alone);
            self.learn(&found);
            for value in found.iter().map(|found| found.value).chain(spelled) {
                self.hide_in_key(entry, value);
            }
            after_secret = all || looks_secret(&entry.key);
        }
    }

    /// Hides a part of a key.
    fn hide_in_key(&mut self, entry: &Entry<'t>, value: &str) {
        let span = entry.key_span.range();
        let quotes = usize::from(self.text[span.clone()].starts_with(['"', '\'']));
        let parts = self.places_of(span, quotes, value);
        self.hidden.extend(parts.iter().copied());
        self.in_keys.extend(parts);
    }
}

/// Whether a key has no value, not even one that says that there is none.
fn is_alone(entry: &Entry<'_>) -> bool {
    matches!(entry.value.data, Data::Null) && entry.value.span.range().is_empty()
}

/// What is secret in a key by a name in it, or by its form; `is_alone` where it has no value.
fn secrets_in_key(key: &str, is_alone: bool) -> Vec<Found<'_>> {
    let mut found = secrets_in_text(key);
    found.extend(secrets_by_form(key));
    if let Some((name, value)) = name_and_rest(key).filter(|_| is_alone)
        && looks_secret(name)
    {
        found.extend(secrets_in_variable(name, value));
    }
    found
}

/// What a key spells out behind a name in it: `NAME=value`, `NAME:value`, `NAME value`.
fn name_and_rest(key: &str) -> Option<(&str, &str)> {
    key.trim_start()
        .split_once(|c: char| matches!(c, '=' | ':') || c.is_whitespace())
}
