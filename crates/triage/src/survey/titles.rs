//! What a test is told to be of: its suite, the block of tests in it, the letters of its name.

use jelly_base::model::{Failure, FailureView};

/// The suite of a test. Mocha's writer has the title of a test in the place of its class.
pub(super) fn suite_of<'v>(view: &FailureView<'v>) -> &'v str {
    match is_title(view.classname, view.name) {
        true => view.suite,
        false => class_or_suite(view.classname, view.suite),
    }
}

/// The suite of a failure, where its report has any: Node's reporter calls each `test`.
pub(super) fn suite_of_failure(failure: &Failure) -> Option<&str> {
    let class = failure.classname.as_deref()?.trim();
    let suite = match is_title(class, failure.name.as_deref().unwrap_or_default()) {
        true => failure.suite.as_deref()?.trim(),
        false => class,
    };
    (!suite.is_empty() && suite != "test").then_some(suite)
}

/// Whether a class is the title of a test.
fn is_title(class: &str, name: &str) -> bool {
    class.contains(' ') && name.ends_with(class)
}

/// The class of a test, or its suite where it has none.
pub(super) fn class_or_suite<'t>(classname: &'t str, suite: &'t str) -> &'t str {
    match classname.is_empty() {
        true => suite,
        false => classname,
    }
}

/// The titles of the blocks around a test, as Vitest, Jest and Playwright put them before its own.
pub(super) fn titles_around(name: &str) -> Option<&str> {
    let mut marks = [" > ", " › "].into_iter();
    let (titles, _) = marks.find_map(|mark| name.rsplit_once(mark))?;
    Some(titles)
}

/// The block of tests that a title tells, by the titles around it, or as authors do:
/// `clock of the site > summer`, `schedule: daily`.
pub(super) fn block_of(name: &str) -> Option<&str> {
    const WORDS: usize = 2;
    if let Some(titles) = titles_around(name) {
        return Some(titles);
    }
    let (block, _) = name.split_once(": ")?;
    let is_title = block.split(' ').count() <= WORDS && !block.contains(['(', '"', '\'', '[']);
    (is_title && !block.is_empty()).then_some(block)
}

/// The letters and digits of a name, small: `test_adds` and `TestAdds` are one.
pub(super) fn letters(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::block_of;

    #[test]
    fn a_block_is_told_by_the_title() {
        for (name, block) in [
            ("clock > of the site > summer", Some("clock > of the site")),
            ("clock › summer", Some("clock")),
            ("schedule: daily", Some("schedule")),
            ("test_schedule", None),
            ("a rather long title: with an end", None),
            ("check(\"a: b\")", None),
        ] {
            assert_eq!(block_of(name), block, "{name}");
        }
    }
}
