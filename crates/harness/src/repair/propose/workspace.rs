//! `filesystem_workspace`: a filesystem server's folder is missing or can't be
//! written to, so it gets one of the project's own, and the paths of its steps
//! move along.

use super::prefix::{rewrite, speaks_of};
use crate::repair::args::{PathArgument, named_working_dir, path_arguments};
use crate::repair::case::{FailureCase, server_target};
use crate::repair::paths::{can_be_created, is_inside, names_below, texts, wants_a_repository};
use crate::repair::strings::each_string;
use crate::repair::types::{PathKind, Proposal, RepairId};
use jelly_base::model::PlanIssue;
use jelly_plan::{Answer, PlanEdit, Server, snapshot_path};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Below the project folder.
const FOLDER: &str = ".mcp/filesystem";
/// The same as plans write it.
const RAW: &str = "${workspace}/.mcp/filesystem";

pub(super) fn move_into_project(case: &FailureCase<'_>) -> Option<Proposal> {
    let (server, facts) = (case.server()?, case.facts);
    let folder = facts.project_dir.join(FOLDER);
    let ready = match facts.fs.kind(&folder) {
        PathKind::Missing => can_be_created(&folder, facts),
        PathKind::Dir { writable } => writable && is_inside(&folder, facts),
        PathKind::File => false,
    };
    if !ready {
        return None;
    }
    let said = texts(case.failure);
    if wants_a_repository(&said) {
        return None;
    }
    let trouble = Trouble::new(case, &said);
    // Without its working directory nothing starts, whatever an argument is then.
    let cwd = named_working_dir(server, facts);
    let argument = path_arguments(server, facts).into_iter().find(|argument| {
        argument.path != folder
            && cwd.as_ref() != Some(&argument.path)
            && names_below(&said, &argument.path)
            && trouble.fits(facts.fs.kind(&argument.path))
    })?;
    let expected = is_expected(case, &argument.path) || is_stored(case, &argument.path);
    (!expected).then(|| proposal(case, server, &argument, folder))
}

/// What the failure says is wrong with a folder.
struct Trouble {
    missing: bool,
    denied: bool,
    no_folder: bool,
}

impl Trouble {
    fn new(case: &FailureCase<'_>, said: &[&str]) -> Self {
        let cause = case.diagnosis.root_cause.as_str();
        let by_issue = matches!(case.failure.issue, Some(PlanIssue::MissingDirectory { .. }));
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
    case: &FailureCase<'_>,
    server: &Server,
    argument: &PathArgument,
    folder: PathBuf,
) -> Proposal {
    let explanation = format!(
        "pointed {} at {FOLDER} in the project instead of {}, which can't be used here, and moved \
         its steps' paths along",
        server.name,
        argument.path.display()
    );
    let mut edits = vec![PlanEdit::Set {
        path: argument.at.clone(),
        value: Value::String(format!("{}{RAW}", argument.flag)),
    }];
    let mut steps_touched = Vec::new();
    for step in case.plan.all_steps() {
        if step.server != server.name || step.expects_error() {
            continue;
        }
        let before = edits.len();
        each_string(&step.args, &step.path.key("args"), &mut |at, raw| {
            let text = rewrite(raw, (argument.path.as_path(), RAW), &server.name, case);
            edits.extend(text.map(|text| PlanEdit::Set {
                path: at.clone(),
                value: Value::String(text),
            }));
        });
        if edits.len() > before {
            steps_touched.push(step.id.clone());
        }
    }
    let (id, target) = (RepairId::FilesystemWorkspace, server_target(&server.name));
    Proposal {
        edits,
        create_dirs: vec![folder],
        steps_touched,
        servers_touched: vec![server.name.clone()],
        ..Proposal::new(id, target, explanation)
    }
}

/// An expectation that names the old folder would fail for the new one, and
/// expectations are never changed; nor is what the plan answers to the server.
fn is_expected(case: &FailureCase<'_>, folder: &Path) -> bool {
    let speaks = |value: &Value, server: &str| speaks_of(value, folder, server, case.facts);
    let of_steps = case.plan.all_steps().any(|step| {
        let answers = step.answers.iter().flat_map(spoken);
        let expected = step.predicates().map(|p| &p.operand);
        let mut values = expected.chain(answers);
        values.any(|value| speaks(value, &step.server))
    });
    of_steps
        || case.plan.servers.values().any(|server| {
            let mut answers = server.answers.iter().flat_map(spoken);
            answers.any(|value| speaks(value, &server.name))
        })
}

/// Whether a snapshot names the folder: as it is, or as it is stored, from the
/// project on.
fn is_stored(case: &FailureCase<'_>, folder: &Path) -> bool {
    let inside = folder.strip_prefix(case.facts.project_dir).ok();
    let inside = inside.map(|inside| format!("${{workspace}}/{}", inside.display()));
    let folder = folder.display().to_string();
    let texts: Vec<&str> = [Some(&folder), inside.as_ref()]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let names = case.plan.snapshot_names();
    names.iter().any(|name| {
        let path = snapshot_path(&case.plan.source.path, name);
        case.facts.fs.mentions(&path, &texts)
    })
}

/// What an answer says, and what it expects to be asked.
fn spoken(answer: &Answer) -> impl Iterator<Item = &Value> {
    let expected = answer.predicates().map(|p| &p.operand);
    answer.give.value().into_iter().chain(expected)
}
