//! Cases of one test that fail at one line: a table of values is one cause,
//! however each row puts it, unless the rows met different servers, answers or errors.

use super::addresses::Addresses;
use super::apart::exception;
use super::lacks::SubjectKind;
use super::mentions::Mentions;
use super::wanted::without_wanted;
use crate::engine::skeleton;
use jelly_base::model::FailureView;
use jelly_base::text::LazyPattern;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// What cases of one test share that fail at one line.
#[derive(PartialEq, Eq, Hash)]
struct SharedPlace<'v> {
    report: &'v str,
    class: Cow<'v, str>,
    function: String,
    root_cause: &'v str,
    line: &'v str,
    server: Option<String>,
    status: Option<String>,
    /// What came in place of a value.
    exception: Option<String>,
}

/// The words of an error, and the groups that tell it.
type RowError = (BTreeSet<String>, Vec<usize>);

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
    mentions: &HashMap<String, Mentions>,
) -> Vec<Vec<usize>> {
    let mut shared: HashMap<SharedPlace<'_>, Vec<RowError>> = HashMap::new();
    for (group, first) in first_of {
        let view = &views[first];
        let (Some(place), Some(function)) = (failed_at.get(view.fingerprint), function(view.name))
        else {
            continue;
        };
        let said = view.message.unwrap_or_default();
        let came = without_wanted(said);
        let key = SharedPlace {
            report: view.report,
            // jest-junit puts the whole name into the class.
            class: match view.classname.contains(view.name) {
                true => numberless(view.classname).map_or(view.classname.into(), Cow::Owned),
                false => view.classname.into(),
            },
            function,
            root_cause: view.kind.root_cause.as_str(),
            line: place,
            server: addresses.apart(first, view),
            status: status(said, &came),
            exception: mentions.get(view.report).and_then(|told| {
                let mut came = told.of(view).filter(|one| one.kind == SubjectKind::Came);
                Some(skeleton(exception(&came.next()?.name)?))
            }),
        };
        let errors = shared.entry(key).or_default();
        let words = error_words(&came, view.kind.root_cause == "code_exception");
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

/// The status of HTTP that came, where a message speaks of one; `came` is it without what
/// was wanted.
fn status(said: &str, came: &str) -> Option<String> {
    static STATUS: LazyPattern = LazyPattern::new(
        r"(?i)\b(?:status(?:[ _]?code)?|got|received)[ :=]{0,3}(?:(?:of|was) )?([1-5]\d\d)\b",
    );
    if !said.to_ascii_lowercase().contains("status") {
        return None;
    }
    Some(STATUS.captures(came)?[1].to_owned())
}

/// The words of an error that a message tells behind a word for it, or an exception behind its
/// class, but for what it quotes; none where it tells of values.
fn error_words(came: &str, is_exception: bool) -> BTreeSet<String> {
    static ERROR: LazyPattern = LazyPattern::new(r"(?i)\b(?:error|err)\b ?[=:] ?([^\n]+)");
    static EXCEPTION: LazyPattern =
        LazyPattern::ascii(r"\A(?:E +)?(?:[\w.$:\\]*(?:Error|Exception|Failure)): ([^\n]+)");
    static QUOTED: LazyPattern = LazyPattern::new(r#"'[^'\n]*'|"[^"\n]*"|`[^`\n]*`"#);
    let told = match is_exception {
        true => EXCEPTION.captures(came).or_else(|| ERROR.captures(came)),
        false => ERROR.captures(came),
    };
    let told = told.and_then(|found| found.get(1));
    let told = told.map_or("", |told| told.as_str());
    let told = QUOTED.replace_all(told, " ");
    let words = told.split(|c: char| !c.is_ascii_alphabetic());
    let words = words.filter(|word| word.len() > 3);
    words.map(str::to_owned).collect()
}

/// Whether two errors are told in the same words, most of them.
fn are_like(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let fewer = one.len().min(other.len());
    // A word or two may be the value.
    fewer < 3 || 2 * one.intersection(other).count() >= fewer
}

/// The test without the values that it was run with, which stand behind it:
/// `adds[1-2]`, `adds(int)[1]`, `TestAdds/one`, `adds #01`; nothing where there
/// are none.
pub(super) fn function(name: &str) -> Option<String> {
    let values = name.find(['[', '(', '/', '#', '{']);
    // PHPUnit: `testAdds with data set "one"`
    let set = name.find(" with data set ");
    let Some(end) = [values, set].into_iter().flatten().min() else {
        return numberless(name);
    };
    let function = name[..end].trim_end();
    (!function.is_empty()).then(|| skeleton(function))
}

/// A title without its numbers: `adds 1 and 2`. None where there are none, or nothing else.
/// A word that only ends in digits is a name, as `md5` and `SHOP-1412` are.
fn numberless(title: &str) -> Option<String> {
    const NUMBER: &str = "#";
    let is_number = |word: &str| {
        let mut letters = word.chars().filter(|c| c.is_alphanumeric());
        letters.next().is_some_and(|first| first.is_ascii_digit())
    };
    let words = title.split_whitespace();
    let words = words.map(|word| if is_number(word) { NUMBER } else { word });
    let words: Vec<&str> = words.collect();
    let is_row = words.contains(&NUMBER) && words.iter().any(|word| word.len() > 2);
    is_row.then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::{are_like, error_words, function, status, without_wanted};

    #[test]
    fn rows_that_met_other_errors_or_answers_are_told_apart() {
        let words = |said| error_words(&without_wanted(said), false);
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
        let status = |said| status(said, &without_wanted(said));
        for (one, other) in [
            (
                errors[1],
                "unexpected error: csv: wrong number of fields on line 9",
            ),
            ("got 1, want 2", "got a, want b"),
            ("got 150, want 200", "got 175, want 200"),
            (
                "Error: expected 'a long grey morning' to equal 'a short one'",
                "Error: expected 'quite another text' to equal 'something else'",
            ),
            ("assertion failed: row alpha", "assertion failed: row beta"),
        ] {
            assert!(are_like(&words(one), &words(other)), "{one}");
            assert_eq!(status(one), None);
        }
        for (said, wanted) in [
            ("status = 401, want 200", "401"),
            ("expected status code 200 but got 404", "404"),
            ("unexpected status: 503", "503"),
        ] {
            assert_eq!(status(said).as_deref(), Some(wanted), "{said}");
        }
        assert_eq!(status("expected status code 200"), None);
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
            ("adds 1 and 2", Some("adds # and #")),
            ("total 3x1", Some("total #")),
            ("test_adds", None),
            ("test_adds2", None),
            ("SHOP-1412 regression", None),
            ("md5 digest of a file", None),
            ("1 2", None),
            ("[1] 2, 3", None),
        ] {
            assert_eq!(function(name).as_deref(), wanted, "{name}");
        }
    }
}
