//! `jelly call`: one call of one tool.

use crate::support::Project;
use serde_json::Value;

const SCRIPT: &str = r#"
name: desk
tools:
  - name: greet
    description: Greets
    inputSchema:
      type: object
      properties: { name: { type: string }, times: { type: integer, minimum: 1 } }
      required: [name]
    response: { text: "Hello ${args.name}" }
  - name: count
    description: Counts
    inputSchema: { type: object, properties: {} }
    outputSchema: { type: object, properties: { n: { type: integer } }, required: [n] }
    response: { structured: { n: 5 } }
  - name: echo
    description: Echoes
    inputSchema: { type: object, properties: { password: { type: string } } }
    response: { text: "It is ${args.password}" }
  - name: broken
    description: Breaks its own contract
    inputSchema: { type: object, properties: {} }
    outputSchema: { type: object, properties: { n: { type: integer } }, required: [n] }
    response: { structured: { n: five } }
"#;

fn project() -> Project {
    let project = Project::empty();
    project.write("desk.yaml", SCRIPT);
    project
}

fn call(project: &Project, args: &[&str], server: &[&str]) -> crate::support::Ended {
    let mut all = vec!["call"];
    all.extend(args);
    all.extend(["--", "jelly", "mock", "--script", "desk.yaml"]);
    all.extend(server);
    project.jelly(&all).output()
}

#[test]
fn an_answer_is_printed_and_each_end_has_its_exit_code() {
    let project = project();
    let ended = call(&project, &["greet", "name=5", "times=2"], &[]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "Hello 5\n"),
        "{}",
        ended.stderr
    );
    let json = call(&project, &["greet", "name=5", "--format", "json"], &[]);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(report["arguments"]["name"], "5", "{report}");
    assert_eq!(
        report["result"]["content"][0]["text"], "Hello 5",
        "{report}"
    );
    for (args, server, code, says) in [
        (&["gret", "name=x"][..], &[][..], 2, "did you mean `greet`?"),
        (&["greet"], &[], 2, "requires: name (string)"),
        (
            &["greet", "name=x", "times=none"],
            &[],
            2,
            "integer is expected",
        ),
        (&["greet", "name=x", "times=0"], &[], 2, "does not fit"),
        (&["greet", "nam=x"], &[], 2, "did you mean `name`?"),
        (
            &["greet", "name=x"],
            &["--fault", "error@call=-32000:no"],
            3,
            "-32000",
        ),
        (
            &["greet", "name=x"],
            &["--fault", "set@call=/result/isError true"],
            3,
            "answered with an error",
        ),
        (
            &["greet", "name=x"],
            &["--fault", "exit@call=3"],
            1,
            "exited with code 3",
        ),
        (&["broken"], &[], 1, "breaks the tool's own output schema"),
        (
            &["greet", "name=x"],
            &["--fault", "exit@handshake=3"],
            3,
            "could not be started",
        ),
        (
            &["greet", "name=x", "--call-timeout", "1s"],
            &["--fault", "hang@call"],
            3,
            "was not answered within",
        ),
    ] {
        let ended = call(&project, args, server);
        assert_eq!(
            ended.code,
            Some(code),
            "{args:?} {server:?}: {}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains(says),
            "{args:?} {server:?}: {}",
            ended.stderr
        );
    }
}

#[test]
fn a_call_that_is_late_is_advised_as_a_call() {
    let project = project();
    let args = ["greet", "name=x", "--call-timeout", "1s"];
    let ended = call(&project, &args, &["--fault", "hang@call"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    for said in ["with `--call-timeout`", "See what it waits for"] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    for of_a_plan in ["the step", "total_timeout"] {
        assert!(!ended.stderr.contains(of_a_plan), "{}", ended.stderr);
    }
}

#[test]
fn a_server_that_does_not_start_has_its_label_as_json_too() {
    let project = project();
    let args = ["greet", "name=x", "--format", "json"];
    for fault in ["exit@handshake=3", "exit"] {
        let ended = call(&project, &args, &["--fault", fault]);
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
        let told: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(told["exit_code"], 3, "{told:#}");
        assert_eq!(told["tool"], "greet", "{told:#}");
        let diagnosis = &told["diagnosis"];
        assert_eq!(diagnosis["side"], "test", "{told:#}");
        let cause = diagnosis["root_cause"].as_str().unwrap();
        let said = format!("could not be started ({cause})");
        assert!(ended.stderr.contains(&said), "{}", ended.stderr);
    }
    let typed = ["call", "greet", "--format", "json", "--", "no-such-command"];
    let ended = project.jelly(&typed).output();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let told: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(told["diagnosis"]["root_cause"], "command_not_found");
}

#[test]
fn a_call_as_a_step_passes_in_a_plan() {
    let project = project();
    let mut steps = String::new();
    for (args, server) in [
        (&["greet", "name=a ${b}", "--as-step"][..], &[][..]),
        (&["count", "--as-step"], &[]),
        (
            &["greet", "name=x", "--as-step"],
            &["--fault", "error@call=-32000:no"],
        ),
    ] {
        let ended = call(&project, args, server);
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
        if server.is_empty() {
            steps.push_str(&ended.stdout);
        } else {
            assert!(ended.stdout.contains("code: -32000"), "{}", ended.stdout);
        }
    }
    let plan = format!(
        "version: 1\nservers:\n  desk: {{ command: jelly, args: [mock, --script, desk.yaml] }}\n\
         steps:\n{steps}"
    );
    project.write("plan.yaml", &plan);
    let run = project.jelly(&["run", "plan.yaml"]).output();
    assert_eq!(run.code, Some(0), "{plan}\n{}{}", run.stdout, run.stderr);
    assert!(plan.contains("equals: \"Hello a"), "{plan}");
    let died = call(
        &project,
        &["greet", "name=x", "--as-step"],
        &["--fault", "exit@call=3"],
    );
    assert_eq!(died.code, Some(1), "{}", died.stderr);
    assert!(
        died.stdout.is_empty() && died.stderr.contains("no answer"),
        "{}",
        died.stderr
    );
}

#[test]
fn no_secret_that_was_typed_is_printed() {
    const SECRET: &str = "hunter2secret99";
    let project = project();
    let password = format!("password={SECRET}");
    let of_env = format!("API_KEY={SECRET}");
    let header = format!("Authorization: Bearer {SECRET}");
    let unreached = "http://127.0.0.1:1/mcp";
    for args in [
        &["call", "greet", &password, "--url", unreached][..],
        &["call", "greet", "--header", &header, "--url", unreached],
        &[
            "call",
            "greet",
            "-e",
            &of_env,
            "--",
            "nosuchcommand",
            SECRET,
        ],
        &[
            "tools",
            "lint",
            "-e",
            &of_env,
            "--",
            "nosuchcommand",
            SECRET,
        ],
        &["list", "-e", &of_env, "--", "nosuchcommand", SECRET],
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(3), "{args:?}: {}", ended.stderr);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!said.contains(SECRET), "{args:?}: {said}");
    }
    project.write("password.txt", SECRET);
    for format in [&["--format", "json"][..], &["--as-step"]] {
        let ended = call(
            &project,
            &[&["echo", "password=@password.txt"][..], format].concat(),
            &[],
        );
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!said.contains(SECRET), "{said}");
    }
}
