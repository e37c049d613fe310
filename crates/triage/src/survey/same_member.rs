//! Failures that lack the same member, from whatever line they ask for it.

use super::group::{CAUSES, Group, merge};
use super::lacks::{Subject, SubjectKind};
use super::mentions::Mentions;
use jelly_base::model::{FailureView, Side};
use std::collections::{BTreeMap, HashMap};

/// The failure by which a group is told, whom it concerns, and whether that is doubtful.
fn told(views: &[FailureView<'_>], group: &Group) -> Option<(usize, Side, bool)> {
    let first = group.lead.or(group.victims.first().copied())?;
    let kind = views[first].kind;
    Some((first, kind.side, kind.ambiguous))
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
    for ((_, member), places) in lacking {
        // A class has one method of a name; what a variable holds may be another thing.
        let is_typed =
            member.name.contains(['.', '(']) && member.name.starts_with(char::is_uppercase);
        let is_sure = |at: &usize| {
            told(views, &groups[*at]).is_some_and(|(_, side, it)| side == Side::Test && !it)
        };
        let (sure, others): (Vec<usize>, Vec<usize>) = match is_typed {
            true => (Vec::new(), places),
            false => places.into_iter().partition(is_sure),
        };
        for places in [sure, others] {
            let Some((into, others)) = places.split_first() else {
                continue;
            };
            let blamed = places.iter().filter_map(|at| told(views, &groups[*at]));
            let mut blamed = blamed.filter(|(_, side, _)| *side == Side::Code);
            let blamed = blamed.next().map(|(first, ..)| first);
            for other in others {
                merge(groups, *into, *other);
            }
            groups[*into].lead = blamed.or(groups[*into].lead);
            groups[*into].victims.sort_unstable();
        }
    }
}
