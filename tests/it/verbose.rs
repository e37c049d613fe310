//! `jelly run -v`: what happens while it happens, on stderr.

use crate::support::{Project, python};
use serde_json::Value;

#[test]
fn starts_requests_and_answers_are_told_on_stderr_and_stdout_stays_as_it_is() {
    let server = python(
        r#"
def call(message):
    if message["params"]["arguments"].get("bad"):
        refuse(message, -32602, "no \x1b[31m" + os.environ["API_KEY"])
    else:
        answer(message, text("hello " + os.environ["API_KEY"] + " \x1b[31mred"))
serve(call)
"#,
    );
    let server = server.replacen('{', "{ env: { API_KEY: '${secret:API_KEY}' },", 1);
    let project = Project::with(&format!(
        "version: 1
servers: {{ s: {server} }}
steps:
  - {{ id: good, tool: work, args: {{ doc: '${{file:note.txt}}', n: 1 }} }}
  - {{ id: bad, tool: work, args: {{ bad: true }}, expect: {{ error: {{ code: -32602 }} }} }}
"
    ));
    project.write("note.txt", "the content of the note");
    let call = |args: &[&str]| {
        let mut all = vec!["run", "plan.yaml", "--seed", "1"];
        all.extend(args);
        project
            .jelly(&all)
            .env("API_KEY", "hunter2hunter2")
            .output()
    };
    let plain = call(&["--format", "json"]);
    let told = call(&["--format", "json", "-v"]);
    assert_eq!(
        (plain.code, told.code),
        (Some(0), Some(0)),
        "{}",
        told.stderr
    );
    assert_eq!(plain.stderr, "");
    let document: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(document["verdict"], "passed");
    let lines: Vec<&str> = told.stderr.lines().collect();
    let mut rest = lines.iter();
    for says in [
        "run: iteration 1, 2 steps",
        "s: start python3 -u",
        "s: ready in ",
        "s/good: -> tools/call {\"name\":\"work\",\"arguments\":{\"doc\":\"${file:note.txt} (23 bytes)\",\"n\":1}}",
        "s/good: <- (",
        "s/good: passed",
        "s/bad: -> tools/call",
        "error -32602: no ",
        "s/bad: passed",
    ] {
        let found = rest.any(|line| line.contains(says));
        assert!(found, "{says} in its turn in\n{}", told.stderr);
    }
    assert!(!told.stderr.contains("hunter2"), "{}", told.stderr);
    assert!(!told.stderr.contains("the content"), "{}", told.stderr);
    assert!(!told.stderr.contains('\x1b'), "{}", told.stderr);
    assert!(
        told.stderr.contains("hello [secret API_KEY]"),
        "{}",
        told.stderr
    );
    // For people, too, stdout is as without.
    let human = call(&["-v"]);
    assert!(
        human.stdout.contains("PASS") && !human.stdout.contains("->"),
        "{}",
        human.stdout
    );
    assert!(human.stderr.contains("s/good: passed"), "{}", human.stderr);
    let both = call(&["-v", "--quiet"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    assert!(
        both.stderr.contains("cannot be used with"),
        "{}",
        both.stderr
    );
}
