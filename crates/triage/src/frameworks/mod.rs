//! What is known of each test framework, from the files of this folder: one
//! for a framework, or for what several share of a language. The build script
//! checks them and writes them down as data; `spec` says what may stand there.

use jelly_base::text::LazyPattern;

macro_rules! described {
    ($($item:item)*) => {
        $(#[derive(Debug)]
        $item)*
    };
}

#[cfg(test)]
pub(crate) mod example;
pub(crate) mod spec;

#[cfg(test)]
use example::{ExampleTest, ReportExample, RerunExample};
use spec::{
    Change::*, Comparison::*, Condition, Framework, LabelledValue, LabelledValue::*, NamedValue,
    Oddity, Oddity::*, Placeholder, ProjectBeginning, ReportSign, Rerun, RerunWay, SignFact,
    SignPart::*, Template,
};

type StaticText = &'static str;
type Items<T> = &'static [T];
type PatternRef = &'static LazyPattern;

static EMPTY: LazyPattern = LazyPattern::new("");

// `FRAMEWORKS` by their ranks, `SIGNS` from the strongest, and of all frameworks:
// - `LIBRARIES`, `LIBRARY_PLACES`: how places in code of other people begin, and
//   patterns of them. A folder that projects name so as well (`internal`, `dist`,
//   `build`, `lib`, `out`) tells nothing by its name alone;
// - `ODDITIES`, by writer;
// - `LABELS`: words that announce a compared value, longer ones first;
// - `PAIRS`: what opens the first of two values in brackets, and what may stand
//   between them; `DIFFS`: beginnings of lines that head a diff; `BLOCK_ENDS`:
//   beginnings of lines that no value goes over;
// - `HOOKS`: parts of frames of a set-up or tear-down;
// - `ENDS`: beginnings and parts of lines behind which nothing is said of a failure;
// - `PROGRESS`: beginnings of lines that only say which test runs;
// - `TALK`: beginnings of lines that say nothing of a failure.
include!(concat!(env!("OUT_DIR"), "/frameworks.rs"));

/// By framework, tests with the commands that run them again; and reports with
/// their writers.
#[cfg(test)]
pub(crate) static EXAMPLES: (
    Items<(StaticText, Items<RerunExample>)>,
    Items<ReportExample>,
) = include!(concat!(env!("OUT_DIR"), "/framework-examples.rs"));

/// The framework that a writer of reports is known to write for, as far as one
/// is.
pub(crate) fn of_writer(writer: &str) -> Option<&'static Framework> {
    let writer = writer.to_ascii_lowercase();
    FRAMEWORKS.iter().find(|framework| {
        let is_in = |part: &&str| writer.contains(part);
        framework.writers.iter().any(is_in) || framework.exactly.contains(&writer.as_str())
    })
}

/// Whether `command` is one of another framework than that of the writer, where
/// that is known.
pub(crate) fn is_foreign(command: &str, writer: &str) -> bool {
    let begins = |begin: &&&str| command.starts_with(**begin);
    let known = FRAMEWORKS.iter().flat_map(|framework| framework.commands);
    let Some(begin) = known.filter(begins).max_by_key(|begin| begin.len()) else {
        return false;
    };
    of_writer(writer).is_some_and(|own| {
        let shared = called(own.language).map_or(&[][..], |language| language.commands);
        !own.commands.contains(begin) && !shared.contains(begin)
    })
}

/// Whether the writer, or one of its family, is odd so.
pub(crate) fn is_odd(writer: &str, oddity: Oddity) -> bool {
    let mut odd = ODDITIES.iter().filter(|(_, of)| *of == oddity);
    odd.any(|(of, _)| is_of_family(writer, of))
}

/// Whether a writer is `family` or a variant of it: `phpstan-ci`, `rubocop2`.
pub(crate) fn is_of_family(writer: &str, family: &str) -> bool {
    let rest = writer.strip_prefix(family);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// The file of a test, as its failure tells it in the way of its framework.
pub(crate) fn file_of<'t>(writer: &str, failure: &'t str) -> Option<&'t str> {
    let framework = of_writer(writer)?;
    let of_language = || called(framework.language)?.place;
    let place = framework.place.or_else(of_language)?;
    Some(place.captures_iter(failure).last()?.name("file")?.as_str())
}

/// What else a failure tells of its test, by name, in the way of its framework.
pub(crate) fn told_by(writer: &str, failure: &str) -> Vec<(StaticText, String)> {
    let patterns = of_writer(writer).map_or(&[][..], |framework| framework.tells);
    let mut told = Vec::new();
    for pattern in patterns {
        if let Some(pattern) = pattern.get()
            && let Some(found) = pattern.captures(failure)
        {
            let names = pattern.capture_names().flatten();
            let part = |name| Some((name, found.name(name)?.as_str().to_owned()));
            told.extend(names.filter_map(part));
        }
    }
    told
}

/// Whether a case that failed is what surrounds tests, and none of them.
pub(crate) fn is_outside(writer: &str, class: &str, name: &str) -> bool {
    let patterns = of_writer(writer).map_or(&[][..], |framework| framework.outside);
    let names = || format!("{class}\n{name}");
    !patterns.is_empty() && patterns.iter().any(|pattern| pattern.is_match(&names()))
}

/// Whether the message of a failure only counts the others of its case.
pub(crate) fn sums_up(writer: &str, message: &str) -> bool {
    let patterns = of_writer(writer).map_or(&[][..], |framework| framework.sums_up);
    patterns.iter().any(|pattern| pattern.is_match(message))
}

/// How many bytes of a failure's text only say which test it is.
pub(crate) fn heading_of(writer: &str, text: &str) -> usize {
    let pattern = of_writer(writer).and_then(|framework| framework.heading);
    let found = pattern.and_then(|pattern| pattern.captures(text));
    let head = found.and_then(|found| Some(found.name("head")?.end()));
    head.unwrap_or_default()
}

pub(crate) fn called(name: &str) -> Option<&'static Framework> {
    FRAMEWORKS.iter().find(|framework| framework.name == name)
}

#[cfg(test)]
mod tests {
    use super::is_foreign;

    #[test]
    fn a_command_of_another_framework_is_foreign() {
        assert!(is_foreign("bundle exec rspec --only-failures", "newman"));
        assert!(is_foreign("pytest --last-failed", "robot"));
        assert!(is_foreign("go test ./...", "gtest"));
        assert!(!is_foreign("pytest --last-failed", "pytest"));
        assert!(!is_foreign("go test ./...", "gotestsum"));
        assert!(!is_foreign("mvn dependency:tree", "surefire-rerun"));
    }

    #[test]
    fn nothing_is_foreign_to_a_writer_for_any_framework() {
        assert!(!is_foreign("go test ./...", ""));
        assert!(!is_foreign("go test ./...", "junit"));
        assert!(!is_foreign("df -h", "pytest"));
    }
}
