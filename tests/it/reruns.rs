//! The commands that `jelly triage` prints to run tests again, run for real:
//! each selects tests that failed, all of them together exactly those.
//!
//! A folder of `fixtures/frameworks/projects/` is a project of several files
//! with `expected.json`: how its tests are run, where the report is, and which
//! fail. Each test writes its name into the file that `RAN` names.

use crate::support::{Call, Project, slice};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

fn frameworks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/frameworks")
}

#[test]
fn each_framework_runs_exactly_what_failed_again() {
    let installed = frameworks().join("node_modules/.jelly-lock");
    assert!(
        installed.exists(),
        "{} is missing: run ./fixtures/setup first",
        installed.display()
    );
    let projects = fs::read_dir(frameworks().join("projects")).unwrap();
    let projects: BTreeSet<PathBuf> = projects.map(|entry| entry.unwrap().path()).collect();
    assert!(projects.len() > 8);
    let projects = slice(4, projects);
    let wrong: Vec<String> = thread::scope(|scope| {
        let runs: Vec<_> = projects
            .iter()
            .map(|project| scope.spawn(|| what_is_wrong(project)))
            .collect();
        runs.into_iter()
            .filter_map(|run| run.join().unwrap())
            .collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn what_is_wrong(fixture: &Path) -> Option<String> {
    let name = fixture.file_name().unwrap().to_string_lossy().into_owned();
    let expected: Value =
        serde_json::from_str(&fs::read_to_string(fixture.join("expected.json")).unwrap()).unwrap();
    let names = |key: &str| -> BTreeSet<String> {
        let names = expected[key].as_array().into_iter().flatten();
        names
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    };
    let project = Project::empty();
    copy(fixture, project.dir());
    symlink(
        frameworks().join("node_modules"),
        project.path("node_modules"),
    )
    .unwrap();
    let first = run(&project, expected["run"].as_str().unwrap(), "first");
    let report = expected["report"].as_str().unwrap();
    if !project.exists(report) {
        return Some(format!("{name} wrote no report: {first:?}"));
    }
    let triaged = Call::new(&project)
        .args(&["triage", report, "--format", "json"])
        .output();
    let triaged: Value = serde_json::from_str(&triaged.stdout).expect(&triaged.stdout);
    let mut ran = BTreeSet::new();
    for (at, command) in triaged["retry"]["commands"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
    {
        let command = command.as_str().unwrap();
        let log = format!("again-{at}");
        let output = run(&project, command, &log);
        let Ok(log) = fs::read_to_string(project.path(&log)) else {
            return Some(format!("{name} selected nothing by {command}: {output:?}"));
        };
        ran.extend(log.lines().map(str::to_owned));
    }
    // Nothing but what the framework can't tell apart, and says so.
    let also = names("also");
    let is_told = triaged["retry"]["notes"]
        .as_array()
        .is_some_and(|notes| !notes.is_empty());
    assert!(also.is_empty() || is_told, "{name}: {triaged:#}");
    let wanted = &names("fails") | &also;
    (ran != wanted).then(|| format!("{name} ran {ran:?}, not {wanted:?}: {:#}", triaged["retry"]))
}

fn run(project: &Project, command: &str, log: &str) -> Output {
    let tools = [
        frameworks().join("node_modules/bats/bin"),
        frameworks().join("../pypi/.venv/frameworks/bin"),
    ];
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(tools.into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .current_dir(project.dir())
        .env("PATH", path);
    // Each would write its colours and notes elsewhere, or none, in CI.
    shell
        .env_remove("CI")
        .env_remove("NODE_TEST_CONTEXT")
        .env_remove("CARGO_TARGET_DIR");
    shell.env("RAN", project.path(log)).output().unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copied = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &copied),
            false => drop(fs::copy(&path, copied).unwrap()),
        }
    }
}
