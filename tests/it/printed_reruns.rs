//! The commands that a run prints for another run, pasted: they run what this
//! one ran, with its means, and destroy nothing.

use crate::support::{Ended, Project};
use serde_json::Value;

/// `wipe` leaves a trace wherever its server is started; `gone` has none.
const PLAN: &str = "version: 1
servers:
  w: { command: sh, args: [-c, 'touch wiped; exit 1'] }
  s: { command: sh, args: [-c, 'exit 7'] }
  m: { command: jelly, args: [mock] }
steps:
  - { id: gone, server: s, tool: x, tags: [smoke] }
  - { id: sum, server: m, tool: add, args: { a: 1, b: 2 }, tags: [smoke], expect: { text: { equals: '4' } } }
  - { id: wipe, server: w, tool: x, tags: [danger] }
";

/// The lines that run a plan, as they are printed.
fn reruns(ended: &Ended) -> Vec<String> {
    let lines = ended.stdout.lines();
    let lines = lines.filter_map(|line| Some(line.split_once("$ ")?.1.trim()));
    let lines = lines.filter(|line| line.starts_with("jelly run "));
    lines.map(str::to_owned).collect()
}

#[track_caller]
fn some_reruns(ended: &Ended) -> Vec<String> {
    let lines = reruns(ended);
    assert!(!lines.is_empty(), "{}{}", ended.stdout, ended.stderr);
    lines
}

/// What comes of a line in the project's folder.
fn paste(project: &Project, line: &str) -> Ended {
    let script = format!("jelly() {{ \"$0\" \"$@\"; }}; {line}");
    project.wrapped("sh", &["-c", &script]).output()
}

#[test]
fn what_was_left_out_is_left_out_again() {
    let project = Project::with(PLAN);
    for selection in [
        &["--skip", "wipe"][..],
        &["--skip", "tag:danger"],
        &["--only", "tag:smoke"],
        &["--only", "gone,sum"],
    ] {
        let args = [&["run", "plan.yaml", "--no-history"], selection].concat();
        let ended = project.jelly(&args).output();
        for line in some_reruns(&ended) {
            let again = paste(&project, &line);
            assert_ne!(again.code, Some(2), "{line}\n{}", again.stderr);
            assert!(!project.exists("wiped"), "{selection:?}: {line}");
        }
    }
}

#[test]
fn budgets_and_what_else_was_typed_are_typed_again() {
    let project = Project::with(PLAN);
    let typed = [
        "--skip wipe",
        "--retries 0",
        "--confirms 2",
        "--max-iterations 4",
        "--deadline 50s",
        "--fail-fast",
        "--record",
        "--no-repair",
        "--jobs 1",
    ];
    let words: Vec<&str> = typed.iter().flat_map(|flag| flag.split(' ')).collect();
    let args = [&["run", "plan.yaml"], &words[..]].concat();
    let ended = project.jelly(&args).output();
    for line in some_reruns(&ended) {
        for flag in typed {
            // One that is raised by the line itself is there with another value.
            let name = flag.split(' ').next().unwrap();
            assert!(line.contains(name), "{flag}: {line}");
        }
    }
}

/// A filter or a variable of another plan is a slip where one is run alone.
#[test]
fn of_several_plans_each_has_its_own_filters_and_variables() {
    let project = Project::empty();
    let dead = "servers: { s: { command: sh, args: [-c, 'exit 7'] } }\n";
    for (name, var) in [("a", "left"), ("b", "right")] {
        let steps = format!("[{{ id: {name}1, tool: x }}, {{ id: {name}2, tool: x }}]");
        project.write(
            &format!("{name}.yaml"),
            format!("version: 1\nvars: {{ {var}: 1 }}\n{dead}steps: {steps}\n"),
        );
    }
    let args = [
        "run", "a.yaml", "b.yaml", "--skip", "a2,b2", "--format", "json",
    ];
    let vars = [
        "--var",
        "left=2",
        "--var",
        "right=3",
        "--min-coverage",
        "tools=1%",
    ];
    let ended = project.jelly(&[&args[..], &vars].concat()).output();
    // The terminal tells what is alike once.
    let results: Value = serde_json::from_str(&ended.stdout).unwrap();
    let plans = results["plans"].as_array().unwrap().iter();
    let problems = plans.flat_map(|plan| plan["help_summary"]["problems"].as_array().unwrap());
    let next = problems.flat_map(|problem| problem["next"].as_array().unwrap());
    let lines: Vec<&str> = next
        .filter_map(|line| line.as_str()?.strip_prefix("$ "))
        .collect();
    for (plan, own, foreign) in [
        ("a.yaml", ["--skip a2", "--var left=2"], ["b2", "right"]),
        ("b.yaml", ["--skip b2", "--var right=3"], ["a2", "left"]),
    ] {
        let line = lines.iter().find(|line| line.contains(plan)).unwrap();
        assert!(own.iter().all(|own| line.contains(own)), "{line}");
        assert!(!foreign.iter().any(|other| line.contains(other)), "{line}");
        let again = paste(&project, line);
        assert_eq!(again.code, Some(3), "{line}\n{}", again.stderr);
    }
}

#[test]
fn a_plan_whose_name_begins_like_a_flag_is_run_again() {
    let project = Project::empty();
    project.write("-q $x.yaml", PLAN);
    let args = ["run", "--skip", "wipe", "--no-repair", "--", "-q $x.yaml"];
    let ended = project.jelly(&args).output();
    for line in some_reruns(&ended) {
        assert!(line.contains("'./-q $x.yaml'"), "{line}");
        let again = paste(&project, &line);
        assert!(
            matches!(again.code, Some(1 | 3)),
            "{line}\n{}",
            again.stderr
        );
    }
}

/// The folder that a shard writes into is kept until it is merged.
#[test]
fn what_a_shard_prints_leaves_its_result_to_be_merged() {
    let project = Project::with(PLAN);
    let args = [
        "run",
        "plan.yaml",
        "--shard",
        "1/1",
        "--reports-dir",
        "sh/1",
    ];
    let flags = ["--skip", "wipe", "--history", "sh/1/h.jsonl"];
    let ended = project.jelly(&[&args[..], &flags].concat()).output();
    let merge = || {
        let merge = ["merge", "sh/1", "--reports-dir", "merged"];
        project.jelly(&merge).output()
    };
    let merged = merge();
    assert_eq!(merged.code, ended.code, "{}", merged.stderr);
    for line in some_reruns(&ended).iter().chain(&some_reruns(&merged)) {
        assert!(line.contains("--history sh/1/h.jsonl"), "{line}");
        assert!(!line.contains("--reports-dir"), "{line}");
        let again = paste(&project, line);
        assert_ne!(again.code, Some(2), "{line}\n{}", again.stderr);
    }
    // Nor does another run in the same folder hide it.
    let other = [
        "run",
        "plan.yaml",
        "--skip",
        "wipe",
        "--reports-dir",
        "sh/1",
    ];
    project.jelly(&other).output();
    let merged = merge();
    assert_eq!(merged.code, ended.code, "{}", merged.stderr);
}

/// Copies of it would run at once, in one folder and under one name.
#[test]
fn a_plan_in_several_spellings_runs_once() {
    let project = Project::empty();
    project.write(
        "p.yaml",
        "version: 1\nservers: { m: { command: jelly, args: [mock] } }\n\
         steps: [{ id: a, tool: echo, args: { message: hi } }]\n",
    );
    for args in [
        &["p.yaml", "./p.yaml"][..],
        &["p.yaml", "p.yaml", "../project/p.yaml"],
        &[".", "./p.yaml", "../project"],
    ] {
        let call = [&["run", "--format", "json"], args].concat();
        let ended = project.jelly(&call).output();
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
        let results: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert!(results["plans"].is_null(), "{args:?}: one plan is flat");
        assert!(
            ended.stderr.contains("counts once"),
            "{args:?}: {}",
            ended.stderr
        );
        let checked = project.jelly(&[&["check"], args].concat()).output();
        assert_eq!(
            checked.stdout.matches("p.yaml").count(),
            1,
            "{}",
            checked.stdout
        );
    }
}

#[test]
fn a_printed_check_is_given_the_variables_that_its_plan_needs() {
    let project = Project::with(
        "version: 1
servers: { m: { command: jelly, args: [mock] } }
steps:
  - { tool: ech, args: { message: '${who}' } }
",
    );
    let args = ["run", "plan.yaml", "--no-repair", "--var", "who=Ann Lee"];
    let ended = project.jelly(&args).output();
    let lines = ended.stdout.lines();
    let mut lines = lines.filter_map(|line| Some(line.split_once("$ ")?.1.trim()));
    let check = lines.find(|line| line.starts_with("jelly check "));
    let check = check.unwrap_or_else(|| panic!("{}", ended.stdout));
    assert!(check.ends_with("plan.yaml --var 'who=Ann Lee'"), "{check}");
    let again = paste(&project, check);
    assert_eq!(again.code, Some(2), "{}", again.stdout);
    assert!(
        again.stderr.contains("lists no tool `ech`"),
        "{}",
        again.stderr
    );
}
