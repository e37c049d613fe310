//! Failures of something that was asked and did not do its work.

use super::shown_values::shows_wrong_value;
use super::wanted::without_wanted;
use crate::engine::{failing_line, stumbled};
use jelly_base::model::{Failure, TriagedFailure};
use regex::Regex;
use std::sync::LazyLock;

/// Whether a failure is one of something that was asked and did not do its work: an
/// answer with an error, a program that failed, a wait in vain. Only of such ones the
/// output counts; a wrong number is wrong whoever is away besides.
pub(super) fn is_answer(failure: &Failure, triaged: &TriagedFailure) -> bool {
    static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?x) \breturncode\b | \b[Ee]xit(?:ed|\ code|\ status|code|_code)?\b
              | [Ss]erver\ ?[Ee]rror | \b(?:BadGateway|ServiceUnavailable|GatewayTimeout)\b
              | (?i:unavailable|timed\ ?out|time\ out|not\ available|did\ not\ (?:come|answer|start))
              | (?i:time-?out)(?:Error|Exception|Expired|[\s.,;)]|:\s*[^\s\d]|$)
              | \bassert\ [1-9]\d?\ ==\ 0\b.{0,60}\b(?:main|cli|run|invoke|exit|call)\w*\ at\ 0x
              | \bKeyError\b | ''\ == | \b[Ee]rror['\x22]?:\ ",
        )
        .ok()
    });
    let diagnosis = &triaged.diagnosis;
    match diagnosis.root_cause.as_str() {
        // What came is told, or did not come for what it was told to do.
        "expected_error" | "mock_expectation" => false,
        // A fixture of that name is none.
        "fixture_error" => {
            let told = triaged.message.as_deref().unwrap_or_default();
            !told.contains("fixture '")
        }
        // What waited in vain says no more.
        "internal_error" | "locator_not_found" | "process_crashed" | "resource_exhausted"
        | "test_timeout" | "upstream_error" | "wait_timeout" => true,
        cause => {
            let told = triaged.message.as_deref().unwrap_or_default();
            let told = told
                .replace("AssertionError: ", "")
                .replace("AssertionFailedError: ", "")
                .replace("Error: expect(", "expect(");
            let silent = cause == "unknown" && told.is_empty();
            // A program that ended well.
            if told.starts_with("assert 0 == ") {
                return false;
            }
            // Whose assertions wait until they hold.
            let waited = diagnosis.rule == "browser/web-first-assertion";
            if waited && shows_wrong_value(failure) {
                return false;
            }
            let shown = silent
                || waited
                || diagnosis.rule.starts_with("http/")
                || has_error_status(&told)
                || ERROR.as_ref().is_some_and(|error| error.is_match(&told));
            // What the product stumbles over is its own.
            let in_product = || {
                let place = failing_line(failure);
                place.is_some_and(|place| stumbled(&place, "").is_some())
            };
            shown && (cause != "code_exception" || !in_product())
        }
    }
}

/// Whether a message tells that the status of a server's error came: 500 items are no such
/// one, and neither is a 503 that was wanted.
fn has_error_status(told: &str) -> bool {
    static STATUS: LazyLock<Option<[Regex; 2]>> = LazyLock::new(|| {
        let others = r"(?x) \b(?: 20[0-6] | 30[1-8] | 4[012]\d )\b
              | (?i: status | \bhttps?\b | \bcode\b | respon[sd] | gateway | upstream )
              | \b(?: GET | POST | PUT | PATCH | DELETE )\b | \b[Ee]rror\ 50[0-4]\b";
        Some([Regex::new(r"\b50[0-4]\b").ok()?, Regex::new(others).ok()?])
    });
    let came = without_wanted(told);
    STATUS
        .as_ref()
        .is_some_and(|[status, others]| status.is_match(&came) && others.is_match(told))
}

#[cfg(test)]
mod tests {
    use super::has_error_status;

    #[test]
    fn the_status_that_came_counts_and_not_the_one_that_was_wanted() {
        for came in [
            "assert 503 == 200",
            "expected 503 to equal 200",
            "expect(received).toBe(expected) // Object.is equality Expected: 200 Received: 503",
            "Status expected:<200> but was:<503>",
            "handler returned wrong status code: got 500 want 200",
            "expected: 200 got: 503 (compared using ==)",
            "Expected: is <200> but: was <503>",
            "503 != 200",
            "expected the response to have status code :ok (200) but it was 503",
        ] {
            assert!(has_error_status(came), "{came}");
        }
        for wanted in [
            "expected status 503 in maintenance mode, got 200",
            "assert 200 == 503",
            "expected 200 to equal 503",
            "Status expected:<503> but was:<200>",
        ] {
            assert!(!has_error_status(wanted), "{wanted}");
        }
    }
}
