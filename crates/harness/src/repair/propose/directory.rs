//! `create_directory`: a folder that the plan names inside the project is
//! missing, as after a fresh clone. The mildest repair, so it is tried first.

use crate::repair::args::{PathArgument, named_working_dir, path_arguments};
use crate::repair::case::{FailureCase, server_target, step_target};
use crate::repair::paths::{
    can_be_created, names, names_within, normalise, texts, wants_a_repository,
};
use crate::repair::strings::each_string;
use crate::repair::types::{Facts, Proposal, RepairId};
use jelly_base::model::PlanIssue;
use jelly_base::text::launchers::{SCRIPT_ENDINGS, needed_there};
use jelly_plan::{Command, DocPath, resolve_json};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The rule for what could not be opened, since its folder is not there: mostly a file, and with
/// .NET a folder that was to be listed as well.
const OPENED: &str = "files/missing-folder-of-an-opened-file";
/// What is said of files alone.
const OF_FILES: [&str; 2] = ["unable to open database file", "Directory nonexistent"];
/// The same for what could not be written, which is a file.
const WRITTEN: &str = "files/missing-folder-of-a-file-to-write";

fn is_missing(case: &FailureCase<'_>) -> bool {
    matches!(case.failure.issue, Some(PlanIssue::MissingDirectory { .. }))
        || case.diagnosis.root_cause == "missing_directory"
}

/// A folder that the server is started with.
pub(super) fn of_server(case: &FailureCase<'_>) -> Option<Proposal> {
    let (server, facts) = (case.server().filter(|_| is_missing(case))?, case.facts);
    let said = texts(case.failure);
    if wants_a_repository(&said) {
        return None;
    }
    let arguments = path_arguments(server, facts);
    let cwd = named_working_dir(server, facts);
    let needed = match (&cwd, server.command()) {
        (Some(cwd), Some(command)) => needs_what_is_in(cwd, command, &arguments),
        _ => false,
    };
    let mut dirs: Vec<PathBuf> = cwd.iter().cloned().collect();
    dirs.extend(arguments.into_iter().map(|argument| argument.path));
    // An argument may name it as well, as `.` does.
    dirs.retain(|dir| !needed || Some(dir) != cwd.as_ref());
    dirs.retain(|dir| is_named(&said, dir, facts));
    let rule = &*case.diagnosis.rule;
    // Whose folder is missing, the diagnosis tells where the server does.
    let told = [case.diagnosis.advice.what.as_str()];
    let is_told = dirs.iter().any(|dir| names(&told, dir));
    let missing = dirs.iter().filter(|dir| can_be_created(dir, facts));
    let tells_of_file = |text: &&str| OF_FILES.iter().any(|words| text.contains(words));
    let is_only = missing.count() == 1 && said.iter().any(tells_of_file);
    // What has no ending is a folder itself, as far as anybody can tell, and so is that of which
    // the server names a file.
    let is_file = |path: &Path| {
        let is_one = match is_told {
            true => names(&told, path),
            false => rule == WRITTEN || is_only,
        };
        let has_ending = rule == OPENED && path.extension().is_some();
        [OPENED, WRITTEN].contains(&rule) && (is_one || has_ending) && !names_within(&said, path)
    };
    let mut of_a_file = false;
    dirs = dirs
        .into_iter()
        .filter_map(|mut dir| {
            let file = is_file(&dir);
            if file {
                dir.pop();
            }
            let creates = can_be_created(&dir, facts);
            of_a_file |= file && creates;
            creates.then_some(dir)
        })
        .collect();
    let proposal = proposal(server_target(&server.name), dirs, of_a_file, facts)?;
    // A folder that was not there is empty now: what the server finds in it
    // proves nothing.
    Some(Proposal {
        servers_touched: vec![server.name.clone()],
        ..proposal
    })
}

/// Whether the command is started from files in its working directory, which are not in a
/// folder that is made for it: then another one is meant.
fn needs_what_is_in(cwd: &Path, command: &Command, arguments: &[PathArgument]) -> bool {
    let is_script = |argument: &PathArgument| {
        let ending = argument.path.extension().and_then(|ending| ending.to_str());
        argument.path.starts_with(cwd) && ending.is_some_and(|ending| SCRIPT_ENDINGS.has(ending))
    };
    let args: Vec<&str> = command.args.iter().map(|arg| arg.raw.as_str()).collect();
    let program = command.command.as_ref().map(|it| it.raw.as_str());
    let is_started_there = |program| needed_there(program, &args).is_some();
    arguments.iter().any(is_script) || program.is_some_and(is_started_there)
}

/// A folder that a path in a step's arguments lies in.
pub(super) fn of_step(case: &FailureCase<'_>) -> Option<Proposal> {
    let (step, facts) = (case.step().filter(|_| is_missing(case))?, case.facts);
    let said = texts(case.failure);
    let mut dirs = Vec::new();
    let mut of_a_file = false;
    each_string(&step.args, &DocPath::default(), &mut |_, raw| {
        let resolved = resolve_json(&Value::from(raw), facts.scope, &step.server);
        if let Ok(Value::String(text)) = resolved {
            let path = normalise(Path::new(&text));
            let missing = missing_of(&path, &said, facts);
            of_a_file |= missing.as_ref().is_some_and(|missing| *missing != path);
            dirs.extend(missing);
        }
    });
    let proposal = proposal(step_target(step), dirs, of_a_file, facts)?;
    Some(Proposal {
        steps_touched: vec![step.id.clone()],
        ..proposal
    })
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

/// The folder that a path in a step's arguments lacks: the one that holds it,
/// or itself where that one is there and the server speaks of it.
fn missing_of(path: &Path, said: &[&str], facts: &Facts<'_>) -> Option<PathBuf> {
    let spoken_of = path.is_absolute()
        && path.ancestors().any(|dir| {
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

fn proposal(
    target: String,
    mut dirs: Vec<PathBuf>,
    of_a_file: bool,
    facts: &Facts<'_>,
) -> Option<Proposal> {
    dirs.dedup();
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
        "created {} in the project: the plan names {}, and it did not exist",
        shown.join(" and "),
        match (of_a_file, shown.len() > 1) {
            (true, true) => "them or a file in them",
            (true, false) => "a file in it",
            (false, _) => "it",
        },
    );
    Some(Proposal {
        create_dirs: dirs,
        ..Proposal::new(RepairId::CreateDirectory, target, explanation)
    })
}
