//! Lines by which frameworks talk about a failure, and say nothing of it.

use crate::frameworks::{PROGRESS, TALK};

/// What tells of a diff how long it is, or where in its lines the difference lies:
/// `- Expected  - 1`, `?   ^^^`, `Skipping 73 identical leading characters in diff`.
fn is_of_diff(line: &str) -> bool {
    let counted = |head: &str| {
        let count = line
            .strip_prefix(head)
            .map(|rest| rest.trim_start_matches([' ', '-', '+']));
        count.is_some_and(|count| !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit()))
    };
    let marks = line.strip_prefix('?').map(str::trim_start);
    marks.is_some_and(|marks| marks.bytes().all(|b| b" ^+-".contains(&b)))
        || line.starts_with("Skipping ") && line.contains(" identical ")
        || counted("- Expected ")
        || counted("+ Received ")
}

/// Talk of the framework, equal or volatile in every failure.
pub(super) fn is_noise(line: &str) -> bool {
    const CONSTANT: &[&str] = &[
        "failed",
        "failure",
        "failed!",
        "error",
        "test failed",
        "test failure",
        "collection failure",
        "assertion failed",
        "assertionerror",
        "fail",
        "message:",
        // behave, of a step without a definition
        "none",
    ];
    begins_with_any(line, PROGRESS)
        || begins_with_any(line, TALK)
        || is_of_diff(line)
        || CONSTANT.iter().any(|word| line.eq_ignore_ascii_case(word))
}

/// Most lines are told from all words by their first letter.
pub(super) fn begins_with_any(line: &str, words: &[&str]) -> bool {
    let first = line.as_bytes().first();
    words
        .iter()
        .any(|word| first == word.as_bytes().first() && line.starts_with(word))
}
