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
    refusal: Vec<String>,
    whole_error: Vec<String>,
    setting: Vec<String>,
    wait: Vec<String>,
    compares: Vec<String>,
    compares_values: Vec<String>,
    unanswered: Vec<String>,
    of_request: Vec<String>,
}

static WORDS: LazyLock<MessageWords> = LazyLock::new(|| table(built!("own_message")));
static SYSTEM: LazyLock<Regex> = LazyLock::new(|| any_bytes_of(&WORDS.system));
static NETWORK: LazyLock<Regex> = LazyLock::new(|| any_bytes_of(&WORDS.network));
static REFUSAL: LazyLock<Regex> = LazyLock::new(|| any_bytes_of(&WORDS.refusal));
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

/// Whether words tell that somebody refused, failed to answer, or lacks a part.
pub(super) fn tells_of_refusal(said: &str) -> bool {
    REFUSAL.is_match(said.as_bytes())
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

/// Whether a script that tests an answer says what it says of one that never came, and the
/// log of the request that it failed.
pub(super) fn tells_of_no_answer(said: &str, log: &str) -> bool {
    let holds =
        |text: &str, words: &[String]| words.iter().any(|word| text.contains(word.as_str()));
    holds(said, &WORDS.unanswered) && holds(log, &WORDS.of_request)
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

#[cfg(test)]
mod tests {
    use super::{
        compares, compares_values, tells_of_network, tells_of_no_answer, tells_of_setting,
        tells_of_system, tells_of_wait, tells_whole_error,
    };

    #[test]
    fn each_list_knows_its_words_and_no_others() {
        type List<'t> = (fn(&str) -> bool, &'t str, &'t str);
        let lists: [List<'_>; 7] = [
            (
                tells_of_system,
                "open a.csv: No such file or directory",
                "no such order",
            ),
            (
                tells_of_network,
                "ssh: Could not resolve hostname build01",
                "connection refused by policy",
            ),
            (
                tells_whole_error,
                "got 2: tar: /b/n.tar: Cannot write: No space left on device",
                "no space left on device",
            ),
            (
                tells_of_setting,
                "SHOP_TOKEN is not set",
                "the token is not set",
            ),
            (
                tells_of_wait,
                "still pending after 0.3s",
                "still valid after 60 s",
            ),
            (compares, "it should be 3", "it is 3"),
            (compares_values, "expected 3", "it must be 3"),
        ];
        for (tells, said, other) in lists {
            assert!(tells(said), "{said}");
            assert!(!tells(other), "{other}");
        }
        let log = "RequestError: getaddrinfo EAI_AGAIN auth.test";
        assert!(tells_of_no_answer("expected undefined to be a string", log));
        assert!(!tells_of_no_answer("expected 5 to equal 7", log));
        assert!(!tells_of_no_answer(
            "expected undefined to be a string",
            "ok"
        ));
    }
}
