//! Everything that can be wrong with a server or a plan, one at a time: each
//! has its own diagnosis, none hangs, and none counts as many failures.

use crate::proxy::python_server;
use crate::support::{Iteration, Project, Run, fixtures, python};
use serde_json::{Value, json};
use std::time::Duration;

/// A plan with these steps for a server `s` of Python, whose `handle(message)` this is;
/// `more` stands in its entry.
fn of_python(handle: &str, more: &str, steps: &str) -> Project {
    let project = Project::empty();
    let server = python_server(&project, "server.py", handle);
    let entry = format!("command: python3, args: [{server:?}], {more}");
    let plan = format!("version: 1\nname: p\nservers: {{ s: {{ {entry} }} }}\nsteps: [{steps}]\n");
    project.write("plan.yaml", plan);
    project
}

/// Three steps on one server, of which nothing is known but its entry.
fn three_steps(server: &str) -> String {
    format!(
        "
version: 1
servers:
  s: {server}
steps:
  - {{ id: one, tool: add, args: {{ a: 1, b: 2 }} }}
  - {{ id: two, tool: echo, args: {{ message: hello }} }}
  - {{ id: three, tool: add, args: {{ a: 3, b: 4 }} }}
"
    )
}

/// A mock with these arguments, each start of it limited to three seconds.
fn mock(args: &str) -> String {
    format!("{{ command: jelly, args: [mock, {args}], startup_timeout: 3s }}")
}

fn script(name: &str) -> String {
    let path = fixtures().join("mock").join(name);
    mock(&format!("--script, {}", serde_json::json!(path)))
}

/// What a server that never starts must look like: all its steps are blocked
/// by one record, nothing is a failed test, a person is asked, in good time.
#[track_caller]
fn never_starts<'r>(run: &'r Run, root_cause: &str) -> &'r Value {
    run.ends(3, "needs_user_help");
    let last = run.last();
    assert_eq!(last.total("blocked"), 3, "{}", last["totals"]);
    assert_eq!(last.total("failed"), 0);
    assert_eq!(last.failures().len(), 1, "{:#?}", last.failures());
    let failure = last.failure("s");
    blames(failure, "test", root_cause);
    assert_eq!(last.server("s")["state"], "failed");
    assert_eq!(run.junit.matches("<error").count(), 1, "{}", run.junit);
    assert!(run.junit.contains("(start s)"), "{}", run.junit);
    assert_eq!(run.junit.matches("<skipped").count(), 3);
    assert_eq!(run.results["needs_user_help"], true);
    assert_eq!(
        run.results["help_summary"]["problems"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    assert!(run.elapsed < Duration::from_secs(30), "{:?}", run.elapsed);
    failure
}

#[track_caller]
fn blames(failure: &Value, side: &str, root_cause: &str) {
    let diagnosis = &failure["diagnosis"];
    assert_eq!(
        (&diagnosis["side"], &diagnosis["root_cause"]),
        (&Value::from(side), &Value::from(root_cause)),
        "{failure:#}"
    );
}

#[track_caller]
fn shows(failure: &Value, evidence: &str) {
    let text = failure["diagnosis"]["evidence"].to_string();
    assert!(text.contains(evidence), "{failure:#}");
}

fn run(plan: &str) -> Run {
    Project::with(plan).run(&[])
}

#[test]
fn a_command_that_does_not_exist() {
    let run = run(&three_steps("{ command: no-such-command-here }"));
    let failure = never_starts(&run, "command_not_found");
    assert!(run.help().contains("no-such-command-here"));
    // Nothing about it can change by itself.
    assert_eq!(run.iterations().len(), 1);
    assert_eq!(failure["diagnosis"]["retryable"], false);
    assert_eq!(failure["diagnosis"]["error_category"], "INFRASTRUCTURE");
}

#[test]
fn a_step_after_too_many_deaths_says_that_its_server_went_down() {
    let steps: String = ["a", "b", "c", "d"]
        .map(|id| format!("  - {{ id: {id}, tool: add, args: {{ a: 1, b: 2 }} }}\n"))
        .concat();
    let project = Project::with(&format!(
        "version: 1\nservers:\n  s: {{ command: jelly, args: [mock, '--fault=exit@call'] }}\nsteps:\n{steps}"
    ));
    let run = project.run(&["--max-iterations", "1"]);
    let last = run.last().step("d").clone();
    assert_eq!(
        (&last["state"], &last["because"]),
        (&json!("blocked"), &json!({ "server_down": "s" }))
    );
    let told = "BLOCKED  s/d: server s went down and is not up again";
    assert!(run.stdout.contains(told), "{}", run.stdout);
}

#[test]
fn a_command_that_is_not_executable() {
    let project = Project::with(&three_steps("{ command: ./server.sh }"));
    project.write("server.sh", "#!/bin/sh\n");
    let run = project.run(&[]);
    never_starts(&run, "not_executable");
    assert!(run.help().contains("server.sh"));
}

#[test]
fn a_command_whose_interpreter_does_not_exist() {
    let project = Project::with(&three_steps("{ command: ./server }"));
    project.script("server", "#!/no/such/interpreter\n");
    let run = project.run(&[]);
    never_starts(&run, "command_not_found");
    assert!(
        run.help().contains("/no/such/interpreter"),
        "{}",
        run.help()
    );
}

#[test]
fn a_working_directory_that_does_not_exist() {
    let run = run(&three_steps(
        "{ command: jelly, args: [mock], cwd: /no/such/folder }",
    ));
    let failure = never_starts(&run, "missing_directory");
    assert!(failure.to_string().contains("/no/such/folder"));
}

#[test]
fn an_exit_with_0_before_the_handshake() {
    let run = run(&three_steps(&mock("--fault, exit@spawn=0")));
    let failure = never_starts(&run, "clean_exit_before_handshake");
    assert_eq!(failure["exit"]["code"], 0);
}

#[test]
fn an_exit_with_1_and_a_word_on_stderr() {
    let run = run(&three_steps(&mock(
        "--fault, 'stderr=Error: the moon is in the wrong house', --fault, exit@spawn=1",
    )));
    let failure = never_starts(&run, "crashed_during_startup");
    assert_eq!(failure["exit"]["code"], 1);
    assert!(failure["stderr_tail"].to_string().contains("wrong house"));
    assert!(run.help().contains("the moon is in the wrong house"));
    assert!(run.junit.contains("the moon is in the wrong house"));
    assert!(run.stdout.contains("the moon is in the wrong house"));
}

#[test]
fn an_exit_after_initialize_with_an_empty_stderr() {
    let run = run(&three_steps(&script("exit-after-initialize.yaml")));
    let failure = never_starts(&run, "crashed_during_startup");
    assert_eq!(failure["exit"]["code"], 1);
    assert_eq!(failure["stderr_tail"], "");
}

#[test]
fn a_server_that_never_answers() {
    let run = run(&three_steps(&script("never-answers.yaml")));
    let failure = never_starts(&run, "startup_timeout");
    assert_eq!(failure["diagnosis"]["error_category"], "TIMEOUT");
}

#[test]
fn a_server_that_answers_with_junk_only() {
    let run = run(&three_steps(&script("junk-only.yaml")));
    never_starts(&run, "stdout_pollution");
    assert!(run.last().server("s")["stdout_noise"].as_u64() > Some(0));
}

#[test]
fn junk_among_good_lines_is_shown_and_does_no_harm() {
    let run = run(&three_steps(&script("junk-among-messages.yaml")));
    run.ends(0, "passed");
    let last = run.last();
    assert_eq!(last.total("passed"), 3);
    assert!(last.server("s")["stdout_noise"].as_u64() > Some(2));
    let sample = last.server("s")["stdout_noise_sample"].as_array();
    assert!(sample.is_some_and(|lines| !lines.is_empty()));
}

#[test]
fn content_length_frames_are_named_as_what_they_are() {
    let run = run(&three_steps(&script("content-length.yaml")));
    let failure = never_starts(&run, "protocol_error");
    assert!(failure.to_string().contains("Content-Length"));
    assert!(run.help().contains("Content-Length"), "{}", run.help());
}

#[test]
fn an_answer_that_lacks_only_its_line_feed_is_no_slowness() {
    let project = of_python(
        r#"
if method == "initialize": opened(message)
elif method == "tools/list": answer(message, {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})
elif method == "tools/call":
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}})); sys.stdout.flush()"#,
        "request_timeout: 2s",
        "{ id: a, server: s, tool: t }",
    );
    let run = project.run(&["--max-iterations", "1"]);
    run.ends(1, "code_failure");
    let failure = run.last().failure("a").clone();
    assert_eq!(failure["diagnosis"]["root_cause"], "protocol_error");
    assert!(
        failure["message"].to_string().contains("line feed"),
        "{failure:#}"
    );
}

#[test]
fn a_tool_that_a_server_takes_back_is_no_slip_of_the_plan() {
    for (to, plan_is_right) in [("adds", true), ("other", true), ("adds", false)] {
        let project = of_python(
            &format!(
                r#"
global NAMES
NAMES = globals().get("NAMES", ["{first}"])
if method == "initialize": opened(message)
elif method == "tools/list": answer(message, {{"tools": [{{"name": n, "inputSchema": {{"type": "object"}}}} for n in NAMES]}})
elif method == "tools/call":
    if message["params"]["name"] not in NAMES: refuse(message, -32602, "Unknown tool: " + message["params"]["name"]); return
    answer(message, {{"content": [{{"type": "text", "text": "5"}}]}})
    NAMES = ["{to}"]
    send({{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}})"#,
                first = if plan_is_right { "add" } else { "adds" },
            ),
            "",
            "{ id: a, server: s, tool: add }, { id: b, server: s, tool: add }",
        );
        let run = project.run(&["--no-history"]);
        let repairs = run.actions().contains(&"repair_mcp_plan");
        assert_eq!(repairs, !plan_is_right, "{}", run.stdout);
        if plan_is_right {
            run.ends(3, "needs_user_help");
            let diagnosis = &run.last().failure("b")["diagnosis"];
            assert_eq!(diagnosis["root_cause"], "unknown_tool");
            assert_eq!(diagnosis["ambiguous"], true);
            assert!(run.help().contains("has listed it"), "{}", run.help());
        }
    }
}

#[test]
fn an_operand_that_a_variable_brings_is_held_to_what_a_literal_is() {
    for (expect, value) in [
        ("structured: { contains: \"${x}\" }", "{}"),
        ("text: { exists: \"${x}\" }", "true"),
        ("stderr: { exists: \"${x}\" }", "true"),
        ("text: { type: \"${x}\" }", "strng"),
        ("text: { one_of: \"${x}\" }", "[]"),
        ("text: { length: \"${x}\" }", "-1"),
    ] {
        let run = run(&format!(
            "version: 1\nname: p\nvars: {{ x: {value} }}\nservers: {{ s: {{ command: jelly, args: [mock] }} }}\nsteps: [{{ id: a, server: s, tool: add, args: {{ a: 1, b: 2 }}, expect: {{ {expect} }} }}]\n"
        ));
        assert_eq!(run.code, Some(3), "{expect}: {}{}", run.stdout, run.stderr);
        let failure = run.last().failure("a").clone();
        assert_eq!(
            failure["diagnosis"]["side"], "test",
            "{expect}: {failure:#}"
        );
    }
}

#[test]
fn a_server_that_declares_a_list_and_knows_no_method_for_it_breaks_its_word() {
    let project = of_python(
        r#"
if method == "initialize": opened(message)
elif method == "tools/list": answer(message, {"tools": []})
elif "id" in message: refuse(message, -32601, "Method not found")"#,
        "",
        "{ id: a, server: s, list: resources }, { id: b, server: s, list: prompts }",
    );
    let run = project.run(&["--max-iterations", "1"]);
    run.ends(1, "code_failure");
    assert_eq!(
        run.last().failure("a")["diagnosis"]["root_cause"],
        "protocol_error"
    );
    assert_eq!(
        run.last().failure("b")["diagnosis"]["root_cause"],
        "method_not_found"
    );
}

#[test]
fn what_looks_like_a_secret_is_masked_while_the_run_goes_on_as_well() {
    let project = of_python(
        r#"
if method == "initialize": opened(message)
elif method == "tools/list": answer(message, {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})
elif method == "tools/call": refuse(message, -32000, "cannot log in: password=fitIljOq0VPz5TKv")"#,
        "",
        "{ id: a, server: s, tool: t }, { id: b, server: d, tool: t }",
    );
    let dead = "echo 'refused: api_key=q1w2e3r4t5zz' >&2; exit 1";
    let and_dead = format!("servers: {{ d: {{ command: bash, args: [-c, {dead:?}] }},");
    let plan = project.read("plan.yaml").replace("servers: {", &and_dead);
    project.write("plan.yaml", plan);
    for flags in [&[][..], &["-v"]] {
        let run = project.run(flags);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("[secret password]"), "{said}");
        for secret in ["fitIljOq0VPz5TKv", "q1w2e3r4t5zz"] {
            assert!(!said.contains(secret), "{said}");
        }
    }
}

#[test]
fn replies_under_an_id_that_nobody_used() {
    let run = run(&three_steps(&script("wrong-id.yaml")));
    let failure = never_starts(&run, "protocol_error");
    assert!(failure["message"].to_string().contains("id"), "{failure:#}");
}

#[test]
fn an_http_server_where_a_stdio_server_belongs() {
    let run = run(&three_steps(&script("http-under-stdio.yaml")));
    never_starts(&run, "transport_mismatch");
    assert!(run.help().contains("HTTP"), "{}", run.help());
}

#[test]
fn a_real_http_server_where_a_stdio_server_belongs() {
    let server = python(
        r#"
import http.server
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(f"Serving HTTP on 127.0.0.1 port {server.server_port} (http://127.0.0.1:{server.server_port}/) ...")
server.serve_forever()
"#,
    );
    let server = server.replacen('{', "{ startup_timeout: 3s, ", 1);
    let run = run(&three_steps(&server));
    never_starts(&run, "transport_mismatch");
}

#[test]
fn a_variable_of_the_environment_that_the_plan_needs_and_nobody_set() {
    let run = run(&three_steps(
        "{ command: jelly, args: [mock], env: { KEY: \"${env:NO_SUCH_VARIABLE}\" } }",
    ));
    let failure = never_starts(&run, "missing_env_var");
    assert_eq!(failure["phase"], "config");
    assert!(run.help().contains("NO_SUCH_VARIABLE"));
}

#[test]
fn a_variable_of_the_environment_that_the_server_misses() {
    let run = run(&three_steps(&mock("--fault, require_env=ACME_API_KEY")));
    let failure = never_starts(&run, "missing_env_var");
    shows(failure, "ACME_API_KEY");
    assert!(run.help().contains("ACME_API_KEY"));
}

#[test]
fn everything_that_is_missing_is_named_before_any_server_starts() {
    let project = Project::with(
        "
version: 1
servers:
  a: { command: no-such-command-here }
  b: { command: jelly, args: [mock], cwd: /no/such/folder }
  c: { command: jelly, args: [mock], env: { KEY: \"${secret:NO_SUCH_SECRET}\" } }
steps:
  - { id: one, server: a, tool: add }
  - { id: two, server: b, tool: add }
  - { id: three, server: c, tool: add }
",
    );
    let run = project.run(&[]);
    run.ends(3, "needs_user_help");
    let last = run.last();
    for server in ["a", "b", "c"] {
        let failure = last.failure(server);
        assert_eq!(failure["phase"], "config", "{failure:#}");
    }
    for name in ["no-such-command-here", "/no/such/folder", "NO_SUCH_SECRET"] {
        assert!(run.help().contains(name), "{name}: {}", run.help());
    }
}

/// Of three steps, the second addresses something that does not exist.
fn second_step(step: &str) -> String {
    format!(
        "
version: 1
servers: {{ s: {{ command: jelly, args: [mock] }} }}
steps:
  - {{ id: one, server: s, tool: add, args: {{ a: 1, b: 2 }} }}
  - {{ id: two, {step} }}
  - {{ id: three, server: s, tool: add, args: {{ a: 3, b: 4 }} }}
"
    )
}

/// The plan can't be meant there: that step is taken out, visibly, the others
/// pass, and a person is asked.
#[track_caller]
fn quarantines<'r>(run: &'r Run, root_cause: &str) -> Iteration<'r> {
    run.ends(3, "needs_user_help");
    let failure = run.iteration(1).failure("two");
    blames(failure, "test", root_cause);
    assert_eq!(failure["diagnosis"]["error_category"], "LOCATOR");
    let last = run.last();
    assert_eq!(last.state("two"), "quarantined");
    assert_eq!((last.total("passed"), last.total("failed")), (2, 0));
    assert_eq!(last.failure("two")["diagnosis"]["root_cause"], root_cause);
    assert_eq!(run.junit.matches("<error ").count(), 1, "{}", run.junit);
    last
}

#[test]
fn a_server_name_that_the_plan_does_not_define() {
    let run = run(&second_step(
        "server: nowhere, tool: add, args: { a: 1, b: 1 }",
    ));
    quarantines(&run, "server_not_configured");
}

#[test]
fn a_tool_name_that_the_server_does_not_offer() {
    let run = run(&second_step("server: s, tool: teleport"));
    quarantines(&run, "unknown_tool");
    assert!(run.help().contains("teleport"));
}

#[test]
fn a_misspelt_tool_name_is_repaired_and_the_repair_must_be_accepted() {
    let plan = second_step("server: s, tool: ehco, args: { message: hi }");
    let project = Project::with(&plan);
    let run = project.run(&[]);
    run.ends(4, "passed_after_repair");
    blames(run.iteration(1).failure("two"), "test", "unknown_tool");
    assert_eq!(run.actions(), ["repair_mcp_plan", "stop"]);
    assert_eq!(
        run.iteration(1)["action"]["repairs"][0]["id"],
        "rename_tool"
    );
    assert_eq!(project.read("plan.yaml"), plan);
    // Its JUnit report says so to whoever reads nothing else.
    assert!(
        run.junit.contains("rename_tool on steps.two"),
        "{}",
        run.junit
    );
    assert!(run.junit.contains("help: $ jelly apply "), "{}", run.junit);
    let triage = [
        "triage",
        "reports/latest/junit.xml",
        "--no-history",
        "-f",
        "json",
    ];
    let triaged = project.jelly(&triage).output();
    let triaged: serde_json::Value = serde_json::from_str(&triaged.stdout).unwrap();
    let label = &triaged["failures"][0]["diagnosis"]["root_cause"];
    assert_eq!(label, "repair_not_accepted");
    project
        .run(&["--accept-repairs"])
        .ends(0, "passed_after_repair");
}

#[test]
fn a_misspelt_server_name_is_repaired() {
    let plan = second_step("server: calculater, tool: add, args: { a: 1, b: 1 }")
        .replace("{ s:", "{ calculator:")
        .replace("server: s,", "server: calculator,");
    let run = run(&plan);
    run.ends(4, "passed_after_repair");
    blames(
        run.iteration(1).failure("two"),
        "test",
        "server_not_configured",
    );
    assert_eq!(
        run.iteration(1)["action"]["repairs"][0]["id"],
        "rename_server"
    );
}

#[test]
fn a_misspelt_argument_name_is_repaired() {
    let run = run(&second_step("server: s, tool: echo, args: { mesage: hi }"));
    run.ends(4, "passed_after_repair");
    let failure = run.iteration(1).failure("two");
    blames(failure, "test", "invalid_params");
    assert_eq!(
        run.iteration(1)["action"]["repairs"][0]["id"],
        "rename_argument"
    );
}

#[test]
fn an_argument_of_another_type_is_converted() {
    let run = run(&second_step(
        "server: s, tool: add, args: { a: '1', b: 1 }, expect: { structured: { equals: { sum: 2 } } }",
    ));
    run.ends(4, "passed_after_repair");
    blames(run.iteration(1).failure("two"), "test", "invalid_params");
    assert_eq!(
        run.iteration(1)["action"]["repairs"][0]["id"],
        "coerce_argument"
    );
}

#[test]
fn a_tool_call_that_hangs_fails_alone_and_within_its_limit() {
    let plan = second_step("server: s, tool: sleep, args: { ms: 60000 }, timeout: 500ms");
    let run = run(&plan);
    run.ends(3, "needs_user_help");
    for iteration in run.iterations() {
        assert_eq!(iteration.total("passed"), 2, "{}", iteration["totals"]);
        assert_eq!(iteration.total("failed"), 1);
    }
    let failure = run.last().failure("two");
    blames(failure, "test", "call_timeout");
    assert_eq!(failure["diagnosis"]["error_category"], "TIMEOUT");
    assert!(run.elapsed < Duration::from_secs(20), "{:?}", run.elapsed);
}

#[test]
fn a_server_that_hangs_in_a_call_does_not_take_the_other_steps_along() {
    let run = run(
        "
version: 1
servers: { s: { command: jelly, args: [mock, --fault, 'hang@tool:echo'], request_timeout: 500ms, shutdown_timeout: 300ms } }
budgets: { retries: 0, mcp_repairs: 0 }
steps:
  - { id: one, tool: add, args: { a: 1, b: 2 } }
  - { id: two, tool: echo, args: { message: hi } }
  - { id: three, tool: add, args: { a: 3, b: 4 } }
",
    );
    run.ends(3, "needs_user_help");
    blames(run.last().failure("two"), "test", "call_timeout");
    assert_eq!(run.last().state("one"), "passed");
    assert_ne!(run.last().failures().len(), 0);
    assert!(run.elapsed < Duration::from_secs(20), "{:?}", run.elapsed);
}

#[test]
fn a_tool_that_says_it_failed() {
    let run = run(&second_step(
        "server: s, tool: fail, args: { message: 'ECONNREFUSED: connect to 127.0.0.1:5432' }",
    ));
    assert_eq!(run.last().state("two"), "failed");
    blames(run.last().failure("two"), "test", "connection_refused");
    run.ends(3, "needs_user_help");
    // A refused connection may pass by itself.
    assert!(run.actions().contains(&"retry"), "{:?}", run.actions());
}

#[test]
fn a_result_that_breaks_the_tools_own_schema_is_the_codes_fault_at_one_sighting() {
    let run = run(&three_steps(&script("schema-breach.yaml")));
    run.ends(1, "code_failure");
    assert_eq!(run.iterations().len(), 1);
    let last = run.last();
    for step in ["one", "three"] {
        blames(last.failure(step), "code", "schema_mismatch");
    }
    assert_eq!(last.state("two"), "passed");
}

#[test]
fn a_value_that_is_sometimes_wrong() {
    let project = Project::empty();
    let path = fixtures().join("mock/flaky-value.yaml");
    project.write(
        "plan.yaml",
        format!(
            "
version: 1
servers: {{ s: {{ command: jelly, args: [mock, --script, {}, --state, \"${{workspace}}/state.json\"] }} }}
steps: [{{ id: two, tool: answer, expect: {{ text: {{ equals: \"42\" }} }} }}]
",
            serde_json::json!(path)
        ),
    );
    let run = project.run(&[]);
    run.ends(0, "passed_after_retry");
    assert_eq!(run.actions(), ["confirm", "stop"]);
    blames(
        run.iteration(1).failure("two"),
        "test",
        "assertion_mismatch",
    );
    assert_eq!(run.last().step("two")["flaky"], true);
}

#[test]
fn a_server_killed_by_a_signal_in_a_call() {
    let run = run(&second_step(
        "server: s, tool: crash, args: { signal: SIGSEGV }",
    ));
    run.ends(1, "code_failure");
    let failure = run.last().failure("two");
    blames(failure, "code", "crashed_during_call");
    assert_eq!(failure["exit"]["signal"], "SIGSEGV");
    assert_eq!(run.last().total("passed"), 2);
    assert_eq!(run.last().total("failed"), 1);
}
