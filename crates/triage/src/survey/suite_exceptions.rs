//! Exceptions that show no line of the product: in one suite, those that say the same but for
//! their numbers are one fault.

use super::lacks::{Subject, SubjectKind};
use crate::engine::failing_line;
use jelly_base::model::{Failure, TriagedFailure};
use jelly_base::text::LazyPattern;

/// What an exception says that is about a place in a list, and no number of another kind.
const BOUNDS: [&str; 5] = ["range", "bound", "index", "size()", "length"];

/// What the product raised that shows no line of it, but for the numbers of a value: in one
/// suite, that is one fault.
pub(super) fn raised_in_suite(failure: &Failure, triaged: &TriagedFailure) -> Option<Subject> {
    const LETTERS: usize = 24;
    let suite = failure
        .classname
        .as_deref()
        .filter(|suite| !suite.is_empty())?;
    let said = &triaged.diagnosis.evidence.as_ref()?.text;
    if triaged.diagnosis.root_cause != "code_exception"
        || said.len() < LETTERS
        || !BOUNDS.iter().any(|word| said.contains(word))
        || failing_line(failure).is_some()
    {
        return None;
    }
    let bare: String = said.chars().filter(|c| !c.is_ascii_digit()).collect();
    Some(Subject::new(SubjectKind::Tested, &bare).within(suite))
}

/// What was thrown in a test of GoogleTest, which shows no line of it, but for its numbers and
/// the names that hold some: in one suite, that is one fault.
pub(super) fn thrown_in_suite(failure: &Failure, text: &str) -> Option<Subject> {
    static THROWN: LazyPattern = LazyPattern::new(r#"\bwith description "([^"\n]{4,200})""#);
    const LETTERS: usize = 8;
    // What a number tells of these is which.
    const TELLING: [&str; 7] = ["status", "code", "error", "http", "port", "errno", "line"];
    let suite = failure.classname.as_deref()?;
    let said = THROWN.captures(text)?.get(1)?.as_str();
    let small = said.to_ascii_lowercase();
    let has_number = said.contains(|c: char| c.is_ascii_digit());
    if !has_number || TELLING.iter().any(|word| small.contains(word)) {
        return None;
    }
    let is_plain = |word: &&str| !word.contains(|c: char| c.is_ascii_digit());
    let bare: Vec<&str> = said.split_whitespace().filter(is_plain).collect();
    let letters: usize = bare.iter().map(|word| word.len()).sum();
    (bare.len() > 1 && letters >= LETTERS).then(|| {
        let told = format!("thrown {}", bare.join(" "));
        Subject::new(SubjectKind::Tested, &told).within(suite)
    })
}

#[cfg(test)]
mod tests {
    use super::thrown_in_suite;
    use jelly_base::model::Failure;

    #[test]
    fn what_is_thrown_is_one_in_a_suite_but_for_its_numbers() {
        let told = |suite: &str, said: &str| {
            let failure = Failure {
                classname: Some(suite.into()),
                ..Failure::default()
            };
            let text =
                format!("C++ exception with description \"{said}\" thrown in the test body.");
            thrown_in_suite(&failure, &text)
        };
        let first = told("Tank", "tank t2: valve 20");
        assert!(first.is_some());
        assert_eq!(first, told("Tank", "tank t4: valve 300"));
        assert_ne!(first, told("Cellar", "tank t4: valve 300"));
        assert_eq!(told("Tank", "HTTP status 404 of the pump"), None);
        assert_eq!(told("Tank", "the valve is closed"), None);
    }
}
