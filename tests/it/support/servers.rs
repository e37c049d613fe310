//! The servers that plans of the tests talk to, besides `jelly mock`.

use std::path::{Path, PathBuf};

/// A real server below `fixtures/`, as `./fixtures/setup` installs it.
#[track_caller]
pub fn real(path: &str) -> String {
    let file = fixtures().join(path);
    assert!(
        file.exists(),
        "{} is missing: run ./fixtures/setup first",
        file.display()
    );
    file.display().to_string()
}

/// The folder of the fixtures.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// `servers.NAME` of a plan, in flow style: a Python program given here. In it,
/// `read()` is the next message or None, `send(…)` writes one, and
/// `answer(request, result)` replies; `hello(request)` is what `initialize`
/// gets, and `serve(call)` does everything but the tools' calls.
pub fn python(body: &str) -> String {
    let program = python_program(body);
    let program = serde_json::to_string(&program).expect("text is JSON");
    format!(
        "{{ command: python3, args: [\"-u\", \"-c\", {}] }}",
        escape(&program)
    )
}

/// The same program, to stand in a file.
pub fn python_program(body: &str) -> String {
    format!("{PRELUDE}\n{body}")
}

/// In a plan, `${` begins a reference.
fn escape(text: &str) -> String {
    text.replace("${", "$${")
}

const PRELUDE: &str = r#"
import json, os, signal, sys, time

def read():
    line = sys.stdin.readline()
    return json.loads(line) if line else None

def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()

def answer(request, result):
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})

def refuse(request, code=-32601, message="Method not found"):
    send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})

def hello(request):
    return {
        "protocolVersion": request["params"]["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "small", "version": "1"},
    }

def text(words, error=False):
    return {"content": [{"type": "text", "text": words}], "isError": error}

def named(tools):
    return {"tools": [{"name": t, "inputSchema": {"type": "object"}} for t in tools]}

def serve(call, tools=("work",), listed=None):
    while (message := read()) is not None:
        method = message.get("method")
        if "id" not in message:
            continue
        if method == "initialize":
            answer(message, hello(message))
        elif method == "tools/list":
            answer(message, listed(message) if listed else named(tools))
        elif method == "tools/call":
            call(message)
        else:
            refuse(message)
"#;

/// The same over HTTP, at a port that the plan gives: a legacy server which
/// does what `body` says, where `listen()` serves for ever and `call(handler, m,
/// ok)` is what a tool does. `more` are further keys of the entry.
pub fn started(body: &str, more: &str) -> String {
    let entry = python(&format!("{HTTP_SERVER}\n{body}"));
    entry.replacen(
        '{',
        &format!("{{ url: \"http://127.0.0.1:${{port}}/mcp\", env: {{ PORT: \"${{port}}\" }}, startup_timeout: 20s{more},"),
        1,
    )
}

const HTTP_SERVER: &str = r#"
import http.server, threading
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def say(self, status, body=None):
        data = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def do_GET(self): self.say(405)
    def do_POST(self):
        m = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        def ok(result): self.say(200, {"jsonrpc": "2.0", "id": m["id"], "result": result})
        method = m.get("method")
        if "id" not in m: self.say(202)
        elif method == "initialize": ok(hello(m))
        elif method == "tools/list": ok({"tools": [{"name": "work", "inputSchema": {"type": "object"}}]})
        elif method == "tools/call": call(self, m, ok)
        else: self.say(400, {"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}})
def call(handler, m, ok): ok(text("done"))
def listen():
    http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"#;
