//! One failure that is told by the stages of several tests: by the set-up of a suite and by
//! that of a test, by one worker and by another.

use super::addresses::Addresses;
use super::group::{CAUSES, Group, merge};
use crate::engine::skeleton;
use jelly_base::model::FailureView;
use jelly_base::text::LazyPattern;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Root causes of which equal words may be several causes: their values mean something, or
/// they say little.
const OWN: [&str; 10] = [
    "assertion_mismatch",
    "code_exception",
    "expected_error",
    "fixture_error",
    "internal_error",
    "mock_expectation",
    "snapshot_mismatch",
    "test_timeout",
    "unknown",
    "wait_timeout",
];

/// What is equal of failures that differ in their stage only: the root cause, the server,
/// and what is said.
type StageKey<'v> = (&'v str, Option<String>, String, String);

/// Joins groups that say the same behind the name of a stage, at most one of them without.
pub(super) fn join_stages(views: &[FailureView<'_>], groups: &mut [Group], addresses: &Addresses) {
    let mut alike: BTreeMap<StageKey<'_>, Vec<(usize, bool)>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate().take(CAUSES) {
        let Some(first) = group.victims.first().copied() else {
            continue;
        };
        let view = &views[first];
        let root_cause = view.kind.root_cause.as_str();
        let Some(message) = view.message.filter(|_| !OWN.contains(&root_cause)) else {
            continue;
        };
        let (said, of_stage) = without_stage(message, view.name);
        let told = view.evidence.map_or("", |(_, text)| text);
        let (told, _) = without_stage(told, view.name);
        let server = addresses.apart(first, view);
        let key = (root_cause, server, skeleton(&said), skeleton(&told));
        alike.entry(key).or_default().push((at, of_stage));
    }
    for places in alike.into_values() {
        let plain = places.iter().filter(|(_, of_stage)| !of_stage).count();
        if let [(first, _), others @ ..] = places.as_slice()
            && plain <= 1
        {
            for (other, _) in others {
                merge(groups, *first, *other);
            }
        }
    }
    for group in groups {
        group.victims.sort_unstable();
    }
}

/// A text without the name of a stage in front of it, and whether there was one. A worker
/// that crashed says which one it is and which test it ran.
fn without_stage<'t>(text: &'t str, name: &str) -> (Cow<'t, str>, bool) {
    static STAGE: LazyPattern = LazyPattern::new(
        r#"^(?:(?:Parent suite setup failed:|Suite setup failed:|Setup failed:|(?:OneTime)?SetUp ?:|failed on setup with "|"before (?:all|each)" hook(?: for "[^"\n]*")?:)\s*)+"#,
    );
    static WORKER: LazyPattern = LazyPattern::new(r"^worker '\w+' crashed while running ");
    let text = text.trim();
    let stage = STAGE.find(text);
    let bare = stage.map_or(text, |stage| &text[stage.end()..]);
    let bare = match stage {
        Some(_) if text.starts_with("failed on setup with \"") => bare.trim_end_matches('"'),
        Some(_) | None => bare,
    };
    let worker = WORKER.find(bare);
    let Some(worker) = worker else {
        return (Cow::Borrowed(bare), stage.is_some());
    };
    let test = &bare[worker.end()..];
    let test = match name.is_empty() {
        true => test.to_owned(),
        false => test.replace(name, "…"),
    };
    (
        Cow::Owned(format!("worker crashed while running {test}")),
        true,
    )
}

#[cfg(test)]
mod tests {
    use super::without_stage;

    #[test]
    fn the_stage_is_no_part_of_what_went_wrong() {
        for (text, wanted, of_stage) in [
            ("Parent suite setup failed: no browser", "no browser", true),
            ("Setup failed:\nno browser", "no browser", true),
            ("OneTimeSetUp: no browser", "no browser", true),
            ("SetUp : no browser", "no browser", true),
            ("failed on setup with \"no browser\"", "no browser", true),
            (
                "\"before each\" hook for \"pays\": no browser",
                "no browser",
                true,
            ),
            (
                "failed on setup with \"worker 'gw3' crashed while running 'tests/test_a.py::test_pays'\"",
                "worker crashed while running 'tests/test_a.py::…'",
                true,
            ),
            ("no browser", "no browser", false),
            ("Setup failed", "Setup failed", false),
        ] {
            let (said, told) = without_stage(text, "test_pays");
            assert_eq!((&*said, told), (wanted, of_stage), "{text}");
        }
    }
}
