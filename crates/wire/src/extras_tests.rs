use super::CancelEnd;
use crate::fixture::{Fixture, SOON};
use crate::{Listener, Notice, ReplyOutcome};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// Keeps what it hears.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Notice>>>);

impl Listener for Kept {
    fn hear(&mut self, notice: &Notice) {
        self.0.lock().unwrap().push(notice.clone());
    }

    fn miss(&mut self) {}
}

#[tokio::test]
async fn a_notification_is_heard_while_and_after_a_request_runs() {
    let call = "send({'jsonrpc': '2.0', 'method': 'notifications/one', 'params': {'n': 1}})
ok(m, {'content': []})
send({'jsonrpc': '2.0', 'method': 'notifications/two'})";
    let session = Fixture::calling(call).ready().await;
    let kept = Kept::default();
    let attending = session.attend(Box::new(kept.clone()));
    let mut stirs = session.stirs();
    session.request("tools/call", json!({}), SOON).await;
    let deadline = Instant::now() + SOON;
    while kept.0.lock().unwrap().len() < 2 {
        assert!(stirs.next(deadline).await, "nothing more came");
    }
    drop(attending);
    let heard = kept.0.lock().unwrap();
    let methods: Vec<&str> = heard.iter().map(|n| n.method.as_str()).collect();
    assert_eq!(methods, ["notifications/one", "notifications/two"]);
    assert_eq!(heard[0].params, json!({"n": 1}));
}

#[tokio::test]
async fn a_request_that_is_cancelled_in_time_is_quiet() {
    // The second line that it reads is the cancellation.
    let call = "c = recv(); assert c['method'] == 'notifications/cancelled', c";
    let session = Fixture::calling(call).ready().await;
    let soon = Duration::from_millis(20);
    let (reply, end) = session
        .cancelled("tools/call", json!({}), (soon, soon), false)
        .await;
    assert!(matches!(reply.outcome, ReplyOutcome::TimedOut(_)));
    assert_eq!(end, CancelEnd::Quiet);
    assert!(session.pulse(false, SOON).await.is_some());
}

#[tokio::test]
async fn an_error_after_the_cancellation_is_a_cancelled_call_and_a_result_is_none() {
    let answers = [
        (
            "'error': {'code': 0, 'message': 'Request cancelled'}",
            CancelEnd::Quiet,
        ),
        (
            "'result': {'content': [], 'isError': True}",
            CancelEnd::Quiet,
        ),
    ];
    for (answer, expected) in answers {
        let call = format!("recv(); send({{'jsonrpc': '2.0', 'id': m['id'], {answer}}})");
        let session = Fixture::calling(&call).ready().await;
        let times = (Duration::from_millis(20), SOON);
        let (reply, end) = session
            .cancelled("tools/call", json!({}), times, false)
            .await;
        assert!(matches!(reply.outcome, ReplyOutcome::TimedOut(_)));
        assert_eq!(end, expected, "{answer}");
        assert!(session.breaches().is_empty(), "{:?}", session.breaches());
    }
    let late = "recv(); time.sleep(0.3); ok(m, {'content': []})";
    let session = Fixture::calling(late).ready().await;
    let times = (Duration::from_millis(20), SOON);
    let (_, end) = session
        .cancelled("tools/call", json!({}), times, false)
        .await;
    assert_eq!(end, CancelEnd::Answered);
    assert!(session.breaches().is_empty(), "{:?}", session.breaches());
}

#[tokio::test]
async fn an_answer_before_the_cancellation_is_too_early() {
    let session = Fixture::calling("ok(m, {'content': []})").ready().await;
    let (reply, end) = session
        .cancelled("tools/call", json!({}), (SOON, SOON), false)
        .await;
    assert_eq!(
        reply.outcome,
        ReplyOutcome::Answered(json!({"content": []}))
    );
    assert_eq!(end, CancelEnd::TooLate);
}

#[tokio::test]
async fn raw_bytes_are_answered_by_their_own_id_or_by_an_error_without_one() {
    let call = "ok(m, {'sum': 1})";
    let session = Fixture::calling(call).ready().await;
    for id in ["\"mine\"", "4711", "1"] {
        let raw = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":[1]}}"#);
        let reply = session.send_raw(raw.as_bytes(), SOON).await;
        assert_eq!(
            reply.outcome,
            ReplyOutcome::Answered(json!({"sum": 1})),
            "{id}"
        );
    }
    assert!(session.breaches().is_empty(), "{:?}", session.breaches());

    let fixture = Fixture::new(
        "
while True:
    line = inp.readline()
    if not line: break
    try: legacy(json.loads(line))
    except ValueError:
        send({'jsonrpc': '2.0', 'id': None, 'error': {'code': -32700, 'message': 'no JSON'}})",
    );
    let session = fixture.ready().await;
    let reply = session.send_raw(b"{\"jsonrpc\":", SOON).await;
    match reply.outcome {
        ReplyOutcome::RpcError(error) => assert_eq!(error.code, Some(-32700)),
        other => panic!("{other:?}"),
    }
    assert!(session.breaches().is_empty(), "{:?}", session.breaches());
}

#[tokio::test]
async fn a_raw_notification_is_not_waited_for() {
    let session = Fixture::calling("ok(m, {})").ready().await;
    let raw = br#"{"jsonrpc":"2.0","method":"notifications/mine"}"#;
    let reply = session.send_raw(raw, SOON).await;
    assert_eq!(reply.outcome, ReplyOutcome::Answered(Value::Null));
}
