//! Failures with one fingerprint that are not of one cause, since what their tests printed
//! tells two: an assertion that a status is another one says the same of any fault.

use super::lacks::SubjectKind;
use super::mentions::Mentions;
use super::told_errors::errors;
use crate::engine::skeleton;
use jelly_base::model::FailureView;
use jelly_base::text::LazyPattern;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Failures with one fingerprint that are compared. More are one cause that many have.
const COMPARED: usize = 200;

/// By place, the number of what was said of a failure, where others with its fingerprint
/// were told something else.
pub(super) fn answers_apart(
    views: &[FailureView<'_>],
    mentions: &HashMap<String, Mentions>,
) -> HashMap<usize, usize> {
    let mut found = HashMap::new();
    if mentions.values().all(Mentions::is_empty) {
        return found;
    }
    let mut alike: BTreeMap<&str, Vec<(usize, BTreeSet<String>)>> = BTreeMap::new();
    for (at, view) in views.iter().enumerate() {
        let Some(told) = mentions.get(view.report) else {
            continue;
        };
        if view.kind.root_cause != "assertion_mismatch" {
            continue;
        }
        let mut said = BTreeSet::new();
        for one in told.of(view) {
            match one.kind {
                SubjectKind::Said => {
                    said.insert(skeleton(&one.name));
                }
                SubjectKind::Came => {
                    said.extend(
                        exception(&one.name)
                            .into_iter()
                            .chain(errors(&one.name))
                            .map(skeleton),
                    );
                }
                _ => {}
            }
        }
        if !said.is_empty() {
            alike.entry(view.fingerprint).or_default().push((at, said));
        }
    }
    for all in alike.into_values() {
        if (2..=COMPARED).contains(&all.len()) {
            number(all, &mut found);
        }
    }
    found
}

/// The exception, with what it says, of what came in place of a value: of a long one the
/// assertion shows the begin and the end only.
pub(super) fn exception(came: &str) -> Option<&str> {
    static EXCEPTION: LazyPattern = LazyPattern::new(r"\b[A-Z]\w*(?:Error|Exception): [^\n]{12,}");
    Some(EXCEPTION.find(came)?.as_str())
}

/// Numbers those that were told something in common alike.
fn number(all: Vec<(usize, BTreeSet<String>)>, found: &mut HashMap<usize, usize>) {
    let mut told: Vec<(BTreeSet<String>, Vec<usize>)> = Vec::new();
    for (at, said) in all {
        match told.iter_mut().find(|(known, _)| !known.is_disjoint(&said)) {
            Some((known, places)) => {
                known.extend(said);
                places.push(at);
            }
            None => told.push((said, vec![at])),
        }
    }
    if told.len() > 1 {
        for (number, (_, places)) in told.into_iter().enumerate() {
            found.extend(places.into_iter().map(|at| (at, number)));
        }
    }
}
