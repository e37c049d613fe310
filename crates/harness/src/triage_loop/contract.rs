//! What a plan is measured by, before and after a hook: the plan itself, and
//! all that it reads besides.

use super::revision::StoredSnapshots;
use jelly_base::model::{PlanChange, PlanChangeKind};
use jelly_base::text::truncate_middle;
use jelly_plan::{Plan, PlanSource, diff, takes_anything};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// So much of a diff is kept, in bytes.
const DIFF: usize = 64 * 1024;

/// What a plan reads besides its own file. Who makes one looks at the files as
/// they are at that moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanReads {
    pub snapshots: StoredSnapshots,
    /// The output schemas that a person set in the schema store, each by
    /// server and tool.
    pub schemas: BTreeMap<String, Value>,
    /// The settings of `jelly.yaml` that change what comes out, by name, and
    /// the rules of triage.
    pub settings: BTreeMap<String, String>,
    /// What steps send of files: the digests, by path.
    pub files: BTreeMap<String, String>,
    /// The ids of the steps that the filters of this call select.
    pub selected: BTreeSet<String>,
    /// The files that can't be used, with the reason.
    pub unusable: BTreeMap<String, String>,
    /// The texts of these files by their paths; none where there is no file.
    pub texts: BTreeMap<String, Option<String>>,
    /// The files and folders that are written by jelly itself.
    pub own: Vec<PathBuf>,
}

impl PlanReads {
    /// What became of it in `after`, which a plan with these steps reads.
    pub(super) fn changes(&self, after: &Self, plan: &Plan) -> Vec<PlanChange> {
        let Self {
            snapshots: _,
            schemas: _,
            settings: _,
            files: _,
            selected,
            unusable,
            texts: _,
            own: _,
        } = self;
        let new = after.unusable.iter();
        let new = new.filter(|(file, _)| !unusable.contains_key(*file));
        let unusable = new.map(|(file, why)| {
            let what = format!("`{file}` can't be used: {why}");
            PlanChange::new(PlanChangeKind::Gone, what)
        });
        let unselected = selected.difference(&after.selected);
        let unselected = unselected.filter(|id| plan.step(id).is_some());
        let unselected = unselected.map(|id| PlanChange {
            step: Some(id.clone()),
            ..PlanChange::new(
                PlanChangeKind::FewerConditions,
                format!("the step `{id}` is no longer among those that are selected"),
            )
        });
        unusable
            .chain(self.snapshots(after))
            .chain(self.schemas(after))
            .chain(self.settings(after))
            .chain(self.files(after))
            .chain(unselected)
            .collect()
    }

    fn snapshots(&self, after: &Self) -> impl Iterator<Item = PlanChange> {
        self.snapshots.iter().filter_map(|(name, before)| {
            // Where the plan names it no more, the plan has changed.
            let (kind, end) = match (before, after.snapshots.get(name)?) {
                (Some(_), None) => (PlanChangeKind::Gone, "is gone"),
                (None, Some(_)) => (PlanChangeKind::Operand, "is stored"),
                (Some(before), Some(now)) if before != now => {
                    (PlanChangeKind::Operand, "has changed")
                }
                (Some(_) | None, _) => return None,
            };
            Some(PlanChange {
                operator: Some("snapshot".to_owned()),
                ..change_of(kind, name, format!("the snapshot `{name}` {end}"))
            })
        })
    }

    fn schemas<'m>(&'m self, after: &'m Self) -> impl Iterator<Item = PlanChange> {
        let store_is_lost = after.unusable.len() > self.unusable.len();
        keys(&self.schemas, &after.schemas).filter_map(move |tool| {
            let (before, now) = (self.schemas.get(tool), after.schemas.get(tool));
            let (kind, end) = match (before, now) {
                // That the store can't be read says it all.
                (Some(_), None) if store_is_lost => return None,
                (Some(_), None) => (PlanChangeKind::Gone, "is gone"),
                (None, Some(now)) if takes_anything(now) => (
                    PlanChangeKind::HoldsOfAnything,
                    "is set, and takes anything",
                ),
                (None, Some(_)) => (PlanChangeKind::Contract, "is set"),
                (before, now) if before == now => return None,
                (Some(before), Some(now)) if takes_anything(now) && !takes_anything(before) => {
                    (PlanChangeKind::HoldsOfAnything, "takes anything now")
                }
                (_, _) => (PlanChangeKind::Operand, "has changed"),
            };
            let what = format!("the output schema of `{tool}` in the schema store {end}");
            Some(change_of(kind, tool, what))
        })
    }

    fn settings<'m>(&'m self, after: &'m Self) -> impl Iterator<Item = PlanChange> {
        keys(&self.settings, &after.settings).filter_map(|name| {
            let (before, now) = (self.settings.get(name), after.settings.get(name));
            let is_true = |value: Option<&String>| value.is_some_and(|value| value == "true");
            // Of settings, this one alone is an expectation.
            let kind = match name.ends_with("run.wire_check") {
                true if is_true(now) => return None,
                true if is_true(before) => PlanChangeKind::Gone,
                true | false => PlanChangeKind::Contract,
            };
            let end = match (before, now) {
                (before, now) if before == now => return None,
                (_, None) => "is gone",
                (None, Some(_)) => "is set",
                (Some(_), Some(_)) => "has another value",
            };
            Some(change_of(kind, name, format!("the setting `{name}` {end}")))
        })
    }

    /// A file that only one of the plans sends is no change of it.
    fn files(&self, after: &Self) -> impl Iterator<Item = PlanChange> {
        self.files.iter().filter_map(|(path, before)| {
            let changed = after.files.get(path).is_some_and(|now| now != before);
            let what = format!("the file `{path}`, which steps send, has changed");
            changed.then(|| change_of(PlanChangeKind::Contract, path, what))
        })
    }

    /// Unified diffs of the files that have another text in `after`.
    pub(super) fn diffs(&self, after: &Self) -> String {
        let mut all = String::new();
        for file in self.texts.keys() {
            // One that only one of the plans reads was not changed by that.
            if let (Some(before), Some(now)) = (self.texts.get(file), after.texts.get(file)) {
                let source = |text: &Option<String>| PlanSource {
                    path: file.into(),
                    text: text.clone().unwrap_or_default().into(),
                    variant: None,
                };
                all.push_str(&diff(&source(before), &source(now)));
            }
        }
        all
    }
}

/// What is in one of them, each once.
fn keys<'m, V>(
    one: &'m BTreeMap<String, V>,
    other: &'m BTreeMap<String, V>,
) -> impl Iterator<Item = &'m String> {
    let all: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    all.into_iter()
}

fn change_of(kind: PlanChangeKind, path: &str, what: String) -> PlanChange {
    PlanChange {
        path: Some(path.to_owned()),
        ..PlanChange::new(kind, what)
    }
}

/// A diff as long as a report may hold.
pub(super) fn bounded(diff: &str) -> String {
    truncate_middle(diff, DIFF).into_owned()
}
