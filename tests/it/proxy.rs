//! `jelly proxy` before a server that is well: what passes, and how it ends.

use crate::support::client::{Client, opening};
use crate::support::{Call, Project, procs};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

/// `jelly proxy` before this server, with these flags.
pub fn proxy(project: &Project, flags: &[&str], server: &[&str]) -> Client {
    let mut args = vec!["proxy"];
    args.extend(flags);
    args.push("--");
    args.extend(server);
    procs::marked(project, project.jelly(&args)).client()
}

/// A server of a few lines of Python, whose `handle(message)` this is.
pub fn python_server(project: &Project, name: &str, handle: &str) -> String {
    let indented = handle.replace('\n', "\n    ");
    project.write(
        name,
        format!(
            r#"import json, os, sys
def say(line):
    sys.stdout.write(line + "\n"); sys.stdout.flush()
def send(message):
    say(json.dumps(message))
def answer(message, result):
    send({{"jsonrpc": "2.0", "id": message["id"], "result": result}})
def refuse(message, code, text):
    send({{"jsonrpc": "2.0", "id": message["id"], "error": {{"code": code, "message": text}}}})
CAPABILITIES = {{"tools": {{"listChanged": True}}, "resources": {{"subscribe": True}}, "logging": {{}}}}
def opened(message):
    answer(message, {{"protocolVersion": message["params"]["protocolVersion"],
        "capabilities": CAPABILITIES, "serverInfo": {{"name": "small", "version": "1"}}}})
def handle(line, message):
    method = message.get("method")
    {indented}
for line in sys.stdin:
    try: message = json.loads(line)
    except ValueError: message = {{}}
    handle(line, message if isinstance(message, dict) else {{}})
"#
        ),
    );
    project.at(name)
}

/// Answers every line with what it got, as text, and what is between on stderr.
const ECHO: &str = r#"
if method == "initialize": opened(message)
elif method != "notifications/initialized":
    sys.stderr.write("got: " + line); sys.stderr.flush()
    if "id" in message and method: answer(message, {"line": line.rstrip("\n")})"#;

#[test]
fn messages_pass_byte_for_byte_in_both_directions() {
    let project = Project::empty();
    let server = python_server(
        &project,
        "odd.py",
        r#"
if method == "initialize": say(' {"id" : 1.0e0,"jsonrpc":"2.0",  "result":{"capabilities":{"tools":{}},"protocolVersion":"2025-11-25","serverInfo":{"name":"\u00e4","version":"1"}}, "more":[1e400] }\r')
elif method == "odd": say('{"jsonrpc":"2.0","id":"\\u0061b","result":{"n":12345678901234567890123,"line":' + json.dumps(line.rstrip("\n")) + '}}')
elif method == "batch": pass
elif line.startswith("["): say('[{"id":7,"jsonrpc":"2.0","result":{}},{"jsonrpc":"2.0","method":"notifications/message","params":{}}]')
elif line.startswith("{oops"): say('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}')"#,
    );
    let mut client = proxy(&project, &[], &["python3", &server]);
    client.say(r#"{"jsonrpc":"2.0","id":1.0e0,"method":"initialize","params":{}}"#);
    assert_eq!(
        client.line(),
        " {\"id\" : 1.0e0,\"jsonrpc\":\"2.0\",  \"result\":{\"capabilities\":{\"tools\":{}},\
         \"protocolVersion\":\"2025-11-25\",\"serverInfo\":{\"name\":\"ä\",\"version\":\"1\"}}, \
         \"more\":[1e400] }\r"
    );
    let odd = r#"  {"params":{"x":1.10,"é":"\u00e9"},"method":"odd","id":"\u0061b","jsonrpc":"2.0","z":null}"#;
    client.say(odd);
    let line = client.line();
    assert!(
        line.starts_with(
            r#"{"jsonrpc":"2.0","id":"\u0061b","result":{"n":12345678901234567890123,"#
        ),
        "{line}"
    );
    let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(answer["result"]["line"], odd);
    // A batch, of the revision that has them; and what is no message at all.
    client.say(r#"[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]"#);
    assert!(client.line().starts_with(r#"[{"id":7,"#));
    client.say("{oops");
    assert!(client.line().contains("Parse error"));
    assert_eq!(client.close().code, Some(0));
}

#[test]
fn both_sides_may_ask_tell_and_cancel() {
    let project = Project::empty();
    let server = python_server(
        &project,
        "asks.py",
        r#"
if method == "initialize": opened(message)
elif method == "tools/call":
    send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 5, "progress": 1}})
    send({"jsonrpc": "2.0", "id": "ask-1", "method": "roots/list"})
    globals()["waiting"] = message
elif message.get("id") == "ask-1": answer(waiting, {"content": [], "roots": message["result"]})
elif method == "notifications/cancelled": send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": message["params"]}})"#,
    );
    let mut client = proxy(&project, &[], &["python3", &server]);
    client.open();
    let id = client.send(
        "tools/call",
        json!({ "name": "x", "_meta": { "progressToken": 5 } }),
    );
    client.until_told("notifications/progress");
    assert_eq!(client.until_told("roots/list")["id"], "ask-1");
    client.say(r#"{"jsonrpc":"2.0","id":"ask-1","result":{"roots":[]}}"#);
    assert_eq!(client.answer(id)["result"]["roots"], json!({ "roots": [] }));
    client.notify(
        "notifications/cancelled",
        json!({ "requestId": 99, "reason": "tired" }),
    );
    let told = client.until_told("notifications/message");
    assert_eq!(told["params"]["data"]["reason"], "tired");
    client.close();
}

#[test]
fn stderr_is_passed_on_as_it_is_and_noise_on_stdout_goes_there_too() {
    let project = Project::empty();
    let server = python_server(&project, "echo.py", ECHO);
    let noisy = format!(
        "echo 'Server up and running'; echo 'token=s3cr3t-t0ken-9' >&2; exec python3 {server}"
    );
    let mut client = proxy(
        &project,
        &["-e", "TOKEN=s3cr3t-t0ken-9"],
        &["sh", "-c", &noisy],
    );
    client.open();
    client.ask("x", json!({}));
    let ended = client.close();
    assert_eq!(ended.code, Some(0));
    assert!(
        ended.stderr.contains("token=s3cr3t-t0ken-9\n"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("Server up and running\n"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("got: {"), "{}", ended.stderr);
    assert!(!ended.stdout.contains("Server up"), "{}", ended.stdout);
}

#[test]
fn what_was_asked_before_the_client_closed_its_end_is_still_answered() {
    let project = Project::empty();
    let server = python_server(&project, "echo.py", ECHO);
    let mut client = proxy(&project, &[], &["python3", &server]);
    client.send("initialize", opening());
    for _ in 0..100 {
        client.send("x", json!({}));
    }
    let ended = client.close();
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.stdout.lines().count(), 101, "{}", ended.stdout);
    procs::none_within(&project, Duration::from_secs(5));
}

#[test]
fn a_server_that_does_not_heed_the_end_is_gone_within_the_client_s_two_seconds() {
    let project = Project::empty();
    let jelly = env!("CARGO_BIN_EXE_jelly");
    for faults in [&["ignore-eof"][..], &["ignore-eof", "ignore-sigterm"]] {
        let mut server = vec![jelly, "mock"];
        for fault in faults {
            server.extend(["--fault", fault]);
        }
        let mut client = proxy(&project, &[], &server);
        client.open();
        let ended = client.close();
        assert_eq!(ended.code, Some(0), "{faults:?}: {}", ended.stderr);
        procs::none_within(&project, Duration::from_secs(5));
    }
}

/// A proxy whose client opens it, asks for one thing more, and does not read the answer.
fn asked_by_hand(
    project: &Project,
    call: Call,
    method: &str,
    params: &Value,
) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut proxy = procs::marked(project, call)
        .into_command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = proxy.stdin.take().unwrap();
    let mut stdout = BufReader::new(proxy.stdout.take().unwrap());
    let mut ask = |id: u8, method: &str, params: &Value| {
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(stdin, "{line}").unwrap();
    };
    ask(1, "initialize", &opening());
    stdout.read_line(&mut String::new()).unwrap();
    ask(2, method, params);
    (proxy, stdin, stdout)
}

#[test]
fn a_client_that_is_gone_is_waited_for_no_more_whatever_it_had_asked() {
    let project = Project::empty();
    let jelly = env!("CARGO_BIN_EXE_jelly");
    let server = [jelly, "mock", "--era", "legacy", "--fault", "slow@call=40s"];
    let call = project.jelly(&["proxy", "--"]).args(&server);
    let (mut proxy, stdin, stdout) =
        asked_by_hand(&project, call, "tools/call", &json!({ "name": "echo" }));
    drop((stdin, stdout));
    procs::none_within(&project, Duration::from_secs(10));
    assert_eq!(proxy.wait().unwrap().code(), Some(0));
}

#[test]
fn a_client_that_reads_nothing_and_closes_its_end_keeps_nothing_alive() {
    let project = Project::empty();
    let server = python_server(&project, "echo.py", ECHO);
    let call = project.jelly(&["proxy", "--", "python3", &server]);
    // Kept open, and read no further than the opening.
    let large = json!("x".repeat(1 << 20));
    let (mut proxy, stdin, stdout) = asked_by_hand(&project, call, "x", &large);
    drop(stdin);
    procs::none_within(&project, Duration::from_secs(60));
    proxy.wait().unwrap();
    drop(stdout);
}

#[test]
fn large_messages_and_many_at_once_come_whole_and_uncrossed() {
    let project = Project::empty();
    let server = python_server(&project, "echo.py", ECHO);
    let mut client = proxy(
        &project,
        &[],
        &["sh", "-c", &format!("exec python3 {server} 2>/dev/null")],
    );
    client.open();
    let large = "ö".repeat(3_000_000);
    let answer = client.ask("x", json!({ "large": large }));
    assert!(answer["result"]["line"].as_str().unwrap().contains(&large));
    let ids: Vec<u64> = (0..1000)
        .map(|n| client.send("x", json!({ "n": n })))
        .collect();
    for (n, id) in ids.into_iter().enumerate() {
        let answer = client.answer(id);
        let line = answer["result"]["line"].as_str().unwrap();
        assert!(line.contains(&format!("\"n\":{n}}}")), "{line}");
    }
    client.close();
}

#[test]
fn at_a_terminal_the_server_is_only_tried() {
    let project = Project::empty();
    let jelly = env!("CARGO_BIN_EXE_jelly");
    let well = project.at_a_terminal(&[], &["proxy", "--", jelly, "mock"]);
    assert_eq!(well.code, Some(0), "{}", well.stdout);
    assert!(
        well.stdout.contains("starts and answers"),
        "{}",
        well.stdout
    );
    let unwell = project.at_a_terminal(&[], &["proxy", "--", "no-such-program"]);
    assert_eq!(unwell.code, Some(3), "{}", unwell.stdout);
    assert!(
        unwell.stdout.contains("no-such-program"),
        "{}",
        unwell.stdout
    );
    assert!(unwell.stdout.contains("To fix it"), "{}", unwell.stdout);
}

#[test]
fn what_can_t_be_meant_is_refused_with_2() {
    let project = Project::empty();
    for (args, why) in [
        (&["proxy"][..], "nothing says which server"),
        (
            &["proxy", "-e", "=x", "--", "true"],
            "a variable has a name",
        ),
        (
            &["proxy", "-e", "NOT_SET_AT_ALL", "--", "true"],
            "no such variable",
        ),
        (
            &["proxy", "--startup-timeout", "soon", "--", "true"],
            "write a time",
        ),
        (
            &["proxy", "--tool-call-max", "5s", "--", "true"],
            "--tool-call-timeout",
        ),
        (
            &["proxy", "--record-to", "no/such/folder/x", "--", "true"],
            "can't be written",
        ),
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "{args:?}: {}", ended.stderr);
    }
    let deep = project
        .jelly(&["proxy", "--", "true"])
        .env("JELLY_PROXY_DEPTH", "4")
        .output();
    assert_eq!(deep.code, Some(2));
    assert!(deep.stderr.contains("starts itself"), "{}", deep.stderr);
}

#[test]
fn what_passes_is_recorded_redacted() {
    let project = Project::empty();
    let server = python_server(&project, "echo.py", ECHO);
    let flags = ["--record-to", "pass.jsonl", "-e", "API_KEY=s3cr3t-t0ken-9"];
    let mut client = proxy(&project, &flags, &["python3", &server]);
    client.open();
    client.ask("x", json!({ "key": "s3cr3t-t0ken-9" }));
    let ended = client.close();
    assert!(ended.stdout.contains("s3cr3t-t0ken-9"));
    let record = project.read("pass.jsonl");
    assert!(!record.contains("s3cr3t"), "{record}");
    let methods: Vec<serde_json::Value> = record
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        // The first line says what was started.
        .filter(|line| line.get("message").is_some())
        .map(|line| json!([line["direction"], line["message"]["method"]]))
        .collect();
    assert_eq!(
        json!(methods),
        json!([
            ["sent", "initialize"],
            ["received", null],
            ["sent", "notifications/initialized"],
            ["sent", "x"],
            ["received", null],
        ])
    );
}

#[test]
fn a_server_is_named_in_a_client_s_configuration_or_in_a_plan() {
    let project = Project::empty();
    let jelly = env!("CARGO_BIN_EXE_jelly");
    project.write(
        "mcp.json",
        json!({ "mcpServers": {
            "small": { "command": jelly, "args": ["mock", "--era", "legacy", "--tool", "t=${env:THE_NAME}"] },
            "remote": { "url": "http://127.0.0.1:9/mcp" },
        } })
        .to_string(),
    );
    project.write(
        "plan.yaml",
        "version: 1\nvars: { era: legacy }\nservers:\n  small: { command: jelly, args: [mock, \
         --era, '${era}'] }\n  remote: { url: 'http://127.0.0.1:9/mcp' }\nsteps:\n  - { list: \
         tools, server: small }\n",
    );
    for flag in [["--config", "mcp.json"], ["--plan", "plan.yaml"]] {
        let call = |server: &str| {
            let args = ["proxy", flag[0], flag[1], "--server", server];
            project.jelly(&args).env("THE_NAME", "tiny")
        };
        let mut client = call("small").client();
        let opened = client.open();
        assert_eq!(
            opened["result"]["protocolVersion"], "2025-11-25",
            "{opened}"
        );
        client.close();
        let ended = call("smal").output();
        assert_eq!(ended.code, Some(2), "{flag:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("small"), "{flag:?}: {}", ended.stderr);
        // Nobody listens there.
        let mut client = call("remote").client();
        let told = client.open();
        assert_eq!(
            told["error"]["data"]["error_type"], "startup_failed",
            "{told}"
        );
        client.close();
    }
    let open = project
        .jelly(&["proxy", "--config", "mcp.json", "--server", "small"])
        .output();
    assert_eq!(open.code, Some(2), "{}", open.stderr);
    assert!(open.stderr.contains("needs values for"), "{}", open.stderr);
}
