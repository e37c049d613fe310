//! Values that were typed: which of them are no secrets though their names say so.

use jelly_base::text::is_placeholder;
use jelly_base::text::redact::{is_password, may_be_secret, secrets_in_text};

/// Whether a value turns something on or off, or counts something, and is no secret, though its
/// name says so: a password may be any word or of a few digits, any other secret has more.
fn is_setting(name: &str, value: &str) -> bool {
    const DIGITS: usize = 6;
    let is_number = value.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    !is_password(name)
        && (matches!(value, "true" | "false" | "none" | "null")
            || is_number && value.len() < DIGITS)
}

/// Whether a value is none to hide, though its name says so: it refers to another one, is to
/// be filled in, or says where something is. A password may be of any signs.
pub(super) fn is_open(name: &str, value: &str) -> bool {
    is_setting(name, value)
        || is_of_references(name, value)
        || is_placeholder(value)
        || !is_password(name) && (is_variable(value) || is_place(name, value))
}

/// Whether a value is made of references such as `${NAME}`: of a password all of it, of anything
/// else but for a word or two, as `Bearer` before one.
fn is_of_references(name: &str, value: &str) -> bool {
    const LETTERS: usize = 8;
    let mut rest = value;
    let mut outside = String::new();
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((_, after)) = behind.split_once('}') else {
            return false;
        };
        outside.push_str(before);
        rest = after;
    }
    outside.push_str(rest);
    let is_whole = outside.trim().is_empty();
    value.contains("${") && (is_whole || !is_password(name) && outside.trim().len() < LETTERS)
}

/// `$NAME`, as variables are called.
fn is_variable(value: &str) -> bool {
    let name = value.strip_prefix('$').unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && (name.bytes()).all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// A path, or an address without a secret in it.
fn is_place(name: &str, value: &str) -> bool {
    let mut letters = value.chars();
    let is_drive = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.next() == Some(':')
        && matches!(letters.next(), Some('/' | '\\'));
    let begins = ["/", "./", "../", "~/"]
        .iter()
        .any(|begin| value.starts_with(begin));
    (is_drive || begins) && !may_be_secret(name, value)
        || value.contains("://") && secrets_in_text(value).is_empty()
}

#[cfg(test)]
mod tests {
    use super::is_open;

    #[test]
    fn a_value_is_open_only_where_it_can_be_no_secret() {
        for (name, value) in [
            ("PASSWORD", "$ecret"),
            ("X_TOKEN", "$ecret"),
            ("DB_PASSWORD", "x${y}z9k"),
            ("X_TOKEN", "hunter2v${y}99"),
            ("DB_PASS", "p$w"),
            ("PASSWORD", "/hunter2"),
            ("PASSWORD", "1234"),
            ("X_TOKEN", "a/b"),
            ("X_TOKEN", "a\\b"),
            ("X_TOKEN", "p$w"),
            ("X_TOKEN", "/9jXk3l2abcQWEd9x0Zq"),
            ("X_TOKEN", "https://me:pw@h/x"),
        ] {
            assert!(!is_open(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("PASSWORD", "${env:X}"),
            ("AUTH_HEADER", "Bearer ${env:X}"),
            ("PASSWORD", "<your password>"),
            ("X_TOKEN", "$OTHER_TOKEN"),
            ("X_TOKEN", "/run/secrets/x"),
            ("X_TOKEN", "./x"),
            ("X_TOKEN", "~/x"),
            ("X_TOKEN", "C:\\x"),
            ("X_TOKEN", "https://h/x"),
            ("X_TOKEN", "true"),
        ] {
            assert!(is_open(name, value), "{name}={value}");
        }
    }
}
