//! `filesystem_workspace`: a filesystem server's folder is missing or can't be
//! written to, so it gets one of the project's own, and the paths of its steps
//! move along.

use super::args::{PathArgument, path_arguments};
use super::paths::{can_be_created, is_inside, names_below, texts};
use super::prefix::{rewrite, speaks_of};
use super::types::{Facts, PathKind, Proposal, RepairId};
use jelly_base::model::{Diagnosis, Failure, PlanIssue};
use jelly_plan::{Answer, DocPath, Plan, PlanEdit, Server, snapshot_path};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Below the project folder.
const FOLDER: &str = ".mcp/filesystem";
/// The same as plans write it.
const RAW: &str = "${workspace}/.mcp/filesystem";

pub(super) fn propose(
    plan: &Plan,
    failure: &Failure,
    diagnosis: &Diagnosis,
    facts: &Facts<'_>,
) -> Option<Proposal> {
    let server = plan.servers.get(failure.server.as_ref()?)?;
    let folder = facts.project_dir.join(FOLDER);
    let ready = match facts.fs.kind(&folder) {
        PathKind::Missing => can_be_created(&folder, facts),
        PathKind::Dir { writable } => writable && is_inside(&folder, facts),
        PathKind::File => false,
    };
    if !ready {
        return None;
    }
    let said = texts(failure);
    let trouble = Trouble::of(failure, diagnosis, &said);
    let argument = path_arguments(server, facts).into_iter().find(|argument| {
        argument.path != folder
            && names_below(&said, &argument.path)
            && trouble.fits(facts.fs.kind(&argument.path))
    })?;
    if is_expected(plan, &argument.path, facts) {
        return None;
    }
    Some(proposal(plan, server, &argument, folder, facts))
}

/// What the failure says is wrong with a folder.
struct Trouble {
    missing: bool,
    denied: bool,
    no_folder: bool,
}

impl Trouble {
    fn of(failure: &Failure, diagnosis: &Diagnosis, said: &[&str]) -> Self {
        let cause = diagnosis.root_cause.as_str();
        let by_issue = matches!(failure.issue, Some(PlanIssue::MissingDirectory { .. }));
        Self {
            missing: by_issue || cause == "missing_directory",
            denied: cause == "permission_denied",
            no_folder: said.iter().any(|text| {
                text.contains("ENOTDIR") || text.to_lowercase().contains("not a directory")
            }),
        }
    }

    /// Whether what stands at the path is wrong in that way. A file is taken
    /// for a broken folder only where the server says so: it may as well be
    /// the server's own program.
    fn fits(&self, kind: PathKind) -> bool {
        match kind {
            PathKind::Missing => self.missing || self.denied,
            PathKind::File => self.no_folder,
            PathKind::Dir { writable } => self.denied && !writable,
        }
    }
}

fn proposal(
    plan: &Plan,
    server: &Server,
    argument: &PathArgument,
    folder: PathBuf,
    facts: &Facts<'_>,
) -> Proposal {
    let mut proposal = Proposal::new(
        RepairId::FilesystemWorkspace,
        format!("servers.{}", server.name),
        format!(
            "pointed {} at {FOLDER} in the project instead of {}, which can't be used here, and moved its steps' paths along",
            server.name,
            argument.path.display()
        ),
    );
    proposal.edits.push(PlanEdit::Set {
        path: argument.at.clone(),
        value: Value::String(format!("{}{RAW}", argument.flag)),
    });
    for step in plan.all_steps() {
        if step.server != server.name || step.expects_error() {
            continue;
        }
        let before = proposal.edits.len();
        let at = step.path.key("args");
        let new = |raw: &str| rewrite(raw, &argument.path, RAW, plan, &server.name, facts);
        edit_strings(&step.args, &at, &new, &mut proposal.edits);
        if proposal.edits.len() > before {
            proposal.steps_touched.push(step.id.clone());
        }
    }
    proposal.create_dirs.push(folder);
    proposal.servers_touched.push(server.name.clone());
    proposal
}

fn edit_strings(
    value: &Value,
    at: &DocPath,
    new: &dyn Fn(&str) -> Option<String>,
    edits: &mut Vec<PlanEdit>,
) {
    match value {
        Value::String(raw) => {
            if let Some(text) = new(raw) {
                edits.push(PlanEdit::Set {
                    path: at.clone(),
                    value: Value::String(text),
                });
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                edit_strings(item, &at.index(index), new, edits);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                edit_strings(item, &at.key(key), new, edits);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// An expectation that names the old folder would fail for the new one, and
/// expectations are never changed; nor is what the plan answers to the server.
fn is_expected(plan: &Plan, folder: &Path, facts: &Facts<'_>) -> bool {
    let of_steps = plan.all_steps().any(|step| {
        let answers = step.answers.iter().flat_map(spoken);
        let expected = step.expect.predicates().map(|p| &p.operand);
        expected
            .chain(answers)
            .any(|value| speaks_of(value, folder, &step.server, facts))
    });
    let of_servers = plan.servers.values().any(|server| {
        let mut answers = server.answers.iter().flat_map(spoken);
        answers.any(|value| speaks_of(value, folder, &server.name, facts))
    });
    of_steps || of_servers || is_stored(plan, folder, facts)
}

/// Whether a snapshot names the folder: as it is, or as it is stored, from the
/// project on.
fn is_stored(plan: &Plan, folder: &Path, facts: &Facts<'_>) -> bool {
    let mut texts = vec![folder.display().to_string()];
    if let Ok(inside) = folder.strip_prefix(facts.project_dir) {
        texts.push(format!("${{workspace}}/{}", inside.display()));
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let names = plan.snapshot_names();
    let mut stored = names
        .iter()
        .map(|name| snapshot_path(&plan.source.path, name));
    stored.any(|path| facts.fs.mentions(&path, &texts))
}

/// What an answer says, and what it expects to be asked.
fn spoken(answer: &Answer) -> impl Iterator<Item = &Value> {
    let expected = answer.predicates().map(|p| &p.operand);
    answer.give.value().into_iter().chain(expected)
}
