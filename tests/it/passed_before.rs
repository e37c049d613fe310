//! What a pass in an earlier run says of a mismatch in this one: only where a
//! step rests on the same as then, its code is why.

use crate::support::{Project, Run, python, slice};
use serde_json::Value;
use std::fs;

const STORE: &str = r#"{ "version": 1, "servers": { "s": { "tools": { "sum": { "outputSchema":
    { "type": "object" } } } } } }"#;

/// Step `sum` is answered what `answer.txt` says, so that code changes without
/// the plan; every other tool answers "ok".
fn plan() -> String {
    let server = python(
        r#"
def call(request):
    name = request["params"]["name"]
    answer(request, text(open("answer.txt").read() if name == "sum" else "ok"))
serve(call, tools=("reset", "write", "other", "sum", "later"))
"#,
    );
    format!(
        "version: 1
name: sums
vars: {{ size: big }}
hooks: {{ refine_code: [./refine.sh] }}
servers:
  s: {server}
  t: {server}
setup:
  - {{ id: up, server: t, tool: reset, args: {{ all: true }} }}
steps:
  - {{ id: first, server: s, tool: write, args: {{ n: 1, mode: \"${{env:MODE}}\" }} }}
  - {{ id: aside, server: t, tool: other, args: {{ size: \"${{size}}\" }} }}
  - {{ id: sum, server: s, tool: sum, expect: {{ text: {{ equals: \"3\" }} }} }}
"
    )
}

/// A project whose plan passed, and whose code has changed since.
fn changed_code(args: &[&str]) -> Project {
    let project = Project::with(&plan());
    fs::create_dir(project.path(".jelly")).unwrap();
    project.script("refine.sh", "#!/bin/sh\ncat > refined.json\nexit 1\n");
    project.write("answer.txt", "3");
    let passed = Run::of(&project, project.call(args).env("MODE", "fast").output());
    passed.ends(0, "passed");
    project.write("answer.txt", "4");
    project
}

fn again(project: &Project, args: &[&str]) -> Run {
    Run::of(project, project.call(args).env("MODE", "fast").output())
}

fn standing(run: &Run) -> &Value {
    &run.last().failure("sum")["diagnosis"]["standing"]
}

#[track_caller]
fn blames_the_code(project: &Project, run: &Run, what: &str) {
    run.ends(1, "code_failure");
    assert_eq!(standing(run), "passed_before", "{what}");
    assert!(run.help().contains("the code under test is why"), "{what}");
    assert!(project.exists("refined.json"), "{what}");
}

#[track_caller]
fn gives_both_readings(project: &Project, run: &Run, what: &str) {
    run.ends(1, "code_failure");
    assert_eq!(standing(run), "never_passed", "{what}");
    assert!(!run.help().contains("the code under test is why"), "{what}");
    assert!(!project.exists("refined.json"), "{what}");
}

type Change = fn(&Project);

fn edit(project: &Project, from: &str, to: &str) {
    let text = project.read("plan.yaml");
    assert!(text.contains(from), "{from}");
    project.write("plan.yaml", text.replace(from, to));
}

#[test]
fn a_change_of_what_a_step_does_not_rest_on_leaves_the_code_to_blame() {
    let changes: [(&str, &[&str], Change); 9] = [
        ("nothing", &[], |_| {}),
        ("a comment and a name", &[], |p| {
            edit(p, "id: sum,", "id: sum, name: the sum, tags: [x],");
            edit(p, "version: 1\n", "version: 1\n# a comment\n");
        }),
        ("the plan's name", &[], |p| {
            edit(p, "name: sums", "name: adding")
        }),
        ("a step behind it", &[], |p| {
            let text = p.read("plan.yaml");
            p.write(
                "plan.yaml",
                text + "  - { id: late, server: s, tool: later }\n",
            );
        }),
        ("a budget", &["--retries", "1", "--deadline", "9m"], |p| {
            edit(
                p,
                "name: sums\n",
                "name: sums\nbudgets: { mcp_repairs: 1 }\n",
            );
        }),
        (
            "how much at once",
            &["--jobs", "1", "--format", "json"],
            |_| {},
        ),
        ("the seed", &["--seed", "77"], |_| {}),
        ("a time limit", &[], |p| {
            edit(p, "id: sum,", "id: sum, timeout: 29s,");
        }),
        (
            "where the history lies",
            &["--history", "kept.jsonl"],
            |p| {
                let history = p.read(".jelly/history.jsonl");
                p.write("kept.jsonl", history);
            },
        ),
    ];
    for (what, args, change) in slice(6, changes) {
        let project = changed_code(&[]);
        change(&project);
        // A seed may be given once.
        let run = match args {
            ["--seed", ..] => Run::of(
                &project,
                project
                    .jelly(&["run", "plan.yaml"])
                    .args(args)
                    .env("MODE", "fast")
                    .output(),
            ),
            _ => again(&project, args),
        };
        blames_the_code(&project, &run, what);
    }
}

#[test]
fn a_checkout_in_another_folder_has_the_same_past() {
    let project = changed_code(&[]);
    let other = Project::with(&project.read("plan.yaml"));
    for file in [".jelly/history.jsonl", "answer.txt"] {
        other.write(file, project.read(file));
    }
    other.script("refine.sh", "#!/bin/sh\ncat > refined.json\nexit 1\n");
    let run = again(&other, &[]);
    blames_the_code(&other, &run, "another folder");
}

#[test]
fn a_change_of_anything_that_a_step_rests_on_gives_both_readings() {
    let changes: [(&str, &[&str], Change); 14] = [
        ("set-up", &[], |p| edit(p, "all: true", "all: false")),
        ("an earlier step", &[], |p| edit(p, "n: 1,", "n: 2,")),
        ("an earlier step of another server", &[], |p| {
            edit(p, "tool: other", "tool: reset");
        }),
        ("an earlier step more", &[], |p| {
            edit(p, "steps:\n", "steps:\n  - { server: t, tool: later }\n");
        }),
        ("an earlier step less", &[], |p| {
            edit(
                p,
                "  - { id: aside, server: t, tool: other, args: { size: \"${size}\" } }\n",
                "",
            );
        }),
        ("a variable", &["--var", "size=small"], |_| {}),
        ("the protocol", &[], |p| {
            edit(p, "  s: {", "  s: { protocol: 2025-03-26,");
        }),
        ("adapt", &[], |p| edit(p, "  s: {", "  s: { adapt: false,")),
        ("answers", &[], |p| {
            edit(
                p,
                "  s: {",
                "  s: { answers: [{ method: roots/list, result: { roots: [] } }],",
            );
        }),
        ("capabilities", &[], |p| {
            edit(p, "  t: {", "  t: { capabilities: { sampling: {} },");
        }),
        ("--no-adapt", &["--no-adapt"], |_| {}),
        ("a schema store", &["--schema-store", "store.json"], |p| {
            p.write("store.json", STORE);
        }),
        (
            "a corrupt schema store",
            &["--schema-store", "store.json"],
            |p| {
                p.write("store.json", "{ \"version\": 1, \"servers\": ");
            },
        ),
        ("rules", &["--rules", "rules.yaml"], |p| {
            p.write(
                "rules.yaml",
                "- { id: own/frob, root_cause: data_setup, side: test, strength: hint, \
                 patterns: [frob], advice: { what: w, why: y, fix: [f] }, \
                 examples: [frob, frobbed], lookalikes: [a, b] }\n",
            );
        }),
    ];
    for (what, args, change) in slice(6, changes) {
        let project = changed_code(&[]);
        change(&project);
        let run = again(&project, args);
        gives_both_readings(&project, &run, what);
    }
}

#[test]
fn another_value_of_the_environment_gives_both_readings() {
    let project = changed_code(&[]);
    let run = Run::of(&project, project.call(&[]).env("MODE", "slow").output());
    gives_both_readings(&project, &run, "MODE");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_step_behind_one_that_was_left_out_is_ambiguous() {
    for left_out in ["first", "up"] {
        let project = changed_code(&[]);
        let run = again(&project, &["--skip", left_out]);
        run.ends(3, "needs_user_help");
        let diagnosis = &run.last().failure("sum")["diagnosis"];
        assert_eq!(
            diagnosis["excused"], "earlier_step_not_done",
            "{diagnosis:#}"
        );
        assert_eq!(diagnosis["excused_by"], left_out);
        assert!(
            run.help()
                .contains("did not run, so what it should have left"),
            "{}",
            run.help()
        );
        assert!(!project.exists("refined.json"));
    }
    // What another server did without is no matter of this one's; but then
    // the step has never passed so.
    let project = changed_code(&[]);
    let run = again(&project, &["--skip", "aside"]);
    gives_both_readings(&project, &run, "--skip aside");
}

#[test]
fn what_passed_with_the_same_steps_left_out_blames_the_code() {
    let project = changed_code(&["--only", "sum"]);
    let run = again(&project, &["--only", "sum"]);
    blames_the_code(&project, &run, "--only sum");
    fs::remove_file(project.path("refined.json")).unwrap();
    let run = again(&project, &[]);
    gives_both_readings(&project, &run, "all of it");
}

/// A server that answers `sum` by a number, and any other tool by an error of its machine.
fn sums_and_refuses() -> String {
    python(
        r#"
def call(request):
    name = request["params"]["name"]
    if name == "sum":
        answer(request, text("4"))
    else:
        answer(request, text("connect ECONNREFUSED 127.0.0.1:5432", True))
serve(call, tools=("write", "sum"))
"#,
    )
}

#[test]
fn a_step_behind_a_quarantined_or_failed_one_of_its_server_is_ambiguous() {
    let server = sums_and_refuses();
    for (first, excuse, said) in [
        (
            "nothing_like_it",
            "earlier_step_not_done",
            "first, which comes before it, did not run, so what it should have left may be missing",
        ),
        // It got an answer, so it ran.
        (
            "write",
            "earlier_step_failed",
            "first, which comes before it, failed and is not held against the code, so what it \
             should have left may be missing",
        ),
    ] {
        let run = crate::support::run(&format!(
            "version: 1
budgets: {{ retries: 0 }}
servers: {{ s: {server} }}
steps:
  - {{ id: first, tool: {first} }}
  - {{ id: sum, tool: sum, expect: {{ text: {{ equals: \"3\" }} }} }}
"
        ));
        run.ends(3, "needs_user_help");
        let diagnosis = &run.last().failure("sum")["diagnosis"];
        assert_eq!(diagnosis["excused"], excuse, "{diagnosis:#}");
        assert!(run.help().contains(said), "{}", run.help());
    }
}

/// Moved before it, as the help says, the same step is proof.
#[test]
fn a_step_before_one_that_failed_test_side_is_held_against_the_code() {
    let server = sums_and_refuses();
    let run = crate::support::run(&format!(
        "version: 1
budgets: {{ retries: 0 }}
servers: {{ s: {server} }}
steps:
  - {{ id: sum, tool: sum, expect: {{ text: {{ equals: \"3\" }} }} }}
  - {{ id: first, tool: write }}
"
    ));
    run.ends(1, "code_failure");
}

#[test]
fn two_bugs_of_one_server_are_two_bugs() {
    let server = python(
        r#"
def call(request):
    answer(request, text("4"))
serve(call)
"#,
    );
    let step = |id: &str| {
        format!("  - {{ id: {id}, tool: work, expect: {{ text: {{ equals: \"3\" }} }} }}\n")
    };
    let (one, other) = (step("one"), step("other"));
    let run = crate::support::run(&format!(
        "version: 1\nservers: {{ s: {server} }}\nsteps:\n{one}{other}"
    ));
    run.ends(1, "code_failure");
    for step in ["one", "other"] {
        assert_eq!(run.last().failure(step)["diagnosis"]["side"], "code");
    }
}

#[test]
fn a_value_that_jelly_made_of_text_is_never_the_codes() {
    let server = python(
        r#"
def call(request):
    answer(request, text("all is well"))
serve(call)
"#,
    );
    let plan = |args: &[&str], structured: &str| {
        let project = Project::with(&format!(
            "version: 1
servers: {{ s: {server} }}
steps:
  - {{ id: sum, tool: work, expect: {{ structured: {structured} }} }}
"
        ));
        project.write("store.json", "{");
        project.run(args)
    };
    let made = "{ equals: { result: all is bad } }";
    let run = plan(&[], made);
    run.ends(3, "needs_user_help");
    let diagnosis = &run.last().failure("sum")["diagnosis"];
    assert_eq!(diagnosis["excused"], "made_by_jelly");
    assert!(
        run.help().contains("jelly itself made the value"),
        "{}",
        run.help()
    );
    let run = plan(&["--schema-store", "store.json"], made);
    run.ends(3, "needs_user_help");
}

/// A plan with a step that is held against a snapshot, and one behind it; its
/// snapshots are as `review` left them after the first run.
fn reviewed(review: &[&str]) -> Project {
    let plan = plan().replace("equals: \"3\"", "snapshot: three")
        + "  - { id: later, server: s, tool: later, expect: { text: { equals: ok } } }\n";
    let project = Project::with(&plan);
    fs::create_dir(project.path(".jelly")).unwrap();
    project.script("refine.sh", "#!/bin/sh\ncat > refined.json\nexit 1\n");
    project.write("answer.txt", "3");
    let proposed = again(&project, &[]);
    let state = |step: &str| proposed.last().step(step)["state"].clone();
    assert_eq!(
        (state("sum"), state("later")),
        ("quarantined".into(), "passed".into())
    );
    let call = project.jelly(&[&["snapshot"], review].concat());
    let ended = call.env("CI", "").output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    project
}

#[test]
fn an_accepted_snapshot_is_evidence_that_it_held() {
    let project = reviewed(&["accept"]);
    project.write("answer.txt", "4");
    blames_the_code(
        &project,
        &again(&project, &[]),
        "accepted, and changed since",
    );
    // What stands behind it rests on it, too.
    let project = reviewed(&["accept"]);
    edit(
        &project,
        "tool: later, expect: { text: { equals: ok } }",
        "tool: later, expect: { text: { equals: ko } }",
    );
    let behind = again(&project, &[]);
    let standing = &behind.last().failure("later")["diagnosis"]["standing"];
    assert_eq!(standing, "never_passed");
}

#[test]
fn a_snapshot_that_was_written_by_hand_is_no_evidence() {
    let project = reviewed(&["reject"]);
    fs::create_dir_all(project.path("snapshots/plan")).unwrap();
    project.write("snapshots/plan/three.snap", "5\n");
    project.write("answer.txt", "4");
    gives_both_readings(&project, &again(&project, &[]), "rejected");
}
