//! `jelly snapshot`: what answers say is stored by a person, and by nobody else.

use crate::support::{Ended, Project, python};

const PLAN: &str = "
version: 1
servers: { s: { command: jelly, args: [mock, --tool, 'greet=Hello Ada'] } }
steps:
  - { id: greet, server: s, tool: greet, expect: { text: { snapshot: greeting } } }
  - { id: sum, server: s, tool: add, args: { a: 1, b: 2 }, expect: { json: [ { path: $.content, snapshot: sum } ] } }
";

/// A run in which both snapshots are missing.
fn missing() -> Project {
    let project = Project::with(PLAN);
    let run = project.run(&[]);
    assert_ne!(run.code, Some(0));
    let failure = run.last().failure("greet");
    assert_eq!(failure["diagnosis"]["root_cause"], "missing_snapshot");
    let fix = failure["diagnosis"]["advice"]["fix"].to_string();
    assert!(
        fix.contains("$ jelly snapshot accept greeting --plan plan.yaml"),
        "{fix}"
    );
    project
}

fn snapshot(project: &Project, args: &[&str]) -> Ended {
    let call = project.jelly(&[&["snapshot"], args].concat());
    call.env("CI", "").output()
}

#[test]
fn what_is_accepted_is_stored_and_holds_in_the_next_run() {
    let project = missing();
    let shown = snapshot(&project, &["review"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(
        shown.stdout.contains("greeting of plan.yaml"),
        "{}",
        shown.stdout
    );
    assert!(shown.stdout.contains("+ Hello Ada"), "{}", shown.stdout);
    assert!(shown.stdout.contains("2 snapshots wait for a review"));
    assert!(!project.exists("snapshots"), "looking writes nothing");

    let accepted = snapshot(&project, &["accept"]);
    assert_eq!(accepted.code, Some(0), "{}", accepted.stderr);
    assert!(accepted.stdout.contains("2 accepted\n"));
    assert_eq!(project.read("snapshots/plan/greeting.snap"), "Hello Ada\n");
    project.run(&[]).ends(0, "passed");
    let none = snapshot(&project, &["review"]);
    assert!(
        none.stdout.contains("no snapshots to review"),
        "{}",
        none.stdout
    );
}

#[test]
fn a_change_is_shown_word_by_word_where_it_is_short() {
    let project = missing();
    snapshot(&project, &["accept"]);
    project.write("plan.yaml", PLAN.replace("Hello Ada", "Hello Bob"));
    assert_ne!(project.run(&[]).code, Some(0));
    let shown = snapshot(&project, &["review"]);
    assert!(
        shown.stdout.contains("Hello [-Ada-]{+Bob+}"),
        "{}",
        shown.stdout
    );
    let rejected = snapshot(&project, &["reject", "greeting"]);
    assert!(rejected.stdout.contains("1 rejected\n"));
    assert_eq!(project.read("snapshots/plan/greeting.snap"), "Hello Ada\n");
}

/// What only looks like a secret is compared as it is, and shown so.
#[test]
fn a_value_that_looks_like_a_secret_is_compared_as_it_is() {
    let server = python("serve(lambda call: answer(call, text(open('said').read())))");
    let said = "issueKey: PROJ10001 token=zzyyxx1234567890";
    let project = Project::with(&format!(
        "
version: 1
servers: {{ s: {server} }}
steps: [{{ id: greet, server: s, tool: work, expect: {{ text: {{ snapshot: greeting }} }} }}]
"
    ));
    project.write("said", said);
    assert_ne!(project.run(&[]).code, Some(0));
    snapshot(&project, &["accept"]);
    project.run(&[]).ends(0, "passed");
    for (from, to) in [("PROJ10001", "PROJ10002"), ("zzyyxx", "aabbcc")] {
        project.write("said", said.replace(from, to));
        let run = project.run(&["--no-repair"]);
        assert_ne!(run.code, Some(0), "{to}: {}", run.stdout);
        let assertion = run.last().failure("greet")["assertion"].to_string();
        assert!(
            assertion.contains(from) && assertion.contains(to),
            "{assertion}"
        );
    }
}

#[test]
fn some_are_accepted_by_name_and_an_unknown_name_is_said() {
    let project = missing();
    let unknown = snapshot(&project, &["accept", "greting"]);
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.stderr.contains("did you mean `greeting`?"),
        "{}",
        unknown.stderr
    );
    snapshot(&project, &["accept", "sum"]);
    assert!(project.exists("snapshots/plan/sum.snap"));
    assert!(!project.exists("snapshots/plan/greeting.snap"));
}

#[test]
fn nothing_is_stored_in_a_pipeline() {
    let project = missing();
    let call = project.jelly(&["snapshot", "accept"]).env("CI", "true");
    let refused = call.output();
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("not written in CI"),
        "{}",
        refused.stderr
    );
    assert!(!project.exists("snapshots"));
}

#[test]
fn a_report_can_name_no_file_that_the_plan_does_not_name() {
    let project = missing();
    project.write("reports/latest/snapshots/other.snap.new", "x\n");
    let accepted = snapshot(&project, &["accept"]);
    assert!(
        accepted.stdout.contains("2 accepted"),
        "{}",
        accepted.stdout
    );
    assert!(!project.exists("snapshots/plan/other.snap"));
}

#[test]
fn each_of_several_plans_gets_its_own() {
    let project = Project::with(PLAN);
    project.write("second.yaml", PLAN);
    project.jelly(&["run", "plan.yaml", "second.yaml"]).output();
    let accepted = snapshot(&project, &["accept", "greeting"]);
    assert!(
        accepted.stdout.contains("2 accepted"),
        "{}",
        accepted.stdout
    );
    assert!(project.exists("snapshots/plan/greeting.snap"));
    assert!(project.exists("snapshots/second/greeting.snap"));
}

#[test]
fn a_plan_narrows_what_is_accepted_by_its_path_or_its_stem() {
    let project = Project::with(PLAN);
    project.write("second.yaml", PLAN);
    let run = project.jelly(&["run", "plan.yaml", "second.yaml"]).output();
    assert_ne!(run.code, Some(0));
    let shown = snapshot(&project, &["review"]);
    assert!(
        shown
            .stdout
            .contains("`jelly snapshot accept NAME --plan PLAN`"),
        "{}",
        shown.stdout
    );
    let accepted = snapshot(&project, &["accept", "greeting", "--plan", "second.yaml"]);
    assert!(
        accepted.stdout.contains("1 accepted"),
        "{}",
        accepted.stdout
    );
    assert!(project.exists("snapshots/second/greeting.snap"));
    assert!(!project.exists("snapshots/plan/greeting.snap"));
    let accepted = snapshot(&project, &["accept", "--plan", "second"]);
    assert!(
        accepted.stdout.contains("1 accepted"),
        "{}",
        accepted.stdout
    );
    assert!(!project.exists("snapshots/plan"));
    let unknown = snapshot(&project, &["accept", "--plan", "third"]);
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown
            .stderr
            .contains("no plan `third`, but plan.yaml, second.yaml"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn what_was_edited_since_the_run_is_not_overwritten() {
    let project = missing();
    project.write("snapshots/plan/greeting.snap", "by hand\n");
    let refused = snapshot(&project, &["accept"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(
        refused
            .stderr
            .contains("greeting.snap was edited since the run"),
        "{}",
        refused.stderr
    );
    assert!(refused.stdout.contains("1 accepted, 1 left"));
    assert_eq!(project.read("snapshots/plan/greeting.snap"), "by hand\n");
    assert_ne!(project.run(&[]).code, Some(0));
    let accepted = snapshot(&project, &["accept"]);
    assert_eq!(accepted.code, Some(0), "{}", accepted.stderr);
    assert_eq!(project.read("snapshots/plan/greeting.snap"), "Hello Ada\n");
}

#[cfg(unix)]
#[test]
fn a_stored_file_that_is_a_symbolic_link_stays_one() {
    let project = Project::with(PLAN);
    project.write("elsewhere.snap", "old\n");
    project.write("snapshots/plan/sum.snap", "old\n");
    let link = project.path("snapshots/plan/greeting.snap");
    std::os::unix::fs::symlink(project.path("elsewhere.snap"), &link).unwrap();
    assert_ne!(project.run(&[]).code, Some(0));
    let accepted = snapshot(&project, &["accept", "greeting"]);
    assert_eq!(accepted.code, Some(0), "{}", accepted.stderr);
    assert!(link.is_symlink());
    assert_eq!(project.read("elsewhere.snap"), "Hello Ada\n");
}

#[test]
fn without_a_report_there_is_nothing_to_review() {
    let refused = snapshot(&Project::empty(), &["review"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .stderr
            .contains("there is no report reports/latest/results.json"),
        "{}",
        refused.stderr
    );
}

#[test]
fn what_differs_in_every_run_counts_for_nothing_beside_a_snapshot() {
    let clock = python(
        r#"
import uuid
found = {"run": os.getpid(), "at": "2026-11-22T01:02:%02dZ" % (os.getpid() % 60),
         "rows": [{"id": str(uuid.uuid4()), "name": "Ada"}]}
serve(lambda call: answer(call, text(json.dumps(found))))
"#,
    );
    let plan = |redact: &str| {
        format!(
            "
version: 1
servers: {{ s: {clock} }}
steps:
  - {{ id: look, tool: work, expect: {{ text: {{ snapshot: look{redact} }} }} }}
"
        )
    };
    let redact = ", redact: [timestamp, { path: $.run }, { path: '$.rows[*].id', with: '[id]' }]";
    let project = Project::with(&plan(redact));
    assert_ne!(project.run(&[]).code, Some(0), "nothing is stored yet");
    snapshot(&project, &["accept"]);
    let stored = project.read("snapshots/plan/look.snap");
    let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(
        stored,
        serde_json::json!({
            "run": "[redacted]", "at": "[timestamp]", "rows": [{ "id": "[id]", "name": "Ada" }]
        })
    );
    project.run(&[]).ends(0, "passed");

    project.write("plan.yaml", plan(""));
    assert_ne!(project.run(&[]).code, Some(0), "without it, all counts");
}

#[test]
fn a_name_that_different_requests_share_is_refused_with_both_lines() {
    let plan = |steps: &str| {
        Project::with(&format!(
            "version: 1\nservers: {{ s: {{ command: jelly, args: [mock] }} }}\nsteps:\n{steps}"
        ))
    };
    let echo = |id: &str, message: &str, expect: &str| {
        format!(
            "  - {{ id: {id}, tool: echo, args: {{ message: {message} }}, expect: {expect} }}\n"
        )
    };
    let said = "{ text: { snapshot: said } }";
    let cases = |name: &str| {
        format!(
            "  - id: a\n    tool: echo\n    cases:\n      - {{ word: one }}\n      - {{ word: two }}\n    \
             args: {{ message: \"${{word}}\" }}\n    expect: {{ text: {{ snapshot: {name} }} }}\n"
        )
    };
    let twice = "{ text: { snapshot: said }, json: [{ path: $.content, snapshot: said }] }";
    for (steps, words, lines) in [
        (
            echo("a", "one", said) + &echo("b", "two", said),
            "`said` is the snapshot of step `a` already",
            ["4 |", "5 |"],
        ),
        (
            echo("a", "one", twice),
            "`said` is the snapshot of step `a` already",
            ["4 |", "4 |"],
        ),
        (
            cases("said"),
            "the cases of this step share the snapshot `said`",
            ["8 |", "10 |"],
        ),
    ] {
        let project = plan(&steps);
        for command in ["check", "run"] {
            let ended = project.jelly(&[command, "plan.yaml"]).output();
            assert_eq!(ended.code, Some(2), "{}", ended.stdout);
            for words in [&[words], &lines[..]].concat() {
                assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
            }
        }
    }
    let project = plan(&cases("said"));
    let ended = project.jelly(&["check", "plan.yaml"]).output();
    assert!(ended.stderr.contains("`said-${word}`"), "{}", ended.stderr);
    // The very same request may share one, and cases may have their own.
    for steps in [
        echo("a", "one", said) + &echo("b", "one", said),
        cases("\"said-${word}\""),
    ] {
        let ended = plan(&steps).jelly(&["check", "plan.yaml"]).output();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
}

#[test]
fn two_answers_to_one_request_are_told_and_neither_is_lost_in_silence() {
    let project = counting("");
    let plan = project.read("plan.yaml");
    let (head, _) = plan.split_once("steps:").unwrap();
    project.write(
        "plan.yaml",
        format!(
            "{head}steps:\n  - {{ id: a, tool: work, expect: {{ text: {{ snapshot: said }} }} }}\n  - \
             {{ id: b, tool: work, expect: {{ text: {{ snapshot: said }} }} }}\n"
        ),
    );
    let run = project.run(&[]);
    assert_eq!(run.code, Some(3), "{}", run.stdout);
    let message = run.last().failure("b")["message"].to_string();
    assert!(
        message.contains("two expectations share the snapshot `said`"),
        "{message}"
    );
    let message = run.last().failure("a")["message"].to_string();
    assert!(message.contains("said.snap.new of the report"), "{message}");
}

/// Answers `n=0`, `n=1` and so on, one for each start.
fn counting(more: &str) -> Project {
    let server = python(
        r#"
def call(request):
    n = int(open("count").read()) if os.path.exists("count") else 0
    open("count", "w").write(str(n + 1))
    answer(request, text("n=%d" % n))
serve(call)
"#,
    );
    Project::with(&format!(
        "
version: 1
servers: {{ s: {server} }}
{more}
steps: [{{ id: a, tool: work, expect: {{ text: {{ snapshot: x }} }} }}]
"
    ))
}

#[test]
fn what_a_later_iteration_contradicts_is_proposed_no_more() {
    let project = counting("");
    project.write("snapshots/plan/x.snap", "n=1\n");
    project.run(&[]).ends(0, "passed_after_retry");
    let shown = snapshot(&project, &["review"]);
    assert!(
        shown.stdout.contains("no snapshots to review"),
        "{}",
        shown.stdout
    );
    assert_eq!(project.read("snapshots/plan/x.snap"), "n=1\n");
}

#[test]
fn the_last_iteration_proposes_and_is_told_of_no_other_expectation() {
    let project = counting("");
    project.write("snapshots/plan/x.snap", "n=7\n");
    let run = project.run(&[]);
    assert_eq!(run.iterations().len(), 2);
    let message = run.last().failure("a")["message"].to_string();
    assert!(message.contains("x.snap.new of the report"), "{message}");
    snapshot(&project, &["accept"]);
    assert_eq!(project.read("snapshots/plan/x.snap"), "n=1\n");
}

#[test]
fn a_hook_that_refines_code_may_store_no_snapshot() {
    let project = Project::with(
        "
version: 1
hooks: { refine_code: [./refine.sh] }
servers: { s: { command: jelly, args: [mock] } }
steps: [{ id: a, tool: echo, args: { message: hi }, expect: { text: { snapshot: x } } }]
",
    );
    project.write("snapshots/plan/x.snap", "ho\n");
    project.script("refine.sh", "#!/bin/sh\necho hi > snapshots/plan/x.snap\n");
    let run = project.run(&["--trust-plan"]);
    run.ends(3, "needs_user_help");
    let warnings = run.results["warnings"].to_string();
    assert!(
        warnings.contains("refine_code changed the snapshot `x`"),
        "{warnings}"
    );
}

#[test]
fn a_snapshot_holds_in_every_checkout() {
    let plan = "
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps: [{ id: a, tool: echo, args: { message: \"in ${workspace}/data\" }, expect: { text: { snapshot: x } } }]
";
    let project = Project::with(plan);
    assert_ne!(project.run(&[]).code, Some(0));
    snapshot(&project, &["accept"]);
    let stored = project.read("snapshots/plan/x.snap");
    assert_eq!(stored, "in ${workspace}/data\n");
    let other = Project::with(plan);
    other.write("snapshots/plan/x.snap", stored);
    other.run(&[]).ends(0, "passed");
    // Stored by a version that did not name the folder.
    let old = format!("in {}\n", other.at("data"));
    other.write("snapshots/plan/x.snap", old);
    other.run(&[]).ends(0, "passed");
}

#[test]
fn a_mismatch_is_helped_by_commands_that_store_the_answer() {
    let project = Project::with(PLAN);
    let elsewhere = ["--reports-dir", "out", "--only", "greet"];
    let first = project.call(&elsewhere).output();
    let commands = |told: &str| -> Vec<Vec<String>> {
        let lines = told
            .lines()
            .filter_map(|line| line.trim().strip_prefix("$ jelly "));
        let lines = lines.filter(|line| line.starts_with("snapshot "));
        lines
            .map(|line| line.split(' ').map(str::to_owned).collect())
            .collect()
    };
    let paste = |told: &str| {
        let commands = commands(told);
        assert_eq!(commands.len(), 2, "{told}");
        for words in commands {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let ended = project.jelly(&words).env("CI", "").output();
            assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.stderr);
        }
    };
    paste(&first.stdout);
    project.write("plan.yaml", PLAN.replace("Hello Ada", "Hello Bob"));
    let second = project.call(&elsewhere).output();
    assert_eq!(second.code, Some(1), "{}", second.stdout);
    assert!(
        !second.stdout.contains("correct the expectation"),
        "{}",
        second.stdout
    );
    paste(&second.stdout);
    assert_eq!(project.read("snapshots/plan/greeting.snap"), "Hello Bob\n");
}

#[test]
fn a_name_that_no_file_or_command_can_bear_is_refused() {
    let name = |name: &str| PLAN.replace("snapshot: greeting", &format!("snapshot: '{name}'"));
    for bad in [
        "../x",
        "a/b",
        "",
        "-x",
        "${workspace}",
        "Sum",
        &"x".repeat(81),
    ] {
        let project = Project::with(&name(bad));
        let ended = project.jelly(&["check", "plan.yaml"]).output();
        assert_eq!(ended.code, Some(2), "{bad}");
        assert!(ended.stderr.contains("snapshot"), "{}", ended.stderr);
    }
    let project = Project::with(&name(&"x".repeat(80)));
    assert_eq!(
        project.jelly(&["check", "plan.yaml"]).output().code,
        Some(0)
    );
}

#[test]
fn a_review_at_a_terminal_does_what_is_typed() {
    let project = missing();
    let question = "[q]uit? ";
    let quit = project.at_a_terminal(
        &[(question, "what"), (question, "q")],
        &["snapshot", "review"],
    );
    assert!(quit.stdout.contains("2 left"), "{}", quit.stdout);
    let some = project.at_a_terminal(&[(question, "s"), (question, "a")], &["snapshot", "review"]);
    assert!(
        some.stdout.contains("1 accepted, 1 left"),
        "{}",
        some.stdout
    );
    assert!(project.exists("snapshots/plan/sum.snap"));
    let last = project.at_a_terminal(&[(question, "r")], &["snapshot", "review"]);
    assert!(last.stdout.contains("1 rejected"), "{}", last.stdout);
    assert!(!project.exists("snapshots/plan/greeting.snap"));
}

#[test]
fn a_plan_that_is_gone_is_named_where_one_snapshot_is_asked_for() {
    let project = missing();
    std::fs::rename(project.path("plan.yaml"), project.path("moved.yaml")).unwrap();
    let refused = snapshot(&project, &["accept", "greeting"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("plan.yaml: there is no such file"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_redaction_that_finds_nothing_is_told_where_the_answer_is_not_as_stored() {
    let project =
        Project::with(&PLAN.replace("snapshot: sum", "snapshot: sum, redact: [{ path: $.sun }]"));
    let run = project.run(&[]);
    let message = run.last().failure("sum")["message"].to_string();
    assert!(
        message.contains("`redact` finds nothing by `$.sun`"),
        "{message}"
    );
}

#[test]
fn line_ends_that_differ_are_shown_and_told_how_to_keep() {
    let project = missing();
    snapshot(&project, &["accept"]);
    let stored = project.read("snapshots/plan/sum.snap");
    project.write("snapshots/plan/sum.snap", stored.replace('\n', "\r\n"));
    assert_ne!(project.run(&[]).code, Some(0));
    let shown = snapshot(&project, &["review"]);
    assert!(shown.stdout.contains("[\\r"), "{}", shown.stdout);
    assert!(shown.stdout.contains("*.snap -text"), "{}", shown.stdout);
}

#[test]
fn answers_that_differ_between_combinations_are_shown_and_can_be_rejected() {
    let plan = |redact: &str| {
        let says = |text: &str| format!("{{ command: jelly, args: [mock, --tool, 'say={text}'] }}");
        format!(
            "version: 1\nmatrix: {{ servers: {{ it: [old, new] }} }}\nservers:\n  old: {}\n  new: {}\n\
             steps: [{{ id: say, server: it, tool: say, expect: {{ text: {{ snapshot: said{redact} }} }} }}]\n",
            says("run 17"),
            says("run 18")
        )
    };
    let project = Project::with(&plan(""));
    let run = || project.jelly(&["run", "plan.yaml"]).output();
    let ended = run();
    assert_eq!(ended.code, Some(3));
    assert!(
        ended
            .stdout
            .contains("combinations of the matrix share this snapshot"),
        "{}",
        ended.stdout
    );
    let shown = snapshot(&project, &["review"]).stdout;
    assert!(
        shown.contains("+ run 17") && shown.contains("+ run 18"),
        "{shown}"
    );
    let refused = snapshot(&project, &["accept"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(
        refused
            .stderr
            .contains("differ, so that none can be stored"),
        "{}",
        refused.stderr
    );
    let rejected = snapshot(&project, &["reject", "said"]);
    assert_eq!(
        (rejected.code, rejected.stdout.as_str()),
        (Some(0), "1 rejected\n")
    );
    assert!(
        snapshot(&project, &["review"])
            .stdout
            .contains("no snapshots to review")
    );

    project.write(
        "plan.yaml",
        plan(", redact: [{ pattern: 'run \\d+', with: 'run $N' }]"),
    );
    assert_eq!(run().code, Some(3));
    assert_eq!(snapshot(&project, &["accept"]).code, Some(0));
    assert_eq!(project.read("snapshots/plan/said.snap"), "run $N\n");
    assert_eq!(run().code, Some(0));
}

#[test]
fn what_is_stored_and_named_by_no_step_is_told() {
    let project = missing();
    snapshot(&project, &["accept", "greeting"]);
    project.write(
        "plan.yaml",
        PLAN.replace("snapshot: greeting", "contains: Ada"),
    );
    let told = "note: no step names snapshots/plan/greeting.snap";
    let checked = project.jelly(&["check", "plan.yaml"]).output();
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    assert!(checked.stderr.contains(told), "{}", checked.stderr);
    let left = snapshot(&project, &["reject", "sum"]);
    assert!(left.stderr.contains(told), "{}", left.stderr);
}

/// What a step captured holds though its own snapshot is new: all new ones come
/// in one run, and one accept makes it green.
#[test]
fn chained_steps_with_new_snapshots_need_one_run_and_one_accept() {
    let server = python(
        r#"
def call(message):
    args = message["params"]["arguments"]
    answer(message, text(message["params"]["name"] + " of " + args.get("of", "nothing")))
serve(call, tools=("up", "one", "two", "three", "four"))
"#,
    );
    let plan = format!(
        "version: 1
servers: {{ s: {server} }}
setup:
  - {{ id: up, tool: up, expect: {{ text: {{ snapshot: up }} }} }}
steps:
  - {{ id: one, tool: one, expect: {{ text: {{ snapshot: one }} }}, capture: {{ a: '$.content[0].text' }} }}
  - {{ id: two, tool: two, args: {{ of: '${{a}}' }}, expect: {{ text: {{ snapshot: two }} }}, capture: {{ b: '$.content[0].text' }} }}
  - {{ id: three, tool: three, args: {{ of: '${{b}}' }}, expect: {{ text: {{ snapshot: three }} }} }}
  - {{ id: four, tool: four, needs: [three], expect: {{ text: {{ contains: four }} }} }}
"
    );
    let project = Project::with(&plan);
    let run = project.run(&[]);
    run.ends(3, "needs_user_help");
    assert_eq!(run.last().total("quarantined"), 4, "{}", run.stdout);
    assert_eq!(run.last().total("passed"), 1, "{}", run.stdout);
    let accepted = snapshot(&project, &["accept"]);
    assert!(
        accepted.stdout.contains("4 accepted\n"),
        "{}",
        accepted.stdout
    );
    let three = project.read("snapshots/plan/three.snap");
    assert_eq!(three, "three of two of one of nothing\n");
    project.run(&[]).ends(0, "passed");

    // What fails by anything else gives nothing to those behind it.
    let wrong = plan.replace(
        "{ text: { snapshot: one } }",
        "{ text: { snapshot: one, contains: never } }",
    );
    let project = Project::with(&wrong);
    let run = project.run(&["--no-confirm"]);
    let skipped = run.last().total("skipped");
    assert_eq!(skipped, 3, "{}", run.stdout);
}
