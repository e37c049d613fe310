//! Tests that got nothing in a suite of which the others fail of one thing outside of the code:
//! a check of health that answers false beside requests that nobody answers.

use super::group::{CAUSES, Group};
use super::mentions::Mentions;
use super::shifted::{compared, is_state};
use super::suites_off::tests_of;
use super::titles::suite_of;
use crate::engine::is_mistake;
use jelly_base::model::{FailureView, Side, outage};
use jelly_base::text::LazyPattern;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Tests of a suite that fail of the one thing at least.
const OF_ONE: usize = 2;

/// Makes those that got nothing consequences of what the others of their suite fail of. A value
/// proves nothing against the environment: it counts where no test of the suite passes, and
/// elsewhere only the words that somebody is away.
pub(super) fn join_stragglers(
    views: &[FailureView<'_>],
    groups: &mut [Group],
    mentions: &HashMap<String, Mentions>,
) {
    let mut suites: BTreeMap<(&str, &str), BTreeMap<usize, usize>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate().take(CAUSES) {
        for victim in group.victims.iter().chain(&group.followers) {
            let view = &views[*victim];
            let suite = suites.entry((view.report, suite_of(view))).or_default();
            *suite.entry(at).or_default() += 1;
        }
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    for ((report, suite), failed) in &suites {
        let outside = failed.keys().filter(|at| is_outside(views, &groups[**at]));
        let outside: Vec<usize> = outside.copied().collect();
        let [home] = *outside else { continue };
        let all: usize = failed.values().sum();
        if suite.is_empty() || failed[&home] < OF_ONE || failed[&home] * 2 < all {
            continue;
        }
        let told = mentions.get(*report);
        let causes: Vec<usize> = failed.keys().copied().collect();
        let passes =
            told.is_none_or(|told| told.tests_of(suite) > tests_of(views, groups, &causes));
        // Another word may come of another fault.
        let is_most = failed[&home] * 3 >= all * 2;
        let of_home = groups[home].victims.iter().map(|victim| &views[*victim]);
        let subjects: BTreeSet<&str> = of_home.filter_map(subject_of).collect();
        for at in failed.keys().filter(|at| **at != home) {
            let victims = &groups[*at].victims;
            let got_nothing = |victim: &usize| {
                let view = &views[*victim];
                let is_of_other = || subject_of(view).is_some_and(|one| !subjects.contains(one));
                let got_nothing = || got_nothing(view) || is_most && got_state(view);
                let is_of_it = tells_of_nobody(view) || !passes && got_nothing();
                suite_of(view) == *suite && is_of_it && !is_of_other()
            };
            if !victims.is_empty() && victims.iter().all(got_nothing) {
                found.push((*at, home));
            }
        }
    }
    let mut known = BTreeSet::new();
    for (at, home) in found {
        if known.insert(at) {
            let mut group = std::mem::take(&mut groups[at]);
            groups[home].followers.append(&mut group.victims);
            groups[home].followers.append(&mut group.followers);
            groups[home].followers.sort_unstable();
        }
    }
}

/// What a test of RSpec is about, of which one file may have several: the class that its title
/// begins with.
fn subject_of<'v>(view: &FailureView<'v>) -> Option<&'v str> {
    let first = view.name.split(' ').next()?;
    let is_class = first.starts_with(char::is_uppercase);
    (is_class && view.classname.ends_with("_spec")).then_some(first)
}

/// Whether a group fails of a server, a file or a setting that is not there.
fn is_outside(views: &[FailureView<'_>], group: &Group) -> bool {
    const LACKS: [&str; 8] = [
        "config_missing",
        "data_setup",
        "dependency_unavailable",
        "missing_directory",
        "missing_env_var",
        "missing_file",
        "missing_module",
        "upstream_error",
    ];
    let lead = group.lead.or(group.victims.first().copied());
    lead.is_some_and(|lead| {
        let kind = views[lead].kind;
        let root_cause = kind.root_cause.as_str();
        kind.side == Side::Test
            && !kind.ambiguous
            && (outage(root_cause).is_some() || LACKS.contains(&root_cause))
    })
}

/// Whether a failure got a word in place of another.
fn got_state(view: &FailureView<'_>) -> bool {
    view.kind.root_cause == "assertion_mismatch" && said(view).any(is_state)
}

/// Whether a failure compares with nothing, which came in place of a value.
fn got_nothing(view: &FailureView<'_>) -> bool {
    static NOTHING: LazyPattern = LazyPattern::new(
        r"(?mx)
              \b(?:Actual|Received|got|but\ was|came):?\ +[<\[\x22']?(?:-1|0|false|null|None|nil|undefined|\[\]|\{\})?[>\]\x22']?(?:$|[\s.,;)])
            | \bassert\ (?:False|None)\b | \bwhere\ (?:False|None)\ =
            | \bhas\ value:\ (?:undefined|null)\b | \ =\ (?:false|nil|-1|0),\ want\b
            | \bassertion\ failed:\ !?[\w.:]+\([^()\n]*\)(?:\.\w+\(\))?$
            | ^(?:[\w.]*(?:Assertion\w*|ExpectationNotMet\w*)(?:Error)?)?:?\s*$
            | \b(?:null|nil|None|undefined)$ | \bWhich\ is:\ (?:-1|0|false|NULL)\b",
    );
    view.kind.root_cause == "assertion_mismatch" && said(view).any(|text| NOTHING.is_match(text))
}

/// Whether a failure says that somebody was not there: by its words, or by the class of its
/// exception, unless that is one of mistakes in a program. What is compared or wanted says nothing
/// of it.
fn tells_of_nobody(view: &FailureView<'_>) -> bool {
    static AWAY: LazyPattern = LazyPattern::new(
        r"(?i)\b(?:not (?:available|reachable|answering)|unavailable|unreachable|does not answer|no answer|connection lost)\b",
    );
    // Of a value or a mock, these may be what it is to tell: a user is offline.
    static STATE: LazyPattern = LazyPattern::new(
        r"(?i)\b(?:not (?:alive|ready|up|connected)|offline|is down|silent|disconnected|(?:channel|client|connection|pool|session|socket)\b[^\n]{0,20}\bclosed)\b",
    );
    static OF_CLASS: LazyPattern = LazyPattern::new(
        r"(?x)\b\w*(?:Operational|Connection|Transport|Network|Unavailable|Unreachable|Down)(?:Error|Exception|Failure)\b
            | \bConnectionBad\b | (?i:\b(?:answered|http|status(?:\ code)?)[\ :=]{1,3}50[0234]\b)",
    );
    let compares = match view.kind.root_cause.as_str() {
        "assertion_mismatch" | "expected_error" | "mock_expectation" => true,
        "code_exception" | "internal_error" | "unknown" => false,
        _ => return false,
    };
    let tells = |text: &str| {
        let mut text = text.to_owned();
        if compares {
            if text.contains("DID NOT RAISE") {
                return false;
            }
            if let Some((wanted, came)) = compared(&text) {
                for value in [wanted, came].iter().filter(|value| !value.is_empty()) {
                    text = text.replace(value.as_str(), "");
                }
            }
        }
        let is_state = !compares && STATE.is_match(&text);
        OF_CLASS.is_match(&text) || AWAY.is_match(&text) || is_state
    };
    !said(view).any(is_mistake) && said(view).any(tells)
}

/// The evidence and the message of a failure.
fn said<'v>(view: &FailureView<'v>) -> impl Iterator<Item = &'v str> {
    let evidence = view.evidence.map(|(_, text)| text);
    [evidence, view.message].into_iter().flatten()
}
