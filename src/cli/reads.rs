//! All that a plan reads besides its own file, as it is at one moment: a hook
//! that leaves less of it leaves less to test.

use super::invalid::chain;
use super::layers::SETTINGS;
use super::past::Memory;
use super::proposals::stored;
use super::rules::{Rules, find_rules, project_file, text_of};
use crate::cli::args::RunArgs;
use jelly_harness::exec::Selection;
use jelly_harness::learned::Store;
use jelly_harness::triage_loop::PlanReads;
use jelly_plan::{Plan, PlanSource, ProjectSetting, read_project, snapshot_path};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Of a longer file no diff is shown.
const MAX_TEXT: u64 = 1024 * 1024;

/// Settings that change neither what is tested nor what comes out of it: those
/// of a run are settled when it begins.
const HARMLESS: [&str; 12] = [
    "color",
    "history",
    "jobs",
    "reports_dir",
    "run.fix_tests",
    "run.format",
    "run.hook_timeout",
    "run.quiet",
    "run.record",
    "run.refine_code",
    "run.seed",
    "generic_threshold",
];

/// Sections of which the same is true, or that are another command's.
const HARMLESS_SECTIONS: [&str; 3] = ["budgets", "doctor", "triage"];

/// Looks at what `plan` reads in a call with these arguments.
pub fn reads(plan: &Plan, args: &RunArgs, memory: Option<&Memory>, cwd: &Path) -> PlanReads {
    let mut reads = PlanReads {
        snapshots: stored(plan),
        selected: Selection::new(args.only.clone(), args.skip.clone()).select(plan),
        ..PlanReads::default()
    };
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
        .extend(memory.map(|memory| memory.store.path().to_owned()));
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
    let shown = path.display().to_string();
    let keys: Vec<_> = SETTINGS.iter().map(|setting| setting.key).collect();
    let project = text_of(path, "a file of settings").and_then(|text| {
        let source = PlanSource {
            path: path.to_owned(),
            text: text.into(),
            variant: None,
        };
        read_project(source, &keys).map_err(|error| error.render(false))
    });
    let project = match project {
        Ok(project) => project,
        Err(why) => {
            reads.unusable.insert(shown, why);
            return;
        }
    };
    let mut keep = |settings: &[ProjectSetting], profile: &str| {
        for setting in settings.iter().filter(|setting| counts(setting)) {
            let name = format!("{profile}{}", name(setting));
            reads.settings.insert(name, setting.value.clone());
        }
    };
    keep(&project.settings, "");
    for (profile, settings) in &project.profiles {
        keep(settings, &format!("profiles.{profile}."));
    }
}

/// As in `run.strict`.
fn name(setting: &ProjectSetting) -> String {
    match setting.key.section {
        "" => setting.key.key.to_owned(),
        section => format!("{section}.{}", setting.key.key),
    }
}

/// Whether a change of it could be seen in results.
fn counts(setting: &ProjectSetting) -> bool {
    !HARMLESS_SECTIONS.contains(&setting.key.section) && !HARMLESS.contains(&name(setting).as_str())
}

fn keep_text(reads: &mut PlanReads, path: &Path) {
    let text = File::open(path).and_then(|file| {
        let mut bytes = Vec::new();
        file.take(MAX_TEXT + 1).read_to_end(&mut bytes)?;
        match String::from_utf8(bytes) {
            Ok(text) if text.len() as u64 <= MAX_TEXT => Ok(text),
            Ok(_) | Err(_) => Err(io::ErrorKind::InvalidData.into()),
        }
    });
    let name = path.display().to_string();
    match text {
        Ok(text) => reads.texts.insert(name, Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => reads.texts.insert(name, None),
        Err(_) => None,
    };
}

#[cfg(test)]
mod tests {
    use super::{HARMLESS, HARMLESS_SECTIONS, SETTINGS};

    #[test]
    fn every_setting_that_is_let_pass_is_one() {
        let names: Vec<String> = SETTINGS.iter().map(|setting| setting.name()).collect();
        for name in HARMLESS {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
        for section in HARMLESS_SECTIONS {
            assert!(
                SETTINGS.iter().any(|s| s.key.section == section),
                "{section}"
            );
        }
    }

    #[test]
    fn settings_that_decide_what_comes_out_are_watched() {
        for name in [
            "project_dir",
            "schema_store",
            "run.accept_repairs",
            "run.strict",
            "run.trust_plan",
            "run.fail_fast",
            "run.no_adapt",
            "run.wire_check",
        ] {
            assert!(
                SETTINGS.iter().any(|setting| setting.name() == name),
                "{name}"
            );
            assert!(!HARMLESS.contains(&name), "{name}");
        }
    }
}
