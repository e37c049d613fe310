//! `--report FORMAT=FILE`, of a run as of a triage.

use crate::support::{Ended, Project};
use serde_json::Value;
use std::fs;

fn plan(name: &str, wanted: &str) -> String {
    format!(
        "version: 1\nname: {name}\nservers: {{ m: {{ command: jelly, args: [mock] }} }}\n\
         steps:\n  - {{ id: a, server: m, tool: echo, args: {{ message: hi }}, expect: {{ text: \
         {{ equals: {wanted} }} }} }}\n"
    )
}

/// Two plans, of which one fails, and a report of somebody else's.
fn project() -> Project {
    let project = Project::empty();
    project.write("good.yaml", plan("good", "hi"));
    project.write("bad.yaml", plan("bad", "ho"));
    project.write(
        "others.xml",
        "<testsuite name='s'><testcase classname='c' name='passes'/><testcase classname='c' \
         name='b'><failure message='connect ECONNREFUSED 127.0.0.1:5432'/></testcase></testsuite>",
    );
    project
}

fn jelly(project: &Project, args: &[&str]) -> Ended {
    project.jelly(args).output()
}

fn json(project: &Project, file: &str) -> Value {
    serde_json::from_slice(&fs::read(project.path(file)).unwrap()).unwrap()
}

#[test]
fn a_report_by_name_holds_all_plans_of_the_call() {
    let project = project();
    for plans in [&["bad.yaml"][..], &["good.yaml", "bad.yaml"]] {
        let reports = [
            "--report",
            "json=out/all.json",
            "--report",
            "junit=out/all.xml",
        ];
        let args = [&["run"], plans, &reports, &["--report", "md=all.md"]].concat();
        let ended = jelly(&project, &args);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let all = json(&project, "out/all.json");
        let names: Vec<&str> = all["plans"]
            .as_array()
            .unwrap()
            .iter()
            .map(|plan| plan["plan"]["path"].as_str().unwrap())
            .collect();
        assert_eq!(names, plans);
        assert_eq!(all["exit_code"], 1);
        let junit = fs::read_to_string(project.path("out/all.xml")).unwrap();
        let markdown = fs::read_to_string(project.path("all.md")).unwrap();
        for plan in plans {
            let name = plan.strip_suffix(".yaml").unwrap();
            assert!(
                junit.contains(&format!("classname=\"{name}.m\"")),
                "{junit}"
            );
            assert!(markdown.contains(&format!(" {name}: ")), "{markdown}");
        }
    }
}

#[test]
fn a_triage_writes_the_same_names() {
    let project = project();
    let args = [
        "triage",
        "others.xml",
        "--report",
        "json=t.json",
        "--report",
        "junit=t.xml",
        "--report",
        "md=t.md",
    ];
    let ended = jelly(&project, &args);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert_eq!(
        json(&project, "t.json")["failures"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let junit = fs::read_to_string(project.path("t.xml")).unwrap();
    assert!(junit.contains("name=\"passes\""), "{junit}");
    let printed = jelly(&project, &["triage", "others.xml", "-f", "md"]).stdout;
    assert_eq!(fs::read_to_string(project.path("t.md")).unwrap(), printed);
    // Stdin is read once and written twice.
    let piped = project.wrapped("sh", &["-c", "exec \"$0\" \"$@\" <others.xml"]);
    let ended = piped
        .args(&["triage", "-", "--report", "junit=s.xml"])
        .output();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(
        fs::read_to_string(project.path("s.xml"))
            .unwrap()
            .contains("passes")
    );
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_runs() {
    let project = project();
    project.write("rules.yaml", "rules: []\n");
    std::os::unix::fs::symlink(project.path("bad.yaml"), project.path("link")).unwrap();
    fs::hard_link(project.path("bad.yaml"), project.path("hard")).unwrap();
    fs::create_dir(project.path("folder")).unwrap();
    for (command, reports, said) in [
        ("run", &["junit=a.xml", "json=./a.xml"][..], "the same file"),
        ("run", &["junit=x/../a.xml", "json=a.xml"], "the same file"),
        ("run", &["json=bad.yaml"], "is a plan of this call"),
        ("run", &["json=link"], "is a plan of this call"),
        ("run", &["json=hard"], "is a plan of this call"),
        ("run", &["json=reports/latest/all.json"], "its own reports"),
        (
            "run",
            &["json=./reports/latest/all.json"],
            "its own reports",
        ),
        ("run", &["yunit=a.xml"], "did you mean `junit`"),
        ("run", &["junit"], "FORMAT=FILE"),
        ("run", &["junit="], "FORMAT=FILE"),
        ("run", &["junit=-"], "--format says"),
        ("triage", &["json=others.xml"], "is a report of this call"),
        ("triage", &["json=o.md"], "is the output of this call"),
        ("triage", &["json=folder"], "directory"),
    ] {
        let mut args = match command {
            "run" => vec!["run", "bad.yaml"],
            _ => vec!["triage", "others.xml", "--output", "o.md"],
        };
        args.extend(reports.iter().flat_map(|report| ["--report", report]));
        let ended = jelly(&project, &args);
        assert_eq!(ended.code, Some(2), "{reports:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{reports:?}: {}", ended.stderr);
        for left in ["a.xml", "reports", "o.md"] {
            assert!(!project.exists(left), "{reports:?} left {left}");
        }
    }
    // The disk has it not: no slip, and a run needs help.
    let report = "junit=bad.yaml/a.xml";
    let ended = jelly(&project, &["run", "good.yaml", "--report", report]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(!project.exists("reports"));
}

#[test]
fn no_report_of_an_earlier_call_is_taken_for_this_ones() {
    let project = project();
    let report = ["--report", "junit=out/a.xml"];
    let args = [&["run", "good.yaml"][..], &report].concat();
    assert_eq!(jelly(&project, &args).code, Some(0));
    assert!(project.exists("out/a.xml"));
    let args = [
        &["run", "good.yaml", "bad.yaml", "--only", "nothing"][..],
        &report,
    ]
    .concat();
    assert_eq!(jelly(&project, &args).code, Some(2));
    assert!(!project.exists("out/a.xml"));
}

#[test]
fn a_report_that_is_not_written_is_no_success() {
    let project = project();
    let report = ["--report", "json=/dev/full", "--report", "md=a.md"];
    let args = [&["run", "good.yaml"][..], &report].concat();
    let ended = jelly(&project, &args);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("--report json=/dev/full"),
        "{}",
        ended.stderr
    );
    assert!(
        project.exists("a.md"),
        "the others are written all the same"
    );
    let args = [&["triage", "others.xml", "--fail-on", "never"][..], &report].concat();
    assert_eq!(jelly(&project, &args).code, Some(2));
}
