use super::Server;
use crate::action::Action;
use crate::files::FileRequest;
use crate::host::Host;
use crate::script::parse;
use crate::spec::Script;
use crate::state::State;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

struct Lab;

impl Host for Lab {
    fn env(&self, name: &str) -> Option<String> {
        (name == "TOKEN").then(|| "s3 cr3t".to_owned())
    }
    fn pid(&self) -> u32 {
        42
    }
    fn cwd(&self) -> String {
        "/lab".to_owned()
    }
    fn entropy(&self) -> u64 {
        1
    }
    fn is_dir(&self, path: &str) -> bool {
        path == "/there"
    }
    fn file(&mut self, _: &str, request: FileRequest<'_>) -> Result<String, String> {
        Ok(format!("{request:?}"))
    }
}

fn script(text: &str) -> Script {
    parse(text, Path::new("mock.yaml")).unwrap_or_else(|e| panic!("{e}"))
}

fn server(text: &str) -> Server<Lab> {
    Server::new(script(text), Lab, State::default())
}

/// A server that a legacy client has shaken hands with.
fn legacy(text: &str) -> Server<Lab> {
    let mut server = server(text);
    server.start();
    ask(
        &mut server,
        "initialize",
        json!({"protocolVersion": "2025-06-18"}),
    );
    server
}

fn ask(server: &mut Server<Lab>, method: &str, params: Value) -> Vec<Action> {
    server.line(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string())
}

/// All messages on stdout, those due later included.
fn messages(actions: &[Action]) -> Vec<Value> {
    let mut found = Vec::new();
    for action in actions {
        match action {
            Action::Write { bytes, .. } => found.extend(
                String::from_utf8_lossy(bytes)
                    .lines()
                    .filter_map(|line| serde_json::from_str(line).ok()),
            ),
            Action::Later { then, .. } => found.extend(messages(then)),
            _not_on_stdout => {}
        }
    }
    found
}

/// The one message of an answer.
fn answer(server: &mut Server<Lab>, method: &str, params: Value) -> Value {
    let actions = ask(server, method, params);
    let mut all = messages(&actions);
    assert_eq!(all.len(), 1, "{actions:?}");
    all.remove(0)
}

fn call(server: &mut Server<Lab>, tool: &str, args: Value) -> Value {
    answer(
        server,
        "tools/call",
        json!({"name": tool, "arguments": args}),
    )
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or("?")
}

fn meta(extra: Value) -> Value {
    let mut params = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    for (key, value) in extra.as_object().into_iter().flatten() {
        params[key] = value.clone();
    }
    params
}

fn stderr(actions: &[Action]) -> String {
    actions
        .iter()
        .filter_map(|action| match action {
            Action::Stderr(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _elsewhere => None,
        })
        .collect()
}

#[test]
fn a_legacy_client_is_served_from_initialize_to_a_call() {
    let mut server = server("");
    assert!(server.start().is_empty());
    let reply = answer(
        &mut server,
        "initialize",
        json!({"protocolVersion": "2024-11-05"}),
    );
    assert_eq!(reply["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(reply["result"]["serverInfo"]["name"], "jelly-mock");
    assert!(reply["result"].get("resultType").is_none());
    assert!(
        server
            .line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .is_empty()
    );
    let reply = answer(&mut server, "tools/list", Value::Null);
    assert_eq!(reply["result"]["tools"].as_array().map(Vec::len), Some(8));
    assert!(reply["result"].get("nextCursor").is_none());
    let reply = call(&mut server, "add", json!({"a": 2, "b": 3}));
    assert_eq!(text(&reply), "5");
    assert_eq!(reply["result"]["structuredContent"], json!({"sum": 5}));
    assert_eq!(
        answer(&mut server, "ping", Value::Null)["result"],
        json!({})
    );
    assert_eq!(server.end_of_input(), [Action::Exit(0)]);
}

#[test]
fn a_modern_client_is_served_without_a_handshake() {
    let mut server = server("");
    let reply = answer(&mut server, "server/discover", meta(json!({})));
    let result = &reply["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "private");
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "jelly-mock"
    );
    let reply = answer(
        &mut server,
        "tools/call",
        meta(json!({"name": "echo", "arguments": {"message": "hi"}})),
    );
    assert_eq!(text(&reply), "hi");
    assert_eq!(reply["result"]["resultType"], "complete");
    assert!(reply["result"].get("ttlMs").is_none());
}

#[test]
fn modern_metadata_is_checked() {
    let mut server = server("era: modern");
    let reply = answer(&mut server, "server/discover", json!({}));
    assert_eq!(reply["error"]["code"], -32602);
    let mut params = meta(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    let reply = answer(&mut server, "server/discover", params);
    assert_eq!(reply["error"]["code"], -32022);
    assert_eq!(
        reply["error"]["data"],
        json!({"supported": ["2026-07-28"], "requested": "1900-01-01"})
    );
    let reply = answer(
        &mut server,
        "tools/list",
        json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}),
    );
    assert_eq!(reply["error"]["code"], -32602);
    let reply = answer(
        &mut server,
        "initialize",
        json!({"protocolVersion": "2025-11-25"}),
    );
    assert!(
        reply["error"]["message"]
            .as_str()
            .unwrap()
            .contains("2026-07-28")
    );
}

#[test]
fn a_legacy_server_takes_the_probe_in_one_of_three_ways() {
    let probe = || meta(json!({}));
    let mut server_ = server("era: legacy");
    let reply = answer(&mut server_, "server/discover", probe());
    assert_eq!(reply["error"]["code"], -32601);
    let mut server_ = server("{era: legacy, unknown_methods: ignore}");
    assert!(ask(&mut server_, "server/discover", probe()).is_empty());
    let mut server_ = server("{era: legacy, unknown_methods: die}");
    let actions = ask(&mut server_, "server/discover", probe());
    assert!(stderr(&actions).contains("ValidationError"));
    assert_eq!(actions.last(), Some(&Action::Exit(1)));
}

#[test]
fn nothing_is_served_before_the_handshake_of_a_legacy_client() {
    let mut server = server("");
    let reply = call(&mut server, "echo", json!({"message": "x"}));
    assert_eq!(reply["error"]["code"], -32602);
}

#[test]
fn what_is_no_request_gets_the_errors_of_json_rpc() {
    let mut server = server("");
    assert_eq!(messages(&server.line("{oops"))[0]["error"]["code"], -32700);
    assert_eq!(messages(&server.line("[]"))[0]["error"]["code"], -32600);
    assert_eq!(
        messages(&server.line("{\"id\":1}"))[0]["error"]["code"],
        -32600
    );
    assert!(server.line("  \n").is_empty());
    let reply = answer(&mut legacy(""), "no/such", Value::Null);
    assert_eq!(reply["error"]["code"], -32601);
}

#[test]
fn built_in_tools_do_what_they_say() {
    let mut server = legacy("");
    let reply = call(&mut server, "fail", json!({"message": "no"}));
    assert_eq!(
        (text(&reply), &reply["result"]["isError"]),
        ("no", &json!(true))
    );
    assert_eq!(text(&call(&mut server, "counter", json!({}))), "1");
    assert_eq!(text(&call(&mut server, "counter", json!({}))), "2");
    assert_eq!(
        text(&call(&mut server, "env", json!({"name": "TOKEN"}))),
        "s3 cr3t"
    );
    assert_eq!(
        call(&mut server, "env", json!({"name": "X"}))["result"]["isError"],
        true
    );
    assert_eq!(
        call(&mut server, "add", json!({"a": "2", "b": 3}))["error"]["code"],
        -32602
    );
    assert_eq!(
        call(&mut server, "add", json!({"a": 0.5, "b": 1}))["result"]["structuredContent"],
        json!({"sum": 1.5})
    );
    assert_eq!(
        call(&mut server, "nope", json!({}))["error"]["code"],
        -32602
    );
    let crash = ask(
        &mut server,
        "tools/call",
        json!({"name": "crash", "arguments": {"code": 9}}),
    );
    assert_eq!(crash, [Action::Exit(9)]);
    let sleep = ask(
        &mut server,
        "tools/call",
        json!({"name": "sleep", "arguments": {"ms": 30}}),
    );
    assert!(matches!(
        &sleep[..],
        [Action::Later { after, request, .. }]
            if *after == Duration::from_millis(30) && request == "1"
    ));
}

#[test]
fn scripted_tools_answer_in_turn_with_their_references_filled_in() {
    let mut server = legacy(
        r#"
tools:
  - name: t
    responses:
      - text: "call ${call} of ${args.who}"
      - structured: { n: "${args.n}", deep: "${args.list.1}" }
      - error: { code: -1, message: "no ${args.who}", data: { start: "${start}" } }
"#,
    );
    let args = json!({"who": "ann", "n": 3, "list": ["a", "b"]});
    assert_eq!(text(&call(&mut server, "t", args.clone())), "call 1 of ann");
    let reply = call(&mut server, "t", args.clone());
    assert_eq!(
        reply["result"]["structuredContent"],
        json!({"n": 3, "deep": "b"})
    );
    assert_eq!(text(&reply), r#"{"n":3,"deep":"b"}"#);
    let error = json!({"code": -1, "message": "no ann", "data": {"start": 1}});
    for _ in 0..2 {
        assert_eq!(call(&mut server, "t", args.clone())["error"], error);
    }
    assert_eq!(
        call(&mut server, "echo", json!({"message": "x"}))["error"]["code"],
        -32602,
        "built-in tools are only offered where nothing is scripted"
    );
}

#[test]
fn a_cycle_begins_again() {
    let mut server = legacy("tools: [{name: t, cycle: true, responses: [{text: a}, {text: b}]}]");
    let said: Vec<String> = (0..4)
        .map(|_| text(&call(&mut server, "t", json!({}))).to_owned())
        .collect();
    assert_eq!(said, ["a", "b", "a", "b"]);
}

#[test]
fn a_sequence_goes_on_across_lives_only_if_asked() {
    for (persist, second) in [(true, "b"), (false, "a")] {
        let text_ = format!(
            "{{state_file: s, persist: {persist}, tools: [{{name: t, responses: [{{text: a}}, {{text: b}}]}}]}}"
        );
        let mut first = legacy(&text_);
        call(&mut first, "t", json!({}));
        let kept = first.state.clone();
        let mut next = Server::new(script(&text_), Lab, kept);
        ask(&mut next, "initialize", json!({}));
        assert_eq!(text(&call(&mut next, "t", json!({}))), second);
    }
}

#[test]
fn each_start_has_its_own_faults_and_the_last_entry_holds() {
    let text = "{state_file: s, starts: [{exit: 3, stderr: busy}, {}]}";
    let mut before = State::default();
    for expected in [true, false, false] {
        let mut server = Server::new(script(text), Lab, before);
        let actions = server.start();
        assert_eq!(actions.contains(&Action::Exit(3)), expected);
        assert_eq!(stderr(&actions) == "busy\n", expected);
        assert!(matches!(actions[0], Action::Persist(_)));
        before = server.state.clone();
    }
}

#[test]
fn faults_can_be_limited_to_the_first_starts() {
    let text = "{state_file: s, faulty_starts: 2, faults: [exit]}";
    let mut before = State::default();
    for expected in [true, true, false] {
        let mut server = Server::new(script(text), Lab, before);
        assert_eq!(server.start().contains(&Action::Exit(1)), expected);
        before = server.state.clone();
    }
}

#[test]
fn a_fault_acts_at_its_phase_and_nowhere_else() {
    let mut server = legacy("faults: [exit@call:2=7, 'stderr@tool:echo=heard', hang@list]");
    let echo = json!({"name": "echo", "arguments": {"message": "x"}});
    let first = ask(&mut server, "tools/call", echo.clone());
    assert_eq!(stderr(&first), "heard\n");
    assert_eq!(messages(&first).len(), 1);
    assert_eq!(ask(&mut server, "tools/list", json!({})), [Action::Hang]);
    let second = ask(&mut server, "tools/call", echo);
    assert_eq!(second.last(), Some(&Action::Exit(7)));
    assert!(messages(&second).is_empty());
}

#[test]
fn faults_of_a_response_act_with_it_alone() {
    let mut server = legacy("tools: [{name: t, responses: [{text: a}, {faults: [exit=5]}]}]");
    assert_eq!(text(&call(&mut server, "t", json!({}))), "a");
    let second = ask(&mut server, "tools/call", json!({"name": "t"}));
    assert_eq!(second, [Action::Exit(5)]);
}

#[test]
fn the_whole_handshake_has_a_phase_of_its_own() {
    for method in ["initialize", "server/discover"] {
        let mut server = server("faults: [exit_after@handshake=1]");
        let actions = ask(&mut server, method, meta(json!({})));
        assert_eq!(messages(&actions).len(), 1);
        assert_eq!(actions.last(), Some(&Action::Exit(1)));
    }
}

#[test]
fn what_is_missing_at_the_start_is_named_before_the_end() {
    let mut server_ = server("faults: [require_env=NOPE]");
    let actions = server_.start();
    assert_eq!(
        stderr(&actions),
        "Error: environment variable NOPE is not set\n"
    );
    assert_eq!(actions.last(), Some(&Action::Exit(1)));
    assert!(
        server("faults: [require_env=TOKEN, require_dir=/there]")
            .start()
            .is_empty()
    );
    let mut server_ = server("files: /gone");
    let actions = server_.start();
    assert_eq!(stderr(&actions), "Error: directory /gone does not exist\n");
    assert_eq!(actions.last(), Some(&Action::Exit(1)));
}

#[test]
fn a_secret_is_shown_in_every_form_it_is_asked_for() {
    let said = |form: &str| stderr(&server(&format!("faults: ['echo_env=TOKEN,{form}']")).start());
    assert_eq!(said("plain"), "using TOKEN=s3 cr3t\n");
    assert_eq!(said("split"), "using TOKEN=s3 cr3t\n");
    assert_eq!(said("url"), "using TOKEN=s3%20cr3t\n");
    assert_eq!(said("base64"), "using TOKEN=czMgY3IzdA==\n");
    assert_eq!(said("json"), "using TOKEN=\"s3 cr3t\"\n");
    let mut server = legacy("faults: ['echo_env@call=TOKEN,result']");
    let reply = call(&mut server, "echo", json!({"message": "x"}));
    assert_eq!(reply["result"]["content"][1]["text"], "s3 cr3t");
}

#[test]
fn a_legacy_server_asks_its_client_and_answers_when_it_knows() {
    let mut server = legacy("faults: [ask=roots]");
    let echo = json!({"name": "echo", "arguments": {"message": "x"}});
    let question = messages(&ask(&mut server, "tools/call", echo));
    assert_eq!(question[0]["method"], "roots/list");
    let said = server.line(
        &json!({"jsonrpc": "2.0", "id": question[0]["id"], "result": {"roots": []}}).to_string(),
    );
    let reply = &messages(&said)[0];
    assert_eq!(reply["id"], 1);
    assert_eq!(
        reply["result"]["content"][1]["text"],
        r#"client answered: {"roots":[]}"#
    );
}

#[test]
fn a_server_that_does_not_wait_asks_and_answers_at_once() {
    let mut server = legacy("faults: [ask_nowait]");
    let echo = json!({"name": "echo", "arguments": {"message": "x"}});
    let said = messages(&ask(&mut server, "tools/call", echo));
    assert_eq!(said[0]["method"], "ping");
    assert_eq!(text(&said[1]), "x");
    let late = json!({"jsonrpc": "2.0", "id": said[0]["id"], "result": {}});
    assert!(server.line(&late.to_string()).is_empty());
}

#[test]
fn a_modern_server_asks_in_its_result_if_the_client_can_answer() {
    let mut server = server("faults: [ask=elicitation]");
    let mut params = meta(json!({"name": "echo", "arguments": {"message": "x"}}));
    let reply = answer(&mut server, "tools/call", params.clone());
    assert_eq!(reply["error"]["code"], -32021);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    let reply = answer(&mut server, "tools/call", params.clone());
    assert_eq!(reply["result"]["resultType"], "input_required");
    assert_eq!(
        reply["result"]["inputRequests"]["mock"]["method"],
        "elicitation/create"
    );
    params["inputResponses"] = json!({"mock": {"action": "decline"}});
    let reply = answer(&mut server, "tools/call", params);
    assert_eq!(reply["result"]["resultType"], "complete");
    assert_eq!(
        reply["result"]["content"][1]["text"],
        r#"client answered: {"action":"decline"}"#
    );
}

#[test]
fn progress_is_spread_over_the_wait_and_needs_a_token() {
    let mut server = legacy("faults: [progress=3, slow=400ms]");
    let mut params = json!({"name": "echo", "arguments": {"message": "x"}});
    assert_eq!(
        messages(&ask(&mut server, "tools/call", params.clone())).len(),
        1
    );
    params["_meta"] = json!({"progressToken": "t"});
    let actions = ask(&mut server, "tools/call", params);
    let times: Vec<u128> = actions
        .iter()
        .map(|action| match action {
            Action::Later { after, .. } => after.as_millis(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(times, [100, 200, 300, 400]);
    assert_eq!(messages(&actions)[2]["params"]["progress"], 3);
}

#[test]
fn a_cancelled_request_is_no_longer_due() {
    let mut server = legacy("");
    let cancelled = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    });
    assert_eq!(
        server.line(&cancelled.to_string()),
        [Action::Cancel("1".to_owned())]
    );
}

#[test]
fn validated_arguments_are_refused_with_the_place() {
    let text = r#"
validate: true
tools:
  - name: t
    inputSchema: { type: object, properties: { n: { type: integer } }, required: [n] }
    response: { text: "n is ${args.n}" }
"#;
    let mut server = legacy(text);
    assert_eq!(
        self::text(&call(&mut server, "t", json!({"n": 1}))),
        "n is 1"
    );
    let reply = call(&mut server, "t", json!({"n": "1"}));
    assert_eq!(reply["error"]["code"], -32602);
    assert!(reply["error"]["message"].as_str().unwrap().contains("/n"));
    assert_eq!(call(&mut server, "t", Value::Null)["error"]["code"], -32602);
}

#[test]
fn the_same_seed_is_wrong_at_the_same_calls() {
    let run = |seed: u64| -> Vec<bool> {
        let mut server = legacy(&format!("{{seed: {seed}, faults: [flaky=0.5]}}"));
        (0..32)
            .map(|_| text(&call(&mut server, "echo", json!({"message": "x"}))) == "x")
            .collect()
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
    assert!(run(7).contains(&true) && run(7).contains(&false));
}

#[test]
fn a_wrong_value_may_differ_each_time() {
    let mut server = legacy("faults: ['wrong_value=no ${random}']");
    let mut wrong = || text(&call(&mut server, "echo", json!({"message": "x"}))).to_owned();
    let (a, b) = (wrong(), wrong());
    assert!(
        a.starts_with("no ") && b.starts_with("no ") && a != b,
        "{a} {b}"
    );
}

#[test]
fn resources_and_prompts_are_served_where_they_are_scripted() {
    let mut server = legacy(
        r#"
resources: [{ uri: "file:///a", text: hello, mimeType: text/plain }]
prompts:
  - name: greet
    arguments: [{ name: who, required: true }]
    text: "Greet ${args.who}"
"#,
    );
    let list = answer(&mut server, "resources/list", json!({}));
    assert_eq!(list["result"]["resources"][0]["name"], "file:///a");
    let read = answer(&mut server, "resources/read", json!({"uri": "file:///a"}));
    assert_eq!(read["result"]["contents"][0]["text"], "hello");
    let gone = answer(&mut server, "resources/read", json!({"uri": "file:///b"}));
    assert_eq!(gone["error"]["code"], -32002);
    let prompt = answer(
        &mut server,
        "prompts/get",
        json!({"name": "greet", "arguments": {"who": "ann"}}),
    );
    assert_eq!(
        prompt["result"]["messages"][0]["content"]["text"],
        "Greet ann"
    );
    let missing = answer(&mut server, "prompts/get", json!({"name": "greet"}));
    assert_eq!(missing["error"]["code"], -32602);
    let mut bare = legacy("");
    let none = answer(&mut bare, "prompts/list", json!({}));
    assert_eq!(none["error"]["code"], -32601);
}

#[test]
fn an_end_of_input_can_be_slow_wrong_or_ignored() {
    let mut slow = server("faults: [slow@shutdown=1s, exit@shutdown=4]");
    assert_eq!(
        slow.end_of_input(),
        [
            Action::Pause(Duration::from_secs(1)),
            Action::Exit(4),
            Action::Exit(0)
        ]
    );
    let mut deaf = server("faults: [ignore_eof]");
    assert_eq!(deaf.end_of_input(), [Action::Hang]);
}

proptest::proptest! {
    #[test]
    fn no_line_makes_the_core_panic_and_every_reply_is_one_line(line in "\\PC*") {
        let mut server = legacy("");
        for action in server.line(&line) {
            if let Action::Write { bytes, .. } = action {
                proptest::prop_assert_eq!(bytes.iter().filter(|b| **b == b'\n').count(), 1);
            }
        }
    }

    #[test]
    fn no_shape_of_message_makes_the_core_panic(
        id in proptest::sample::select(vec!["1", "null", "\"a\"", "[]", "1.5"]),
        method in proptest::sample::select(vec![
            "initialize", "tools/list", "tools/call", "prompts/get", "ping", "notifications/cancelled",
        ]),
        params in proptest::sample::select(vec![
            "null", "[]", "1", "\"x\"", "{\"name\":1}", "{\"name\":\"echo\",\"arguments\":[]}",
            "{\"_meta\":7}", "{\"cursor\":{}}", "{\"_meta\":{\"progressToken\":[]}}",
        ]),
    ) {
        let mut server = legacy("{faults: [progress, malformed_tools=no_name, schema_breach, list_loop]}");
        let line = format!("{{\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}");
        let replies = messages(&server.line(&line)).into_iter().filter(|m| m.get("id").is_some());
        proptest::prop_assert!(replies.count() <= 1);
    }
}
