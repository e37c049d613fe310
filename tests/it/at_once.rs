//! `at_once`: calls that go out together.

use crate::support::{Project, fixtures};

/// The server answers only the last of the calls that come at once, unless it is sound.
fn plan(flags: &str, step: &str) -> String {
    let server = fixtures().join("fuzz").join("planted.py");
    format!(
        "version: 1\nservers:\n  s: {{ command: python3, args: [{}{flags}], request_timeout: 1s \
         }}\nvars: {{ w: b }}\nsteps:\n  - {step}\n",
        serde_json::to_string(&server).unwrap()
    )
}

const PAIR: &str = "{ id: pair, tool: ping_me, args: { word: a }, at_once: [{ tool: ping_me, args: { word: \
                    \"${w}\" } }, { tool: names }], expect: { text: { equals: pong } } }";

#[test]
fn each_of_several_calls_at_once_must_be_answered() {
    let sound = Project::with(&plan(", --clean", PAIR));
    let run = sound.run(&["--coverage", "--record"]);
    run.ends(0, "passed");
    let covered = &run.results["coverage"]["items"];
    let names = covered.as_array().unwrap().iter();
    let names = names.filter(|item| item["covered"] == true);
    let names: Vec<&str> = names.filter_map(|item| item["item"].as_str()).collect();
    assert!(names.contains(&"tools/names"), "{names:?}");
    // They were all sent before the first was answered.
    let record = sound.read("reports/latest/wire.jsonl");
    let calls: Vec<&str> = record
        .lines()
        .filter(|line| line.contains("tools/call") || line.contains("pong"))
        .collect();
    assert!(
        calls[..3].iter().all(|line| line.contains("tools/call")),
        "{record}"
    );

    let unsound = Project::with(&plan("", PAIR));
    let run = unsound.run(&["--no-repair", "--retries", "0", "--no-confirm"]);
    let failure = run.last().failure("pair");
    assert_eq!(failure["phase"], "call", "{failure:#}");
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("within 1.0 s"), "{message}");
}

#[test]
fn what_at_once_can_not_mean_is_said_with_its_line() {
    let project = Project::empty();
    for (step, told) in [
        (
            "{ list: tools, at_once: [{ tool: names }] }",
            "`list` has no `at_once`",
        ),
        ("{ tool: names, at_once: [] }", "has 1 to 64 calls"),
        (
            "{ tool: names, at_once: [{ args: {} }] }",
            "a call needs a `tool`",
        ),
        (
            "{ tool: names, at_once: [{ tool: a, expect: {} }] }",
            "unknown key `expect`",
        ),
        ("{ tool: names, at_once: [{ tool: a, args: [] }] }", "args"),
        (
            "{ tool: names, at_once: [{ tool: a }], cancel_after: 1s }",
            "don't go together",
        ),
        (
            "{ tool: names, at_once: [{ tool: a, args: { x: \"${nobody}\" } }] }",
            "nobody",
        ),
    ] {
        project.write("plan.yaml", plan("", step));
        let checked = project.jelly(&["check", "plan.yaml"]).output();
        assert_eq!(checked.code, Some(2), "{step}");
        let err = &checked.stderr;
        assert!(err.contains(told) && err.contains('^'), "{step}\n{err}");
    }
}
