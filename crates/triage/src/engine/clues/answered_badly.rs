//! Assertions that hold a status, or what a program exited with, against the good one, and
//! tell beside it what kept it from that: the words are the finding, and the number stands
//! for them.

use super::own_message::{
    tells_of_network, tells_of_refusal, tells_of_setting, tells_of_system, tells_whole_error,
};
use aho_corasick::AhoCorasick;
use jelly_base::text::LazyPattern;
use std::sync::LazyLock;

/// Bytes at the beginning of a text that are looked at.
const BEGINNING: usize = 8 * 1024;

/// The numbers that tell of no success, and those of one.
const BAD: &str = "(?:401|403|407|429|50[0-4])";
const GOOD: &str = "(?:20[0-6]|30[1-8])";

/// Where the words stand beside the comparison, by the framework.
const FORMS: &str = r#"(?xs)\A\s*
    # Playwright names the test first.
    (?:[^\n]*\ ›\ [^\n]*\n\s*)?
    (?:(?:[\w.]*AssertionError|[\w.]*AssertionFailedError|Error|Failed)(?:\ \[ERR_ASSERTION\])?:\s+)?
    (?:
      # Chai, @hapi/code
      (?P<chai>[^\n]+?):\ [Ee]xpected\ (?:
          <BAD>\ to\ (?:deeply\ |strictly\ )?(?:equal|be|eql)(?:\ specified\ value:)?\ <GOOD>\b
        | \{\ Object\ \((?:\w+,\ )?error\b[^)]*\)\ \}\ to\ have\ )
      # unittest
    | (?:<BAD>\ !=\ <GOOD>|<GOOD>\ !=\ <BAD>|0\ !=\ -?[1-9]\d{0,2}|-?[1-9]\d{0,2}\ !=\ 0)\ :\ (?P<unittest>.+)
      # pytest
    | (?P<pytest>.+?)\n\s*(?:E\s+)?assert\ (?:<BAD>\ ==\ <GOOD>|<GOOD>\ ==\ <BAD>|-?[1-9]\d{0,2}\ ==\ 0|0\ ==\ -?[1-9]\d{0,2})\b
      # Jest, Playwright
    | (?P<jest>[^\n].+?)\s+expect\(received\)\.to(?:Be|Equal|StrictEqual)\(expected\)[^\n]*\s+Expected:\ (?:<GOOD>\s+Received:\ <BAD>|0\s+Received:\ -?[1-9]\d{0,2})\b
      # Node
    | (?P<node>.+?)\s+\+\ expected\ -\ actual\s+-(?:false|<BAD>)\s+\+(?:true|<GOOD>)\b
    | (?P<assert>.+?)\s+\+\ actual\ -\ expected\s+\+\ (?:false|<BAD>)\s+-\ (?:true|<GOOD>)\b
      # Perl
    | (?:not\ ok\ [^\n]*\s+)?(?:\#[^\n]*\s+){0,4}?\#\s+got:\ '?<BAD>'?\s+\#\s+expected:\ '?<GOOD>'?\s+\#\ (?P<perl>.+)
      # tape
    | (?:---\s+)?operator:\ (?:equal|ok|strictEqual)\s+expected:\s+(?:true\s+actual:\s+false|<GOOD>\s+actual:\s+<BAD>|0\s+actual:\s+[1-9]\d{0,2})\s+(?:at:[^\n]*\s+)?stack:\ (?:\|-\s+)?Error:\ (?P<tape>[^\n]+)
      # What was to be no error.
    | (?:---\s+)?operator:\ (?:error|ifError)\s+(?:expected:[^\n]*\s+)?(?:actual:[^\n]*\s+)?(?:at:[^\n]*\s+)?stack:\ (?:\|-\s+)?(?P<iferror>.+)
      # behave, and whoever says so himself
    | (?:ASSERT\ FAILED:\ )?expected\ <GOOD>,?\ (?:but\ )?got\ <BAD>(?::|,)?\s+(?P<got>.+)
      # Robot Framework
    | (?P<robot>[^\n]+):\ [1-9]\d{0,2}\ !=\ 0\s*\z
    )"#;

/// The words beside a number that tells of no success, where they tell what was in the way,
/// in a text as it is; `stated` makes of it what it states.
pub(super) fn words_beside(text: &str, stated: impl Fn(&str) -> String) -> Option<String> {
    static MARKS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        AhoCorasick::new([
            " to equal",
            " to be ",
            " to deeply",
            " to have ",
            " != ",
            "assert ",
            "Received: ",
            "expected ",
            "expected - actual",
            "actual - expected",
            " got: ",
            "operator: ",
        ])
        .ok()
    });
    // Few texts tell such a thing, so few are looked at any longer. Python's end with it.
    let last = &text[text.ceil_char_boundary(text.len().saturating_sub(BEGINNING))..];
    let may_tell =
        |part: &str| MARKS.as_ref().is_some_and(|marks| marks.is_match(part)) && tells(part);
    if !may_tell(beginning(text)) && !may_tell(last) {
        return None;
    }
    let of_python = text.contains("Traceback (most recent") || text.contains("\nE  ");
    match of_python {
        true => words_in(beginning(&stated(text))),
        false => words_in(beginning(text)),
    }
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(BEGINNING.min(text.len()))]
}

fn words_in(text: &str) -> Option<String> {
    static WORDS: LazyPattern =
        LazyPattern::made(|| FORMS.replace("<BAD>", BAD).replace("<GOOD>", GOOD));
    static REFUSED: LazyPattern = LazyPattern::new(r"\b(?:401|403|407)\b");
    static COUNT: LazyPattern = LazyPattern::new(r"\b0 (?:!=|==) |(?:!=|==) 0\b|: +0\b");
    let found = WORDS.captures(text)?;
    let told = found.iter().skip(1).flatten().next()?;
    let words = told.as_str().trim();
    let beside = [
        &text[..told.start()],
        &text[told.end()..found.get(0)?.end()],
    ];
    let is_any = |numbers: &LazyPattern| beside.iter().any(|beside| numbers.is_match(beside));
    let by_peer = || tells_of_network(words) || tells_of_refusal(words);
    // A count may be none, too, and what is counted may have any name; and the product
    // refuses in its own words.
    let is_count = is_any(&COUNT) && !tells_whole_error(words);
    let is_own = (is_count || is_any(&REFUSED)) && !by_peer();
    (tells(words) && !is_own).then(|| words.to_owned())
}

fn tells(words: &str) -> bool {
    tells_of_system(words) || tells_of_refusal(words) || tells_of_setting(words)
}

#[cfg(test)]
mod tests {
    use super::words_beside;

    #[test]
    fn words_stand_for_the_number_beside_them() {
        let refused = r#"{"error":"depot: getaddrinfo ENOTFOUND depot.svc"}"#;
        for text in [
            &format!("AssertionError: {refused}: expected 500 to equal 200"),
            &format!(
                "Error: {refused}: Expected 500 to equal specified value: 200\n    at x (y.js:1:2)"
            ),
            &format!("AssertionError: 503 != 200 : {refused}"),
            &format!("AssertionError: {refused}\nassert 500 == 200\n +  where 500 = x"),
            &format!(
                "\n  api.js:1:2 › depot ───\n\n    Error: {refused}\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 200\n    Received: 502\n"
            ),
            &format!(
                "AssertionError [ERR_ASSERTION]: {refused}\n    + expected - actual\n\n    -false\n    +true\n"
            ),
            &format!(
                "not ok 2 - opens\n\n#   Failed test 'opens'\n#   at t/a.t line 5.\n#          got: '502'\n#     expected: '200'\n# {refused}"
            ),
            &format!(
                "---\n operator: equal\n expected: 200\n actual:   502\n at: Test.<anonymous> (/a.js:1:2)\n stack: Error: {refused}\n"
            ),
            &format!("{refused}: 1 != 0"),
        ] {
            let words = words_beside(text, str::to_owned);
            assert_eq!(words.as_deref(), Some(refused), "{text}");
        }
        let module = "AssertionError: 0 != 1 : node:internal/x\nError: Cannot find module 'pg'\n";
        assert!(words_beside(module, str::to_owned).is_some());
    }

    #[test]
    fn what_the_product_says_is_compared() {
        for text in [
            r#"AssertionError: {"error":"order 7 is closed"}: expected 500 to equal 200"#,
            "AssertionError: 3 != 4 : connection refused by peer 10.0.0.1",
            "AssertionError: expected 'ECONNREFUSED' to equal 'ok'",
            "AssertionError: 404 != 200 : ENOTFOUND",
            "AssertionError: 403 != 200 : Permission denied: staff only",
            "AssertionError: connection refused counter must stay zero\nassert 3 == 0",
        ] {
            assert_eq!(words_beside(text, str::to_owned), None, "{text}");
        }
    }
}
