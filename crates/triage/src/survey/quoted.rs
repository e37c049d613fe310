//! The sentence by which a client says that it reached nobody, quoted word for word by
//! those who got it for an answer: a driver that names no server can be told only by it.

use super::lacks::{Subject, SubjectKind};
use super::queries::without_query;
use crate::engine::common_words::COMMON_WORDS;
use aho_corasick::AhoCorasick;
use jelly_base::model::Failure;
use jelly_base::text::LazyPattern;
use jelly_base::text::address;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Bytes of a text that are read, and sentences of it.
const HEAD: usize = 2 << 10;
const SENTENCES: usize = 8;
/// Bytes of a sentence.
const SHORTEST: usize = 16;
const LONGEST: usize = 200;
/// Words of a sentence that says more than that nobody was reached.
const WORDS: usize = 3;

/// The sentences of exceptions in a text that name no server, and are a client's own.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    static ERROR: LazyLock<Option<AhoCorasick>> =
        LazyLock::new(|| AhoCorasick::new(["Exception: ", "Error: "]).ok());
    let Some(finder) = ERROR.as_ref() else {
        return Vec::new();
    };
    let head = &text[..text.floor_char_boundary(HEAD.min(text.len()))];
    finder
        .find_iter(head)
        .filter_map(|found| sentence(&head[found.end()..]))
        .take(SENTENCES)
        .collect()
}

/// The sentence that a text begins with, if it is one of a kind.
fn sentence(text: &str) -> Option<&str> {
    let line = without_query(text.lines().next()?);
    let end = line.find(['"', '\'', '`', '(', ')', '{', '}', '<', '>']);
    let said = &line[..end.unwrap_or(line.len())];
    // What is put in quotes within it is what tells.
    let goes_on = end.is_some() && said.ends_with([' ', '=', ':']);
    let said = said.trim_end_matches(['.', ',', ';', ' ']);
    let mut words = said.split(|c: char| !c.is_ascii_alphanumeric());
    let is_own = |word: &str| {
        let is_word = word.len() > 2 && word.contains(|c: char| c.is_ascii_alphabetic());
        is_word && !COMMON_WORDS.of_clients.contains(&word.to_ascii_lowercase())
    };
    let is_about = ["onnect", "navailable", "gone away"];
    let is_sentence = !goes_on
        && is_about.iter().any(|word| said.contains(word))
        && (SHORTEST..=LONGEST).contains(&said.len())
        && said.split_whitespace().count() >= WORDS
        && words.any(is_own)
        && address(said).is_none();
    is_sentence.then_some(said)
}

/// What the outputs of a failed test tell that exceptions said, of one that was answered
/// with an error.
pub(super) fn logged(failure: &Failure) -> BTreeSet<Subject> {
    static EXCEPTION: LazyPattern = LazyPattern::new(
        r#"(?x) \b[A-Za-z_][\w.$:]*(?:Error|Exception)\ ?:\ ?[^\n]{16,300}
              # Elixir
              | \*\*\ \([A-Z][\w.]+\)\ [^\n]{16,300}
              # The document of an answer.
              | "(?:error|message|detail|title|reason|cause)"\ ?:\ ?"((?:[^"\\\n]|\\.){16,300})""#,
    );
    let outputs = [&failure.system_out, &failure.system_err];
    let mut found = BTreeSet::new();
    for output in outputs.into_iter().flatten() {
        let end = output.floor_char_boundary(LOG.min(output.len()));
        let told = EXCEPTION.captures_iter(&output[..end]);
        let told = told.filter_map(|said| Some(said.get(1).or(said.get(0))?.as_str()));
        let told = told
            .filter(|said| !COMMON_WORDS.answers.contains(*said))
            .take(SAID);
        let told = told.map(|said| said.replace("\\\"", "\""));
        found.extend(told.map(|said| Subject::new(SubjectKind::Said, &said)));
    }
    found
}

/// Bytes of an output that are read for exceptions, and exceptions of it.
const LOG: usize = 32 << 10;
const SAID: usize = 4;

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn a_driver_that_names_no_server_has_a_sentence_of_its_own() {
        let said = "SQLSTATE[HY000] [2002] Connection refused";
        for text in [
            "PDOException: SQLSTATE[HY000] [2002] Connection refused",
            "App\\QueryException: SQLSTATE[HY000] [2002] Connection refused (Connection: mysql, SQL: select * from `items` limit 1)",
            "-'ok'\n+'PDOException: SQLSTATE[HY000] [2002] Connection refused'",
        ] {
            assert_eq!(sentences(text), [said], "{text}");
        }
        let nested = "expected: onNext(1); actual: onError(com.acme.DataException: Failed to obtain R2DBC Connection))";
        assert_eq!(sentences(nested), ["Failed to obtain R2DBC Connection"]);
    }

    #[test]
    fn what_any_client_says_tells_nobody() {
        for text in [
            "ConnectionRefusedError: [Errno 111] Connection refused",
            "java.net.ConnectException: Connection refused",
            "TypeError: Failed to fetch",
            "SocketTimeoutException: Read timed out",
            // The server is named in it, or behind it.
            "ConnectionError: stock.acme.test:7300: Connection to the stock refused",
            "ResourceAccessException: I/O error on GET request for \"https://a.test\": refused",
            "ReadTimeout: HTTPSConnectionPool(host='a.test', port=443): Read timed out",
            "Error: no",
            // About something else.
            "ShopException: Vouchers of Carla are used up today",
        ] {
            assert!(sentences(text).is_empty(), "{text}: {:?}", sentences(text));
        }
    }
}
