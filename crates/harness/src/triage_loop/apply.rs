//! Putting repairs into effect: edits of the plan in memory, and folders
//! inside the project.

use super::settings::LoopSettings;
use crate::repair::{FsFacts, Proposal};
use jelly_base::model::RepairReport;
use jelly_plan::{Plan, PlanEdit, PlanError, PlanSource, Segment, shown_diff};
use std::path::Path;

/// Why a proposal is passed over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Inapplicable {
    #[error("edit the plan: {0}")]
    Edit(String),
    #[error("read the edited plan again: {0}")]
    Load(String),
    #[error("change {0}: it is included, and repairs are written into the plan alone")]
    Included(String),
    #[error("change anything")]
    NoChange,
    #[error("create {0}, which lies outside the project")]
    Outside(String),
    #[error("create {0}: {1}")]
    Create(String, String),
}

/// The plan after the edits of a proposal; unchanged where it has none.
///
/// # Errors
/// The edits can't be made, make no difference, or leave no valid plan.
pub(super) fn edited(
    plan: &Plan,
    proposal: &Proposal,
    settings: &LoopSettings,
) -> Result<Plan, Inapplicable> {
    if proposal.edits.is_empty() {
        return Ok(plan.clone());
    }
    if let Some(file) = proposal
        .edits
        .iter()
        .find_map(|edit| included_file(plan, edit))
    {
        return Err(Inapplicable::Included(file));
    }
    let source = jelly_plan::apply(&plan.source, &proposal.edits)
        .map_err(|e| Inapplicable::Edit(e.to_string()))?;
    if source.text == plan.source.text {
        return Err(Inapplicable::NoChange);
    }
    let after = load(source, settings).map_err(|e| Inapplicable::Load(e.to_string()))?;
    // What this run compares with was read at its beginning.
    if after.included != plan.included {
        let why = "a file that it includes was changed since it was read";
        return Err(Inapplicable::Load(why.to_owned()));
    }
    Ok(after)
}

/// The included file that an edit would be made in: other plans include it too.
fn included_file(plan: &Plan, edit: &PlanEdit) -> Option<String> {
    let [Segment::Key(key), Segment::Index(index), ..] = &edit.path().0[..] else {
        return None;
    };
    let file = plan.included.get(*index).filter(|_| key == "include")?;
    Some(file.path.display().to_string())
}

/// Reads a plan, with the variables that were set from outside.
pub(super) fn load(source: PlanSource, settings: &LoopSettings) -> Result<Plan, PlanError> {
    jelly_plan::load_in(source, &settings.vars, Some(&settings.project_dir))
}

/// Applies a proposal: its folders first, then its edits.
///
/// # Errors
/// As [`edited`], or a folder that can't be created or lies outside the
/// project; then nothing is edited.
pub(super) fn apply(
    plan: &Plan,
    proposal: &Proposal,
    settings: &LoopSettings,
    fs: &dyn FsFacts,
) -> Result<(Plan, RepairReport), Inapplicable> {
    let after = edited(plan, proposal, settings)?;
    for dir in &proposal.create_dirs {
        create_inside(dir, &settings.project_dir, fs)?;
    }
    let redactor = &settings.redactor;
    let diff = shown_diff(&plan.source, &after.source, redactor);
    Ok((
        after,
        RepairReport {
            id: proposal.id.name().to_owned(),
            target: proposal.target.clone(),
            explanation: redactor.redact(&proposal.explanation).into_owned(),
            diff,
            edits: proposal
                .edits
                .iter()
                .map(|edit| edit.report(redactor))
                .collect(),
            ineffective: false,
        },
    ))
}

/// The last check before anything is written: proposals were made from facts
/// that may have changed since.
fn create_inside(dir: &Path, project_dir: &Path, fs: &dyn FsFacts) -> Result<(), Inapplicable> {
    let shown = || dir.display().to_string();
    let inside = match (fs.resolve(dir), fs.resolve(project_dir)) {
        (Some(dir), Some(project)) => dir.starts_with(project),
        (None, _) | (_, None) => false,
    };
    if !inside {
        return Err(Inapplicable::Outside(shown()));
    }
    std::fs::create_dir_all(dir).map_err(|e| Inapplicable::Create(shown(), e.to_string()))
}
