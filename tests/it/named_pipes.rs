//! A named pipe whose other end nobody opens, in the place of a file.

use crate::support::Project;

const PLAN: &str = "version: 1
servers: { s: { command: jelly, args: [mock] } }
steps:
  - { id: a, tool: echo, args: { message: hi } }
";

#[test]
fn nothing_waits_for_the_other_end_of_a_named_pipe() {
    let project = Project::with(PLAN);
    project.write(
        "report.xml",
        "<testsuite name='a'><testcase name='b'/></testsuite>",
    );
    let mut mkfifo = std::process::Command::new("mkfifo");
    let made = mkfifo.arg(project.path("fifo")).status();
    assert!(made.unwrap().success());
    for (args, code) in [
        (&["check", "fifo"][..], 2),
        (&["replay", "fifo"], 2),
        (&["run", "plan.yaml", "--rules", "fifo"], 2),
        (&["run", "plan.yaml", "--known", "fifo"], 2),
        (&["run", "plan.yaml", "--report", "html=fifo"], 3),
        (
            &[
                "run",
                "plan.yaml",
                "--shard",
                "1/2",
                "--shard-times",
                "fifo",
            ],
            2,
        ),
        (&["list", "--plan", "fifo"], 2),
        (&["init", "--from-recording", "fifo"], 2),
        (&["triage", "fifo"], 2),
        (&["triage", "report.xml", "-o", "fifo"], 3),
        (&["triage", "report.xml", "--baseline", "fifo"], 2),
        (&["proxy", "--record-to", "fifo", "--", "jelly", "mock"], 2),
        (&["mock", "--script", "fifo"], 2),
        (&["doctor", "fifo"], 2),
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(code), "{args:?}: {}", ended.stderr);
        let said = ended.stdout + &ended.stderr;
        assert!(said.contains("named pipe"), "{args:?}: {said}");
    }
    let on_github = project.call(&[]).env("GITHUB_ACTIONS", "true");
    let ended = on_github.env("GITHUB_STEP_SUMMARY", "fifo").output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("the job summary was not written"),
        "{}",
        ended.stderr
    );
    // What a shell hands over has somebody at its other end.
    let shell = project.wrapped("sh", &["-c", "cat plan.yaml | \"$0\" \"$@\""]);
    let ended = shell.args(&["check", "/dev/stdin"]).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}
