//! The value that a page showed while an assertion waited for another one.

use jelly_base::model::Failure;

/// How Playwright writes in its log what an element had.
const SHOWN: &str = "unexpected value \"";
/// What a page shows that lacks what it asked for, in small letters.
const WAITS: [&str; 14] = [
    "error",
    "fail",
    "unavailable",
    "not available",
    "unreachable",
    "offline",
    "connect",
    "try again",
    "went wrong",
    "retry",
    "timed out",
    "loading",
    "please wait",
    "…",
];

/// Whether the page showed a value that is wrong, and no sign of a server that it misses.
pub(super) fn shows_wrong_value(failure: &Failure) -> bool {
    let texts = [&failure.text, &failure.message];
    texts.into_iter().flatten().any(|text| {
        let last = text.rsplit_once(SHOWN);
        let value = last.and_then(|(_, after)| after.lines().next());
        value.is_some_and(|value| {
            let value = value.trim_end().trim_end_matches('"').to_lowercase();
            !value.trim().is_empty() && !WAITS.iter().any(|word| value.contains(word))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::shows_wrong_value;
    use jelly_base::model::Failure;

    #[test]
    fn only_a_page_that_has_what_it_asked_for_shows_a_wrong_value() {
        for (value, wanted) in [
            ("Nothing found for undefined", true),
            ("3 items", true),
            ("", false),
            ("Something went wrong", false),
            ("Loading", false),
        ] {
            let text = format!(
                "Error: expect(locator).toHaveText(expected) failed\n  - 9 × locator resolved to <h1></h1>\n    - unexpected value \"{value}\"\n"
            );
            let failure = Failure {
                text: Some(text),
                ..Failure::default()
            };
            assert_eq!(shows_wrong_value(&failure), wanted, "{value}");
        }
        assert!(!shows_wrong_value(&Failure::default()));
    }
}
