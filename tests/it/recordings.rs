//! What was recorded is served again, and made a plan of.

use crate::proxy::{proxy, python_server};
use crate::proxy_url::STARTED;
use crate::support::{Ended, Project, python, real};
use serde_json::{Value, json};

/// Records a plan with this server and these steps, as `r.jsonl`.
fn recorded(server: &str, steps: &str) -> Project {
    let project = Project::with(&plan_with(server, steps));
    project.write("data/a.txt", "alpha\n");
    let ended = project
        .call(&["--record"])
        .env("API_KEY", "k3y-0f-n0b0dy")
        .output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    project.write("r.jsonl", project.read("reports/latest/wire.jsonl"));
    project
}

fn plan_with(server: &str, steps: &str) -> String {
    format!("version: 1\nname: p\nservers:\n  s: {server}\nsteps:\n{steps}")
}

/// Makes a plan of `r.jsonl`.
fn init(project: &Project, output: &str, more: &[&str]) -> Ended {
    let args = ["init", "--from-recording", "r.jsonl", "-o", output];
    let ended = project.jelly(&args).args(more).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    ended
}

fn run(project: &Project, plan: &str) -> (Option<i32>, String) {
    let call = project
        .jelly(&["run", plan])
        .env("API_KEY", "k3y-0f-n0b0dy");
    let ended = call.output();
    (
        ended.code,
        format!("{}{}\n{}", ended.stdout, ended.stderr, project.read(plan)),
    )
}

/// Record → init → run, against the server itself and the recording; with a
/// changed answer it is not green.
fn round_trip(server: &str, steps: &str, (said, changed): (&str, &str)) -> Project {
    let project = recorded(server, steps);
    init(&project, "real.yaml", &[]);
    init(
        &project,
        "replay.yaml",
        &["--", "jelly", "replay", "r.jsonl"],
    );
    for plan in ["real.yaml", "replay.yaml"] {
        let (code, told) = run(&project, plan);
        assert_eq!(code, Some(0), "{plan}: {told}");
    }
    let record = project.read("r.jsonl");
    assert!(record.contains(said), "{record}");
    project.write("changed.jsonl", record.replace(said, changed));
    let other = project
        .read("replay.yaml")
        .replace("r.jsonl", "changed.jsonl");
    project.write("changed.yaml", other);
    let (code, told) = run(&project, "changed.yaml");
    assert_eq!(code, Some(1), "{told}");
    project
}

const CALLS: &str = "
  - { id: echo, tool: echo, args: { message: hello } }
  - { id: add, tool: add, args: { a: 1, b: 2 } }
  - { id: one, tool: counter }
  - { id: two, tool: counter }
  - { id: fail, tool: fail, args: { message: no such order }, expect: { is_error: true } }
  - { id: none, request: tools/call, args: { name: nobody }, expect: { error: { code: -32602 } } }
";

#[test]
fn a_recorded_session_of_either_era_is_a_plan_that_the_server_and_its_replay_pass() {
    for era in ["legacy", "modern"] {
        let server = format!("{{ command: jelly, args: [mock, --era, {era}] }}");
        let project = round_trip(&server, CALLS, (r#""count":2"#, r#""count":3"#));
        let plan = project.read("replay.yaml");
        for wanted in [
            "equals: hello",
            "equals: { sum: 3 }",
            "equals: { count: 2 }",
            "no such order",
        ] {
            assert!(plan.contains(wanted), "{wanted}: {plan}");
        }
        // The plan as it was recorded asks in that order.
        let strict = "{ command: jelly, args: [replay, --strict, r.jsonl] }";
        project.write("strict.yaml", plan_with(strict, CALLS));
        let (code, told) = run(&project, "strict.yaml");
        assert_eq!(code, Some(0), "{told}");
        let swapped = CALLS.replace("message: hello", "message: other");
        project.write("strict.yaml", plan_with(strict, &swapped));
        let (code, told) = run(&project, "strict.yaml");
        assert_ne!(code, Some(0), "{told}");
        assert!(
            told.contains("tools/call `echo` is not what line"),
            "{told}"
        );
    }
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn real_servers_are_recorded_and_pass_against_their_recordings() {
    let package = |name: &str| {
        let file = real(&format!(
            "npm/node_modules/@modelcontextprotocol/{name}/dist/index.js"
        ));
        json!(file)
    };
    let everything = format!(
        "{{ command: node, args: [{}] }}",
        package("server-everything")
    );
    let steps = "
  - { id: echo, tool: echo, args: { message: hello } }
  - { id: sum, tool: get-sum, args: { a: 1, b: 2 } }
  - { id: weather, tool: get-structured-content, args: { location: Chicago } }
  - { id: image, tool: get-tiny-image }
  - { id: prompt, prompt: simple-prompt }
  - { list: resources }
";
    round_trip(&everything, steps, ("Echo: hello", "Echo: hullo"));
    let files = format!(
        "{{ command: node, args: [{}, \"${{workspace}}/data\"] }}",
        package("server-filesystem")
    );
    let steps = "
  - { id: write, tool: write_file, args: { path: \"${workspace}/data/b.txt\", content: beta } }
  - { id: read, tool: read_text_file, args: { path: \"${workspace}/data/a.txt\" } }
  - { id: info, tool: get_file_info, args: { path: \"${workspace}/data/b.txt\" } }
";
    round_trip(&files, steps, ("alpha\\n", "omega\\n"));
    let memory = format!(
        "{{ command: node, args: [{}], env: {{ MEMORY_FILE_PATH: \"${{tmp}}/m.json\" }} }}",
        package("server-memory")
    );
    let steps = "
  - { id: add, tool: create_entities, args: { entities: [{ name: jelly, entityType: tool, observations: [tests] }] } }
  - { id: read, tool: read_graph }
";
    let project = round_trip(&memory, steps, (r#""relations":[]"#, r#""relations":[7]"#));
    let plan = project.read("real.yaml");
    assert!(plan.contains("${tmp}/m.json"), "{plan}");
}

/// What jelly started at a port of its own is started so again.
#[test]
fn a_server_of_http_that_was_started_gets_a_port_of_each_run() {
    let server = "{ command: python3, args: [\"${workspace}/server.py\", \"${port}\"], url: \"http://127.0.0.1:${port}/mcp\" }";
    let project = Project::with(&plan_with(server, "  - { id: a, tool: t }\n"));
    // It lists nothing, and answers whatever is called.
    let server = STARTED.replace(r#""capabilities": {"tools": {}}"#, r#""capabilities": {}"#);
    project.write("server.py", server);
    let recorded = project.call(&["--record"]).output();
    assert_eq!(recorded.code, Some(0), "{}", recorded.stdout);
    project.write("r.jsonl", project.read("reports/latest/wire.jsonl"));
    init(&project, "real.yaml", &[]);
    // Its process id is another one each time.
    let plan = project.read("real.yaml");
    for part in ["http://127.0.0.1:${port}/mcp", "server.py"] {
        assert!(plan.contains(part), "{part} in {plan}");
    }
    assert_eq!(plan.matches("${port}").count(), 2, "{plan}");
    let listed = project.jelly(&["list", "--plan", "real.yaml"]).output();
    assert_eq!(listed.code, Some(0), "{plan}{}", listed.stderr);
}

#[test]
fn what_the_client_answered_is_answered_again() {
    let server = python(
        "
def ask(method, params):
    send({'jsonrpc': '2.0', 'id': 'q', 'method': method, 'params': params})
    while (reply := read()).get('id') != 'q': pass
    return reply
def call(message):
    reply = ask('sampling/createMessage', {'messages': [{'role': 'user', 'content': {'type': 'text', 'text': 'x'}}], 'maxTokens': 5})
    answer(message, text('heard ' + reply['result']['content']['text']))
serve(call)
",
    );
    let steps = "
  - id: ask
    tool: work
    answers: [{ method: sampling/createMessage, result: { role: assistant, model: m, content: { type: text, text: hi } } }]
";
    let project = round_trip(&server, steps, ("heard hi", "heard ho"));
    let plan = project.read("real.yaml");
    assert!(
        plan.contains("sampling/createMessage") && plan.contains("heard hi"),
        "{plan}"
    );
}

#[test]
fn times_ids_and_secrets_of_a_recording_are_not_expected_again() {
    let server = "{ command: jelly, args: [mock, --tool, 'now=at 2026-11-22T01:02:03Z, took 12 ms, by 6f1c2a34-0b1c-4d5e-8f90-123456789abc'], env: { API_KEY: '${secret:API_KEY}' } }";
    let steps = "
  - { id: now, tool: now }
  - { id: key, tool: env, args: { name: API_KEY } }
  - { id: send, tool: echo, args: { message: 'with ${secret:API_KEY}' } }
";
    let project = recorded(server, steps);
    assert!(!project.read("r.jsonl").contains("k3y-0f-n0b0dy"));
    init(&project, "real.yaml", &[]);
    init(
        &project,
        "replay.yaml",
        &["--", "jelly", "replay", "r.jsonl"],
    );
    let plan = project.read("real.yaml");
    let (_, steps) = plan.split_once("steps:").unwrap();
    for gone in ["2026-11-22", "12 ms", "6f1c2a34", "[secret"] {
        assert!(!steps.contains(gone), "{gone}: {plan}");
    }
    assert!(plan.contains("with ${secret:API_KEY}"), "{plan}");
    assert!(
        plan.contains("TODO: set API_KEY in the environment"),
        "{plan}"
    );
    let later = "at 2027-01-02T03:04:05Z, took 7 ms, by 00000000-0b1c-4d5e-8f90-123456789abc";
    let now = "at 2026-11-22T01:02:03Z, took 12 ms, by 6f1c2a34-0b1c-4d5e-8f90-123456789abc";
    assert!(plan.contains(now), "{plan}");
    project.write("real.yaml", plan.replace(now, later));
    for plan in ["real.yaml", "replay.yaml"] {
        let (code, told) = run(&project, plan);
        assert_eq!(code, Some(0), "{plan}: {told}");
    }
}

#[test]
fn a_secret_of_a_call_is_not_in_the_recording_and_a_variable_of_the_plan() {
    const SECRET: &str = "zzyyxx1234567890aa";
    let project = Project::empty();
    let server = [env!("CARGO_BIN_EXE_jelly"), "mock"];
    let mut client = proxy(&project, &["--record-to", "r.jsonl"], &server);
    client.open();
    let message = format!("Authorization: Bearer {SECRET}");
    let told = client.call("echo", json!({ "message": message }));
    assert_eq!(told["result"]["content"][0]["text"], message);
    client.close();
    assert!(!project.read("r.jsonl").contains(SECRET));
    init(&project, "real.yaml", &[]);
    let plan = project.read("real.yaml");
    assert!(plan.contains("Bearer ${secret:AUTHORIZATION}"), "{plan}");
    assert!(plan.contains("TODO: set AUTHORIZATION in"), "{plan}");
    let ended = project
        .jelly(&["run", "real.yaml"])
        .env("AUTHORIZATION", SECRET)
        .output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);

    // A secret of the command has one name, wherever it stands.
    let server = python_server(
        &project,
        "echo.py",
        r#"
if method == "initialize": opened(message)
elif method == "tools/call": answer(message, {"content": [{"type": "text", "text": message["params"]["arguments"]["q"]}]})
elif method == "tools/list": answer(message, {"tools": []})"#,
    );
    let url = "https://u:urlpw-6655@h/x";
    std::fs::remove_file(project.at("r.jsonl")).unwrap();
    let mut client = proxy(
        &project,
        &["--record-to", "r.jsonl"],
        &["python3", &server, "--verbose", url],
    );
    client.open();
    client.call("say", json!({ "q": "urlpw-6655" }));
    client.close();
    init(&project, "url.yaml", &[]);
    let plan = project.read("url.yaml");
    let named = plan.matches("${secret:THE_URL_S_PASSWORD}").count();
    assert!(named >= 2 && !plan.contains("_SECRET_"), "{plan}");
}

#[test]
fn values_of_one_run_are_not_expected_of_the_next() {
    let project = Project::empty();
    let server = python_server(
        &project,
        "own.py",
        r#"
import random, socket, time
if method == "initialize": opened(message)
elif method == "tools/list": answer(message, {"tools": [{"name": "work", "inputSchema": {"type": "object"}}]})
elif method == "tools/call":
    globals()["n"] = globals().get("n", 0) + 1
    s = socket.socket(); s.bind(("127.0.0.1", 0)); port = s.getsockname()[1]
    token = "".join(random.choices("bcdfghklmnpqrst", k=12))
    text = f"pid {os.getpid()} at 127.0.0.1:{port}, worker {token}, load {random.random()}, call {n}"
    own = {"pid": os.getpid(), "port": port, "uptime": time.monotonic(), "worker": token, "load": random.random(), "call": n}
    answer(message, {"content": [{"type": "text", "text": text}], "structuredContent": own})"#,
    );
    for _ in 0..2 {
        let flags = ["--record-to", "r.jsonl", "--name", "s"];
        let mut client = proxy(&project, &flags, &["python3", &server]);
        client.open();
        client.ask("tools/list", json!({}));
        client.call("work", json!({}));
        client.call("work", json!({}));
        client.close();
    }
    init(&project, "real.yaml", &[]);
    init(
        &project,
        "replay.yaml",
        &["--", "jelly", "replay", "r.jsonl"],
    );
    for plan in ["real.yaml", "replay.yaml"] {
        let (code, told) = run(&project, plan);
        assert_eq!(code, Some(0), "{plan}: {told}");
    }
    // What a server counts is still held.
    let plan = project.read("real.yaml");
    assert!(plan.contains("call 2$"), "{plan}");
    let other = plan.replace(
        "structuredContent.call, equals: 2",
        "structuredContent.call, equals: 3",
    );
    project.write("real.yaml", other);
    let (code, told) = run(&project, "real.yaml");
    assert_eq!(code, Some(1), "{told}");
}

#[test]
fn a_recording_that_is_bad_or_cut_is_refused_with_its_line() {
    let project = Project::empty();
    let line = r#"{"seq":1,"server":"a","direction":"sent","message":{"id":1,"method":"ping"}}"#;
    let other = line
        .replace("\"seq\":1", "\"seq\":2")
        .replace("\"a\"", "\"b\"");
    project.write("r.jsonl", format!("{line}\n{{\"seq\":2,"));
    project.write("noise.jsonl", "hello\n");
    project.write("two.jsonl", format!("{line}\n{other}\n"));
    for (args, said) in [
        (vec!["replay", "none.jsonl"], "none.jsonl can't be read"),
        (
            vec!["replay", "r.jsonl"],
            "r.jsonl: failed to use line 2, column 9: the record is cut off here",
        ),
        (
            vec!["init", "--from-recording", "r.jsonl"],
            "r.jsonl: failed to use line 2",
        ),
        (
            vec!["replay", "noise.jsonl"],
            "noise.jsonl: failed to use line 1, column 1: it is not JSON",
        ),
        (vec!["replay", "two.jsonl"], "has several servers: `a`, `b`"),
        (
            vec!["replay", "two.jsonl", "--server", "c"],
            "has no server `c`",
        ),
        (
            vec!["init", "--from-recording", "two.jsonl", "--server", "a"],
            "has no request with an answer",
        ),
    ] {
        let ended = project.jelly(&args).output();
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn a_recording_without_its_command_asks_for_one() {
    let project = recorded("{ command: jelly, args: [mock] }", CALLS);
    let record = project.read("r.jsonl");
    let older: Vec<String> = record
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|entry| entry.get("start").is_none())
        .enumerate()
        .map(|(at, mut entry)| {
            let members = entry.as_object_mut().unwrap();
            members.retain(|key, _| !["session", "at_ms"].contains(&key.as_str()));
            members.insert("seq".to_owned(), json!(at + 1));
            entry.to_string()
        })
        .collect();
    project.write("r.jsonl", older.join("\n"));
    let ended = project
        .jelly(&["init", "--from-recording", "r.jsonl"])
        .output();
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("how its server was started"),
        "{}",
        ended.stderr
    );
    init(
        &project,
        "replay.yaml",
        &["--", "jelly", "replay", "r.jsonl"],
    );
    let (code, told) = run(&project, "replay.yaml");
    assert_eq!(code, Some(0), "{told}");
}
