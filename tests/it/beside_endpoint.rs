//! `http`: what stands beside the endpoint of a server.

use crate::support::http::{Http, Request, json_answer, legacy, respond, result, text};
use crate::support::{Project, Run, run};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An endpoint with some pages beside it, and what of a request they saw.
fn server() -> Http {
    Http::serve(
        |request, out| match (request.verb.as_str(), request.path.as_str()) {
            (_, "/mcp") => legacy(request, out, done),
            ("GET", "/.well-known/a?x=1") => {
                let headers = [
                    "content-type: application/json",
                    "set-cookie: sid=swordfish-7",
                ];
                let body = json!({
                    "resource": "r1",
                    "token": request.header("x-token"),
                    "own": request.header("x-own"),
                });
                respond(out, 200, &headers, body.to_string());
            }
            ("POST", "/echo") => respond(out, 201, &["content-type: text/plain"], &request.body),
            (_, "/stream") => {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n";
                out.write_all(head.as_bytes()).unwrap();
                // Until who asked has gone.
                let _ = out.read(&mut [0]);
            }
            (_, "/old") => respond(out, 302, &["location: /new"], ""),
            (_, "/busy") => respond(out, 503, &["content-type: text/plain"], "no upstream"),
            (_, "/private") => respond(out, 401, &["www-authenticate: Bearer"], "no"),
            _ => respond(out, 404, &["content-type: text/plain"], ""),
        },
    )
}

fn done(request: &Request, out: &mut TcpStream) {
    json_answer(out, &[], &result(request, text("done")));
}

fn plan(server: &Http, steps: &str) -> String {
    let entry = server.entry(", headers: { X-Token: \"${secret:TOKEN}\" }");
    format!("version: 1\nvars: {{ page: a }}\nservers: {{ s: {entry} }}\nsteps:\n{steps}")
}

fn with_token(plan: &str, args: &[&str]) -> (Project, Run) {
    let project = Project::with(plan);
    let ended = project.call(args).env("TOKEN", "swordfish-9").output();
    let run = Run::of(&project, ended);
    (project, run)
}

/// What may still come, nobody knows.
#[test]
fn of_a_stream_that_goes_on_only_what_came_is_told() {
    let server = server();
    let step = |expect: &str| {
        format!("  - {{ id: a, http: {{ get: /stream }}, expect: {{ text: {{ {expect} }} }} }}\n")
    };
    for (expect, code) in [
        ("contains: 'data: 1'", 0),
        ("contains: 'data: 2'", 3),
        ("not_contains: 'data: 2'", 3),
        ("not_contains: 'data: 1'", 1),
    ] {
        let (_, run) = with_token(&plan(&server, &step(expect)), &[]);
        assert_eq!(run.code, Some(code), "{expect}: {}", run.stdout);
        if code == 3 {
            let diagnosis = &run.last().failure("a")["diagnosis"];
            assert_eq!(diagnosis["excused"], "own_limit", "{diagnosis:#}");
        }
    }
}

const GOOD: &str = "
  - id: known
    http: { get: \"/.well-known/${page}?x=1\", headers: { X-Own: \"${page}\" } }
    expect:
      status: 200
      headers: { Content-Type: { contains: json }, x-none: { exists: false } }
      text: { contains: resource }
      json: [{ path: $.resource, equals: r1 }, { path: $.own, equals: a }, { path: $.token, length: 11 }]
    capture: { resource: $.resource }
  - id: bare
    http: { get: \"/.well-known/a?x=1\" }
    bare: true
    expect: { json: [{ path: $.token, equals: '' }] }
  - { id: post, http: { post: /echo, body: { r: \"${resource}\" } }, expect: { json: [{ path: $.r, equals: r1 }] } }
  - { id: moved, http: { get: /old }, expect: { status: 302, headers: { location: { equals: /new } } } }
  - { id: stream, http: { get: /stream }, expect: { status: 200, text: { contains: 'data: 1' } } }
  - { id: private, http: { head: /private }, expect: { status: { one_of: [401, 403] }, headers: { www-authenticate: { starts_with: Bearer } } } }
";

#[test]
fn what_stands_beside_the_endpoint_is_asked_with_and_without_a_session() {
    let here = server();
    let (_, alone) = with_token(&plan(&here, GOOD), &[]);
    alone.ends(0, "passed");
    assert!(here.heard().iter().all(|request| request.path != "/mcp"));
    let note = alone.last().server("s")["notes"].to_string();
    assert!(note.contains("no session was opened"), "{note}");
    let posted = here.heard().into_iter().find(|r| r.verb == "POST").unwrap();
    assert_eq!(posted.header("content-type"), "application/json");

    let both = format!("{GOOD}  - {{ id: call, tool: work }}\n");
    let (project, run) = with_token(&plan(&here, &both), &[]);
    run.ends(0, "passed");
    assert!(here.heard().iter().any(|request| request.path == "/mcp"));
    let listed = project
        .jelly(&["run", "plan.yaml", "--list"])
        .env("TOKEN", "t");
    let listed = listed.output().stdout;
    assert!(listed.contains("post  s  http POST /echo"), "{listed}");
}

#[test]
fn a_wrong_answer_is_a_mismatch_and_shows_no_secret() {
    let here = server();
    let steps = "
  - { id: cookie, http: { get: \"/.well-known/a?x=1\" }, expect: { headers: { set-cookie: { contains: none } } } }
  - { id: wrong, http: { get: \"/.well-known/a?x=1\" }, expect: { json: [{ path: $.resource, equals: r2 }] } }
  - { id: missing, http: { get: /nowhere }, expect: { status: 200 } }
  - { id: gone, http: { get: /nowhere } }
  - { id: no-json, http: { post: /echo, body: words }, expect: { status: 201, json: [{ path: $.a, exists: true }] } }
";
    let (project, run) = with_token(&plan(&here, steps), &[]);
    run.ends(1, "code_failure");
    for (id, target) in [
        ("cookie", "header"),
        ("wrong", "json"),
        ("missing", "status"),
        ("gone", "status"),
        ("no-json", "json"),
    ] {
        let failure = run.last().failure(id);
        assert_eq!(failure["phase"], "assert", "{failure:#}");
        assert_eq!(failure["assertion"]["target"], target, "{failure:#}");
        assert_eq!(failure["diagnosis"]["side"], "code", "{failure:#}");
    }
    let message = run.last().failure("no-json")["message"].to_string();
    assert!(message.contains("the body is no JSON"), "{message}");
    let told = project.read("reports/latest/test_results.md");
    assert!(told.contains("Got: nothing"), "{told}");
    for file in ["results.json", "junit.xml", "test_results.md"] {
        let written = project.read(&format!("reports/latest/{file}"));
        assert!(!written.contains("swordfish"), "{file}");
    }
    assert!(!run.stdout.contains("swordfish"));
}

/// A status that nobody asked for is told as the transport tells it.
#[test]
fn what_is_refused_or_out_of_reach_is_told_as_of_the_transport() {
    let here = server();
    let steps = "
  - { id: busy, http: { get: /busy }, expect: { status: 200 } }
  - { id: moved, http: { get: /old } }
  - { id: private, http: { get: /private } }
";
    let (_, run) = with_token(&plan(&here, steps), &["--no-repair", "--retries", "0"]);
    run.ends(3, "needs_user_help");
    for (id, told, cause) in [
        (
            "busy",
            "GET /busy was answered with HTTP 503",
            "upstream_error",
        ),
        ("moved", "follows no redirect", "wrong_endpoint"),
        ("private", "HTTP 401", "auth_failed"),
    ] {
        let failure = run.last().failure(id);
        assert_eq!(failure["phase"], "call", "{failure:#}");
        let message = failure["message"].as_str().unwrap();
        assert!(message.contains(told), "{message}");
        assert_eq!(failure["diagnosis"]["side"], "test", "{failure:#}");
        assert_eq!(failure["diagnosis"]["root_cause"], cause, "{failure:#}");
    }
    let nobody = "version: 1\nservers: { s: { url: \"http://127.0.0.1:9/mcp\" } }\n\
                  steps: [{ id: a, http: { get: /a } }]\n";
    let nobody = Project::with(nobody).run(&["--retries", "0"]);
    nobody.ends(3, "needs_user_help");
    let cause = &nobody.last().failure("a")["diagnosis"]["root_cause"];
    assert_eq!(cause, "connection_refused");
}

/// What is not there yet is asked for again, be the server up or not.
#[test]
fn an_answer_beside_the_endpoint_is_waited_for() {
    let asked = AtomicUsize::new(0);
    let here = Http::serve(move |request, out| {
        let count = asked.fetch_add(1, Ordering::SeqCst);
        match request.path.as_str() {
            "/health" if count < 2 => respond(out, 503, &["content-type: text/plain"], "soon"),
            "/health" => json_answer(out, &[], &json!({"state": "up", "asked": count})),
            "/count" => respond(out, 200, &["content-type: text/plain"], count.to_string()),
            _ => respond(out, 404, &["content-type: text/plain"], "none"),
        }
    });
    let steps = "
  - id: health
    http: { get: /health }
    until: { expect: { status: 200, json: [{ path: $.state, equals: up }] }, every: 20ms, for: 10s }
    capture: { n: $.asked }
  - { id: same, http: { get: /nowhere }, until: { expect: { status: 200 }, every: 20ms, for: 100ms } }
  - { id: changes, http: { get: /count }, until: { expect: { text: { equals: up } }, every: 20ms, for: 100ms } }
";
    let (_, run) = with_token(&plan(&here, steps), &["--no-repair", "--retries", "0"]);
    let last = run.last();
    assert_eq!(last.state("health"), "passed", "{}", run.stdout);
    let same = last.failure("same");
    assert_eq!(same["assertion"]["target"], "status", "{same:#}");
    let changes = last.failure("changes");
    assert_eq!(changes["outcome"], "timeout", "{changes:#}");
    let message = changes["message"].as_str().unwrap();
    assert!(
        message.contains("GET /count did not give the answer that `until` waits for within 100 ms"),
        "{message}"
    );

    // One that takes no connection yet is waited for, too, and then told as such.
    let nobody = "version: 1\nservers: { s: { url: \"http://127.0.0.1:9/mcp\" } }\nsteps: \
                  [{ id: a, http: { get: /a }, until: { expect: { status: 200 }, every: 20ms, for: 200ms } }]\n";
    let nobody = Project::with(nobody).run(&["--retries", "0", "--no-repair"]);
    nobody.ends(3, "needs_user_help");
    let cause = &nobody.last().failure("a")["diagnosis"]["root_cause"];
    assert_eq!(cause, "connection_refused");
    let took = nobody.last().step("a")["duration_ms"].as_f64().unwrap();
    assert!(took >= 150.0, "{took}");
}

/// Of a server that jelly starts, one that dies of the request is a crash.
#[test]
fn a_server_of_ours_that_dies_of_a_request_is_blamed() {
    let server = "
import http.server, json, os, sys
class H(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self):
        if self.path == '/die': os._exit(7)
        self.send_response(200 if self.path == '/health' else 405); self.send_header('content-length', '2')
        self.end_headers(); self.wfile.write(b'ok')
    def do_POST(self):
        m = json.loads(self.rfile.read(int(self.headers['content-length'])))
        r = {'protocolVersion': '2025-06-18', 'capabilities': {}, 'serverInfo': {'name': 'n', 'version': '1'}}
        known = m.get('method') == 'initialize'
        b = {'jsonrpc': '2.0', 'id': m.get('id')}
        b.update({'result': r} if known else {'error': {'code': -32601, 'message': 'no'}})
        b = json.dumps(b).encode() if 'id' in m else b''
        self.send_response(200 if b else 202); self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(b))); self.end_headers(); self.wfile.write(b)
    do_DELETE = do_GET
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()
";
    let program = serde_json::to_string(server).unwrap();
    let run = run(&format!(
        "version: 1
servers:
  s: {{ command: python3, args: [-c, {program}, \"${{port}}\"], url: \"http://127.0.0.1:${{port}}/mcp\" }}
steps:
  - {{ id: healthy, http: {{ get: /health }}, expect: {{ text: {{ equals: ok }} }} }}
  - {{ id: dies, http: {{ get: /die }} }}
  - {{ id: again, http: {{ get: /health }} }}
"
    ));
    run.ends(1, "code_failure");
    let last = run.last();
    assert_eq!(
        (last.state("healthy"), last.state("again")),
        ("passed", "passed")
    );
    let failure = last.failure("dies");
    assert_eq!(failure["exit"]["code"], 7, "{failure:#}");
    assert_eq!(failure["diagnosis"]["side"], "code", "{failure:#}");
}

#[test]
fn what_http_can_not_mean_is_said_with_its_line() {
    let project = Project::empty();
    for (step, told) in [
        ("http: {}", "`http` needs a method with a path"),
        ("http: { get: /a, post: /b }", "`http` is one request"),
        (
            "http: { get: \"https://h/a\" }",
            "another host is another server",
        ),
        ("http: { get: //h/a }", "a path must begin with one `/`"),
        ("http: { url: /a }", "write the method with the path"),
        ("http: { get: /a }, args: {}", "what it sends is its `body`"),
        (
            "http: { get: /a }, until: { expect: { is_error: false } }",
            "has no `is_error`",
        ),
        (
            "http: { get: /a }, until: { expect: { duration: { lt: 1s } } }",
            "`until` looks at answers alone",
        ),
        (
            "tool: t, until: { expect: { status: 200 } }",
            "only a step with `http` expects a `status`",
        ),
        (
            "http: { get: /a }, expect: { is_error: true }",
            "has no `is_error`",
        ),
        (
            "http: { get: /a }, expect: { status: ok }",
            "must be from 100 to 999",
        ),
        (
            "http: { get: /a }, expect: { headers: {} }",
            "no header given",
        ),
        (
            "http: { get: /a }, expect: { headers: { a b: { equals: c } } }",
            "the name of a header",
        ),
        (
            "tool: t, expect: { status: 200 }",
            "only a step with `http` expects a `status`",
        ),
        (
            "server: p, http: { get: /a }",
            "the server `p` has no `url` to ask by HTTP",
        ),
    ] {
        project.write(
            "plan.yaml",
            format!(
                "version: 1\ndefaults: {{ server: s }}\nservers: {{ s: {{ url: http://h/mcp }}, p: \
                 {{ command: x }} }}\nsteps: [{{ {step} }}]\n"
            ),
        );
        let checked = project.jelly(&["check", "plan.yaml"]).output();
        assert_eq!(checked.code, Some(2), "{step}");
        let err = &checked.stderr;
        assert!(
            err.contains(told) && err.contains('^') && err.contains("help"),
            "{step}\n{err}"
        );
    }
}
