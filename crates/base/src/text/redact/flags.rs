//! How flags, headers and variables are written.

use super::names::looks_secret;

/// `NAME=value` and `--flag=value`; the name is without dashes.
pub(super) fn assignment(text: &str) -> Option<(&str, &str)> {
    let name = text.find(|c: char| !is_name_letter(c))?;
    let value = text[name..].strip_prefix('=')?;
    let name = text[..name].trim_start_matches('-');
    (!name.is_empty()).then_some((name, value))
}

pub(super) fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_name_letter)
}

/// `--flag` and `-f`, and not a value that begins with a dash.
pub(super) fn is_flag(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('-') else {
        return false;
    };
    let (long, name) = match rest.strip_prefix('-') {
        Some(name) => (true, name),
        None => (false, rest),
    };
    let name = name.split('=').next().unwrap_or_default();
    is_name(name)
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && (long || name.len() == 1 || looks_secret(name))
}

/// A flag whose value is a header.
pub(super) fn is_header_flag(flag: &str) -> bool {
    let name = flag.trim_start_matches('-').to_ascii_lowercase();
    flag == "-H" || flag.starts_with('-') && (name.ends_with("header") || name.ends_with("headers"))
}

/// Whether `name:value` is a header and no other thing with a colon.
pub(super) fn is_header(name: &str, value: &str) -> bool {
    let folded = name.to_ascii_lowercase();
    is_name(name)
        && looks_secret(name)
        && (value.starts_with(' ')
            || folded.ends_with("authorization")
            || folded == "cookie"
            || folded.starts_with("x-"))
}
