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
            selected: _,
            unusable,
            texts: _,
            own: _,
        } = self;
        let mut changes = Vec::new();
        for (file, why) in &after.unusable {
            if !unusable.contains_key(file) {
                changes.push(PlanChange::new(
                    PlanChangeKind::Gone,
                    format!("`{file}` can't be used: {why}"),
                ));
            }
        }
        self.snapshots(after, &mut changes);
        self.schemas(after, &mut changes);
        self.settings(after, &mut changes);
        for id in self.selected.difference(&after.selected) {
            if plan.step(id).is_some() {
                let told = format!("the step `{id}` is no longer among those that are selected");
                changes.push(PlanChange {
                    step: Some(id.clone()),
                    ..PlanChange::new(PlanChangeKind::FewerConditions, told)
                });
            }
        }
        changes
    }

    fn snapshots(&self, after: &Self, changes: &mut Vec<PlanChange>) {
        for (name, before) in &self.snapshots {
            // Where the plan names it no more, the plan has changed.
            let Some(now) = after.snapshots.get(name) else {
                continue;
            };
            let (kind, told) = match (before, now) {
                (Some(_), None) => (PlanChangeKind::Gone, "is gone"),
                (None, Some(_)) => (PlanChangeKind::Operand, "is stored"),
                (Some(before), Some(now)) if before != now => {
                    (PlanChangeKind::Operand, "is another one")
                }
                (Some(_) | None, _) => continue,
            };
            changes.push(PlanChange {
                operator: Some("snapshot".to_owned()),
                path: Some(name.clone()),
                ..PlanChange::new(kind, format!("the snapshot `{name}` {told}"))
            });
        }
    }

    fn schemas(&self, after: &Self, changes: &mut Vec<PlanChange>) {
        let store_is_lost = after.unusable.len() > self.unusable.len();
        let tools: BTreeSet<&String> = self.schemas.keys().chain(after.schemas.keys()).collect();
        for tool in tools {
            let change = match (self.schemas.get(tool), after.schemas.get(tool)) {
                // That the store can't be read says it all.
                (Some(_), None) if store_is_lost => continue,
                (Some(_), None) => (PlanChangeKind::Gone, "is gone"),
                (None, Some(now)) if takes_anything(now, false) => (
                    PlanChangeKind::HoldsOfAnything,
                    "is set, and takes anything",
                ),
                (None, Some(_)) => (PlanChangeKind::Contract, "is set"),
                (Some(before), Some(now)) if before == now => continue,
                (Some(before), Some(now))
                    if takes_anything(now, false) && !takes_anything(before, false) =>
                {
                    (PlanChangeKind::HoldsOfAnything, "takes anything now")
                }
                (Some(_), Some(_)) => (PlanChangeKind::Operand, "is another one"),
                (None, None) => continue,
            };
            let (kind, told) = change;
            let told = format!("the output schema of `{tool}` in the schema store {told}");
            changes.push(PlanChange {
                path: Some(tool.clone()),
                ..PlanChange::new(kind, told)
            });
        }
    }

    fn settings(&self, after: &Self, changes: &mut Vec<PlanChange>) {
        let names: BTreeSet<&String> = self.settings.keys().chain(after.settings.keys()).collect();
        for name in names {
            let (before, now) = (self.settings.get(name), after.settings.get(name));
            if before == now {
                continue;
            }
            // Of settings, this one alone is an expectation.
            let kind = match name.ends_with("run.wire_check") {
                true if now.is_some_and(|value| value == "true") => continue,
                true if before.is_some_and(|value| value == "true") => PlanChangeKind::Gone,
                true | false => PlanChangeKind::Contract,
            };
            let told = match now {
                None => "is gone",
                Some(_) if before.is_none() => "is set",
                Some(_) => "has another value",
            };
            changes.push(PlanChange {
                path: Some(name.clone()),
                ..PlanChange::new(kind, format!("the setting `{name}` {told}"))
            });
        }
    }

    /// Unified diffs of the files that have another text in `after`.
    pub(super) fn diffs(&self, after: &Self) -> String {
        let files: BTreeSet<&String> = self.texts.keys().chain(after.texts.keys()).collect();
        let mut all = String::new();
        for file in files {
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

/// A diff as long as a report may hold.
pub(super) fn bounded(diff: &str) -> String {
    truncate_middle(diff, DIFF).into_owned()
}
