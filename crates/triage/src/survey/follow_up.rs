//! The second failure of a test that could not be prepared: its tear-down stumbles over what
//! the preparation would have left.

use jelly_base::model::{Diagnosis, Side};

/// Whether a test lacked what it needs before it did anything.
pub(super) fn is_of_preparation(diagnosis: &Diagnosis) -> bool {
    let causes = [
        "config_missing",
        "data_setup",
        "fixture_error",
        "missing_file",
    ];
    diagnosis.side == Side::Test && causes.contains(&diagnosis.root_cause.as_str())
}

/// Whether something outside of the product stumbled over a value that is not there: behind a
/// preparation that failed, its own tear-down does so.
pub(super) fn stumbles_over_nothing(diagnosis: &Diagnosis) -> bool {
    const NOTHING: [&str; 6] = [
        "of undefined",
        "of null",
        "undefined is not an object",
        "'NoneType' object",
        "for nil",
        "is null",
    ];
    let said = diagnosis
        .evidence
        .as_ref()
        .map(|evidence| evidence.text.as_str());
    let said = said.unwrap_or_default();
    diagnosis.root_cause == "code_exception"
        && (diagnosis.ambiguous || diagnosis.side == Side::Test)
        && NOTHING.iter().any(|words| said.contains(words))
}

#[cfg(test)]
mod tests {
    use super::{is_of_preparation, stumbles_over_nothing};
    use crate::engine::Engine;
    use jelly_base::model::{Diagnosis, Failure};

    fn of(text: &str) -> Diagnosis {
        Engine::builtin().diagnose(&Failure {
            dialect: Some("vitest".into()),
            element: Some("failure".into()),
            text: Some(text.into()),
            ..Failure::default()
        })
    }

    #[test]
    fn what_a_tear_down_misses_after_a_failed_preparation_is_no_failure_of_its_own() {
        let missing =
            of("Error: ENOENT: no such file or directory, open 'test/fixtures/feed.json'");
        let wrong = of("AssertionError: expected 3 to be 4");
        assert!(is_of_preparation(&missing) && !is_of_preparation(&wrong));
        let left = "TypeError: Cannot read properties of undefined (reading 'close')\n ❯ ";
        assert!(stumbles_over_nothing(&of(&format!(
            "{left}test/import.test.js:5:24"
        ))));
        assert!(!stumbles_over_nothing(&of(&format!(
            "{left}src/feed.js:5:24"
        ))));
        assert!(!stumbles_over_nothing(&wrong));
    }
}
