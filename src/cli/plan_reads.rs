//! All that a plan reads besides its own file, as it is at one moment: a hook
//! that leaves less of it leaves less to test.

use super::invalid::chain;
use super::layers::{SETTINGS, parse_settings};
use super::open_history::OpenHistory;
use super::proposals::stored;
use super::rules::{Rules, find_rules, project_file, text_of};
use crate::cli::args::RunArgs;
use jelly_base::files::read_up_to;
use jelly_harness::exec::Selection;
use jelly_harness::learned::Store;
use jelly_harness::triage_loop::PlanReads;
use jelly_plan::{Plan, ProjectSetting, snapshot_path};
use std::io;
use std::path::Path;

/// Of a longer file no diff is shown.
const MAX_TEXT: u64 = 1024 * 1024;

/// Looks at what `plan` reads in a call with these arguments.
pub fn look_at_reads(
    plan: &Plan,
    args: &RunArgs,
    history: Option<&OpenHistory>,
    cwd: &Path,
) -> PlanReads {
    let mut reads = PlanReads {
        snapshots: stored(plan),
        selected: Selection::new(args.only.clone(), args.skip.clone()).select(plan),
        files: plan
            .files
            .digests()
            .map(|(path, digest)| (path.to_owned(), digest.to_owned()))
            .collect(),
        ..PlanReads::default()
    };
    for file in &plan.included {
        keep_text(&mut reads, &file.path);
    }
    for name in plan.snapshot_names() {
        keep_text(&mut reads, &snapshot_path(&plan.source.path, &name));
    }
    if let Some(path) = &args.ladder.schema_store
        && !args.ladder.no_adapt
        && !path.as_os_str().is_empty()
    {
        schemas(&mut reads, path);
    }
    if let Some(path) = project_file(cwd) {
        settings(&mut reads, &path);
    }
    match find_rules(&args.own_rules.files, cwd) {
        Ok(Rules::Builtin) => {}
        Ok(Rules::Own { digest, .. }) => {
            reads.settings.insert("rules".to_owned(), digest);
        }
        Err(refusal) => {
            let why = refusal.render(false);
            reads.unusable.insert("rules".to_owned(), why);
        }
    }
    for file in &args.own_rules.files {
        keep_text(&mut reads, file);
    }
    reads.own.push(args.reports.reports_dir.clone());
    reads
        .own
        .extend(history.and_then(|history| Some(history.file()?.to_owned())));
    reads
}

fn schemas(reads: &mut PlanReads, path: &Path) {
    keep_text(reads, path);
    match Store::new(path).overrides() {
        Ok(overrides) => {
            let tools = overrides.into_iter().flat_map(|(server, tools)| {
                tools
                    .into_iter()
                    .map(move |(tool, schema)| (format!("{server}/{tool}"), schema))
            });
            reads.schemas.extend(tools);
        }
        Err(error) => {
            let file = path.display().to_string();
            reads.unusable.insert(file, chain(&error));
        }
    }
}

fn settings(reads: &mut PlanReads, path: &Path) {
    keep_text(reads, path);
    let project = text_of(path, "a file of settings")
        .and_then(|text| parse_settings(path, text).map_err(|error| error.render(false)));
    let project = match project {
        Ok(project) => project,
        Err(why) => {
            reads.unusable.insert(path.display().to_string(), why);
            return;
        }
    };
    let mut keep = |settings: &[ProjectSetting], profile: &str| {
        for ProjectSetting { key, value, .. } in settings {
            let setting = SETTINGS.iter().find(|setting| setting.key == *key);
            if let Some(setting) = setting.filter(|setting| setting.watched) {
                let name = format!("{profile}{}", setting.name());
                reads.settings.insert(name, value.clone());
            }
        }
    };
    keep(&project.settings, "");
    for (profile, settings) in &project.profiles {
        keep(settings, &format!("profiles.{profile}."));
    }
}

fn keep_text(reads: &mut PlanReads, path: &Path) {
    let text = read_up_to(path, MAX_TEXT).and_then(|bytes| match String::from_utf8(bytes) {
        Ok(text) if text.len() as u64 <= MAX_TEXT => Ok(text),
        Ok(_) | Err(_) => Err(io::ErrorKind::InvalidData.into()),
    });
    let name = path.display().to_string();
    match text {
        Ok(text) => reads.texts.insert(name, Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => reads.texts.insert(name, None),
        Err(_) => None,
    };
}
