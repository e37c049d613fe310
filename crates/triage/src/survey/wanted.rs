//! Which part of what an assertion says is the value that it wanted.

use jelly_base::text::LazyPattern;
use std::borrow::Cow;

/// Root causes of failures that hold what came against what was wanted.
pub(super) const COMPARES: [&str; 4] = [
    "assertion_mismatch",
    "expected_error",
    "mock_expectation",
    "snapshot_mismatch",
];

/// What finds the wanted value in the words of frameworks: where it stands behind what
/// came, as in `expected 3 to equal 4`, and where it has a word of its own.
pub(super) fn wanted_in(text: &str) -> &'static LazyPattern {
    static IS_BEHIND: LazyPattern = LazyPattern::new(
        r"\b(?i:expect(?:ed|ing)?)\b[^\n]*?\b(?:not )?to (?:not )?(?:equal|eql?|be|have|include|contain|match|throw|find)\b",
    );
    static BEHIND: LazyPattern = LazyPattern::new(
        r#"(?xm) \bto\ find\b[^\n]*?\ in\ "
            | \bto\ (?:not\ )?(?:equal|eql?|be|have|include|contain|match|throw)\b
              [^\n]*?(?:\b(?i:but|got|received|because)\b|\ \(|$)
            | \b(?:including|containing|matching)\b[^\n]*?(?:\b(?i:but|got|received)\b|$)"#,
    );
    static NAMED: LazyPattern = LazyPattern::new(
        r"(?xm) \ ==\ [^\n]*
            | \b(?i:expected|want(?:ed)?)\b:?[^\n]*?(?:\b(?i:but|got|actual|received|was)\b|;\ |\ \(|$)
            | ^\s*-(?:\ |['\x22])[^\n]*",
    );
    // Node marks what came and what was wanted.
    static OF_NODE: LazyPattern =
        LazyPattern::new(r"(?m)(?:^|\s)- +(?:'[^'\n]*'|\x22[^\x22\n]*\x22|[^\n]*)");
    if text.contains("+ actual - expected") {
        return &OF_NODE;
    }
    match IS_BEHIND.is_match(text) {
        true => &BEHIND,
        false => &NAMED,
    }
}

/// A text without the value that was wanted.
pub(super) fn without_wanted(text: &str) -> Cow<'_, str> {
    wanted_in(text).replace_all(text, " ")
}
