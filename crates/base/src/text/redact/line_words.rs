//! Where the words end of what may be a line, by the secrets in them.

use super::flags::{assignment, is_flag, is_header_flag, is_name};
use super::names::{looks_secret, may_be_secret};
use super::references::is_substitution;
use super::shell_words::{loose_word, shell_word};

/// Names before one value, as in `--env=NAME=value`; more are no names.
pub(super) const MAX_NAMES: usize = 8;

/// The name of a flag behind which a secret or a header stands.
pub(super) fn secret_flag(word: &str) -> Option<&str> {
    let name = word.trim_start_matches('-');
    let is_secret = is_header_flag(word) || is_name(name) && looks_secret(name);
    (is_flag(word) && is_secret).then_some(name)
}

/// The name and value of a variable or a flag that is secret, where a text begins with it.
fn secret_assignment(text: &str) -> Option<(&str, &str)> {
    let mut rest = text;
    for _ in 0..MAX_NAMES {
        let (name, value) = assignment(rest.trim_start_matches(['"', '\'']))?;
        if looks_secret(name) {
            return Some((name, value));
        }
        rest = value;
    }
    None
}

/// How long the word is that a text begins with; `flag` is the one before it, if that takes
/// a secret. What is secret goes on to where a shell ends it.
pub(super) fn word_length(text: &str, flag: Option<&str>) -> usize {
    let loose = loose_word(text);
    let behind_flag = flag.map(|name| (name, text));
    let Some((name, value)) = behind_flag.or_else(|| secret_assignment(text)) else {
        return loose;
    };
    let begin = text.len() - value.len();
    let may_be = |end: usize| {
        let value = text.get(begin..end);
        value.is_some_and(|value| may_be_secret(name, value))
    };
    // A reference in the rest of it says that it is no secret.
    let refers = |word: &str| word.find("${").map(|opens| opens.max(loose));
    let Some(strict) = shell_word(text) else {
        // All up to the reference is hidden, wherever the word may end.
        return refers(text).unwrap_or(text.len());
    };
    if may_be(strict) || !may_be(loose) {
        return strict;
    }
    match text.get(begin..strict) {
        Some(value) if is_substitution(value) => strict,
        _ => text.get(..strict).and_then(refers).unwrap_or(loose),
    }
}
