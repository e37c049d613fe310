//! Failures of one fault by what they show of it: the same wrong value, one function, one
//! code of an error.

use super::group::{CAUSES, Group, OF_EACH, merge};
use super::lacks::{Subject, SubjectKind};
use super::mentions::Mentions;
use super::signs::{is_wrong_value, names_functions};
use super::thrown::thrown_alike;
use super::titles::letters;
use super::told_errors::told_errors;
use jelly_base::model::{FailureView, Side};
use jelly_base::text::{LazyPattern, WordList};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Groups that share a sign. More of them share what many things have.
const SHARED: usize = 8;
/// Letters that a function's name has at least: `add` is a word, too.
const NAME: usize = 6;

/// Joins groups that show the same sign.
pub(super) fn join_signs(
    views: &[FailureView<'_>],
    groups: &mut [Group],
    mentions: &HashMap<String, Mentions>,
) {
    join_functions(views, groups);
    let mut thrown = Homes::of(groups.len());
    for (one, other) in thrown_alike(views, groups) {
        thrown.join(one, other);
    }
    thrown.merge(views, groups);
    if mentions.values().all(Mentions::is_empty) {
        return;
    }
    let mut shared: BTreeMap<(&str, &Subject), BTreeSet<usize>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate().take(CAUSES) {
        for victim in group.victims.iter().take(OF_EACH) {
            let view = &views[*victim];
            let told = || mentions.get(view.report).map(|told| told.of(view));
            let all = told().into_iter().flatten();
            let raised = all.filter(|one| one.kind == SubjectKind::Raised).count();
            for subject in told().into_iter().flatten() {
                let is_sign = matches!(
                    subject.kind,
                    SubjectKind::WrongValue
                        | SubjectKind::Change
                        | SubjectKind::ErrorCode
                        | SubjectKind::Cover
                        | SubjectKind::Initializer
                        | SubjectKind::NullField
                        | SubjectKind::Tested
                        | SubjectKind::Called
                );
                // Of several lines of the product nobody knows which failed the test.
                let is_sign = is_sign || subject.kind == SubjectKind::Raised && raised == 1;
                if is_sign {
                    shared.entry((view.report, subject)).or_default().insert(at);
                }
            }
        }
    }
    let mut homes = Homes::of(groups.len());
    for ((_, sign), together) in &shared {
        let least = if sign.by_chance { 3 } else { 2 };
        // One change may be in as many snapshots as there are.
        let most = match sign.kind {
            SubjectKind::Change => CAUSES,
            _ => SHARED,
        };
        if !(least..=most).contains(&together.len()) {
            continue;
        }
        let mut all = together.iter();
        if let Some(first) = all.next() {
            for other in all {
                homes.join(*first, *other);
            }
        }
    }
    for (caller, tested) in named(views, groups, mentions) {
        homes.join(tested, caller);
    }
    homes.merge(views, groups);
}

/// Joins groups that got an error in place of a value with those whose error it is. Those that
/// are a consequence of something else have gone there by now.
pub(super) fn join_told(
    views: &[FailureView<'_>],
    groups: &mut [Group],
    mentions: &HashMap<String, Mentions>,
) {
    let told = told_errors(views, groups, mentions);
    let mut homes = Homes::of(groups.len());
    for (teller, home) in told {
        homes.join(home, teller);
    }
    homes.merge(views, groups);
}

/// Which groups go where, before any goes.
struct Homes(Vec<usize>);

impl Homes {
    fn of(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn home(&self, mut at: usize) -> usize {
        while self.0[at] != at {
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.home(one), self.home(other));
        self.0[one.max(other)] = one.min(other);
    }

    /// Where one is surely not the code's fault, those that are held against the code are
    /// consequences of it.
    fn merge(&self, views: &[FailureView<'_>], groups: &mut [Group]) {
        let told = |group: &Group| group.lead.or(group.victims.first().copied());
        let kind = |group: &Group| told(group).map(|one| views[one].kind);
        let mut sure: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, group) in groups.iter().enumerate() {
            if kind(group).is_some_and(|kind| kind.side == Side::Test && !kind.ambiguous) {
                sure.entry(self.home(at)).or_insert(at);
            }
        }
        for at in 0..groups.len() {
            let home = self.home(at);
            let into = sure.get(&home).copied().unwrap_or(home);
            let blamed = kind(&groups[at]).is_some_and(|kind| kind.side == Side::Code);
            if into != at && blamed && sure.contains_key(&home) {
                let mut victims = std::mem::take(&mut groups[at].victims);
                groups[into].followers.append(&mut victims);
            }
            merge(groups, into, at);
        }
        for group in groups {
            group.victims.sort_unstable();
            group.followers.sort_unstable();
        }
    }
}

/// Joins wrong values in tests of one function: of a block that has its name.
fn join_functions(views: &[FailureView<'_>], groups: &mut [Group]) {
    let mut tested: BTreeMap<(&str, &str, &str), Vec<usize>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate().take(CAUSES) {
        let Some(view) = group.victims.first().map(|first| &views[*first]) else {
            continue;
        };
        if is_wrong_value(&view.kind.root_cause)
            && let Some(function) = block(view)
        {
            // Some writers put the whole name into both, and some the end of it.
            let is_in_class = view.classname.contains(function);
            let is_end = view.name.ends_with(view.classname);
            let of_file = match is_in_class || is_end {
                true => view.suite,
                false => view.classname,
            };
            let key = (view.report, of_file, function);
            tested.entry(key).or_default().push(at);
        }
    }
    for all in tested.values() {
        for other in &all[1..] {
            merge(groups, all[0], *other);
        }
        groups[all[0]].victims.sort_unstable();
    }
}

/// The function that a block of tests is named after: `formatDose`, `moisture()`,
/// `LoanPolicy#due_on`. In the middle of a title only one that begins with a verb is no
/// other name.
fn block<'v>(view: &FailureView<'v>) -> Option<&'v str> {
    static FUNCTION: LazyPattern = LazyPattern::new(
        r"(?x) (?:^|[\s>›])(?:
                ([A-Z]\w*(?:::[A-Z]\w*)*(?:\ ?\#|\.)[a-z_]\w*[?!]?)
              | ([a-z_]\w*\(\))
              | ((?:calc|compute|convert|decode|encode|find|format|merge|normali[sz]e|parse|round|sort|validate)[a-z]*[A-Z]\w*)
            )(?:\s|$)
            | (?:^|[>›]\ )(?:([.\#][a-z_]\w*[?!]?)(?:\s|$) | ([a-z]{2,}(?:[A-Z][a-z0-9]+)+)(?:\ [>›\w]|$))",
    );
    [view.classname, view.name].into_iter().find_map(|name| {
        let found = FUNCTION.captures(name)?;
        let found = (1..=5).find_map(|part| found.get(part))?;
        // What a test does with it stands behind it.
        let is_of_block = found.end() < view.name.len() || name == view.classname;
        (is_of_block && !is_of_many(found.as_str())).then_some(found.as_str())
    })
}

/// Whether a name is one of an object with many functions, or of a file.
fn is_of_many(name: &str) -> bool {
    const ENDS: WordList = WordList(
        "Api Client Context Controller Handler Id Manager Provider Repository Router Service \
         State Store Token .env .js .json",
    );
    let is_hook = name
        .strip_prefix("use")
        .is_some_and(|rest| rest.starts_with(char::is_uppercase));
    is_hook || ENDS.words().any(|end| name.ends_with(end))
}

/// Groups that fail of a wrong value and name the function that the tests of one other
/// such group are for: the first of a pair names it.
fn named(
    views: &[FailureView<'_>],
    groups: &[Group],
    mentions: &HashMap<String, Mentions>,
) -> Vec<(usize, usize)> {
    let tested: Vec<(usize, &str, String, String)> = groups
        .iter()
        .enumerate()
        .take(CAUSES)
        .filter_map(|(at, group)| {
            let view = &views[*group.victims.first()?];
            let is_one = names_functions(&view.kind.root_cause);
            is_one.then(|| (at, view.report, letters(view.classname), letters(view.name)))
        })
        .collect();
    // As many as there are pairs are looked at.
    if tested.len() > SHARED * SHARED {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, report, ..) in &tested {
        let Some(told) = mentions.get(*report) else {
            continue;
        };
        let view = &views[groups[*at].victims[0]];
        let functions = told
            .of(view)
            .filter(|one| one.kind == SubjectKind::NamedFunction);
        let mut meant = BTreeSet::new();
        for function in functions {
            let tests = |class: &str, name: &str| is_for(&function.name, class, name);
            let others = tested
                .iter()
                .filter(|(other, of, ..)| of == report && other != at);
            meant.extend(
                others
                    .filter(|(_, _, class, name)| tests(class, name))
                    .map(|one| one.0),
            );
        }
        if let (1, Some(tested)) = (meant.len(), meant.first()) {
            found.push((*at, *tested));
        }
    }
    found
}

/// Whether a test is one of a function: its name begins with the function's, and that
/// of its class, or the test's own, has what the function is of.
fn is_for(function: &str, class: &str, name: &str) -> bool {
    let mut parts = function
        .rsplit(['.', ':', '#', '>'])
        .filter(|part| !part.is_empty());
    let called = letters(parts.next().unwrap_or_default());
    let owner = parts.next().map(letters);
    let both = format!("{}{called}", owner.as_deref().unwrap_or_default());
    if called.len() < NAME && owner.is_none() {
        return false;
    }
    let is_of_owner = owner.as_ref().is_none_or(|owner| {
        !owner.is_empty() && (class.contains(owner.as_str()) || name.contains(owner.as_str()))
    });
    let own = name.strip_prefix("test").unwrap_or(name);
    let is_long = called.len() >= NAME;
    let begins = own.starts_with(&called)
        || name.contains(&called) && is_long
        || owner.is_some() && name.contains(&both);
    !called.is_empty() && is_of_owner && (begins || class.ends_with(&called) && is_long)
}
