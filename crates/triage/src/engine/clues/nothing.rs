//! Messages that say nothing: that something failed is known before they are
//! read.

use crate::engine::common_words::COMMON_WORDS;

/// Longer ones say something.
const LONG: usize = 160;

/// Whether `said` holds no word but those that any failure could have, as in
/// `Test failed: see the log`.
pub(super) fn says_nothing(said: &str) -> bool {
    said.len() < LONG
        // `3 != 4` compares, and "`…' failed" is a condition.
        && !said.contains(['=', '<', '>', '`', '…'])
        && said
            .split(|c: char| !c.is_alphanumeric() && c != '-')
            .all(|word| is_common(word) || word.split('-').all(is_common))
}

fn is_common(word: &str) -> bool {
    // Longer numbers are statuses, ports or signals.
    if word.bytes().all(|b| b.is_ascii_digit()) {
        return word.len() < 3;
    }
    let words = &COMMON_WORDS.of_failures;
    words.contains(&word.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::says_nothing;

    #[test]
    fn a_message_of_common_words_says_nothing() {
        for said in [
            "Test failed",
            "An error occurred. Please contact your administrator.",
            "Error: Command failed with exit code 1",
            "java.lang.RuntimeException: null",
            "Process exited with status 1",
            "Returned non-success exit status 1",
            "",
        ] {
            assert!(says_nothing(said), "{said}");
        }
    }

    #[test]
    fn one_telling_word_is_enough() {
        for said in [
            "Process exited with code 137",
            "java.lang.IllegalStateException: null",
            "Test failed: connection refused",
            "Timeout",
            "expected 1 to equal 2",
            "28.8 != 24.0",
            "False is not true",
            "not ok 1",
            "Unexpected success",
            "the test failed after 30000 ms",
        ] {
            assert!(!says_nothing(said), "{said}");
        }
    }
}
