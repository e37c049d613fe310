//! Messages that begin with the name of a function of the product: what differs between two
//! of them is what it was given.

use jelly_base::text::LazyPattern;

/// Whether a message begins with the name of a function, as in `price_label: no symbol for
/// currency GBP`: two such sentences that differ in a value are of one function.
pub(super) fn begins_with_function(said: &str) -> bool {
    static FUNCTION: LazyPattern = LazyPattern::ascii(
        r"\A(?:\w*(?:Error|Exception): )?(?:[a-z]+(?:_[a-z]+)+|[a-z]+(?:[A-Z][a-z]+)+|[a-z_]\w*\(\)): ",
    );
    FUNCTION.is_match(said)
}

/// The note of an assertion before the values that it compares, where it names a function:
/// `to_celsius gave the wrong degree: 1 != 0`.
pub(super) fn noted_function(said: &str) -> Option<&str> {
    static NOTE: LazyPattern = LazyPattern::ascii(
        r"\A((?:[a-z]+(?:_[a-z]+)+|[a-z]+(?:[A-Z][a-z]+)+)(?:\(\))? [a-z][^:\n]{4,80}): \S{1,40} != \S{1,40}\z",
    );
    // What it was called with, and gave: `nights(1, 3) is 3, expected 2`.
    static CALL: LazyPattern = LazyPattern::ascii(
        r"\A(?:ASSERT FAILED: |AssertionError: |\S+_test\.go:\d+: )?([a-z]\w*[_a-z0-9]\w+\()[^()\n]{1,80}\) (?:is|was|=|==|returned|returns|gave|gives|yields) [^\n]{1,60}?[,;] (?:but )?(?:expected|want(?:ed)?|not|should be|instead of) [^\n]{1,60}\z",
    );
    let said = said.trim();
    // The cheaper questions: patterns are compiled when they are first asked.
    let note = || NOTE.captures(said);
    let call = || CALL.captures(said);
    let noted = said.contains(" != ").then(note).flatten();
    let called = || said.contains(") ").then(call).flatten();
    let note = noted.or_else(called)?.get(1)?;
    Some(note.as_str())
}

/// A sentence without codes of capitals: of a currency, a country, a unit.
pub(super) fn without_codes(said: &str) -> String {
    let is_code = |word: &str| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        (2..=4).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let words = said.split(' ');
    let words = words.map(|word| if is_code(word) { "CODE" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{begins_with_function, noted_function, without_codes};

    #[test]
    fn a_note_is_what_stands_before_two_values_and_names_a_function() {
        let note = "to_celsius gave the wrong degree";
        assert_eq!(noted_function(&format!("{note}: 1 != 0")), Some(note));
        let call = Some("nights(");
        assert_eq!(
            noted_function("ASSERT FAILED: nights(1, 3) is 3, expected 2"),
            call
        );
        assert_eq!(noted_function("nights(2, 9) = 8; want 7"), call);
        for said in [
            "20 + 5 = 25, not 26",
            "gave the wrong degree: 1 != 0",
            "to_celsius(68) = 21 != 20",
            "1 != 0",
        ] {
            assert_eq!(noted_function(said), None, "{said}");
        }
    }

    #[test]
    fn one_function_says_one_sentence_of_any_code() {
        let said = |code: &str| format!("ValueError: price_label: no symbol for {code}");
        assert!(begins_with_function(&said("GBP")));
        assert!(!begins_with_function("ValueError: no symbol for GBP"));
        assert_eq!(without_codes(&said("GBP")), without_codes(&said("CHF")));
        assert_ne!(without_codes(&said("GBP")), without_codes(&said("pounds")));
    }
}
