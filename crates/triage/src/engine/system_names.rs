//! What a machine or a service names when it refuses something, and the rules of
//! a product do not.
//!
//! Main function: [`names_system`].

use super::tables::{any_of, built, table};
use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

/// `tables/own_words.yaml`, which says what each list is.
#[derive(Deserialize)]
pub(super) struct OwnWords {
    pub(super) root_causes: Vec<String>,
    pub(super) standard: Vec<String>,
    marks: Vec<String>,
}

pub(super) static OWN_WORDS: LazyLock<OwnWords> = LazyLock::new(|| table(built!("own_words")));
static MARKS: LazyLock<Regex> = LazyLock::new(|| any_of("i", &OWN_WORDS.marks));

/// Whether words name a file, an address, a code of a system or a kind of
/// service.
pub(super) fn names_system(said: &str) -> bool {
    MARKS.is_match(said)
}
