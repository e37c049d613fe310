//! What is too much for every change: a part of it for each, all of it in
//! `.ci/full`.

/// Every `nth` of these cases, the first among them; all of them where
/// `JELLY_TESTS=all`. Which ones depends on nothing else, so that a failure
/// comes again.
pub fn slice<T>(nth: usize, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    let all = std::env::var("JELLY_TESTS").is_ok_and(|which| which == "all");
    let step = if all { 1 } else { nth };
    cases.into_iter().step_by(step).collect()
}
