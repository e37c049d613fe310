//! Which shard runs which plan.
//!
//! By hash, where no durations are given: the first eight bytes of the SHA-256
//! of the plan's path, as a number with the highest byte first, modulo the
//! number of shards, plus one. By durations: longest plan first, each to the
//! shard with the least to do so far; of two alike, paths decide in the order
//! of their bytes, and the shard with the lower number. A plan whose duration
//! nobody knows counts as the median of those that are known.
//!
//! Neither depends on the order of the list, on the machine or on the version
//! of anything: all runners have to come to the same.

use jelly_base::model::ShardPlan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::num::NonZeroU32;

/// How long plans took: what `jelly history export --durations` prints, and
/// `--shard-times` reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanTimes {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    /// By path.
    pub plans: Vec<PlanTime>,
}

/// How long one plan took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanTime {
    /// Relative to the project, with `/` between folders.
    pub path: String,
    /// Milliseconds; of a plan with a matrix, of all its combinations.
    pub duration_ms: u64,
}

/// The shard of each plan, from 1, in the order of `plans`: paths relative to
/// the project, no two alike.
#[must_use]
pub fn assign(plans: &[&str], total: NonZeroU32, times: Option<&PlanTimes>) -> Vec<u32> {
    match times.and_then(|times| known(plans, times)) {
        None => plans.iter().map(|path| by_hash(path, total)).collect(),
        Some(known) => by_times(plans, total, &known),
    }
}

fn by_hash(path: &str, total: NonZeroU32) -> u32 {
    let digest = Sha256::digest(path.as_bytes());
    let first = digest.iter().take(8);
    let number = first.fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    let place = number % u64::from(total.get());
    // Below a u32.
    u32::try_from(place).unwrap_or_default() + 1
}

/// The durations of these plans, and the median of them for all others; none
/// where not one is known.
fn known<'p>(plans: &[&'p str], times: &PlanTimes) -> Option<BTreeMap<&'p str, u64>> {
    let told: BTreeMap<&str, u64> = times
        .plans
        .iter()
        .map(|plan| (plan.path.as_str(), plan.duration_ms))
        .collect();
    let mut sorted: Vec<u64> = plans
        .iter()
        .filter_map(|path| told.get(path).copied())
        .collect();
    sorted.sort_unstable();
    let median = *sorted.get(sorted.len() / 2)?;
    let of = |path: &'p str| (path, told.get(path).copied().unwrap_or(median));
    Some(plans.iter().copied().map(of).collect())
}

fn by_times(plans: &[&str], total: NonZeroU32, known: &BTreeMap<&str, u64>) -> Vec<u32> {
    let mut longest_first: Vec<(&str, u64)> = known.iter().map(|(p, t)| (*p, *t)).collect();
    // Stable, and the map is in the order of paths.
    longest_first.sort_by_key(|(_, time)| Reverse(*time));
    let mut load: BinaryHeap<Reverse<(u64, u32)>> =
        (1..=total.get()).map(|shard| Reverse((0, shard))).collect();
    let mut shards: BTreeMap<&str, u32> = BTreeMap::new();
    for (path, time) in longest_first {
        if let Some(Reverse((sum, shard))) = load.pop() {
            shards.insert(path, shard);
            // A plan of no time is work too: many of them are spread.
            load.push(Reverse((sum.saturating_add(time.max(1)), shard)));
        }
    }
    let of = |path: &&str| shards.get(path).copied().unwrap_or(1);
    plans.iter().map(of).collect()
}

/// A digest of a list of plans, whatever its order: paths, contents, how often
/// each is run and by which shard.
#[must_use]
pub fn list_digest(plans: &[ShardPlan]) -> String {
    let mut lines = String::new();
    for plan in by_path(plans) {
        let ShardPlan {
            path,
            // Another way to write the same path.
            named: _,
            shard,
            runs,
            sha256,
        } = plan;
        let line = serde_json::json!([path, shard, runs, sha256]).to_string();
        lines.push_str(&line);
        lines.push('\n');
    }
    text_digest(&lines)
}

/// The SHA-256 of a text, in hexadecimal.
#[must_use]
pub fn text_digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn by_path(plans: &[ShardPlan]) -> Vec<&ShardPlan> {
    let mut sorted: Vec<&ShardPlan> = plans.iter().collect();
    sorted.sort_by(|one, other| one.path.cmp(&other.path));
    sorted
}

#[cfg(test)]
mod tests {
    use super::{PlanTime, PlanTimes, assign};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::num::NonZeroU32;

    fn times(told: &[(&str, u64)]) -> PlanTimes {
        let plans = told.iter().map(|(path, duration_ms)| PlanTime {
            path: (*path).to_owned(),
            duration_ms: *duration_ms,
        });
        PlanTimes {
            schema_version: 1,
            plans: plans.collect(),
        }
    }

    fn total(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    /// `printf plans/a.yaml | sha256sum | cut -c1-16`, modulo 10, plus 1. Who
    /// changes this breaks runs whose shards run two versions of jelly.
    #[test]
    fn the_hash_is_the_one_that_is_documented() {
        let plans = ["plans/a.yaml", "plans/b.yaml", "plans/ä/c.yaml"];
        assert_eq!(assign(&plans, total(10), None), [4, 3, 6]);
        assert_eq!(assign(&plans, total(1), None), [1, 1, 1]);
    }

    #[test]
    fn the_longest_plans_are_spread_first() {
        let plans = ["a", "b", "c", "d", "e"];
        let known = times(&[("a", 1), ("b", 10), ("c", 9), ("d", 2), ("gone", 99)]);
        // b 10 | c 9; then e, as long as the median 9, to c's shard; then d and
        // a to the other one.
        assert_eq!(assign(&plans, total(2), Some(&known)), [1, 1, 2, 1, 2]);
    }

    #[test]
    fn durations_of_other_plans_say_nothing() {
        let plans = ["plans/a.yaml", "plans/b.yaml"];
        let other = times(&[("plans/c.yaml", 5)]);
        let by_hash = assign(&plans, total(7), None);
        assert_eq!(assign(&plans, total(7), Some(&other)), by_hash);
    }

    proptest! {
        #[test]
        fn every_plan_is_in_one_shard_whatever_the_order(
            paths in prop::collection::btree_set("[a-z]{1,6}(/[a-z]{1,6})?", 1..60),
            shards in 1_u32..40,
            known in prop::collection::btree_map("[a-z]{1,6}", 0_u64..100_000, 0..30),
            seed in any::<u64>(),
        ) {
            let sorted: Vec<&str> = paths.iter().map(String::as_str).collect();
            let mut shuffled = sorted.clone();
            // Any other order will do.
            shuffled.sort_by_key(|path| {
                path.bytes().fold(seed, |h, b| h.wrapping_mul(31).wrapping_add(b.into()))
            });
            let told: Vec<(&str, u64)> = known
                .iter()
                .map(|(path, time)| (path.as_str(), *time))
                .chain(sorted.first().map(|first| (*first, 7)))
                .collect();
            for times in [None, Some(times(&told))] {
                let of = |list: &[&'_ str]| -> BTreeMap<String, u32> {
                    let shards = assign(list, total(shards), times.as_ref());
                    assert_eq!(shards.len(), list.len());
                    list.iter().map(|path| (*path).to_owned()).zip(shards).collect()
                };
                let one = of(&sorted);
                prop_assert_eq!(&one, &of(&shuffled));
                let used: BTreeSet<u32> = one.values().copied().collect();
                prop_assert!(used.iter().all(|shard| (1..=shards).contains(shard)));
            }
        }

        #[test]
        fn no_shard_has_more_to_do_than_the_others_and_its_longest_plan(
            durations in prop::collection::vec(1_u64..10_000, 1..60),
            shards in 1_u32..12,
        ) {
            let names: Vec<String> = (0..durations.len()).map(|n| format!("p{n}")).collect();
            let told: Vec<(&str, u64)> =
                names.iter().map(String::as_str).zip(durations.iter().copied()).collect();
            let paths: Vec<&str> = names.iter().map(String::as_str).collect();
            let assigned = assign(&paths, total(shards), Some(&times(&told)));
            let mut sums = vec![0_u64; shards as usize];
            for (shard, time) in assigned.iter().zip(&durations) {
                sums[*shard as usize - 1] += time;
            }
            let longest = durations.iter().max().unwrap();
            let (least, most) = (sums.iter().min().unwrap(), sums.iter().max().unwrap());
            prop_assert!(most - least <= *longest, "{sums:?}");
        }
    }
}
