//! Messages that say nothing: that something failed is known before they are
//! read.

/// Longer ones say something.
const LONG: usize = 160;

/// The words of which such messages are made, sorted.
const WORDS: [&str; 151] = [
    "a",
    "above",
    "administrator",
    "after",
    "again",
    "an",
    "and",
    "any",
    "at",
    "attached",
    "attachment",
    "been",
    "below",
    "broke",
    "broken",
    "build",
    "by",
    "case",
    "check",
    "code",
    "command",
    "complete",
    "completed",
    "console",
    "contact",
    "could",
    "detail",
    "details",
    "did",
    "do",
    "does",
    "ended",
    "err",
    "error",
    "errored",
    "errors",
    "exception",
    "executed",
    "execution",
    "exit",
    "exited",
    "exits",
    "fail",
    "failed",
    "failing",
    "fails",
    "failure",
    "failures",
    "fatal",
    "file",
    "finished",
    "for",
    "framework",
    "from",
    "general",
    "generic",
    "had",
    "happened",
    "has",
    "have",
    "here",
    "info",
    "information",
    "internal",
    "is",
    "issue",
    "it",
    "java",
    "job",
    "js",
    "lang",
    "later",
    "line",
    "log",
    "logs",
    "message",
    "more",
    "ms",
    "n",
    "na",
    "nan",
    "nil",
    "no",
    "non",
    "none",
    "not",
    "null",
    "object",
    "occurred",
    "of",
    "on",
    "oops",
    "operation",
    "outcome",
    "output",
    "pass",
    "passed",
    "phpunit",
    "please",
    "problem",
    "process",
    "program",
    "reason",
    "report",
    "returned",
    "run",
    "runner",
    "runtimeerror",
    "runtimeexception",
    "s",
    "scenario",
    "screenshot",
    "script",
    "see",
    "some",
    "something",
    "standarderror",
    "status",
    "step",
    "steps",
    "succeed",
    "successful",
    "suite",
    "support",
    "system",
    "task",
    "test",
    "testcase",
    "testerror",
    "testfailure",
    "tests",
    "the",
    "this",
    "throwable",
    "to",
    "try",
    "undefined",
    "unexpected",
    "unhandled",
    "unknown",
    "unspecified",
    "verdict",
    "was",
    "went",
    "were",
    "with",
    "without",
    "wrong",
    "you",
    "your",
    "zero",
];

/// Whether `said` holds no word but those that any failure could have, as in
/// `Test failed: see the log`.
pub(super) fn says_nothing(said: &str) -> bool {
    said.len() < LONG
        // `3 != 4` compares, and "`…' failed" is a condition.
        && !said.contains(['=', '<', '>', '`', '…'])
        && said
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .all(|word| {
                // Longer numbers are statuses, ports or signals.
                if word.bytes().all(|b| b.is_ascii_digit()) {
                    return word.len() < 3;
                }
                let word = word.to_ascii_lowercase();
                WORDS.binary_search(&word.as_str()).is_ok()
            })
}

#[cfg(test)]
mod tests {
    use super::{WORDS, says_nothing};

    #[test]
    fn the_words_are_sorted() {
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn a_message_of_common_words_says_nothing() {
        for said in [
            "Test failed",
            "An error occurred. Please contact your administrator.",
            "Error: Command failed with exit code 1",
            "java.lang.RuntimeException: null",
            "Process exited with status 1",
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
            "the test failed after 30000 ms",
        ] {
            assert!(!says_nothing(said), "{said}");
        }
    }
}
