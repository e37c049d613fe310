//! `startup`: how a server starts, as a step of its own.

use crate::support::{Project, run};
use serde_json::json;

/// A plan of the servers `good`, which logs once it was asked something, and
/// `wrong`, which exits as `argv` of the shell say.
fn plan(good: &str, wrong: (&str, &str)) -> String {
    let (does, refuses) = wrong;
    format!(
        "version: 1
vars: {{ code: 3 }}
servers:
  good:
    command: jelly
    args: [mock, --tool, a=b, --stderr, \"ready to serve\"]
    startup: {good}
  wrong:
    command: sh
    args: [-c, {does:?}]
    startup_timeout: 20s
    startup: {{ refuses: {refuses} }}
setup:
  - {{ id: up, server: good, tool: a }}
steps:
  - {{ id: after, server: good, tool: a, needs: [\"startup:good\"] }}
  - {{ id: other, server: good, tool: a }}
"
    )
}

const GOOD: &str = "{ stderr: { contains: serve }, tags: [start],
      server_info: [{ path: $.name, equals: jelly-mock }],
      capabilities: [{ path: $.tools, exists: true }] }";
const REFUSAL: (&str, &str) = (
    "echo no key >&2; exit 3",
    "{ exit: { equals: \"${code}\" }, stderr: { starts_with: no key } }",
);

#[test]
fn a_start_is_a_step_that_is_counted_selected_and_needed() {
    let project = Project::with(&plan(GOOD, REFUSAL));
    let run = project.run(&[]);
    run.ends(0, "passed");
    let last = run.last();
    assert_eq!(last.total("total"), 5);
    for id in ["startup:good", "startup:wrong", "after"] {
        assert_eq!(last.state(id), "passed", "{id}");
    }
    assert_eq!(last.server("wrong")["state"], "refused");
    assert_eq!(last.server("wrong")["exit"]["code"], 3);
    assert!(
        run.junit.contains("name=\"startup:wrong\""),
        "{}",
        run.junit
    );
    assert!(!run.junit.contains("(start "), "{}", run.junit);

    let listed = project.jelly(&["run", "plan.yaml", "--list"]).output();
    assert!(
        listed
            .stdout
            .contains("startup:wrong  wrong  startup refuses")
    );

    // What is logged after the first answer belongs to the start too.
    let late = "version: 1\nservers:\n  late:\n    command: sh\n    args: [-c, \"(sleep 0.2; echo \
                late >&2) & exec jelly-here mock\"]\n    startup: { stderr: { contains: late } }\n\
                steps: []\n";
    let late = late.replace("jelly-here", env!("CARGO_BIN_EXE_jelly"));
    crate::support::run(&late).ends(0, "passed");

    // A start that nobody asks about is not looked at, and takes nothing along.
    let run = project.run(&["--only", "other"]);
    run.ends(0, "passed");
    assert_eq!(run.last().server("wrong")["state"], "not_started");
    let because = &run.last().step("startup:good")["because"];
    assert_eq!(because, "not_selected");
    let run = project.run(&["--only", "start"]);
    run.ends(0, "passed");
    assert_eq!(run.last().total("passed"), 2);
    let run = project.run(&["--only", "after"]);
    assert_eq!(run.last().state("startup:good"), "passed");
    let run = project.run(&["--skip", "startup:good"]);
    assert_eq!(run.last().step("after")["because"], "not_selected");
}

#[test]
fn a_wrong_start_is_a_mismatch_that_takes_two_sightings() {
    let wrong_name = GOOD.replace("jelly-mock", "other");
    let run = run(&plan(&wrong_name, ("exit 4", "{ exit: 3 }")));
    run.ends(1, "code_failure");
    assert_eq!(run.iterations().len(), 2);
    let first = run.iterations()[0];
    for (id, target) in [("startup:good", "server_info"), ("startup:wrong", "exit")] {
        let failure = first.failure(id);
        assert_eq!(failure["phase"], "assert", "{failure:#}");
        assert_eq!(failure["diagnosis"]["side"], "test", "{failure:#}");
        let last = run.last().failure(id);
        assert_eq!(last["assertion"]["target"], target, "{last:#}");
        assert_eq!(last["diagnosis"]["side"], "code", "{last:#}");
        assert_eq!(last["diagnosis"]["root_cause"], "assertion_mismatch");
    }
    let last = run.last();
    assert_eq!(
        last.step("after")["because"],
        json!({ "step": "startup:good" })
    );
    // A wrong start is no reason to send nothing else.
    assert_eq!(last.state("other"), "passed");
}

#[test]
fn what_starts_all_the_same_does_not_refuse() {
    let starts = "exec \"$0\" mock";
    let text = plan(GOOD, (starts, "{}")).replace(
        &format!("{starts:?}]"),
        &format!("{starts:?}, {:?}]", env!("CARGO_BIN_EXE_jelly")),
    );
    let run = run(&text);
    run.ends(1, "code_failure");
    let failure = run.last().failure("startup:wrong");
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("it was ready after"), "{message}");
    assert_eq!(failure["assertion"]["target"], "start");
    assert_eq!(failure["diagnosis"]["side"], "code");
}

/// A limit of time proves nothing against the code: the machine may be slow.
#[test]
fn a_refusal_that_does_not_come_in_time_is_nobody_s() {
    let text = plan(GOOD, ("read line; sleep 600", "{}"))
        .replace("startup_timeout: 20s", "startup_timeout: 500ms");
    let run = run(&text);
    run.ends(3, "needs_user_help");
    let last = run.last();
    assert_eq!(last.state("startup:wrong"), "blocked");
    let failures = last.0["failures"].as_array().unwrap();
    let timed_out = failures
        .iter()
        .find(|failure| failure["diagnosis"]["root_cause"] == "startup_timeout");
    assert_eq!(timed_out.unwrap()["diagnosis"]["side"], "test");
}

/// What kept the server from starting at all, or from refusing for its own reason,
/// is nobody's wrong refusal.
#[test]
fn what_is_wrong_around_a_server_is_no_wrong_refusal() {
    for (does, cause, state) in [
        ("kill -KILL $$", None, "blocked"),
        (
            "echo \"Error: connect ECONNREFUSED 127.0.0.1:5432\" >&2; exit 1",
            Some("connection_refused"),
            "failed",
        ),
    ] {
        let project = Project::with(&plan(GOOD, (does, "{ exit: 3 }")));
        let run = project.run(&["--retries", "0"]);
        run.ends(3, "needs_user_help");
        assert_eq!(run.last().state("startup:wrong"), state);
        let failures = run.last().0["failures"].as_array().unwrap().clone();
        assert_eq!(failures[0]["server"], "wrong");
        let diagnosis = &failures[0]["diagnosis"];
        assert_eq!(diagnosis["side"], "test", "{diagnosis:#}");
        if let Some(cause) = cause {
            assert_eq!(diagnosis["root_cause"], cause, "{diagnosis:#}");
        }
    }
    let text = plan(GOOD, REFUSAL);
    let run = run(&text.replace("command: sh", "command: /nowhere/sh"));
    run.ends(3, "needs_user_help");
    assert_eq!(run.last().state("startup:wrong"), "blocked");
    let failure = &run.last().0["failures"][0];
    assert_eq!(failure["diagnosis"]["root_cause"], "command_not_found");
    assert_ne!(failure["phase"], "assert");
}

#[test]
fn what_startup_can_not_mean_is_said_with_its_line() {
    let project = Project::empty();
    let cases = [
        ("{}", "nothing is expected of the start", "startup: {"),
        (
            "{ exit: 2 }",
            "unknown key `exit`",
            "it belongs in `refuses`",
        ),
        (
            "{ refuses: { exit: 2 }, stderr: { contains: x } }",
            "has no `stderr` of a start",
            "put it into `refuses`",
        ),
        (
            "{ refuses: { exit: 1000 } }",
            "an exit code must be",
            "one_of: [1, 2]",
        ),
        (
            "{ refuses: { exit: { contains: 2 } } }",
            "`contains` does not apply to `exit`",
            "it is a number",
        ),
        (
            "{ refuses: {} }",
            "is expected to refuse to start, so no step can use it",
            "leave `startup.refuses` out",
        ),
        (
            "{ server_info: [{ path: $.name, equals: \"${late}\" }] }",
            "is not captured yet",
            "",
        ),
    ];
    for (startup, told, hint) in cases {
        project.write(
            "plan.yaml",
            format!(
                "version: 1\nservers:\n  s: {{ command: x, startup: {startup} }}\nsteps:\n  \
                 - {{ tool: t, capture: {{ late: $.content }} }}\n"
            ),
        );
        let checked = project.jelly(&["check", "plan.yaml"]).output();
        assert_eq!(checked.code, Some(2), "{startup}");
        let err = &checked.stderr;
        assert!(err.contains("plan.yaml:") && err.contains('^'), "{err}");
        assert!(err.contains(told) && err.contains(hint), "{startup}\n{err}");
    }
    let of_url = "version: 1\nservers: { s: { url: http://h/mcp, startup: { stderr: { contains: x } } } }\n\
                  setup: [{ tool: t, needs: [\"startup:s\"] }]\nsteps: [{ id: \"startup:s\", tool: t }]\n";
    project.write("plan.yaml", of_url);
    let err = project.jelly(&["check", "plan.yaml"]).output().stderr;
    for told in [
        "jelly does not start the server `s`",
        "is the id of what `startup` of the server `s` expects",
        "step `startup:s` comes after this one",
    ] {
        assert!(err.contains(told), "{err}");
    }
}
