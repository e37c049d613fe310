//! What the test's own words in an assertion tell of, out of `tables/own_message.yaml`.

use crate::engine::tables::{any_bytes_of, built, table};
use regex::bytes::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

/// `tables/own_message.yaml`, which says what each list is.
#[derive(Deserialize)]
struct MessageWords {
    system: Vec<String>,
    network: Vec<String>,
    whole_error: Vec<String>,
    setting: Vec<String>,
    wait: Vec<String>,
    compares: Vec<String>,
    compares_values: Vec<String>,
}

static WORDS: LazyLock<MessageWords> = LazyLock::new(|| table(built!("own_message")));
static SYSTEM: LazyLock<Regex> = LazyLock::new(|| any_bytes_of(&WORDS.system));
static NETWORK: LazyLock<Regex> = LazyLock::new(|| any_bytes_of(&WORDS.network));
static WHOLE_ERROR: LazyLock<Regex> = LazyLock::new(|| any_bytes_of(&WORDS.whole_error));
static SETTING: LazyLock<Regex> = LazyLock::new(|| any_bytes_of(&WORDS.setting));
static WAIT: LazyLock<Regex> = LazyLock::new(|| any_bytes_of(&WORDS.wait));

/// How operating systems, resolvers and the exceptions that stand for them tell of their
/// errors: what an assertion that wanted none ran into.
pub(in crate::engine) fn tells_of_system(said: &str) -> bool {
    SYSTEM.is_match(said.as_bytes())
}

/// Whether words tell that somebody on the network did not answer.
pub(super) fn tells_of_network(said: &str) -> bool {
    NETWORK.is_match(said.as_bytes())
}

/// Whether words hold an error as a program prints it, and not only what it is about.
pub(super) fn tells_whole_error(said: &str) -> bool {
    WHOLE_ERROR.is_match(said.as_bytes())
}

/// Whether words say that a variable of the environment is not set.
pub(super) fn tells_of_setting(said: &str) -> bool {
    SETTING.is_match(said.as_bytes())
}

/// Whether words say that a state did not come in a time.
pub(super) fn tells_of_wait(said: &str) -> bool {
    WAIT.is_match(said.as_bytes())
}

/// Whether words compare, or want an error that did not come.
pub(in crate::engine) fn compares(words: &str) -> bool {
    WORDS
        .compares
        .iter()
        .any(|word| words.contains(word.as_str()))
}

/// Whether words compare one value with another, or an error with the expected one.
pub(super) fn compares_values(words: &str) -> bool {
    WORDS
        .compares_values
        .iter()
        .any(|word| words.contains(word.as_str()))
}
