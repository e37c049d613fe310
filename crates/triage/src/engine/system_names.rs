//! What a machine or a service names when it refuses something, and the rules of
//! a product do not.
//!
//! Main functions: [`names_machine`], [`names_system`].

use super::tables::{any_of, built, table};
use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

/// `tables/own_words.yaml`, which says what each list is.
#[derive(Deserialize)]
pub(super) struct OwnWords {
    pub(super) root_causes: Vec<String>,
    pub(super) root_causes_of_own_classes: Vec<String>,
    pub(super) standard: Vec<String>,
    pub(super) of_systems: Vec<String>,
    pub(super) of_scripts: Vec<String>,
    pub(super) of_machines: Vec<String>,
    machine: Vec<String>,
    both: Vec<String>,
}

pub(super) static OWN_WORDS: LazyLock<OwnWords> = LazyLock::new(|| table(built!("own_words")));
static MACHINE: LazyLock<Regex> = LazyLock::new(|| any_of("i", &OWN_WORDS.machine));
static BOTH: LazyLock<Regex> = LazyLock::new(|| any_of("i", &OWN_WORDS.both));

/// Whether words name a file, an address, a code of a system or a kind of
/// service.
pub(super) fn names_system(said: &str) -> bool {
    names_machine(said) || BOTH.is_match(said)
}

/// Whether words name what no product has names of its own for: an address, a
/// code of a system, a service by its name.
pub(super) fn names_machine(said: &str) -> bool {
    MACHINE.is_match(said)
}
