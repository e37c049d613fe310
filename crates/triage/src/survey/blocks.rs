//! Small blocks of tests of which most got another value than they wanted: a block is about one
//! thing, which is wrong for one reason.

use super::group::{CAUSES, Group, OF_EACH, merge};
use super::mentions::Mentions;
use super::suites_off::{calls_several, is_wrong_value, of_one_kind, tests_of};
use super::titles::{block_of, letters, suite_of};
use jelly_base::model::FailureView;
use std::collections::{BTreeMap, HashMap};

/// Tests of a block that is about one thing. A larger one may be about many.
const TESTS: usize = 6;

/// What the tests of a block are counted by.
pub(super) fn counted_as(suite: &str, block: &str) -> String {
    format!("{suite}\n{block}")
}

/// Joins groups of wrong values in a block of which most tests fail so.
pub(super) fn join_blocks(
    views: &[FailureView<'_>],
    groups: &mut [Group],
    mentions: &HashMap<String, Mentions>,
) {
    let mut blocks: BTreeMap<(&str, &str, &str), Vec<usize>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate().take(CAUSES) {
        let Some(first) = group.victims.first().map(|first| &views[*first]) else {
            continue;
        };
        let Some(block) = block_of(first.name) else {
            continue;
        };
        let key = |view: &FailureView<'_>| (view.report == first.report, suite_of(view).to_owned());
        let home = key(first);
        let mut victims = group.victims.iter().take(OF_EACH).map(|at| &views[*at]);
        let is_of_block = |view: &FailureView<'_>| {
            is_wrong_value(view) && key(view) == home && block_of(view.name) == Some(block)
        };
        if !is_of_many(suite_of(first), block) && victims.all(is_of_block) {
            let together = blocks.entry((first.report, suite_of(first), block));
            together.or_default().push(at);
        }
    }
    for ((report, suite, block), together) in blocks {
        let told = mentions.get(report);
        if told.is_some_and(|told| calls_several(views, groups, &together, told)) {
            continue;
        }
        let together = of_one_kind(views, groups, together);
        let failed = tests_of(views, groups, &together);
        let counted = counted_as(suite, block);
        let all = told.map_or(0, |told| told.tests_of(&counted));
        if together.len() < 2 || !(2..=TESTS).contains(&all) || failed * 2 < all {
            continue;
        }
        for other in &together[1..] {
            merge(groups, together[0], *other);
        }
        groups[together[0]].victims.sort_unstable();
    }
}

/// Whether a block may hold tests of many things: one of a class, which has many functions, or
/// one that the file has its name from, which then holds them all (`test/cart.spec.ts`, `Cart`).
fn is_of_many(suite: &str, block: &str) -> bool {
    let parts = block.split(" > ").flat_map(|part| part.split(" › "));
    let last = parts.last().unwrap_or(block);
    let is_class = last.starts_with(char::is_uppercase) && !last.contains(' ');
    let last = letters(last);
    let is_file =
        |part: String| part.len() > 2 && (last.starts_with(&part) || part.starts_with(&last));
    is_class
        || suite
            .rsplit(['/', '\\', '.'])
            .take(4)
            .map(letters)
            .any(is_file)
}

#[cfg(test)]
mod tests {
    use super::is_of_many;

    #[test]
    fn a_block_of_a_class_or_of_a_whole_file_is_of_many() {
        assert!(is_of_many("test/cart.spec.ts", "cart"));
        assert!(is_of_many("test/valves.spec.js", "valves of the site"));
        assert!(is_of_many("test/valves.spec.js", "all > ValveBank"));
        assert!(!is_of_many("test/peak.test.ts", "tariff hours"));
    }
}
