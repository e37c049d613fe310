//! `jelly proxy --listen`: clients over HTTP in front of a server.

use crate::proxy::python_server;
use crate::support::listening::Listening;
use crate::support::{Project, procs};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::time::Duration;

fn listening(project: &Project, flags: &[&str], server: &[&str]) -> Listening {
    let mut args = vec!["--listen", "127.0.0.1:0"];
    args.extend(flags);
    args.push("--");
    args.extend(server);
    Listening::of(project, "proxy", &args, &[])
}

/// An answer as it came.
struct Answered {
    status: u16,
    session: Option<String>,
    messages: Vec<Value>,
}

impl Answered {
    fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let header = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.trim().to_owned())
        };
        let events = header("content-type").is_some_and(|kind| kind == "text/event-stream");
        let lines = body.lines().filter_map(|line| match events {
            true => line.strip_prefix("data: "),
            false => Some(line),
        });
        Self {
            status: head
                .split(' ')
                .nth(1)
                .and_then(|s| s.parse().ok())
                .unwrap_or_default(),
            session: header("mcp-session-id"),
            messages: lines
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect(),
        }
    }

    fn last(&self) -> &Value {
        self.messages.last().unwrap_or(&Value::Null)
    }
}

/// A client of the legacy era.
struct HttpClient<'s> {
    server: &'s Listening,
    session: String,
}

fn opening_line() -> String {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": crate::support::client::opening() })
        .to_string()
}

fn try_open(server: &Listening) -> Answered {
    Answered::read(server.open(&[], &opening_line()))
}

impl<'s> HttpClient<'s> {
    #[track_caller]
    fn open(server: &'s Listening) -> Self {
        let answered = try_open(server);
        assert_eq!(answered.status, 200, "{:?}", answered.messages);
        let session = answered.session.clone();
        let session = session.unwrap_or_else(|| panic!("a session: {:?}", answered.messages));
        let client = Self { server, session };
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(client.post(initialized).status, 202);
        client
    }

    fn stream(&self, verb: &str, body: &str) -> TcpStream {
        let headers = [("Mcp-Session-Id", self.session.as_str())];
        self.server.request(verb, &headers, body)
    }

    fn post(&self, body: &str) -> Answered {
        Answered::read(self.stream("POST", body))
    }

    fn call(&self, id: u64, tool: &str) -> Answered {
        self.post(&call(id, tool))
    }
}

fn call(id: u64, tool: &str) -> String {
    let params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": id } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// The next message of a stream.
fn next_event(stream: &mut BufReader<TcpStream>) -> Value {
    loop {
        let mut line = String::new();
        assert!(
            stream.read_line(&mut line).unwrap() > 0,
            "the stream goes on"
        );
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str(data).unwrap();
        }
    }
}

/// Tools that say who they are, ask, tell, wait, flood and die.
const TOOLS: &str = r#"
tool = (message.get("params") or {}).get("name")
def text(words): answer(message, {"content": [{"type": "text", "text": str(words)}]})
if method == "initialize": opened(message)
elif method == "tools/list": answer(message, {"tools": []})
elif tool == "pid": text(os.getpid())
elif tool == "asks":
    send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": message["params"]["_meta"]["progressToken"], "progress": 1}})
    send({"jsonrpc": "2.0", "id": "ask", "method": "roots/list"})
    globals()["waiting"] = message
elif message.get("id") == "ask": answer(waiting, {"content": [{"type": "text", "text": json.dumps(message["result"])}]})
elif tool == "later":
    text("now")
    send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "later"}})
elif tool == "flood":
    for n in range(20000): send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 2000}})
    text("done")
elif tool == "dies": sys.exit(3)"#;

#[test]
fn each_session_has_a_server_of_its_own_until_it_is_ended() {
    let project = Project::empty();
    let server = python_server(&project, "tools.py", TOOLS);
    let listening = listening(&project, &["--max-sessions", "2"], &["python3", &server]);
    let (one, other) = (HttpClient::open(&listening), HttpClient::open(&listening));
    let pid = |client: &HttpClient<'_>| {
        client.call(7, "pid").last()["result"]["content"][0]["text"].clone()
    };
    let (first, second) = (pid(&one), pid(&other));
    assert!(first.is_string() && first != second, "{first} {second}");
    assert_eq!(pid(&one), first);
    // There is no room for a third one, and it is said.
    let third = try_open(&listening);
    assert_eq!((third.status, third.session.as_deref()), (503, None));
    assert!(
        third.last()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("--max-sessions")
    );
    assert_eq!(Answered::read(one.stream("DELETE", "")).status, 200);
    assert_eq!(one.call(8, "pid").status, 404);
    assert_eq!(Answered::read(one.stream("DELETE", "")).status, 404);
    procs::until("room for another session", || {
        (try_open(&listening).status == 200).then_some(())
    });
    assert_eq!(pid(&other), second);
    drop(listening);
    procs::none_within(&project, Duration::from_secs(10));
}

#[test]
fn what_the_server_asks_and_tells_comes_with_the_request_or_by_the_stream_for_it() {
    let project = Project::empty();
    let server = python_server(&project, "tools.py", TOOLS);
    let listening = listening(&project, &[], &["python3", &server]);
    let client = HttpClient::open(&listening);
    let mut called = BufReader::new(client.stream("POST", &call(1, "asks")));
    assert_eq!(next_event(&mut called)["method"], "notifications/progress");
    assert_eq!(next_event(&mut called)["method"], "roots/list");
    let answer = r#"{"jsonrpc":"2.0","id":"ask","result":{"roots":[1]}}"#;
    assert_eq!(client.post(answer).status, 202);
    let answered = next_event(&mut called);
    assert_eq!(answered["id"], 1, "{answered}");
    assert!(answered.to_string().contains("roots"), "{answered}");
    // Between requests: it waits for the stream, and goes by it.
    assert_eq!(client.call(2, "later").status, 200);
    let mut stream = BufReader::new(client.stream("GET", ""));
    assert_eq!(next_event(&mut stream)["params"]["data"], "later");
    // A newer stream takes the place of an older one.
    let mut newer = BufReader::new(client.stream("GET", ""));
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    client.call(3, "later");
    assert_eq!(next_event(&mut newer)["params"]["data"], "later");
}

#[test]
fn a_batch_and_a_body_of_several_lines_pass_and_junk_is_refused() {
    let project = Project::empty();
    let batch = r#"
if line.startswith("["): say('[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]')
elif method == "initialize": opened(message)
elif method == "x": answer(message, {"line": line.rstrip("\n")})"#;
    let server = python_server(&project, "batch.py", batch);
    let listening = listening(&project, &[], &["python3", &server]);
    let client = HttpClient::open(&listening);
    let both = client
        .post(r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]"#);
    assert_eq!(
        both.last().as_array().map(Vec::len),
        Some(2),
        "{:?}",
        both.messages
    );
    // Of one id there is one answer.
    let twice = r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":1,"method":"b"}]"#;
    assert_eq!(client.post(twice).status, 200);
    let odd = client.post("{\n \"jsonrpc\": \"2.0\",\r\n \"id\": 7, \"method\": \"x\"}\n");
    assert_eq!(
        odd.last()["result"]["line"],
        "{  \"jsonrpc\": \"2.0\",   \"id\": 7, \"method\": \"x\"}"
    );
    for (body, status) in [("oops", 400), ("[1]", 400), ("{}", 400)] {
        assert_eq!(client.post(body).status, status, "{body}");
    }
    let kind = [("Content-Type", "text/plain")];
    assert_eq!(Answered::read(listening.open(&kind, "{}")).status, 415);
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert_eq!(Answered::read(listening.open(&[], list)).status, 400);
    assert_eq!(
        Answered::read(listening.request("PUT", &[], "{}")).status,
        405
    );
    let short = listening.open(&[("Content-Length", "50")], "{");
    short.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(Answered::read(short).status, 400);
    let huge = "x".repeat(17 * 1024 * 1024);
    let refused = Answered::read(listening.open(&[("Content-Length", "17825792")], &huge[..1024]));
    assert!(matches!(refused.status, 413 | 0), "{}", refused.status);
}

#[test]
fn only_local_pages_and_who_has_the_token_may_ask() {
    let project = Project::empty();
    let server = python_server(&project, "tools.py", TOOLS);
    let listening_here = listening(&project, &[], &["python3", &server]);
    for (headers, status) in [
        (&[("Host", "evil.example")][..], 403),
        (&[("Origin", "http://evil.example")], 403),
        (&[("Origin", "http://localhost:6274")], 200),
    ] {
        let answered = Answered::read(listening_here.open(headers, &opening_line()));
        assert_eq!(answered.status, status, "{headers:?}");
    }
    let open = ["proxy", "--listen", "0.0.0.0:0", "--", "python3", &server];
    let refused = project.jelly(&open).output();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("--token-env"), "{}", refused.stderr);
    let args = [
        "--listen",
        "0.0.0.0:0",
        "--token-env",
        "IT_TOKEN",
        "--",
        "python3",
        &server,
    ];
    let guarded = Listening::of(&project, "proxy", &args, &[("IT_TOKEN", "5ecret")]);
    for (sent, status) in [("Bearer 5ecret", 200), ("Bearer 5ecre", 401), ("", 401)] {
        let answered = Answered::read(guarded.open(&[("Authorization", sent)], &opening_line()));
        assert_eq!(answered.status, status, "{sent}");
    }
}

#[test]
fn a_server_that_can_not_be_started_is_told_with_200_and_tried_again_for_the_next_client() {
    let project = Project::empty();
    let server = python_server(&project, "tools.py", TOOLS);
    let ready = project.at("ready");
    let script = format!(
        "test -e {ready} || {{ echo \"Error: GITHUB_TOKEN environment variable is required\" >&2; exit 1; }}; exec python3 {server}"
    );
    let listening = listening(&project, &["--max-sessions", "1"], &["sh", "-c", &script]);
    let told = try_open(&listening);
    assert_eq!((told.status, told.session.as_deref()), (200, None));
    let data = &told.last()["error"]["data"];
    assert_eq!(data["root_cause"], "missing_env_var", "{:?}", told.messages);
    assert_eq!(told.last()["id"], 0);
    project.write("ready", "");
    procs::until("a session after the pause", || {
        try_open(&listening).session.map(drop)
    });
}

#[test]
fn a_slow_start_goes_on_for_the_next_client_that_comes() {
    let project = Project::empty();
    let server = python_server(&project, "tools.py", TOOLS);
    let script = format!("echo 'Downloading the package' >&2; sleep 2; exec python3 {server}");
    let flags = ["--startup-timeout", "500ms", "--max-sessions", "1"];
    let listening = listening(&project, &flags, &["sh", "-c", &script]);
    let told = try_open(&listening);
    assert_eq!(told.status, 200);
    assert_eq!(told.last()["error"]["data"]["error_type"], "still_starting");
    assert!(
        told.last().to_string().contains("Downloading"),
        "{:?}",
        told.messages
    );
    procs::until("a session once it has started", || {
        try_open(&listening).session.map(drop)
    });
}

#[test]
fn a_death_in_use_is_told_and_the_session_goes_on() {
    let project = Project::empty();
    let server = python_server(&project, "tools.py", TOOLS);
    let listening = listening(&project, &[], &["python3", &server]);
    let client = HttpClient::open(&listening);
    let died = client.call(1, "dies");
    assert_eq!(died.status, 200);
    assert_eq!(
        died.last()["error"]["data"]["error_type"],
        "died",
        "{:?}",
        died.messages
    );
    let next = client.call(2, "pid");
    assert_eq!(
        next.last()["result"]["_meta"]["jelly/restarted"]["count"],
        1,
        "{:?}",
        next.messages
    );
}

#[test]
fn an_idle_session_is_ended_with_its_server() {
    let project = Project::empty();
    let server = python_server(&project, "tools.py", TOOLS);
    let listening = listening(&project, &["--session-idle", "3s"], &["python3", &server]);
    let kept = HttpClient::open(&listening);
    let _stream = kept.stream("GET", "");
    let idle = HttpClient::open(&listening);
    procs::until("one server only", || {
        (procs::count_of(&project, "python3") == 1).then_some(())
    });
    assert_eq!(idle.call(1, "pid").status, 404);
    assert_eq!(
        kept.call(1, "pid").status,
        200,
        "one that listens is in use"
    );
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_client_that_never_reads_fills_no_memory_and_holds_nobody_up() {
    let project = Project::empty();
    let server = python_server(&project, "tools.py", TOOLS);
    let listening = listening(&project, &[], &["python3", &server]);
    let (deaf, other) = (HttpClient::open(&listening), HttpClient::open(&listening));
    let unread = deaf.stream("POST", &call(1, "flood"));
    for id in 0..20 {
        assert_eq!(other.call(id, "pid").status, 200);
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", listening.pid())).unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 120 * 1024, "{peak} kB of 40 MB that nobody reads");
    // Whoever reads after all gets all of it.
    let all = Answered::read(unread);
    assert_eq!(all.messages.len(), 20_001);
    assert_eq!(all.last()["result"]["content"][0]["text"], "done");
}

/// A server of the modern era that answers the calls of all its clients at once,
/// in the reverse order, and says what it was told to cancel.
const MODERN: &str = r#"
def done(message, result): answer(message, {**result, "resultType": "complete"})
tool = (message.get("params") or {}).get("name")
sys.stderr.write("got: " + line); sys.stderr.flush()
if method == "server/discover": done(message, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "pid": os.getpid()})
elif tool == "pair":
    held = globals().setdefault("held", []); held.append(message)
    if len(held) == 2:
        for m in reversed(held):
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": m["params"]["_meta"]["progressToken"], "progress": 1, "message": m["params"]["arguments"]["who"]}})
        for m in reversed(held): done(m, {"content": [{"type": "text", "text": m["params"]["arguments"]["who"]}]})
        held.clear()
elif tool == "wait":
    send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": message["params"]["_meta"]["progressToken"], "progress": 1}})
elif method == "notifications/cancelled": open(os.environ["CANCELLED"], "w").write(line)
elif method == "subscriptions/listen":
    meta = {"io.modelcontextprotocol/subscriptionId": message["id"]}
    send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {"_meta": meta}})
    send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": meta}})
elif method == "tools/call": refuse(message, -32602, "no such tool")
else: refuse(message, -32601, "Method not found")"#;

/// A request of the modern era, with its headers.
fn modern(server: &Listening, method: &str, params: Value, token: Value) -> TcpStream {
    modern_with(server, &[], method, params, token)
}

/// The same with more headers.
fn modern_with<'h>(
    server: &Listening,
    more: &[(&'h str, &'h str)],
    method: &'h str,
    mut params: Value,
    token: Value,
) -> TcpStream {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "it", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": token,
    });
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let body = json!({ "jsonrpc": "2.0", "id": "same", "method": method, "params": params });
    let mut headers = vec![
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", method),
    ];
    if !name.is_empty() {
        headers.push(("Mcp-Name", &name));
    }
    headers.extend(more);
    server.open(&headers, &body.to_string())
}

#[test]
fn modern_clients_share_one_server_and_nothing_crosses() {
    let project = Project::empty();
    let server = python_server(&project, "modern.py", MODERN);
    let cancelled = project.at("cancelled");
    let set = format!("CANCELLED={cancelled}");
    let listening = listening(&project, &["-e", &set], &["python3", &server]);
    let ask = |method: &str, params: Value| {
        Answered::read(modern(&listening, method, params, json!("t")))
    };
    let found = ask("server/discover", json!({}));
    assert_eq!(
        (found.status, found.session.as_deref()),
        (200, None),
        "{:?}",
        found.messages
    );
    let pid = found.last()["result"]["pid"].clone();
    assert_eq!(
        ask("server/discover", json!({})).last()["result"]["pid"],
        pid
    );
    // The same id and the same token from both.
    let pair = |who: &str| {
        let params = json!({ "name": "pair", "arguments": { "who": who } });
        modern(&listening, "tools/call", params, json!("same"))
    };
    let (one, other) = (pair("one"), pair("other"));
    for (stream, who) in [(one, "one"), (other, "other")] {
        let answered = Answered::read(stream);
        let [progress, result] = answered.messages.as_slice() else {
            panic!("{:?}", answered.messages);
        };
        assert_eq!(progress["params"]["progressToken"], "same");
        assert_eq!(progress["params"]["message"], who);
        assert_eq!(result["id"], "same");
        assert_eq!(result["result"]["content"][0]["text"], who);
    }
    // What the protocol says of errors, and of headers that do not fit.
    assert_eq!(ask("unheard/of", json!({})).status, 404);
    assert_eq!(ask("tools/call", json!({ "name": "nothing" })).status, 200);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover" }).to_string();
    let unfit = Answered::read(listening.open(&[("Mcp-Method", "tools/list")], &body));
    assert_eq!(
        (unfit.status, &unfit.last()["error"]["code"]),
        (400, &json!(-32020))
    );
    // A subscription comes under the client's own id.
    let stream = modern(
        &listening,
        "subscriptions/listen",
        json!({ "notifications": {} }),
        json!(1),
    );
    let mut stream = BufReader::new(stream);
    for method in [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
    ] {
        let told = next_event(&mut stream);
        assert_eq!(told["method"], method);
        assert_eq!(
            told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            "same"
        );
    }
    // A client that goes has its call cancelled, under the number of the server.
    let waits = modern(
        &listening,
        "tools/call",
        json!({ "name": "wait" }),
        json!("w"),
    );
    let mut waits = BufReader::new(waits);
    assert_eq!(next_event(&mut waits)["params"]["progressToken"], "w");
    drop(waits);
    procs::until("the word for it", || {
        let line = std::fs::read_to_string(&cancelled).ok()?;
        let line: Value = serde_json::from_str(&line).ok()?;
        line["params"]["requestId"].is_u64().then_some(())
    });
}

#[test]
fn arguments_that_travel_as_headers_are_held_against_the_message_once_they_are_listed() {
    let project = Project::empty();
    let server = python_server(
        &project,
        "mirrors.py",
        r#"
def done(message, result): answer(message, {**result, "resultType": "complete"})
region = {"type": "string", "x-mcp-header": "Region"}
schema = {"type": "object", "properties": {"region": region, "count": {"type": "integer", "x-mcp-header": "Count"}}}
if "_meta" not in (message.get("params") or {}): refuse(message, -32602, "no _meta")
elif method == "server/discover": done(message, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
elif method == "initialize": refuse(message, -32601, "Method not found")
elif method == "tools/list": done(message, {"tools": [{"name": "work", "inputSchema": schema}], "ttlMs": 0, "cacheScope": "private"})
elif method == "tools/call": done(message, {"content": []})"#,
    );
    let listening = listening(&project, &[], &["python3", &server]);
    let ask = |more: &[(&str, &str)], arguments: Value| {
        let params = json!({ "name": "work", "arguments": arguments });
        let asked = modern_with(&listening, more, "tools/call", params, json!(1));
        let answered = Answered::read(asked);
        let code = answered.last()["error"]["code"].as_i64();
        (answered.status, code)
    };
    let fine = (200, None);
    let refused = (400, Some(-32020));
    // A client that probes in a wrong way says nothing of the server's era, and
    // `initialize` in a modern message opens nothing.
    let probe = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover" }).to_string();
    let headers = [("Mcp-Method", "server/discover")];
    let probed = Answered::read(listening.open(&headers, &probe));
    assert_eq!(
        probed.last()["error"]["code"],
        -32602,
        "{:?}",
        probed.messages
    );
    let opened = Answered::read(modern(&listening, "initialize", json!({}), json!(1)));
    assert_eq!(opened.status, 404, "{:?}", opened.messages);
    let arguments = json!({ "region": "eü", "count": 7, "other": 1 });
    // Not known to be headers of it.
    assert_eq!(ask(&[("Mcp-Param-Region", "x")], arguments.clone()), fine);
    let listed = modern(&listening, "tools/list", json!({}), json!(1));
    assert_eq!(Answered::read(listed).status, 200);
    let region = ("Mcp-Param-Region", "=?base64?ZcO8?=");
    let count = ("mcp-param-count", "7");
    let of_nobody = ("Mcp-Param-Other", "2");
    for (more, arguments, wanted) in [
        (&[region, count, of_nobody][..], arguments.clone(), fine),
        (&[], json!({}), fine),
        (&[], json!({ "region": null }), fine),
        (&[], arguments.clone(), refused),
        (&[region], arguments.clone(), refused),
        (
            &[region, ("Mcp-Param-Count", "8")],
            arguments.clone(),
            refused,
        ),
        // Twice, in two voices.
        (
            &[region, count, ("Mcp-Param-Region", "us")],
            arguments.clone(),
            refused,
        ),
        (
            &[region, count, ("Mcp-Name", "play")],
            arguments.clone(),
            refused,
        ),
        (&[region], json!({}), refused),
    ] {
        assert_eq!(ask(more, arguments.clone()), wanted, "{more:?} {arguments}");
    }
    // A header that says more than the message.
    let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
    ];
    let answered = Answered::read(listening.open(&headers, &bare));
    assert_eq!(
        (answered.status, &answered.last()["error"]["code"]),
        (400, &json!(-32602))
    );
}

#[test]
fn a_session_takes_requests_in_versions_that_it_can_mean_and_streams_begin_anew() {
    let project = Project::empty();
    let server = python_server(&project, "tools.py", TOOLS);
    let listening = listening(&project, &[], &["python3", &server]);
    let client = HttpClient::open(&listening);
    let session = ("Mcp-Session-Id", client.session.as_str());
    for (version, status) in [
        ("2025-11-25", 200),
        ("2025-03-26", 200),
        ("2026-07-28", 400),
        ("2099-01-01", 400),
        ("nonsense", 400),
    ] {
        let headers = [session, ("MCP-Protocol-Version", version)];
        let answered = Answered::read(listening.request("POST", &headers, &call(1, "pid")));
        assert_eq!(
            answered.status, status,
            "{version}: {:?}",
            answered.messages
        );
    }
    let headers = [session, ("MCP-Protocol-Version", "nonsense")];
    assert_eq!(
        Answered::read(listening.request("GET", &headers, "")).status,
        400
    );
    // No event has an id, so that none can be meant by this one.
    let headers = [session, ("Last-Event-ID", "7")];
    let mut stream = BufReader::new(listening.request("GET", &headers, ""));
    let mut status = String::new();
    stream.read_line(&mut status).unwrap();
    assert!(status.contains(" 200 "), "{status}");
}

#[test]
fn a_modern_client_before_a_legacy_server_falls_back_by_the_refused_probe() {
    let project = Project::empty();
    let server = python_server(
        &project,
        "legacy.py",
        r#"
if method == "initialize": opened(message)
elif "id" in message: refuse(message, -32601, "Method not found")"#,
    );
    let listening = listening(&project, &[], &["python3", &server]);
    let probed = Answered::read(modern(&listening, "server/discover", json!({}), json!(1)));
    assert_eq!(probed.status, 400);
    assert_eq!(probed.last()["error"]["code"], -32601);
    HttpClient::open(&listening);
}

#[test]
fn a_url_behind_and_http_in_front_reach_each_other() {
    let project = Project::empty();
    let server = python_server(&project, "tools.py", TOOLS);
    let behind = listening(&project, &[], &["python3", &server]);
    let url = behind.url();
    let args = ["--listen", "127.0.0.1:0", "--url", &url];
    let front = Listening::of(&project, "proxy", &args, &[]);
    let client = HttpClient::open(&front);
    let mut called = BufReader::new(client.stream("POST", &call(1, "asks")));
    assert_eq!(next_event(&mut called)["method"], "notifications/progress");
    assert_eq!(next_event(&mut called)["method"], "roots/list");
    let answer = r#"{"jsonrpc":"2.0","id":"ask","result":{"roots":[1]}}"#;
    assert_eq!(client.post(answer).status, 202);
    assert_eq!(next_event(&mut called)["id"], 1);
    // The session behind ends with the one in front.
    assert_eq!(Answered::read(client.stream("DELETE", "")).status, 200);
    procs::until("the end of its server", || {
        (procs::count_of(&project, "python3") == 0).then_some(())
    });
    // One that would ask itself refuses.
    let itself = format!("http://127.0.0.1:{}/mcp", behind.port);
    let again = format!("127.0.0.1:{}", behind.port);
    drop(behind);
    let refused = project
        .jelly(&["proxy", "--url", &itself, "--listen", &again])
        .output();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("listens at"), "{}", refused.stderr);
}
