//! Whether a tool's answer is, as a whole, the statement of an error although
//! it says `isError: false`.

use crate::model::Failure;
use serde_json::Value;

/// Longer texts are data, however they begin.
const LONGEST: usize = 600;
/// As many lines an error statement may have.
const LINES: usize = 8;

/// The tool's text when all of it states an error and the plan did not ask
/// for that statement. Whether the error is one of infrastructure is for the
/// signatures to say.
pub(super) fn infrastructure_statement(failure: &Failure) -> Option<&str> {
    let result = failure.tool_result.as_ref()?;
    if result.is_error {
        return None;
    }
    let text = result.text.trim();
    let expected = failure.assertion.as_ref().map(|a| &a.expected);
    (states_error(text) && !expected.is_some_and(is_about_errors)).then_some(text)
}

fn is_about_errors(expected: &Value) -> bool {
    match expected {
        Value::String(text) => mentions_error(text),
        Value::Array(items) => items.iter().any(is_about_errors),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

fn mentions_error(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    [
        "error",
        "refused",
        "fail",
        "timed out",
        "timeout",
        "denied",
        "unreachable",
    ]
    .iter()
    .any(|word| text.contains(word))
}

/// Whether `text` begins as error statements do and is no longer than they
/// are. Data that mentions an error begins otherwise.
pub(super) fn states_error(text: &str) -> bool {
    if text.is_empty() || text.len() > LONGEST || text.lines().count() > LINES {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    if let Some(rest) = lower.strip_prefix("error") {
        let rest = rest.trim_start();
        return rest.starts_with([':', '-', '(', '['])
            || rest.starts_with(|c: char| c.is_ascii_digit())
            || first_word(rest).is_some_and(|word| {
                (word.ends_with("ing")
                    && !matches!(word, "handling" | "logging" | "reporting" | "messaging"))
                    || matches!(word, "while" | "occurred" | "in" | "when" | "during")
            });
    }
    const OPENINGS: &[&str] = &[
        "failed to ",
        "failed:",
        "failure:",
        "cannot ",
        "can't ",
        "could not ",
        "couldn't ",
        "unable to ",
        "an error occurred",
        "exception:",
        "traceback (most recent call last)",
        "connection refused",
        "connection error",
        "connection to ",
        "connection failed",
        "connect econn",
        "request failed",
        "request to ",
        "fetch failed",
        "network error",
        "timeout ",
        "timed out ",
        "http error",
        "getaddrinfo ",
        "dial tcp ",
        "net::err_",
        "[errno ",
        "socket hang up",
        "max retries exceeded",
        "service unavailable",
    ];
    OPENINGS.iter().any(|opening| lower.starts_with(opening))
        || first_word(text).is_some_and(|word| {
            let word = word.trim_end_matches(':');
            let name = word.rsplit('.').next().unwrap_or(word);
            text[word.len()..].starts_with(':')
                && (name.ends_with("Error")
                    || name.ends_with("Exception")
                    || (name.len() > 4
                        && name.starts_with('E')
                        && name.chars().all(|c| c.is_ascii_uppercase())))
        })
}

fn first_word(text: &str) -> Option<&str> {
    text.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::states_error;

    #[test]
    fn statements_of_errors_are_told_from_data_about_them() {
        for text in [
            "Error 111 connecting to 127.0.0.1: Connection refused",
            "Error retrieving key k: Error 111 connecting to 127.0.0.1:59991. Connection refused.",
            "Error: connect ECONNREFUSED 127.0.0.1:5432",
            "ECONNREFUSED: no server",
            "requests.exceptions.ConnectionError: refused",
            "Failed to fetch: 503",
            "[Errno 111] Connection refused",
        ] {
            assert!(states_error(text), "{text}");
        }
        for text in [
            "",
            "ok",
            "Errors: 0",
            "Error handling: a connection refused error is retried",
            "{\"log\": \"Error: Connection refused\"}",
            "2026-01-01 10:00 Error: Connection refused\n2026-01-01 10:01 recovered",
            "The server said: connection refused",
            "Timer: 10",
        ] {
            assert!(!states_error(text), "{text}");
        }
        assert!(!states_error(&format!("Error: {}", "x".repeat(1000))));
    }
}
