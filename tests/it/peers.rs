//! Where programs of this kind fail.

use crate::support::{Project, Run, fixtures, real, run};
use serde_json::json;
use std::time::Duration;

#[test]
fn a_misspelt_key_in_a_plan_is_an_error_and_never_a_pass() {
    let plan = "
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps:
  - id: add
    tool: add
    args: { a: 1, b: 2 }
    expcet: { structured: { equals: { sum: 3 } } }
";
    let project = Project::with(plan);
    let ended = project.call(&[]).output();
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("plan.yaml:8:5"), "{}", ended.stderr);
    assert!(ended.stderr.contains("`expect`"), "{}", ended.stderr);
}

#[test]
fn an_error_of_a_tool_fails_a_step_without_expectations() {
    let run = run("
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps: [{ id: fail, tool: fail, args: { message: no such order } }]
");
    assert_ne!(run.code, Some(0));
    assert_eq!(run.last().state("fail"), "failed");
    assert!(run.help().contains("no such order"), "{}", run.help());
}

#[test]
fn a_time_limit_that_is_set_is_the_one_that_holds() {
    // Of one step, of its server, and of its start: (plan, at least, root cause).
    let sleep = "tool: sleep, args: { ms: 60000 }";
    let cases = [
        (
            format!("servers: {{ s: {{ command: jelly, args: [mock] }} }}\nsteps: [{{ id: a, {sleep}, timeout: 700ms }}]"),
            700,
            "call_timeout",
        ),
        (
            format!("servers: {{ s: {{ command: jelly, args: [mock], request_timeout: 900ms }} }}\nsteps: [{{ id: a, {sleep} }}]"),
            900,
            "call_timeout",
        ),
        (
            format!("servers: {{ s: {{ command: jelly, args: [mock], request_timeout: 50s }} }}\nsteps: [{{ id: a, {sleep}, timeout: 600ms }}]"),
            600,
            "call_timeout",
        ),
        (
            "servers: { s: { command: jelly, args: [mock, --fault, hang@handshake], startup_timeout: 1700ms } }\nsteps: [{ id: a, tool: add }]".to_owned(),
            1700,
            "startup_timeout",
        ),
    ];
    for (plan, limit, root_cause) in cases {
        let project = Project::with(&format!(
            "version: 1\nbudgets: {{ retries: 0, mcp_repairs: 0 }}\n{plan}\n"
        ));
        let run = project.run(&[]);
        run.ends(3, "needs_user_help");
        let failure = run.last().failures()[0];
        assert_eq!(
            failure["diagnosis"]["root_cause"], root_cause,
            "{failure:#}"
        );
        let least = Duration::from_millis(limit);
        // Below ten seconds: no default of any limit is as short.
        assert!(
            run.elapsed >= least && run.elapsed < Duration::from_secs(10),
            "{limit} ms: {:?}",
            run.elapsed
        );
    }
}

#[test]
fn the_deadline_ends_a_run_and_the_report_is_written() {
    let project = Project::with(
        "
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps:
  - { id: one, tool: add, args: { a: 1, b: 2 } }
  - { id: two, tool: sleep, args: { ms: 25000 } }
  - { id: three, tool: add, args: { a: 1, b: 2 } }
",
    );
    let run = project.run(&["--deadline", "1500ms"]);
    run.ends(3, "needs_user_help");
    assert!(run.elapsed < Duration::from_secs(15), "{:?}", run.elapsed);
    assert_eq!(run.last().state("one"), "passed");
    assert_ne!(run.last().state("two"), "passed");
    assert_eq!(run.last().state("three"), "skipped");
}

#[test]
fn a_server_that_cant_start_costs_neither_the_others_results_nor_the_report() {
    let run = run("
version: 1
servers:
  gone: { command: no-such-command-here }
  mute: { command: jelly, args: [mock, --fault, mute], startup_timeout: 1500ms }
  live: { command: jelly, args: [mock] }
budgets: { retries: 0, mcp_repairs: 0 }
steps:
  - { id: gone, server: gone, tool: add }
  - { id: live, server: live, tool: add, args: { a: 1, b: 2 }, expect: { text: { equals: \"3\" } } }
  - { id: mute, server: mute, tool: add }
");
    run.ends(3, "needs_user_help");
    let last = run.last();
    assert_eq!(last.state("live"), "passed");
    assert_eq!((last.total("blocked"), last.total("failed")), (2, 0));
    assert_eq!(last.failures().len(), 2);
    assert!(run.markdown.contains("live") && run.junit.contains("(start gone)"));
}

#[test]
fn a_crash_never_fails_the_next_step() {
    let run = run("
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps:
  - { id: before, tool: add, args: { a: 1, b: 2 }, expect: { text: { equals: \"3\" } } }
  - { id: crash, tool: crash, args: { code: 9 } }
  - { id: after, tool: add, args: { a: 1, b: 2 }, expect: { text: { equals: \"3\" } } }
");
    run.ends(1, "code_failure");
    let last = run.last();
    assert_eq!(
        (last.state("before"), last.state("after")),
        ("passed", "passed")
    );
    assert_eq!(last.failures().len(), 1);
    assert_eq!(last.server("s")["restarts"], 1);
}

#[test]
fn a_retry_makes_the_calls_it_says() {
    for retries in [0, 1, 2] {
        let project = Project::with(
            "
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps: [{ id: fail, tool: fail, args: { message: \"connect ECONNREFUSED 127.0.0.1:5432\" } }]
",
        );
        let run = project.run(&["--record", "--retries", &retries.to_string()]);
        run.ends(3, "needs_user_help");
        let calls = project
            .read("reports/latest/wire.jsonl")
            .lines()
            .filter(|line| line.contains("tools/call"))
            .count();
        assert_eq!(calls, retries + 1);
        assert_eq!(run.last().step("fail")["attempts"], retries + 1);
        let retried = run.actions().iter().filter(|a| **a == "retry").count();
        assert_eq!(retried, retries);
    }
}

/// Whether a process with this in its command line is alive.
fn alive(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    })
}

#[test]
fn a_launcher_leaves_nothing_behind() {
    let project = Project::empty();
    // Unique to this test, and in the command line of all that it starts.
    let mark = project.at("state.json");
    let jelly = env!("CARGO_BIN_EXE_jelly");
    for shell in [
        format!("{jelly} mock --state {mark}; true"),
        format!("{jelly} mock --state {mark} --fault ignore_eof --fault ignore_sigterm; true"),
        format!(
            "sleep 600 {mark} 2>/dev/null & sh -c 'sleep 600; : {mark}' & {jelly} mock --state {mark}"
        ),
    ] {
        project.write(
            "plan.yaml",
            format!(
                "
version: 1
servers: {{ s: {{ command: sh, args: [\"-c\", {}], shutdown_timeout: 500ms }} }}
steps: [{{ id: add, tool: add, args: {{ a: 1, b: 2 }}, expect: {{ text: {{ equals: \"3\" }} }} }}]
",
                serde_json::json!(shell)
            ),
        );
        let run = project.run(&[]);
        assert_eq!(run.last().state("add"), "passed", "{}", run.stdout);
        assert!(!alive(&mark), "{shell}");
    }
}

#[test]
fn npx_leaves_nothing_behind() {
    let memory = real("npm/node_modules/@modelcontextprotocol/server-memory/dist/index.js");
    let project = Project::with(&format!(
        "
version: 1
servers:
  memory:
    command: npx
    args: [\"--no-install\", \"--prefix\", {}, mcp-server-memory]
    env: {{ MEMORY_FILE_PATH: \"${{tmp}}/graph.json\" }}
    cwd: {}
    startup_timeout: 60s
steps: [{{ id: read, tool: read_graph, expect: {{ structured: {{ type: object }} }} }}]
",
        json!(fixtures().join("npm")),
        json!(fixtures().join("npm")),
    ));
    drop(memory);
    let pids = || -> Vec<String> {
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter(|entry| {
                // Only this run's server has its file in this project's reach.
                let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
                String::from_utf8_lossy(&environ).contains(&project.at("marker"))
            })
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    };
    let call = project.call(&[]).env("MARKER", project.at("marker"));
    let run = Run::of(&project, call.output());
    run.ends(0, "passed");
    assert_eq!(pids(), Vec::<String>::new());
}

#[test]
fn a_crash_in_mid_call_is_reported_with_exit_status_signal_and_the_telling_line() {
    let cases = [
        ("panic@tool:add=rust", "101", "panicked at"),
        ("kill@tool:add=SIGSEGV", "SIGSEGV", "SIGSEGV"),
        ("kill@tool:add=SIGABRT", "SIGABRT", "SIGABRT"),
        ("exit@tool:add=7", "7", "code 7"),
    ];
    for (fault, status, line) in cases {
        let run = run(&format!(
            "
version: 1
servers: {{ s: {{ command: jelly, args: [mock, --fault, '{fault}', --fault, 'stderr=the last words'] }} }}
steps: [{{ id: add, tool: add, args: {{ a: 1, b: 2 }} }}]
"
        ));
        run.ends(1, "code_failure");
        let exit = &run.last().failure("add")["exit"];
        assert!(exit.to_string().contains(status), "{exit}");
        for (name, report) in [
            ("junit.xml", &run.junit),
            ("test_results.md", &run.markdown),
            ("the terminal", &run.stdout),
        ] {
            assert!(
                report.contains(status),
                "{fault}: no {status} in {name}: {report}"
            );
            assert!(
                report.contains(line),
                "{fault}: no {line} in {name}: {report}"
            );
        }
        assert!(run.junit.contains("the last words"), "{}", run.junit);
    }
}
