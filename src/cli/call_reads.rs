//! The files that a call of `jelly run` reads, besides its plans: none of them
//! is replaced by a report.

use super::invalid::read;
use super::known::known_file;
use super::rules::project_file;
use super::settings::{World, hooks, project_dir};
use crate::cli::args::RunArgs;
use jelly_plan::{Command, Part, Plan, Template, snapshot_path};
use std::path::{Path, PathBuf};

/// What each is, and where.
pub type CallReads = Vec<(&'static str, PathBuf)>;

/// All that are known before anything runs. What a server opens on its own is
/// not among them.
pub fn call_reads(args: &RunArgs, plans: &[PathBuf], world: &World) -> CallReads {
    let mut reads = CallReads::new();
    let mut add = |what, path: &Path| reads.push((what, path.to_owned()));
    for path in &args.own_rules.files {
        add("a file of rules", path);
    }
    if let Some(path) = &args.ladder.schema_store {
        add("the schema store", path);
    }
    if let Some(path) = &args.shard.shard_times {
        add("the list of durations", path);
    }
    if let Some(path) = project_file(&world.cwd) {
        add("the file of settings", &path);
    }
    add(
        "the list of known failures",
        &known_file(&args.known, world),
    );
    if args.locked {
        add("the lock", &args.lock);
    }
    let vars = args.vars.iter().cloned().collect();
    for path in plans {
        // What is wrong with a plan is told where it is run.
        if let Ok(plan) = read(path, None, &vars, args.project_dir.as_deref()) {
            plan_reads(&plan, args, world, &mut add);
        }
    }
    reads
}

fn plan_reads(
    plan: &Plan,
    args: &RunArgs,
    world: &World,
    add: &mut impl FnMut(&'static str, &Path),
) {
    for file in &plan.included {
        add("an included file", &file.path);
    }
    for name in plan.snapshot_names() {
        add("a snapshot", &snapshot_path(&plan.source.path, &name));
    }
    let project = project_dir(args.project_dir.as_deref(), &plan.source.path);
    let project = project.unwrap_or_else(|_| world.cwd.clone());
    for (path, _) in plan.files.digests() {
        add("a file that a plan sends", &project.join(path));
    }
    let hooks = hooks(plan, args);
    for word in [hooks.fix_tests, hooks.refine_code]
        .iter()
        .flatten()
        .flatten()
    {
        for folder in [&world.cwd, &project] {
            add("a file of a hook", &folder.join(word));
        }
    }
    let servers = plan.servers.values().filter_map(|server| server.command());
    let services = plan
        .services
        .values()
        .filter_map(|service| service.server.command());
    for command in servers.chain(services) {
        command_reads(command, &project, add);
    }
}

/// The program, and each argument that names a file.
fn command_reads(command: &Command, project: &Path, add: &mut impl FnMut(&'static str, &Path)) {
    let cwd = command.cwd.as_ref().and_then(|cwd| word(cwd, project));
    let cwd = project.join(cwd.unwrap_or_default());
    for template in command.command.iter().chain(&command.args) {
        let Some(word) = word(template, project) else {
            continue;
        };
        let value = word.split_once('=').map(|(_, value)| value.to_owned());
        for path in [Some(word), value].into_iter().flatten() {
            add("a file of a server", &cwd.join(path));
        }
    }
}

/// Where nothing but the project is referred to.
fn word(template: &Template, project: &Path) -> Option<String> {
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Workspace => Some(project.display().to_string()),
        Part::Tmp
        | Part::Env(_)
        | Part::Secret(_)
        | Part::Port(_)
        | Part::File(_)
        | Part::Base64(_)
        | Part::Name(_) => None,
    };
    template.parts.iter().map(text).collect()
}
