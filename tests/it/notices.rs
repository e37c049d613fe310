//! Notifications, subscriptions, cancellation and raw bytes: what goes wrong
//! with them.

use crate::support::http::{
    Http, event, hold, json_answer, legacy, modern as modern_http, respond, result, stream_head,
    text,
};
use crate::support::{Project, Run, python, slice};
use serde_json::json;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// A server whose calls do this with `message` and its `args`.
fn calling(call: &str) -> String {
    let call = call.replace('\n', "\n    ");
    python(&format!(
        "
def tell(method, **params):
    send({{'jsonrpc': '2.0', 'method': method, 'params': params}})
def call(message):
    args = message['params'].get('arguments', {{}})
    {call}
serve(call)
"
    ))
}

fn run(server: &str, steps: &str) -> Run {
    let plan = format!("version: 1\nservers: {{ s: {server} }}\nsteps:\n{steps}");
    Project::with(&plan).run(&["--max-iterations", "2"])
}

fn message(run: &Run, step: &str) -> String {
    run.last().failure(step)["message"]
        .as_str()
        .unwrap()
        .to_owned()
}

const TELLS_TWICE: &str = "tell('notifications/message', level='info', data='before')
answer(message, text('done'))
tell('notifications/message', level='info', data='after')";

#[test]
fn a_notification_counts_when_it_comes_before_or_after_the_answer() {
    let run = run(
        &calling(TELLS_TWICE),
        "
  - id: one
    tool: work
    expect:
      text: { equals: done }
      notifications:
        - { method: notifications/message, json: [{ path: $.data, equals: before }] }
        - { method: notifications/message, within: 20s, json: [{ path: $.data, equals: after }] }
        - { method: notifications/message, within: 20s, count: { ge: 2 } }
        - { method: notifications/progress, within: 50ms, absent: true }
",
    );
    run.ends(0, "passed");
    // Nobody waited for longer than it took.
    assert!(run.elapsed < Duration::from_secs(15), "{:?}", run.elapsed);
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_number_that_more_can_break_is_known_only_when_time_is_up() {
    let body = "answer(message, text('done'))
time.sleep(0.2)
for n in range(5):
    tell('notifications/message', level='info', data=n)";
    let step = |id: &str, count: &str| {
        format!(
            "
  - id: {id}
    tool: work
    expect:
      notifications: [{{ method: notifications/message, within: 2s, count: {count} }}]
"
        )
    };
    let cases = [
        ("{ le: 2 }", false),
        ("{ lt: 5 }", false),
        ("{ equals: 5 }", true),
        ("4", false),
        ("{ one_of: [0, 5] }", true),
    ];
    for (count, holds) in slice(2, cases) {
        let run = run(&calling(body), &step("one", count));
        assert_eq!(run.last().state("one") == "passed", holds, "{count}");
    }
}

#[test]
fn a_number_is_right_however_many_come() {
    let body = "for n in range(5):
    tell('notifications/message', level='info', data=n)
for n in range(3000):
    tell('notifications/own', n=n)
answer(message, text('done'))";
    for (count, state) in [
        ("{ le: 2 }", "failed"),
        ("{ equals: 0 }", "failed"),
        ("{ equals: 5 }", "passed"),
        ("{ le: 5, ge: 5 }", "passed"),
    ] {
        let step = format!(
            "
  - id: one
    tool: work
    expect: {{ notifications: [{{ method: notifications/message, within: 300ms, count: {count} }}] }}
"
        );
        let run = run(&calling(body), &step);
        assert_eq!(run.last().state("one"), state, "{count}: {}", run.stdout);
        if state == "failed" {
            let said = message(&run, "one");
            assert!(said.contains("got 5"), "{said}");
        }
    }
}

#[test]
fn silence_of_a_server_that_could_not_have_told_is_noted() {
    let server = Http::serve(|request, out| {
        legacy(request, out, |request, out| {
            json_answer(out, &[], &result(request, text("done")));
        });
    });
    let run = run(
        &server.entry(""),
        "
  - id: one
    tool: work
    expect: { notifications: [{ method: notifications/message, within: 1s, absent: true }] }
",
    );
    run.ends(0, "passed");
    let notes = run.last().server("s")["notes"].to_string();
    assert!(notes.contains("offers no stream"), "{notes}");
}

#[test]
fn a_notification_that_does_not_come_is_missed_and_what_came_is_told() {
    let run = run(
        &calling(TELLS_TWICE),
        "
  - id: other
    tool: work
    expect: { notifications: [{ method: notifications/tools/list_changed, within: 400ms }] }
  - id: unfit
    tool: work
    expect:
      notifications:
        - { method: notifications/message, within: 400ms, json: [{ path: $.data, equals: never }] }
  - id: fewer
    tool: work
    expect: { notifications: [{ method: notifications/message, within: 400ms, count: { ge: 5 } }] }
  - id: unwanted
    tool: work
    expect: { notifications: [{ method: notifications/message, within: 400ms, absent: true }] }
",
    );
    run.ends(1, "code_failure");
    assert_eq!(
        message(&run, "other"),
        "expected the notification `notifications/tools/list_changed` within 400 ms, and it did \
         not come; what came is `notifications/message`"
    );
    let unfit = message(&run, "unfit");
    assert!(
        unfit.ends_with(
            "it did not come; of one that came, it was expected the notification's $.data to \
             equal \"never\", got \"after\""
        ),
        "{unfit}"
    );
    assert_eq!(
        message(&run, "fewer"),
        "expected the number of notifications `notifications/message` within 400 ms to be at \
         least 5, got 2"
    );
    let unwanted = message(&run, "unwanted");
    assert!(
        unwanted.starts_with("expected no notification `notifications/message` within 400 ms, and it came with {\"level\":\"info\",\"data\":\"before\"}"),
        "{unwanted}"
    );
    for step in ["other", "unfit", "fewer", "unwanted"] {
        let failure = run.last().failure(step);
        assert_eq!(failure["assertion"]["target"], "notification");
        assert_eq!(failure["diagnosis"]["side"], "code");
        assert_eq!(failure["diagnosis"]["repeated"]["count"], 2);
    }
}

/// Many in number, and many in bytes.
const FLOOD: &str = "for n in range(30000): tell('notifications/message', level='info', data=n)
for n in range(40): tell('notifications/message', level='info', data='x' * 100000)
answer(message, text('done'))";

#[test]
fn no_flood_hurts_what_is_expected_of_notifications() {
    let server = calling(FLOOD);
    let run = run(
        &server,
        "
  - id: absent
    tool: work
    expect: { notifications: [{ method: notifications/other, within: 300ms, absent: true }] }
  - id: first
    tool: work
    expect: { notifications: [{ method: notifications/message, json: [{ path: $.data, equals: 0 }] }] }
  - id: all
    tool: work
    expect: { notifications: [{ method: notifications/message, within: 300ms, count: { equals: 30040 } }] }
  - id: some
    tool: work
    expect: { notifications: [{ method: notifications/message, within: 300ms, json: [{ path: $.data, type: integer }, { path: $.data, lt: 100 }], count: { equals: 100 } }] }
",
    );
    run.ends(0, "passed");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_flood_hides_nothing_that_is_wrong() {
    let run = run(
        &calling(FLOOD),
        "
  - id: came
    tool: work
    expect: { notifications: [{ method: notifications/message, within: 300ms, json: [{ path: $.data, equals: 7 }], absent: true }] }
  - id: never
    tool: work
    expect: { notifications: [{ method: notifications/message, within: 300ms, json: [{ path: $.data, equals: -1 }] }] }
  - id: often
    tool: work
    expect: { notifications: [{ method: notifications/message, within: 300ms, count: { le: 30039 } }] }
",
    );
    run.ends(1, "code_failure");
    assert!(message(&run, "came").contains("and it came with"));
    assert!(message(&run, "never").contains("and it did not come"));
    assert!(message(&run, "often").contains("got 30040"));
    for step in ["came", "never", "often"] {
        assert_eq!(run.last().failure(step)["diagnosis"]["side"], "code");
    }
}

#[test]
fn a_message_that_was_not_read_proves_nothing_and_that_is_said_at_once() {
    // Deeper than any JSON parser of ours goes; it may have been what is waited
    // for, or what must not come.
    let body = "deep = '[' * 500 + ']' * 500
sys.stdout.write('{\"jsonrpc\": \"2.0\", \"method\": \"notifications/message\", \"params\": {\"data\": ' + deep + '}}\\n')
answer(message, text('done'))";
    let run = run(
        &calling(body),
        "
  - id: absent
    tool: work
    expect: { notifications: [{ method: notifications/other, within: 300s, absent: true }] }
  - id: few
    tool: work
    expect: { notifications: [{ method: notifications/message, within: 300s, count: { le: 2 } }] }
  - id: came
    tool: work
    expect: { notifications: [{ method: notifications/message, within: 300ms }] }
",
    );
    run.ends(3, "needs_user_help");
    assert!(run.elapsed < Duration::from_secs(60), "{:?}", run.elapsed);
    for step in ["absent", "few", "came"] {
        let failure = run.last().failure(step);
        assert_eq!(
            failure["assertion"]["own_limit"], "message_size",
            "{failure:#}"
        );
        let diagnosis = &failure["diagnosis"];
        assert_eq!(diagnosis["excused"], "own_limit", "{failure:#}");
        assert_eq!(
            (&diagnosis["side"], &diagnosis["ambiguous"]),
            (&json!("test"), &json!(true))
        );
    }
}

#[test]
fn a_wait_ends_with_the_server() {
    let run = run(
        &calling("answer(message, text('done')); sys.exit(3)"),
        "
  - id: one
    tool: work
    expect: { notifications: [{ method: notifications/message, within: 60s }] }
",
    );
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.elapsed < Duration::from_secs(30), "{:?}", run.elapsed);
}

// ── subscriptions ────────────────────────────────────────────────────────

/// A server of 2026-07-28 on whose subscriptions this is done with the request
/// `message`, and on whose calls that.
fn modern(listen: &str, call: &str) -> String {
    let (listen, call) = (listen.replace('\n', "\n    "), call.replace('\n', "\n    "));
    python(&format!(
        "
KEY = 'io.modelcontextprotocol/subscriptionId'
CAPABILITIES = {{'tools': {{'listChanged': True}}, 'resources': {{'subscribe': True}}}}
open_ids = []
def tell(method, **params):
    send({{'jsonrpc': '2.0', 'method': method, 'params': params}})
def listen(message, params):
    {listen}
def call(message):
    {call}
def complete(message, result): answer(message, dict(result, resultType='complete'))
while (message := read()) is not None:
    method, params = message['method'], message.get('params', {{}})
    if method == 'notifications/cancelled': open_ids.remove(params['requestId'])
    if 'id' not in message: continue
    if method == 'server/discover':
        complete(message, {{'supportedVersions': ['2026-07-28'], 'capabilities': CAPABILITIES, 'ttlMs': 0, 'cacheScope': 'private'}})
    elif method == 'tools/list':
        complete(message, {{'tools': [{{'name': 'work', 'inputSchema': {{'type': 'object'}}}}], 'ttlMs': 0, 'cacheScope': 'private'}})
    elif method == 'resources/list': complete(message, {{'resources': [], 'ttlMs': 0, 'cacheScope': 'private'}})
    elif method == 'subscriptions/listen': listen(message, params)
    elif method == 'tools/call': call(message)
    else: refuse(message)
"
    ))
}

const ACKNOWLEDGES: &str = "open_ids.append(message['id'])
tell('notifications/subscriptions/acknowledged', _meta={KEY: message['id']}, notifications=params['notifications'])";

const TELLS: &str =
    "for id in open_ids: tell('notifications/resources/updated', _meta={KEY: id}, uri='demo://a')
complete(message, text(str(len(open_ids))))";

#[test]
fn a_subscription_stays_open_until_a_step_ends_it() {
    let server = modern(ACKNOWLEDGES, TELLS);
    let server = server.trim_end_matches(" }");
    let run = run(
        &format!("{server}, wire: strict }}"),
        "
  - { id: watch, subscribe: { resources: ['demo://a'], tools: true } }
  - id: told
    tool: work
    expect:
      text: { equals: '1' }
      notifications: [{ method: notifications/resources/updated, json: [{ path: $.uri, equals: 'demo://a' }] }]
  - { id: unwatch, unsubscribe: watch }
  - id: not-told
    tool: work
    expect: { text: { equals: '0' }, notifications: [{ method: notifications/resources/updated, absent: true, within: 50ms }] }
",
    );
    run.ends(0, "passed");
}

#[test]
fn a_subscription_that_is_not_agreed_to_or_refused_fails_its_step() {
    let less = modern(
        &ACKNOWLEDGES.replace("params['notifications']", "{'toolsListChanged': True}"),
        TELLS,
    );
    let steps = "
  - { id: watch, subscribe: { resources: ['demo://a'], tools: true } }
  - { id: unwatch, unsubscribe: watch }
";
    let less = run(&less, steps);
    less.ends(1, "code_failure");
    let said = message(&less, "watch");
    assert_eq!(
        said,
        "the server acknowledged less than it was asked for: not `resourceSubscriptions`"
    );
    assert_eq!(less.last().state("unwatch"), "skipped");

    let refused = run(&modern("refuse(message, -32603, 'no more')", TELLS), steps);
    let said = message(&refused, "watch");
    assert!(said.contains("JSON-RPC error -32603: no more"), "{said}");

    let early = run(&modern("complete(message, {})", TELLS), steps);
    let said = message(&early, "watch");
    assert!(said.contains("before it acknowledged it"), "{said}");

    let steps = steps.replace("tools: true }", "tools: true }, timeout: 300ms");
    let mute = run(&modern("pass", TELLS), &steps);
    let said = message(&mute, "watch");
    assert!(
        said.contains("subscriptions/listen was not answered within 300 ms"),
        "{said}"
    );
}

#[test]
fn a_subscription_that_the_server_ends_is_told_by_who_waits_and_by_who_ends_it() {
    let run = run(
        &modern(
            &format!(
                "{ACKNOWLEDGES}\nopen_ids.clear()\ncomplete(message, {{'_meta': {{KEY: message['id']}}}})"
            ),
            TELLS,
        ),
        "
  - { id: watch, subscribe: 'demo://a' }
  - id: waits
    tool: work
    expect: { notifications: [{ method: notifications/resources/updated, within: 200ms }] }
  - { id: ends, unsubscribe: watch }
",
    );
    run.ends(1, "code_failure");
    let said = message(&run, "waits");
    assert!(
        said.ends_with("the subscription of `watch` had ended: the server closed it"),
        "{said}"
    );
    assert_eq!(
        message(&run, "ends"),
        "the subscription of `watch` had ended already: the server closed it"
    );
}

#[test]
fn a_legacy_server_must_declare_what_it_would_tell() {
    let run = run(
        &calling("answer(message, text('done'))"),
        "
  - { id: watch, subscribe: { tools: true } }
  - { id: resource, subscribe: 'demo://a' }
",
    );
    let said = message(&run, "watch");
    assert!(
        said.starts_with("the server does not declare `tools.listChanged`"),
        "{said}"
    );
    let said = message(&run, "resource");
    assert!(
        said.contains("resources/subscribe returned JSON-RPC error -32601"),
        "{said}"
    );
}

// ── cancellation ─────────────────────────────────────────────────────────

#[test]
fn a_cancelled_step_passes_when_nothing_comes_and_the_server_lives() {
    let run = run(
        &calling("assert read()['method'] == 'notifications/cancelled'"),
        "
  - { id: cancel, tool: work, cancel_after: 20ms, quiet_for: 50ms }
  - { id: again, tool: work, cancel_after: 20ms, quiet_for: 50ms }
",
    );
    run.ends(0, "passed");
}

#[test]
fn an_error_after_the_cancellation_is_a_cancelled_call() {
    // As every server on the Python SDK 1.x answers, and a tool that caught it.
    for answer in [
        "refuse(message, 0, 'Request cancelled')",
        "refuse(message, -32800, 'cancelled')",
        "answer(message, text('stopped by the client', error=True))",
    ] {
        let run = run(
            &calling(&format!("read(); {answer}")),
            "
  - { id: cancel, tool: work, cancel_after: 20ms, quiet_for: 20s }
  - { id: again, tool: work, cancel_after: 20ms, quiet_for: 20s }
",
        );
        run.ends(0, "passed");
        assert!(run.elapsed < Duration::from_secs(15), "{:?}", run.elapsed);
    }
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn what_is_wrong_with_a_cancellation_is_said() {
    let late = run(
        &calling("read(); time.sleep(0.5); answer(message, text('all the same'))"),
        "  - { id: cancel, tool: work, cancel_after: 20ms, quiet_for: 20s }\n",
    );
    late.ends(1, "code_failure");
    let failure = late.last().failure("cancel");
    assert_eq!(failure["assertion"]["target"], "cancellation");
    assert_eq!(
        failure["message"],
        "the server answered tools/call `work` although it had been cancelled"
    );

    // A tool that owes an output owes none to who cancels it.
    let owing = calling("read()").replace(
        "{\\\"type\\\": \\\"object\\\"}}",
        "{\\\"type\\\": \\\"object\\\"}, \\\"outputSchema\\\": {\\\"type\\\": \\\"object\\\", \\\"required\\\": [\\\"a\\\"]}}",
    );
    assert!(owing.contains("outputSchema"), "{owing}");
    run(
        &owing,
        "  - { id: cancel, tool: work, cancel_after: 20ms, quiet_for: 50ms }\n",
    )
    .ends(0, "passed");

    let early = run(
        &calling("answer(message, text('done'))"),
        "  - { id: cancel, tool: work, cancel_after: 20s }\n",
    );
    early.ends(3, "needs_user_help");
    let said = message(&early, "cancel");
    assert!(
        said.contains("too early to be cancelled after 20.0 s: use a slower call"),
        "{said}"
    );

    // The server can't have known, or it can't be told.
    let crossed = run(
        &calling("read(); answer(message, text('all the same'))"),
        "  - { id: cancel, tool: work, cancel_after: 20ms, quiet_for: 20s }\n",
    );
    crossed.ends(3, "needs_user_help");
    let said = message(&crossed, "cancel");
    assert!(said.contains("or a shorter `cancel_after`"), "{said}");
    let help = crossed.help();
    assert!(help.contains("Cancel a call that takes longer"), "{help}");

    let dead = run(
        &calling("read(); sys.exit(7)"),
        "  - { id: cancel, tool: work, cancel_after: 20ms }\n",
    );
    dead.ends(1, "code_failure");
    let said = message(&dead, "cancel");
    assert!(said.contains("exited with code 7"), "{said}");

    let stuck = run(
        &calling("time.sleep(600)"),
        "  - { id: cancel, tool: work, cancel_after: 20ms, quiet_for: 50ms, timeout: 300ms }\n",
    );
    let said = message(&stuck, "cancel");
    assert!(
        said.starts_with("the server answers nothing since tools/call `work` was cancelled"),
        "{said}"
    );
}

// ── raw bytes ────────────────────────────────────────────────────────────

#[test]
fn bytes_and_bare_requests_are_sent_as_they_are() {
    let server = python(
        "
while (line := sys.stdin.readline()):
    try: message = json.loads(line)
    except ValueError:
        send({'jsonrpc': '2.0', 'id': None, 'error': {'code': -32700, 'message': line.strip()}})
        continue
    method = message.get('method')
    if 'id' not in message: continue
    if method == 'initialize': answer(message, hello(message))
    elif method == 'tools/list': answer(message, {'tools': []})
    elif method == 'ping': answer(message, {})
    elif method == 'echo': answer(message, {'said': message})
    else: refuse(message)
",
    );
    let run = run(
        &server,
        "
  - { id: half, raw: '{\"jsonrpc\":', expect: { error: { code: -32700, message: { equals: '{\"jsonrpc\":' } } } }
  - { id: bytes, raw_base64: 'eyJq', expect: { error: { message: { equals: '{\"j' } } } }
  - id: own
    raw: '{\"jsonrpc\":\"2.0\",\"id\":\"mine\",\"method\":\"echo\",\"params\":[1,\"${workspace}\"]}'
    expect: { json: [{ path: $.said.id, equals: mine }, { path: '$.said.params[1]', equals: '${workspace}' }] }
  - { id: told, raw: '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/mine\"}' }
  - { id: bare, request: echo, bare: true, expect: { json: [{ path: $.said.params, exists: false }] } }
  - { id: list, request: echo, args: [1, two], expect: { json: [{ path: $.said.params, equals: [1, two] }] } }
",
    );
    run.ends(0, "passed");
    let notes = &run.last().server("s")["notes"];
    assert!(notes.is_null(), "nothing of it is a breach: {notes}");
}

// ── over HTTP ────────────────────────────────────────────────────────────

fn run_at(server: &Http, steps: &str) -> Run {
    run(
        &format!("{{ url: \"http://127.0.0.1:{}/mcp\" }}", server.port),
        steps,
    )
}

#[test]
fn a_subscription_whose_stream_breaks_off_has_ended() {
    let tools = json!([{ "name": "work", "inputSchema": { "type": "object" } }]);
    let server = Http::serve(move |request, out| {
        if request.method() == "subscriptions/listen" {
            stream_head(out);
            let key = "io.modelcontextprotocol/subscriptionId";
            let id = &request.message["id"];
            let params = json!({
                "_meta": { key: id },
                "notifications": request.message["params"]["notifications"],
            });
            let method = "notifications/subscriptions/acknowledged";
            event(
                out,
                &json!({ "jsonrpc": "2.0", "method": method, "params": params }),
            );
            return;
        }
        modern_http(request, out, &tools, |request, out| {
            let mut done = text("done");
            done["resultType"] = json!("complete");
            json_answer(out, &[], &result(request, done));
        });
    });
    let run = run_at(
        &server,
        "
  - { id: watch, subscribe: 'demo://a' }
  - id: waits
    tool: work
    expect: { notifications: [{ method: notifications/resources/updated, within: 500ms }] }
",
    );
    assert_eq!(run.last().state("watch"), "passed", "{}", run.stdout);
    let said = message(&run, "waits");
    let end = "the subscription of `watch` had ended: it got no answer: the event stream ended \
               before its answer came";
    assert!(said.ends_with(end), "{said}");
}

#[test]
fn a_late_answer_is_heard_over_http_too() {
    let cancelled = (Mutex::new(0_u32), Condvar::new());
    let server = Http::serve(move |request, out| {
        let (count, changed) = &cancelled;
        if request.method() == "notifications/cancelled" {
            *count.lock().unwrap() += 1;
            changed.notify_all();
        }
        legacy(request, out, |request, out| {
            stream_head(out);
            let before = *count.lock().unwrap();
            let limit = Duration::from_secs(20);
            let now = count.lock().unwrap();
            let _ = changed
                .wait_timeout_while(now, limit, |now| *now == before)
                .unwrap();
            std::thread::sleep(Duration::from_millis(300));
            event(out, &result(request, text("all the same")));
            hold(out);
        });
    });
    let run = run_at(
        &server,
        "  - { id: cancel, tool: work, cancel_after: 100ms, quiet_for: 20s }\n",
    );
    run.ends(1, "code_failure");
    assert_eq!(
        message(&run, "cancel"),
        "the server answered tools/call `work` although it had been cancelled"
    );
}

#[test]
fn raw_bytes_are_a_body_and_a_refusal_is_their_answer() {
    let server = Http::serve(|request, out| {
        if request.verb == "POST" && request.message.is_null() {
            let error = json!({ "jsonrpc": "2.0", "id": null,
                "error": { "code": -32700, "message": "no JSON" } });
            return respond(
                out,
                400,
                &["content-type: application/json"],
                error.to_string(),
            );
        }
        legacy(request, out, |request, out| {
            json_answer(out, &[], &result(request, text("done")));
        });
    });
    let run = run_at(
        &server,
        "
  - { id: half, raw: \"{\\n\", expect: { error: { code: -32700 } } }
  - { id: told, raw: '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/mine\"}' }
  - id: call
    raw: '{\"jsonrpc\":\"2.0\",\"id\":\"mine\",\"method\":\"tools/call\",\"params\":{\"name\":\"work\"}}'
    expect: { text: { equals: done } }
",
    );
    run.ends(0, "passed");
}

/// Answers each line for itself: pings, batches, and errors for all else.
fn answering_lines() -> String {
    python(
        "
def one(message):
    method = message.get('method')
    if 'id' not in message or method is None: return None
    if method == 'initialize': return {'jsonrpc': '2.0', 'id': message['id'], 'result': hello(message)}
    if method == 'tools/list': return {'jsonrpc': '2.0', 'id': message['id'], 'result': {'tools': []}}
    if method == 'ping': return {'jsonrpc': '2.0', 'id': message['id'], 'result': {}}
    return {'jsonrpc': '2.0', 'id': message['id'], 'error': {'code': -32601, 'message': 'unknown'}}
while (line := sys.stdin.readline()):
    try: message = json.loads(line)
    except ValueError: message = None
    if isinstance(message, list):
        for part in message:
            if said := one(part): send(said)
    elif isinstance(message, dict):
        if said := one(message): send(said)
    else: send({'jsonrpc': '2.0', 'id': None, 'error': {'code': -32700, 'message': 'no JSON'}})
",
    )
}

#[test]
fn each_line_and_each_element_of_raw_bytes_may_be_answered() {
    let plan = format!(
        "version: 1\nservers: {{ s: {} }}\nsteps:\n{}",
        answering_lines(),
        r#"
  - { id: lines, raw: "{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":\"q2\",\"method\":\"ping\"}" }
  - { id: batch, raw: "[{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\"}]" }
  - { id: broken, raw: "{\"jsonrpc\":\"2.0\",\n\"id\":7,\n\"method\":\"ping\"}", expect: { error: { code: -32700 } } }
  - { id: response, raw: "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}" }
  - { id: after, request: ping }
"#
    );
    let run = Project::with(&plan).run(&["--wire-check"]);
    run.ends(0, "passed");
    let notes = &run.last().server("s")["notes"];
    assert!(notes.is_null(), "nothing of it is a breach: {notes}");
}

#[test]
fn junk_that_is_refused_does_not_accuse_the_server() {
    let run = run(&answering_lines(), "  - { id: junk, raw: hello }\n");
    run.ends(3, "needs_user_help");
    let said = message(&run, "junk");
    assert!(
        said.contains("`expect: { error: { code: -32700 } }`"),
        "{said}"
    );
    assert_eq!(run.last().state("junk"), "quarantined");
}
