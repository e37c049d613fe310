//! What in a configuration is secret: by its name, by the flag before it, or
//! by its form.

use super::entry::{Entry, Reached, Spot};
use crate::text::is_placeholder;
use crate::text::redact::looks_secret;

/// Shorter values would hide words of a report that are nobody's secret.
const MIN_VALUE: usize = 4;

/// How the tokens of well-known services begin.
const PREFIXES: &[&str] = &[
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "npm_",
    "hf_",
    "pypi-",
    "ntn_",
    "lin_api_",
    "figd_",
    "dop_v1_",
    "eyJhbGciOi",
];

/// A secret, its name for people, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Secret<'a> {
    pub name: String,
    pub value: &'a str,
    pub spot: &'a Spot,
}

/// Names and values of what is secret in an entry as it is written, for a
/// redactor to learn.
#[must_use]
pub fn secrets_of(entry: &Entry) -> Vec<(String, String)> {
    in_entry(entry)
        .into_iter()
        .map(|secret| (secret.name, secret.value.to_owned()))
        .collect()
}

/// Whether a value under this name is secret.
#[must_use]
pub fn names_secret(name: &str) -> bool {
    let folded = name.to_ascii_lowercase();
    let mut words = folded.split(['_', '-', '.']);
    looks_secret(name)
        || words.any(|word| matches!(word, "key" | "pat" | "pwd" | "pass" | "authorization"))
}

/// Whether a text is secret by its form.
fn has_secret_form(text: &str) -> bool {
    PREFIXES
        .iter()
        .any(|prefix| text.len() >= prefix.len() + 12 && text.starts_with(prefix))
        && !text.contains(char::is_whitespace)
}

pub(super) fn in_entry(entry: &Entry) -> Vec<Secret<'_>> {
    let mut found = Vec::new();
    let mut add = |name: &str, value, spot| {
        if is_value(value) {
            found.push(Secret {
                name: name.to_owned(),
                value,
                spot,
            });
        }
    };
    match &entry.reached {
        Some(Reached::Command { args, env, .. }) => {
            for (name, spot) in env {
                if names_secret(name) || has_secret_form(&spot.text) {
                    add(name, &spot.text, spot);
                } else if let Some(password) = password_in(&spot.text) {
                    add(name, password, spot);
                }
            }
            let mut flag: Option<&str> = None;
            for spot in args {
                let text = &*spot.text;
                let before = flag.take();
                match (text.split_once('='), before) {
                    (_, Some(flag)) if !text.starts_with('-') => add(flag, text, spot),
                    (Some((name, value)), _)
                        if names_secret(name.trim_start_matches('-')) && !name.contains(' ') =>
                    {
                        add(name.trim_start_matches('-'), value, spot);
                    }
                    _ if has_secret_form(text) => add("an argument", text, spot),
                    _ => {
                        if let Some(value) = header_value(text).or_else(|| password_in(text)) {
                            add("an argument", value, spot);
                        }
                        if text.starts_with('-') && names_secret(text.trim_start_matches('-')) {
                            flag = Some(text.trim_start_matches('-'));
                        }
                    }
                }
            }
        }
        Some(Reached::Url { url, headers }) => {
            for (name, spot) in headers {
                let value = spot
                    .text
                    .split_once(' ')
                    .filter(|(scheme, _)| matches!(*scheme, "Bearer" | "Basic" | "Token"))
                    .map_or(&*spot.text, |(_, value)| value);
                if names_secret(name) || has_secret_form(value) {
                    add(name, value, spot);
                }
            }
            if let Some(password) = password_in(&url.text) {
                add("the URL's password", password, url);
            }
            let query = url.text.split_once('?').map_or("", |(_, query)| query);
            for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
                if names_secret(name) {
                    add(name, value, url);
                }
            }
        }
        None => {}
    }
    found
}

/// Something that a person wrote, and not where it is to be taken from.
fn is_value(value: &str) -> bool {
    value.len() >= MIN_VALUE && !value.contains("${") && !is_placeholder(value)
}

/// `Authorization: Bearer VALUE`, as bridges take it for an argument.
fn header_value(text: &str) -> Option<&str> {
    let (name, value) = text.split_once(':')?;
    let value = value.trim();
    let value = value.strip_prefix("Bearer ").unwrap_or(value);
    (names_secret(name) && !name.contains(['/', ' '])).then_some(value)
}

/// Of `scheme://user:password@host`.
fn password_in(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}

#[cfg(test)]
mod tests {
    use super::secrets_of;
    use crate::doctor::read;
    use std::path::Path;

    #[test]
    fn secrets_are_known_by_name_flag_and_form() {
        let text = r#"{"mcpServers": {
            "a": {"command": "x", "env": {
                "API_KEY": "value-one", "HOME_DIR": "/home/me", "OTHER": "ghp_0123456789abcdef",
                "DB": "postgres://me:value-two@host/db", "TOKEN": "${env:T}", "SECRET": "<YOUR_SECRET>"},
              "args": ["--token", "value-three", "--api-key=value-four", "--header",
                       "Authorization: Bearer value-five", "--token", "--flag", "plain"]},
            "b": {"url": "https://h/mcp?api_key=value-six&x=1",
                  "headers": {"Authorization": "Bearer value-seven", "X-Trace": "on"}}
        }}"#;
        let config = read(Path::new("x.json"), text, Path::new("/")).unwrap();
        let values: Vec<String> = config
            .entries
            .iter()
            .flat_map(secrets_of)
            .map(|(_, value)| value)
            .collect();
        assert_eq!(
            values,
            [
                "value-one",
                "ghp_0123456789abcdef",
                "value-two",
                "value-three",
                "value-four",
                "value-five",
                "value-seven",
                "value-six"
            ]
        );
    }
}
