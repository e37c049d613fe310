//! Names of the program's own in what a runtime says of it, which are no evidence of anything:
//! `tables/identifiers.yaml`.
//!
//! Main function: [`hide_names`].

use crate::engine::tables::{built, table};
use jelly_base::text::ascii_classes;
use memchr::memmem;
use regex::Regex;
use serde::Deserialize;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

/// The table, which says what each is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IdentifierTable {
    before_echoes: BeforeEchoes,
    sentences: Vec<NamingSentence>,
    misleading: Vec<String>,
    errors: Vec<String>,
    classes: Vec<String>,
    of_service: Vec<String>,
    of_rules: Vec<String>,
    refusals: Refusals,
    of_answers: Vec<String>,
    of_data: Vec<String>,
    of_settings: Vec<String>,
    keys_of_settings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BeforeEchoes {
    words: Vec<String>,
    of_nothing: Vec<String>,
    nothing: Vec<String>,
    failed: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusals {
    nouns: Vec<String>,
    before: Vec<String>,
    behind: Vec<String>,
}

#[derive(Deserialize)]
struct NamingSentence {
    words: String,
    forms: Vec<String>,
    /// Compiled when a text has the words, which few have.
    #[serde(skip)]
    compiled: OnceLock<Vec<Regex>>,
}

static IDENTIFIERS: LazyLock<IdentifierTable> = LazyLock::new(|| table(built!("identifiers")));

impl NamingSentence {
    fn forms(&self) -> &[Regex] {
        self.compiled.get_or_init(|| {
            let forms = self.forms.iter();
            forms
                .filter_map(|form| Regex::new(&ascii_classes(form)).ok())
                .collect()
        })
    }
}

/// `text` with each such name that sounds like trouble of a machine or a service replaced,
/// byte for byte, by a letter that says nothing; `None` where it has none.
pub(super) fn hide_names(text: &str) -> Option<String> {
    let mut hidden: Option<String> = None;
    for sentence in &IDENTIFIERS.sentences {
        if memmem::find(text.as_bytes(), sentence.words.as_bytes()).is_none() {
            continue;
        }
        let named = sentence
            .forms()
            .iter()
            .flat_map(|form| form.captures_iter(text));
        for name in named.filter_map(|found| found.name("name")) {
            let mut at = name.start();
            for part in name.as_str().split_inclusive(['.', ':', '\\']) {
                let range = at..at + part.len();
                at = range.end;
                if is_misleading(part) {
                    let cover: String = part.bytes().map(covered).collect();
                    hidden
                        .get_or_insert_with(|| text.to_owned())
                        .replace_range(range, &cover);
                }
            }
        }
    }
    hidden
}

/// Whether a name is like what a machine or a service says: `ECONNRESET`, `connectionError`.
fn is_misleading(name: &str) -> bool {
    let bare = name.trim_end_matches(['.', ':', '\\', '(', ')']);
    if IDENTIFIERS.errors.iter().any(|error| error == bare) {
        return true;
    }
    let small = bare.to_ascii_lowercase();
    let has_small = bare.bytes().any(|b| b.is_ascii_lowercase());
    has_small
        && IDENTIFIERS
            .misleading
            .iter()
            .any(|part| small.contains(part))
}

/// Whether a line refuses what it has in quotes at `value` for what it is, and no answer and
/// no setting: `invalid title: "…"`, `title "…" is too long`. What a message gives as its own
/// cause, such as `err="…"`, is refused by nobody.
pub(super) fn is_refused(line: &str, value: Range<usize>) -> bool {
    const NOUN: usize = 3;
    let lead = line[..value.start - 1].trim_end();
    let lead = lead.strip_suffix(':').unwrap_or(lead);
    let behind = line[value.end + 1..].trim_start();
    let is_plain = |word: &&str| word.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_');
    let has = |list: &[String], word: &str| list.iter().any(|it| word.eq_ignore_ascii_case(it));
    let refusals = &IDENTIFIERS.refusals;
    let mut words = lead.rsplit(' ').take(NOUN + 1).take_while(is_plain);
    let is_told_before = words.next().is_some_and(|noun| has(&refusals.nouns, noun))
        && words.any(|word| has(&refusals.before, word));
    let is_told_behind = || {
        let told = &refusals.behind;
        told.iter().any(|told| behind.starts_with(told.as_str()))
    };
    let is_of_answer = || {
        let outside: String = line.split('"').step_by(2).collect();
        // What it is called as a whole, and no word of what it says.
        let outside = match outside.split_once(':') {
            Some((class, said)) if class.ends_with("Error") => said.to_ascii_lowercase(),
            _ => outside.to_ascii_lowercase(),
        };
        let parts = &IDENTIFIERS.of_answers;
        parts.iter().any(|part| outside.contains(part.as_str()))
    };
    (is_told_before || is_told_behind()) && !is_of_answer()
}

/// Whether a key is one of a record of data, by its name and that of what is asked for it.
pub(super) fn is_of_data(asked: &str, key: &str) -> bool {
    let parts = |name: &str| -> Vec<String> {
        let mut parts = vec![String::new()];
        for c in name.chars() {
            if c == '_' || c.is_ascii_uppercase() && name.contains(|c: char| c.is_lowercase()) {
                parts.push(String::new());
            }
            if let Some(part) = parts.last_mut().filter(|_| c != '_') {
                part.push(c.to_ascii_lowercase());
            }
        }
        parts
    };
    let has = |list: &[String], name: &str| {
        let parts = parts(name);
        parts.iter().any(|part| list.contains(part))
    };
    has(&IDENTIFIERS.of_data, asked)
        && !has(&IDENTIFIERS.of_settings, asked)
        && !has(&IDENTIFIERS.keys_of_settings, key)
}

/// Whether the last word of what stands before it says that something was looked for.
pub(super) fn is_looked_for(before: &str) -> bool {
    let known = &IDENTIFIERS.before_echoes;
    let has = |list: &[String], word: &str| list.iter().any(|it| word.eq_ignore_ascii_case(it));
    let words = || before.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '\'')));
    let words = || words().filter(|word| !word.is_empty());
    let last = words().next_back().unwrap_or_default();
    let is_of_nothing = || {
        has(&known.of_nothing, last)
            && words().any(|word| has(&known.nothing, word))
            && !words().any(|word| has(&known.failed, word))
    };
    has(&known.words, last) || is_of_nothing()
}

/// Whether a text has the name of an error of an operating system in it.
pub(super) fn names_an_error(text: &str) -> bool {
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.any(|word| IDENTIFIERS.errors.iter().any(|error| error == word))
}

/// Whether a class is called like what fails with a service: `ConnectionError`.
pub(super) fn sounds_like_service(class: &str) -> bool {
    let small = class.to_ascii_lowercase();
    IDENTIFIERS.classes.iter().any(|part| small.contains(part))
}

/// Whether a message tells of a service, whatever its class is called.
pub(super) fn tells_of_service(said: &str) -> bool {
    let small = said.to_ascii_lowercase();
    IDENTIFIERS
        .of_service
        .iter()
        .any(|part| small.contains(part))
}

/// Whether a message tells of a rule that a program has of its own data.
pub(super) fn tells_of_rule(said: &str) -> bool {
    let small = said.to_ascii_lowercase();
    IDENTIFIERS.of_rules.iter().any(|part| small.contains(part))
}

/// What stands for a byte of a name, so that it is still read as a name of its kind.
pub(super) fn covered(byte: u8) -> char {
    match byte {
        b'A'..=b'Z' => 'X',
        b'0'..=b'9' => '0',
        b'a'..=b'z' => 'x',
        _ if byte.is_ascii() => char::from(byte),
        _ => 'x',
    }
}

#[cfg(test)]
mod tests {
    use super::{IDENTIFIERS, hide_names};

    #[test]
    fn every_sentence_compiles_and_names_something() {
        for sentence in &IDENTIFIERS.sentences {
            assert_eq!(
                sentence.forms().len(),
                sentence.forms.len(),
                "{}",
                sentence.words
            );
            for form in sentence.forms() {
                let mut names = form.capture_names().flatten();
                assert!(names.any(|name| name == "name"), "{form}");
            }
        }
    }

    #[test]
    fn a_name_of_the_program_that_sounds_like_trouble_is_hidden() {
        for (said, read) in [
            (
                "Cannot read properties of undefined (reading 'ENOENT')",
                "Cannot read properties of undefined (reading 'XXXXXX')",
            ),
            (
                "ReferenceError: ECONNRESET is not defined",
                "ReferenceError: XXXXXXXXXX is not defined",
            ),
            (
                "'Client' object has no attribute 'connection_error'",
                "'Client' object has no attribute 'xxxxxxxxxx_xxxxx'",
            ),
            (
                "Undefined array key \"timeout\"",
                "Undefined array key \"xxxxxxx\"",
            ),
            (
                "Cannot invoke \"a.ConnectException.getMessage()\" because \"e\" is null",
                "Cannot invoke \"a.XxxxxxxXxxxxxxxx.getMessage()\" because \"e\" is null",
            ),
        ] {
            assert_eq!(hide_names(said).as_deref(), Some(read));
        }
    }

    #[test]
    fn other_names_and_what_services_say_stay() {
        for said in [
            "Cannot read properties of undefined (reading 'split')",
            "name 'unicode' is not defined",
            "connect ECONNREFUSED 127.0.0.1:1",
            "ENOENT: no such file or directory, open '/x/error.log'",
            "connection to 'db' refused",
            // A variable that is set from outside, and a function of an extension.
            "Error: DB_CONNECTION_STRING is not defined",
            "Error: ENDPOINT is not defined",
            "Undefined array key \"DB_CONNECTION\"",
            "Call to undefined function mysqli_connect()",
        ] {
            assert_eq!(hide_names(said), None, "{said}");
        }
    }
}
