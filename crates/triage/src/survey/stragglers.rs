//! Tests that got nothing in a suite of which the others fail of one thing outside of the code:
//! a check of health that answers false beside requests that nobody answers.

use super::group::{CAUSES, Group};
use super::mentions::Mentions;
use super::replaced::messages;
use super::shifted::{compared, is_state};
use super::suites_off::tests_of;
use super::titles::suite_of;
use crate::engine::is_mistake;
use crate::engine::tables::{any_of, built, table};
use jelly_base::model::{FailureView, Side, outage};
use regex::Regex;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

/// `tables/absence.yaml`, which says what each list is.
#[derive(Deserialize)]
struct AbsenceWords {
    nothing: Vec<String>,
    health: Vec<String>,
    services: Vec<String>,
    away: Vec<String>,
    state: Vec<String>,
    classes: Vec<String>,
    answered: Vec<String>,
    wants: Vec<String>,
}

struct AbsenceSigns {
    nothing: Regex,
    health: Regex,
    away: Regex,
    state: Regex,
    class: Regex,
    answered: Regex,
    wants: Regex,
}

static SIGNS: LazyLock<AbsenceSigns> = LazyLock::new(|| {
    let words: AbsenceWords = table(built!("absence"));
    let services = format!("(?:{})", words.services.join("|"));
    let of_services = |forms: &[String]| -> Vec<String> {
        let forms = forms.iter();
        forms
            .map(|form| form.replace("<SERVICE>", &services))
            .collect()
    };
    AbsenceSigns {
        nothing: any_of("m", &words.nothing),
        health: any_of("i", &words.health),
        away: any_of("i", &of_services(&words.away)),
        state: any_of("i", &of_services(&words.state)),
        class: any_of("", &of_services(&words.classes)),
        answered: any_of("", &words.answered),
        wants: any_of("i", &words.wants),
    }
});

/// Tests of a suite that fail of the one thing at least.
const OF_ONE: usize = 2;

/// Makes those that got nothing consequences of what the others of their suite fail of. A value
/// proves nothing against the environment: it counts where no test of the suite passes and it is
/// the answer to whether somebody is there, and elsewhere only the words that somebody is away.
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
                let is_of_it =
                    tells_of_nobody(view) || !passes && asks_for_health(view) && got_nothing();
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

/// Whether a test asks whether somebody is there: by its name, or by what its failing line calls.
fn asks_for_health(view: &FailureView<'_>) -> bool {
    let mut told = said(view).chain([view.name]);
    told.any(|text| SIGNS.health.is_match(text))
}

/// Whether a failure compares with nothing, which came in place of a value.
fn got_nothing(view: &FailureView<'_>) -> bool {
    let nothing = &SIGNS.nothing;
    view.kind.root_cause == "assertion_mismatch" && said(view).any(|text| nothing.is_match(text))
}

/// Whether a failure says that somebody was not there: by its words, or by the class of its
/// exception, unless that is one of mistakes in a program. Of a comparison only what came says
/// something of it, and of an assertion what its author does not want.
fn tells_of_nobody(view: &FailureView<'_>) -> bool {
    let signs = &*SIGNS;
    let tells = |text: &str| signs.away.is_match(text) || signs.class.is_match(text);
    let is_so = |text: &str| match view.kind.root_cause.as_str() {
        "assertion_mismatch" | "expected_error" | "mock_expectation" => {
            match compared(text).or_else(|| messages(text)) {
                Some((_, came)) => signs.answered.is_match(&came),
                None => !signs.wants.is_match(text) && tells(text),
            }
        }
        "code_exception" | "internal_error" | "unknown" => {
            tells(text) || signs.state.is_match(text)
        }
        _ => false,
    };
    !said(view).any(is_mistake) && said(view).any(is_so)
}

/// The evidence and the message of a failure.
fn said<'v>(view: &FailureView<'v>) -> impl Iterator<Item = &'v str> {
    let evidence = view.evidence.map(|(_, text)| text);
    [evidence, view.message].into_iter().flatten()
}
