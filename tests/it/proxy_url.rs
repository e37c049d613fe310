//! `jelly proxy --url`: a server that is there already, behind stdin and stdout.

use crate::support::client::Client;
use crate::support::http::{self, Http, Request};
use crate::support::{Project, procs};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn proxy(project: &Project, server: &Http, flags: &[&str]) -> Client {
    at_port(project, server.port, flags)
}

fn at_port(project: &Project, port: u16, flags: &[&str]) -> Client {
    let url = format!("http://127.0.0.1:{port}/mcp");
    let mut args = vec!["proxy", "--url", &url];
    args.extend(flags);
    let call = project.jelly(&args).env("IT_KEY", "s3cret-of-the-test");
    procs::marked(project, call).client()
}

fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "it", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn messages_pass_as_they_are_with_session_version_and_headers() {
    let project = Project::empty();
    let server = Http::serve(|request, out| {
        http::legacy(request, out, |request, out| {
            let id = &request.message["id"];
            // Of several lines, with blanks and a number that no double holds.
            let body = format!(
                "{{\r\n  \"jsonrpc\" : \"2.0\",\n  \"id\": {id},\n  \"result\": {{ \"content\": [], \"n\": 12345678901234567890123 }}\n}}\n"
            );
            http::respond(out, 200, &["content-type: application/json"], body);
        });
    });
    let flags = [
        "--header",
        "X-Team: red",
        "--header-env",
        "X-Key=IT_KEY",
        "--bearer-env",
        "IT_KEY",
    ];
    let mut client = proxy(&project, &server, &flags);
    client.open();
    let line = r#"{"params":{"arguments":{"x":1.10},"name":"work"},"jsonrpc":"2.0","method":"tools/call","id":"é"}"#;
    client.say(line);
    assert_eq!(
        client.line(),
        "{    \"jsonrpc\" : \"2.0\",   \"id\": \"é\",   \"result\": { \"content\": [], \"n\": \
         12345678901234567890123 } }"
    );
    let ended = client.close();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains("s3cret"), "{}", ended.stderr);
    let heard = server.heard();
    let call = heard.iter().find(|r| r.method() == "tools/call").unwrap();
    assert_eq!(call.body, line);
    for (name, value) in [
        ("mcp-session-id", "session-1"),
        ("mcp-protocol-version", "2025-11-25"),
        ("x-team", "red"),
        ("x-key", "s3cret-of-the-test"),
        ("authorization", "Bearer s3cret-of-the-test"),
    ] {
        assert_eq!(call.header(name), value, "{name}");
    }
    let verbs = server.heard_in_short();
    assert!(verbs.contains(&"GET".to_owned()), "{verbs:?}");
    assert!(verbs.contains(&"DELETE".to_owned()), "{verbs:?}");
}

#[test]
fn a_server_that_does_not_answer_at_start_is_told_with_its_cause() {
    let project = Project::empty();
    type Answer = fn(&Request, &mut TcpStream);
    let html: Answer = |_, out| {
        http::respond(
            out,
            200,
            &["content-type: text/html"],
            "<html>Sign in</html>",
        );
    };
    let unauthorized: Answer = |_, out| {
        let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "Unauthorized"}});
        let kind = "content-type: application/json";
        let asks = "www-authenticate: Bearer error=\"invalid_token\"";
        http::respond(out, 401, &[kind, asks], error.to_string());
    };
    let gone: Answer = |_, out| http::respond(out, 503, &[], "upstream is down");
    let closed: Answer = |_, _| {};
    for (name, answer, says) in [
        ("html", html, "text/html"),
        ("401", unauthorized, "401"),
        ("503", gone, "503"),
        ("closed", closed, ""),
    ] {
        let server = Http::serve(answer);
        let mut client = proxy(&project, &server, &[]);
        let told = client.open();
        let error = &told["error"];
        assert_eq!(error["code"], -31000, "{name}: {told}");
        assert_eq!(
            error["data"]["error_type"], "startup_failed",
            "{name}: {told}"
        );
        assert!(error.to_string().contains(says), "{name}: {told}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("Fix: "), "{name}: {message}");
        // The same as `doctor` says of it.
        let url = format!("http://127.0.0.1:{}/mcp", server.port);
        let config = json!({ "mcpServers": { "it": { "url": url } } }).to_string();
        project.write(".mcp.json", config);
        let doctor = project
            .jelly(&["doctor", ".mcp.json", "--format", "json"])
            .output();
        let doctor: Value = serde_json::from_str(&doctor.stdout).unwrap();
        let cause = doctor["servers"][0].pointer("/diagnosis/root_cause");
        assert_eq!(
            Some(&error["data"]["root_cause"]),
            cause,
            "{name}: {doctor}"
        );
        let context = &error["data"]["error_context"];
        assert_eq!(context["command"], url.as_str(), "{name}");
        assert_eq!(client.close().code, Some(0));
    }
}

#[test]
fn a_server_that_comes_later_is_reached_at_a_later_request() {
    let project = Project::empty();
    // Down until it has been asked once.
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let server = Http::serve(move |request, out| {
        if count.fetch_add(1, Ordering::SeqCst) == 0 {
            return http::respond(out, 502, &[], "");
        }
        http::legacy(request, out, |request, out| {
            http::json_answer(out, &[], &http::result(request, http::text("done")));
        });
    });
    let mut client = proxy(&project, &server, &[]);
    assert_eq!(
        client.open()["error"]["data"]["error_type"],
        "startup_failed"
    );
    procs::until("the end of the pause", || {
        let called = client.call("work", json!({}));
        (called["result"]["content"][0]["text"] == "done").then_some(())
    });
    client.close();
}

#[test]
fn one_request_without_an_answer_is_told_and_the_next_one_goes_on() {
    let project = Project::empty();
    let server = Http::serve(|request, out| {
        http::legacy(
            request,
            out,
            |request, out| match request.message["params"]["name"].as_str() {
                Some("html") => {
                    http::respond(out, 500, &["content-type: text/html"], "<h1>oops</h1>")
                }
                Some("hang up") => {}
                Some("broken stream") => {
                    http::stream_head(out);
                    http::event(
                        out,
                        &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}),
                    );
                }
                Some("refused") => {
                    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "not today"}});
                    http::respond(
                        out,
                        400,
                        &["content-type: application/json"],
                        error.to_string(),
                    );
                }
                _ => http::json_answer(out, &[], &http::result(request, http::text("done"))),
            },
        );
    });
    let mut client = proxy(&project, &server, &[]);
    client.open();
    for tool in ["html", "hang up", "broken stream"] {
        let told = client.call(tool, json!({}));
        assert_eq!(
            told["error"]["data"]["error_type"], "no_answer",
            "{tool}: {told}"
        );
        assert!(
            told["error"]["message"].as_str().unwrap().contains("Fix: "),
            "{told}"
        );
        let done = client.call("work", json!({}));
        assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
    }
    // Its own word is its own.
    let refused = client.call("refused", json!({}));
    assert_eq!(refused["error"]["message"], "not today", "{refused}");
    client.close();
    let calls = server.heard_in_short();
    let calls = calls
        .iter()
        .filter(|heard| *heard == "POST tools/call")
        .count();
    assert_eq!(calls, 7, "no call is sent twice");
}

#[test]
fn a_lost_session_is_opened_again_and_what_it_refused_is_sent_once_more() {
    let project = Project::empty();
    let sessions = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sessions);
    let server = Http::serve(move |request, out| {
        let opened = count.load(Ordering::SeqCst);
        if request.method() == "initialize" {
            count.fetch_add(1, Ordering::SeqCst);
            let header = format!("mcp-session-id: s{}", opened + 1);
            let result = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "forgets", "version": "1" },
            });
            return http::json_answer(out, &[&header], &http::result(request, result));
        }
        let current = format!("s{opened}");
        let lost = request.method() == "tools/call"
            && request.message["params"]["name"] == "forget"
            && opened == 1;
        if lost || request.header("mcp-session-id") != current {
            return http::respond(out, 404, &[], "");
        }
        http::legacy(request, out, |request, out| {
            http::json_answer(out, &[], &http::result(request, http::text(&current)));
        });
    });
    let mut client = proxy(&project, &server, &[]);
    client.open();
    let called = client.call("forget", json!({}));
    assert_eq!(called["result"]["content"][0]["text"], "s2", "{called}");
    assert_eq!(
        called["result"]["_meta"]["jelly/restarted"]["count"], 1,
        "{called}"
    );
    client.until_told("notifications/tools/list_changed");
    let ended = client.close();
    assert_eq!(ended.code, Some(0));
    assert_eq!(sessions.load(Ordering::SeqCst), 2);
}

#[test]
fn a_stream_brings_what_the_server_asks_and_the_client_answers() {
    let project = Project::empty();
    let answered = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&answered);
    let server = Http::serve(move |request, out| {
        if request.message["id"] == "ask" && request.message.get("result").is_some() {
            count.fetch_add(1, Ordering::SeqCst);
            return http::respond(out, 202, &[], "");
        }
        http::legacy(request, out, |request, out| {
            http::stream_head(out);
            http::event(
                out,
                &json!({"jsonrpc": "2.0", "id": "ask", "method": "roots/list"}),
            );
            procs::until("the answer", || {
                (count.load(Ordering::SeqCst) == 1).then_some(())
            });
            http::event(out, &http::result(request, http::text("done")));
        });
    });
    let mut client = proxy(&project, &server, &[]);
    client.open();
    let id = client.send("tools/call", json!({ "name": "work" }));
    client.until_told("roots/list");
    client.say(r#"{"jsonrpc":"2.0","id":"ask","result":{"roots":[]}}"#);
    assert_eq!(client.answer(id)["result"]["content"][0]["text"], "done");
    client.close();
}

#[test]
fn a_modern_server_gets_its_headers_and_a_cancelled_call_has_its_stream_closed() {
    let project = Project::empty();
    let closed = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&closed);
    let server = Http::serve(move |request, out| {
        let tools = json!([{ "name": "work", "inputSchema": { "type": "object",
            "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } } }]);
        http::modern(request, out, &tools, |request, out| {
            if request.message["params"]["arguments"]["wait"] == true {
                http::stream_head(out);
                http::event(
                    out,
                    &json!({"jsonrpc": "2.0", "method": "notifications/progress",
                    "params": {"progressToken": 1, "progress": 1}}),
                );
                http::hold(out);
                count.fetch_add(1, Ordering::SeqCst);
                return;
            }
            let mut done = http::text("done");
            done["resultType"] = json!("complete");
            http::json_answer(out, &[], &http::result(request, done));
        });
    });
    let mut client = proxy(&project, &server, &[]);
    let found = client.ask("server/discover", json!({ "_meta": modern_meta() }));
    assert_eq!(
        found["result"]["supportedVersions"][0], "2026-07-28",
        "{found}"
    );
    client.ask("tools/list", json!({ "_meta": modern_meta() }));
    let arguments = json!({ "region": "eu" });
    let done = client.ask(
        "tools/call",
        json!({ "name": "work", "arguments": arguments, "_meta": modern_meta() }),
    );
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
    let waits = json!({ "name": "work", "arguments": { "wait": true }, "_meta": modern_meta() });
    let id = client.send("tools/call", waits);
    client.until_told("notifications/progress");
    client.notify("notifications/cancelled", json!({ "requestId": id }));
    procs::until("the end of its stream", || {
        (closed.load(Ordering::SeqCst) == 1).then_some(())
    });
    client.close();
    let heard = server.heard();
    let call = heard.iter().find(|r| r.method() == "tools/call").unwrap();
    for (name, value) in [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "work"),
        ("mcp-param-region", "eu"),
    ] {
        assert_eq!(call.header(name), value, "{name}");
    }
    let cancelled = heard
        .iter()
        .any(|r| r.method() == "notifications/cancelled");
    assert!(!cancelled, "the end of a stream is the word for it");
}

#[test]
fn a_legacy_server_behind_a_url_refuses_the_probe_so_that_a_client_falls_back() {
    let project = Project::empty();
    for status in [404, 405, 500] {
        let server = Http::serve(move |request, out| match request.method() {
            "server/discover" => http::respond(out, status, &[], "no"),
            _ => http::legacy(request, out, |_, _| {}),
        });
        let mut client = proxy(&project, &server, &[]);
        let probed = client.ask("server/discover", json!({ "_meta": modern_meta() }));
        assert_eq!(probed["error"]["code"], -32601, "{status}: {probed}");
        let opened = client.open();
        assert_eq!(
            opened["result"]["serverInfo"]["name"], "scripted",
            "{opened}"
        );
        client.close();
    }
}

#[test]
fn a_server_of_the_deprecated_transport_is_reached_and_its_lost_stream_is_told() {
    let project = Project::empty();
    let server = Http::old(|request| {
        let answer = match (request.method(), &request.message["params"]["name"]) {
            ("initialize", _) => json!({ "protocolVersion": "2024-11-05",
                "capabilities": { "tools": {} }, "serverInfo": { "name": "old" } }),
            ("tools/call", name) if name == "ask" => {
                return vec![json!({ "jsonrpc": "2.0", "id": "r", "method": "roots/list" })];
            }
            // The stream ends, and with it the session.
            ("tools/call", name) if name == "end" => return vec![Value::Null],
            ("tools/call", _) => http::text("done"),
            ("", _) if request.message["id"] == "r" => {
                let text = http::text(&request.message["result"].to_string());
                return vec![json!({ "jsonrpc": "2.0", "id": 3, "result": text })];
            }
            _ => return Vec::new(),
        };
        vec![http::result(request, answer)]
    });
    let mut client = proxy(&project, &server, &[]);
    let opened = client.open();
    assert_eq!(opened["result"]["serverInfo"]["name"], "old", "{opened}");
    let done = client.call("work", json!({}));
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
    // The server asks, and the answer finds it.
    let id = client.send("tools/call", json!({ "name": "ask", "arguments": {} }));
    assert_eq!(id, 3);
    assert_eq!(client.until_told("roots/list")["id"], "r");
    client.say(r#"{"jsonrpc":"2.0","id":"r","result":{"roots":[]}}"#);
    let answered = client.answer(id);
    assert_eq!(answered["result"]["content"][0]["text"], "{\"roots\":[]}");
    let ended = client.call("end", json!({}));
    assert!(ended["error"]["code"].is_i64(), "{ended}");
    // It is opened again.
    let again = client.call("work", json!({}));
    assert_eq!(again["result"]["content"][0]["text"], "done", "{again}");
    let verbs = server.heard_in_short();
    let opened = verbs.iter().filter(|verb| *verb == "POST initialize");
    assert!(opened.count() >= 2, "{verbs:?}");
    let ended = client.close();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

/// Listens after a while, answers with its process id, and dies where it is
/// asked to.
pub const STARTED: &str = r#"
import json, os, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def say(self, status, message):
        body = json.dumps(message).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        name = (message.get("params") or {}).get("name")
        if "id" not in message:
            self.send_response(202)
            return self.end_headers()
        if name == "dies":
            sys.stderr.write("Segmentation fault (core dumped)\n")
            sys.stderr.flush()
            os._exit(3)
        result = {"content": [{"type": "text", "text": str(os.getpid())}]}
        if message["method"] == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "started", "version": "1"}}
        self.say(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})
    def do_GET(self): self.send_error(405)
    do_DELETE = do_GET
if sys.argv[1] == "missing": sys.exit("ModuleNotFoundError: No module named 'flask'")
print("starting up", flush=True)
time.sleep(0.3)
HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

#[test]
fn a_server_that_is_started_and_reached_by_a_url_is_waited_for_and_comes_back() {
    let project = Project::empty();
    project.write("server.py", STARTED);
    project.write(
        "plan.yaml",
        "version: 1\nname: p\nservers:\n  s: { command: python3, args: [server.py, \"${port}\"], url: \"http://127.0.0.1:${port}/mcp\" }\nsteps: [{ id: a, server: s, list: tools }]\n",
    );
    let call = project.jelly(&["proxy", "--plan", "plan.yaml", "--server", "s"]);
    let mut client = procs::marked(&project, call).client();
    let opened = client.open();
    assert_eq!(
        opened["result"]["serverInfo"]["name"], "started",
        "{opened}"
    );
    let first = client.call("pid", json!({}))["result"]["content"][0]["text"].clone();
    let died = client.call("dies", json!({}));
    let data = &died["error"]["data"];
    assert_eq!(data["error_type"], "died", "{died}");
    assert_eq!(data["error_context"]["exit"]["code"], 3, "{died}");
    assert_eq!(data["error_context"]["command"], "python3", "{died}");
    let again = client.call("pid", json!({}));
    let second = &again["result"]["content"][0]["text"];
    assert!(second.is_string() && *second != first, "{again}");
    assert_eq!(again["result"]["_meta"]["jelly/restarted"]["count"], 1);
    let ended = client.close();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for said in ["starting up", "Segmentation fault"] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    // One that ends before it listens.
    let url = "http://127.0.0.1:9/mcp";
    let args = [
        "proxy",
        "--url",
        url,
        "--",
        "python3",
        "server.py",
        "missing",
    ];
    let mut client = procs::marked(&project, project.jelly(&args)).client();
    let failed = client.ask("initialize", crate::support::client::opening());
    let data = &failed["error"]["data"];
    assert_eq!(data["error_type"], "startup_failed", "{failed}");
    assert_eq!(data["root_cause"], "missing_module", "{failed}");
    client.close();
    // What listens there already is not its server.
    let stranger = Http::serve(|request, out| http::legacy(request, out, |_, _| {}));
    let port = stranger.port.to_string();
    let taken = format!("http://127.0.0.1:{port}/mcp");
    let args = [
        "proxy",
        "--url",
        &taken,
        "--",
        "python3",
        "server.py",
        &port,
    ];
    let mut client = procs::marked(&project, project.jelly(&args)).client();
    let failed = client.ask("initialize", crate::support::client::opening());
    let data = &failed["error"]["data"];
    assert_eq!(data["root_cause"], "port_in_use", "{failed}");
    assert!(stranger.heard_in_short().is_empty());
    client.close();
    let listening = ["--listen", "127.0.0.1:0", "--url", url, "--", "python3"];
    let args = [&["proxy"][..], &listening].concat();
    let refused = project.jelly(&args).output();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("start it yourself"),
        "{}",
        refused.stderr
    );
    procs::none_within(&project, Duration::from_secs(5));
}

#[test]
fn a_url_from_a_configuration_or_a_plan_is_reached_with_its_headers() {
    let project = Project::empty();
    let server = Http::serve(|request, out| {
        http::legacy(request, out, |_, _| {});
    });
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let config =
        json!({ "mcpServers": { "far": { "url": url, "headers": { "X-Key": "${IT_KEY}" } } } });
    project.write(".mcp.json", config.to_string());
    let plan = format!(
        "version: 1\nname: p\nservers:\n  far: {{ url: \"{url}\", headers: {{ X-Key: \"${{secret:IT_KEY}}\" }} }}\nsteps: [{{ id: a, server: far, list: tools }}]\n"
    );
    project.write("plan.yaml", plan);
    for source in [["--config", ".mcp.json"], ["--plan", "plan.yaml"]] {
        let mut args = vec!["proxy", "--server", "far"];
        args.extend(source);
        let call = project.jelly(&args).env("IT_KEY", "s3cret-of-the-test");
        let mut client = call.client();
        let opened = client.open();
        assert_eq!(
            opened["result"]["serverInfo"]["name"], "scripted",
            "{opened}"
        );
        client.close();
    }
    let heard = server.heard();
    let keys: Vec<&str> = heard
        .iter()
        .filter(|r| r.method() == "initialize")
        .map(|r| r.header("x-key"))
        .collect();
    assert_eq!(keys, ["s3cret-of-the-test"; 2]);
}

#[test]
fn what_can_not_be_meant_is_refused() {
    let project = Project::empty();
    for (args, says) in [
        (&["proxy", "--url", "ftp://h/"][..], "not a URL of a server"),
        (
            &["proxy", "--url", "http://h/", "--header", "nonsense"],
            "NAME: VALUE",
        ),
        (
            &[
                "proxy",
                "--url",
                "http://h/",
                "--header-env",
                "A=IT_NOT_SET",
            ],
            "IT_NOT_SET",
        ),
        (&["proxy", "--url", "http://h/", "-e", "A=b"], "--header"),
        (
            &["proxy", "--url", "http://h/", "--bearer-env", "IT_NOT_SET"],
            "IT_NOT_SET",
        ),
        (&["proxy", "--header", "A: b", "--", "x"], "--url"),
        (
            &["proxy", "--plan", "p.yaml", "--server", "s", "--", "x"],
            "cannot be used with",
        ),
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
    procs::none_within(&project, Duration::from_secs(5));
}
