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

/// How many random cases a property is tried with, where each takes long: a
/// quarter of `all`, or all of them where every case is tested.
#[must_use]
pub fn random_cases(all: u32) -> u32 {
    if all_cases() { all } else { all / 4 }
}
