//! `jelly proxy` before a server that can't be started, is slow, or dies: what
//! the client is told, and how the server comes back.

use crate::proxy::{proxy, python_server};
use crate::support::{Project, fixtures, procs};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

const JELLY: &str = env!("CARGO_BIN_EXE_jelly");

/// What every answer for a server that can't be used keeps to.
#[track_caller]
fn trouble(answer: &Value) -> &Value {
    let error = &answer["error"];
    let code = error["code"].as_i64().expect("an error");
    assert!(!(-32_768..=-32_000).contains(&code), "{answer}");
    let message = error["message"].as_str().unwrap();
    assert!(message.chars().count() <= 300, "{message}");
    assert!(message.contains("Fix: "), "{message}");
    assert!(!message.contains("Connection closed"), "{message}");
    let data = &error["data"];
    for field in [
        "error_type",
        "root_cause",
        "error_category",
        "retryable",
        "details",
        "evidence",
        "fix_instructions",
        "error_context",
    ] {
        assert!(data.get(field).is_some(), "{field} in {data}");
    }
    assert_eq!(
        data["error_category"].is_null(),
        data["retryable"].is_null(),
        "{data}"
    );
    assert!(
        !data["fix_instructions"].as_array().unwrap().is_empty(),
        "{data}"
    );
    for field in ["command", "args", "cwd", "exit"] {
        assert!(
            data["error_context"].get(field).is_some(),
            "{field} in {data}"
        );
    }
    error
}

/// A way to die, of those that `fixtures/clients` shows to every client.
#[derive(Deserialize)]
pub struct Death {
    pub name: String,
    pub command: Vec<String>,
    /// Of the proxy.
    #[serde(default)]
    pub flags: Vec<String>,
    /// In a call, and not at start.
    #[serde(default)]
    pub in_use: bool,
    pub cause: Option<String>,
    /// What the client is told among other things.
    pub says: String,
}

impl Death {
    fn is_at_start(&self) -> bool {
        !self.in_use && self.flags.is_empty()
    }
}

pub fn deaths() -> Vec<Death> {
    let folder = fixtures().join("clients");
    let text = fs::read_to_string(folder.join("deaths.json")).unwrap();
    let text = text.replace("HERE", folder.to_str().unwrap());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_way_to_die_at_start_is_told_with_its_cause_and_a_fix() {
    let project = Project::empty();
    let mut wrong = Vec::new();
    for death in deaths().iter().filter(|death| death.is_at_start()) {
        let Death { command, says, .. } = death;
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let mut client = proxy(&project, &[], &words);
        let answer = client.ask("initialize", crate::support::client::opening());
        let error = trouble(&answer).clone();
        // Those that come later are told the same.
        let later = client.ask("tools/list", json!({}));
        assert_eq!(later["error"], error, "{command:?}");
        let ended = client.close();
        assert_eq!(ended.code, Some(0), "{command:?}: {}", ended.stderr);
        let message = error["message"].as_str().unwrap();
        let cause = death.cause.as_ref();
        let is_cause = cause.is_none_or(|cause| error["data"]["root_cause"] == **cause);
        if !message.contains(says) || !is_cause {
            wrong.push(format!(
                "{command:?}: {} {message}",
                error["data"]["root_cause"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_invalid_file_is_told_with_its_line_as_a_field() {
    let project = Project::empty();
    let script = "echo 'Error: conf.yaml: bad indentation of a mapping entry (15:3)' >&2; exit 1";
    let mut client = proxy(&project, &[], &["sh", "-c", script]);
    let answer = client.open();
    let context = &trouble(&answer)["data"]["error_context"];
    assert_eq!(context["line"], 15, "{context}");
    assert_eq!(context["command"], "sh");
    assert_eq!(context["exit"], json!({ "code": 1, "signal": null }));
    assert_eq!(context["cwd"], project.at(".").trim_end_matches("/."));
    client.close();
}

#[test]
fn secrets_are_in_nothing_that_the_proxy_says() {
    let project = Project::empty();
    let script = "echo \"Error: bad key $API_KEY\" >&2; exit 1";
    let flags = ["-e", "API_KEY=s3cr3t-t0ken-9", "--on-failure", "tool"];
    let mut client = proxy(
        &project,
        &flags,
        &["sh", "-c", script, "--token=s3cr3t-t0ken-9"],
    );
    client.open();
    client.ask("tools/list", json!({}));
    client.call("why_this_server_is_unavailable", json!({}));
    let ended = client.close();
    assert!(ended.stdout.contains("[secret"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("s3cr3t"), "{}", ended.stdout);
}

/// Dies as long as a file is missing.
fn until_mended(project: &Project) -> String {
    let server = python_server(
        project,
        "mended.py",
        r#"
if method == "initialize": opened(message)
elif method == "tools/list": answer(message, {"tools": [{"name": "real", "inputSchema": {"type": "object"}}]})
elif "id" in message and method: answer(message, {})"#,
    );
    let text = project.read("mended.py");
    let check = "import os, sys\nif not os.path.exists(os.path.join(os.path.dirname(__file__), \
                 'mended')): sys.exit('Error: not mended')\n";
    project.write("mended.py", format!("{check}{text}"));
    server
}

#[test]
fn the_next_request_after_a_pause_starts_a_mended_server() {
    let project = Project::empty();
    let server = until_mended(&project);
    let mut client = proxy(&project, &[], &["python3", &server]);
    trouble(&client.open());
    project.write("mended", "");
    let mended = procs::until("a mended server", || {
        let answer = client.ask("tools/list", json!({}));
        answer.get("result").is_some().then_some(answer)
    });
    // It was told of `initialize` again, though the client was refused.
    assert_eq!(mended["result"]["tools"][0]["name"], "real");
    assert_eq!(client.close().code, Some(0));
}

#[test]
fn a_server_that_is_not_to_be_tried_again_is_not() {
    let project = Project::empty();
    let server = until_mended(&project);
    let mut client = proxy(
        &project,
        &["--retry-upstream", "never"],
        &["python3", &server],
    );
    trouble(&client.open());
    project.write("mended", "");
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(1500) {
        trouble(&client.ask("tools/list", json!({})));
    }
    client.close();
}

#[test]
fn a_stand_in_tells_the_diagnosis_by_a_tool_until_the_server_is_up() {
    let project = Project::empty();
    let server = until_mended(&project);
    let flags = ["--on-failure", "tool"];
    let mut client = proxy(&project, &flags, &["python3", &server]);
    let opened = client.open();
    let capabilities = &opened["result"]["capabilities"];
    for kind in ["tools", "resources", "prompts"] {
        assert_eq!(capabilities[kind]["listChanged"], true, "{opened}");
    }
    assert_eq!(opened["result"]["protocolVersion"], "2025-11-25");
    for (method, wanted) in [
        ("ping", json!({})),
        ("resources/list", json!({ "resources": [] })),
        ("prompts/list", json!({ "prompts": [] })),
    ] {
        assert_eq!(client.ask(method, json!({}))["result"], wanted);
    }
    trouble(&client.ask("resources/read", json!({ "uri": "a:b" })));
    let tools = client.ask("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 1);
    let told = client.call(tools[0]["name"].as_str().unwrap(), json!({}));
    let result = &told["result"];
    assert_eq!(result["isError"], false);
    assert_eq!(result["structuredContent"]["error_type"], "startup_failed");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("not mended") && text.contains("To fix it"),
        "{text}"
    );
    assert_eq!(client.call("real", json!({}))["result"]["isError"], true);

    project.write("mended", "");
    procs::until("the server's own tools", || {
        let tools = client.ask("tools/list", json!({}));
        (tools["result"]["tools"][0]["name"] == "real").then_some(())
    });
    client.until_told("notifications/tools/list_changed");
    client.close();
}

#[test]
fn a_slow_start_is_told_with_what_the_server_says_and_goes_on() {
    let project = Project::empty();
    let server = python_server(
        &project,
        "slow.py",
        r#"
if method == "initialize":
    while not os.path.exists(os.path.join(os.path.dirname(__file__), "go")): __import__("time").sleep(0.01)
    opened(message)
elif "id" in message: answer(message, {"initialize seen": 1})"#,
    );
    let says = format!("echo 'npm http fetch GET 200 left-pad' >&2; exec python3 {server}");
    let flags = ["--startup-timeout", "2s"];
    let mut client = proxy(&project, &flags, &["sh", "-c", &says]);
    let first = client.ask("initialize", crate::support::client::opening());
    let error = trouble(&first);
    assert_eq!(error["data"]["error_type"], "still_starting");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("npm http fetch GET 200 left-pad"),
        "{message}"
    );
    // The second one gets the answer to the first.
    let id = client.send("initialize", crate::support::client::opening());
    project.write("go", "");
    let opened = client.answer(id);
    assert_eq!(opened["result"]["serverInfo"]["name"], "small", "{opened}");
    client.notify("notifications/initialized", json!({}));
    assert_eq!(client.ask("x", json!({}))["result"]["initialize seen"], 1);
    assert_eq!(client.close().code, Some(0));
}

/// Keeps count of calls in a file, and dies when it is told to.
fn mortal(project: &Project) -> String {
    python_server(
        project,
        "mortal.py",
        r#"
here = os.path.dirname(__file__)
def note(text): open(os.path.join(here, "calls"), "a").write(text + "\n")
if method == "initialize": note("initialize"); opened(message)
elif method == "notifications/initialized": note("initialized")
elif method in ("logging/setLevel", "resources/subscribe"): note(method + " " + json.dumps(message["params"])); answer(message, {})
elif method == "tools/call":
    name = message["params"]["name"]
    note("call " + name)
    if name == "die": sys.stderr.write("RuntimeError: out of luck\n"); sys.stderr.flush(); os._exit(9)
    if name == "hang": pass
    else: answer(message, {"content": [{"type": "text", "text": name}], "_meta": {"own": 1}})
elif "id" in message and method: answer(message, {})"#,
    )
}

#[test]
fn what_a_server_left_on_its_stdout_is_told_and_nothing_that_did_not_happen() {
    let project = Project::empty();
    let server = python_server(
        &project,
        "leaves.py",
        r#"
if method == "initialize": say("Starting up"); opened(message)
elif method == "tools/call":
    name = message["params"]["name"]
    if name == "half": sys.stdout.write('{"jsonrpc":"2.0","id":2,"res'); sys.stdout.flush(); os._exit(1)
    if name == "word": say("no space in the pantry"); os._exit(3)
    if name == "die": os._exit(3)
    if name == "close": sys.stdout.flush(); os.close(1); import time; time.sleep(60)"#,
    );
    for (tool, evidence, exits) in [
        ("half", r#"{"jsonrpc":"2.0","id":2,"res"#, true),
        ("word", "no space in the pantry", true),
        ("die", "exit code 3, nothing on stderr", true),
        ("close", "closed its stdout and lives on", false),
    ] {
        let mut client = proxy(&project, &["--no-restart"], &["python3", &server]);
        client.open();
        let answer = client.call(tool, json!({}));
        let error = trouble(&answer);
        let seen = error["data"]["evidence"]["text"].as_str().unwrap();
        assert!(seen.contains(evidence), "{tool}: {error}");
        let message = error["message"].as_str().unwrap();
        let told = format!("{message} {}", error["data"]["details"]);
        assert_eq!(told.contains("exited"), exits, "{tool}: {told}");
        // What comes right after it was sent to nobody.
        let next = client.call("more", json!({}));
        let next = trouble(&next)["message"].as_str().unwrap();
        assert!(
            next.contains("was not sent to it. Fix: Ask again in"),
            "{next}"
        );
        client.close();
    }
    // A log of JSON lines is no message: it may say why.
    let log = r#"print('{"level":"fatal","msg":"cannot open the pantry"}', flush=True); exit(1)"#;
    let mut client = proxy(&project, &[], &["python3", "-c", log]);
    let answer = client.ask("initialize", json!({}));
    let seen = &trouble(&answer)["data"]["evidence"];
    assert!(
        seen["text"]
            .as_str()
            .unwrap()
            .contains("cannot open the pantry"),
        "{answer}"
    );
    client.close();
}

#[test]
fn what_jelly_lacks_to_start_a_server_is_told_to_the_client() {
    let project = Project::empty();
    project.write(
        "missing.json",
        r#"{"mcpServers": {"v": {"command": "x", "env": {"KEY": "${NO_SUCH_VARIABLE}"}}}}"#,
    );
    project.write("broken.json", r#"{"mcpServers": {"v": {"command": "x",}"#);
    project.write(
        "plan.yaml",
        "version: 1\nname: p\nservers: { v: { command: x, env: { A: '${secret:NO_SUCH_SECRET}' } } }\nsteps: [{ id: a, server: v, list: tools }]\n",
    );
    let url = ["--url", "http://127.0.0.1:9/mcp"];
    for (flags, said) in [
        (
            vec!["--config", "missing.json", "--server", "v"],
            "NO_SUCH_VARIABLE",
        ),
        (
            vec!["--config", "broken.json", "--server", "v"],
            "broken.json",
        ),
        (
            vec!["--plan", "plan.yaml", "--server", "v"],
            "NO_SUCH_SECRET",
        ),
        ([&url[..], &["--bearer-env", "NOPE"]].concat(), "NOPE"),
        ([&url[..], &["--header-env", "A=NOPE"]].concat(), "NOPE"),
        (vec!["--record-to", "no/dir/x", "--", "true"], "no/dir/x"),
    ] {
        let args = [&["proxy"][..], &flags[..]].concat();
        let mut client = project.jelly(&args).client();
        let answer = client.ask("initialize", json!({}));
        let error = trouble(&answer);
        let told = error["message"].as_str().unwrap();
        assert!(told.contains(said), "{flags:?}: {told}");
        let ended = client.close();
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
}

#[test]
fn a_client_that_closes_its_end_is_not_kept_for_an_answer_that_never_comes() {
    let project = Project::empty();
    let mut client = proxy(&project, &[], &["python3", &mortal(&project)]);
    client.open();
    client.send("tools/call", json!({ "name": "hang", "arguments": {} }));
    let began = Instant::now();
    assert_eq!(client.close().code, Some(0));
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn a_death_in_use_is_told_at_once_and_the_server_comes_back_as_it_was() {
    let project = Project::empty();
    let server = mortal(&project);
    let mut client = proxy(&project, &[], &["python3", &server]);
    client.open();
    client.ask("logging/setLevel", json!({ "level": "warning" }));
    client.ask("resources/subscribe", json!({ "uri": "demo://a" }));
    client.ask("resources/subscribe", json!({ "uri": "demo://b" }));
    client.ask("resources/unsubscribe", json!({ "uri": "demo://b" }));
    let hanging = client.send("tools/call", json!({ "name": "hang" }));
    let dying = client.send("tools/call", json!({ "name": "die" }));
    for id in [hanging, dying] {
        let answer = client.answer(id);
        let error = trouble(&answer);
        assert_eq!(error["data"]["error_type"], "died");
        assert_eq!(error["data"]["error_context"]["exit"]["code"], 9);
    }
    let next = client.call("work", json!({}));
    assert_eq!(next["result"]["content"][0]["text"], "work");
    assert_eq!(next["result"]["_meta"]["own"], 1);
    assert_eq!(
        next["result"]["_meta"]["jelly/restarted"]["count"], 1,
        "{next}"
    );
    let after = client.call("work", json!({}));
    assert!(after["result"]["_meta"].get("jelly/restarted").is_none());
    client.until_told("notifications/tools/list_changed");
    let told = client.until_told("notifications/message");
    assert_eq!(told["params"]["level"], "warning");
    let said = told["params"]["data"].as_str().unwrap();
    assert!(said.contains("started again"), "{said}");
    client.close();
    let calls = project.read("calls");
    let (before, after) = calls.split_once("call die\n").unwrap();
    assert_eq!(before.matches("call hang").count(), 1);
    assert_eq!(
        after,
        "initialize\ninitialized\nlogging/setLevel {\"level\": \"warning\"}\n\
         resources/subscribe {\"uri\": \"demo://a\"}\ncall work\ncall work\n"
    );
}

/// The calls that a server counted, by tool, in the order of their names.
fn counted(project: &Project) -> Vec<(String, usize)> {
    let mut counts = std::collections::BTreeMap::new();
    for line in project.read("calls").lines() {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts.into_iter().collect()
}

#[test]
fn a_call_is_sent_again_after_a_death_only_where_its_tool_says_that_it_may_be() {
    let project = Project::empty();
    // Each tool dies of its first call, but for one that dies of each.
    let server = python_server(
        &project,
        "counts.py",
        r#"
tool = (message.get("params") or {}).get("name")
if method == "initialize": opened(message)
elif method == "tools/list":
    hints = {"reads": {"readOnlyHint": True}, "sets": {"idempotentHint": True}, "always dies": {"readOnlyHint": True},
        "acts": {"destructiveHint": False}, "denies": {"readOnlyHint": False, "idempotentHint": False}}
    answer(message, {"tools": [{"name": name, "inputSchema": {"type": "object"}, "annotations": hint} for name, hint in hints.items()]
        + [{"name": "says nothing", "inputSchema": {"type": "object"}}]})
elif method == "tools/call":
    calls = os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls")
    before = open(calls).read().splitlines() if os.path.exists(calls) else []
    with open(calls, "a") as out: out.write(tool + "\n")
    if tool not in before or tool == "always dies": os._exit(9)
    answer(message, {"content": [{"type": "text", "text": tool}]})"#,
    );
    let tools = [
        "acts",
        "always dies",
        "denies",
        "reads",
        "says nothing",
        "sets",
    ];
    let once = ["acts", "denies", "says nothing"];
    // The budget of restarts is for five deaths; each tool has a proxy of its own.
    for tool in tools {
        let mut client = proxy(&project, &[], &["python3", &server]);
        client.open();
        client.ask("tools/list", json!({}));
        let called = client.call(tool, json!({}));
        if once.contains(&tool) || tool == "always dies" {
            assert_eq!(trouble(&called)["data"]["error_type"], "died", "{tool}");
        } else {
            assert_eq!(called["result"]["content"][0]["text"], tool, "{called}");
            assert_eq!(called["result"]["_meta"]["jelly/restarted"]["count"], 1);
        }
        client.close();
    }
    let times = |tool: &str| if once.contains(&tool) { 1 } else { 2 };
    let wanted: Vec<(String, usize)> = tools
        .iter()
        .map(|tool| ((*tool).to_owned(), times(tool)))
        .collect();
    assert_eq!(counted(&project), wanted);
    // Where nobody listed the tools, nothing is known of them; nor is anything
    // sent again to a server that is not to be started again.
    fs::remove_file(project.at("calls")).unwrap();
    for (flags, lists) in [(&[][..], false), (&["--no-restart"], true)] {
        let mut client = proxy(&project, flags, &["python3", &server]);
        client.open();
        if lists {
            client.ask("tools/list", json!({}));
        }
        let tool = if lists { "sets" } else { "reads" };
        trouble(&client.call(tool, json!({})));
        client.close();
    }
    let one_each = [("reads".to_owned(), 1), ("sets".to_owned(), 1)];
    assert_eq!(counted(&project), one_each);
}

#[test]
fn a_server_that_dies_again_and_again_stays_down_after_its_budget() {
    let project = Project::empty();
    let server = mortal(&project);
    let flags = ["--startup-timeout", "20s"];
    let mut client = proxy(&project, &flags, &["python3", &server]);
    client.open();
    for _ in 0..3 {
        let answer = client.call("die", json!({}));
        assert_eq!(trouble(&answer)["data"]["error_type"], "died");
    }
    client.close();
    assert_eq!(project.read("calls").matches("call die").count(), 3);
}

#[test]
fn a_server_that_is_not_to_be_started_again_is_not() {
    let project = Project::empty();
    let server = mortal(&project);
    let flags = ["--no-restart", "--retry-upstream", "never"];
    let mut client = proxy(&project, &flags, &["python3", &server]);
    client.open();
    trouble(&client.call("die", json!({})));
    trouble(&client.call("work", json!({})));
    client.close();
    assert_eq!(project.read("calls").matches("initialize\n").count(), 1);
}

#[test]
fn a_call_over_its_limit_is_cancelled_and_progress_gives_it_more_time() {
    let project = Project::empty();
    let server = python_server(
        &project,
        "late.py",
        r#"
if method == "initialize": opened(message)
elif method == "tools/call":
    if message["params"]["name"] == "works":
        for n in range(8):
            __import__("time").sleep(0.1)
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "t", "progress": n}})
        answer(message, {"content": [], "done": True})
    else: globals()["hanging"] = message
elif method == "notifications/cancelled":
    answer(hanging, {"content": [], "late": True})
    send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": message["params"]}})"#,
    );
    let flags = ["--tool-call-timeout", "400ms"];
    let mut client = proxy(&project, &flags, &["python3", &server]);
    client.open();
    let meta = json!({ "name": "works", "_meta": { "progressToken": "t" } });
    assert_eq!(
        client.ask("tools/call", meta.clone())["result"]["done"],
        true
    );
    let id = client.send("tools/call", json!({ "name": "hangs" }));
    let answer = client.answer(id);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let told = client.until_told("notifications/message");
    assert_eq!(told["params"]["data"]["requestId"], id);
    // The late answer is nobody's.
    let seen: Vec<&String> = client
        .raw
        .iter()
        .filter(|line| line.contains("\"late\""))
        .collect();
    assert!(seen.is_empty(), "{seen:?}");
    client.close();

    let flags = ["--tool-call-timeout", "400ms", "--tool-call-max", "500ms"];
    let mut client = proxy(&project, &flags, &["python3", &server]);
    client.open();
    assert_eq!(client.ask("tools/call", meta)["result"]["isError"], true);
    client.close();
}

/// The params of a modern request.
fn modern() -> Value {
    json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    } })
}

#[test]
fn a_server_that_dies_of_the_probe_for_its_era_is_shown_as_a_legacy_one() {
    let project = Project::empty();
    let mut client = proxy(
        &project,
        &[],
        &[
            JELLY,
            "mock",
            "--era",
            "legacy",
            "--fault",
            "exit@discover=1",
        ],
    );
    let probed = client.ask(
        "server/discover",
        json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    } }),
    );
    assert_eq!(probed["error"]["code"], -32601, "{probed}");
    let opened = client.open();
    assert_eq!(opened["result"]["serverInfo"]["name"], "jelly-mock");
    let again = client.ask("server/discover", json!({}));
    assert_eq!(again["error"]["code"], -32601);
    assert!(client.ask("tools/list", json!({})).get("result").is_some());
    client.close();
}

/// Says nothing to the probe, lives, and dies of the next line.
const MUTE: &str = r#"
if method == "server/discover":
    sys.stdin.readline()
    sys.exit("ValidationError: 24 validation errors for ClientRequest")
if method == "initialize": opened(message)
elif method == "tools/list": answer(message, {"tools": []})"#;

#[test]
fn a_server_that_is_silent_over_the_probe_and_dies_of_the_next_line_is_a_legacy_one() {
    let project = Project::empty();
    let server = python_server(&project, "mute.py", MUTE);
    let probe = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover",
        "params": modern() });
    for at_once in [false, true] {
        let began = Instant::now();
        let mut client = proxy(&project, &[], &["python3", &server]);
        client.say(&probe.to_string());
        if at_once {
            // As a client does that soon gives up on the probe.
            client.say(
                &json!({ "jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" } } })
                .to_string(),
            );
        }
        let probed: Value = serde_json::from_str(&client.line()).unwrap();
        assert_eq!(probed["error"]["code"], -32601, "{probed}");
        let opened = match at_once {
            true => serde_json::from_str(&client.line()).unwrap(),
            false => client.open(),
        };
        assert_eq!(opened["result"]["serverInfo"]["name"], "small", "{opened}");
        assert!(client.ask("tools/list", json!({})).get("result").is_some());
        assert!(
            began.elapsed() < Duration::from_secs(15),
            "no timeout was waited for"
        );
        client.close();
    }
    // Nor is a client that speaks the modern era without a probe left without
    // the reason.
    let mut client = proxy(&project, &[], &["python3", &server]);
    let answer = client.ask("tools/list", modern());
    assert_eq!(trouble(&answer)["data"]["error_type"], "era_mismatch");
    client.close();
    let mut client = proxy(&project, &[], &[JELLY, "mock", "--era", "legacy"]);
    let answer = client.ask("tools/list", modern());
    assert_eq!(trouble(&answer)["data"]["error_type"], "era_mismatch");
    client.close();
    let mut client = proxy(&project, &[], &[JELLY, "mock", "--era", "modern"]);
    let answer = client.ask("tools/list", modern());
    assert!(answer.get("result").is_some(), "{answer}");
    client.close();
}

#[test]
fn what_a_server_says_of_its_secrets_is_told_without_them() {
    let project = Project::empty();
    let said = "refused Authorization: Bearer zzyyxx1234567890aa, password=foo12345678, \
                postgres://app:zzyyxx1234567890aa@h/x, ghp_0123456789abcdefghij";
    let program = format!("import sys; sys.exit({said:?})");
    let curl = "curl -H \"Authorization: Bearer zzyyxx1234567890aa\" https://x.invalid";
    let mut client = proxy(&project, &[], &["python3", "-c", &program, curl]);
    let told = client.ask("initialize", json!({}));
    let evidence = trouble(&told)["data"]["evidence"]["text"].to_string();
    let shown = told.to_string();
    let stderr = client.close().stderr;
    let own: Vec<&str> = stderr
        .lines()
        .filter(|line| line.starts_with("jelly proxy:"))
        .collect();
    assert!(!own.is_empty(), "{stderr}");
    assert!(
        stderr.contains("foo12345678"),
        "the server's own lines pass"
    );
    for secret in ["zzyyxx", "foo12345678", "ghp_0123"] {
        assert!(!shown.contains(secret), "{shown}");
        assert!(!own.concat().contains(secret), "{own:?}");
    }
    assert!(evidence.contains("Bearer [redacted]"), "{evidence}");
}

#[test]
fn a_modern_client_before_a_legacy_server_gets_one_clear_error() {
    let project = Project::empty();
    let mut client = proxy(&project, &[], &[JELLY, "mock", "--era", "legacy"]);
    let meta = modern();
    let probed = client.ask("server/discover", meta.clone());
    assert_eq!(probed["error"]["code"], -32601);
    let answer = client.ask("tools/list", meta);
    let error = trouble(&answer);
    assert_eq!(error["data"]["error_type"], "era_mismatch");
    assert!(error["message"].as_str().unwrap().contains("2026-07-28"));
    client.close();
}

#[test]
fn a_modern_server_that_can_t_be_started_and_one_that_dies_are_told_likewise() {
    let project = Project::empty();
    let meta = modern();
    let mut client = proxy(&project, &[], &["no-such-program"]);
    trouble(&client.ask("server/discover", meta.clone()));
    client.close();
    let mut client = proxy(&project, &["--on-failure", "tool"], &["no-such-program"]);
    let opened = client.ask("server/discover", meta.clone());
    assert_eq!(
        opened["result"]["supportedVersions"][0], "2026-07-28",
        "{opened}"
    );
    assert_eq!(opened["result"]["resultType"], "complete");
    let tools = client.ask("tools/list", meta.clone());
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 1);
    client.close();

    let mut client = proxy(
        &project,
        &[],
        &[
            JELLY,
            "mock",
            "--era",
            "modern",
            "--fault",
            "exit@call:1=3",
            "--faulty-starts",
            "1",
            "--state",
            &project.at("state"),
        ],
    );
    client.ask("server/discover", meta.clone());
    let mut call = meta.clone();
    call["name"] = json!("echo");
    call["arguments"] = json!({ "message": "hi" });
    trouble(&client.ask("tools/call", call.clone()));
    let answer = client.ask("tools/call", call);
    assert_eq!(answer["result"]["content"][0]["text"], "hi", "{answer}");
    client.close();
}

#[test]
fn nothing_is_left_whoever_is_killed() {
    let project = Project::empty();
    let server = mortal(&project);
    for victim in ["client", "proxy", "server"] {
        let mut client = proxy(&project, &[], &["python3", &server]);
        client.open();
        let all = procs::alive(&project);
        let pid = match victim {
            "proxy" => client.pid(),
            _ => all.iter().map(|proc| proc.pid).max().unwrap(),
        };
        if victim != "client" {
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        client.close();
        procs::none_within(&project, Duration::from_secs(5));
    }
}

/// One that raises what the argument `mode` of a call names, in the call.
const RAISES: &str = r#"import json, os, socket, sys
def answer(message, result):
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        answer(message, {"protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "raises", "version": "1"}})
    elif method == "tools/list":
        answer(message, {"tools": [{"name": "t", "inputSchema":
            {"type": "object", "properties": {"mode": {"type": "string"}}}}]})
    elif method == "tools/call":
        mode = message["params"]["arguments"]["mode"]
        if mode == "json": json.loads("<html>")
        if mode == "variable": os.environ["NOPE_KEY"]
        if mode == "connection": socket.create_connection(("127.0.0.1", 1))
        if mode == "module": import not_there
        if mode == "disk": raise OSError(28, "No space left on device")
        if mode == "file": open("/nope/data.json")
        1 / 0
    elif "id" in message:
        error = {"code": -32601, "message": "no such method"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
"#;

#[test]
fn a_death_in_a_call_has_the_label_of_jelly_call_whatever_it_died_of() {
    let project = Project::empty();
    project.write("raises.py", RAISES);
    let server = project.at("raises.py");
    // What a crash has to have for the call at all is nothing of its code.
    for (mode, cause, outside) in [
        ("json", "crashed_during_call", false),
        ("variable", "missing_env_var", false),
        ("connection", "crashed_during_call", true),
        ("module", "missing_module", false),
        ("disk", "crashed_during_call", true),
        ("file", "crashed_during_call", true),
        ("zero", "crashed_during_call", false),
    ] {
        let mut client = proxy(&project, &["--no-restart"], &["python3", &server]);
        client.open();
        let told = client.call("t", json!({ "mode": mode }));
        let error = trouble(&told);
        let data = &error["data"];
        assert_eq!(data["error_type"], "died", "{told}");
        client.close();
        let mode_is = format!("mode={mode}");
        let words: [&str; 8] = [
            "call", "t", &mode_is, "--format", "json", "--", "python3", &server,
        ];
        let called = project.jelly(&words).output();
        let called: Value = serde_json::from_str(&called.stdout).unwrap();
        let diagnosis = &called["diagnosis"];
        for field in ["root_cause", "side", "error_category", "retryable", "rule"] {
            assert_eq!(data[field], diagnosis[field], "{mode}: {field}");
        }
        assert_eq!(data["root_cause"], cause, "{mode}");
        // It need not have died where the service answers.
        let undecided = mode == "connection";
        let side = match cause {
            "crashed_during_call" if !undecided => "code",
            _ => "test",
        };
        assert_eq!(data["side"], side, "{mode}");
        assert_eq!(data.get("ambiguous").is_some(), undecided, "{mode}");
        // What lies outside of its code is still the first thing to put right.
        let first = data["fix_instructions"][0].as_str().unwrap();
        assert_eq!(first.contains("outside of its code"), outside, "{first}");
    }
}

#[test]
fn a_line_of_the_client_that_is_no_json_is_blamed_on_no_file() {
    for is_open in [true, false] {
        let project = Project::empty();
        project.write("raises.py", RAISES);
        let server = project.at("raises.py");
        let mut client = proxy(&project, &["--no-restart"], &["python3", &server]);
        if is_open {
            client.open();
            client.ask("tools/list", json!({}));
        }
        client.say("this is not JSON");
        let told = client.ask("tools/list", json!({}));
        let error = trouble(&told);
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("a line of the client that is not JSON"),
            "{told}"
        );
        let data = &error["data"];
        assert_ne!(data["root_cause"], "invalid_config", "{told}");
        let ended = client.close();
        assert!(
            !ended.stderr.contains("quotes, indentation, brackets"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn a_crash_long_after_a_line_that_is_no_json_is_the_servers_own() {
    let project = Project::empty();
    project.write(
        "lenient.py",
        r#"
import json, sys
def say(id, result): print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
for line in sys.stdin:
    try: message = json.loads(line)
    except ValueError: continue
    method = message.get("method")
    if method == "initialize": say(message["id"], {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
    elif method == "tools/list": 1 / 0
"#,
    );
    let server = project.at("lenient.py");
    let mut client = proxy(&project, &["--no-restart"], &["python3", &server]);
    client.open();
    client.say("this is not JSON");
    let told = client.ask("tools/list", json!({}));
    let message = trouble(&told)["message"].as_str().unwrap();
    assert!(!message.contains("that is not JSON"), "{told}");
    client.close();
}

#[test]
fn a_death_in_a_call_has_one_label_with_and_without_a_proxy_before_the_server() {
    let project = Project::empty();
    let server = python_server(
        &project,
        "dies.py",
        r#"
if method == "initialize": opened(message)
elif method == "tools/list": answer(message, {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})
elif method == "tools/call": 1 / 0"#,
    );
    let labels = |before: &[&str], after: &[&str]| {
        let words = [before, &["python3", &server], after].concat();
        let (command, args) = (words[0], json!(words[1..]));
        let plan = format!(
            "version: 1\nname: p\nservers: {{ s: {{ command: {command:?}, args: {args} }} }}\nsteps: [{{ id: a, server: s, tool: t }}]\n"
        );
        project.write("plan.yaml", &plan);
        let ran = project.run(&["--no-history"]);
        let diagnosis = ran.last()["failures"][0]["diagnosis"].clone();
        let fields = [
            "side",
            "ambiguous",
            "error_category",
            "root_cause",
            "retryable",
        ];
        (
            ran.code,
            fields.map(|field| diagnosis[field].clone()),
            ran.help(),
        )
    };
    let bare = labels(&[], &[]);
    assert_eq!(bare.0, Some(1), "{bare:?}");
    assert_eq!(bare.1[3], "crashed_during_call");
    let behind = labels(&[JELLY, "proxy", "--"], &[]);
    assert_eq!((behind.0, &behind.1), (bare.0, &bare.1), "{behind:?}");
    // What the proxy was told to bring about is nobody's fault.
    let injected = labels(&[JELLY, "proxy", "--fault", "exit@call", "--"], &[]);
    assert_eq!(injected.0, Some(3), "{injected:?}");
    assert_eq!(injected.1[3], "crashed_during_call", "{injected:?}");
    // And what a server behind it is told is the server's.
    let own = labels(&[JELLY, "proxy", "--"], &["--fault"]);
    assert_eq!((own.0, &own.1), (bare.0, &bare.1), "{own:?}");
}
