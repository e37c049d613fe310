//! Small servers in Python for tests, each with one habit.

use super::{Launch, Reach, ReplyOutcome, Session, StartFailure, start};
use jelly_process::CommandSpec;
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Generous: a deadline, not a measurement.
pub(super) const SOON: Duration = Duration::from_secs(20);

/// What the servers have in common. Each start is counted in a file.
const PRELUDE: &str = r#"
import json, os, signal, sys, time
out, inp = sys.stdout, sys.stdin
def note(name, text):
    try: open(name, "a").write(text)
    except OSError: pass # a test that does not ask has let go of the folder
note("starts", "x")
def log(text): print(text, file=sys.stderr, flush=True)
def raw(text): out.write(text); out.flush()
def send(message): raw(json.dumps(message) + "\n")
def recv():
    line = inp.readline()
    if not line: sys.exit(0)
    message = json.loads(line)
    note("heard", message.get("method", "?") + "\n")
    return message
def ok(m, result): send({"jsonrpc": "2.0", "id": m["id"], "result": result})
def err(m, code, text, data=None):
    send({"jsonrpc": "2.0", "id": m["id"], "error": {"code": code, "message": text, "data": data}})
TOOLS = [{"name": "echo", "inputSchema": {"type": "object"}}]
def init(m, version=None, caps={"tools": {}}):
    ok(m, {"protocolVersion": version or m["params"]["protocolVersion"], "capabilities": caps,
           "serverInfo": {"name": "legacy", "version": "1"}})
def legacy(m, call=None):
    method = m["method"]
    if "id" not in m: pass
    elif method == "initialize": init(m)
    elif method == "tools/list": ok(m, {"tools": TOOLS})
    elif method == "tools/call" and call: call(m)
    else: err(m, -32601, "Method not found")
def modern(m, call=None):
    meta = m["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert "io.modelcontextprotocol/clientCapabilities" in meta
    method = m["method"]
    if "id" not in m: pass
    elif method == "server/discover":
        ok(m, {"resultType": "complete", "supportedVersions": ["2026-07-28"],
               "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private",
               "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "modern"}}})
    elif method == "tools/list": ok(m, {"resultType": "complete", "tools": TOOLS})
    elif method == "tools/call" and call: call(m)
    else: err(m, -32601, "Method not found")
"#;

pub(super) struct Fixture {
    dir: TempDir,
    pub launch: Launch,
}

impl Fixture {
    pub fn new(body: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let command = CommandSpec {
            argv: vec!["python3".into(), "-c".into(), format!("{PRELUDE}\n{body}")],
            cwd: dir.path().to_owned(),
            env: Vec::new(),
        };
        Self {
            dir,
            launch: Launch::new("s", command),
        }
    }

    /// A legacy server whose tool calls do this with the message `m`.
    pub fn calling(call: &str) -> Self {
        let call = call.replace('\n', "\n    ");
        Self::new(&format!(
            "def call(m):\n    {call}\nwhile True: legacy(recv(), call)"
        ))
    }

    pub fn argv(&mut self) -> &mut Vec<String> {
        match &mut self.launch.reach {
            Reach::Stdio(command) => &mut command.argv,
            Reach::Http(_) => panic!("it is started with pipes"),
        }
    }

    pub async fn ready(&self) -> Session {
        match start(&self.launch).await {
            Ok(session) => session,
            Err(failure) => panic!("{failure:#?}"),
        }
    }

    pub async fn failed(&self) -> StartFailure {
        match start(&self.launch).await {
            Ok(session) => panic!("started: {:?}", session.notes()),
            Err(failure) => *failure,
        }
    }

    pub fn starts(&self) -> usize {
        read(self.dir.path(), "starts").len()
    }

    /// The methods that were read, of all processes.
    pub fn heard(&self) -> Vec<String> {
        let heard = read(self.dir.path(), "heard");
        heard.lines().map(str::to_owned).collect()
    }
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap_or_default()
}

pub(super) async fn echo(session: &Session) -> ReplyOutcome {
    let params = json!({"name": "echo", "arguments": {}});
    session.request("tools/call", params, SOON).await.outcome
}
