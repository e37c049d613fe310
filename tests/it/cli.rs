//! What can be typed, and what comes of typing it wrong.

use crate::support::{Ended, Project, Run, slice};
use serde_json::Value;
use std::io::Read;
use std::process::{Command, Stdio};

const GREEN: &str = r#"version: 1
name: green
vars: { word: hello, count: 1 }
servers:
  main: { command: jelly, args: [mock] }
  other: { command: jelly, args: [mock] }
steps:
  - { id: greet, server: main, tool: echo, args: { message: "${word}" }, tags: [fast], expect: { text: { equals: "${word}" } } }
  - { id: add, server: main, tool: add, args: { a: "${count}", b: 1 }, tags: [fast, sums], expect: { structured: { equals: { sum: 2 } } } }
  - { id: elsewhere, server: other, tool: echo, args: { message: hi }, tags: [slow] }
"#;

const DEAD: &str = r#"version: 1
name: dead
servers:
  s: { command: jelly, args: [mock, --fault, "stderr=Error: connect ECONNREFUSED 127.0.0.1:5432", --fault, exit] }
steps:
  - { id: a, tool: echo, args: { message: hi } }
"#;

const WRONG: &str = r#"version: 1
name: wrong
servers:
  s: { command: jelly, args: [mock] }
steps:
  - { id: a, tool: echo, args: { message: hi }, expect: { text: { equals: ho } } }
  - { id: b, tool: echo, args: { message: hi } }
"#;

/// Two slips, on two lines.
const BAD: &str = r#"version: 1
name: bad
servers:
  s: { comand: jelly, args: [mock] }
steps:
  - { id: a, tool: echo, expect: { text: { equal: hi } } }
"#;

#[track_caller]
fn refused(ended: &Ended, words: &[&str]) {
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "{word} in {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

fn states(run: &Run) -> Vec<(String, String)> {
    let last = run.last();
    let steps = last.0["steps"].as_array().unwrap();
    steps
        .iter()
        .map(|step| {
            let text = |key: &str| step[key].as_str().unwrap().to_owned();
            (text("id"), text("state"))
        })
        .collect()
}

fn passed(run: &Run) -> Vec<String> {
    let all = states(run);
    let passed = all.into_iter().filter(|(_, state)| state == "passed");
    passed.map(|(id, _)| id).collect()
}

#[test]
fn usage_errors_exit_2_and_start_nothing() {
    let project = Project::with(GREEN);
    let wrong: &[(&[&str], &str)] = &[
        (&[], "Usage"),
        (&["frob"], "frob"),
        (&["run", "--frob"], "--frob"),
        (&["run", "plan.yaml", "--jobs", "0"], "--jobs"),
        (
            &["run", "plan.yaml", "--max-iterations", "0"],
            "--max-iterations",
        ),
        (&["run", "plan.yaml", "--deadline", "5"], "30s"),
        (&["run", "plan.yaml", "--var", "x"], "NAME=VALUE"),
        (&["run", "plan.yaml", "--format", "xml"], "human"),
        (&["run", "plan.yaml", "--fix-tests", "[]"], "empty"),
        (
            &["run", "plan.yaml", "--strict", "--accept-repairs"],
            "--strict",
        ),
        (&["check"], "PLAN"),
        (&["completions", "tcsh"], "bash"),
        (&["mock", "--fault", "exot"], "did you mean `exit`"),
    ];
    for (args, word) in wrong {
        refused(&project.jelly(args).output(), &[word]);
    }
    assert!(!project.exists("reports"));
}

#[test]
fn version_and_help_are_answers_and_not_errors() {
    let project = Project::empty();
    let version = project.jelly(&["--version"]).output();
    assert_eq!(version.code, Some(0));
    assert_eq!(
        version.stdout,
        format!("jelly {}\n", env!("CARGO_PKG_VERSION"))
    );
    for command in ["run", "check", "mock", "completions"] {
        let help = project.jelly(&[command, "--help"]).output();
        assert_eq!(help.code, Some(0));
        assert!(help.stdout.contains("Usage: jelly"), "{}", help.stdout);
    }
    let help = project.jelly(&["run", "--help"]).output().stdout;
    for (code, _) in [
        ("130/143", ""),
        ("70 ", ""),
        ("2 ", ""),
        ("1 ", ""),
        ("3 ", ""),
        ("4 ", ""),
    ] {
        assert!(help.contains(&format!("\n  {code}")), "{code} in {help}");
    }
}

#[test]
fn check_names_everything_that_is_wrong_at_once_and_where() {
    let project = Project::with(BAD);
    let ended = project.jelly(&["check", "plan.yaml"]).output();
    refused(
        &ended,
        &[
            "plan.yaml:4:8",
            "did you mean `command`?",
            "plan.yaml:6:",
            "did you mean `equals`?",
            "^",
        ],
    );
    assert!(!project.exists("reports"));

    project.write("green.yaml", GREEN);
    let ended = project
        .jelly(&["check", "green.yaml", "plan.yaml"])
        .output();
    refused(&ended, &["plan.yaml:4:8"]);
    assert!(ended.stdout.contains("ok green.yaml"), "{}", ended.stdout);

    let ended = project.jelly(&["check", "green.yaml"]).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stderr, "");
}

#[test]
fn check_takes_the_plans_that_run_takes() {
    let project = Project::empty();
    std::fs::create_dir(project.path("plans")).unwrap();
    let none = project.jelly(&["check", "--format", "json"]).output();
    let none: Value = serde_json::from_str(&none.stdout).unwrap();
    assert_eq!(none["exit_code"], 2);
    for name in ["a.yaml", "b.yml", "notes.txt"] {
        project.write(&format!("plans/{name}"), GREEN);
    }
    let ended = project.jelly(&["check"]).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let said: Vec<&str> = ended
        .stdout
        .lines()
        .filter_map(|l| l.split(' ').nth(1))
        .collect();
    assert_eq!(said, ["plans/a.yaml", "plans/b.yml"]);
}

#[test]
fn an_expectation_that_holds_of_anything_is_refused() {
    let expect = |expect: &str| {
        let plan = format!(
            "version: 1\nvars: {{ v: '' }}\nservers: {{ s: {{ command: jelly, args: [mock] }} }}\n\
             steps:\n  - {{ id: a, tool: echo, args: {{ message: hi }}, expect: {{ {expect} }} }}\n"
        );
        Project::with(&plan)
    };
    for vacuous in [
        "json: []",
        "text: { contains: '' }",
        "text: { matches: '' }",
        "text: { matches: '.*' }",
        "text: [{ starts_with: '' }, { ends_with: '' }]",
        "text: { length: { ge: 0 } }",
        "json: [{ path: $.content, starts_with: '' }]",
        "stderr: { contains: '' }",
        "duration: { ge: 0ms }",
        "duration: { gt: 0s }",
        "structured: { schema: { items: { const: 3 } } }",
        "structured: { schema: { minLength: 400, contains: { const: 1 } } }",
        "json: [{ path: $, schema: { minimum: 9 } }]",
        "json: [{ path: $, schema: { type: object } }]",
        "json: [{ path: $.structuredContent, schema: { exclusiveMinimum: 9 } }]",
        "json: [{ path: $.content, schema: { properties: { text: { const: hi } } } }]",
        "json: [{ path: $.structuredContent, contains: {} }]",
        "structured: { contains: {} }",
        "structured: { schema: { dependentRequired: {}, propertyNames: { type: string } } }",
        "json: [{ path: '$..*', exists: true }]",
        "json: [{ path: $.content, exists: true }]",
        "json: [{ path: \"$['content']\", type: array }]",
        "duration: { lt: 1000h }",
        "duration: { ge: 0ms, lt: 40s }",
        "duration: { le: 30s }",
        "text: { length: { ge: 0, le: 100000000 } }",
        "text: { matches: '.+|^$' }",
    ] {
        let ended = expect(vacuous).jelly(&["check", "plan.yaml"]).output();
        refused(&ended, &["tests nothing"]);
    }
    for tested in [
        "text: { contains: '', not_contains: x }",
        "text: { matches: '^$|hi' }",
        "text: { length: { ge: 0, le: 5 } }",
        "duration: { ge: 0ms, lt: 29s }",
        "duration: { gt: 1ms }",
        "error: {}, json: [{ path: $.content, exists: true }]",
        "json: [{ path: $.content, exists: true, length: 1 }]",
        "json: [{ path: '$.content[0]', exists: true }]",
        "json: [{ path: $.structuredContent, schema: { properties: { n: { minimum: 9 } } } }]",
        "notifications: [{ method: notifications/a, json: [{ path: $.content, exists: true }] }]",
        "text: { length: { le: 100000 } }",
        "json: [{ path: $.structuredContent.list, schema: { items: { const: 3 } } }]",
    ] {
        let ended = expect(tested).jelly(&["check", "plan.yaml"]).output();
        assert_eq!(ended.code, Some(0), "{tested}: {}", ended.stderr);
    }
    let run = expect("text: { contains: '${v}' }").run(&[]);
    run.ends(3, "needs_user_help");
    assert!(run.help().contains("holds of anything"), "{}", run.help());
}

#[test]
fn a_plan_on_one_line_with_a_thousand_problems_is_told_in_short() {
    let step = r#"{"id":"sN","server":"s","tool":"echo","wrong":1}"#;
    let steps: Vec<String> = (0..1000)
        .map(|n| step.replace('N', &n.to_string()))
        .collect();
    let servers = r#""servers":{"s":{"command":"jelly","args":["mock"]}}"#;
    let plan = format!(r#"{{"version":1,{servers},"steps":[{}]}}"#, steps.join(","));
    let project = Project::empty();
    project.write("plan.json", &plan);
    let ended = project.jelly(&["check", "plan.json"]).output();
    let column = plan.find("\"wrong\"").unwrap() + 1;
    refused(
        &ended,
        &[
            &format!("plan.json:1:{column}"),
            "and 800 problems more; the first 200",
        ],
    );
    assert!(ended.stderr.len() < 100_000, "{}", ended.stderr.len());
}

#[test]
fn check_speaks_json_too() {
    let project = Project::with(BAD);
    project.write("green.yaml", GREEN);
    let ended = project
        .jelly(&["check", "green.yaml", "plan.yaml", "--format", "json"])
        .output();
    assert_eq!(ended.code, Some(2));
    let all: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(all["exit_code"], 2);
    assert_eq!(all["plans"][0]["ok"], true);
    assert_eq!(all["plans"][1]["ok"], false);
    let problems = all["plans"][1]["problems"].as_array().unwrap();
    let typo = problems
        .iter()
        .find(|problem| problem["line"] == 4 && problem["column"] == 8)
        .expect("the misspelt key");
    assert_eq!(typo["hints"][0], "did you mean `command`?");
}

#[test]
fn a_plan_that_is_no_plan_is_explained_and_never_green() {
    for (text, word) in [
        ("", "empty"),
        ("version: 1\n", "servers"),
        ("[]", "map"),
        ("version: 1\nversion: 1\n", "version"),
        ("version: 2\nservers: {}\nsteps: []\n", "version"),
        ("\tversion: 1", "plan.yaml:1"),
        (
            "version: 1\nservers:\n  s: { command: jelly }\nsteps: []\n",
            "step",
        ),
        ("{\"version\": 1,}", "plan.yaml"),
    ] {
        let project = Project::with(text);
        for args in [["run", "plan.yaml"], ["check", "plan.yaml"]] {
            let ended = project.jelly(&args).output();
            refused(&ended, &[word]);
        }
    }
    let project = Project::empty();
    project.write("plan.yaml", b"version: 1\nname: \xff\xfe\n");
    refused(&project.call(&[]).output(), &["UTF-8"]);
}

#[test]
fn a_plan_that_is_not_there_is_named() {
    let project = Project::empty();
    refused(
        &project.jelly(&["run", "nope.yaml"]).output(),
        &["nope.yaml"],
    );
    refused(
        &project.jelly(&["check", "nope.yaml"]).output(),
        &["nope.yaml"],
    );
    project.write("folder/x", "");
    refused(&project.jelly(&["run", "folder"]).output(), &["folder"]);
}

#[test]
fn without_arguments_all_plans_of_the_folder_run() {
    let project = Project::empty();
    refused(&project.jelly(&["run"]).output(), &["no plan", "plans"]);
    project.write("plans/readme.txt", "");
    refused(&project.jelly(&["run"]).output(), &["no plan", "plans"]);

    project.write("plans/one.yaml", GREEN);
    project.write("plans/two.yml", GREEN);
    project.write(
        "plans/three.json",
        r#"{"version": 1, "servers": {"s": {"command": "jelly", "args": ["mock"]}}, "steps": [{"id": "a", "tool": "echo", "args": {"message": "hi"}}]}"#,
    );
    let ended = project.jelly(&["run", "--format", "json"]).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let all: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(all["plans"].as_array().unwrap().len(), 3);
}

#[test]
fn only_and_skip_choose_by_step_server_and_tag() {
    let project = Project::with(GREEN);
    let chosen: &[(&[&str], &[&str])] = &[
        (&["--only", "greet"], &["greet"]),
        (&["--only", "step:greet,add"], &["greet", "add"]),
        (&["--only", "main"], &["greet", "add"]),
        (&["--only", "server:other"], &["elsewhere"]),
        (&["--only", "tag:fast", "--skip", "sums"], &["greet"]),
        (&["--skip", "main"], &["elsewhere"]),
        (&["--skip", "greet", "--skip", "slow"], &["add"]),
    ];
    for (args, steps) in chosen {
        let run = project.run(args);
        run.ends(0, "passed");
        assert_eq!(passed(&run), *steps, "{args:?}");
        assert_eq!(run.last().total("total"), 3);
    }
    let run = project.run(&["--only", "greet"]);
    assert_eq!(run.last().server("other")["state"], "not_started");
}

#[test]
fn a_filter_that_matches_nothing_is_a_slip_and_says_what_was_meant() {
    let project = Project::with(GREEN);
    refused(
        &project.call(&["--only", "gret"]).output(),
        &["gret", "did you mean", "greet"],
    );
    refused(
        &project.call(&["--skip", "elsewere"]).output(),
        &["elsewhere"],
    );
    refused(
        &project.call(&["--only", "tag:greet"]).output(),
        &["tag:greet"],
    );
    // Each name counts, also beside one that matches.
    refused(&project.call(&["--only", "greet,zzz"]).output(), &["zzz"]);
    refused(
        &project
            .call(&["--only", "greet", "--skip", "greet"])
            .output(),
        &["leave no step"],
    );
}

#[test]
fn a_variable_by_flag_wins_and_keeps_its_type() {
    let project = Project::with(GREEN);
    project.run(&["--var", "word=a=b c"]).ends(0, "passed");
    let run = project.run(&["--var", "count=2"]);
    run.ends(1, "code_failure");
    let actual = &run.last().failure("add")["assertion"]["actual"];
    assert_eq!(actual["sum"], 3);
}

#[test]
fn a_variable_that_the_plan_does_not_know_is_refused() {
    let project = Project::with(GREEN);
    refused(
        &project.call(&["--var", "wort=x"]).output(),
        &["wort", "word"],
    );
    // One that can't be read without another one knows its own all the same.
    project.write("needy.yaml", GREEN.replace("${word}", "${word}${more}"));
    let call = |vars: &[&str]| {
        let words = [&["run", "needy.yaml"], vars].concat();
        project.jelly(&words).output()
    };
    let more = ["--var", "more=", "--var", "word=a=b c"];
    assert_eq!(call(&more).code, Some(0));
    refused(
        &call(&["--var", "more=", "--var", "wort=x"]),
        &["needy.yaml: the plan has no variable `wort`", "word"],
    );
}

#[test]
fn a_variable_that_none_of_several_plans_knows_is_refused() {
    let project = Project::with(GREEN);
    project.write("dead.yaml", DEAD);
    let call = |var: &str| {
        project
            .jelly(&["run", "dead.yaml", "plan.yaml", "--var", var])
            .output()
    };
    refused(&call("wort=x"), &["none of the plans", "wort", "word"]);
    // One of them knows it, and the other one fails by itself.
    assert_eq!(call("word=x").code, Some(3));
}

#[test]
fn a_plan_that_can_not_be_run_is_in_every_report_with_its_lines() {
    let project = Project::with(BAD);
    // What was there stays.
    project.write("reports/README.md", "mine");
    let run = project.run(&[]);
    refused(&run, &["plan.yaml:4:8"]);
    run.ends(2, "invalid_input");
    assert_eq!(project.read("reports/README.md"), "mine");
    let problems = run.results["help_summary"]["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 3, "{}", run.help());
    let slip = &problems[1];
    assert_eq!(slip["at"], "plan.yaml:4:8");
    assert_eq!(slip["what"], "servers.s: unknown key `comand`");
    assert_eq!(slip["next"][0], "did you mean `command`?");
    for said in [
        r#"errors="3""#,
        r#"file="plan.yaml" line="4""#,
        "plan.yaml:4:8: servers.s: unknown key `comand`",
        "help: did you mean `command`?",
        r#"file="plan.yaml" line="6""#,
    ] {
        assert!(run.junit.contains(said), "{said} in {}", run.junit);
    }
    assert!(run.markdown.contains("plan.yaml:4:8"), "{}", run.markdown);

    let missing = project.jelly(&["run", "missing.yaml"]).output();
    let run = Run::of(&project, missing);
    refused(&run, &["missing.yaml"]);
    run.ends(2, "invalid_input");
    assert!(run.help().contains("The plan can't be read"));
    assert!(run.junit.contains(r#"errors="1""#), "{}", run.junit);

    // As written, it could be run; it is the call that can't be.
    project.write("plan.yaml", GREEN);
    let run = project.run(&["--only", "nothing"]);
    run.ends(2, "invalid_input");
    assert!(
        run.help().contains("as it was called for"),
        "{}",
        run.help()
    );
    assert!(!run.help().contains("as it is written"), "{}", run.help());
}

#[test]
fn an_invalid_plan_is_annotated_at_its_lines_alone_and_among_others() {
    let project = Project::with(BAD);
    project.write("green.yaml", GREEN);
    for plans in [&["plan.yaml"][..], &["plan.yaml", "green.yaml"]] {
        let call = project.jelly(&["run"]).args(plans);
        let ended = call.env("GITHUB_ACTIONS", "true").output();
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        for said in [
            "::error file=plan.yaml,line=4,col=8,title=plan%3A invalid plan::servers.s: unknown key",
            "::error file=plan.yaml,line=6,col=",
        ] {
            assert!(ended.stdout.contains(said), "{said} in {}", ended.stdout);
        }
    }
    let folder = Run::in_folder(
        &project,
        "reports/latest/plan",
        project.jelly(&["run", "plan.yaml", "green.yaml"]).output(),
    );
    assert!(folder.junit.contains(r#"line="4""#), "{}", folder.junit);
    assert!(
        folder.markdown.contains("plan.yaml:6:"),
        "{}",
        folder.markdown
    );
}

#[test]
fn an_invalid_plan_is_one_in_the_triage_of_its_report_too() {
    let project = Project::with(BAD);
    let ended = project.jelly(&["run", "--report", "junit=o.xml", "plan.yaml"]);
    assert_eq!(ended.output().code, Some(2));
    let ended = project
        .jelly(&["triage", "--format", "json", "o.xml"])
        .output();
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let diagnosis = &json["failures"][0]["diagnosis"];
    assert_eq!(diagnosis["root_cause"], "invalid_plan", "{diagnosis:#}");
    assert_eq!(diagnosis["side"], "test", "{diagnosis:#}");
    assert_eq!(diagnosis["ambiguous"], false, "{diagnosis:#}");
    let said = diagnosis.to_string();
    assert!(
        said.contains("servers.s: a server needs a `command`"),
        "{said}"
    );
    assert!(!said.contains("Run it by hand"), "{said}");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn of_several_ends_the_documented_one_decides_the_exit_code() {
    let project = Project::with(GREEN);
    project.write("bad.yaml", BAD);
    project.write("wrong.yaml", WRONG);
    project.write("dead.yaml", DEAD);
    project.write("taken", "a file");
    project.write("quiet.yaml", GREEN.replace("greet", "other-step"));
    let cases: &[(&[&str], i32)] = &[
        (&["plan.yaml", "dead.yaml"], 3),
        (&["wrong.yaml", "dead.yaml", "plan.yaml"], 1),
        (&["dead.yaml", "bad.yaml", "wrong.yaml"], 2),
        (&["wrong.yaml", "missing.yaml"], 2),
        (&["plan.yaml", "quiet.yaml", "--only", "greet"], 0),
        (&["bad.yaml", "plan.yaml", "--only", "greet"], 2),
        (&["plan.yaml", "quiet.yaml", "--only", "nothing"], 2),
        // Nothing can be written: what is wrong with a plan weighs more.
        (&["plan.yaml", "--reports-dir", "taken"], 3),
        (&["plan.yaml", "wrong.yaml", "--reports-dir", "taken"], 3),
        (&["bad.yaml", "--reports-dir", "taken"], 2),
        (&["plan.yaml", "bad.yaml", "--reports-dir", "taken"], 2),
        (&["missing.yaml", "plan.yaml", "--reports-dir", "taken"], 2),
        (
            &["plan.yaml", "--only", "nothing", "--reports-dir", "taken"],
            2,
        ),
        (
            &[
                "plan.yaml",
                "wrong.yaml",
                "--only",
                "nothing",
                "--reports-dir",
                "taken",
            ],
            2,
        ),
    ];
    for (args, code) in cases {
        for format in ["human", "json"] {
            let call = project.jelly(&["run", "--retries", "0"]).args(args);
            let ended = call.args(&["--format", format]).output();
            assert_eq!(
                ended.code,
                Some(*code),
                "{args:?}: {}{}",
                ended.stdout,
                ended.stderr
            );
            if let Ok(results) = serde_json::from_str::<Value>(&ended.stdout) {
                assert_eq!(results["exit_code"], *code, "{args:?}");
            }
        }
    }
}

#[test]
fn a_variable_of_the_environment_that_is_no_text_is_not_called_missing_without_a_word() {
    use std::os::unix::ffi::OsStrExt;
    let project = Project::with(&GREEN.replace("word: hello", "word: \"${env:LATIN}\""));
    let ended = project
        .call(&[])
        .env("LATIN", std::ffi::OsStr::from_bytes(b"caf\xe9"))
        .output();
    assert_eq!(ended.code, Some(3), "{}", ended.stdout);
    let said = "LATIN holds bytes that are not UTF-8";
    assert!(ended.stdout.contains(said), "{}", ended.stdout);
}

#[test]
fn fail_fast_sends_nothing_after_the_first_failure() {
    let run = Project::with(WRONG).run(&["--fail-fast", "--no-confirm"]);
    run.ends(3, "needs_user_help");
    assert_eq!(run.last().state("b"), "skipped");
    assert_eq!(run.last().step("b")["because"], "fail_fast");
    let run = Project::with(WRONG).run(&["--no-confirm"]);
    assert_eq!(run.last().state("b"), "passed");
}

#[test]
fn jobs_of_one_runs_the_same_as_many() {
    let project = Project::with(GREEN);
    for jobs in ["1", "8"] {
        let run = project.run(&["--jobs", jobs]);
        run.ends(0, "passed");
        assert_eq!(passed(&run), ["greet", "add", "elsewhere"]);
    }
}

#[test]
fn quiet_prints_the_verdict_and_the_help_alone() {
    let run = Project::with(GREEN).run(&["--quiet"]);
    run.ends(0, "passed");
    assert!(run.stdout.lines().count() <= 3, "{}", run.stdout);
    assert!(run.stdout.starts_with("passed: green"), "{}", run.stdout);

    let run = Project::with(WRONG).run(&["-q"]);
    run.ends(1, "code_failure");
    assert!(!run.stdout.contains("START"), "{}", run.stdout);
    assert!(
        run.stdout.contains("jelly run plan.yaml --only a"),
        "{}",
        run.stdout
    );
}

#[test]
fn the_last_lines_of_a_failed_run_say_what_to_type_next() {
    let run = Project::with(DEAD).run(&["--retries", "0"]);
    run.ends(3, "needs_user_help");
    let lines: Vec<&str> = run.stdout.trim_end().lines().collect();
    let tail = lines[lines.len().saturating_sub(6)..].join("\n");
    assert!(tail.contains("$ jelly run plan.yaml"), "{tail}");
}

#[test]
fn colour_is_for_terminals_and_on_request() {
    let project = Project::with(WRONG);
    let plain = |ended: Ended| !ended.stdout.contains('\u{1b}');
    assert!(plain(project.call(&[]).output()));
    assert!(plain(
        project
            .call(&["--color", "never"])
            .env("CLICOLOR_FORCE", "1")
            .output()
    ));
    assert!(!plain(project.call(&["--color", "always"]).output()));
    assert!(!plain(
        project.call(&[]).env("CLICOLOR_FORCE", "1").output()
    ));
    let both = project
        .call(&[])
        .env("CLICOLOR_FORCE", "1")
        .env("NO_COLOR", "1");
    assert!(plain(both.output()));
    let json = project.call(&["--color", "always", "--format", "json"]);
    assert!(plain(json.output()));

    let bad = Project::with(BAD);
    let ended = bad.call(&["--color", "always"]).output();
    assert!(ended.stderr.contains('\u{1b}'), "{}", ended.stderr);
    let ended = bad.call(&[]).output();
    assert!(!ended.stderr.contains('\u{1b}'), "{}", ended.stderr);
}

#[test]
fn completions_are_scripts_that_their_shells_take() {
    let project = Project::empty();
    for (shell, words) in [
        ("bash", ["_jelly", "--max-iterations"]),
        ("zsh", ["#compdef jelly", "--max-iterations"]),
        ("fish", ["complete -c jelly", "max-iterations"]),
    ] {
        let ended = project.jelly(&["completions", shell]).output();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        for word in words {
            assert!(ended.stdout.contains(word), "{shell}: {word}");
        }
        let script = project.write(shell, &ended.stdout);
        // Where the shell is there, it reads the script.
        if let Ok(output) = Command::new(shell).arg("-n").arg(&script).output() {
            assert!(output.status.success(), "{shell}: {output:?}");
        }
    }
}

#[test]
fn a_reports_folder_that_can_not_be_is_exit_3_and_never_green() {
    let project = Project::with(GREEN);
    project.write("taken", "a file");
    for folder in ["taken", "taken/below"] {
        let ended = project.call(&["--reports-dir", folder]).output();
        assert_eq!(ended.code, Some(3), "{}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(folder), "{}", ended.stderr);
        assert!(ended.stderr.contains("--reports-dir"), "{}", ended.stderr);
    }
}

#[test]
fn a_report_that_can_not_be_written_is_exit_3_and_never_green() {
    // The plan's own step puts a folder where the report is to be.
    let project = Project::empty();
    project.script(
        "spoil.sh",
        "#!/bin/sh\nfor run in out/2*; do rm -f $run/results.json; mkdir -p $run/results.json/x; done\nexec \"$@\"\n",
    );
    let jelly = env!("CARGO_BIN_EXE_jelly");
    project.write(
        "plan.yaml",
        format!("version: 1\nservers:\n  s: {{ command: ./spoil.sh, args: [\"{jelly}\", mock] }}\nsteps:\n  - {{ id: a, tool: echo, args: {{ message: hi }} }}\n"),
    );
    let ended = project.call(&["--reports-dir", "out"]).output();
    assert_eq!(ended.code, Some(3), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("results.json"), "{}", ended.stdout);
}

#[test]
fn latest_points_at_the_last_run() {
    let project = Project::with(GREEN);
    project.run(&[]).ends(0, "passed");
    let first = std::fs::read_link(project.path("reports/latest")).unwrap();
    assert!(first.is_relative(), "{}", first.display());
    let run = project.run(&["--only", "greet"]);
    let second = std::fs::read_link(project.path("reports/latest")).unwrap();
    assert_ne!(first, second);
    assert_eq!(second.to_str(), run.results["run_id"].as_str());
    assert!(
        project
            .path("reports")
            .join(first)
            .join("junit.xml")
            .exists()
    );
}

#[test]
fn github_gets_annotations_and_a_job_summary() {
    let project = Project::with(WRONG);
    let summary = project.write("summary.md", "before\n");
    let on_github = |args: &[&str]| {
        project
            .call(args)
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_STEP_SUMMARY", &summary)
            .output()
    };
    let ended = on_github(&[]);
    assert_eq!(ended.code, Some(1));
    let error = ended
        .stdout
        .lines()
        .find(|line| line.starts_with("::error"));
    let error = error.expect("an annotation");
    assert!(error.contains("file=plan.yaml,line=6"), "{error}");
    let text = project.read("summary.md");
    assert!(text.starts_with("before\n"), "{text}");
    assert!(text.contains("wrong"), "{text}");

    let ended = on_github(&["--format", "json"]);
    serde_json::from_str::<Value>(&ended.stdout).expect("nothing but JSON");

    let ended = project.call(&[]).output();
    assert!(!ended.stdout.contains("::error"), "{}", ended.stdout);
}

#[test]
fn a_reader_that_goes_away_is_no_fault_and_the_reports_are_written() {
    let project = Project::with(WRONG);
    for args in [&["--color", "never"][..], &["--format", "json"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_jelly"))
            .args(["run", "plan.yaml"])
            .args(args)
            .current_dir(project.dir())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        let status = child.wait().unwrap();
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert_eq!(status.code(), Some(1), "{stderr}");
        assert!(project.exists("reports/latest/results.json"));
        std::fs::remove_dir_all(project.path("reports")).unwrap();
    }
}

/// How a call ends whose readers went away before it said anything.
fn unread(project: &Project, args: &[&str], stdout: bool, stderr: bool) -> Option<i32> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_jelly"))
        .args(args)
        .current_dir(project.dir())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    if stdout {
        drop(child.stdout.take());
    }
    if stderr {
        drop(child.stderr.take());
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    output.status.code()
}

#[test]
fn a_reader_that_goes_away_changes_no_exit_code() {
    let project = Project::with(WRONG);
    project.write("green.yaml", GREEN);
    project.write("bad.yaml", BAD);
    project.write(
        "red.xml",
        r#"<testsuite name="s" tests="1"><testcase name="a"><failure message="expected 1, got 2"/></testcase></testsuite>"#,
    );
    project.write(
        "green.xml",
        r#"<testsuite name="s" tests="1"><testcase name="a"/></testsuite>"#,
    );
    project.write(
        "failures.jsonl",
        r#"{"id": 1, "failure": {"message": "x"}}"#,
    );
    project.write(
        "mcp.json",
        r#"{"mcpServers": {"s": {"command": "jelly-is-not-here"}}}"#,
    );
    project.write("stored.yaml", "version: 1\nservers: { s: { command: jelly, args: [mock] } }\n\
        steps: [{ id: a, tool: echo, args: { message: hi }, expect: { text: { snapshot: hi } } }]\n");
    // A run with a history and a proposal, for the commands that look at one.
    let jelly = |args: &[&str]| project.jelly(args).output();
    jelly(&["run", "stored.yaml", "--history", "h.jsonl"]);
    let cases: &[(&[&str], i32)] = &[
        (&["snapshot", "review"], 0),
        (&["apply"], 0),
        (&["history", "--history", "h.jsonl"], 0),
        (&["explain", "j2:none"], 2),
        (&["run", "plan.yaml", "--format", "json"], 1),
        (&["run", "bad.yaml"], 2),
        (&["run", "bad.yaml", "--format", "json"], 2),
        (&["run", "green.yaml", "plan.yaml", "--format", "json"], 1),
        (&["triage", "red.xml"], 1),
        (&["triage", "red.xml", "--format", "json"], 1),
        (&["triage", "red.xml", "--format", "junit"], 1),
        (&["triage", "red.xml", "--format", "jsonl"], 1),
        (&["triage", "red.xml", "--mode", "failures"], 1),
        (&["triage", "red.xml", "--output", "/dev/stdout"], 1),
        (&["triage", "green.xml"], 0),
        (&["triage", "failures.jsonl"], 3),
        (&["triage", "missing.xml"], 2),
        (&["doctor", "mcp.json"], 3),
        (&["doctor", "mcp.json", "--format", "json"], 3),
        (&["check", "green.yaml"], 0),
        (&["check", "green.yaml", "--format", "json"], 0),
        (&["check", "green.yaml", "bad.yaml"], 2),
        (&["rules", "list"], 0),
        (&["rules", "list", "--format", "json"], 0),
        (&["schema", "plan"], 0),
        (&["config"], 0),
        (&["completions", "bash"], 0),
        (&["--help"], 0),
        (&["run", "--help"], 0),
        (&["--version"], 0),
        (&["run", "--frob"], 2),
        (&["init", "--output", "-", "--", "jelly", "mock"], 0),
        (&["mock", "--list-faults"], 0),
    ];
    for &(args, code) in slice(3, cases) {
        let heard = project.jelly(args).output();
        assert_eq!(heard.code, Some(code), "{args:?}: {}", heard.stderr);
        for (stdout, stderr) in [(true, false), (false, true)] {
            let ended = unread(&project, args, stdout, stderr);
            assert_eq!(ended, Some(code), "{args:?}, {stdout} {stderr}");
        }
    }
}

#[test]
fn an_invalid_plan_among_several_costs_the_others_nothing() {
    let project = Project::with(BAD);
    project.write("green.yaml", GREEN);
    project.write("wrong.yaml", WRONG);
    let ended = project
        .jelly(&[
            "run",
            "plan.yaml",
            "green.yaml",
            "missing.yaml",
            "wrong.yaml",
        ])
        .args(&["--seed", "1"])
        .output();
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    for word in ["plan.yaml:4:8", "missing.yaml"] {
        assert!(ended.stderr.contains(word), "{}", ended.stderr);
    }
    let results: Value =
        serde_json::from_str(&project.read("reports/latest/results.json")).unwrap();
    let verdicts: Vec<&str> = results["plans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|plan| plan["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(
        verdicts,
        ["invalid_input", "passed", "invalid_input", "code_failure"]
    );
    assert_eq!(results["exit_code"], 2);
    for name in ["green", "wrong"] {
        for file in ["results.json", "junit.xml", "test_results.md"] {
            assert!(
                project.exists(&format!("reports/latest/{name}/{file}")),
                "{name}/{file}"
            );
        }
    }
    assert!(ended.stdout.contains("green"), "{}", ended.stdout);
    assert!(ended.stdout.contains("wrong"), "{}", ended.stdout);
}

#[test]
fn plans_of_one_name_do_not_overwrite_each_others_reports() {
    let project = Project::empty();
    project.write("one/smoke.yaml", GREEN);
    project.write("two/smoke.yaml", WRONG);
    let ended = project
        .jelly(&["run", "one/smoke.yaml", "two/smoke.yaml"])
        .output();
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    let folders = std::fs::read_dir(project.path("reports/latest")).unwrap();
    let reports = folders
        .flatten()
        .filter(|entry| entry.path().join("results.json").exists())
        .count();
    assert_eq!(reports, 2);
}

#[test]
fn record_keeps_every_message_in_both_directions() {
    let project = Project::with(GREEN);
    project.run(&["--record"]).ends(0, "passed");
    let wire = project.read("reports/latest/wire.jsonl");
    let lines: Vec<Value> = wire
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (server, calls) in [("main", 2), ("other", 1)] {
        let of = |direction: &str, method: &str| {
            lines
                .iter()
                .filter(|line| line["server"] == server && line["direction"] == direction)
                .filter(|line| method.is_empty() || line["message"]["method"] == method)
                .count()
        };
        assert_eq!(of("sent", "tools/call"), calls, "{wire}");
        assert_eq!(of("sent", "tools/list"), 1, "{wire}");
        assert!(of("received", "") > calls, "{wire}");
    }
    project.run(&[]).ends(0, "passed");
    assert!(!project.exists("reports/latest/wire.jsonl"));
}

#[test]
fn a_budget_is_the_plans_under_the_environments_under_the_flags() {
    let left = |run: &Run| {
        run.iteration(1)["budgets"]["before"]["retries"]
            .as_u64()
            .unwrap()
    };
    let plan = format!("{DEAD}budgets: {{ retries: 1 }}\n");
    let project = Project::with(DEAD);
    assert_eq!(left(&project.run(&[])), 2);
    project.write("plan.yaml", plan);
    assert_eq!(left(&project.run(&[])), 1);
    let from_env = |args: &[&str]| {
        let ended = project.call(args).env("JELLY_RETRIES", "3").output();
        left(&Run::of(&project, ended))
    };
    assert_eq!(from_env(&[]), 3);
    assert_eq!(from_env(&["--retries", "0"]), 0);
}

#[test]
fn every_budget_can_be_set_in_the_environment() {
    let project = Project::with(DEAD);
    let ended = project
        .call(&[])
        .env("JELLY_MAX_ITERATIONS", "2")
        .env("JELLY_RETRIES", "7")
        .env("JELLY_CONFIRMS", "6")
        .env("JELLY_MCP_REPAIRS", "5")
        .env("JELLY_TEST_FIXES", "4")
        .env("JELLY_CODE_REFINES", "3")
        .output();
    let run = Run::of(&project, ended);
    run.ends(3, "needs_user_help");
    assert_eq!(run.iterations().len(), 2);
    let before = &run.iteration(1)["budgets"]["before"];
    assert_eq!(before["retries"], 7);
    assert_eq!(before["confirms"], 6);
    assert_eq!(before["mcp_repairs"], 5);

    let ended = project.call(&[]).env("JELLY_DEADLINE", "soon").output();
    refused(&ended, &["30s"]);
}

#[test]
fn a_hook_that_can_not_be_started_is_said_and_ends_its_track() {
    let run = Project::with(DEAD).run(&["--retries", "0", "--fix-tests", "./nothing.sh"]);
    run.ends(3, "needs_user_help");
    let first = run.iteration(1);
    let error = first["action"]["hook"]["error"].as_str().unwrap();
    assert!(error.contains("could not be started"), "{error}");
}

#[test]
fn the_project_folder_can_be_another_than_the_plans() {
    let project = Project::empty();
    project.write("elsewhere/data/x.txt", "");
    project.write(
        "plans/p.yaml",
        "version: 1\nservers:\n  s: { command: jelly, args: [mock, --files, \"${workspace}/data\"] }\nsteps:\n  - { id: a, tool: list_files, expect: { text: { equals: x.txt } } }\n",
    );
    let ended = project
        .jelly(&[
            "run",
            "plans/p.yaml",
            "--no-repair",
            "--project-dir",
            "elsewhere",
        ])
        .output();
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    let ended = project
        .jelly(&["run", "plans/p.yaml", "--project-dir", "nowhere"])
        .output();
    refused(&ended, &["nowhere"]);
}

/// A call whose stdout is a disk that is full.
#[cfg(target_os = "linux")]
fn on_a_full_disk(project: &Project, args: &[&str]) -> Ended {
    let redirected = r#"exec "$0" "$@" > /dev/full"#;
    project
        .wrapped("sh", &["-c", redirected])
        .args(args)
        .output()
}

#[cfg(target_os = "linux")]
#[test]
fn what_can_not_be_printed_is_said_and_never_green() {
    let project = Project::with(
        "version: 1\nservers:\n  s: { command: jelly, args: [mock] }\n\
         steps:\n  - { id: a, tool: echo, args: { message: hi } }\n",
    );
    project.write(
        "mcp.json",
        r#"{"mcpServers": {"s": {"command": "true", "disabled": true}}}"#,
    );
    for args in [
        &["schema", "plan"][..],
        &["config"],
        &["rules", "list"],
        &["rules", "list", "--format", "json"],
        &["completions", "bash"],
        &["doctor", "--format", "json", "mcp.json"],
        &["run", "plan.yaml"],
        &["run", "plan.yaml", "--format", "json"],
    ] {
        let ended = on_a_full_disk(&project, args);
        assert_eq!(ended.code, Some(3), "{args:?}: {}", ended.stderr);
        let said = "error: failed to write to stdout: No space left on device";
        assert!(ended.stderr.contains(said), "{args:?}: {}", ended.stderr);
    }
}

/// See `docs/decisions/0030-fixed-address.md`: otherwise a start takes half as long again.
#[test]
#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
))]
fn the_program_is_linked_for_a_fixed_address() {
    /// `e_type` of an ELF header stands behind its sixteen bytes of identification;
    /// 2 is `ET_EXEC`.
    const EXEC: [u8; 2] = 2_u16.to_ne_bytes();
    let mut header = [0; 18];
    let mut program = std::fs::File::open(env!("CARGO_BIN_EXE_jelly")).unwrap();
    program.read_exact(&mut header).unwrap();
    assert_eq!(&header[..4], b"\x7fELF");
    assert_eq!(header[16..], EXEC);
}
