//! What in a shell's word is no secret spelled out: variables, and what commands write.

use super::names::{has_secret_form, may_be_secret};
use std::ops::Range;

/// Commands that write what they are given.
const ECHOES: [&str; 6] = [
    "echo",
    "printf",
    "print",
    "write-output",
    "write-host",
    "builtin",
];

/// Whether a value is what one command writes, as `$(cat file)`, and nothing else.
pub(super) fn is_substitution(value: &str) -> bool {
    let value = value.trim_matches('"');
    value.starts_with(['$', '`']) && command_length(value) == Some(value.len())
}

/// How much of a value is a command that stands for what it writes, if it begins with one.
/// A command that says what it is to write spells that out.
fn command_length(value: &str) -> Option<usize> {
    let (inside, length) = match value.strip_prefix('`') {
        Some(rest) => {
            let end = rest.find('`')?;
            (&rest[..end], end + 2)
        }
        None => {
            let rest = value.strip_prefix("$(")?;
            let end = closing(rest, '(', ')')?;
            (&rest[..end], value.len() - rest.len() + end + 1)
        }
    };
    let is_command = |c: char| c.is_ascii_alphanumeric() || "_-./~\\:".contains(c);
    let program = inside.trim_start().split(char::is_whitespace).next()?;
    let reads_file = program.starts_with('<') && !inside.contains("<<");
    let is_program = !program.is_empty() && program.chars().all(is_command) && !is_echo(program);
    ((is_program || reads_file) && !spells_out(inside)).then_some(length)
}

/// Whether a command has an input or another command that says what it writes, or a word that
/// can only be a secret.
fn spells_out(command: &str) -> bool {
    const SPELL_OUT: [&str; 6] = ["-e", "-nr", "-p", "-rn", "case", "puts"];
    let words = |text: &str| {
        let is_end = |c: char| c.is_whitespace() || "\"'`;|&(){}".contains(c);
        let mut words = text.split(is_end);
        words.any(|word| is_echo(word) || SPELL_OUT.contains(&word) || has_secret_form(word))
    };
    // As the shell reads `e'c'ho`.
    let unquoted: String = command.chars().filter(|c| !"\"'\\".contains(*c)).collect();
    command.contains("<<") || words(command) || words(&unquoted)
}

/// Whether a program, wherever it is, writes what it is given.
fn is_echo(program: &str) -> bool {
    let base = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let base = base.to_ascii_lowercase();
    ECHOES.contains(&base.strip_suffix(".exe").unwrap_or(&base))
}

/// Where what was opened before this text is closed.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(at),
            }
        }
    }
    None
}

/// How much of a value is a reference to a variable, if it begins with one; a reference with
/// a value of its own spells that out, as `${NAME:-hunter2}`.
fn variable_length(name: &str, value: &str) -> Option<usize> {
    let rest = value.strip_prefix('$')?;
    let Some(braced) = rest.strip_prefix('{') else {
        let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let bare = without_drive(rest);
        let letters = bare.bytes().take_while(|b| is_name(*b)).count();
        return (letters > 0).then_some(value.len() - bare.len() + letters);
    };
    let end = closing(braced, '{', '}')?;
    let inside = &braced[..end];
    let default = default_of(inside);
    let is_open = default.is_none_or(|default| {
        !may_be_secret(name, default) && !default.contains("${")
            || only_refers(name, default.trim_matches('"'))
    });
    is_open.then_some(end + "${}".len())
}

/// A name without what PowerShell and nu write before those of the environment.
pub(super) fn without_drive(name: &str) -> &str {
    match name.split_at_checked("env:".len()) {
        Some((drive, name)) if ["env:", "env."].contains(&drive.to_ascii_lowercase().as_str()) => {
            name
        }
        Some(_) | None => name,
    }
}

/// What stands for a variable that is not set: in `NAME:-value` and its like.
fn default_of(inside: &str) -> Option<&str> {
    const SIGNS: [&str; 3] = [":-", ":=", ":+"];
    if let Some(at) = SIGNS.iter().filter_map(|sign| inside.find(sign)).min() {
        return inside.get(at + 2..);
    }
    // What takes the place of a part of it; the name of a file is a plan's.
    if !inside.contains(':')
        && let Some((_, value)) = inside.split_once('/')
    {
        return Some(value);
    }
    // A plan's own names may have dashes.
    let is_shells = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    let name = inside.bytes().take_while(|b| is_shells(*b)).count();
    let behind = inside[name..].strip_prefix(['-', '=', '+'])?;
    let is_name = behind.bytes().all(|b| is_shells(b) || b == b'-');
    (name > 0 && !is_name).then_some(behind)
}

/// How much of a value is one reference, if it begins with one.
pub(super) fn reference_length(name: &str, value: &str) -> Option<usize> {
    variable_length(name, value).or_else(|| command_length(value))
}

/// Whether a value is nothing but references.
pub(super) fn only_refers(name: &str, value: &str) -> bool {
    let mut rest = value;
    let mut refers = false;
    while let Some(first) = rest.chars().next() {
        if let Some(length) = reference_length(name, rest) {
            refers = true;
            rest = &rest[length..];
        } else if first.is_alphanumeric() {
            return false;
        } else {
            rest = &rest[first.len_utf8()..];
        }
    }
    refers
}

/// What of a value is spelled out beside its references in brackets, which are a plan's or a
/// client's as much as a shell's.
pub(super) fn spelled_out(name: &str, value: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut begin, mut at) = (0, 0);
    while let Some(opens) = value[at..].find("${") {
        let opens = at + opens;
        at = opens + "${".len();
        if let Some(length) = variable_length(name, &value[opens..]) {
            parts.push(begin..opens);
            begin = opens + length;
            at = begin;
        }
    }
    parts.push(begin..value.len());
    parts.retain(|part| {
        let part = &value[part.clone()];
        // What is left of a reference says what it stands for.
        part.contains(char::is_alphanumeric) && may_be_secret(name, &part.replace("${", ""))
    });
    parts
}

#[cfg(test)]
mod tests {
    use super::{is_substitution, only_refers, spelled_out};

    #[test]
    fn what_a_command_writes_is_not_spelled_out_unless_it_is_told_to_write_it() {
        for value in [
            "$(cat /run/x)",
            "\"$(cat /run/x)\"",
            "`op read a`",
            "$(< /run/x)",
            "$(a \"$(b c)\" (d) )",
        ] {
            assert!(is_substitution(value), "{value}");
        }
        for value in [
            "$(echo hunter2)",
            "$(cat x) hunter2",
            "$(cat <<<hunter2)",
            "$(true; echo hunter2)",
            "$('hunter2')",
            "$X",
            "(cat x)",
            "$(cat",
            "",
        ] {
            assert!(!is_substitution(value), "{value}");
        }
    }

    #[test]
    fn a_reference_with_a_value_of_its_own_spells_that_out() {
        for value in [
            "$A",
            "${A}",
            "$A-${B}",
            "\"$A\"",
            "${secret:A-B}",
            "${A:-}",
            "${A:-$B}",
            "${A:-${B}}",
            "${A-}",
            "${MY-VAR}",
            "$A$(cat x)",
            "$env:A",
            "$env.A",
            "${A:?not set}",
        ] {
            assert!(only_refers("T", value), "{value}");
        }
        for value in [
            "${A:-hunter2}",
            "${A-hunter2}",
            "${A/x/hunter2}",
            "${A:-${B:-hunter2}}",
            "$A-hunter2",
            "hunter2",
            "${A",
            "",
            "-",
            "(cat x)",
        ] {
            assert!(!only_refers("T", value), "{value}");
        }
    }

    #[test]
    fn what_stands_beside_references_is_spelled_out() {
        let spelled = |value: &str| -> Vec<String> {
            let parts = spelled_out("T", value);
            parts
                .into_iter()
                .map(|part| value[part].to_owned())
                .collect()
        };
        assert_eq!(spelled("hunter2"), ["hunter2"]);
        assert_eq!(spelled("a1${A}b2${env:B}"), ["a1", "b2"]);
        assert_eq!(spelled("Bearer ${A}"), [""; 0]);
        assert_eq!(spelled("${A:-hunter2}"), ["${A:-hunter2}"]);
        assert_eq!(spelled("${HOME}/key.pem"), [""; 0]);
    }
}
