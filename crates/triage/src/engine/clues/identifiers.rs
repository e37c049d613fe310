//! Names of the program's own in what a runtime says of it, which are no evidence of anything:
//! `tables/identifiers.yaml`.
//!
//! Main function: [`hide_names`].

use crate::engine::tables::{any_of, built, table};
use regex::{Regex, RegexSet};
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    sentences: Vec<String>,
    misleading: String,
}

struct Sentences {
    set: RegexSet,
    each: Vec<Regex>,
    misleading: Regex,
}

static SENTENCES: LazyLock<Sentences> = LazyLock::new(|| {
    let table: Table = table(built!("identifiers"));
    #[expect(
        clippy::expect_used,
        reason = "the tables are part of the program, and tests compile each pattern"
    )]
    Sentences {
        set: RegexSet::new(&table.sentences).expect("the patterns compile"),
        each: table
            .sentences
            .iter()
            .map(|it| any_of("", std::slice::from_ref(it)))
            .collect(),
        misleading: any_of("", &[table.misleading]),
    }
});

/// `text` with each such name that sounds like trouble of a machine or a service replaced,
/// byte for byte, by a letter that says nothing; `None` where it has none.
pub(super) fn hide_names(text: &str) -> Option<String> {
    let sentences = &*SENTENCES;
    let mut hidden: Option<String> = None;
    for nth in sentences.set.matches(text) {
        for found in sentences.each[nth].captures_iter(text) {
            let Some(name) = found
                .name("name")
                .filter(|name| sentences.misleading.is_match(name.as_str()))
            else {
                continue;
            };
            let cover: String = name.as_str().bytes().map(covered).collect();
            hidden
                .get_or_insert_with(|| text.to_owned())
                .replace_range(name.range(), &cover);
        }
    }
    hidden
}

/// What stands for a byte of a name. Its marks stay, so that it is still read as a name.
fn covered(byte: u8) -> char {
    match byte {
        b'.' | b':' | b'\\' | b'(' | b')' | b'?' | b'!' | b'$' | b' ' => char::from(byte),
        _ => 'x',
    }
}

#[cfg(test)]
mod tests {
    use super::hide_names;

    #[test]
    fn a_name_of_the_program_that_sounds_like_trouble_is_hidden() {
        for (said, read) in [
            (
                "Cannot read properties of undefined (reading 'ENOENT')",
                "Cannot read properties of undefined (reading 'xxxxxx')",
            ),
            (
                "ReferenceError: ECONNRESET is not defined",
                "ReferenceError: xxxxxxxxxx is not defined",
            ),
            (
                "'Client' object has no attribute 'connection_error'",
                "'Client' object has no attribute 'xxxxxxxxxxxxxxxx'",
            ),
            (
                "Undefined array key \"timeout\"",
                "Undefined array key \"xxxxxxx\"",
            ),
            (
                "Cannot invoke \"a.ConnectException.getMessage()\" because \"e\" is null",
                "Cannot invoke \"x.xxxxxxxxxxxxxxxx.xxxxxxxxxx()\" because \"e\" is null",
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
        ] {
            assert_eq!(hide_names(said), None, "{said}");
        }
    }
}
