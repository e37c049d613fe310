//! `create_directory`: a folder that the plan names inside the project is
//! missing, as after a fresh clone. The mildest repair, so it is tried first.

use super::args::{path_arguments, working_dir};
use super::paths::{can_be_created, names, normalise, texts};
use super::types::{Facts, Proposal, RepairId};
use jelly_base::model::{Diagnosis, Failure, PlanIssue};
use jelly_plan::{Plan, Server, Step, resolve_json};
use serde_json::Value;
use std::path::{Path, PathBuf};

pub(super) fn propose(
    plan: &Plan,
    failure: &Failure,
    diagnosis: &Diagnosis,
    facts: &Facts<'_>,
) -> Vec<Proposal> {
    let by_issue = matches!(failure.issue, Some(PlanIssue::MissingDirectory { .. }));
    if !by_issue && diagnosis.root_cause != "missing_directory" {
        return Vec::new();
    }
    let said = texts(failure);
    let server = failure
        .server
        .as_ref()
        .and_then(|name| plan.servers.get(name));
    let of_server = server.and_then(|server| for_server(server, &said, facts));
    let of_step = failure
        .step
        .as_ref()
        .and_then(|id| plan.step(id))
        .filter(|step| !step.expects_error())
        .and_then(|step| for_step(step, &said, facts));
    of_server.into_iter().chain(of_step).collect()
}

fn for_server(server: &Server, said: &[&str], facts: &Facts<'_>) -> Option<Proposal> {
    let mut dirs: Vec<PathBuf> = Vec::new();
    if server
        .command()
        .is_some_and(|command| command.cwd.is_some())
    {
        dirs.push(working_dir(server, facts));
    }
    dirs.extend(path_arguments(server, facts).into_iter().map(|a| a.path));
    dirs.retain(|dir| is_named(said, dir, facts) && can_be_created(dir, facts));
    dirs.dedup();
    let mut proposal = proposal(format!("servers.{}", server.name), dirs, facts)?;
    // A folder that was not there is empty now: what the server finds in it
    // proves nothing.
    proposal.servers_touched.push(server.name.clone());
    Some(proposal)
}

/// As the server names it, absolute or from the project folder.
fn is_named(said: &[&str], dir: &Path, facts: &Facts<'_>) -> bool {
    let relative = || dir.strip_prefix(facts.project_dir).ok();
    names(said, dir)
        || relative().is_some_and(|dir| {
            // A bare word is no evidence unless it is quoted.
            let quoted = |quote: char| format!("{quote}{}{quote}", dir.display());
            said.iter()
                .any(|text| text.contains(&quoted('\'')) || text.contains(&quoted('"')))
        })
}

fn for_step(step: &Step, said: &[&str], facts: &Facts<'_>) -> Option<Proposal> {
    let mut dirs = Vec::new();
    let mut strings = Vec::new();
    each_string(&step.args, &mut strings);
    for raw in strings {
        let Ok(Value::String(text)) =
            resolve_json(&Value::String(raw.to_owned()), facts.scope, &step.server)
        else {
            continue;
        };
        let path = normalise(Path::new(&text));
        if !path.is_absolute() {
            continue;
        }
        dirs.extend(missing_of(&path, said, facts));
    }
    dirs.dedup();
    let mut proposal = proposal(super::target::step_target(step), dirs, facts)?;
    proposal.steps_touched.push(step.id.clone());
    Some(proposal)
}

/// The folder that a path in a step's arguments lacks: the one that holds it,
/// or itself where that one is there and the server speaks of it.
fn missing_of(path: &Path, said: &[&str], facts: &Facts<'_>) -> Option<PathBuf> {
    let spoken_of = path.ancestors().any(|dir| {
        dir != facts.project_dir && dir.starts_with(facts.project_dir) && names(said, dir)
    });
    if !spoken_of {
        return None;
    }
    let parent = path.parent()?;
    if can_be_created(parent, facts) {
        return Some(parent.to_owned());
    }
    let looks_like_a_folder = path.extension().is_none();
    (looks_like_a_folder && names(said, path) && can_be_created(path, facts))
        .then(|| path.to_owned())
}

fn proposal(target: String, dirs: Vec<PathBuf>, facts: &Facts<'_>) -> Option<Proposal> {
    if dirs.is_empty() {
        return None;
    }
    let shown: Vec<String> = dirs
        .iter()
        .map(|dir| {
            let inside = dir.strip_prefix(facts.project_dir).unwrap_or(dir);
            inside.display().to_string()
        })
        .collect();
    let explanation = format!(
        "created {} in the project, which the plan names and nobody made",
        shown.join(" and ")
    );
    let mut proposal = Proposal::new(RepairId::CreateDirectory, target, explanation);
    proposal.create_dirs = dirs;
    Some(proposal)
}

fn each_string<'v>(value: &'v Value, strings: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => strings.push(text),
        Value::Array(items) => items.iter().for_each(|item| each_string(item, strings)),
        Value::Object(map) => map.values().for_each(|item| each_string(item, strings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
