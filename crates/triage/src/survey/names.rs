//! Names in what a failure says of itself that are no words: a variable of the environment,
//! a column, a file. Alone they tell nothing; where another failure is about the thing of
//! that name, this one is about it, too.

use super::lacks::{Subject, SubjectKind};
use jelly_base::model::{Failure, TriagedFailure};
use jelly_base::text::LazyPattern;
use std::collections::BTreeSet;

/// Names that are kept of one failure: who names more tells of none of them.
const OF_ONE: usize = 6;
/// Bytes and lines of a text that are read for names.
const READ: usize = 4 << 10;
const LINES: usize = 40;
/// Letters of a name.
const SHORTEST: usize = 6;
const LONGEST: usize = 120;

/// Whether a name can't be a word of any text: it has parts.
pub(super) fn is_name(name: &str) -> bool {
    let bare = name.trim_matches(['_', '/', '.']);
    // In all programs there are things of that name.
    let ends = ["_id", "_at", "_by", "_on"];
    if ends.iter().any(|end| name.ends_with(end)) {
        return false;
    }
    let is_type = name.starts_with(char::is_uppercase) && bare.split('.').count() > 2;
    let has_parts = bare.contains(['_', '/', '\\']) || is_type;
    (SHORTEST..=LONGEST).contains(&name.len()) && has_parts
}

/// The names of what a failure says is not there, its own and those of its test left out.
pub(super) fn names(failure: &Failure, triaged: &TriagedFailure) -> BTreeSet<Subject> {
    let evidence = triaged.diagnosis.evidence.as_ref();
    let evidence = evidence.map(|evidence| evidence.text.as_str());
    let text = failure.text.as_deref().unwrap_or_default();
    let text = &text[..text.floor_char_boundary(READ.min(text.len()))];
    let said = [failure.message.as_deref(), evidence];
    let said = said.into_iter().flatten().flat_map(|said| said.lines());
    let lines: Vec<&str> = said.take(LINES).chain(own_lines(text)).collect();
    let is_absent_in = |lines: &[&str]| lines.iter().any(|line| tells_of_nothing(line));
    if !is_absent_in(&lines) || lines.iter().any(|line| shows_it_is_there(line)) {
        return BTreeSet::new();
    }
    let mut found = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        // The line at which a test failed stands beside what it found there.
        let is_asked = line.starts_with('>') || line.contains("expect(");
        if is_asked || is_absent_in(&lines[at..=at]) {
            found.extend(named(line).filter(|name| !is_of_test(failure, name)));
        }
    }
    if found.len() > OF_ONE {
        return BTreeSet::new();
    }
    found
        .into_iter()
        .map(|name| Subject::new(SubjectKind::Name, name))
        .collect()
}

/// The lines of a text that say something, and that at which it failed: no frames, and no
/// source around that line.
pub(super) fn own_lines(text: &str) -> impl Iterator<Item = &str> {
    let is_pytest = text.starts_with("E  ") || text.contains("\nE  ");
    text.lines().take(LINES).filter(move |line| {
        let is_own = line.starts_with("E  ") || line.starts_with(">  ");
        let bare = line.trim_start();
        let is_around = bare
            .split_once('|')
            .is_some_and(|(number, _)| number.trim().bytes().all(|byte| byte.is_ascii_digit()));
        match is_pytest {
            true => is_own,
            false => !is_frame(bare) && !is_around,
        }
    })
}

fn named(line: &str) -> impl Iterator<Item = &str> {
    static NAME: LazyPattern = LazyPattern::new(
        r#"['"`](?:[A-Za-z]:\\|\.{0,2}/)?[\w.@+~-]+(?:[/\\][\w.@+~-]+)+['"`]|\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b(?:\()?|\b[A-Z]\w+(?:\.[A-Z]\w+){2,}\b(?:\()?"#,
    );
    let found = NAME.find_iter(line).map(|found| found.as_str());
    // What is called is no thing.
    let found = found.filter(|name| !name.ends_with('('));
    let found = found.map(|name| name.trim_matches(['\'', '"', '`']));
    found.filter(|name| is_name(name))
}

fn is_of_test(failure: &Failure, name: &str) -> bool {
    let own = [
        &failure.name,
        &failure.classname,
        &failure.suite,
        &failure.file,
    ];
    let mut own = own.into_iter().flatten();
    own.any(|own| own.contains(name)) || name.starts_with("test_")
}

/// Whether a line says of a thing what can be said only where it is there, or speaks of
/// arguments and fields of that name.
fn shows_it_is_there(line: &str) -> bool {
    static THERE: LazyPattern = LazyPattern::new(
        r"(?i)\bviolates\b|\bconstraint\b|\bnot-null\b|\bpermission denied\b|\bdeadlock\b|\bduplicate\b|\bargument\b|\bunrecogni[sz]ed\b|\bvalidation\b|\binvalid\b|\bunknown field\b|\bparsing\b",
    );
    THERE.is_match(line)
}

/// Whether a line says that there is nothing where something should be.
fn tells_of_nothing(line: &str) -> bool {
    static NOTHING: LazyPattern = LazyPattern::new(
        r"\b(?:undefined|null|nil|None|NotPresent|missing|empty)\b|\bnot (?:found|set|exist|defined|contain|present)|\bhas no attribute\b|\bassert '\w+' in |\bto (?:include|contain|have property)\b",
    );
    NOTHING.is_match(line)
}

/// Whether a line, but for the space before it, is a place of a stack.
pub(super) fn is_frame(line: &str) -> bool {
    line.starts_with("at ") || line.starts_with("File \"")
}

#[cfg(test)]
mod tests {
    use super::names;
    use crate::engine::Engine;
    use jelly_base::model::{Failure, TriagedFailure};

    fn told(message: &str, text: &str) -> Vec<String> {
        let failure = Failure {
            element: Some("failure".into()),
            name: Some("shows the_title".into()),
            message: Some(message.into()),
            text: Some(text.into()),
            ..Failure::default()
        };
        let triaged = TriagedFailure {
            message: failure.message.clone(),
            diagnosis: Engine::builtin().diagnose(&failure),
            ..TriagedFailure::default()
        };
        let names = names(&failure, &triaged).into_iter();
        names.map(|one| one.name.into_string()).collect()
    }

    #[test]
    fn a_failure_names_what_it_is_about() {
        for (message, text, name) in [
            (
                "undefined method `net_weight' for an instance of Crate",
                "",
                "net_weight",
            ),
            (
                "AssertionError: assert 'net_weight' in {'id', 'size'}",
                ">       assert c.name in cols\nE       AssertionError: assert 'net_weight' in {'id', 'size'}",
                "net_weight",
            ),
            (
                "expected undefined to be 'HALL-3'",
                "AssertionError: expected undefined to be 'HALL-3'\n\n expect(env.HALL_ID).toBe('HALL-3')\n at x (/srv/a_b/c.js:3:4)",
                "HALL_ID",
            ),
            (
                "Reading '/srv/seed/tags.csv': file not found",
                "",
                "/srv/seed/tags.csv",
            ),
        ] {
            assert_eq!(told(message, text), [name], "{message}");
        }
    }

    #[test]
    fn what_is_compared_or_called_is_not_what_a_failure_is_about() {
        for message in [
            "expected { net_weight: 3 } to equal { net_weight: 4 }",
            "net_weight(3) failed",
            "the_title is wrong",
            "the weight is missing",
        ] {
            assert!(told(message, "").is_empty(), "{message}");
        }
    }
}
