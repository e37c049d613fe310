//! `rename_server`, `rename_tool`, `rename_argument`: a name that is not
//! offered becomes the one close name that is; and `quarantine_step`, where
//! there is none.

use super::target::step_target;
use super::types::{Facts, Proposal, RepairId};
use jelly_base::model::{Diagnosis, Failure, PlanIssue};
use jelly_base::text::close_names;
use jelly_plan::{Plan, PlanEdit, Request, Step, Template};
use serde_json::Value;

/// Renames by what preflight found, or by what the server itself listed.
pub(super) fn rename(
    plan: &Plan,
    failure: &Failure,
    diagnosis: &Diagnosis,
    facts: &Facts<'_>,
) -> Option<Proposal> {
    match wrong_name(plan, failure, diagnosis, facts)? {
        Wrong::Server { name, candidates } => rename_server(plan, &name, only(&candidates)?),
        Wrong::Tool {
            step,
            name,
            candidates,
        } => rename_tool(step, &name, only(&candidates)?),
        Wrong::Argument {
            step,
            name,
            candidates,
        } => rename_argument(step, &name, only(&candidates)?),
    }
}

/// Takes the steps out that nobody can play, visibly: the last resort.
pub(super) fn quarantine(
    plan: &Plan,
    failure: &Failure,
    diagnosis: &Diagnosis,
    facts: &Facts<'_>,
) -> Option<Proposal> {
    let (target, what, steps): (String, String, Vec<&Step>) =
        match wrong_name(plan, failure, diagnosis, facts)? {
            Wrong::Server { name, candidates } => {
                if only(&candidates).is_some() {
                    return None;
                }
                let steps = steps_of(plan, &name).collect();
                (
                    format!("servers.{name}"),
                    format!("the plan has no server {name}"),
                    steps,
                )
            }
            Wrong::Tool {
                step,
                name,
                candidates,
            } => {
                if only(&candidates).is_some() {
                    return None;
                }
                let what = format!("the server {} has no tool {name}", step.server);
                (step_target(step), what, vec![step])
            }
            Wrong::Argument { .. } => return None,
        };
    let ids: Vec<String> = steps.iter().map(|step| step.id.clone()).collect();
    let explanation = format!(
        "took {} out, since {what} and no one name is close",
        ids.join(", ")
    );
    let mut proposal = Proposal::new(RepairId::QuarantineStep, target, explanation);
    proposal.quarantine = ids;
    Some(proposal)
}

/// A name that is not offered.
enum Wrong<'p> {
    Server {
        name: String,
        candidates: Vec<String>,
    },
    Tool {
        step: &'p Step,
        name: String,
        candidates: Vec<String>,
    },
    Argument {
        step: &'p Step,
        name: String,
        candidates: Vec<String>,
    },
}

fn wrong_name<'p>(
    plan: &'p Plan,
    failure: &Failure,
    diagnosis: &Diagnosis,
    facts: &Facts<'_>,
) -> Option<Wrong<'p>> {
    let step = failure
        .step
        .as_ref()
        .and_then(|id| plan.step(id))
        .filter(|step| !step.expects_error());
    match &failure.issue {
        Some(PlanIssue::UnknownServer { name, candidates }) => Some(Wrong::Server {
            name: name.clone(),
            candidates: candidates.clone(),
        }),
        Some(PlanIssue::UnknownTool { name, candidates }) => Some(Wrong::Tool {
            step: step?,
            name: name.clone(),
            candidates: candidates.clone(),
        }),
        Some(PlanIssue::UnknownArgument {
            name, candidates, ..
        }) => Some(Wrong::Argument {
            step: step?,
            name: name.clone(),
            candidates: candidates.clone(),
        }),
        Some(
            PlanIssue::CommandNotFound { .. }
            | PlanIssue::NotExecutable { .. }
            | PlanIssue::MissingDirectory { .. }
            | PlanIssue::MissingVariable { .. }
            | PlanIssue::MissingPackageArgument { .. }
            | PlanIssue::InvalidPackage { .. }
            | PlanIssue::MissingArgument { .. }
            | PlanIssue::ArgumentType { .. }
            | PlanIssue::InvalidArgument { .. }
            | PlanIssue::SnapshotMissing { .. }
            | PlanIssue::SchemaTooComplex { .. },
        ) => None,
        // Only the server's answer says so: its own list must bear it out.
        None if diagnosis.root_cause == "unknown_tool" => by_listing(step?, facts),
        None => None,
    }
}

fn by_listing<'p>(step: &'p Step, facts: &Facts<'_>) -> Option<Wrong<'p>> {
    let Request::Tool(name) = &step.request else {
        return None;
    };
    let (_, tools) = facts.tools.iter().find(|(name, _)| *name == step.server)?;
    let mut offered = tools.iter().map(|tool| tool.name.as_str());
    if offered.clone().any(|tool| tool == name) {
        return None;
    }
    Some(Wrong::Tool {
        step,
        name: name.clone(),
        candidates: close_names(name, &mut offered),
    })
}

/// The one candidate; of several, nobody knows which was meant.
fn only(candidates: &[String]) -> Option<&str> {
    match candidates {
        [only] => Some(only),
        [] | [_, ..] => None,
    }
}

fn steps_of<'p>(plan: &'p Plan, server: &str) -> impl Iterator<Item = &'p Step> {
    plan.all_steps()
        .filter(move |step| step.server == server && !step.expects_error())
}

fn rename_server(plan: &Plan, name: &str, to: &str) -> Option<Proposal> {
    plan.servers.get(to)?;
    let mut proposal = Proposal::new(
        RepairId::RenameServer,
        format!("servers.{name}"),
        format!("used the server {to}, since the plan has no {name}"),
    );
    for step in steps_of(plan, name) {
        proposal.edits.push(PlanEdit::Set {
            path: step.path.key("server"),
            value: Value::String(to.to_owned()),
        });
        proposal.steps_touched.push(step.id.clone());
    }
    proposal.contract = true;
    Some(proposal)
}

fn rename_tool(step: &Step, name: &str, to: &str) -> Option<Proposal> {
    let Request::Tool(written) = &step.request else {
        return None;
    };
    if written != name {
        return None;
    }
    let mut proposal = Proposal::new(
        RepairId::RenameTool,
        step_target(step),
        format!("called {to}, since {} has no tool {name}", step.server),
    );
    proposal.edits.push(PlanEdit::Set {
        path: step.path.key("tool"),
        value: Value::String(Template::literal(to).raw),
    });
    proposal.steps_touched.push(step.id.clone());
    proposal.contract = true;
    Some(proposal)
}

fn rename_argument(step: &Step, name: &str, to: &str) -> Option<Proposal> {
    let args = step.args.as_object()?;
    if !args.contains_key(name) || args.contains_key(to) {
        return None;
    }
    let mut proposal = Proposal::new(
        RepairId::RenameArgument,
        format!("{}.args.{name}", step_target(step)),
        format!("passed {name} as {to}, which is what the tool calls it"),
    );
    proposal.edits.push(PlanEdit::RenameKey {
        path: step.path.key("args").key(name),
        to: to.to_owned(),
    });
    proposal.steps_touched.push(step.id.clone());
    proposal.contract = true;
    Some(proposal)
}
