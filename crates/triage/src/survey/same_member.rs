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
    for ((_, member), places) in by_one_owner(lacking) {
        let is_sure = |at: &usize| {
            told(views, &groups[*at]).is_some_and(|(_, side, it)| side == Side::Test && !it)
        };
        let (sure, others): (Vec<usize>, Vec<usize>) = places.into_iter().partition(is_sure);
        let sure = merged(groups, &sure);
        let blamed = others.iter().find_map(|at| {
            let (first, side, _) = told(views, &groups[*at])?;
            (side == Side::Code).then_some(first)
        });
        let Some(others) = merged(groups, &others) else {
            continue;
        };
        groups[others].lead = blamed.or(groups[others].lead);
        // A class has one method of a name, and lacks it for whoever asks; what a variable holds
        // may be another thing. Where it is surely not the code's fault, none of them is.
        if let Some(sure) = sure.filter(|_| is_of_class(&member.name)) {
            let mut victims = std::mem::take(&mut groups[others].victims);
            groups[sure].followers.append(&mut victims);
            groups[sure].followers.sort_unstable();
            groups[others].lead = None;
            merge(groups, sure, others);
        }
    }
}

/// Makes one group of these, and tells which.
fn merged(groups: &mut [Group], places: &[usize]) -> Option<usize> {
    let (into, others) = places.split_first()?;
    for other in others {
        merge(groups, *into, *other);
    }
    groups[*into].victims.sort_unstable();
    Some(*into)
}

/// Whether a member is told with the class that lacks it, and not with a variable or a module.
fn is_of_class(member: &str) -> bool {
    let owner = member.split('(').next().unwrap_or(member);
    let parts = || owner.split(['.', ':']).filter(|part| !part.is_empty());
    let is_class = |part: &str| part.starts_with(char::is_uppercase);
    let owners = parts().count().saturating_sub(1);
    owners > 0 && parts().take(owners).all(is_class)
}

/// Where a name stands alone and with one thing that it is of, both are one: `formatPrice` and
/// `fmt.formatPrice`.
fn by_one_owner<'v>(
    mut lacking: BTreeMap<(&'v str, &'v Subject), Vec<usize>>,
) -> BTreeMap<(&'v str, &'v Subject), Vec<usize>> {
    let is_bare = |member: &Subject| !member.name.contains(['.', '(', ':', ' ']);
    let bare = lacking.keys().filter(|(_, member)| is_bare(member));
    let bare: Vec<(&str, &Subject)> = bare.copied().collect();
    for (report, member) in bare {
        let is_of_it = |owned: &Subject| {
            let owner = owned.name.strip_suffix(&*member.name);
            owner.is_some_and(|owner| owner.ends_with('.'))
        };
        let owned = lacking
            .keys()
            .filter(|(of, owned)| *of == report && is_of_it(owned));
        let owned: Vec<(&str, &Subject)> = owned.copied().collect();
        if let [owned] = &*owned {
            let places = lacking.remove(&(report, member)).unwrap_or_default();
            let all = lacking.entry(*owned).or_default();
            all.extend(places);
            all.sort_unstable();
        }
    }
    lacking
}
