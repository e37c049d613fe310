//! Steps that repeat or depend: `cases`, `needs`, `if`, `until`, `defaults`.

use crate::support::{Project, Run, python, run};
use serde_json::json;

/// A server whose tool `work` does what `op` says; `job` is done when it is
/// asked for the third time, and `progress` gets on a little each time.
fn server() -> String {
    python(
        "
asked = {}
def call(message):
    args = message['params']['arguments']
    op = args['op']
    asked[op] = asked.get(op, 0) + 1
    if op == 'echo':
        answer(message, text(args['text']))
    elif op == 'job':
        late = asked[op] < 3
        answer(message, text('pending' if late else 'done', late))
    elif op == 'progress':
        answer(message, text('at %d' % asked[op]))
    else:
        answer(message, text('pending'))
serve(call)
",
    )
}

fn plan(steps: &str) -> String {
    format!(
        "version: 1
vars: {{ mode: quick, mark: \"${{env:MARK}}\" }}
defaults: {{ server: s, tags: [all], timeout: 5s }}
servers:
  s: {}
  never: {{ command: /nowhere/server }}
steps:
{steps}",
        server()
    )
}

fn marked(project: &Project, args: &[&str]) -> Run {
    Run::of(project, project.call(args).env("MARK", "1").output())
}

const GREEN: &str = "
  - id: echo
    name: says it again
    tool: work
    cases:
      - { name: short, said: a, wanted: { equals: a } }
      - { said: '${mode} and ${workspace}', wanted: { starts_with: quick and / } }
    args: { op: echo, text: '${said}' }
    expect: { text: '${wanted}' }
  - id: full
    tool: work
    if: { vars: { mode: full } }
    args: { op: echo, text: f }
  - id: after-full
    needs: [full]
    server: never
    tool: work
  - id: nowhere
    server: never
    if: { platform: [linux, macos], vars: { mark: 2 } }
    tool: work
  - id: here
    if: { platform: [linux, macos], vars: { mark: 1 } }
    needs: [echo]
    tool: work
    args: { op: echo, text: h }
  - id: job
    tool: work
    args: { op: job }
    until: { expect: { text: { equals: done } }, every: 20ms, for: 10s }
    capture: { word: '$.content[0].text' }
  - id: captured
    tool: work
    args: { op: echo, text: '${word}' }
    expect: { text: { equals: done } }
";

#[test]
fn cases_conditions_and_what_is_waited_for_are_green_and_told() {
    let project = Project::with(&plan(GREEN));
    let run = marked(&project, &[]);
    run.ends(0, "passed");
    let last = run.last();
    for id in ["echo[short]", "echo[1]", "here", "job", "captured"] {
        assert_eq!(last.state(id), "passed", "{id}");
    }
    assert_eq!(last.step("echo[short]")["name"], "says it again [short]");
    for id in ["full", "after-full", "nowhere"] {
        assert_eq!(last.state(id), "skipped", "{id}");
        assert_eq!(last.step(id)["because"], "if", "{id}");
    }
    assert_eq!(last.server("never")["state"], "not_started");
    assert_eq!(last.total("skipped"), 3);

    for (filter, passed) in [("echo", 2), ("step:echo[1]", 1), ("all", 5)] {
        let run = marked(&project, &["--only", filter]);
        run.ends(0, "passed");
        assert_eq!(run.last().total("passed"), passed, "{filter}");
    }
}

#[test]
fn a_plan_of_which_if_leaves_nothing_is_not_green() {
    let left_out = "  - { id: full, tool: work, if: { vars: { mode: full } } }\n";
    let run = run(&plan(left_out));
    run.ends(3, "needs_user_help");
    assert!(run.help().contains("No step ran"), "{}", run.help());
    // The same call would leave it out again.
    assert!(run.help().contains("--var NAME=VALUE"), "{}", run.help());
    assert!(!run.help().contains("$ jelly run"), "{}", run.help());
}

#[test]
fn a_variable_that_an_if_can_not_ask_for_is_a_failure_of_the_step() {
    let run = run(&plan(
        "  - { id: a, tool: work, if: { vars: { mark: 1 } }, args: { op: echo, text: a } }\n",
    ));
    run.ends(3, "needs_user_help");
    assert_eq!(run.last().state("a"), "quarantined");
    let message = run.last().failure("a")["message"].to_string();
    assert!(message.contains("MARK is not set"), "{message}");
}

#[test]
fn what_never_comes_is_a_mismatch_or_a_timeout_by_whether_the_answer_changes() {
    let steps = "
  - id: stuck
    tool: work
    args: { op: stuck }
    until: { expect: { text: { equals: done } }, every: 20ms, for: 200ms }
  - { id: behind, needs: [stuck], tool: work, args: { op: echo, text: b } }
  - id: progress
    tool: work
    args: { op: progress }
    until: { expect: { text: { equals: done } }, every: 20ms, for: 200ms }
";
    let run = Project::with(&plan(steps)).run(&["--no-repair", "--retries", "0"]);
    run.ends(1, "code_failure");
    let last = run.last();
    let stuck = last.failure("stuck");
    assert_eq!(stuck["diagnosis"]["side"], "code", "{stuck:#}");
    assert_eq!(stuck["assertion"]["actual"], "pending", "{stuck:#}");
    assert_eq!(last.step("behind")["because"], json!({ "step": "stuck" }));
    let progress = last.failure("progress");
    assert_eq!(progress["diagnosis"]["side"], "test", "{progress:#}");
    assert_eq!(progress["diagnosis"]["error_category"], "TIMEOUT");
    let message = progress["message"].as_str().unwrap();
    assert!(message.contains("still changing"), "{message}");
    assert_eq!(
        progress["diagnosis"]["rule"], "timeout/until",
        "{progress:#}"
    );
}

/// A tool that asks the client at each call is answered at each.
#[test]
fn what_is_asked_while_an_answer_is_waited_for_is_answered_each_time() {
    let source = r#"import json, sys
count = 0
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "asks", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "vote", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        print(json.dumps({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {"message": "yes?", "requestedSchema": {"type": "object", "properties": {}}}}), flush=True)
        answer = json.loads(sys.stdin.readline())
        count += 1 if answer.get("result", {}).get("action") == "accept" else 0
        result = {"content": [{"type": "text", "text": f"{count} said yes"}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;
    let project = Project::empty();
    project.write("asks.py", source);
    project.write(
        "plan.yaml",
        "version: 1\nservers: { s: { command: python3, args: [asks.py], era: legacy } }\nsteps:\n  - id: vote\n    tool: vote\n    answers: [{ method: elicitation/create, result: { action: accept, content: {} } }]\n    until: { expect: { text: { equals: 3 said yes } }, every: 10ms, for: 20s }\n",
    );
    let ended = project.jelly(&["run", "plan.yaml"]).output();
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
}

/// The repair of a time limit raises the one that ran out.
#[test]
fn what_still_changed_is_given_more_time() {
    let steps = "
  - id: progress
    tool: work
    args: { op: progress }
    until: { expect: { text: { equals: at 6 } }, every: 400ms, for: 2s }
";
    let run = Project::with(&plan(steps)).run(&["--retries", "0", "--accept-repairs"]);
    run.ends(0, "passed_after_repair");
    let repair = &run.iteration(1).0["action"]["repairs"][0];
    let diff = repair["diff"].as_str().unwrap();
    assert!(diff.contains("for: 4s"), "{diff}");
}

/// What a step lacks is said by the step; under the flag, it is skipped, and a
/// run of nothing but that says so.
#[test]
fn what_a_step_requires_is_there_or_the_step_is_not_run() {
    let steps = "
  - { id: always, tool: work, args: { op: echo, text: a } }
  - { id: keyed, requires: ['secret:NO_SUCH_KEY'], tool: work, args: { op: echo, text: '${secret:NO_SUCH_KEY}' } }
  - { id: after, needs: [keyed], tool: work, args: { op: echo, text: b } }
  - { id: contained, requires: ['command:no-such-command', 'command:python3'], tool: work, args: { op: echo, text: c } }
";
    let project = Project::with(&plan(steps));
    let run = project.run(&[]);
    run.ends(3, "needs_user_help");
    let last = run.last();
    assert_eq!(last.state("keyed"), "quarantined");
    assert_eq!(
        last.failure("contained")["diagnosis"]["root_cause"],
        "command_not_found"
    );

    let run = project.run(&["--skip-missing"]);
    run.ends(0, "passed");
    let last = run.last();
    assert_eq!(
        last.step("keyed")["because"],
        json!({ "requires": "secret:NO_SUCH_KEY" })
    );
    assert_eq!(
        last.step("after")["because"],
        json!({ "requires": "secret:NO_SUCH_KEY" })
    );
    assert_eq!(
        last.step("contained")["because"],
        json!({ "requires": "command:no-such-command" })
    );
    assert!(
        run.ended
            .stdout
            .contains("2 steps skipped, since secret:NO_SUCH_KEY"),
        "{}",
        run.ended.stdout
    );

    let run = project.run(&["--skip-missing", "--only", "contained"]);
    run.ends(0, "skipped");
    assert_eq!(run.last().server("s")["state"], "not_started");
    let run = project.run(&["--only", "contained"]);
    run.ends(3, "needs_user_help");
}

#[test]
fn a_plan_from_stdin_is_offered_no_command_that_needs_its_file() {
    let project = Project::empty();
    let plan = |tool: &str, more: &str| {
        format!(
            "version: 1\nservers: {{ s: {{ command: jelly, args: [mock] }} }}\nsteps:\n  - {{ id: a, \
             tool: {tool}, args: {{ message: hi, api_token: hush-1234567890 }}{more} }}\n"
        )
    };
    // A masked copy is no plan to run: only who has the plan can name it.
    let wrong = plan("echo", ", expect: { text: { equals: other } }");
    let ran = project.jelly(&["run", "-"]).stdin(wrong).output();
    let mut lines = ran.stdout.lines().map(str::trim);
    let next = lines.find(|line| line.contains("jelly run - "));
    let next = next.unwrap_or_else(|| panic!("{}", ran.stdout));
    assert!(next.ends_with(" < '<file that holds the plan>'"), "{next}");

    let ran = project
        .jelly(&["run", "-"])
        .stdin(plan("ehco", ""))
        .output();
    assert_eq!(ran.code, Some(4), "{}\n{}", ran.stdout, ran.stderr);
    let said = "the plan came from stdin";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
    assert!(
        !ran.stdout.contains("jelly apply reports"),
        "{}",
        ran.stdout
    );
    for file in ["test_results.md", "junit.xml"] {
        let text = project.read(&format!("reports/latest/{file}"));
        assert!(!text.contains("jelly apply reports"), "{file}: {text}");
    }
    let applied = project.jelly(&["apply"]).output();
    assert_eq!(applied.code, Some(2), "{}", applied.stderr);
    assert!(
        applied.stderr.contains("came from stdin"),
        "{}",
        applied.stderr
    );
}

#[test]
fn a_folder_stands_for_its_plans_and_a_dash_for_stdin() {
    let project = Project::empty();
    let steps = "  - { id: a, tool: work, args: { op: echo, text: a }, tags: [x] }\n";
    project.write("suite/one.yaml", plan(steps));
    project.write(
        "suite/deep/two.yaml",
        plan(&steps.replace("id: a", "id: b")),
    );
    project.write("suite/package.json", r#"{"version": "1.0.0"}"#);
    let listed = project.jelly(&["run", "--list", "suite"]).output();
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert_eq!(
        listed.stdout,
        "suite/deep/two.yaml: two (1 step)\n  b  s  tool work  [x]\nsuite/one.yaml: one (1 step)\n  a  s  tool work  [x]\n"
    );
    assert!(!project.exists("reports"));
    let ran = project.jelly(&["run", "suite", "--only", "a"]).output();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let none = project
        .jelly(&["run", "--list", "suite", "--only", "c"])
        .output();
    assert_eq!(none.code, Some(2), "{}", none.stderr);
    project.write("empty/a.json", "{}");
    let none = project.jelly(&["run", "empty"]).output();
    assert_eq!(none.code, Some(2), "{}", none.stderr);
    assert!(
        none.stderr.contains("there is no plan below empty"),
        "{}",
        none.stderr
    );

    let ran = project.jelly(&["run", "-"]).stdin(plan(steps)).output();
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);

    // What is printed as the next command finds its plan.
    let wrong = plan("  - { id: a, tool: work, expect: { text: { equals: other } } }\n");
    let ran = project.jelly(&["run", "-"]).stdin(wrong).output();
    let mut lines = ran.stdout.lines().map(str::trim);
    let next = lines.find(|line| line.contains("jelly run - "));
    let next = next.unwrap_or_else(|| panic!("{}", ran.stdout));
    let (call, file) = next.split_once(" < ").unwrap();
    let words: Vec<&str> = call.split(' ').skip_while(|word| *word != "run").collect();
    assert!(words.contains(&"--only"), "{next}");
    let again = project.jelly(&words).stdin(project.read(file)).output();
    assert_eq!(again.code, ran.code, "{}\n{}", again.stdout, again.stderr);
    let hooked = plan(steps).replace("version: 1", "version: 1\nhooks: { fix_tests: [./x] }");
    let refused = project.jelly(&["run", "-"]).stdin(hooked).output();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("a plan from stdin"),
        "{}",
        refused.stderr
    );
    let held = plan("  - { id: a, tool: work, expect: { text: { snapshot: words } } }\n");
    let refused = project.jelly(&["run", "-"]).stdin(held).output();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("it expects the snapshot `words`"),
        "{}",
        refused.stderr
    );

    // What is no plan is passed over and named; what is one with a slip in it is told.
    project.write("suite/package.json", "{\"version\": \"1.0.0\"}");
    let told = project.jelly(&["check", "suite"]).output();
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    let note = "note: 1 file is no plan and is passed over: suite/package.json";
    assert!(told.stderr.contains(note), "{}", told.stderr);
    project.write("suite/late.yaml", plan(steps).replace("version", "verson"));
    let told = project.jelly(&["check", "suite"]).output();
    assert_eq!(told.code, Some(2), "{}", told.stderr);
    assert!(told.stderr.contains("verson"), "{}", told.stderr);
}

/// A repair of a step with cases is made once, for all of them.
#[test]
fn a_repair_of_all_cases_is_no_failure_of_the_second_one() {
    let run = run(&plan(
        "  - { id: a, tool: wrok, cases: [{ t: x }, { t: y }], args: { op: echo, text: \"${t}\" } }\n",
    ));
    run.ends(4, "passed_after_repair");
    let told = format!("{}{}", run.stdout, run.stderr);
    assert!(!told.contains("passed over"), "{told}");
}
