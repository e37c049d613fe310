//! Cases of one test that fail at one line: a table of values is one cause,
//! however each row puts it, unless the rows met different servers, answers or errors.

use super::addresses::Addresses;
use crate::engine::skeleton;
use jelly_base::model::FailureView;
use jelly_base::text::LazyPattern;
use std::collections::{BTreeSet, HashMap};

/// What cases of one test share that fail at one line: that line, the server that they are
/// about, and the status that came.
type SharedPlace<'v> = (
    &'v str,
    &'v str,
    String,
    &'v str,
    &'v str,
    Option<String>,
    Option<&'v str>,
);

/// The words of an error, and the groups that tell it.
type RowError<'v> = (BTreeSet<&'v str>, Vec<usize>);

/// Errors that one line is known to tell. More are not compared.
const DIFFERENT: usize = 64;

/// Which failures are of one test function that is run with several values, and
/// fail of one kind of cause at one line. `first_of` are places in `views`, and
/// `failed_at` tells lines by fingerprint.
pub(super) fn one_line_each(
    views: &[FailureView<'_>],
    first_of: impl Iterator<Item = (usize, usize)>,
    failed_at: &HashMap<String, String>,
    addresses: &Addresses,
) -> Vec<Vec<usize>> {
    let mut shared: HashMap<SharedPlace<'_>, Vec<RowError<'_>>> = HashMap::new();
    for (group, first) in first_of {
        let view = &views[first];
        let (Some(place), Some(function)) = (failed_at.get(view.fingerprint), function(view.name))
        else {
            continue;
        };
        let root_cause = view.kind.root_cause.as_str();
        let said = view.message.unwrap_or_default();
        let key = (
            view.report,
            view.classname,
            function,
            root_cause,
            &**place,
            addresses.apart(first, view),
            status(said),
        );
        let errors = shared.entry(key).or_default();
        let words = error_words(said);
        match errors.iter().position(|(known, _)| are_like(known, &words)) {
            Some(at) => errors[at].1.push(group),
            None if errors.len() < DIFFERENT => errors.push((words, vec![group])),
            None => {}
        }
    }
    let groups = shared.into_values().flatten().map(|(_, groups)| groups);
    let mut found: Vec<Vec<usize>> = groups.filter(|all| all.len() > 1).collect();
    found.sort_unstable();
    found
}

/// The status of HTTP that a message says came.
fn status(said: &str) -> Option<&str> {
    static STATUS: LazyPattern = LazyPattern::new(
        r"(?i)\bstatus(?:[ _]?code)?(?: = |: |=| of | was |, got | got | )(\d{3})\b",
    );
    Some(STATUS.captures(said)?.get(1)?.as_str())
}

/// The words of an error that a message tells behind a word for it; none where it tells
/// of values.
fn error_words(said: &str) -> BTreeSet<&str> {
    static ERROR: LazyPattern = LazyPattern::new(
        r"(?i)\b(?:unexpected error|got (?:an )?error|returned (?:an )?error|error|err|failed):? ?[=:] ?([^\n]+)",
    );
    let told = ERROR.captures(said).and_then(|found| found.get(1));
    let told = told.map_or("", |told| told.as_str());
    let words = told.split(|c: char| !c.is_ascii_alphabetic());
    words.filter(|word| word.len() > 3).collect()
}

/// Whether two errors are told in the same words, most of them.
fn are_like(one: &BTreeSet<&str>, other: &BTreeSet<&str>) -> bool {
    let fewer = one.len().min(other.len());
    fewer == 0 || 2 * one.intersection(other).count() >= fewer
}

/// The test without the values that it was run with, which stand behind it:
/// `adds[1-2]`, `adds(int)[1]`, `TestAdds/one`, `adds #01`; nothing where there
/// are none.
fn function(name: &str) -> Option<String> {
    let values = name.find(['[', '(', '/', '#', '{']);
    // PHPUnit: `testAdds with data set "one"`
    let set = name.find(" with data set ");
    let end = [values, set].into_iter().flatten().min()?;
    let function = name[..end].trim_end();
    (!function.is_empty()).then(|| skeleton(function))
}

#[cfg(test)]
mod tests {
    use super::{are_like, error_words, function, status};

    #[test]
    fn rows_that_met_other_errors_or_answers_are_told_apart() {
        let words = |said| error_words(said);
        let errors = [
            "unexpected error: token signature is invalid",
            "unexpected error: csv: wrong number of fields on line 3",
            "err = refund exceeds charge",
        ];
        for (at, one) in errors.iter().enumerate() {
            for (other_at, other) in errors.iter().enumerate() {
                assert_eq!(are_like(&words(one), &words(other)), at == other_at);
            }
        }
        let near = "unexpected error: csv: wrong number of fields on line 9";
        assert!(are_like(&words(errors[1]), &words(near)));
        assert!(are_like(&words("got 1, want 2"), &words("got a, want b")));
        assert_eq!(status("status = 401, want 200"), Some("401"));
        assert_eq!(status("expected status code 200"), Some("200"));
        assert_eq!(status("got 3, want 4"), None);
    }

    #[test]
    fn the_values_of_a_test_are_no_part_of_it() {
        for (name, wanted) in [
            ("test_adds[1-2]", Some("test_adds")),
            ("adds(int)[1]", Some("adds")),
            ("adds [1] 2, 3", Some("adds")),
            ("TestAdds/one", Some("TestAdds")),
            ("adds #01", Some("adds")),
            ("testAdds with data set \"one\"", Some("testAdds")),
            ("test_adds", None),
            ("[1] 2, 3", None),
        ] {
            assert_eq!(function(name).as_deref(), wanted, "{name}");
        }
    }
}
