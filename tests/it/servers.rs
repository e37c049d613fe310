//! Servers as they are: old ones, silent ones, loud ones, and none at all.

use crate::support::{Project, Run, fixtures, python, real};
use std::time::Duration;

fn run(plan: &str) -> Run {
    Project::with(plan).run(&[])
}

#[test]
fn a_server_on_mcp_1_0_0_which_dies_of_the_modern_probe_is_healthy() {
    let plan = format!(
        "
version: 1
servers:
  old: {{ command: {}, args: [{}], startup_timeout: 60s }}
steps:
  - {{ id: tools, list: tools, expect: {{ json: [{{ path: \"$.tools[0].name\", equals: echo }}] }} }}
  - {{ id: echo, tool: echo, args: {{ message: hello }}, expect: {{ text: {{ equals: hello }} }} }}
",
        serde_json::json!(real("pypi/.venv/mcp-1.0.0/bin/python")),
        serde_json::json!(real("pypi/echo_server.py")),
    );
    let run = run(&plan);
    run.ends(0, "passed");
    let last = run.last();
    assert_eq!(
        run.iterations().len(),
        1,
        "the probed process is no failure"
    );
    assert!(last.failures().is_empty());
    let server = last.server("old");
    assert_eq!(server["era"], "legacy");
    assert_eq!(server["restarts"], 0);
    assert_eq!(last.total("passed"), 2);
}

#[test]
fn a_mock_of_such_a_server_is_healthy_too() {
    for script in ["dies-of-probe.yaml", "ignores-unknown.yaml"] {
        let path = fixtures().join("mock").join(script);
        let run = run(&format!(
            "
version: 1
servers: {{ s: {{ command: jelly, args: [mock, --script, {}] }} }}
steps: [{{ id: add, tool: add, args: {{ a: 1, b: 2 }}, expect: {{ structured: {{ equals: {{ sum: 3 }} }} }} }}]
",
            serde_json::json!(path)
        ));
        run.ends(0, "passed");
        assert_eq!(run.last().server("s")["era"], "legacy", "{script}");
    }
}

#[test]
fn a_server_that_ignores_unknown_methods_is_healthy() {
    // It reads on, and answers what it knows only.
    let server = python(
        "
def refuse(*_):
    pass
serve(lambda call: answer(call, text('done')))
",
    );
    let run = run(&format!(
        "
version: 1
servers: {{ s: {server} }}
steps: [{{ id: work, tool: work, expect: {{ text: {{ equals: done }} }} }}]
"
    ));
    run.ends(0, "passed");
    assert_eq!(run.last().server("s")["era"], "legacy");
    assert!(run.elapsed < Duration::from_secs(15), "{:?}", run.elapsed);
}

#[test]
fn of_two_servers_one_dead_the_other_runs_all_its_steps() {
    let run = run("
version: 1
servers:
  dead: { command: jelly, args: [mock, --fault, 'stderr=Error: no licence', --fault, exit@spawn=3] }
  live: { command: jelly, args: [mock] }
steps:
  - { id: one, server: live, tool: add, args: { a: 1, b: 1 }, expect: { text: { equals: \"2\" } } }
  - { id: two, server: dead, tool: add, args: { a: 1, b: 1 } }
  - { id: three, server: live, tool: echo, args: { message: hi }, expect: { text: { equals: hi } } }
  - { id: four, server: dead, tool: add, args: { a: 1, b: 1 } }
  - { id: five, server: dead, tool: add, args: { a: 1, b: 1 } }
  - { id: six, server: live, tool: add, args: { a: 3, b: 3 }, expect: { text: { equals: \"6\" } } }
  - { id: seven, server: live, tool: echo, args: { message: ho }, expect: { text: { equals: ho } } }
");
    run.ends(3, "needs_user_help");
    for iteration in run.iterations() {
        let count = |state| iteration.total(state);
        assert_eq!(
            (count("total"), count("passed"), count("blocked")),
            (7, 4, 3)
        );
        assert_eq!(
            (count("failed"), count("quarantined"), count("skipped")),
            (0, 0, 0)
        );
        // One infrastructure record, not three failed tests.
        assert_eq!(iteration.failures().len(), 1);
        let failure = iteration.failure("dead");
        assert_eq!(failure["phase"], "handshake");
        assert_eq!(failure["diagnosis"]["side"], "test");
        assert_eq!(failure["exit"]["code"], 3);
    }
    assert_eq!(run.junit.matches("<error").count(), 1, "{}", run.junit);
    assert!(run.help().contains("no licence"));
}

#[test]
fn a_server_that_no_selected_step_uses_is_not_started() {
    let project = Project::with(
        "
version: 1
servers:
  unused: { command: no-such-command-here }
  live: { command: jelly, args: [mock] }
steps:
  - { id: one, server: live, tool: add, args: { a: 1, b: 1 } }
  - { id: two, server: unused, tool: add }
",
    );
    let run = project.run(&["--only", "one"]);
    run.ends(0, "passed");
    assert_eq!(run.last().server("unused")["state"], "not_started");
    assert_eq!(run.last().state("two"), "skipped");
}

#[test]
fn an_empty_plan_is_invalid_input() {
    for steps in ["steps: []", ""] {
        let project = Project::with(&format!(
            "version: 1\nservers: {{ s: {{ command: jelly, args: [mock] }} }}\n{steps}\n"
        ));
        let ended = project.call(&[]).output();
        assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains("step"), "{}", ended.stderr);
    }
    let ended = Project::with("").call(&[]).output();
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn a_selection_of_nothing_is_invalid_input() {
    let project = Project::with(
        "
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps: [{ id: one, tool: add, args: { a: 1, b: 1 } }]
",
    );
    for filter in [["--skip", "one"], ["--skip", "s"], ["--only", "other"]] {
        let ended = project.call(&filter).output();
        assert_eq!(
            ended.code,
            Some(2),
            "{filter:?} {}{}",
            ended.stdout,
            ended.stderr
        );
    }
    let json = project
        .call(&["--skip", "one", "--format", "json"])
        .output();
    let report: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(report["verdict"], "invalid_input");
    assert_eq!(report["exit_code"], 2);
}

#[test]
fn a_plan_of_quarantined_steps_only_asks_for_help() {
    let run = run("
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps:
  - { id: one, tool: teleport }
  - { id: two, tool: levitate }
");
    run.ends(3, "needs_user_help");
    assert_eq!(run.last().total("quarantined"), 2, "{}", run.stdout);
    assert_eq!(run.last().total("passed"), 0);
}

/// The most memory that a child of this test process ever held is no measure
/// of one call, so the program reports on itself.
fn peak_kib(project: &Project, plan: &str) -> (Run, u64) {
    project.write("plan.yaml", plan);
    // GNU time is not everywhere; Python's own wait4 is.
    let program = "
import os, subprocess, sys
code = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(code.pid, 0)
open('peak', 'w').write(str(usage.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status))
";
    let ended = project
        .wrapped("python3", &["-c", program])
        .args(&["run", "plan.yaml", "--seed", "1"])
        .output();
    let peak = project.read("peak").trim().parse().unwrap();
    (Run::of(project, ended), peak)
}

#[test]
fn a_megabyte_of_stderr_before_the_handshake_is_read_and_bounded() {
    let project = Project::empty();
    let (run, peak) = peak_kib(
        &project,
        "
version: 1
servers: { s: { command: jelly, args: [mock, --fault, stderr_flood@spawn=1M] } }
steps: [{ id: add, tool: add, args: { a: 1, b: 2 }, expect: { text: { equals: \"3\" } } }]
",
    );
    run.ends(0, "passed");
    let tail = run.last().server("s")["stderr_tail"].as_str().unwrap();
    assert!(tail.len() < 64 * 1024, "{} bytes in the report", tail.len());
    assert!(peak < 60 * 1024, "{peak} KiB");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn twenty_megabytes_of_stderr_cost_no_more_than_one() {
    let project = Project::empty();
    let (run, peak) = peak_kib(
        &project,
        "
version: 1
servers: { s: { command: jelly, args: [mock, --fault, stderr_flood@spawn=20M] } }
steps: [{ id: add, tool: add, args: { a: 1, b: 2 } }]
",
    );
    run.ends(0, "passed");
    assert!(peak < 60 * 1024, "{peak} KiB");
}

#[test]
fn a_result_line_of_20_megabytes_is_one_result() {
    let project = Project::empty();
    let (run, peak) = peak_kib(
        &project,
        "
version: 1
servers: { s: { command: jelly, args: [mock, --fault, 'huge@tool:echo=20M'] } }
steps:
  - { id: huge, tool: echo, args: { message: hi }, expect: { text: { length: 20971520 } } }
  - { id: add, tool: add, args: { a: 1, b: 2 }, expect: { text: { equals: \"3\" } } }
",
    );
    run.ends(0, "passed");
    assert_eq!(run.last().total("passed"), 2);
    // A handful of copies of the line, and no more.
    assert!(peak < 300 * 1024, "{peak} KiB");
    assert!(run.results.to_string().len() < 100_000);
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_wrong_result_of_20_megabytes_is_shown_in_small() {
    let project = Project::with(
        "
version: 1
servers: { s: { command: jelly, args: [mock, --fault, 'huge@tool:echo=20M'] } }
steps: [{ id: huge, tool: echo, args: { message: hi }, expect: { text: { equals: hi } } }]
",
    );
    let run = project.run(&[]);
    run.ends(1, "code_failure");
    for report in [
        &run.stdout,
        &run.markdown,
        &run.junit,
        &run.results.to_string(),
    ] {
        assert!(report.len() < 1_000_000, "{} bytes", report.len());
    }
}

#[test]
fn ten_thousand_messages_in_one_chunk_are_all_read() {
    let project = Project::empty();
    let (run, peak) = peak_kib(
        &project,
        "
version: 1
servers: { s: { command: jelly, args: [mock, --fault, 'burst@tool:echo=10000'] } }
steps:
  - { id: burst, tool: echo, args: { message: hi }, expect: { text: { equals: hi } } }
  - { id: add, tool: add, args: { a: 1, b: 2 }, expect: { text: { equals: \"3\" } } }
",
    );
    run.ends(0, "passed");
    assert_eq!(run.last().server("s")["stdout_noise"], 0);
    assert!(peak < 60 * 1024, "{peak} KiB");
}

#[test]
fn bytes_that_come_one_by_one_are_messages_all_the_same() {
    for fault in [
        "drip@tool:echo",
        "split@any=1",
        "split@any=random",
        "crlf@any",
    ] {
        let run = run(&format!(
            "
version: 1
servers: {{ s: {{ command: jelly, args: [mock, --fault, '{fault}'] }} }}
steps: [{{ id: echo, tool: echo, args: {{ message: \"grüße, 世界 👋\" }}, expect: {{ text: {{ equals: \"grüße, 世界 👋\" }} }} }}]
"
        ));
        run.ends(0, "passed");
    }
}
