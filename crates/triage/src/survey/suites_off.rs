//! Suites of which most tests got another value than they wanted: what they are about is off
//! for one reason, whichever of its functions each of them asks.

use super::group::{CAUSES, Group, OF_EACH, merge};
use super::mentions::Mentions;
use jelly_base::model::{FailureView, Side};
use jelly_base::text::LazyPattern;
use std::collections::{BTreeMap, HashMap};

/// Causes that are told of a suite at least, and how many of a hundred of its tests fail of
/// them: two wrong values may come by chance, and a few among many are faults of their own.
const CAUSES_OF_ONE: usize = 3;
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
        // What is no method of a class Catch2 puts into one for all of them.
        let is_suite = !suite.is_empty() && !suite.ends_with(".global");
        if is_suite && victims.all(is_of_suite) {
            suites.entry((first.report, suite)).or_default().push(at);
        }
    }
    for ((report, suite), together) in suites {
        let failed: usize = together.iter().map(|at| groups[*at].victims.len()).sum();
        let all = mentions.get(report).map_or(0, |told| told.tests_of(suite));
        let most = all > 0 && failed * 100 >= all * OF_HUNDRED;
        if together.len() < CAUSES_OF_ONE || !most {
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

/// The class of a test, or its suite where it has none.
pub(super) fn suite_of<'v>(view: &FailureView<'v>) -> &'v str {
    match view.classname.is_empty() {
        true => view.suite,
        false => view.classname,
    }
}

/// Whether a value is wrong, and no answer of somebody who is asked: that may be anybody's.
fn is_wrong_value(view: &FailureView<'_>) -> bool {
    static ANSWER: LazyPattern = LazyPattern::new(r#"\b(?:50[0-4]|40\d|429)\b|(?i:error)['"]?:"#);
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
