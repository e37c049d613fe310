//! Small servers in Python, each with one habit.

use super::{Launch, start};
use crate::model::{Era, Outcome, Phase};
use crate::process::CommandSpec;
use crate::text::redact::Redactor;
use crate::wire::{Answers, ListKind, ReplyOutcome, Session, StartFailure};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Generous: a deadline, not a measurement.
const SOON: Duration = Duration::from_secs(20);

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

struct Fixture {
    dir: TempDir,
    launch: Launch,
}

impl Fixture {
    fn new(body: &str) -> Self {
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
    fn calling(call: &str) -> Self {
        let call = call.replace('\n', "\n    ");
        Self::new(&format!(
            "def call(m):\n    {call}\nwhile True: legacy(recv(), call)"
        ))
    }

    async fn ready(&self) -> Session {
        match start(&self.launch).await {
            Ok(session) => session,
            Err(failure) => panic!("{failure:#?}"),
        }
    }

    async fn failed(&self) -> StartFailure {
        match start(&self.launch).await {
            Ok(session) => panic!("started: {:?}", session.notes()),
            Err(failure) => *failure,
        }
    }

    fn starts(&self) -> usize {
        read(self.dir.path(), "starts").len()
    }

    /// The methods that were read, of all processes.
    fn heard(&self) -> Vec<String> {
        let heard = read(self.dir.path(), "heard");
        heard.lines().map(str::to_owned).collect()
    }
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap_or_default()
}

async fn echo(session: &Session) -> ReplyOutcome {
    let params = json!({"name": "echo", "arguments": {}});
    session.request("tools/call", params, SOON).await.outcome
}

// ── eras ─────────────────────────────────────────────────────────────────

#[tokio::test]
async fn a_modern_server_is_found_by_the_probe_and_never_initialized() {
    let fixture =
        Fixture::new("while True: modern(recv(), lambda m: ok(m, {'resultType': 'complete'}))");
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Modern);
    assert_eq!(session.protocol_version(), "2026-07-28");
    assert_eq!(session.server_info(), &json!({"name": "modern"}));
    assert_eq!(session.tools()[0].name, "echo");
    assert!(matches!(echo(&session).await, ReplyOutcome::Answered(_)));
    assert!(session.breaches().is_empty());
    assert_eq!(
        fixture.heard(),
        ["server/discover", "tools/list", "tools/call"]
    );
}

#[tokio::test]
async fn a_legacy_server_that_refuses_the_probe_is_initialized_at_once() {
    let fixture = Fixture::new("while True: legacy(recv())");
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Legacy);
    assert_eq!(session.protocol_version(), "2025-11-25");
    assert_eq!(fixture.starts(), 1);
    assert!(session.notes().is_empty());
    let heard = fixture.heard();
    assert_eq!(heard[..2], ["server/discover", "initialize"]);
    assert!(heard.contains(&"notifications/initialized".to_owned()));
}

#[tokio::test]
async fn every_older_version_is_accepted() {
    let body = "
def one(m):
    if m['method'] == 'initialize': init(m, '2024-11-05')
    else: legacy(m)
while True: one(recv())";
    let session = Fixture::new(body).ready().await;
    assert_eq!(session.protocol_version(), "2024-11-05");
}

#[tokio::test]
async fn a_server_that_dies_of_the_probe_gets_a_fresh_process() {
    let body = "
m = recv()
if m['method'] != 'initialize': raise RuntimeError('validation of ' + m['method'])
legacy(m)
while True: legacy(recv())";
    let fixture = Fixture::new(body);
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Legacy);
    assert_eq!(fixture.starts(), 2);
    assert!(session.notes()[0].contains("server/discover"));
    assert!(!session.exit_watch().has_exited());
}

#[tokio::test]
async fn a_server_that_the_probe_leaves_in_disorder_gets_a_fresh_process() {
    let body = "
m = recv()
while m['method'] == 'server/discover':
    err(m, -32000, 'not initialized'); m = recv(); err(m, -32000, 'invalid state'); m = recv()
legacy(m)
while True: legacy(recv())";
    let fixture = Fixture::new(body);
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Legacy);
    assert_eq!(fixture.starts(), 2);
}

#[tokio::test]
async fn a_server_that_ignores_unknown_methods_is_healthy_on_the_same_process() {
    let body = "
while True:
    m = recv()
    if m['method'] != 'server/discover': legacy(m)";
    let fixture = Fixture::new(body);
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Legacy);
    assert_eq!(fixture.starts(), 1);
    assert!(session.startup() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_slow_modern_server_is_modern_although_initialize_was_sent_meanwhile() {
    let body = "
time.sleep(1.5)
while True:
    m = recv()
    if m['method'] == 'initialize': err(m, -32601, 'no such method')
    else: modern(m)";
    let fixture = Fixture::new(body);
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Modern);
    assert_eq!(fixture.starts(), 1);
    assert!(session.breaches().is_empty());
}

#[tokio::test]
async fn a_server_that_falls_mute_over_the_probe_gets_a_second_process_beside_it() {
    let body = "
m = recv()
while m['method'] == 'server/discover':
    time.sleep(60)
legacy(m)
while True: legacy(recv())";
    let mut fixture = Fixture::new(body);
    fixture.launch.startup_timeout = Duration::from_secs(6);
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Legacy);
    assert_eq!(fixture.starts(), 2);
    assert!(session.startup() < Duration::from_secs(6));
}

#[tokio::test]
async fn a_pinned_era_is_neither_probed_nor_doubted() {
    let mut legacy = Fixture::new("while True: legacy(recv())");
    legacy.launch.era = Some(Era::Legacy);
    legacy.ready().await;
    assert_eq!(legacy.heard()[0], "initialize");

    let mut modern = Fixture::new("while True: legacy(recv())");
    modern.launch.era = Some(Era::Modern);
    let failure = modern.failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert_eq!(failure.outcome, Outcome::Error);
    assert_eq!(failure.rpc_error.unwrap().code, Some(-32601));
    assert_eq!(modern.heard(), ["server/discover"]);
}

#[tokio::test]
async fn a_modern_server_of_another_version_is_never_initialized() {
    let body = "
while True:
    m = recv()
    err(m, -32022, 'Unsupported protocol version', {'supported': ['2031-01-01', '2025-11-25']})";
    let fixture = Fixture::new(body);
    let failure = fixture.failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert!(failure.message.starts_with("protocol version mismatch"));
    assert!(failure.message.contains("2031-01-01"));
    assert_eq!(fixture.heard(), ["server/discover"]);
}

#[tokio::test]
async fn an_unknown_version_in_the_handshake_is_a_mismatch() {
    let body = "
def one(m):
    if m['method'] == 'initialize': init(m, '1999-01-01')
    else: legacy(m)
while True: one(recv())";
    let failure = Fixture::new(body).failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert!(failure.message.starts_with("protocol version mismatch"));
    assert!(failure.message.contains("1999-01-01"));
}

#[tokio::test]
async fn a_server_that_refuses_our_version_and_names_another_is_asked_again() {
    let body = "
def one(m):
    if m['method'] == 'initialize' and m['params']['protocolVersion'] != '2024-11-05':
        err(m, -32602, 'Unsupported protocol version', {'supported': ['2024-11-05']})
    else: legacy(m)
while True: one(recv())";
    let session = Fixture::new(body).ready().await;
    assert_eq!(session.protocol_version(), "2024-11-05");
}

// ── starts that fail ─────────────────────────────────────────────────────

#[tokio::test]
async fn a_command_that_does_not_exist_is_a_spawn_failure() {
    let mut fixture = Fixture::new("");
    fixture.launch.command.argv = vec!["no-such-command-anywhere".into()];
    let failure = fixture.failed().await;
    assert_eq!(failure.phase, Phase::Spawn);
    assert_eq!(failure.outcome, Outcome::SpawnError);
    assert_eq!(failure.spawn_error.unwrap().name.as_deref(), Some("ENOENT"));
}

#[tokio::test]
async fn a_server_that_dies_before_it_reads_is_not_started_twice() {
    let fixture = Fixture::new("log('Error: directory /nowhere does not exist'); sys.exit(1)");
    let failure = fixture.failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert_eq!(failure.outcome, Outcome::Eof);
    assert_eq!(failure.exit.unwrap().code, Some(1));
    assert!(
        failure
            .message
            .starts_with("exited during startup with code 1")
    );
    assert!(failure.stderr.contains("/nowhere does not exist"));
    assert!(!failure.process_alive);
    assert_eq!(fixture.starts(), 1);
}

#[tokio::test]
async fn a_server_that_dies_of_both_openings_tells_of_the_second() {
    let fixture = Fixture::new("m = recv(); log('died of ' + m['method']); sys.exit(4)");
    let failure = fixture.failed().await;
    assert_eq!(failure.exit.unwrap().code, Some(4));
    assert!(failure.stderr.contains("died of initialize"));
    assert_eq!(fixture.starts(), 2);
}

#[tokio::test]
async fn a_death_by_signal_names_it() {
    let failure = Fixture::new("os.kill(os.getpid(), signal.SIGSEGV)")
        .failed()
        .await;
    assert_eq!(failure.exit.unwrap().signal.as_deref(), Some("SIGSEGV"));
    assert!(failure.message.contains("by SIGSEGV"));
}

#[tokio::test]
async fn an_exit_after_the_handshake_is_a_failure_of_the_list() {
    let body = "
while True:
    m = recv()
    if m['method'] == 'tools/list': log('boom'); sys.exit(9)
    legacy(m)";
    let failure = Fixture::new(body).failed().await;
    assert_eq!(failure.phase, Phase::List);
    assert!(failure.message.starts_with("exited during startup"));
    assert_eq!(failure.exit.unwrap().code, Some(9));
    assert_eq!(failure.stderr.trim(), "boom");
    assert_eq!(failure.era, Some(Era::Legacy));
    assert_eq!(
        failure.server_info,
        Some(json!({"name": "legacy", "version": "1"}))
    );
}

#[tokio::test]
async fn a_server_that_never_answers_runs_into_the_limit_that_is_set() {
    let mut fixture = Fixture::new("log('starting'); time.sleep(60)");
    fixture.launch.startup_timeout = Duration::from_millis(1500);
    let failure = fixture.failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert_eq!(failure.outcome, Outcome::Timeout);
    assert_eq!(failure.timeout, Some(Duration::from_millis(1500)));
    assert!(failure.message.contains("1.5 s"), "{}", failure.message);
    assert!(failure.showed_life && failure.process_alive);
    assert!(failure.elapsed >= Duration::from_millis(1500));
    assert_eq!(fixture.starts(), 2);
}

#[tokio::test]
async fn junk_alone_is_shown_and_junk_between_is_lived_with() {
    let mut only = Fixture::new("raw('listening on http://127.0.0.1:3000\\n'); time.sleep(60)");
    only.launch.startup_timeout = Duration::from_millis(1500);
    let failure = only.failed().await;
    assert_eq!(failure.outcome, Outcome::Timeout);
    assert_eq!(failure.stdout_noise, ["listening on http://127.0.0.1:3000"]);

    let between = Fixture::new("while True: raw('DEBUG\\n'); legacy(recv()); raw('\\n')");
    let session = between.ready().await;
    let (count, sample) = session.noise();
    assert!(count >= 2 && sample[0] == "DEBUG");
}

#[tokio::test]
async fn lsp_framing_fails_at_once_and_by_its_name() {
    let body = r#"
m = inp.readline()
body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}})
raw(f"Content-Length: {len(body)}\r\n\r\n{body}")
time.sleep(60)"#;
    let failure = Fixture::new(body).failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert_eq!(failure.outcome, Outcome::Ok);
    assert!(failure.protocol_breach.unwrap().contains("Content-Length"));
}

#[tokio::test]
async fn wrong_ids_in_the_handshake_are_a_breach_at_once() {
    let body = "
while True:
    m = recv()
    if 'id' in m: m['id'] = 99
    legacy(m)";
    let failure = Fixture::new(body).failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert_eq!(failure.outcome, Outcome::Ok);
    assert!(failure.protocol_breach.unwrap().contains("id 99"));
}

#[tokio::test]
async fn malformed_lists_are_breaches_of_the_list_phase() {
    for (result, telling) in [
        ("None", "null where an object"),
        ("{}", "without `tools`"),
        ("{'tools': {}}", "of type object where an array"),
        ("{'tools': [{'title': 'x'}]}", "without a name"),
        ("{'tools': [], 'nextCursor': 'again'}", "same cursor"),
        (
            "{'tools': [], 'nextCursor': 7}",
            "nextCursor of type integer",
        ),
    ] {
        let body = format!(
            "
def one(m):
    if m['method'] == 'tools/list': ok(m, {result})
    else: legacy(m)
while True: one(recv())"
        );
        let failure = Fixture::new(&body).failed().await;
        assert_eq!(failure.phase, Phase::List, "{result}");
        let breach = failure.protocol_breach.clone().unwrap_or_default();
        assert!(failure.message.contains(telling), "{result}: {failure:?}");
        assert!(!breach.is_empty());
    }
}

#[tokio::test]
async fn a_refused_list_is_a_failure_of_the_list_phase() {
    let body = "
def one(m):
    if m['method'] == 'tools/list': err(m, -32603, 'database is locked')
    else: legacy(m)
while True: one(recv())";
    let failure = Fixture::new(body).failed().await;
    assert_eq!(failure.phase, Phase::List);
    assert_eq!(failure.rpc_error.unwrap().message, "database is locked");
}

#[tokio::test]
async fn secrets_do_not_get_into_a_failure() {
    let mut fixture = Fixture::new(
        "
while True:
    m = recv()
    log('the key is swordfish'); raw('swordfish\\n')
    err(m, 1, 'bad key swordfish', {'key': 'swordfish'})",
    );
    fixture.launch.redactor = Redactor::new([("KEY", "swordfish")]);
    let failure = fixture.failed().await;
    let shown = format!("{failure:?}");
    assert!(shown.contains("[secret KEY]"));
    assert!(!shown.contains("swordfish"), "{shown}");
}

#[tokio::test]
async fn a_flood_on_stderr_before_the_handshake_holds_nothing_up() {
    let session = Fixture::new("log('x' * 1000000)\nwhile True: legacy(recv())")
        .ready()
        .await;
    assert!(session.stderr().tail().len() < 200_000);
}

// ── lists ────────────────────────────────────────────────────────────────

#[tokio::test]
async fn all_pages_of_a_list_are_read_and_an_empty_cursor_is_a_cursor() {
    let body = "
pages = {None: ('a', ''), '': ('b', 'c2'), 'c2': ('c', None)}
def one(m):
    if m['method'] in ('tools/list', 'prompts/list'):
        name, cursor = pages[m.get('params', {}).get('cursor')]
        ok(m, {'tools': [{'name': name, 'inputSchema': {}}], 'prompts': [name],
               'nextCursor': cursor})
    else: legacy(m)
while True: one(recv())";
    let session = Fixture::new(body).ready().await;
    let names: Vec<&str> = session.tools().iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let reply = session.list(ListKind::Prompts, Value::Null, SOON).await;
    match reply.outcome {
        ReplyOutcome::Answered(list) => {
            assert_eq!(list["prompts"], json!(["a", "b", "c"]));
            assert_eq!(list.get("nextCursor"), None);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_without_tools_is_not_asked_for_them() {
    let body = "
def one(m):
    if m['method'] == 'initialize': init(m, caps={})
    else: legacy(m)
while True: one(recv())";
    let fixture = Fixture::new(body);
    let session = fixture.ready().await;
    assert!(!session.declares_tools() && session.tools().is_empty());
    assert!(!fixture.heard().contains(&"tools/list".to_owned()));
}

#[tokio::test]
async fn tools_that_change_while_they_are_listed_are_listed_again() {
    let body = "
def one(m):
    if m['method'] == 'tools/list':
        if len(TOOLS) == 1:
            send({'jsonrpc': '2.0', 'method': 'notifications/tools/list_changed'})
        ok(m, {'tools': TOOLS})
        if len(TOOLS) == 1: TOOLS.append({'name': 'late', 'inputSchema': {}})
    else: legacy(m)
while True: one(recv())";
    let session = Fixture::new(body).ready().await;
    assert_eq!(session.tools().len(), 2);
}

// ── requests ─────────────────────────────────────────────────────────────

#[tokio::test]
async fn a_call_that_hangs_ends_at_its_limit_and_the_server_is_told() {
    let fixture = Fixture::calling(
        "token = m['params']['_meta']['progressToken']
send({'jsonrpc': '2.0', 'method': 'notifications/progress',
      'params': {'progressToken': token, 'progress': 1}})
log('still at it')",
    );
    let session = fixture.ready().await;
    let params = json!({"name": "echo"});
    let limit = Duration::from_millis(400);
    let reply = session.request("tools/call", params, limit).await;
    match reply.outcome {
        ReplyOutcome::TimedOut(life) => {
            assert_eq!(life.progress, 1);
            assert!(life.stderr_bytes > 0 && life.any() && !life.unread);
        }
        other => panic!("{other:?}"),
    }
    assert!(reply.elapsed >= limit);
    session.shutdown().await;
    assert_eq!(fixture.heard().last().unwrap(), "notifications/cancelled");
}

#[tokio::test]
async fn a_crash_in_a_call_comes_with_exit_and_stderr() {
    let session = Fixture::calling("log('panicked: index out of range'); os._exit(101)")
        .ready()
        .await;
    let mark = session.stderr().mark();
    match echo(&session).await {
        ReplyOutcome::Exited(exit) => assert_eq!(exit.code, Some(101)),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        session.stderr().since(mark).trim(),
        "panicked: index out of range"
    );
}

#[tokio::test]
async fn a_server_that_answers_and_exits_has_answered() {
    let session = Fixture::calling("ok(m, {'content': []}); os._exit(0)")
        .ready()
        .await;
    assert_eq!(
        echo(&session).await,
        ReplyOutcome::Answered(json!({"content": []}))
    );
    assert_eq!(session.exit_watch().wait().await.code, Some(0));
}

#[tokio::test]
async fn a_wrong_id_in_a_call_is_broken_and_not_waited_for() {
    let session = Fixture::calling("m['id'] = 4711; ok(m, {})").ready().await;
    match echo(&session).await {
        ReplyOutcome::Broken(why) => assert!(why.contains("4711")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn breaches_of_a_call_come_with_its_reply() {
    let session = Fixture::calling("ok(m, None)").ready().await;
    let reply = session.request("tools/call", json!({}), SOON).await;
    assert_eq!(reply.outcome, ReplyOutcome::Answered(Value::Null));
    assert_eq!(reply.breaches.len(), 1);
}

#[tokio::test]
async fn a_server_that_asks_back_before_it_answers_is_not_left_waiting() {
    let call = "send({'jsonrpc': '2.0', 'id': 'a', 'method': 'roots/list'})
send({'jsonrpc': '2.0', 'id': 'b', 'method': 'elicitation/create'})
a = json.loads(inp.readline()); b = json.loads(inp.readline())
ok(m, {'roots': a.get('result'), 'refused': b['error']['code']})";
    let mut fixture = Fixture::calling(call);
    fixture.launch.answers = Answers::default().with("roots/list", json!({"roots": []}));
    let session = fixture.ready().await;
    assert_eq!(
        echo(&session).await,
        ReplyOutcome::Answered(json!({"roots": {"roots": []}, "refused": -32601}))
    );
}

#[tokio::test]
async fn a_modern_server_that_needs_input_gets_what_was_offered_and_nothing_else() {
    let body = "
def call(m):
    p = m['params']
    if p['name'] == 'state' and 'requestState' not in p:
        ok(m, {'resultType': 'input_required', 'requestState': 's1'})
    elif p['name'] == 'ask':
        ok(m, {'resultType': 'input_required',
               'inputRequests': {'x': {'method': 'sampling/createMessage'}}})
    else: ok(m, {'resultType': 'complete', 'state': p.get('requestState')})
while True: modern(recv(), call)";
    let session = Fixture::new(body).ready().await;
    let reply = session
        .request("tools/call", json!({"name": "state"}), SOON)
        .await;
    assert_eq!(
        reply.outcome,
        ReplyOutcome::Answered(json!({"resultType": "complete", "state": "s1"}))
    );
    let reply = session
        .request("tools/call", json!({"name": "ask"}), SOON)
        .await;
    match reply.outcome {
        ReplyOutcome::Broken(why) => assert!(why.contains("`sampling/createMessage`")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn requests_may_overlap() {
    let call = "second = json.loads(inp.readline())
ok(second, {'n': 2}); ok(m, {'n': 1})";
    let session = Fixture::calling(call).ready().await;
    let (one, two) = tokio::join!(echo(&session), echo(&session));
    assert_eq!(one, ReplyOutcome::Answered(json!({"n": 1})));
    assert_eq!(two, ReplyOutcome::Answered(json!({"n": 2})));
}

#[tokio::test]
async fn a_launcher_that_is_not_the_server_itself_works_too() {
    let mut fixture = Fixture::new("while True: legacy(recv())");
    let argv = std::mem::take(&mut fixture.launch.command.argv);
    fixture.launch.command.argv = vec!["sh".into(), "-c".into(), "\"$@\"; exit $?".into()];
    fixture.launch.command.argv.push("sh".into());
    fixture.launch.command.argv.extend(argv);
    let session = fixture.ready().await;
    let end = session.shutdown().await;
    assert_eq!(end.exit.unwrap().code, Some(0));
    assert_eq!(end.leftovers, 0);
}
