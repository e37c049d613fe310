use crate::fixture::{Fixture, SOON, echo};
use crate::{Answers, Recorder, ReplyOutcome};
use jelly_base::mcp::ListKind;
use jelly_base::text::redact::Redactor;
use serde_json::{Value, json};
use std::time::Duration;

// ── lists ────────────────────────────────────────────────────────────────

#[tokio::test]
async fn all_pages_of_a_list_are_read_and_an_empty_cursor_is_a_cursor() {
    let body = "
pages = {None: ('a', ''), '': ('b', 'c2'), 'c2': ('c', None)}
def one(m):
    if m['method'] in ('tools/list', 'prompts/list'):
        name, cursor = pages[m.get('params', {}).get('cursor')]
        ok(m, {'tools': [{'name': name, 'inputSchema': {}}], 'prompts': [{'name': name}],
               'nextCursor': cursor})
    else: legacy(m)
while True: one(recv())";
    let session = Fixture::new(body).ready().await;
    let names: Vec<&str> = session.tools().iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let reply = session.list(ListKind::Prompts, Value::Null, SOON).await;
    match reply.outcome {
        ReplyOutcome::Answered(list) => {
            let prompts = json!([{"name": "a"}, {"name": "b"}, {"name": "c"}]);
            assert_eq!(list["prompts"], prompts);
            assert_eq!(list.get("nextCursor"), None);
        }
        other => panic!("{other:?}"),
    }
}

/// Answers one call and dies, before or after it reads the next line.
fn dies_after_a_call(reads_on: &str) -> Fixture {
    Fixture::calling(&format!(
        "ok(m, {{'content': []}}); {reads_on}; os._exit(3)"
    ))
}

#[tokio::test]
async fn a_request_that_a_dead_server_never_read_is_told_from_one_that_it_read() {
    for (reads_on, unread) in [("pass", true), ("recv()", false)] {
        let session = dies_after_a_call(reads_on).ready().await;
        assert!(matches!(echo(&session).await, ReplyOutcome::Answered(_)));
        let reply = session
            .request("tools/call", json!({"name": "echo"}), SOON)
            .await;
        assert!(
            matches!(reply.outcome, ReplyOutcome::Exited(_)),
            "{reply:?}"
        );
        assert_eq!(reply.unread, unread, "after {reads_on}");
    }
}

#[tokio::test]
async fn a_request_that_a_busy_server_has_not_read_yet_is_known_to_be_unread() {
    let fixture = Fixture::calling("ok(m, {'content': []}); time.sleep(60)");
    let session = fixture.ready().await;
    assert!(matches!(echo(&session).await, ReplyOutcome::Answered(_)));
    let limit = Duration::from_millis(50);
    let reply = session.request("ping", Value::Null, limit).await;
    assert!(matches!(reply.outcome, ReplyOutcome::TimedOut(life) if life.unread));
    assert!(reply.unread);
}

#[tokio::test]
async fn a_list_of_tools_that_changed_can_be_had_again() {
    let body = "
def one(m):
    if m['method'] == 'tools/call':
        TOOLS.append({'name': 'late', 'inputSchema': {}})
        send({'jsonrpc': '2.0', 'method': 'notifications/tools/list_changed'})
        ok(m, {'content': []})
    else: legacy(m)
while True: one(recv())";
    let session = Fixture::new(body).ready().await;
    assert!(!session.tools_changed());
    let before = session.tools().len();
    assert!(matches!(echo(&session).await, ReplyOutcome::Answered(_)));
    assert!(session.tools_changed());
    let tools = session.tools_now(SOON).await.unwrap();
    assert_eq!(tools.len(), before + 1);
    assert!(!session.tools_changed());
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
    let mut session = fixture.ready().await;
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
    session.shutdown(SOON).await;
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
async fn a_recorded_session_has_every_line_of_both_sides_and_no_secret() {
    let mut fixture = Fixture::calling("log('swordfish'); raw('junk\\n'); ok(m, m['params'])");
    let folder = tempfile::tempdir().unwrap();
    let (record, stderr) = (
        folder.path().join("wire.jsonl"),
        folder.path().join("stderr"),
    );
    fixture.launch.recorder = Some(Recorder::create(&record).unwrap());
    fixture.launch.stderr_log = Some(stderr.clone());
    fixture.launch.redactor = Redactor::new([("KEY", "swordfish")]);
    let mut session = fixture.ready().await;
    let params = json!({"name": "echo", "arguments": {"key": "swordfish"}});
    match session.request("tools/call", params, SOON).await.outcome {
        ReplyOutcome::Answered(result) => assert_eq!(result["arguments"]["key"], "swordfish"),
        other => panic!("{other:?}"),
    }
    session.shutdown(SOON).await;
    let text = std::fs::read_to_string(record).unwrap();
    let methods: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|entry| entry["direction"] == "sent" && entry.get("start").is_none())
        .map(|entry| entry["message"]["method"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(methods, fixture.heard());
    assert!(text.contains(r#""text":"junk""#) && text.contains("[secret KEY]"));
    let stderr = std::fs::read_to_string(stderr).unwrap();
    assert!(!text.contains("swordfish") && stderr.trim() == "[secret KEY]");
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
    let argv = fixture.argv();
    let inner = std::mem::take(argv);
    *argv = vec!["sh".into(), "-c".into(), "\"$@\"; exit $?".into()];
    argv.push("sh".into());
    argv.extend(inner);
    let mut session = fixture.ready().await;
    let end = session.shutdown(SOON).await.unwrap();
    assert_eq!(end.exit.unwrap().code, Some(0));
    assert_eq!(end.leftovers, 0);
}
