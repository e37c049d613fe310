//! What the tests of several crates share.

/// Every `nth` of these cases, the first among them; all of them where
/// `JELLY_TESTS=all`, as in `.ci/full`. Which ones depends on nothing else, so
/// that a failure comes again.
#[must_use]
pub fn slice<T>(nth: usize, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    cases
        .into_iter()
        .step_by(if all_cases() { 1 } else { nth })
        .collect()
}

/// Whether every case is tested, and not a slice of what takes long.
#[must_use]
pub fn all_cases() -> bool {
    std::env::var("JELLY_TESTS").is_ok_and(|which| which == "all")
}
