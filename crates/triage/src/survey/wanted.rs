//! Which part of what an assertion says is the value that it wanted.

use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Root causes of failures that hold what came against what was wanted.
pub(super) const COMPARES: [&str; 4] = [
    "assertion_mismatch",
    "expected_error",
    "mock_expectation",
    "snapshot_mismatch",
];

/// What finds the wanted value in the words of frameworks: where it stands behind what
/// came, as in `expected 3 to equal 4`, and where it has a word of its own.
pub(super) fn wanted_in(text: &str) -> Option<&'static Regex> {
    static FOUND: LazyLock<Option<[Regex; 4]>> = LazyLock::new(|| {
        let is_behind = r"\b(?i:expect(?:ed|ing)?)\b[^\n]*?\b(?:not )?to (?:not )?(?:equal|eql?|be|have|include|contain|match|throw|find)\b";
        let behind = r#"(?xm) \bto\ find\b[^\n]*?\ in\ "
            | \bto\ (?:not\ )?(?:equal|eql?|be|have|include|contain|match|throw)\b
              [^\n]*?(?:\b(?i:but|got|received)\b|\ \(|$)
            | \b(?:including|containing|matching)\b[^\n]*?(?:\b(?i:but|got|received)\b|$)"#;
        let named = r"(?xm) \ ==\ [^\n]*
            | \b(?i:expected|want(?:ed)?)\b:?[^\n]*?(?:\b(?i:but|got|actual|received|was)\b|;\ |\ \(|$)
            | ^\s*-(?:\ |['\x22])[^\n]*";
        // Node marks what came and what was wanted.
        let of_node = r"(?m)(?:^|\s)- +(?:'[^'\n]*'|\x22[^\x22\n]*\x22|[^\n]*)";
        let all = [is_behind, behind, named, of_node].map(Regex::new);
        let [Ok(is_behind), Ok(behind), Ok(named), Ok(of_node)] = all else {
            return None;
        };
        Some([is_behind, behind, named, of_node])
    });
    let [is_behind, behind, named, of_node] = FOUND.as_ref()?;
    if text.contains("+ actual - expected") {
        return Some(of_node);
    }
    Some(match is_behind.is_match(text) {
        true => behind,
        false => named,
    })
}

/// A text without the value that was wanted.
pub(super) fn without_wanted(text: &str) -> Cow<'_, str> {
    match wanted_in(text) {
        Some(wanted) => wanted.replace_all(text, " "),
        None => text.into(),
    }
}
