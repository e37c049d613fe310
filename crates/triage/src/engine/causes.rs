//! The root causes that rules name, with what they mean, and the buckets of
//! Provar's failure report that they stand for.

use super::tables::{built, table};
use jelly_base::model::{CauseInfo, ProvarBucket};
use std::sync::LazyLock;

/// All root causes of the built-in rules, by group. Rules of users may name
/// others.
pub static CAUSES: LazyLock<Vec<CauseInfo>> = LazyLock::new(|| table(built!("causes")));

/// All of Provar's buckets, in Provar's order.
pub static PROVAR: LazyLock<Vec<ProvarBucket>> = LazyLock::new(|| table(built!("provar")));

#[cfg(test)]
mod tests {
    use super::{CAUSES, PROVAR};
    use crate::engine::{Engine, Field, specimen};
    use std::collections::BTreeSet;

    #[test]
    fn every_root_cause_of_a_rule_is_described_and_no_other() {
        let described: BTreeSet<&str> = CAUSES
            .iter()
            .map(|cause| cause.root_cause.as_str())
            .collect();
        assert_eq!(described.len(), CAUSES.len());
        let mut named: BTreeSet<&str> = Engine::builtin()
            .rules()
            .map(|rule| rule.root_cause.as_str())
            .collect();
        named.insert("unknown");
        assert_eq!(described, named);
    }

    #[test]
    fn a_text_of_every_bucket_is_diagnosed_as_the_table_says() {
        assert_eq!(PROVAR.len(), 17);
        for bucket in PROVAR.iter() {
            let diagnosis = Engine::builtin().diagnose(&specimen(Field::Report, &bucket.example));
            assert_eq!(
                (&diagnosis.root_cause, &diagnosis.rule),
                (&bucket.root_cause, &bucket.rule),
                "{}",
                bucket.bucket
            );
        }
    }
}
