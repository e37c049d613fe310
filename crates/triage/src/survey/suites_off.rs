//! Suites of which most tests got another value than they wanted: what they are about is off
//! for one reason, whichever of its functions each of them asks.

use super::group::{CAUSES, Group, OF_EACH, merge};
use super::mentions::Mentions;
use super::parametrized::function;
use super::shifted::compared;
use super::tested::function_of;
use super::titles::{suite_of, titles_around};
use jelly_base::model::{FailureView, Side};
use jelly_base::text::{LazyPattern, WordList};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Causes that are told of a suite at least and at most, and how many of a hundred of its tests
/// fail of them: two wrong values may come by chance, a few among many are faults of their own,
/// and a suite with many is one that asks all parts of a product.
const CAUSES_OF_ONE: usize = 3;
const CAUSES_AT_MOST: usize = 5;
const OF_HUNDRED: usize = 55;

/// Joins groups of wrong values in a suite of which most tests fail so.
pub(super) fn join_suites(
    views: &[FailureView<'_>],
    groups: &mut [Group],
    mentions: &HashMap<String, Mentions>,
) {
    let mut suites: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate().take(CAUSES) {
        let Some(first) = group.victims.first().map(|first| &views[*first]) else {
            continue;
        };
        let suite = suite_of(first);
        let mut victims = group.victims.iter().take(OF_EACH).map(|at| &views[*at]);
        let is_of_suite = |view: &FailureView<'_>| {
            is_wrong_value(view) && view.report == first.report && suite_of(view) == suite
        };
        if names_a_thing(suite) && victims.all(is_of_suite) {
            suites.entry((first.report, suite)).or_default().push(at);
        }
    }
    for ((report, suite), together) in suites {
        let failed = tests_of(views, groups, &together);
        let all = mentions.get(report).map_or(0, |told| told.tests_of(suite));
        let most = all > 0 && failed * 100 >= all * OF_HUNDRED;
        let few = (CAUSES_OF_ONE..=CAUSES_AT_MOST).contains(&together.len());
        if !few || !most || tests_several(views, groups, &together) {
            continue;
        }
        if let Some(mentions) = mentions.get(report)
            && calls_several(views, groups, &together, mentions)
        {
            continue;
        }
        // Who shows neither values nor what they are kept in shows nothing that they have in common.
        let shows = |at: &&usize| {
            let group = &groups[**at];
            wanted_by(views, group).is_some() || compares_something(views, group)
        };
        if together.iter().filter(shows).count() * 2 < together.len() {
            continue;
        }
        let together = of_one_kind(views, groups, together);
        let failed = tests_of(views, groups, &together);
        if together.len() < CAUSES_OF_ONE || failed * 100 < all * OF_HUNDRED {
            continue;
        }
        let mut together = together.into_iter();
        if let Some(first) = together.next() {
            for other in together {
                merge(groups, first, other);
            }
            groups[first].victims.sort_unstable();
            groups[first].suite = Some(suite.to_owned());
        }
    }
}

/// How many tests failed so: one may hold several failures.
pub(super) fn tests_of(views: &[FailureView<'_>], groups: &[Group], together: &[usize]) -> usize {
    let victims = together.iter().flat_map(|at| &groups[*at].victims);
    let failed: BTreeSet<u64> = victims.map(|at| views[*at].ordinal).collect();
    failed.len()
}

/// What kind of value a test wanted, as far as that tells one fault from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ValueKind {
    Whole,
    Decimal,
    /// A date, a time of day, a duration.
    Time,
    Markup,
    Document,
    /// Without a number in it.
    List,
}

/// Those of the groups that wanted the kind of value that most of them did, with those that
/// show none: one fault of prices makes no list of names wrong.
pub(super) fn of_one_kind(
    views: &[FailureView<'_>],
    groups: &[Group],
    together: Vec<usize>,
) -> Vec<usize> {
    let wanted = together.iter().map(|at| wanted_by(views, &groups[*at]));
    let values: Vec<Option<String>> = wanted.collect();
    // Where decimals always show that they are, what is whole is something else.
    let mut told = values.iter().flatten();
    let shows_decimals = told.any(|value| value.ends_with(".0"));
    let kinds = values
        .iter()
        .map(|value| match value_kind(value.as_deref()?) {
            Some(ValueKind::Whole) if !shows_decimals => Some(ValueKind::Decimal),
            kind => kind,
        });
    let kinds: Vec<Option<ValueKind>> = kinds.collect();
    let mut counts: BTreeMap<ValueKind, usize> = BTreeMap::new();
    for kind in kinds.iter().flatten() {
        *counts.entry(*kind).or_default() += 1;
    }
    let Some((most, _)) = counts.iter().max_by_key(|(_, count)| **count) else {
        return together;
    };
    let all = together.into_iter().zip(&kinds);
    all.filter(|(_, kind)| kind.is_none_or(|kind| kind == *most))
        .map(|(at, _)| at)
        .collect()
}

/// The value that the first failure of a group wanted.
fn wanted_by(views: &[FailureView<'_>], group: &Group) -> Option<String> {
    let view = group.victims.first().map(|first| &views[*first])?;
    let evidence = view.evidence.map(|(_, text)| text);
    let mut said = [evidence, view.message].into_iter().flatten();
    said.find_map(wanted_value)
}

/// Whether the first failure of a group compares in words of a framework's, or with a file of
/// wanted output. What Bats shows of a failed line is no comparison that anybody made for people.
fn compares_something(views: &[FailureView<'_>], group: &Group) -> bool {
    static COMPARES: LazyPattern = LazyPattern::ascii(
        r"(?i)\b(?:differs? from|does not match|mismatch(?:es)?)\b[^\n]{0,80}\S+\.\w+|\bgolden\b|\bexpected\b|\bbut was\b|\bshould (?:be|equal)\b|==|\bassertequal",
    );
    let first = group.victims.first().map(|first| &views[*first]);
    let said = first.and_then(|view| view.evidence.map(|(_, text)| text).or(view.message));
    said.is_some_and(|said| !said.contains("' failed") && COMPARES.is_match(said))
}

/// The value that an assertion wanted, or the one that came where that is told first.
fn wanted_value(said: &str) -> Option<String> {
    static WANTED: LazyPattern = LazyPattern::new(
        r"\b(?:want(?:ed)?|[Ee]xpected):? ([^\n,;]+)|\bright: ([^\n]+)|_test\.go:\d+: [^\n=]{1,200}? = ([^\n,;]+)",
    );
    let value = match compared(said) {
        Some((wanted, _)) => wanted,
        None => {
            let found = WANTED.captures(said)?;
            (1..=3).find_map(|at| found.get(at))?.as_str().to_owned()
        }
    };
    let bare = value.trim_matches(['"', '\'', '`', ' ', '\\']);
    (!bare.is_empty()).then(|| bare.to_owned())
}

fn value_kind(value: &str) -> Option<ValueKind> {
    static TIME: LazyPattern = LazyPattern::new(
        r"\A(?:\d{4}-\d\d-\d\d(?:$|[T ].*)|\d\d?:\d\d(?::\d\d)?(?:\.\d+)?|(?:\d+(?:\.\d+)?(?:ns|µs|us|ms|h|m|s))+)\z",
    );
    let digits = value.contains(|c: char| c.is_ascii_digit());
    if value.parse::<i64>().is_ok() {
        Some(ValueKind::Whole)
    } else if digits && value.parse::<f64>().is_ok() {
        Some(ValueKind::Decimal)
    } else if TIME.is_match(value) {
        Some(ValueKind::Time)
    } else if value.starts_with('<') && value[1..].starts_with(|c: char| c.is_alphabetic()) {
        Some(ValueKind::Markup)
    } else if value.starts_with('{') && value.contains([':', '=']) {
        Some(ValueKind::Document)
    } else if value.starts_with('[') && !digits {
        Some(ValueKind::List)
    } else {
        None
    }
}

/// Whether failures of a suite are of several things that its titles tell apart: blocks of their
/// own (`slugify > joins blanks`), or tests that are run with several values.
fn tests_several(views: &[FailureView<'_>], groups: &[Group], together: &[usize]) -> bool {
    let victims = together.iter().flat_map(|at| &groups[*at].victims);
    let names = victims.map(|at| views[*at].name);
    let mut blocks = BTreeSet::new();
    let mut rows: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for name in names {
        blocks.insert(titles_around(name));
        if let Some(function) = function(name) {
            rows.entry(function).or_default().insert(name);
        }
    }
    blocks.len() > 1 || rows.values().filter(|rows| rows.len() > 1).count() > 1
}

/// Whether the failing lines of a suite call several functions, of which each may be wrong.
pub(super) fn calls_several(
    views: &[FailureView<'_>],
    groups: &[Group],
    together: &[usize],
    mentions: &Mentions,
) -> bool {
    let leads = together.iter().filter_map(|at| groups[*at].victims.first());
    let subjects = leads.flat_map(|at| mentions.of(&views[*at]));
    let called = subjects.filter_map(function_of);
    called.collect::<BTreeSet<_>>().len() > 1
}

/// Whether a suite is called by the thing that it is about: `RouteTest`, `tests.test_vat`,
/// `src/cart.spec.ts`. What is called by nothing, or helps with anything, holds tests of many.
fn names_a_thing(suite: &str) -> bool {
    const LETTERS: usize = 3;
    const OF_MANY: WordList = WordList(
        "all any api app basic case cases code common core feature features function functions \
         general global helper helpers index integration lib library main misc mod module \
         other package pkg regression root sanity shared smoke spec specs suite suites system \
         test tests tool tools unit util utils utilities",
    );
    const AFFIXES: [&str; 8] = [
        "test_", "tests_", "_test", "_tests", "_spec", "test", "tests", "spec",
    ];
    let without_end = |name: &str| {
        let ends = [
            ".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".rb", ".php",
        ];
        let end = ends.iter().find(|end| name.ends_with(**end));
        end.map_or(name, |end| &name[..name.len() - end.len()])
            .to_owned()
    };
    let whole = without_end(suite.trim());
    let whole = ["test", "spec"].iter().fold(whole, |whole, end| {
        whole
            .strip_suffix(&format!(".{end}"))
            .map_or(whole.clone(), str::to_owned)
    });
    let last = whole
        .rsplit(['.', '/', ':', '\\', '>', ' '])
        .next()
        .unwrap_or_default();
    let mut name = last.to_ascii_lowercase();
    for affix in AFFIXES {
        let bare = name
            .strip_prefix(affix)
            .or_else(|| name.strip_suffix(affix));
        if let Some(bare) = bare {
            name = bare.trim_matches('_').to_owned();
        }
    }
    let is_word = name
        .chars()
        .all(|c| c.is_alphabetic() || c == '_' || c == '-');
    name.len() >= LETTERS && is_word && !OF_MANY.has(&name)
}

/// Whether a value is wrong, and no answer of somebody who is asked: that may be anybody's.
pub(super) fn is_wrong_value(view: &FailureView<'_>) -> bool {
    static ANSWER: LazyPattern = LazyPattern::new(
        r#"\b(?:50[0-4]|40\d|429)\b|(?i:error['"]?:|refused|timed? ?out|not found|no such|unreachable|unavailable|exists\(|denied)| [<>]=? "#,
    );
    let rule = view.kind.rule.as_str();
    let evidence = view.evidence.map(|(_, text)| text);
    let mut said = [view.message, evidence].into_iter().flatten();
    let is_answer = |text: &str| {
        let text = text.replace("AssertionError:", "");
        let text = text
            .replace("AssertionFailedError:", "")
            .replace("Error: expect", "");
        ANSWER.is_match(&text)
    };
    view.kind.root_cause == "assertion_mismatch"
        && view.kind.side == Side::Code
        && !rule.starts_with("browser/")
        && !rule.starts_with("http/")
        && !rule.contains("error")
        && !said.any(is_answer)
}

#[cfg(test)]
mod tests {
    use super::{ValueKind, names_a_thing, value_kind, wanted_value};

    #[test]
    fn the_kind_of_value_is_read_from_what_was_wanted() {
        for (said, wanted) in [
            ("Ride(5) = 25m0s, want 20m0s", Some(ValueKind::Time)),
            ("8.0 != 9.0", Some(ValueKind::Decimal)),
            ("0 != 1", Some(ValueKind::Whole)),
            (
                "expected '1.00' to be '1.01' // Object.is equality",
                Some(ValueKind::Decimal),
            ),
            (
                "expected '<bill id=\"5\"><lines>' to be '<bill id=\"5\"><items>' // Object.is equality",
                Some(ValueKind::Markup),
            ),
            ("Queue = [b a], want [a b]", Some(ValueKind::List)),
            ("depot_test.go:44: Queue = [b a]", Some(ValueKind::List)),
            (
                "assertion `left == right` failed; left: \"{}\"; right: \"{\\\"number\\\":\\\"R-17\\\"}\"",
                Some(ValueKind::Document),
            ),
            (
                "Expecting: <25.0> to be equal to: <22.0> but was not.",
                Some(ValueKind::Decimal),
            ),
            ("expected false to be true // Object.is equality", None),
            ("expected '3,00 EUR' to be '4,00 EUR'", None),
            ("got nothing", None),
        ] {
            let kind = wanted_value(said).and_then(|value| value_kind(&value));
            assert_eq!(kind, wanted, "{said}");
        }
    }

    #[test]
    fn a_suite_is_called_by_a_thing_or_holds_anything() {
        for (suite, wanted) in [
            ("com.example.depot.RouteTest", true),
            ("tests.test_vat", true),
            ("tests.test_vat.TestStatement", true),
            ("src/cart.spec.ts", true),
            ("example.com/pay/fees", true),
            ("Theatre::Seats", true),
            ("Color", true),
            ("test", false),
            ("tests.test_utils", false),
            ("test/helpers.test.js", false),
            ("rover_tests.global", false),
            ("a1", false),
            ("", false),
        ] {
            assert_eq!(names_a_thing(suite), wanted, "{suite}");
        }
    }
}
