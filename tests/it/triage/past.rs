//! What earlier runs say.

use super::{CODE, PASS, REFUSED, json, report, triage};
use crate::support::Project;
use std::fs;
use std::process::Command;

#[test]
fn a_failure_of_the_run_before_is_known_and_one_that_is_gone_is_fixed() {
    let project = Project::empty();
    let both = PASS.replace("adds", "total");
    project.write("1.xml", report(&format!("{PASS}{CODE}")));
    project.write("2.xml", report(&format!("{PASS}{CODE}{REFUSED}")));
    project.write("3.xml", report(&format!("{both}{REFUSED}")));
    let run = |file: &str| json(&project, &[file, "--history", "h.jsonl"]).1;
    let first = run("1.xml");
    assert!(first["failures"][0]["pre_existing"].is_null());
    let second = run("2.xml");
    assert_eq!(second["failures"][0]["pre_existing"], true);
    assert_eq!(second["failures"][0]["history"]["state"], "known");
    assert_eq!(second["failures"][1]["pre_existing"], false);
    assert_eq!(second["failures"][1]["history"]["state"], "new");
    let third = run("3.xml");
    assert_eq!(third["fixed"][0]["name"], "total");
    assert_eq!(
        fs::read_to_string(project.dir().join("h.jsonl"))
            .unwrap()
            .lines()
            .count(),
        3
    );
    // The same report again is not recorded again, and says what it said.
    assert_eq!(run("3.xml"), third);
    assert_eq!(
        fs::read_to_string(project.dir().join("h.jsonl"))
            .unwrap()
            .lines()
            .count(),
        3
    );
}

#[test]
fn only_what_is_new_can_make_a_call_fail() {
    let project = Project::empty();
    fs::create_dir_all(project.dir().join("builds/9")).unwrap();
    fs::create_dir_all(project.dir().join("builds/10")).unwrap();
    project.write("builds/9/r.xml", report(PASS));
    project.write("builds/10/r.xml", report(&format!("{PASS}{REFUSED}")));
    project.write(
        "known.xml",
        report(&format!("{PASS}{REFUSED}").replace("0.1", "0.2")),
    );
    project.write("new.xml", report(&format!("{CODE}{REFUSED}")));
    let call = |file: &str| {
        triage(
            &project,
            &[file, "--baseline", "builds", "--fail-on", "new"],
        )
        .code
    };
    assert_eq!(call("known.xml"), Some(0));
    assert_eq!(call("new.xml"), Some(1));
}

/// A baseline that is a copy of the report made all its failures new, and one
/// that is the report itself passed for an earlier run.
#[test]
fn a_copy_of_the_baseline_has_nothing_new_and_the_baseline_itself_is_refused() {
    let project = Project::empty();
    let content = report(&format!("{PASS}{CODE}{REFUSED}"));
    fs::create_dir_all(project.dir().join("builds/9")).unwrap();
    fs::create_dir_all(project.dir().join("builds/10")).unwrap();
    for name in ["now.xml", "copy.xml", "builds/10/r.xml"] {
        project.write(name, &content);
    }
    project.write("builds/9/r.xml", report(PASS));
    for baseline in ["copy.xml", "builds"] {
        let args = ["now.xml", "--baseline", baseline];
        let (_, value) = json(&project, &args);
        assert_eq!(value["failures"][0]["pre_existing"], true, "{baseline}");
        let warnings = value["reports"][0]["warnings"].to_string();
        let copy = if baseline == "builds" {
            "builds/10/r.xml"
        } else {
            baseline
        };
        assert!(
            warnings.contains(&format!("same content as {copy}")),
            "{warnings}"
        );
        let ended = triage(
            &project,
            &["now.xml", "--baseline", baseline, "--fail-on", "new"],
        );
        assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    }
    for baseline in ["now.xml", "./now.xml", "builds/../now.xml"] {
        let ended = triage(&project, &["now.xml", "--baseline", baseline]);
        assert_eq!(ended.code, Some(2), "{baseline}");
        assert!(
            ended.stderr.contains("is the same file"),
            "{}",
            ended.stderr
        );
    }
    // Of the folder that it lies in, the runs before it are its past.
    let (_, value) = json(&project, &["builds/10/r.xml", "--baseline", "builds"]);
    assert_eq!(value["failures"][0]["pre_existing"], false);
}

#[test]
fn a_baseline_that_is_not_there_is_said() {
    let project = Project::empty();
    project.write("a.xml", report(PASS));
    let ended = triage(&project, &["a.xml", "--baseline", "none.xml"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("none.xml: there is no such file"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_baseline_can_come_out_of_git() {
    let project = Project::empty();
    let git = |args: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
            .args(args)
            .current_dir(project.dir())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    project.write("junit.xml", report(CODE));
    git(&["add", "junit.xml"]);
    git(&["commit", "-qm", "one"]);
    project.write("junit.xml", report(&format!("{CODE}{REFUSED}")));
    let (_, value) = json(&project, &["junit.xml", "--baseline", "git:HEAD"]);
    assert_eq!(value["failures"][0]["pre_existing"], true);
    assert_eq!(value["failures"][1]["pre_existing"], false);
    let ended = triage(&project, &["junit.xml", "--baseline", "git:nowhere"]);
    assert_eq!(ended.code, Some(2));
    // A report that was not there then has no past, and the others have theirs.
    project.write("late.xml", report(&REFUSED.replace("reads", "writes")));
    let args = ["junit.xml", "late.xml", "--baseline", "git:HEAD"];
    let (code, value) = json(&project, &args);
    let known: Vec<bool> = (0..3)
        .map(|at| value["failures"][at]["pre_existing"] == true)
        .collect();
    assert_eq!((code, known), (Some(1), vec![true, false, false]));
    let said = triage(&project, &args).stderr;
    assert!(said.contains("note: late.xml is not in HEAD"), "{said}");
}

#[test]
fn copies_of_a_folder_are_compared_in_the_order_of_their_numbers() {
    let project = Project::empty();
    let other = PASS.replace("adds", "total");
    for (folder, cases) in [("R", CODE), ("R(1)", CODE), ("R(2)", other.as_str())] {
        fs::create_dir_all(project.dir().join("b").join(folder)).unwrap();
        let name = format!("b/{folder}/junit.xml");
        project.write(&name, report(&format!("{PASS}{cases}")));
    }
    // Another time, since the same report again would have the past it had.
    let now = format!("{PASS}{CODE}").replace("0.1", "0.2");
    project.write("now.xml", report(&now));
    for past in ["b", "b/R*"] {
        let args = ["now.xml", "--baseline", past, "--fail-on", "new"];
        let ended = triage(&project, &args);
        assert_eq!(ended.code, Some(1), "{}", ended.stdout);
        assert!(ended.stdout.contains("· regressed"), "{}", ended.stdout);
    }
}
