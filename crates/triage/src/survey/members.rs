//! The member that is not there, by its name: a method, an attribute or a function that was
//! renamed or taken away. Whoever asks for it fails of that, from whatever line.
//!
//! Main functions: [`missing_member`] reads it, [`join_members`] joins who lacks the same.

use super::group::{CAUSES, Group, merge};
use super::lacks::{Subject, SubjectKind};
use super::mentions::Mentions;
use super::subject_forms::SUBJECT_FORMS;
use super::wanted::{COMPARES, without_wanted};
use jelly_base::model::{Failure, FailureView, Side, TriagedFailure};
use regex::Regex;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

/// `members` of `tables/subjects.yaml`, which says what each is.
#[derive(Deserialize)]
pub(super) struct MemberForms {
    words: Vec<String>,
    forms: Vec<String>,
    of_anything: HashSet<String>,
    owners_of_anything: HashSet<String>,
}

static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let forms = SUBJECT_FORMS.members.forms.iter();
    forms.filter_map(|form| Regex::new(form).ok()).collect()
});

/// Bytes of a text that are read.
const READ: usize = 4 << 10;

/// The member that a failure says is not there.
pub(super) fn missing_member(failure: &Failure, triaged: &TriagedFailure) -> Option<Subject> {
    let compares = COMPARES.contains(&triaged.diagnosis.root_cause.as_str());
    let texts = [&triaged.message, &failure.message, &failure.text];
    let told = texts.into_iter().flatten().find_map(|text| {
        let text = &text[..text.floor_char_boundary(READ.min(text.len()))];
        let known = &SUBJECT_FORMS.members.words;
        if !known.iter().any(|words| text.contains(words.as_str())) {
            return None;
        }
        let came = match compares {
            true => without_wanted(text),
            false => Cow::Borrowed(text),
        };
        FORMS.iter().find_map(|form| named(form, &came))
    })?;
    Some(Subject::new(SubjectKind::Member, &told))
}

/// The name of the member, with what it is of unless hardly anything else has one of that name.
fn named(form: &Regex, text: &str) -> Option<String> {
    let members = &SUBJECT_FORMS.members;
    let found = form.captures(text)?;
    let name = found.name("name")?.as_str();
    let owner = found.name("owner").map(|owner| owner.as_str());
    if members.of_anything.contains(name)
        || owner.is_some_and(|owner| members.owners_of_anything.contains(owner))
    {
        return None;
    }
    let is_typed = owner.is_some_and(|owner| owner.starts_with(char::is_uppercase));
    let is_rare = name.len() > 4 && name[1..].contains(|c: char| c.is_uppercase() || c == '_');
    match owner {
        Some(owner) if is_typed || !is_rare => Some(format!("{owner}.{name}")),
        // A variable is called otherwise elsewhere.
        Some(_) => Some(name.to_owned()),
        None => (is_rare || form.as_str().ends_with("is not defined")).then(|| name.to_owned()),
    }
}

/// Joins groups that lack the same member. Where the product lacks it, that is told of all:
/// a test that asks for it, too, shows no more.
pub(super) fn join_members(
    views: &[FailureView<'_>],
    groups: &mut [Group],
    mentions: &HashMap<String, Mentions>,
) {
    let mut lacking: BTreeMap<(&str, &Subject), Vec<usize>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate().take(CAUSES) {
        let Some(view) = group.victims.first().map(|first| &views[*first]) else {
            continue;
        };
        let told = mentions.get(view.report).map(|told| told.of(view));
        let mut members = told.into_iter().flatten();
        let member = members.find(|one| one.kind == SubjectKind::Member);
        if let Some(member) = member {
            lacking.entry((view.report, member)).or_default().push(at);
        }
    }
    for places in lacking.into_values() {
        let (into, others) = (places[0], &places[1..]);
        let blamed = places.iter().find_map(|at| {
            let first = groups[*at].lead.or(groups[*at].victims.first().copied())?;
            (views[first].kind.side == Side::Code).then_some(first)
        });
        for other in others {
            merge(groups, into, *other);
        }
        groups[into].lead = blamed.or(groups[into].lead);
        groups[into].victims.sort_unstable();
    }
}
